"""What a command shows, before it reaches a screen: styled lines, or bytes, and notices. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from ranking.names import printable

Part = tuple[str, str]
Line = list[Part]
"""(style, text) parts, in their order."""


def and_more(names: Sequence[str], most: int, show: Callable[[str], str] = printable) -> str:
    """Return the first names, and how many more there are.

    >>> and_more(["a", "b"], 2), and_more(["a", "b", "c", "d"], 2)
    ('a, b', 'a, b, and 2 more')
    """
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(show, names[:most])) + more


class Shown(Struct, frozen=True, kw_only=True):
    """What is printed: bytes or lines on standard output, notices on standard error."""

    data: bytes | None = None
    lines: Sequence[Line] = ()
    notices: tuple[str, ...] = ()
