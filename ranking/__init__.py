"""Facts in, ranking out: no I/O, no clock, no environment, no logging, no randomness.

Imports the standard library's pure parts, packaging and msgspec, and nothing of collectors or candidates. The public
names are those of `__all__`; docs/library.md shows how to use them. Importing the package loads none of its modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ranking.facts import Facts, Ranking, decode_facts, encode_ranking
    from ranking.ranker import rank, rank_surely

__all__ = ("Facts", "Ranking", "decode_facts", "encode_ranking", "rank", "rank_surely")


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ranking import facts, ranker  # noqa: PLC0415 - the program's own commands import the modules that they need

    return getattr(ranker if name.startswith("rank") else facts, name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)
