"""Where a Jira is, who asks it, and which of its fields hold the version that is aimed at. Pure, and light to import.

The token is in no repr, so in no traceback and in no log line that shows a site.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import urlsplit, urlunsplit

from collectors.errors import InvalidInput
from collectors.remote_url import HIDDEN, host_of, redact

USUAL_TARGET_FIELDS: Final = (
    "Target Version",
    "Target Versions",
    "Target Version/s",
    "Target Release",
    "Target Releases",
    "Target Release/s",
    "Target Fix Version",
    "Target Fix Versions",
    "Target Fix Version/s",
)
"""What sites call the field for the version that is aimed at, where it is not the fix version itself."""

# Every Cloud site has a name under these; a Cloud site under its owner's domain shows by its answers' headers.
_CLOUD_HOST: Final = re.compile(r"(?:^|\.)(?:atlassian\.net|jira\.com|jira-dev\.com|atlassian-us-gov-mod\.net)$")
_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*-[1-9][0-9]*", re.ASCII)
_SHORTEST_SECRET: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class JiraSite:
    """One Jira: e-mail and token make Cloud's basic login, a token alone Data Center's bearer login.

    `target_fields`: names or ids, as configured; None for the usual names. `deployment`, `api`: None to tell by
    host and login. `ca_file`: the certificates to trust; None for the environment's, else the library's.
    """

    url: str
    email: str | None = None
    token: str | None = field(default=None, repr=False)
    target_fields: tuple[str, ...] | None = None
    deployment: Literal["cloud", "server"] | None = None
    api: Literal["2", "3"] | None = None
    ca_file: str | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        """Refuse what is no URL: the client library would ask a host of its own choice instead."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(f"{redact(self.url)!r} is no URL of a Jira", hint="it looks like https://jira.example")

    @property
    def host(self) -> str | None:
        """Its host."""
        return host_of(self.url)

    @property
    def address(self) -> str:
        """Its URL without credentials and without a slash at the end."""
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    @property
    def login(self) -> Literal["basic", "bearer", "none"]:
        """How it logs in."""
        if not self.token:
            return "none"
        return "basic" if self.email else "bearer"

    @property
    def on_cloud(self) -> bool:
        """Whether it is Cloud, as far as can be told before it answered."""
        if self.deployment is not None:
            return self.deployment == "cloud"
        return bool(_CLOUD_HOST.search(self.host or "")) or self.login == "basic"

    @property
    def rest_api(self) -> Literal["2", "3"]:
        """Version 3 where it is surely Cloud; version 2, which both have, elsewhere."""
        sure = self.deployment == "cloud" or bool(_CLOUD_HOST.search(self.host or ""))
        return self.api or ("3" if sure and self.on_cloud else "2")

    def scrub(self, text: str) -> str:
        """The text in one line, and without the token in any of the forms in which it is sent."""
        secrets = [self.token, (self.token or "").strip()]
        if self.token and self.email:
            secrets.append(base64.b64encode(f"{self.email}:{self.token}".encode()).decode())
        for secret in secrets:
            if secret and len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, HIDDEN)
        return redact(" ".join("".join(c if c.isprintable() else " " for c in text).split()))


def parse_issue_key(text: str) -> str:
    """The issue key, or InvalidInput: what is no key must not reach a URL or a query.

    >>> parse_issue_key("APP-12")
    'APP-12'
    """
    if not _KEY.fullmatch(text):
        raise InvalidInput(f"{text!r} is no Jira issue key", hint="a key looks like PROJ-123")
    return text


def is_issue_key(text: object) -> bool:
    """Whether it is one."""
    return isinstance(text, str) and _KEY.fullmatch(text) is not None
