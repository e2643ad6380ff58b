"""The record of a repository: which release tags exist, of which product, and which branches carry them.

Names promise and tags prove: what a product's releases show is worked out here once, and every question about a
version looks at it. Nothing here knows which version is asked for, except to choose the product.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from msgspec import Struct
from msgspec.structs import replace

from ranking.facts import Tag
from ranking.versions import DAILY, Reading, Version, read_tag
from ranking.words import is_family

_SPLIT = re.compile(r"[^a-z]+")
_BUILDS = frozenset({"snapshot", "nightly", "development", "dev", "canary", "daily", "weekly"})
_ISSUE_KEY = re.compile("(?:^|/)[A-Z][A-Z0-9]+-[0-9]+")

# A plain version belongs to the releases without a product word only if these are no accident: this share at least.
_PLAIN_SHARE = 10
# A component from 100 to 999 may be two numbers run together (`3.205` is 3.2.05).
_RUN_TOGETHER = range(100, 1000)

# So many branches of one template may carry releases of other numbers by accident.
_FEW = 2

Numbers = tuple[int, ...]


class Release(Struct, frozen=True):
    """A tag that names a release.

    `product`: the words that tell its product from others; `branches`: those that carry it on their own line or, with
    `merged`, took it in by a merge (None: nobody looked).
    """

    name: str
    version: Version
    product: frozenset[str]
    branches: tuple[str, ...] | None
    merged: bool
    created: float

    @property
    def numbers(self) -> Numbers:
        """The components of its version."""
        return self.version.numbers


class Record:
    """All releases of a repository, by product."""

    def __init__(self, tags: Iterable[Tag], neutral: frozenset[str]) -> None:
        """Read the tags; builds of every day are not releases and are passed over."""
        found = (release for tag in tags if (release := _read(tag, neutral)) is not None)
        self._every = sorted(found, key=lambda r: (r.created, r.version.key, r.name))
        self._sizes = Counter(r.product for r in self._every)
        self.neutral = neutral
        self.products = frozenset(product for product in self._sizes if product)
        self._by_word: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
        for product in self.products:
            for word in product:
                self._by_word[word].add(product)
        self.majors = frozenset(r.numbers[0] for r in self._every)
        self.carriers: defaultdict[str, list[Release]] = defaultdict(list)
        for release in self._every:
            for branch in release.branches or ():
                self.carriers[branch].append(release)
        self._templates: frozenset[tuple[frozenset[str], str]] | None = None
        self._products: dict[tuple[frozenset[str], ...], Product] = {}

    def is_made_under(self, template: str, product: frozenset[str], names: Mapping[str, Reading]) -> bool:
        """Whether releases of a product sit on a branch under a template."""
        if self._templates is None:
            found = ((r.product, names[b].template if b in names else b) for b, rs in self.carriers.items() for r in rs)
            self._templates = frozenset(found)
        return (product, template) in self._templates

    @property
    def words(self) -> frozenset[str]:
        """Every word that names a product in a tag."""
        return frozenset(word for product in self._sizes for word in product)

    def named_by(self, words: AbstractSet[str]) -> list[frozenset[str]]:
        """The products that have a word and all whose words are among these."""
        near = {product for word in words for product in self._by_word.get(word, ())}
        return [product for product in near if product <= words]

    def releases(self) -> list[Release]:
        """All releases, oldest version first."""
        return sorted(self._every, key=lambda r: (r.version.key, r.name))

    def product(self, wanted: Reading, names: Mapping[str, Reading], default: str | None) -> Product:
        """What the releases of the product that a label names show; worked out once for each product."""
        chosen = self._choose(wanted)
        if chosen not in self._products:
            releases = [r for r in self._every if r.product in chosen]
            self._products[chosen] = Product(chosen, releases, names, default)
        return self._products[chosen]

    def _choose(self, wanted: Reading) -> tuple[frozenset[str], ...]:
        """The product of the label's words, else the plain one, else those that are near the version."""
        words = self.asked(wanted)
        first = wanted.version.numbers
        if words in self._sizes and words:
            return (words,)
        if words and (wider := [product for product in self._sizes if words <= product]):
            return tuple(sorted(wider, key=sorted))
        largest = max(self._sizes, key=lambda p: (self._sizes[p], -len(p), sorted(p)), default=frozenset())
        plain = self._sizes[frozenset()] * _PLAIN_SHARE >= self._sizes[largest]
        main = frozenset() if plain else largest
        if not main and any(not r.product and r.numbers[0] == first[0] for r in self._every):
            return (main,)
        for size in (2, 1):
            near = {r.product for r in self._every if len(first) >= size and r.numbers[:size] == first[:size]}
            if near:
                return tuple(sorted(near, key=sorted))
        return (main,)

    def asked(self, wanted: Reading) -> frozenset[str]:
        """The words of a label that could name a product here."""
        return frozenset(w for w in wanted.words if not is_family(w) and w not in self.neutral)


