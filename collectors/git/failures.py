"""Why git gave no answer: a closed kind, and the line that tells it. Pure.

git exits with 128 for nearly everything, so kinds are told apart by what it, curl, ssh and the TLS library
write under LC_ALL=C, which `collectors.process` pins.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from collectors.remote_url import redact
from ranking.facts import Failure, FailureKind

if TYPE_CHECKING:
    from collectors.process import ProcessResult

# The first row that fits any line decides. What stands in quotes is left out (a URL may hold any words), and
# so are the server's own words. Gaps are bounded: a server may repeat the word before one a million times.
_FAILURES: Final[tuple[tuple[FailureKind, re.Pattern[str]], ...]] = (
    ("ownership", re.compile(r"detected dubious ownership")),
    ("no-remote", re.compile(r"No such remote|No remote configured")),
    ("unknown-host-key", re.compile(r"Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED")),
    ("host-not-found", re.compile(r"Could not resolve (?:host|proxy)|unable to look up ")),
    ("timed-out", re.compile(r"timed out|[Tt]imeout|Operation too slow", re.ASCII)),
    (
        "refused",
        re.compile(
            r"[Cc]onnection refused|Couldn.?t connect to server|Failed to connect to"
            r"|No route to host|Network is unreachable"
        ),
    ),
    ("rate-limited", re.compile(r"returned error: 429")),
    ("auth-refused", re.compile(r"Authentication failed|returned error: 401")),
    (
        "auth-wanted",
        re.compile(
            r"could not read (?:Username|Password)|terminal prompts disabled"
            r"|(?:HTTP code|error:|tunnel failed, response) 407"
        ),
    ),
    (
        "access-denied",
        re.compile(
            r"Permission denied|Too many authentication failures"
            r"|(?:returned error:|HTTP code|tunnel failed, response) 403"
        ),
    ),
    (
        "tls",
        re.compile(r"certificate|gnutls_handshake|\bSSL\b|\bTLS\b|\bssl[_ ]", re.ASCII),
    ),
    (
        "not-found",
        re.compile(
            r"repository not exported|does not appear to be a git repository|couldn't find remote ref"
            r"|returned error: 4(?:04|10)|(?:^fatal: repository|Repository|Project).{0,200} not found"
            r"|does not exist"
        ),
    ),
    (
        "protocol",
        re.compile(
            r"is this a git repository\?|is not a git command|[Pp]rotocol|returned error: \d+|HTTP code \d+"
            r"|CONNECT tunnel failed"
            r"|hung up unexpectedly|unexpected disconnect|early EOF|bad line length|Empty reply"
            r"|Connection (?:reset|closed)|transport .{0,80} not allowed|mismatched algorithms"
            r"|invalid (?:ls-refs|server) response|unexpected flush"
        ),
    ),
)

_QUOTED: Final = re.compile(r"'[^']*'")
_SAID_BY_SERVER: Final = "remote:"
# What git adds to whatever went wrong before.
_TAIL: Final = "fatal: Could not read from remote repository"


def classify(stderr: str, code: int | None) -> FailureKind:
    """The kind of failure, by what git wrote and its exit code (None: ended at the deadline)."""
    if code is None:
        return "timed-out"
    return _match(stderr)[0]


def relevant_line(stderr: str) -> str:
    """The line that tells the kind of failure, else the first that tells anything, without credentials."""
    return redact(_match(stderr)[1])


def _match(stderr: str) -> tuple[FailureKind, str]:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    own = [(_QUOTED.sub("''", line), line) for line in lines if not line.startswith(_SAID_BY_SERVER)]
    for kind, pattern in _FAILURES:
        for bare, line in own:
            if pattern.search(bare):
                return kind, line
    if not lines or lines[0].startswith(_TAIL):  # the line was closed without a word
        return ("protocol" if lines else "unknown"), (lines or ["git said nothing"])[0]
    telling = [line for _, line in own if line.startswith(("fatal:", "error:")) and not line.startswith(_TAIL)]
    return "unknown", (telling or [line for _, line in own] or lines)[0]


def failure_of(ran: ProcessResult, host: str | None) -> Failure:
    """Make the failure of a run that asked a host (None: this machine, or not known)."""
    detail = relevant_line(ran.stderr)
    if ran.timed_out:
        detail = f"no answer within {ran.milliseconds / 1000:.1f} s"
    return Failure(kind=classify(ran.stderr, ran.code), detail=detail, host=host)
