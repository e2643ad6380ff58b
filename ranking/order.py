"""The default order: where work goes when neither the issue nor a memory says anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from ranking.conventions import Conventions, Line
from ranking.listing import Listed
from ranking.words import TRUNKS

SEED = ("develop*", "release/*", "main", "master")


def default_order(
    listed: Listed, conventions: Conventions, patterns: Sequence[str] | str | None
) -> tuple[list[str], list[str]]:
    """The branches in default order, and notes on entries of a configured order that nothing answers to.

    Unset: the development branch, the server's default, main and master, then release lines, newest first.
    """
    lines = newest_first(conventions.lines.values())
    if patterns is None:
        heads = (listed.development, listed.default, *(t for t in TRUNKS if t in listed.branches))
        return list(dict.fromkeys([*(h for h in heads if h is not None), *lines])), []
    wanted = SEED if isinstance(patterns, str) else tuple(patterns)
    ordered, missing = [], []
    for pattern in wanted:
        matching = [n for n in (*lines, *listed.branches) if fnmatchcase(n, pattern)]
        ordered += matching
        if not matching:
            missing.append(pattern)
    notes = [f"defaultOrder names what is not listed: {', '.join(missing)}"] if missing and patterns != "seed" else []
    return list(dict.fromkeys(ordered)), notes


def newest_first(lines: Iterable[Line]) -> list[str]:
    """The names of lines, newest version first; a pre-release after the final of its version, equals as they come."""
    return [line.name for line in sorted(lines, key=lambda line: line.reading.version.key, reverse=True)]
