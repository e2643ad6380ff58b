"""The release lines over time, as far as the facts tell: which releases each carries, and what is known of its fork.

Pure. A bundle holds no fork points and not every date: nothing is made up for them, and what is lacking is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from candidates.run.collect import Collected
from ranking.facts import Facts
from ranking.match import match
from ranking.names import printable
from ranking.order import newest_first
from ranking.ranker import View
from ranking.targets import read_targets
from ranking.versions import Version

_MOST_LANES = 120
_MOST_WITHOUT_VERSION = 20
_MOST_MARKS = 2_000


class Mark(Struct, frozen=True, kw_only=True):
    """A release tag. `place`: its number in the order of versions, which stands in for time where no date is known."""

    name: str
    version: Version
    at: datetime | None
    place: int
    carriers: tuple[str, ...]


class Shared(Struct, frozen=True, kw_only=True):
    """The newest release that a line carries and that was made on another one; they parted after it, if ever."""

    lane: str
    mark: Mark


class Lane(Struct, frozen=True, kw_only=True):
    """One branch: the releases that are its own, oldest first, its last commit, and the versions that it takes.

    `trunk`: no line by its name, so that it forked from nothing that is looked at here.
    """

    name: str
    marks: tuple[Mark, ...] = ()
    last: datetime | None = None
    shared: Shared | None = None
    wanted: tuple[str, ...] = ()
    trunk: bool = False


class Timeline(Struct, frozen=True, kw_only=True):
    """Lanes, newest version first; `lost`: releases on no branch's own line; `dated`: whether places are moments.

    `lost_wanted`: versions of the issue whose line is among the lost.
    """

    lanes: tuple[Lane, ...]
    lost: tuple[Mark, ...]
    lost_wanted: tuple[str, ...]
    now: datetime
    dated: bool
    notes: tuple[str, ...]


def read_timeline(collected: Collected) -> Timeline:
    """What the facts tell of the lines over time."""
    facts, view = collected.facts, collected.view
    order = _order(collected, view)
    wanted, homeless = _wanted(facts, view)
    lanes = _nearest(order, view, collected, wanted)
    last = {b.name: b.committed_at for b in facts.refs.branches if b.name in lanes}
    known, unlooked = _releases(facts, view)
    dated = any(mark.at for mark in known) or any(last.values())
    placed = [mark for mark in known if mark.at or not dated]
    homes = _homes(placed, view, order)
    kept, cut = _newest([mark for name in (*lanes, None) for mark in homes.get(name, ())])
    shared = _shared(homes, lanes)
    found = tuple(
        Lane(
            name=name,
            marks=tuple(m for m in homes.get(name, ()) if m.name in kept),
            last=last.get(name),
            shared=_before_own(shared.get(name, ()), homes.get(name, ())),
            wanted=wanted.get(name, ()),
            trunk=name not in view.repo.conventions.lines,
        )
        for name in lanes
    )
    notes = [*homeless, *_unlooked(facts, unlooked), *_undated(len(known) - len(placed), found)]
    notes += [*_ahead(facts.now, placed, found), *cut]
    if len(lanes) < len(order):
        notes.append(f"drawn are the {len(lanes)} branches nearest to the answer; left out: {len(order) - len(lanes)}")
    lost = tuple(m for m in homes.get(None, ()) if m.name in kept)
    return Timeline(
        lanes=found,
        lost=lost,
        lost_wanted=wanted.get(None, ()) if lost else (),
        now=facts.now,
        dated=dated,
        notes=tuple(notes),
    )


# --- which lanes ---


def _order(collected: Collected, view: View) -> dict[str, int]:
    """Every branch that could be a lane, by its place: those without a version first, then the newest version.

    A version in a name that is no release line by its other words makes a lane only where it is the answer.
    """
    conventions, listed = view.repo.conventions, view.listed
    answer, ranked = collected.resolution.branch, collected.ranking.candidates
    topics = {*conventions.topics, *conventions.work} - {answer}
    others = [
        name
        for name in (listed.development, listed.default, answer, *(c.branch for c in ranked))
        if name in listed.branches and name not in conventions.lines and name not in topics
    ]
    names = (*others, *newest_first(conventions.lines.values()))
    return {name: i for i, name in enumerate(dict.fromkeys(n for n in names if n is not None))}


def _nearest(order: Mapping[str, int], view: View, collected: Collected, wanted: Iterable[str | None]) -> list[str]:
    """The lanes that are drawn, in their order: the answer, what comes into question, then their neighbours."""
    names = list(order)
    if len(names) <= _MOST_LANES:
        return names
    candidates = [c.branch for c in collected.ranking.candidates if c.branch in order]
    answer = collected.resolution.branch
    lines = [name for name in names if name in view.repo.conventions.lines]
    anchor = next((order[n] for n in (*wanted, answer, *candidates) if n in order and n in lines), order[names[0]])
    others = [name for name in names if name not in view.repo.conventions.lines]
    first = [n for n in (answer, *wanted, *others[:_MOST_WITHOUT_VERSION]) if n in order]
    near = sorted(lines, key=lambda name: (abs(order[name] - anchor), order[name]))
    kept = set(list(dict.fromkeys((*first, *near)))[:_MOST_LANES])
    return [name for name in names if name in kept]


# --- which releases ---


def _releases(facts: Facts, view: View) -> tuple[list[Mark], int]:
    """The release tags of which it is known who carries them; and how many there are beside."""
    dates = {tag.name: tag.created_at for tag in facts.refs.tags}
    every = view.repo.record.releases()
    known = [
        Mark(
            name=release.name,
            version=release.version,
            at=dates[release.name],
            place=place,
            carriers=release.branches,
        )
        for place, release in enumerate(every)
        if release.branches is not None
    ]
    return known, len(every) - len(known)


def _homes(marks: Iterable[Mark], view: View, order: Mapping[str, int]) -> dict[str | None, list[Mark]]:
    """The releases of each branch, oldest first; under None those on no listed branch."""
    homes: defaultdict[str | None, list[Mark]] = defaultdict(list)
    for mark in sorted(marks, key=_when):
        carriers = [name for name in mark.carriers if name in order]
        homes[_home(mark, carriers, view, order) if carriers else None].append(mark)
    return dict(homes)


def _home(mark: Mark, carriers: Sequence[str], view: View, order: Mapping[str, int]) -> str:
    """Where a release is drawn: the closest line that is named for it, else the oldest that carries it.

    Lines that were cut from that one later carry it as well.
    """
    lines = view.repo.conventions.lines
    named = [name for name in carriers if name in lines and lines[name].reading.version.covers(mark.version)]
    closest = max((lines[name].reading.components for name in named), default=0)
    pool = [name for name in named if lines[name].reading.components == closest] or carriers
    return max(pool, key=lambda name: order[name])


def _when(mark: Mark) -> tuple[float, int]:
    """Oldest first; by version where no date is known."""
    return (mark.at.timestamp() if mark.at else 0.0, mark.place)


def _newest(marks: Sequence[Mark]) -> tuple[frozenset[str], list[str]]:
    """The names of those that are drawn."""
    newest = sorted(marks, key=_when)[-_MOST_MARKS:]
    cut = [f"of {len(marks)} release tags the newest {_MOST_MARKS} are drawn"] if len(newest) < len(marks) else []
    return frozenset(m.name for m in newest), cut


# --- what is known of a fork ---


def _shared(homes: Mapping[str | None, Sequence[Mark]], lanes: Sequence[str]) -> dict[str, list[Shared]]:
    """For each lane the releases that it carries from others, oldest first."""
    found: dict[str, list[Shared]] = {name: [] for name in lanes}
    for home, marks in homes.items():
        for mark in marks if home is not None else ():
            for carrier in mark.carriers:
                if carrier != home and carrier in found and home is not None:
                    found[carrier].append(Shared(lane=home, mark=mark))
    return {name: sorted(each, key=lambda s: _when(s.mark)) for name, each in found.items()}


def _before_own(shared: Sequence[Shared], own: Sequence[Mark]) -> Shared | None:
    """The newest release of others before a line's own first: between the two it left them."""
    first = _when(own[0]) if own else (float("inf"), 0)
    return next((s for s in reversed(shared) if _when(s.mark) <= first), None)


