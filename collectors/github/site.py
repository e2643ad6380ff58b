"""Which GitHub is asked, by whom: its API's address, the token that is bound to it, the certificates it needs.

Light: the client library is not loaded here. A token goes to the host that the caller's environment, or gh's own
store, binds it to, and to no other: a repository's remote names the host that is asked, and may name any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from collectors.errors import InvalidInput, SetupError
from collectors.issue.reference import PUBLIC_HOST
from collectors.process import Deadline, run

# By the binding: to github.com (and its tenants under ghe.com), or to the one Enterprise host that GH_HOST names.
_PUBLIC_TOKENS: Final = ("GH_TOKEN", "GITHUB_TOKEN")
_ENTERPRISE_TOKENS: Final = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")

_HOST: Final = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]{1,5})?", re.IGNORECASE)
# What a header's value can hold; the client library would print any other in its error.
_TOKEN: Final = re.compile(r"[\x21-\x7e]+")

_BUNDLES: Final = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")

RunGh = Callable[[str], str | None]
"""Asks gh for the token of a host; None where there is no gh, or it has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GitHubSite:
    """One GitHub: `host` as people name it, `api` its REST base URL, `ca` a bundle of certificates or None."""

    host: str
    api: str
    token: str | None = field(default=None, repr=False)
    ca: str | None = None


def find_site(environ: Mapping[str, str], host: str, run_gh: RunGh) -> GitHubSite:
    """The site of a host, with the token and the certificates that the environment gives."""
    return GitHubSite(
        host=host.lower(),
        api=api_of(host),
        token=find_token(environ, host, run_gh),
        ca=next((environ[name] for name in _BUNDLES if environ.get(name)), None),
    )


def api_of(host: str) -> str:
    """The REST base URL of a host; the GraphQL one follows from it. InvalidInput for what is no host.

    >>> api_of("github.com"), api_of("acme.ghe.com"), api_of("ghe.example.com")
    ('https://api.github.com', 'https://api.acme.ghe.com', 'https://ghe.example.com/api/v3')
    """
    if not _HOST.fullmatch(host):
        raise InvalidInput(f"{host!r} is no host name")
    host = host.lower()
    if host == PUBLIC_HOST or host.endswith(".ghe.com"):
        return f"https://api.{host}"
    return f"https://{host}/api/v3"


def find_token(environ: Mapping[str, str], host: str, run_gh: RunGh) -> str | None:
    """The token that is bound to a host: by the environment, else by gh's own store; None where none is.

    GH_TOKEN and GITHUB_TOKEN are github.com's, as for gh; those of an Actions run on an Enterprise server
    are its GITHUB_SERVER_URL's. An Enterprise token needs GH_HOST beside it, which says whose it is.
    """
    host = host.lower()
    for name in _bound(environ, host):
        if token := environ.get(name, "").strip():
            return _checked(token, name)
    token = (run_gh(host) or "").strip()
    return _checked(token, "gh's token") if token else None


def _bound(environ: Mapping[str, str], host: str) -> tuple[str, ...]:
    """The variables whose token is this host's."""
    named = environ.get("GH_HOST", "").lower()
    runner = (urlsplit(environ.get("GITHUB_SERVER_URL", "")).netloc or PUBLIC_HOST).lower()
    public = host == PUBLIC_HOST or (host.endswith(".ghe.com") and host == named)
    names: list[str] = []
    if public and runner in (PUBLIC_HOST, host):
        names += _PUBLIC_TOKENS
    elif public:  # an Enterprise server's run: its GITHUB_TOKEN is not github.com's
        names += _PUBLIC_TOKENS[:1]
    elif host == runner:
        names += _PUBLIC_TOKENS[1:]
    if not public and host in (named, runner):
        names = [*_ENTERPRISE_TOKENS, *names]
    return tuple(names)


def _checked(token: str, name: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise InvalidInput(f"{name} holds characters that no token has")
    return token


def gh_of(environ: Mapping[str, str], folder: Path, deadline: Deadline) -> RunGh:
    """Ask the installed gh, which is never let prompt; what is not there or does not answer has no token."""
    # gh would print the environment's token for any host; those are bound by find_token alone.
    quiet = {name: value for name, value in environ.items() if name not in (*_PUBLIC_TOKENS, *_ENTERPRISE_TOKENS)}
    quiet |= {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}

    def ask(host: str) -> str | None:
        try:
            ran = run(("gh", "auth", "token", f"--hostname={host}"), cwd=folder, environ=quiet, deadline=deadline)
        except SetupError:
            return None
        return ran.stdout.decode("utf-8", "replace").strip() or None if ran.code == 0 else None

    return ask
