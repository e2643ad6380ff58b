"""Identifier types, each with its only parser: branch names, full refnames, object ids.

A name that came from outside is text until one of these has passed it. Nothing here knows a repository.
"""

from __future__ import annotations

import re
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

# Characters that make a name look like another one on a screen: C1 controls, zero-width and bidi marks, BOM.
_DECEPTIVE = re.compile("[\x80-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


def fault_of(name: str) -> str | None:
    """Why a branch name can never be an answer, or None where it can.

    >>> fault_of("release/8.4.0") is None
    True
    >>> fault_of("--upload-pack=x")
    'it begins with a dash, which git would read as an option'
    """
    if not name:
        return "it is empty"
    if name.startswith("-"):
        return "it begins with a dash, which git would read as an option"
    if name == "HEAD":
        return "HEAD is no branch"
    if _FORBIDDEN.search(name):
        return "git does not allow such a name"
    if _DECEPTIVE.search(name):
        return "it holds characters that do not show"
    return None


def remote_tracking(remote: str, branch: str) -> Refname:
    """The remote-tracking refname under git's default refspec."""
    return Refname(f"{REMOTES}{remote}/{branch}")


def local_head(branch: str) -> Refname:
    """The local branch's refname."""
    return Refname(HEADS + branch)
