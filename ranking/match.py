"""One version against the branches of one repository: which takes it, how surely, and why.

The steps, from the surest: a branch whose name covers the version; the branch of the line's next release; the
branch that carries the newest release of the line; a version newer than every line, for which no branch is cut;
else nothing, and that is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct, field

from ranking.conventions import Conventions, Line, name_under
from ranking.lines import Lineage, ReleaseTag
from ranking.versions import Reading, Version
from ranking.wish import Wish, counts_by_itself, read_wish
from ranking.words import FAMILY_FOLDERS, is_family, names_work

# How versions are written now, not ten years ago: the newest releases tell.
_RECENT_RELEASES = 20
_USUAL_COMPONENTS = 3

# Words that set a branch aside from the line itself, and how many times commoner a template must be to be
# the convention beside which another is the exception.
_ASIDE = frozenset({"alpha", "beta", "rc", "preview", "pre", "milestone", "staging", "integration", "next"})
_FAR_COMMONER = 3

# What the development twin of a line adds to the line's name.
_TWIN = re.compile(r"[-_/.](?:dev|devel|develop|development)$", re.IGNORECASE)

_NAMED = 5


class Match(Struct, frozen=True):
    """What became of one version.

    `winners`: branch to the reason it takes the version (several: a tie); `others`: branches that come near,
    each with its reason; `why`: one sentence for the notes where nothing was derived; `waits`: whether its branch
    is not cut, so that the development branch takes it; `lost`: whether its line's newest release sits on no branch
    that could be the line's; `unlooked`: the release that would decide, where nobody looked which branches carry it.
    """

    winners: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[str, str] = field(default_factory=dict)
    why: str = ""
    waits: bool = False
    lost: bool = False
    unlooked: str | None = None


class Repo(Struct, frozen=True):
    """What a match looks at: the lines and their templates, the lineage, the default, and what is listed.

    `complete`: whether a branch that is not listed is not there.
    """

    conventions: Conventions
    lineage: Lineage
    default: str | None
    listed: AbstractSet[str]
    complete: bool

    def members(self, name: str) -> int:
        """How many lines stand under the template of a branch; 0 for one without a version."""
        line = self.conventions.lines.get(name)
        return self.conventions.members[line.template] if line else 0


class _Case(Struct, frozen=True):
    """One version asked of one repository.

    `size`: how many components make a line here; `newest`: the newest release of the version's line; `carriers`:
    the listed branches that it sits on; `lines`: those of the product that is asked for; `finest`: the most components
    that names of lines have, several under one template; `made`: the versions that are released.
    """

    version: Version
    wish: Wish
    size: int
    newest: ReleaseTag | None
    carriers: frozenset[str]
    lines: tuple[Line, ...]
    finest: int
    made: frozenset[Version]
    repo: Repo

    @property
    def line(self) -> tuple[int, ...]:
        """The numbers of the version's line."""
        return self.version.numbers[: self.size]

    @property
    def releases(self) -> list[ReleaseTag]:
        """The release tags of the product, oldest version first."""
        return self.repo.lineage.releases(self.wish.on_tags, self.wish.tail)


def match(wanted: Reading, repo: Repo) -> Match:
    """Find the branch that takes the version, or say why there is none."""
    wish = read_wish(wanted, repo.conventions, repo.lineage)
    if wish.foreign and not wanted.separator and not wanted.version.wildcard:
        return Match(why=f"a bare number beside {' '.join(wish.foreign)}, which nothing here carries")
    case = _case(wanted.version, wish, repo)
    covers = _covering(case)
    open_ones = [line for line in covers if not _released(case, line)]
    closest = _closest(case, _unlost(case, open_ones))
    if closest:
        winners = {line.name: _why_covers(case, line) for line in _prefer(case, closest)}
        return _taken(winners, {line.name: _why_less(case, line) for line in covers})
    near = _near(case, covers)
    coming = _coming(case)
    if coming is not None:
        reason = f"it is the highest version in the line of {case.version} that is not released yet"
        return _taken({coming.name: reason}, near)
    if case.newest is not None and case.newest.branches is not None:
        return _by_lineage(case, case.newest, near)
    return _unreleased(case, near)


