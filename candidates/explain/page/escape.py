"""Text from outside inside a page: what does not show is made visible, what could mean anything is escaped.

Pure. Nothing else writes such text into HTML or SVG.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from candidates.styled import Line, and_more
from ranking.names import printable

_MOST_CHARACTERS = 600
_SHORT = 32

# The styles of a terminal's line, as classes of the page's style sheet; nothing for plain text.
_CLASSES = {
    "bold": "strong",
    "bold green": "taken",
    "bold yellow": "open",
    "green": "good",
    "yellow": "part",
    "red": "bad",
    "dim": "dim",
    "cyan": "name",
}


def text(raw: str, most: int = _MOST_CHARACTERS) -> str:
    r"""Text from outside for a page, between tags or inside a quoted attribute; cut where it is very long.

    >>> text('<b>"x"\\x00')
    '&lt;b&gt;&quot;x&quot;\\x00'
    """
    safe = printable(raw)
    cut = f"{safe[:most]}… and {len(safe) - most} more characters" if len(safe) > most else safe
    return escape(cut)


def code(raw: str) -> str:
    """A name from outside, set as one; a short one is not broken."""
    return f'<code class="{"short" if len(raw) <= _SHORT else "long"}">{text(raw) or "(empty)"}</code>'


def codes(names: Iterable[str], most: int) -> str:
    """The first names of several; the rest counted."""
    return and_more(tuple(names), most, code)


def line(parts: Line) -> str:
    """A styled line as it stands on a terminal, without its indentation."""
    first = True
    out = []
    for style, raw in parts:
        said = text(raw.lstrip() if first else raw)
        first = False
        out.append(f'<span class="{_CLASSES[style]}">{said}</span>' if style else said)
    return "".join(out)
