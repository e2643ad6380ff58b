"""Outside text made safe for a person's screen: what would move the cursor or reorder a line is escaped."""

from __future__ import annotations

import unicodedata

_ESCAPED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def shown(text: str) -> str:
    r"""The text with control, format (bidi, zero-width), surrogate and unassigned characters escaped.

    >>> shown("main\x1b[31m")
    'main\\x1b[31m'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in _ESCAPED_CATEGORIES else c for c in text
    )
