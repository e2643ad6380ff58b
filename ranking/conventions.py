"""Branch-name templates inferred from the refs that exist; never a built-in table.

A template is a name with its numbers replaced (`release/{major}.{minor}.x`). A branch is a release line if releases
that its name covers were made under its template, or if its words and its siblings say so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from ranking.record import Record, covers
from ranking.versions import PLACES, Reading, Version, read_branch
from ranking.words import is_family, is_work_branch

_DIGITS = re.compile("[0-9]+")


class Line(Struct, frozen=True):
    """A branch that could be a release line, read. `words`: those that are not the field's or the repository's own."""

    name: str
    reading: Reading
    template: str
    words: frozenset[str]


class Names(Struct, frozen=True):
    """The names of branches by their looks: those of work branches, and all others; in the order given."""

    work: tuple[str, ...]
    other: tuple[str, ...]


class Conventions(Struct, frozen=True):
    """What the names say together.

    `members`: how many distinct versions stand under each template; `dominant`: the template with the most;
    `lines`: the branches that could be lines; `work`, `topics`: names that were left out, and are notes; `readings`:
    every name that was read and holds a version.
    """

    lines: Mapping[str, Line]
    members: Mapping[str, int]
    dominant: str | None
    work: tuple[str, ...]
    topics: tuple[str, ...]
    readings: Mapping[str, Reading]

    def name_for(self, version: Version) -> str | None:
        """The name that the dominant template gives a version, as wide as its members are written; None without one."""
        if self.dominant is None:
            return None
        spelled = (line.reading.spelling for line in self.lines.values() if line.template == self.dominant)
        groups = [_DIGITS.findall(spelling) for spelling in spelled]
        padded = (max((len(g[i]) for g in groups if i < len(g) and g[i][0] == "0"), default=0) for i in range(4))
        return name_under(self.dominant, version, tuple(padded))


def name_under(template: str, version: Version, widths: Sequence[int] = ()) -> str | None:
    """The name that a template gives a version, None if the version has too few numbers for it.

    >>> name_under("release/{major}.{minor}.x", Version((9, 5, 0)))
    'release/9.5.x'
    >>> name_under("{major}.{minor}", Version((26, 4)), (0, 2))
    '26.04'
    """
    name = template
    for i, (place, number) in enumerate(zip(PLACES, version.numbers, strict=False)):
        name = name.replace(place, str(number).zfill(widths[i] if i < len(widths) else 0))
    return None if "{" in name else name


def tell_work(names: Iterable[str], work_prefixes: Sequence[str] | None = None) -> Names:
    """Tell work branches by their names; `work_prefixes` takes the place of the built-in ones."""
    prefixes = None if work_prefixes is None else tuple(prefix.lower() for prefix in work_prefixes)
    work: list[str] = []
    other: list[str] = []
    for name in names:
        (work if is_work_branch(name, prefixes) else other).append(name)
    return Names(tuple(work), tuple(other))


def infer_conventions(
    names: Names,
    *,
    record: Record,
    default: str | None,
    admitted: AbstractSet[str] = frozenset(),
    named: AbstractSet[str] = frozenset(),
    spelled: Collection[str] = (),
) -> Conventions:
    """Read the names, infer the templates, and tell lines from work and from topics.

    `admitted`: branches that count although they look like work: a pull request targets them, or a person chose them.
    `named`: the words of the versions that are asked for; `spelled`: these versions as they are written, so that a work
    branch of exactly that name is read too.
    """
    wanted = {*admitted, default}
    let_in = {n for n in names.work if n in wanted or n in record.carriers or any(text in n for text in spelled)}
    readings = {n: r for n in (*names.other, *sorted(let_in)) if (r := read_branch(n)) is not None}
    proven = _proven(record, readings)
    under: defaultdict[str, set[Version]] = defaultdict(set)
    work = frozenset(names.work) - wanted
    for name, reading in readings.items():
        if name not in work or name in proven:
            under[reading.template].add(reading.version)
    known = record.neutral | record.words | named
    lines: dict[str, Line] = {}
    topics: list[str] = []
    for name, reading in readings.items():
        if name in work and name not in proven:
            continue
        words = frozenset(w for w in reading.words if not is_family(w)) - record.neutral
        plain, siblings = words <= known and not reading.tail, len(under[reading.template])
        could = name in wanted or reading.template in proven
        if could or _reads_like_line(reading, record, plain=plain, members=siblings):
            lines[name] = Line(name, reading, reading.template, words)
        else:
            topics.append(name)
    members = _members(lines.values())
    dominant = max((t for t in members if members[t] > 1), key=lambda t: (members[t], -len(t), t), default=None)
    left = tuple(name for name in names.work if name not in lines and name not in wanted)
    return Conventions(lines, members, dominant, left, tuple(topics), readings)


def _members(lines: Iterable[Line]) -> dict[str, int]:
    """How many distinct versions the lines under each template have."""
    versions: defaultdict[str, set[Version]] = defaultdict(set)
    for line in lines:
        versions[line.template].add(line.reading.version)
    return {template: len(found) for template, found in versions.items()}


def _proven(record: Record, readings: Mapping[str, Reading]) -> frozenset[str]:
    """The branches that carry releases of the version in their names, and the templates that they stand under."""
    found: set[str] = set()
    for name, releases in record.carriers.items():
        reading = readings.get(name)
        if reading and any(covers(reading.version.numbers, r.numbers) for r in releases):
            found |= {name, reading.template}
    return frozenset(found)


def _reads_like_line(reading: Reading, record: Record, *, plain: bool, members: int) -> bool:
    """Whether a name that no release tells about looks like a line's, by its words and its siblings."""
    if reading.components == 1 and not reading.version.wildcard:
        # A bare number may be anything, an issue's number most often.
        number = reading.version.numbers[0]
        plausible = not record.majors or bool({number, number - 1} & record.majors)
        return plain and (plausible or (members > 1 and all(map(is_family, reading.words))))
    return plain or members > 1
