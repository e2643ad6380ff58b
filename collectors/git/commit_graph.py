"""What git writes of commits, parsed; the first-parent lines of branches, and which branches contain what. Pure."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from msgspec import Struct

from collectors.errors import SetupError
from ranking.names import BranchName, Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# More digits than this are no date of any calendar, and more than some thousands Python does not read.
_SECONDS = re.compile(rb"(-?[0-9]{1,18}) [+-][0-9]+")

# --- what git writes ---


def to_datetime(seconds: int) -> datetime | None:
    """A moment in UTC, or None where Python's calendar (years 1 to 9999) does not hold it.

    >>> to_datetime(0).isoformat(), to_datetime(2**63)
    ('1970-01-01T00:00:00+00:00', None)
    """
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return None


def parse_timestamps(stdout: bytes) -> Iterator[tuple[Oid, int]]:
    """Lines of `rev-list --timestamp`: seconds, oid."""
    with _as_git_writes_it():
        for line in stdout.decode("ascii").splitlines():
            seconds, oid = line.split()
            yield Oid(oid), int(seconds)


def parse_batch(stdout: bytes) -> Iterator[tuple[Oid, str, bytes]]:
    """Records of `cat-file --batch`: oid, type and content; type "missing" where the object is not here."""
    stream = io.BytesIO(stdout)
    with _as_git_writes_it():
        while header := stream.readline():
            oid, kind, *size = header.decode("ascii").split()
            content = stream.read(int(size[0])) if size else b""
            stream.read(len(size))  # the newline after a content
            yield Oid(oid), kind, content


def parse_walk(stdout: bytes) -> Iterator[tuple[Oid, Oid | None, int]]:
    """Lines of `rev-list --parents --timestamp`: oid, first parent (None: a root), seconds."""
    with _as_git_writes_it():
        for line in io.BytesIO(stdout):
            seconds, oid, *parents = line.decode("ascii").split()
            yield Oid(oid), Oid(parents[0]) if parents else None, int(seconds)


def parse_parents(stdout: bytes) -> Iterator[tuple[Oid, list[Oid]]]:
    """Lines of `rev-list --parents`: oid, its parents."""
    with _as_git_writes_it():
        for line in io.BytesIO(stdout):
            oid, *parents = line.decode("ascii").split()
            yield Oid(oid), [Oid(parent) for parent in parents]


@contextmanager
def _as_git_writes_it() -> Iterator[None]:
    """SetupError where an output is not what this git's documents say."""
    try:
        yield
    except (ValueError, OverflowError) as fault:
        raise SetupError("git described objects in an unknown form", code="unexpected-git-output") from fault


# --- the graph ---


class Line(Struct, frozen=True, kw_only=True):
    """A branch's own first-parent line: its first commit, and when (committer dates, UTC) it began.

    A branch that was merged into the default by a merge commit keeps the line that it had.

    `began`: the date of `first`. `parted`: the date of the first commit that stands on no other branch's own
    line: for a release branch cut from a long-lived branch which is not the default, `began` is when the
    long-lived one began and `parted` the cut. None: the branch's tip stands on another branch's line, so
    nothing sets it apart. A date that Python's calendar does not hold is None as well.
    """

    first: Oid
    began: datetime | None
    parted: datetime | None


class Forest(Struct, frozen=True, kw_only=True):
    """First-parent lines: each commit's first parent and date, in an order with children before parents."""

    above: Mapping[Oid, Oid | None]
    seconds: Mapping[Oid, int]

    @staticmethod
    def of(walk: Iterable[tuple[Oid, Oid | None, int]]) -> Forest:
        """Keep a walk; the order of `above` is the walk's."""
        above: dict[Oid, Oid | None] = {}
        seconds: dict[Oid, int] = {}
        for oid, parent, when in walk:
            above[oid] = parent
            seconds[oid] = when
        return Forest(above=above, seconds=seconds)

    def chain(self, tip: Oid) -> frozenset[Oid]:
        """The whole first-parent line of a tip, down to its root."""
        found: list[Oid] = []
        here: Oid | None = tip
        while here is not None:
            found.append(here)
            here = self.above.get(here)
        return frozenset(found)