class Product:
    """What the releases of one product show, whatever version is asked for.

    `numbers`: what the name of each branch says, read as the releases prove; `contrary`: branches whose releases their
    names do not explain; `carried`: the releases on each branch; `hits`: how many of them the name covers;
    `explained`: the branches of each release whose names cover it; `own`, `away`: on how many branches of each template
    their own releases sit, or were made elsewhere.
    """

    def __init__(
        self,
        words: Sequence[frozenset[str]],
        releases: Sequence[Release],
        names: Mapping[str, Reading],
        default: str | None,
    ) -> None:
        """Hold each release against the names of all branches, once."""
        self.words = words
        self.default = default
        self.cut = _cuts(releases, names, default)
        self.releases = [_cut_release(r) for r in releases] if self.cut else list(releases)
        self.under: defaultdict[Numbers, list[Release]] = defaultdict(list)
        for release in self.releases:
            for size in range(1, len(release.numbers) + 1):
                self.under[release.numbers[:size]].append(release)
        self._majors = {r.numbers[0] for r in self.releases}
        self.members = _members(names)
        self._proven = _proven(self.releases, names)
        self._heads = self._run_together(names)
        self.numbers = {n: found for n, r in names.items() if (found := self._read_name(n, r)) is not None}
        self.default_numbers = self.numbers.pop(default, None) if default else None
        self.carried: defaultdict[str, list[Release]] = defaultdict(list)
        self.hits: Counter[str] = Counter()
        self.explained: dict[str, frozenset[str]] = {}
        self.own: Counter[str] = Counter()
        self.away: Counter[str] = Counter()
        self.contrary = self._hold_against(names)

    def read(self, version: Version) -> Version:
        """A version as this product's names count."""
        return _cut_version(version) if self.cut else version

    def _read_name(self, name: str, reading: Reading) -> Numbers | None:
        """The numbers of a name; digits that run together (`stable45`) in two where the releases prove it.

        A bare number that is no release's first, nor the next one, is an issue's number or a year.
        """
        numbers = reading.version.numbers
        if len(numbers) > 1 or reading.version.wildcard:
            return numbers
        if reading.template in self._proven:
            return numbers
        if not self._majors or numbers[0] in self._majors or numbers[0] - 1 in self._majors:
            return None if _ISSUE_KEY.search(name) else numbers
        words = self.members[reading.template] > 1 or all(map(is_family, reading.words))
        if not words and reading.before[-1:].isalpha():
            return None
        digits = str(numbers[0])
        heads = (digits[:i] for i in range(1, len(digits)))
        cuts = [cut for head in heads if (cut := (int(head), int(digits[len(head) :]))) in self.under]
        if len(cuts) == 1:
            return cuts[0]
        # Another name of the template shows after how many digits the second number begins.
        head = self._heads.get((reading.template, len(digits)))
        return (int(digits[:head]), int(digits[head:])) if head and not cuts else None

    def _run_together(self, names: Mapping[str, Reading]) -> dict[tuple[str, int], int]:
        """After how many digits the second number begins, for each template and length, as releases prove it."""
        found: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
        for reading in names.values():
            digits = str(reading.version.numbers[0])
            if reading.components == 1 and reading.version.numbers[0] not in self._majors:
                heads = (i for i in range(1, len(digits)) if (int(digits[:i]), int(digits[i:])) in self.under)
                found[reading.template, len(digits)].update(heads)
        return {key: heads.pop() for key, heads in found.items() if len(heads) == 1}

    def _hold_against(self, names: Mapping[str, Reading]) -> frozenset[str]:
        """Count what names explain; the branches that are left are contrary."""
        beyond: set[str] = set()
        foreign: set[str] = set()
        for release in self.releases:
            others = [b for b in release.branches or () if b != self.default]
            for branch in release.branches or ():
                self.carried[branch].append(release)
            explained = [b for b in others if b in self.numbers and covers(self.numbers[b], release.numbers)]
            self.hits.update(explained)
            self.explained[release.name] = frozenset(explained)
            for branch in () if explained else others:
                own = self.numbers.get(branch)
                if own is None:
                    continue
                # Releases before the branch's own are inherited: it was cut after them.
                if release.numbers > own and not covers(trimmed(own), release.numbers):
                    beyond.add(branch)
                    foreign.add(branch)
                elif release.numbers[0] != own[0]:
                    foreign.add(branch)
        told: Counter[str] = Counter(names[b].template for b in self.hits)
        untold: Counter[str] = Counter(names[b].template for b in foreign if not self.hits[b])
        for branch, own in self.numbers.items():
            made = [r for r in self.under.get(own, ()) if r.branches is not None]
            if any(branch in (r.branches or ()) for r in made):
                self.own[names[branch].template] += 1
            elif any(r.branches for r in made):
                self.away[names[branch].template] += 1
        return frozenset(
            branch
            for branch in foreign
            if not self.hits[branch]
            and (
                (not told[names[branch].template] and untold[names[branch].template] > _FEW)
                or (branch in beyond and told[names[branch].template] <= untold[names[branch].template])
            )
        )


