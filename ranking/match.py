"""One version against the branches of one repository: which takes it, how surely, and why.

The steps, from the surest: a branch whose name covers the version; a branch that carries the newest release of
the version's line; a version newer than every line, for which no branch is cut; else nothing, and that is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Literal

from ranking.conventions import Conventions, Line, name_under
from ranking.lines import Lineage, ReleaseTag
from ranking.versions import Reading, Version
from ranking.words import FAMILY_FOLDERS, is_family, is_work_branch, names_work

# How many lines a module's newest release may be behind the whole's and still be released with it.
_SAME_TRAIN = 3

# How versions are written now, not ten years ago: the newest releases tell.
_RECENT_RELEASES = 20
_USUAL_COMPONENTS = 3

# Words that set a branch aside from the line itself, and how many times commoner a template must be to be
# the convention beside which another is the exception.
_ASIDE = frozenset({"alpha", "beta", "rc", "preview", "pre", "milestone", "staging", "integration", "next"})
_FAR_COMMONER = 3

Outcome = Literal["taken", "tied", "trunk", "not-cut", "lost", "held"]


@dataclass(frozen=True, slots=True)
class Match:
    """What became of one version.

    `winners`: branch to the reason it takes the version (several: a tie); `others`: branches that come near,
    each with its reason; `why`: one sentence for the notes where nothing was derived.
    """

    outcome: Outcome
    winners: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    why: str = ""


@dataclass(frozen=True, slots=True)
class Repo:
    """What a match looks at: the lines and their templates, the lineage, the default, and what is listed.

    `complete`: whether a branch that is not listed is not there.
    """

    conventions: Conventions
    lineage: Lineage
    default: str | None
    listed: frozenset[str]
    complete: bool = True


def match(wanted: Reading, repo: Repo) -> Match:
    """Find the branch that takes the version, or say why there is none."""
    version, wish = wanted.version, _wish(wanted, repo)
    if wish.foreign and not wanted.separator and not version.wildcard:
        return Match("held", why=f"a bare number beside {' '.join(wish.foreign)}, which nothing here carries")
    size = line_size(version, repo, wish.on_tags, wish.tail)
    newest = _newest(version, wish, repo)
    carriers = frozenset(newest.branches or ()) & repo.listed if newest else frozenset()
    covers = _covering(version, wish, repo)
    open_ones = [line for line in covers if not _released(line, version, size, wish, repo)]
    by_name = _closest(_unlost(open_ones, size, newest, carriers, wish, repo), version, size, wish, carriers, repo)
    if by_name:
        winners = _prefer(by_name, carriers, repo)
        return Match(
            outcome="taken" if len(winners) == 1 else "tied",
            winners={line.name: _why_covers(line, version, newest, carriers) for line in winners},
            others={line.name: _why_less(line, version, open_ones) for line in covers if line not in winners},
        )
    near = _near(version, size, covers, wish, repo)
    coming = _coming(version, size, newest, wish, repo)
    if coming is not None:
        reason = f"it is the highest version in the line of {version} that is not released yet"
        near.pop(coming.name, None)
        return Match("taken", winners={coming.name: reason}, others=near)
    if newest is not None and newest.branches is not None:
        return _by_lineage(version, newest, carriers, near, repo)
    return _unreleased(version, near, repo, wish, newest)


def _covering(version: Version, wish: _Wish, repo: Repo) -> list[Line]:
    """The lines of the wish's product whose names cover the version."""
    if _other_train(wish, repo):
        return []
    lines = repo.conventions.lines.values()
    return [line for line in lines if line.covering and wish.binds(line) and line.reading.version.covers(version)]


def _released(line: Line, version: Version, size: int, wish: _Wish, repo: Repo) -> bool:
    """Whether a branch is named for one version and not for a line that takes this one, and that version is out."""
    own = line.reading.version
    if own.wildcard or line.reading.components <= size or line.reading.components < len(version.numbers):
        return False
    return any(r.version == own for r in repo.lineage.releases(wish.on_tags, wish.tail))