class OwnLines(Struct, frozen=True, kw_only=True):
    """`masks`: for the wanted commits on own lines, the tips (bit i: tip i); `lines`: each tip's own line."""

    masks: Mapping[Oid, int]
    lines: tuple[Line | None, ...]


def own_lines(forest: Forest, trunk: frozenset[Oid], tips: Sequence[Oid], wanted: set[Oid]) -> OwnLines:
    """Which tips' own lines hold the wanted commits; where each own line begins and parts from the others.

    1. Children first: a commit is on the lines of its first-parent children and of the branches whose tip it
       is; the last commit seen with a single bit is where that branch parted from the others.
    2. Parents first: an own line begins at the commit whose first parent is on the trunk, or at a root.
    """
    pending = _bits_of(tips)
    masks: dict[Oid, int] = {}
    parted: dict[int, Oid] = {}
    own = [oid for oid in forest.above if oid not in trunk]
    for oid in own:
        mask = pending.pop(oid, 0)
        if oid in wanted:
            masks[oid] = mask
        if is_single(mask):
            parted[mask] = oid
        parent = forest.above[oid]
        if parent is not None and parent not in trunk:
            pending[parent] = pending.get(parent, 0) | mask
    first: dict[Oid, Oid] = {}
    for oid in reversed(own):
        parent = forest.above[oid]
        first[oid] = oid if parent is None else first.get(parent, oid)

    def line(index: int, tip: Oid) -> Line | None:
        if tip not in first:
            return None
        last = parted.get(1 << index)
        return Line(
            first=first[tip],
            began=to_datetime(forest.seconds[first[tip]]),
            parted=None if last is None else to_datetime(forest.seconds[last]),
        )

    return OwnLines(masks=masks, lines=tuple(line(index, tip) for index, tip in enumerate(tips)))


def containment(walk: Iterable[tuple[Oid, list[Oid]]], tips: Sequence[Oid], wanted: set[Oid]) -> dict[Oid, int]:
    """For the wanted commits of a walk (children before parents), the tips that contain them (bit i: tip i).

    A commit's bits are whole once all its children have gone by, and are dropped as soon as they are handed
    on: only the front of the walk is held, not the graph.
    """
    pending = _bits_of(tips)
    found: dict[Oid, int] = {}
    for oid, parents in walk:
        mask = pending.pop(oid, 0)
        if oid in wanted:
            found[oid] = mask
        for parent in parents:
            pending[parent] = pending.get(parent, 0) | mask
    return found


def names_of(mask: int, names: Sequence[BranchName]) -> tuple[BranchName, ...]:
    """The names whose bits are set, in their order.

    >>> names_of(0b101, [BranchName("a"), BranchName("b"), BranchName("c")])
    ('a', 'c')
    """
    bits = f"{mask:b}"[::-1]
    found: list[BranchName] = []
    index = bits.find("1")
    while index >= 0:
        found.append(names[index])
        index = bits.find("1", index + 1)
    return tuple(found)


def _bits_of(tips: Sequence[Oid]) -> dict[Oid, int]:
    """Each tip's own bit; branches with one tip share it.

    >>> _bits_of([Oid("a"), Oid("b"), Oid("a")])
    {'a': 5, 'b': 2}
    """
    places: dict[Oid, list[int]] = {}
    for index, tip in enumerate(tips):
        places.setdefault(tip, []).append(index)
    # Of 100,000 branches each number has 12 KB: it is made once, not once a branch.
    return {tip: 1 << at[0] if len(at) == 1 else _with_bits(at, len(tips)) for tip, at in places.items()}


def _with_bits(places: Iterable[int], size: int) -> int:
    row = bytearray(size // 8 + 1)
    for place in places:
        row[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(row, "little")


def is_single(mask: int) -> bool:
    """Whether exactly one bit is set."""
    return mask != 0 and mask & (mask - 1) == 0


def signed_at(content: bytes) -> int | None:
    """Seconds of the committer or tagger line in an object's header, or None without one.

    Whoever wrote the object wrote the line, so it is taken apart from its end and not searched.
    """
    for line in content.partition(b"\n\n")[0].split(b"\n"):
        if line.startswith((b"committer ", b"tagger ")):
            seconds = _SECONDS.fullmatch(b" ".join(line.rsplit(b" ", 2)[1:]))
            if seconds is not None:
                return int(seconds[1])
    return None
