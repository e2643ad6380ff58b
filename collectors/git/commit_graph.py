"""What git writes of commits, parsed; the first-parent lines of branches, and which branches contain what. Pure."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, TypeVar, cast

from msgspec import Struct

from collectors.errors import SetupError
from ranking.names import Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_Name = TypeVar("_Name", bound=str)

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


@contextmanager
def _as_git_writes_it() -> Iterator[None]:
    """SetupError where an output is not what this git's documents say."""
    try:
        yield
    except (ValueError, IndexError, OverflowError) as error:
        raise SetupError("git described objects in an unknown form", code="unexpected-git-output") from error


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


class Graph(Struct, frozen=True, kw_only=True):
    """All commits of some tips with their parents, children before parents, and what is on a first-parent line.

    `first`: each commit with its first parent, None for a root. `others`: the further parents of each merge. `seconds`:
    each commit on the first-parent line of a tip with its committer date, in the same order.
    """

    first: dict[Oid, Oid | None]
    others: dict[Oid, list[Oid]]
    seconds: dict[Oid, int]

    def chain(self, tip: Oid) -> frozenset[Oid]:
        """The whole first-parent line of a tip, down to its root."""
        found: list[Oid] = []
        here: Oid | None = tip
        while here is not None:
            found.append(here)
            here = self.first.get(here)
        return frozenset(found)


# So much text at a time stays in the processor's cache, and is not held beside what is made of it.
_PIECE = 1 << 18


def _pieces(stdout: bytes) -> Iterator[Iterator[list[Oid]]]:
    """The words of each line, some lines at a time."""
    at = 0
    while at < len(stdout):
        end = stdout.find(b"\n", at + _PIECE) + 1 or len(stdout)
        yield cast("Iterator[list[Oid]]", map(str.split, stdout[at:end].decode("ascii").splitlines()))
        at = end


def parse_graph(stdout: bytes, tips: Iterable[Oid]) -> Graph:
    """Read lines of `rev-list --topo-order --parents --timestamp`: seconds, oid, parents.

    The loop runs for every commit of the history. A list kept for each would cost as much again: the collector of
    cycles looks at them all, time after time.
    """
    first: dict[Oid, Oid | None] = {}
    others: dict[Oid, list[Oid]] = {}
    seconds: dict[Oid, int] = {}
    on_a_line: set[Oid | None] = set(tips)
    with _as_git_writes_it():
        for row in chain.from_iterable(_pieces(stdout)):
            oid = row[1]
            parent = row[2] if len(row) > 2 else None  # noqa: PLR2004
            first[oid] = parent
            if len(row) > 3:  # noqa: PLR2004
                others[oid] = row[3:]
            if oid in on_a_line:
                seconds[oid] = int(row[0])
                on_a_line.add(parent)
    return Graph(first=first, others=others, seconds=seconds)


class OwnLines(Struct, frozen=True, kw_only=True):
    """`masks`: for the wanted commits on own lines, the tips (bit i: tip i); `lines`: each tip's own line."""

    masks: Mapping[Oid, int]
    lines: tuple[Line | None, ...]


def own_lines(graph: Graph, trunk: frozenset[Oid], tips: Sequence[Oid], wanted: set[Oid]) -> OwnLines:
    """Which tips' own lines hold the wanted commits; where each own line begins and parts from the others.

    1. Children first: a commit is on the lines of its first-parent children and of the branches whose tip it
       is; the last commit seen with a single bit is where that branch parted from the others.
    2. Parents first: an own line begins at the commit whose first parent is on the trunk, or at a root.
    """
    pending = _bits_of(tips)
    masks: dict[Oid, int] = {}
    parted: dict[int, Oid] = {}
    own = [oid for oid in graph.seconds if oid not in trunk]
    for oid in own:
        mask = pending.pop(oid, 0)
        if oid in wanted:
            masks[oid] = mask
        if is_single(mask):
            parted[mask] = oid
        parent = graph.first[oid]
        if parent is not None and parent not in trunk:
            pending[parent] = pending.get(parent, 0) | mask
    first: dict[Oid, Oid] = {}
    for oid in reversed(own):
        parent = graph.first[oid]
        first[oid] = oid if parent is None else first.get(parent, oid)

    def line(index: int, tip: Oid) -> Line | None:
        if tip not in first:
            return None
        last = parted.get(1 << index)
        return Line(
            first=first[tip],
            began=to_datetime(graph.seconds[first[tip]]),
            parted=None if last is None else to_datetime(graph.seconds[last]),
        )

    return OwnLines(masks=masks, lines=tuple(line(index, tip) for index, tip in enumerate(tips)))


def reach(graph: Graph, wanted: Sequence[Oid]) -> dict[Oid, int]:
    """Find for each commit which of the wanted commits it contains (bit i: wanted[i]).

    Left out is a commit that contains none. A commit that adds nothing to its first parent shares its number.
    """
    own = _bits_of(wanted)
    masks: dict[Oid, int] = {}
    for oid, first in reversed(graph.first.items()):
        mask = masks.get(first, 0) if first is not None else 0
        if oid in own:
            mask |= own[oid]
        for parent in graph.others.get(oid, ()):
            below = masks.get(parent, 0)
            if below & ~mask:
                mask |= below
        if mask:
            masks[oid] = mask
    return masks


class TakenIn(Struct, frozen=True, kw_only=True):
    """The merges on first-parent lines that took a commit in first, several if at the same moment, and when."""

    seconds: int
    merges: tuple[Oid, ...]


def first_taken_in(graph: Graph, masks: Mapping[Oid, int], wanted: Sequence[Oid]) -> dict[Oid, TakenIn]:
    """Find for each wanted commit the merges that took it in first, given what `reach` found of the same commits.

    A merge on a first-parent line takes in what it contains and its first parent does not. The merges are read in the
    order of their committer dates. Left out is a commit that no line took in.
    """
    by_moment: defaultdict[int, list[tuple[Oid, int]]] = defaultdict(list)
    for oid in graph.others:
        first = graph.first[oid]
        if first is not None and oid in graph.seconds and (new := masks.get(oid, 0) & ~masks.get(first, 0)):
            by_moment[graph.seconds[oid]].append((oid, new))
    found: dict[Oid, TakenIn] = {}
    done = 0
    for when in sorted(by_moment):
        merges: defaultdict[Oid, list[Oid]] = defaultdict(list)
        for merge, new in by_moment[when]:
            for oid in names_of(new & ~done, wanted):
                merges[oid].append(merge)
        for _, new in by_moment[when]:
            done |= new
        found |= {oid: TakenIn(seconds=when, merges=tuple(each)) for oid, each in merges.items()}
    return found


def names_of(mask: int, names: Sequence[_Name]) -> tuple[_Name, ...]:
    """The names whose bits are set, in their order.

    >>> names_of(0b101, ["a", "b", "c"])
    ('a', 'c')
    """
    bits = f"{mask:b}"[::-1]
    found: list[_Name] = []
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
