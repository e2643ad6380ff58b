"""The issue of a run: what the caller gave, and what comes of reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Protocol

from msgspec import Struct

from candidates.contract import Source
from collectors.process import Deadline
from ranking.facts import Issue

if TYPE_CHECKING:
    from collectors.github.rest import HostBranches

PostQuestion = Callable[[str, str], str]
"""Given a marker and a body that holds it: the URL of the one comment with that marker, posted if need be."""


class IssueAnswer(Struct, frozen=True, kw_only=True):
    """The issue as it was read, what became of its source, and what its host told of the repository's branches.

    `post`: how to ask on it, within the run's own deadline; None where it stands in no tracker.
    """

    issue: Issue | None
    source: Source | None = None
    branches: HostBranches | None = None
    post: PostQuestion | None = None


class IssueReader(Protocol):
    """Reads one issue from the place where it stands."""

    def read(self, deadline: Deadline) -> IssueAnswer:
        """Read the issue; a failure is part of the answer."""
        ...


class GivenIssue(Struct, frozen=True):
    """An issue that is at hand already; None if the run has none."""

    issue: Issue | None

    def read(self, deadline: Deadline) -> IssueAnswer:
        """Hand the issue on."""
        del deadline
        return IssueAnswer(issue=self.issue)


class IssueInput(Struct, frozen=True, kw_only=True):
    """What the caller named: a reference, versions beside it, and the standard input that `-` stands for."""

    text: str | None = None
    versions: tuple[str, ...] = ()
    stdin: BinaryIO | None = None