# --- the issue's versions ---


def _wanted(facts: Facts, view: View) -> tuple[dict[str | None, tuple[str, ...]], list[str]]:
    """Which branch takes which of the issue's versions, under None those of a lost line; and why one has no taker."""
    targets = read_targets(facts.issue, facts.repository.name)
    found: defaultdict[str | None, list[str]] = defaultdict(list)
    notes = []
    for target in targets.own or targets.inherited:
        placed = match(target.reading, view.repo)
        takers: list[str | None] = list(placed.winners)
        if placed.outcome == "not-created" and view.listed.development is not None:
            takers.append(view.listed.development)
        if placed.outcome == "lost":
            takers.append(None)
        for name in takers:
            found[name].append(printable(target.label))
        if placed.why:
            notes.append(f"{target}: {placed.why}")
    return {name: tuple(dict.fromkeys(labels)) for name, labels in found.items()}, notes


# --- what is not known ---


def _unlooked(facts: Facts, unlooked: int) -> Iterator[str]:
    if unlooked and facts.issue is None:
        yield "no version is asked for, so nobody looked which branches carry which release tags"
    elif unlooked:
        yield f"release tags of which it is not known who carries them, and so not drawn: {unlooked}"


def _undated(marks: int, lanes: Sequence[Lane]) -> Iterator[str]:
    if marks:
        yield f"release tags without a date here, and so not drawn: {marks}"
    without = [lane for lane in lanes if lane.last is None]
    if without:
        yield f"branches whose last commit has no date here: {len(without)} of {len(lanes)}"


def _ahead(now: datetime, marks: Sequence[Mark], lanes: Sequence[Lane]) -> Iterator[str]:
    late = sum(at is not None and at > now for at in (*(m.at for m in marks), *(lane.last for lane in lanes)))
    if late:
        yield f"release tags and last commits dated after this run, and so drawn at its own moment: {late}"