def _taken(winners: Mapping[str, str], near: Mapping[str, str]) -> Match:
    """Some branch takes it; what takes it does not also come near."""
    return Match(winners, {name: reason for name, reason in near.items() if name not in winners})


def _case(version: Version, wish: Wish, repo: Repo) -> _Case:
    newest = None
    # Of the module that the label names, else of the whole.
    for product in dict.fromkeys((wish.on_tags, wish.on_branches)):
        line = version.numbers[: line_size(version, repo, product, wish.tail)]
        newest = newest or repo.lineage.newest(version, line, product, wish.tail)
    size = line_size(version, repo, wish.on_tags, wish.tail)
    # A name with all that a release has is one release's, and tells nothing of how coarse lines are.
    named = [line for line in repo.conventions.lines.values() if line.reading.components <= size]
    return _Case(
        version=version,
        wish=wish,
        size=size,
        newest=newest,
        carriers=frozenset(repo.listed & {*(newest.branches or ())}) if newest else frozenset(),
        lines=tuple(line for line in repo.conventions.lines.values() if wish.binds(line)),
        finest=max((line.reading.components for line in named if repo.members(line.name) > 1), default=0),
        made=frozenset(r.version for r in repo.lineage.releases(wish.on_tags, wish.tail)),
        repo=repo,
    )


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
        if line.product == product and line.reading.version.numbers[:named] == version.numbers[:named]
    ]
    return max(1, min(max(finer, default=named), usual - 1, len(version.numbers)))


# --- by name ---


def _covering(case: _Case) -> list[Line]:
    """The lines whose names cover the version."""
    if counts_by_itself(case.wish, case.repo.lineage):
        return []
    return [line for line in case.lines if line.covering and line.reading.version.covers(case.version)]


def _released(case: _Case, line: Line) -> bool:
    """Whether a branch is named for one version and not for a line that takes this one, and that version is out."""
    own = line.reading.version
    coarse = line.reading.components <= case.size or line.reading.components < len(case.version.numbers)
    return not coarse and own in case.made


def _unlost(case: _Case, covers: list[Line]) -> list[Line]:
    """The covering names less those that the newest release of the line speaks against.

    Where it sits on another branch, or on none that is left, a coarser name (`7.x` for 7.3.2) is not its branch.
    Where it sits on none, nor is a name beside a far commoner template: the line's own branch is gone.
    """
    if case.newest is None or case.newest.branches is None or case.repo.default in case.carriers:
        return covers
    most = max((case.repo.members(line.name) for line in case.lines), default=0)
    return [
        line
        for line in covers
        if line.name in case.carriers
        or (
            line.reading.components >= case.size
            and (case.carriers or case.repo.members(line.name) * _FAR_COMMONER > most)
        )
    ]


def _closest(case: _Case, covers: list[Line]) -> list[Line]:
    """Of the covering names the most specific, those left out that say too little by themselves."""
    # Of 100,000 names that cover a version few differ in their numbers: what those carry is looked up once.
    on: dict[tuple[int, ...], frozenset[str]] = {}
    for line in covers:
        if line.reading.version.numbers not in on:
            on[line.reading.version.numbers] = _carriers_of(case, line.reading.version)
    trusted = [
        line
        for line in covers
        if line.name in case.carriers or not _says_little(case, line) or line.name in on[line.reading.version.numbers]
    ]
    size = len(case.version.numbers)
    # A lone name with more numbers than were asked for (`8.4.0.0` beside the line `8.4.0`) is no closer than the line.
    close = {
        line.name: min(line.reading.components, size) if case.repo.members(line.name) <= 1 else line.reading.components
        for line in trusted
    }
    closest = max(close.values(), default=0)
    return [line for line in trusted if close[line.name] == closest]


def _says_little(case: _Case, line: Line) -> bool:
    """A coarse or bare lone name: `1.x` among lines of two components, `v5` alone."""
    alone = case.repo.members(line.name) <= 1
    bare = line.reading.components == 1 and not line.reading.version.wildcard
    exact = line.reading.version.numbers == case.version.numbers or line.reading.version.prerelease
    return alone and not exact and (bare or case.finest > line.reading.components)


