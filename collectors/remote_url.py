"""What a remote's URL says, and what of it may be shown. Pure: nothing is asked, nothing resolved.

No secret passes `redact`: every text that came from git or a configuration goes through it before it is kept.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final, Literal

RemoteType = Literal["github", "bitbucket", "gitlab", "generic-git"]

HIDDEN: Final = "***"

# Schemes whose user is a login and no token (ssh's `git@host`).
_LOGIN_SCHEMES: Final = ("ssh", "git+ssh", "ssh+git", "git")

# Userinfo ends at the last `@` before the path begins. A password with a raw slash ends git's own reading of
# the host early, and git then prints it: so where no port follows a colon, all up to the last `@` goes.
_USERINFO: Final = re.compile(
    # From a run's beginning alone: from each of its letters a run of megabytes takes minutes.
    r"(?<![a-z0-9+.-])(?P<scheme>[a-z0-9+.-]+)://"
    r"(?P<user>[^/?#\s]*@|[^/?#\s@:]*:(?!\d*(?:[/?#\s'\"]|$))\S*@)",
    re.IGNORECASE,
)
_RUN: Final = re.compile(r"\S+")
# git takes a password with a blank in it.
_USERINFO_WITH_BLANKS: Final = re.compile(
    r"(?<![a-z0-9+.-])(?P<scheme>[a-z0-9+.-]+)://[^/?#\s@:]{0,200}:(?!\d*[/?#'\"])[^@\s]{0,200}\s[^@]{0,200}@",
    re.IGNORECASE,
)
# Of whatever is no URL to us.
_USER_AND_PASSWORD: Final = re.compile(r"(?<![^\s/\\'\"(=])[^\s/\\@:'\"]{1,200}:[^\s/@]{1,200}@")
_ENCODED_USERINFO: Final = re.compile(r"(%3A%2F%2F)\S{1,200}?%40", re.IGNORECASE)
# No query and no assignment in a fragment is shown: which of them hold a secret nobody can list.
# But for the address at which GitHub lets a person authorize a token that it names no more than by a number.
_QUERY: Final = re.compile(
    r"(?<![^\s'\"<>])((?=[^\s?#'\"<>]*://)[^\s?#'\"<>]*)"
    r"\?(?!authorization_request=[\w-]{1,200}(?![^\s'\"<>,;]))[^\s#'\"<>]+"
)
_FRAGMENT: Final = re.compile(r"(?<![^\s'\"<>])((?=[^\s#'\"<>]*://)[^\s#'\"<>]*)#[^\s'\"<>]*[=@][^\s'\"<>]*")
# The command of git's helper ext, as a shell would split it.
_COMMAND: Final = re.compile(r"\b(ext::)[^\r\n]+")
# To the end of the line: a scheme may have any name and any number of parameters.
_HEADER: Final = re.compile(
    r"\b((?:[a-z]{1,20}-){0,4}(?:authorization|cookie)|(?:[a-z]{1,20}-){1,4}(?:token|key|secret|auth|api))"
    r"(\s{0,9}[:=][ \t]{0,9})[^\s][^\r\n]*",
    re.IGNORECASE,
)
_ASSIGNMENT: Final = re.compile(
    r"((?:passw(?:or)?d|passphrase|secret|token|credential|signature|api[_-]?key|private[_-]?key)\s{0,9}=\s{0,9})"
    r"(?:'[^'\n]*'|\"[^\"\n]*\"|[^&;#\s'\"]+)",
    re.IGNORECASE,
)
_TOKEN: Final = re.compile(
    r"\b(?:gh[pousr]_[A-Za-z0-9]{6,}|github_pat_\w{6,}|AT(?:ATT|BB|CTT)[\w=-]{16,}"
    r"|gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|ffct|wt)-[\w.-]{8,})"
)

_WITH_SCHEME: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)")
_SCP_LIKE: Final = re.compile(
    r"(?:[^@/\s]*@)?(?:\[(?P<bracketed>[^\]/]+)\]|(?P<host>[^:/\[\]]+)):(?P<path>.*)", re.DOTALL
)
_DRIVE: Final = re.compile(r"[A-Za-z]:[/\\]")
_HELPER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*::")

_KINDS: Final[tuple[tuple[RemoteType, re.Pattern[str]], ...]] = (
    ("github", re.compile(r"(?:^|[.-])github(?:[.-]|$)|(?:^|\.)ghe\.com$")),
    ("bitbucket", re.compile(r"(?:^|[.-])bitbucket(?:[.-]|$)")),
    ("gitlab", re.compile(r"(?:^|[.-])gitlab(?:[.-]|$)")),
)


def redact(text: str) -> str:
    """Hide credentials: of URLs with their queries, of headers and assignments, and tokens of known forms.

    >>> redact("https://x-access-token:ghp_secret@github.com/acme/app.git")
    'https://***@github.com/acme/app.git'
    >>> redact("git@github.com:acme/app.git")
    'git@github.com:acme/app.git'
    """
    if "@" in text:
        text = _RUN.sub(_hide_in_run, text)
        text = _USERINFO_WITH_BLANKS.sub(rf"\g<scheme>://{HIDDEN}@", text)
        text = _USER_AND_PASSWORD.sub(f"{HIDDEN}@", text)
    text = _COMMAND.sub(rf"\1{HIDDEN}", text)
    if "://" in text:
        text = _QUERY.sub(rf"\1?{HIDDEN}", text)
        text = _FRAGMENT.sub(rf"\1#{HIDDEN}", text)
    text = _ENCODED_USERINFO.sub(rf"\1{HIDDEN}%40", text)
    text = _HEADER.sub(rf"\1\2{HIDDEN}", text)
    text = _ASSIGNMENT.sub(rf"\1{HIDDEN}", text)
    return _TOKEN.sub(HIDDEN, text)


def host_of(url: str) -> str | None:
    """The host that a URL names, in lower case and without its port; None for a path of this machine.

    >>> host_of("git@GitHub.com:acme/app.git")
    'github.com'
    """
    parts = _split(url)
    return parts[0] if parts else None


def owner_and_name(url: str) -> str | None:
    """The repository as people name it: `acme/app`; of a path its last folder; None where nothing names it.

    >>> owner_and_name("ssh://git@host:7999/acme/app.git/")
    'acme/app'
    >>> owner_and_name("/srv/git/app.git")
    'app'
    """
    parts = _split(url)
    path = parts[1] if parts else _plain(url)
    cut = re.split("/" if parts else r"[/\\]", path)
    segments = [segment for segment in cut if segment not in {"", ".", "..", "_git"}]
    if segments and segments[-1] == ".git":
        segments.pop()
    if not segments:
        return None
    segments[-1] = segments[-1].removesuffix(".git") or segments[-1]
    if parts is None:
        return segments[-1]
    # A GitLab project lies in groups of any depth, and two groups may hold projects of one name.
    whole = remote_type(url) == "gitlab"
    return "/".join(segments if whole else segments[-2:]).lstrip("~")


def project_key(url: str, folder: str) -> str:
    """The repository by host and whole path, so that no two of them share it; a relative path begins at `folder`.

    >>> project_key("git@Git.example.com:team/app.git", "/work"), project_key("../app.git/", "/srv/teamA/app")
    ('git.example.com/team/app', '/srv/teamA/app')
    """
    parts = _split(url)
    if parts is None:
        return _bare(posixpath.normpath(posixpath.join(folder, _plain(url))))
    segments = [segment for segment in parts[1].split("/") if segment not in {"", ".", ".."}]
    return _bare("/".join([parts[0] or "", *segments]))


def _bare(path: str) -> str:
    """The path without `.git` at its end."""
    return path.removesuffix("/.git").removesuffix(".git") or path


def remote_type(url: str) -> RemoteType | None:
    """The kind of host by its name, a mere guess for self-hosted ones: never a ground to send a token there.

    None for an empty URL; a path of this machine is plain git.
    """
    if not url:
        return None
    host = host_of(url) or ""
    return next((kind for kind, pattern in _KINDS if pattern.search(host)), "generic-git")


def rewritten(url: str, rules: Sequence[tuple[str, str]]) -> str:
    """The URL after `url.BASE.insteadOf`: of the (BASE, prefix) rules, the one with the longest prefix.

    >>> rewritten("gh:acme/app", [("https://github.com/", "gh:")])
    'https://github.com/acme/app'
    """
    fitting = [rule for rule in rules if rule[1] and url.startswith(rule[1])]
    if not fitting:
        return url
    base, prefix = max(fitting, key=lambda rule: len(rule[1]))
    return base + url[len(prefix) :]


def _hide_in_run(found: re.Match[str]) -> str:
    """One run without blanks: after its last `@` there is no userinfo, and nothing need look for its end there."""
    head, at, tail = found[0].rpartition("@")
    return _USERINFO.sub(_hide_userinfo, head + at) + tail


def _hide_userinfo(found: re.Match[str]) -> str:
    user = found["user"][:-1]
    login = user == "git" or (found["scheme"].lower() in _LOGIN_SCHEMES and ":" not in user)
    return found[0] if login or not user else f"{found['scheme']}://{HIDDEN}@"


def _split(url: str) -> tuple[str | None, str] | None:
    """Host (None where the scheme names none) and path of what is no path of this machine; else None."""
    url = _without_helper(url)
    if found := _WITH_SCHEME.match(url):
        if found["scheme"].lower() == "file":
            return None
        authority = found["authority"].rpartition("@")[2]
        host = authority[1:].partition("]")[0] if authority.startswith("[") else authority.partition(":")[0]
        return host.lower() or None, found["path"]
    found = _SCP_LIKE.fullmatch(url)
    if found is None or _DRIVE.match(url):
        return None
    host = found["host"] or found["bracketed"]
    if found["bracketed"] and host.count(":") == 1:  # `[host:port]:path`
        host = host.partition(":")[0]
    return host.lower(), found["path"]


def _plain(url: str) -> str:
    return _without_helper(url).removeprefix("file://")


def _without_helper(url: str) -> str:
    """The URL behind the name of the remote helper that it begins with, if any (gitremote-helpers(7))."""
    helper = _HELPER.match(url)
    return url[helper.end() :] if helper else url