def _near(version: Version, size: int, covers: list[Line], wish: _Wish, repo: Repo) -> dict[str, str]:
    """Branches that come near without taking the version, each with what is missing."""
    near = {}
    for line in repo.conventions.lines.values():
        own = line.reading.version
        if line in covers:
            near[line.name] = _why_weak(line, version, released=_released(line, version, size, wish, repo))
        elif line.covering and wish.binds(line) and not own.prerelease and own.within(version.numbers[:size]):
            near[line.name] = f"named for {own}; a branch for one version of the line does not take {version}"
    return near


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a label asks for beside its numbers: the product as branches and as tags name it, and the tail.

    `foreign`: the words that nothing here carries; they bind nothing.
    """

    on_branches: frozenset[str]
    on_tags: frozenset[str]
    tail: tuple[int, ...]
    foreign: tuple[str, ...]

    def binds(self, line: Line) -> bool:
        """Whether the branch is of the product that the label names."""
        return line.product == self.on_branches and line.tail == self.tail


def _wish(wanted: Reading, repo: Repo) -> _Wish:
    words = [w for w in wanted.words if not is_family(w) and w not in repo.conventions.neutral]
    lines = repo.conventions.lines.values()
    carried = {w for line in lines for w in line.product}
    on_tags = _bound(words, repo.lineage.words, repo.lineage)
    on_branches = _bound(words, carried, repo.lineage) or _only_product(repo)
    tails = {line.tail for line in lines}
    # What follows the number with a dash (`17-pool`) is a remark; other words make a bare number something else.
    remark = wanted.after.startswith("-")
    beside = words[: len(words) - len(_words_of(wanted.after))] if remark else words
    return _Wish(
        on_branches=on_branches,
        on_tags=on_tags,
        tail=wanted.tail if wanted.tail in tails or repo.lineage.releases(on_tags, wanted.tail) else (),
        foreign=tuple(w for w in beside if w not in carried and w not in repo.lineage.words),
    )


def _only_product(repo: Repo) -> frozenset[str]:
    """The one product that all lines are named for: its word tells nothing apart, so a label need not name it."""
    products = {line.product for line in repo.conventions.lines.values() if line.covering}
    if len(products) != 1:
        return frozenset()
    only = products.pop()
    # Release tags without the word speak of something else than the branches that carry it.
    return only if not repo.lineage.majors or only <= repo.lineage.words else frozenset()


def _other_train(wish: _Wish, repo: Repo) -> bool:
    """Whether the label is of a module whose versions are not the branches' versions.

    A module that no branch is named for may be released with the whole (`go/v10.0.0` beside `v10.0.0`) or count
    by itself. The newest releases tell: with the whole they are of one line.
    """
    if wish.on_tags == wish.on_branches:
        return False
    module = repo.lineage.releases(wish.on_tags, wish.tail)
    whole = repo.lineage.releases(wish.on_branches, wish.tail)
    if not module or not whole:
        return False
    lines = list(dict.fromkeys(r.version.numbers[:2] for r in reversed(whole)))
    return module[-1].version.numbers[:2] not in lines[:_SAME_TRAIN]


def _newest(version: Version, wish: _Wish, repo: Repo) -> ReleaseTag | None:
    """The newest release of the version's line: of the module that the label names, else of the whole."""
    for product in dict.fromkeys((wish.on_tags, wish.on_branches)):
        size = line_size(version, repo, product, wish.tail)
        found = repo.lineage.newest(version, version.numbers[:size], product, wish.tail)
        if found is not None:
            return found
    return None


def _bound(words: Sequence[str], known: AbstractSet[str], lineage: Lineage) -> frozenset[str]:
    """Of a label's words those that something here carries: a word that nothing carries binds nothing."""
    product = frozenset(words) & (known | lineage.abbreviations.keys())
    return lineage.abbreviations.get(next(iter(product)), product) if len(product) == 1 else product


def line_size(version: Version, repo: Repo, product: frozenset[str], tail: tuple[int, ...]) -> int:
    """How many components make a line here: the convention's, and never all that a release has."""
    if version.wildcard:
        return len(version.numbers)
    final = [r for r in repo.lineage.releases(product, tail) if not r.version.prerelease]
    lengths = Counter(len(r.version.numbers) for r in final[-_RECENT_RELEASES:])
    usual = max(lengths, key=lambda n: (lengths[n], n), default=_USUAL_COMPONENTS)
    named = repo.conventions.components() or usual
    # Where a finer line stands inside the same coarser one (`stable8.1` beside `stable8`), lines are finer.
    finer = [
        line.reading.components
        for line in repo.conventions.lines.values()
        if line.covering
        and line.product == product
        and line.reading.components > named
        and line.reading.version.numbers[:named] == version.numbers[:named]
    ]
    return max(1, min(max(finer, default=named), usual - 1, len(version.numbers)))


def _unlost(
    covers: list[Line], size: int, newest: ReleaseTag | None, carriers: frozenset[str], wish: _Wish, repo: Repo
) -> list[Line]:
    """The covering names less those that the newest release of the line speaks against.

    Where it sits on another branch, or on none that is left, a coarser name (`7.x` for 7.3.2) is not its branch.
    Where it sits on none, nor is a name beside a far commoner template: the line's own branch is gone.
    """
    if newest is None or newest.branches is None or repo.default in carriers:
        return covers
    members = repo.conventions.members
    most = max((members[x.template] for x in repo.conventions.lines.values() if wish.binds(x)), default=0)
    return [
        line
        for line in covers
        if line.name in carriers
        or (line.reading.components >= size and (bool(carriers) or members[line.template] * _FAR_COMMONER > most))
    ]


