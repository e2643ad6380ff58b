"""Release lines by tag lineage: which branch carries which release tags.

Names promise, tags prove: the branch that carries v17.2.6 takes 17.2.7, whatever it is called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace as altered

from ranking.facts import Tag
from ranking.versions import DAILY, Version, read_branch, read_tag
from ranking.words import is_family

_UNRIPE = frozenset({"snapshot", "nightly", "development", "dev", "canary", "daily", "weekly"})


class ReleaseTag(Struct, frozen=True):
    """A tag that names a version: of which product (words), and on which branches it sits (None: not known)."""

    name: str
    version: Version
    words: tuple[str, ...]
    product: tuple[str, ...]
    tail: tuple[int, ...]
    branches: tuple[str, ...] | None


class Lineage:
    """The release tags of a repository by product, newest last."""

    def __init__(self, tags: Iterable[Tag], neutral: frozenset[str]) -> None:
        """Read the tags; builds of every day are no releases and are passed over."""
        by_product: defaultdict[tuple[frozenset[str], tuple[int, ...]], list[ReleaseTag]] = defaultdict(list)
        abbreviated: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
        for tag in tags:
            release = _read(tag, neutral)
            if release is not None:
                by_product[frozenset(release.product), release.tail].append(release)
                if len(release.words) > 1 and release.product:
                    abbreviated["".join(w[0] for w in release.words)].add(frozenset(release.product))
        for releases in by_product.values():
            releases.sort(key=lambda r: (r.version.key, r.name))
        self._by_product = dict(by_product)
        self.words = frozenset(w for product, _ in by_product for w in product)
        self.tails = frozenset(tail for _, tail in by_product)
        self.majors = frozenset(r.version.numbers[0] for group in by_product.values() for r in group)
        self.pairs = frozenset(r.version.numbers[:2] for group in by_product.values() for r in group)
        self.sole_carriers = frozenset(
            r.branches[0]
            for group in by_product.values()
            for r in group
            if r.branches and len(r.branches) == 1 and _names(r.branches[0], r.version)
        )
        # Initials that two modules share abbreviate neither.
        self.abbreviations = {short: long for short, [long, *others] in abbreviated.items() if not others}

    def releases(self, product: frozenset[str] = frozenset(), tail: tuple[int, ...] = ()) -> list[ReleaseTag]:
        """The release tags of one product, oldest version first."""
        return self._by_product.get((product, tail), [])

    def all_releases(self) -> list[ReleaseTag]:
        """The release tags of every product, oldest version first."""
        every = (release for group in self._by_product.values() for release in group)
        return sorted(every, key=lambda r: (r.version.key, r.name))

    def newest(
        self, version: Version, line: tuple[int, ...], product: frozenset[str], tail: tuple[int, ...]
    ) -> ReleaseTag | None:
        """The newest release tag inside a line; tags of the same version count as one, on the branches of all.

        A release with more components than the version asked for is a patch of a patch, and may have a branch
        of its own: it speaks for the line only where no other does.
        """
        inside = [r for r in self.releases(product, tail) if r.version.within(line)]
        size = max(len(version.numbers), len(line) + 1)
        plain = [r for r in inside if len(r.version.numbers) <= size or r.version.prerelease]
        newest = max((r.version for r in plain or inside), key=lambda v: v.key, default=None)
        return _as_one([r for r in plain or inside if r.version == newest])


def _names(branch: str, version: Version) -> bool:
    """Whether the branch that alone carries a release is named for its line, but for a work folder before it."""
    reading = read_branch(branch.partition("/")[2] or branch)
    return reading is not None and reading.version.covers(version) and all(map(is_family, reading.words))


def _as_one(releases: list[ReleaseTag]) -> ReleaseTag | None:
    """Tags of one version as one, sitting wherever any of them sits."""
    known = [r.branches for r in releases if r.branches is not None]
    if not known:
        return releases[-1] if releases else None
    first = next(r for r in releases if r.branches is not None)
    return altered(first, branches=tuple(sorted(set().union(*known))))


def _read(tag: Tag, neutral: frozenset[str]) -> ReleaseTag | None:
    reading = read_tag(tag.name)
    if reading is None or reading.version.wildcard or reading.version.ripeness <= DAILY:
        return None
    if not _UNRIPE.isdisjoint(reading.words):
        return None
    words = tuple(w for w in reading.words if not is_family(w))
    return ReleaseTag(
        name=tag.name,
        version=reading.version,
        words=words,
        product=tuple(w for w in words if w not in neutral),
        tail=reading.tail,
        branches=tag.branches,
    )