def _carriers_of(case: _Case, own: Version) -> frozenset[str]:
    """The branches with the newest release of all that a version covers: one of its name is what the name says."""
    newest = case.repo.lineage.newest(own, own.numbers, case.wish.on_tags, case.wish.tail)
    return frozenset(newest.branches or ()) if newest is not None else frozenset()


def _prefer(case: _Case, lines: list[Line]) -> list[Line]:
    """Among equally close names: those that carry the line's newest release, the plain ones, else the far commoner.

    `release/8.0-staging` yields to `release/8.0`. Where a line and its development twin (`v8.x` and `v8.x-dev`)
    both carry the newest release, the work goes on in the twin, as in develop beside main.
    """
    carrying = [line for line in lines if line.name in case.carriers]
    lines = carrying or lines
    lines = [line for line in lines if _ASIDE.isdisjoint(line.reading.words)] or lines
    if carrying:
        names = {line.name for line in lines}
        lines = [line for line in lines if _TWIN.search(line.name) and _TWIN.sub("", line.name) in names] or lines
    else:
        members = {line.name: case.repo.members(line.name) for line in lines}
        most = max(members.values())
        lines = [line for line in lines if members[line.name] * _FAR_COMMONER > most or members[line.name] == most]
    return lines


def _near(case: _Case, covers: list[Line]) -> dict[str, str]:
    """Branches that come near without taking the version, each with what is missing."""
    near = {}
    covering = {line.name for line in covers}
    for line in case.lines:
        own = line.reading.version
        if line.name in covering:
            near[line.name] = _why_weak(case, line)
        elif line.covering and not own.prerelease and own.within(case.line):
            near[line.name] = f"named for {own}; a branch for one version of the line does not take {case.version}"
    return near


# --- by the releases that branches carry ---


def _coming(case: _Case) -> Line | None:
    """The highest branch named for a version of the line that no tag has reached yet.

    For one version of the line, not for the line itself, it must carry a release of the line beside its name.
    """
    # `8.4` among branches named for 8.4.0 and 8.4.1 asks for the line; a bare `8` says too little.
    whole_line = case.version.wildcard or 1 < len(case.version.numbers) <= case.size
    carrying = {b for release in case.releases if release.version.within(case.line) for b in release.branches or ()}
    inside = [
        each
        for each in case.lines
        if each.reading.version.within(case.line)
        and (case.newest is None or each.reading.version.key > case.newest.version.key)
        and (whole_line or (each.name in carrying and each.reading.version.key > case.version.key))
    ]
    return max(inside, key=lambda each: (each.reading.version.key, each.name), default=None)


def _by_lineage(case: _Case, newest: ReleaseTag, near: dict[str, str]) -> Match:
    said = f"{newest.name}, the newest release of the line of {case.version}"
    if not case.carriers:
        return Match(others=near, why=f"{said}, sits on no listed branch", lost=True)
    if case.repo.default in case.carriers:
        return Match(others=near, why=f"{said}, was made on {case.repo.default}", waits=True)
    able = [name for name in case.carriers if could_be_a_line(name, case.repo)]
    if not able:
        names = ", ".join(sorted(case.carriers)[:_NAMED])
        return Match(others=near, why=f"{newest.name} sits only on {names}, no release line by its name", lost=True)
    most = max(map(case.repo.members, able))
    best = _highest([name for name in able if case.repo.members(name) == most], case.repo)
    return _taken(dict.fromkeys(sorted(best), f"it carries {said}"), near)


def _highest(names: list[str], repo: Repo) -> list[str]:
    """Of branches under one template that carry the same release, those of the highest version.

    Each was cut from the one before it, so all carry the release; the work goes on in the last.
    """
    lines = [repo.conventions.lines[name] for name in names if name in repo.conventions.lines]
    if len(lines) < len(names) or len({line.template for line in lines}) != 1:
        return names
    highest = max(line.reading.version.key for line in lines)
    return [line.name for line in lines if line.reading.version.key == highest]


