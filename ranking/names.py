"""Identifier types, each with its only parser: branch names, full refnames, object ids.

A name that came from outside is text until one of these has passed it. Nothing here knows a repository.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import filterfalse
from typing import NewType

BranchName = NewType("BranchName", str)
"""A branch's short name (`release/8.4.0`), whole: no `refs/heads/`, no remote before it."""

Refname = NewType("Refname", str)
"""A full refname (`refs/remotes/origin/release/8.4.0`)."""

Oid = NewType("Oid", str)
"""A full object id in lower-case hexadecimal, 40 (SHA-1) or 64 (SHA-256) digits."""

OID_PATTERN = "^(?:[0-9a-f]{40}|[0-9a-f]{64})$"

HEADS = "refs/heads/"
TAGS = "refs/tags/"
REMOTES = "refs/remotes/"

# What git-check-ref-format(1) forbids inside a refname. A backslash never stands in a refname, which is why
# the collectors write undecodable bytes as `\\xNN`: such a name is shown and can never be mistaken for another.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|^\.|^/|/$|\.$|\.lock(?:/|$)|^@$")

# Nearly every name, at a third of the cost: plain words with single marks between them hold none of the faults.
_PLAIN = re.compile(r"(?!HEAD\Z)[A-Za-z0-9_]+(?:(?:[-/+]|\.(?!lock))[A-Za-z0-9_]+)*")

# Characters that do not show, or turn the line around, and that str.isprintable lets pass: fillers, a vowel
# separator, variation selectors, tags.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]")


def name_problem(name: str) -> str | None:
    """Why a branch name can never be an answer, or None where it can.

    >>> name_problem("release/8.4.0") is None
    True
    >>> name_problem("--upload-pack=x")
    'it begins with a dash, which git would read as an option'
    """
    if _PLAIN.fullmatch(name):
        return None
    if not name or name == "HEAD":
        return "HEAD is no branch" if name else "it is empty"
    if name.startswith("-"):
        return "it begins with a dash, which git would read as an option"
    if _FORBIDDEN.search(name):
        return "git does not allow such a name"
    if not name.isprintable() or _UNSEEN.search(name):
        return "it holds characters that do not show"
    return None


def name_problems(names: Iterable[str]) -> dict[str, str]:
    """Those of many names that can never be an answer, each with why."""
    return {name: problem for name in filterfalse(_PLAIN.fullmatch, names) if (problem := name_problem(name))}


def remote_tracking(remote: str, branch: str) -> Refname:
    """The remote-tracking refname under git's default refspec."""
    return Refname(f"{REMOTES}{remote}/{branch}")


def local_head(branch: str) -> Refname:
    """The local branch's refname."""
    return Refname(HEADS + branch)


def is_seen(character: str) -> bool:
    """Whether a character shows, and moves nothing."""
    return character.isprintable() and not _UNSEEN.match(character)


def printable(text: str) -> str:
    r"""Text from outside made safe for a line of words: what does not show, or would move the cursor, is escaped.

    >>> printable("main\x1b[31m")
    'main\\x1b[31m'
    """
    if text.isprintable() and not _UNSEEN.search(text):
        return text
    return "".join(c if is_seen(c) else c.encode("unicode_escape").decode() for c in text)
