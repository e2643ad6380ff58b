"""A branch's name as a person or another program writes it, and as the remote lists it. Pure."""

from __future__ import annotations

from collections.abc import Callable

from ranking.names import HEADS


def listed_name(name: str, remote: str | None, is_listed: Callable[[str], bool]) -> str:
    """The listed branch that a name stands for: itself, or what follows `origin/` or `refs/heads/`; else the name.

    >>> listed_name("origin/develop", "origin", {"develop"}.__contains__)
    'develop'
    >>> listed_name("origin/develop", "origin", {"develop", "origin/develop"}.__contains__)
    'origin/develop'
    """
    if is_listed(name):
        return name
    remotes = dict.fromkeys(each for each in (remote, "origin") if each is not None)
    prefixes = [HEADS, *(f"{before}{each}/" for each in remotes for before in ("refs/remotes/", "remotes/", ""))]
    for prefix in prefixes:
        if name.startswith(prefix) and is_listed(short := name.removeprefix(prefix)):
            return short
    return name
