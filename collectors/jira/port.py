"""The port through which Jira is asked: what the rest needs of a connection, and no more of the client library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from collectors.jira.failures import Answer
from collectors.jira.site import JiraSite
from ranking.facts import Failure


class JiraPort(Protocol):
    """One site, asked a few questions within one deadline. A failed question is a value and raises nothing."""

    @property
    def site(self) -> JiraSite:
        """The site that is asked."""

    @property
    def asked(self) -> int:
        """How many questions were asked; retries that the server wanted do not count."""

    @property
    def last(self) -> Answer | None:
        """The last answer, usable or not."""

    def get(self, path: str, what: str, **parameters: str | int) -> Answer | Failure:
        """A JSON answer, or why there is none."""

    def post(self, path: str, what: str, body: Mapping[str, object]) -> Answer | Failure:
        """A JSON answer, or why there is none; asked again only where the server surely did nothing."""


def odd(jira: JiraPort, expected: str) -> Failure:
    """The failure where JSON came that is not what was asked for."""
    host = jira.site.host
    return Failure(kind="protocol", detail=f"{host} answered with what is not {expected}", host=host)