def _closest(
    covers: list[Line], version: Version, size: int, wish: _Wish, carriers: frozenset[str], repo: Repo
) -> list[Line]:
    """Of the covering names the most specific, those left out that say too little by themselves."""
    trusted = [
        line
        for line in covers
        if line.name in carriers or not _says_little(line, version, size, repo) or _carries_its_line(line, wish, repo)
    ]
    closest = max((line.reading.components for line in trusted), default=0)
    return [line for line in trusted if line.reading.components == closest]


def _says_little(line: Line, version: Version, size: int, repo: Repo) -> bool:
    """A coarse or bare lone name: `1.x` among lines of two components, `v5` alone."""
    alone = repo.conventions.members.get(line.template, 0) <= 1
    bare = line.reading.components == 1 and not line.reading.version.wildcard
    exact = line.reading.version.numbers == version.numbers or line.reading.version.prerelease
    coarse = line.reading.components < min(size, repo.conventions.components() or 0)
    return alone and not exact and (bare or coarse)


def _carries_its_line(line: Line, wish: _Wish, repo: Repo) -> bool:
    """Whether the newest release of all that a name covers sits on the branch: it is what its name says."""
    own = line.reading.version
    newest = repo.lineage.newest(own, own.numbers, wish.on_tags, wish.tail)
    return newest is not None and line.name in (newest.branches or ())


def _prefer(lines: list[Line], carriers: frozenset[str], repo: Repo) -> list[Line]:
    """Among equally close names: those that carry the line's newest release, the plain ones, else the far commoner.

    `release/8.0-staging` yields to `release/8.0`. A development twin (`v8.x-dev` beside `v8.x`) does not: which
    of the two takes the work is the project's habit, which no name tells.
    """
    carrying = [line for line in lines if line.name in carriers]
    lines = carrying or lines
    lines = [line for line in lines if _ASIDE.isdisjoint(line.reading.words)] or lines
    if not carrying:
        members = repo.conventions.members
        most = max(members.get(line.template, 0) for line in lines)
        lines = [
            x for x in lines if members.get(x.template, 0) * _FAR_COMMONER > most or members.get(x.template, 0) == most
        ]
    return sorted(lines, key=lambda line: line.name)


def _coming(version: Version, size: int, newest: ReleaseTag | None, wish: _Wish, repo: Repo) -> Line | None:
    """The highest branch named for a version of the line that no tag has reached yet.

    For one version of the line, not for the line itself, it must carry a release of the line beside its name.
    """
    line = version.numbers[:size]
    # `8.4` among branches named for 8.4.0 and 8.4.1 asks for the line; a bare `8` says too little.
    whole_line = version.wildcard or 1 < len(version.numbers) <= size
    carrying = {
        name
        for release in repo.lineage.releases(wish.on_tags, wish.tail)
        if release.version.within(line)
        for name in release.branches or ()
    }
    inside = [
        each
        for each in repo.conventions.lines.values()
        if wish.binds(each)
        and each.reading.version.within(line)
        and (newest is None or each.reading.version.key > newest.version.key)
        and (whole_line or (each.name in carrying and each.reading.version.key > version.key))
    ]
    return max(inside, key=lambda each: (each.reading.version.key, each.name), default=None)


def _by_lineage(
    version: Version, newest: ReleaseTag, carriers: frozenset[str], near: dict[str, str], repo: Repo
) -> Match:
    if not carriers:
        return Match(
            "lost",
            others=near,
            why=f"{newest.name}, the newest release of the line of {version}, sits on no listed branch",
        )
    if repo.default in carriers:
        return Match(
            "trunk",
            others=near,
            why=f"{newest.name}, the newest release of the line of {version}, was made on {repo.default}",
        )
    able = [name for name in carriers if name in repo.conventions.lines or _family(name, repo)]
    if not able:
        names = ", ".join(sorted(carriers)[:5])
        return Match("lost", others=near, why=f"{newest.name} sits only on {names}, no release line by its name")
    reason = f"it carries {newest.name}, the newest release of the line of {version}"
    ranked = {name: repo.conventions.lines.get(name) for name in able}
    most = max(repo.conventions.members.get(line.template, 0) if line else 0 for line in ranked.values())
    best = [n for n, line in ranked.items() if (repo.conventions.members.get(line.template, 0) if line else 0) == most]
    best = _highest(best, repo)
    return Match("taken" if len(best) == 1 else "tied", winners=dict.fromkeys(sorted(best), reason), others=near)


