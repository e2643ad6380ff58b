"""Names near one that is not there: what the caller may have meant, never what is taken."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from difflib import get_close_matches

from ranking.names import printable

_MOST = 3

# Of very many names those that stand near it in their order: comparing one with each of 100,000 takes ten seconds.
_AROUND = 500


def near_names(name: str, listed: Iterable[str]) -> tuple[str, ...]:
    """The closest few; first those that the name is a longer way to say (`origin/main`, `refs/heads/main`).

    >>> near_names("refs/heads/main", ["main", "master"]), near_names("release/8.5", ["main", "release/8.4"])
    (('main',), ('release/8.4',))
    """
    names = sorted(listed)
    meant = sorted((one for one in names if name.endswith(f"/{one}")), key=len, reverse=True)
    at = bisect(names, name)
    around = names[max(0, at - _AROUND) : at + _AROUND]
    return tuple(dict.fromkeys([*meant, *get_close_matches(name, around, n=_MOST)]))[:_MOST]


def near_hint(name: str, listed: Iterable[str]) -> str:
    """What to try: the near names, else the command that shows all."""
    near = near_names(name, listed)
    return f"near names: {', '.join(map(printable, near))}" if near else "base-branch explain"
