"""Branch-name templates inferred from the refs that exist; never a built-in table.

A template is a name with its numbers replaced (`release/{major}.{minor}.x`). A branch could be a release line
when its words are the field's or the repository's own, or when several lines stand under its template.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace as altered

from ranking.lines import Lineage
from ranking.versions import Reading, Version, read_branch, read_tag
from ranking.words import is_family, is_work_branch, names_work

_PLACES = ("{major}", "{minor}", "{patch}", "{build}")
_ISSUE_KEY = re.compile("[A-Z][A-Z0-9]+-[0-9]+")
_DIGITS = re.compile("[0-9]+")
_SPLIT = re.compile(r"[^A-Za-z]+")


class Line(Struct, frozen=True):
    """A branch that could be a release line, read.

    `product`: the words that bind it to one; `tail`: the numbers after its version; `covering`: False where its
    number is no version of this repository (`stable22` in one that has released 1.5): it can carry releases,
    and its name covers none.
    """

    name: str
    reading: Reading
    template: str
    product: frozenset[str]
    tail: tuple[int, ...]
    covering: bool


class Names(Struct, frozen=True):
    """The names of branches, told apart by their looks: those of work branches, and all others; in the order given."""

    work: tuple[str, ...]
    other: tuple[str, ...]


class Conventions(Struct, frozen=True):
    """What the names say together.

    `members`: how many distinct versions stand under each template; `dominant`: the template with the most;
    `lines`: the branches that could be lines; `work`, `topics`: names that were left out, and are notes; `other`: all
    names but those of work.
    """

    lines: Mapping[str, Line]
    members: Mapping[str, int]
    dominant: str | None
    neutral: frozenset[str]
    work: tuple[str, ...]
    topics: tuple[str, ...]
    other: frozenset[str]

    def components(self) -> int | None:
        """How many fixed numbers the commonest names of versions have, None where no two names go together."""
        covering = [line for line in self.lines.values() if line.covering and self.members[line.template] > 1]
        if not covering:
            return None
        return max(covering, key=lambda line: (self.members[line.template], line.template)).reading.components


def name_under(template: str, version: Version) -> str | None:
    """The name that a template gives a version, None where the version has too few numbers for it.

    >>> name_under("release/{major}.{minor}.x", Version((9, 5, 0)))
    'release/9.5.x'
    """
    name = template
    for place, number in zip(_PLACES, version.numbers, strict=False):
        name = name.replace(place, str(number))
    return None if "{" in name else name


def neutral_words(repository: str, tags: Iterable[str]) -> frozenset[str]:
    """Words that tell no product apart here: the repository's and its owner's, and the commonest tag prefix."""
    own = set(_SPLIT.split(repository.lower()))
    own |= {re.sub("[^a-z]", "", part) for part in repository.lower().split("/")}
    prefixes = Counter(r.words for r in map(read_tag, tags) if r is not None)
    commonest = max(prefixes, key=lambda words: (prefixes[words], words), default=())
    return frozenset(own | set(commonest))


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
    default: str | None,
    neutral: frozenset[str],
    lineage: Lineage,
    admitted: frozenset[str] = frozenset(),
    named: frozenset[str] = frozenset(),
) -> Conventions:
    """Read the names, infer the templates, and tell lines from work and from topics.

    `admitted`: branches that count although they look like work: a pull request targets them, a person chose
    them, or releases were made on them alone. `named`: the words of the versions that are asked for.
    """
    wanted = {*admitted, default}
    let_in = [name for name in names.work if name in wanted]
    other = frozenset([*names.other, *let_in])
    readable = {}
    for name in sorted(other):
        reading = read_branch(name)
        if reading is not None:
            readable[name] = _reread(reading, lineage)
    under: defaultdict[str, set[tuple[int, ...]]] = defaultdict(set)
    for reading in readable.values():
        if not reading.version.prerelease:
            under[reading.template].add(reading.version.numbers)
    lines, topics = {}, []
    known = neutral | lineage.words | lineage.abbreviations.keys() | named
    for name, reading in readable.items():
        template = reading.template
        if name in wanted or _could_be_line(name, reading, known, lineage, len(under[template])):
            lines[name] = Line(
                name=name,
                reading=reading,
                template=template,
                product=_product(reading, neutral, lineage.abbreviations),
                tail=reading.tail,
                covering=not _bare(reading) or _plausible(reading, lineage),
            )
        else:
            topics.append(name)
    work = tuple(name for name in names.work if name not in wanted) if let_in else names.work
    members = {t: len(under[t]) for t in {line.template for line in lines.values()}}
    dominant = max((t for t in members if members[t] > 1), key=lambda t: (members[t], -len(t), t), default=None)
    return Conventions(lines, members, dominant, neutral, work, tuple(topics), other)


def _product(reading: Reading, neutral: frozenset[str], abbreviations: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The words that bind a branch to a product; `vpa` is read as the words that it abbreviates."""
    words = frozenset(w for w in reading.words if not is_family(w)) - neutral
    return abbreviations.get(next(iter(words)), words) if len(words) == 1 else words


def _could_be_line(name: str, reading: Reading, known: frozenset[str], lineage: Lineage, members: int) -> bool:
    foreign = [w for w in reading.words if not is_family(w)]
    plain = (not reading.tail or reading.tail in lineage.tails) and known.issuperset(foreign)
    if _bare(reading):
        # A bare number may be anything, an issue's number most often: a line's only where releases have, or
        # will next have, such a first number, or where several names of the family's own words have one.
        if foreign and _ISSUE_KEY.fullmatch(name):
            return False
        return plain and (_plausible(reading, lineage) or (bool(reading.words) and not foreign and members > 1))
    return plain or (members > 1 and not names_work(reading.words))


def _bare(reading: Reading) -> bool:
    return reading.components == 1 and not reading.version.wildcard


def _plausible(reading: Reading, lineage: Lineage) -> bool:
    """Whether releases have, or will next have, this first number; True where there are no releases."""
    number = reading.version.numbers[0]
    return not lineage.majors or number in lineage.majors or number - 1 in lineage.majors


def _reread(reading: Reading, lineage: Lineage) -> Reading:
    """Read digits that run together (`stable45`, `401`) as two numbers where the release tags prove it.

    Proven: the number is no release's first number, and of all ways to cut it exactly one is a line of releases.
    """
    if not _bare(reading) or reading.version.prerelease or _plausible(reading, lineage):
        return reading
    digits = _DIGITS.findall(reading.spelling)[0]
    heads = [digits[:i] for i in range(1, len(digits)) if i == 1 or digits[0] != "0"]
    cuts = {(int(head), int(digits[len(head) :])) for head in heads} & lineage.pairs
    if len(cuts) != 1:
        return reading
    return altered(reading, version=altered(reading.version, numbers=cuts.pop()))