def _highest(names: list[str], repo: Repo) -> list[str]:
    """Of branches under one template that carry the same release, those of the highest version.

    Each was cut from the one before it, so all carry the release; the work goes on in the last.
    """
    lines = [repo.conventions.lines.get(name) for name in names]
    if len({line.template if line else None for line in lines}) > 1 or None in lines:
        return names
    keys = {line.name: line.reading.version.key for line in lines if line}
    return [name for name in names if keys[name] == max(keys.values())]


def _wider_line(version: Version, wish: _Wish, repo: Repo) -> tuple[str, ReleaseTag, ReleaseTag] | None:
    """The branch that carries a wider line than the names tell: 20.0.0 sits on it, 20.1.0 follows there.

    Only where the branch's name says no version that would contradict, and where a later release exists, so that
    the version cannot come from where that one came from.
    """
    releases = repo.lineage.releases(wish.on_tags, wish.tail)
    before = [r for r in releases if r.version.key < version.key and r.version.numbers[:1] == version.numbers[:1]]
    after = [r for r in releases if r.version.key > version.key]
    if version.wildcard or not before or not after:
        return None
    branches = frozenset(before[-1].branches or ()) & repo.listed
    able = [b for b in sorted(branches) if _silent(b, repo)]
    if repo.default in branches or len(able) != 1:
        return None
    return able[0], before[-1], after[0]


def _silent(name: str, repo: Repo) -> bool:
    """Whether a name could be a line's and says nothing of its releases' numbers: `stable/2025.1` carrying 26.0.0."""
    line = repo.conventions.lines.get(name)
    if line is None:
        return _family(name, repo)
    words = line.reading.words
    return all(is_family(w) for w in words) and line.reading.version.numbers[0] not in repo.lineage.majors


def _family(name: str, repo: Repo) -> bool:
    """Whether a name without a version could be a line's: family words alone, or a code name in a family's folder."""
    folder, slash, rest = name.lower().partition("/")
    if is_work_branch(name, None) or names_work(_words_of(rest or folder)):
        return False
    if slash and "/" not in rest and FAMILY_FOLDERS.issuperset(_words_of(folder)):
        return True
    return all(is_family(w) or w in repo.conventions.neutral for w in _words_of(name.lower()))


def _words_of(text: str) -> list[str]:
    return re.findall("[a-z]+", text.lower())


def _unreleased(
    version: Version,
    near: dict[str, str],
    repo: Repo,
    wish: _Wish,
    newest: ReleaseTag | None,
) -> Match:
    if newest is not None:
        return Match("held", others=near, why=f"nobody looked which branches carry {newest.name}")
    wider = _wider_line(version, wish, repo)
    if wider is not None:
        branch, release, later = wider
        reason = (
            f"it carries {release.name}, the newest release before {version}; {later.name} was made elsewhere since"
        )
        return Match("taken", winners={branch: reason}, others=near)
    known = [(r.version.key, r.name) for r in repo.lineage.releases(wish.on_tags, wish.tail)]
    known += [(x.reading.version.key, x.name) for x in repo.conventions.lines.values() if wish.binds(x)]
    newest_known = max(known, default=None)
    if not repo.complete:
        return Match("held", others=near, why=f"no branch of {version} is known here, and the list is not complete")
    if newest_known is None:
        return Match("not-cut", others=near, why=f"nothing here has a version; no branch {_missing(version, repo)}")
    if version.key > newest_known[0]:
        why = f"newer than {newest_known[1]}, the newest here; no branch {_missing(version, repo)}"
        return Match("not-cut", others=near, why=why)
    return Match("held", others=near, why=f"no branch and no release tag here belongs to the line of {version}")


def _missing(version: Version, repo: Repo) -> str:
    """`release/9.5 is cut for it`, by the name that the convention would give the branch."""
    dominant = repo.conventions.dominant
    name = name_under(dominant, version) if dominant is not None else None
    return f"{name} is cut for it" if name else "is cut for it"


def _why_covers(line: Line, version: Version, newest: ReleaseTag | None, carriers: frozenset[str]) -> str:
    exact = line.reading.version.key == version.key
    said = "this branch's version" if exact else f"covered by this branch's {line.reading.version}"
    return said + (f", and it carries {newest.name}" if newest and line.name in carriers else "")


def _why_less(line: Line, version: Version, open_ones: list[Line]) -> str:
    if line not in open_ones:
        return f"named for {line.reading.version}, which is released already"
    return f"{line.reading.version} covers {version} less closely"


def _why_weak(line: Line, version: Version, *, released: bool) -> str:
    if released:
        return f"named for {line.reading.version}, which is released already"
    return f"{line.reading.version} would cover {version}, but the name stands alone and carries no release of the line"