def _proven(releases: Iterable[Release], names: Mapping[str, Reading]) -> frozenset[str]:
    """The templates of bare numbers under which a branch carries a release of its own number."""
    return frozenset(
        names[branch].template
        for release in releases
        for branch in release.branches or ()
        if branch in names and names[branch].version.numbers == release.numbers[:1]
    )


def covers(name: Numbers, version: Numbers) -> bool:
    """Whether the numbers of a name begin those of a version."""
    return version[: len(name)] == name


def trimmed(numbers: Numbers) -> Numbers:
    """Without zeros at the end; the first number stays."""
    end = len(numbers)
    while end > 1 and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def own_words(repository: str) -> frozenset[str]:
    """The words of a repository's and its owner's name, which tell none of its products apart."""
    lowered = repository.lower()
    joined = {re.sub("[^a-z]", "", part) for part in lowered.split("/")}
    return frozenset({*_SPLIT.split(lowered), *joined} - {""})


def _members(names: Mapping[str, Reading]) -> Counter[str]:
    """How many versions stand under each template."""
    versions: defaultdict[str, set[Numbers]] = defaultdict(set)
    for reading in names.values():
        versions[reading.template].add(reading.version.numbers)
    return Counter({template: len(found) for template, found in versions.items()})


def _cuts(releases: Iterable[Release], names: Mapping[str, Reading], default: str | None) -> bool:
    """Whether names explain the releases better where three digits are read as two numbers: `2.402` on `2.4-MAINT`."""
    plain = cut = 0
    for release in releases:
        whole = release.numbers
        parts = _cut_numbers(whole)
        if parts == whole:
            continue
        for branch in release.branches or ():
            own = names[branch].version.numbers if branch in names and branch != default else ()
            if len(own) > 1:
                plain += covers(own, whole)
                cut += covers(own, parts)
    return 2 * cut > 3 * plain


def _cut_numbers(numbers: Numbers) -> Numbers:
    for i, (_, number) in enumerate(pairwise(numbers), start=1):
        if number in _RUN_TOGETHER:
            return (*numbers[:i], number // 100, number % 100, *numbers[i + 1 :])
    return numbers


def _cut_version(version: Version) -> Version:
    numbers = _cut_numbers(version.numbers)
    return version if numbers == version.numbers else replace(version, numbers=numbers)


def _cut_release(release: Release) -> Release:
    version = _cut_version(release.version)
    return release if version is release.version else replace(release, version=version)


def _read(tag: Tag, neutral: AbstractSet[str]) -> Release | None:
    reading = read_tag(tag.name)
    if reading is None or reading.version.wildcard or reading.version.ripeness <= DAILY:
        return None
    if not _BUILDS.isdisjoint(reading.words):
        return None
    merged = not tag.branches and bool(tag.merged_into)
    return Release(
        name=tag.name,
        version=reading.version,
        product=frozenset(w for w in reading.words if not is_family(w) and w not in neutral),
        branches=tag.merged_into if merged else tag.branches,
        merged=merged,
        created=tag.created_at.timestamp() if tag.created_at else 0.0,
    )
