"""What a command shows, before it reaches a screen: styled lines, or bytes, and notices. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

Part = tuple[str, str]
Line = list[Part]
"""(style, text) parts, in their order."""


class Shown(Struct, frozen=True, kw_only=True):
    """What is printed: bytes or lines on standard output, notices on standard error."""

    data: bytes | None = None
    lines: Sequence[Line] = ()
    notices: tuple[str, ...] = ()