def _wider_line(case: _Case) -> dict[str, str]:
    """The branch that carries a wider line than the names tell: 20.0.0 sits on it, 20.1.0 follows there.

    Only where the branch's name says no version that would contradict, and where a later release exists, so that
    the version cannot come from where that one came from.
    """
    version = case.version
    before = [r for r in case.releases if r.version.key < version.key and r.version.numbers[0] == version.numbers[0]]
    after = [r for r in case.releases if r.version.key > version.key]
    if version.wildcard or not before or not after:
        return {}
    branches = frozenset(case.repo.listed & {*(before[-1].branches or ())})
    able = [name for name in branches if _says_no_release(name, case.repo)]
    if case.repo.default in branches or len(able) != 1:
        return {}
    earlier, later = before[-1].name, after[0].name
    return {able[0]: f"it carries {earlier}, the newest release before {version}; {later} was made elsewhere since"}


def _says_no_release(name: str, repo: Repo) -> bool:
    """Whether a name could be a line's and says nothing of its releases' numbers: `stable/2025.1` carrying 26.0.0."""
    line = repo.conventions.lines.get(name)
    if line is None:
        return _could_carry(name, repo)
    words = line.reading.words
    return all(is_family(w) for w in words) and line.reading.version.numbers[0] not in repo.lineage.majors


def could_be_a_line(name: str, repo: Repo) -> bool:
    """Whether a branch that carries releases could be their line, by its name."""
    return name in repo.conventions.lines or _could_carry(name, repo)


def _could_carry(name: str, repo: Repo) -> bool:
    """Whether a name without a version could be a line's: family words alone, or a code name in a family's folder."""
    folder, _, rest = name.lower().partition("/")
    if name not in repo.conventions.other or names_work(_words_of(rest or folder)):
        return False
    if "/" not in rest and FAMILY_FOLDERS.issuperset(_words_of(folder)):
        return True
    return all(is_family(w) or w in repo.conventions.neutral for w in _words_of(name.lower()))


def _words_of(text: str) -> list[str]:
    return re.findall("[a-z]+", text)


# --- where nothing is released yet ---


def _unreleased(case: _Case, near: dict[str, str]) -> Match:
    version = case.version
    if case.newest is not None:
        name = case.newest.name
        return Match(others=near, why=f"nobody looked which branches carry {name}", unlooked=name)
    wider = _wider_line(case)
    if wider:
        return _taken(wider, near)
    known = [(r.version.key, r.name) for r in case.releases]
    known += [(line.reading.version.key, line.name) for line in case.lines]
    if not case.repo.complete:
        return Match(others=near, why=f"no branch of {version} is known here, and the list is not complete")
    if not known:
        return Match(why=f"nothing here has a version; no branch {_missing(case)}", waits=True)
    newest_key, newest_name = max(known)
    if version.key > newest_key:
        why = f"newer than {newest_name}, the newest here; no branch {_missing(case)}"
        return Match(others=near, why=why, waits=True)
    return Match(others=near, why=f"no branch and no release tag here belongs to the line of {version}")


def _missing(case: _Case) -> str:
    """`release/9.5 is cut for it`, by the name that the convention would give the branch."""
    dominant = case.repo.conventions.dominant
    name = name_under(dominant, case.version) if dominant is not None else None
    return f"{name} is cut for it" if name else "is cut for it"


# --- in words ---


def _why_covers(case: _Case, line: Line) -> str:
    exact = line.reading.version.key == case.version.key
    said = "this branch's version" if exact else f"covered by this branch's {line.reading.version}"
    return said + (f", and it carries {case.newest.name}" if case.newest and line.name in case.carriers else "")


def _why_less(case: _Case, line: Line) -> str:
    if _released(case, line):
        return f"named for {line.reading.version}, which is released already"
    return f"{line.reading.version} covers {case.version} less closely"


def _why_weak(case: _Case, line: Line) -> str:
    own = line.reading.version
    if _released(case, line):
        return f"named for {own}, which is released already"
    return f"{own} would cover {case.version}, but the name stands alone and carries no release of the line"
