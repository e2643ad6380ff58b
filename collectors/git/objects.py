"""What the local objects say: dates of commits and tags, the lines that tags sit on, commits between tips.

The only owner of pygit2. It serves where one process with many small walks beats one git start each; git does
the large walks (measured: half the time and a third of the memory of a libgit2 walk) and everything in a
repository that libgit2 cannot open (reftable, SHA-256, unknown extensions). No network, no write.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from collectors.git.commit_graph import (
    Graph,
    Line,
    first_taken_in,
    is_single,
    names_of,
    own_lines,
    parse_batch,
    parse_graph,
    parse_timestamps,
    reach,
    signed_at,
    to_datetime,
)
from collectors.process import Deadline
from ranking.names import OID_PATTERN, TAGS, BranchName, Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from collectors.process import Git, ProcessResult

_OID = re.compile(OID_PATTERN)

# Below this many pairs starting git for each is cheaper than importing pygit2 (52 ms; a pair some 20 ms).
_PAIRS_WORTH_A_LIBRARY = 4

BranchesOfTag = tuple[BranchName, ...] | None
"""`tags[].branches`: None where nobody could look, () where it sits on none of the branches."""


class MergedInto(Struct, frozen=True, kw_only=True):
    """The branches whose own line took a tag's commit in first, by a merge, and when that was.

    `at` is None if Python's calendar does not hold the date.
    """

    branches: tuple[BranchName, ...]
    at: datetime | None


class Lineage(Struct, frozen=True, kw_only=True):
    """Which branches each tag sits on, and where each branch's own line begins.

    `tags` and `merged`: see `read_lineage`. `lines`: None for a branch without a line of its own (the default; a branch
    equal to it, behind it, or merged into it by fast-forward: when such a one began is not in the graph) and
    for every branch while the default is not known. `missing`: the branches whose tip is not among the local
    objects. `state`: "shallow" and "failed" say that nobody could look; every tag is then None, and `detail`
    says why.
    """

    state: Literal["read", "shallow", "failed"]
    tags: Mapping[str, BranchesOfTag]
    lines: Mapping[BranchName, Line | None]
    merged: Mapping[str, MergedInto] = MappingProxyType({})
    missing: tuple[BranchName, ...] = ()
    detail: str | None = None


class _Sits(Struct, frozen=True, kw_only=True):
    """What was found of tags and lines."""

    tags: dict[str, BranchesOfTag]
    merged: dict[str, MergedInto]
    lines: dict[BranchName, Line | None]


class _Unanswered(Exception):  # noqa: N818 - control flow inside this module, never seen outside
    """git ended with an error or at the deadline."""


def read_dates(git: Git, git_dir: Path, oids: Iterable[Oid], *, timeout: float = 60.0) -> dict[Oid, datetime | None]:
    """Committer date (UTC) of each commit, tagger date of each tag object; None: the object is not here.

    Left out: an object that is here without a readable date (git failed, no tagger, beyond the year 9999).

    A tag's creator date is that of what its ref names: ask for the tag object where there is one, else for
    the commit.
    """
    wanted = sorted({oid for oid in oids if _OID.match(oid)})
    if not wanted:
        return {}
    # rev-list answers for commits (three times as fast where there is a commit-graph); it peels tags and,
    # with --ignore-missing, passes over what is not here: those are few, and cat-file tells them apart.
    options = ("rev-list", "--no-walk=unsorted", "--timestamp", "--ignore-missing", "--stdin")
    listed = _ask(git, git_dir, *options, lines=wanted, timeout=timeout)
    found = dict(parse_timestamps(listed.stdout)) if listed.code == 0 else {}
    rest = [oid for oid in wanted if oid not in found]
    dates: dict[Oid, datetime | None] = {}
    if rest:
        shown = _ask(git, git_dir, "cat-file", "--batch", "--buffer", lines=rest, timeout=timeout)
        if shown.code == 0:
            for oid, kind, content in parse_batch(shown.stdout):
                if kind == "missing":
                    dates[oid] = None
                elif kind in {"commit", "tag"} and (seconds := signed_at(content)) is not None:
                    found[oid] = seconds
    for oid in wanted:
        moment = to_datetime(found[oid]) if oid in found else None
        if moment is not None:
            dates[oid] = moment
    return dates


def read_creator_dates(git: Git, *, timeout: float = 60.0) -> dict[str, datetime]:
    """When each tag of this clone was made (UTC), by its short name: the tagger's date, else the commit's.

    Left out: a tag whose objects are not all here, or whose date the calendar does not hold; all, where git
    gave no answer.
    """
    ran = git.run("for-each-ref", "--format=%(creatordate:unix) %(refname)", TAGS, timeout=timeout)
    dates = {}
    for line in ran.lines if ran.code == 0 else ():
        seconds, _, refname = line.partition(" ")
        moment = to_datetime(int(seconds)) if seconds.lstrip("-").isdecimal() else None
        if moment is not None:
            dates[refname.removeprefix(TAGS)] = moment
    return dates


def read_lineage(
    git: Git,
    git_dir: Path,
    branch_tips: Mapping[BranchName, Oid],
    tag_commits: Mapping[str, Oid],
    default: BranchName | None,
    *,
    shallow: bool | None = None,
    timeout: float = 60.0,
) -> Lineage:
    """Say for each tag (by its peeled commit) which branches it sits on: docs/contract.md, `tags[].branches`.

    The default alone where the commit is on its first-parent line; else the branches on whose own
    first-parent line (from the tip to where it meets the default's) it is; else those whose commits that the
    default lacks contain it; () on none of these; None where the clone is shallow, the commit is not here, or
    git gave no answer. Names come in byte order.

    Give the newest tip of each branch *that is here* (a cached one does). Where a tip is not here, no tag is
    said to sit on no branch: None stands for (). Where the default is unknown or its tip not here, a tag gets
    the answer that every branch as the default would give alike (it is on one branch's first-parent line
    only, or in no branch), else None; with a tip missing besides, None.

    `merged`: for a tag on none of these, the branches whose own line took its commit in first, by a merge. The default
    counts like any other, and "first" is by the committer date of the merge; several at the same moment are all given.
    Left out where the default is unknown or a tip is not here: a branch that is not here may have been first.

    The graph is walked once, never once for each branch. `shallow`: whether the clone is, where that is known.
    """
    nowhere: dict[str, BranchesOfTag] = dict.fromkeys(tag_commits)
    unread: dict[BranchName, Line | None] = dict.fromkeys(branch_tips)
    try:
        if _is_shallow(git, git_dir, timeout=timeout) if shallow is None else shallow:
            detail = "the clone is shallow: what git says of ancestry is not so"
            return Lineage(state="shallow", tags=nowhere, lines=unread, detail=detail)
        graph = _walk(git, git_dir, branch_tips.values(), timeout=timeout)
        loose = [oid for oid in tag_commits.values() if oid not in graph.first]
        here = _commits_here(git, git_dir, loose, timeout=timeout)
    except _Unanswered as error:
        return Lineage(state="failed", tags=nowhere, lines=unread, detail=str(error))
    names = sorted(branch_tips, key=_as_bytes)
    tips = {name: branch_tips[name] for name in names if branch_tips[name] in graph.first}
    tags = {name: oid for name, oid in tag_commits.items() if oid in graph.first or oid in here}
    missing = tuple(name for name in names if name not in tips)
    if default is not None and default in tips:
        found = _read_decided(graph, tips, tags, default)
    elif missing:
        found = _Sits(tags={}, merged={}, lines={})
    else:
        found = _read_undecided(graph, tips, tags)
    sits, merged = found.tags, found.merged
    if missing:
        sits, merged = {name: branches or None for name, branches in sits.items()}, {}
    return Lineage(state="read", tags=nowhere | sits, merged=merged, lines=unread | found.lines, missing=missing)


def read_ahead_behind(
    git: Git, git_dir: Path, pairs: Sequence[tuple[Oid, Oid]], *, timeout: float = 60.0
) -> dict[tuple[Oid, Oid], tuple[int, int] | None]:
    """Count for each pair (ours, theirs) the commits that only ours has, and those that only theirs has.

    None: shallow clone, a commit that is not here, or no answer within `timeout` seconds for all. Many pairs
    go through pygit2, all in this process (some 30 ms a pair that is 60,000 commits apart).
    """
    counts: dict[tuple[Oid, Oid], tuple[int, int] | None] = dict.fromkeys(pairs)
    try:
        if _is_shallow(git, git_dir, timeout=timeout):
            return counts
        here = _commits_here(git, git_dir, [oid for pair in pairs for oid in pair], timeout=timeout)
    except _Unanswered:
        return counts
    askable = [pair for pair in counts if here.issuperset(pair)]
    deadline = Deadline(timeout)
    if len(askable) >= _PAIRS_WORTH_A_LIBRARY:
        counted = _count_with_library(git_dir, askable, deadline)
        if counted is not None:
            return counts | counted
    for pair in askable:
        counts[pair] = _count_with_git(git, git_dir, pair, timeout=deadline.remaining())
    return counts


# Reading: one function a question.


def _read_decided(graph: Graph, tips: Mapping[BranchName, Oid], tags: Mapping[str, Oid], default: BranchName) -> _Sits:
    """The tags' branches and the branches' lines under a known default that is here."""
    order, oids = tuple(tips), tuple(tips.values())
    trunk = graph.chain(tips[default])
    wanted = set(tags.values())
    loose = sorted(oid for oid in wanted if oid not in graph.seconds)
    masks = reach(graph, loose)
    taken = first_taken_in(graph, masks, loose) if masks else {}
    merges = {oid for each in taken.values() for oid in each.merges}
    own = own_lines(graph, trunk, oids, wanted | merges)
    on_line = {oid: names_of(mask, order) for oid, mask in own.masks.items()}
    on_line |= dict.fromkeys((wanted | merges) & trunk, (default,))
    containing = _containing(masks, tips, loose, default)
    merged = {
        oid: MergedInto(
            branches=tuple(sorted({name for merge in each.merges for name in on_line[merge]}, key=_as_bytes)),
            at=to_datetime(each.seconds),
        )
        for oid, each in taken.items()
        if oid not in containing
    }
    return _Sits(
        tags={name: on_line.get(oid) or containing.get(oid, ()) for name, oid in tags.items()},
        merged={name: merged[oid] for name, oid in tags.items() if oid in merged},
        lines=dict(zip(order, own.lines, strict=True)),
    )


def _containing(
    masks: Mapping[Oid, int], tips: Mapping[BranchName, Oid], loose: Sequence[Oid], default: BranchName
) -> dict[Oid, tuple[BranchName, ...]]:
    """For the commits that some branch contains and the default lacks, all the branches that contain them."""
    lacked = ~masks.get(tips[default], 0)
    found: defaultdict[Oid, list[BranchName]] = defaultdict(list)
    for name, tip in tips.items():
        for oid in names_of(masks.get(tip, 0) & lacked, loose):
            found[oid].append(name)
    return {oid: tuple(names) for oid, names in found.items()}


def _read_undecided(graph: Graph, tips: Mapping[BranchName, Oid], tags: Mapping[str, Oid]) -> _Sits:
    """The tags' branches as far as they do not depend on which branch is the default.

    On exactly one first-parent line: as the default that branch takes the tag, and with another default the
    tag stands above the point where they meet, since all below that is on both lines. In no branch: on none.
    All else depends.
    """
    order = tuple(tips)
    wanted = set(tags.values())
    masks = own_lines(graph, frozenset(), tuple(tips.values()), wanted).masks
    sits: dict[Oid, BranchesOfTag] = {oid: names_of(mask, order) for oid, mask in masks.items() if is_single(mask)}
    sits |= {oid: () for oid in wanted if oid not in graph.first}
    return _Sits(tags={name: sits[oid] for name, oid in tags.items() if oid in sits}, merged={}, lines={})


def _walk(git: Git, git_dir: Path, tips: Iterable[Oid], *, timeout: float) -> Graph:
    """The whole history of those tips that are here."""
    tips = sorted({oid for oid in tips if _OID.match(oid)})
    if not tips:
        return parse_graph(b"", ())
    options = ("rev-list", "--topo-order", "--parents", "--timestamp", "--ignore-missing", "--stdin")
    return parse_graph(_run(git, git_dir, *options, lines=tips, timeout=timeout).stdout, tips)


def _is_shallow(git: Git, git_dir: Path, *, timeout: float) -> bool:
    """Whether history was cut off here: git then answers questions of ancestry wrongly, without an error."""
    asked = _run(git, git_dir, "rev-parse", "--is-shallow-repository", timeout=timeout)
    return asked.stdout.strip() == b"true"


def _commits_here(git: Git, git_dir: Path, oids: Iterable[Oid], *, timeout: float) -> set[Oid]:
    """Those that name a commit among the local objects; rev-list would die of any other."""
    wanted = sorted({oid for oid in oids if _OID.match(oid)})
    if not wanted:
        return set()
    options = ("cat-file", "--batch-check=%(objectname) %(objecttype)", "--buffer")
    answered = _run(git, git_dir, *options, lines=wanted, timeout=timeout)
    return {Oid(line[: -len(" commit")]) for line in answered.lines if line.endswith(" commit")}


def _count_with_git(git: Git, git_dir: Path, pair: tuple[Oid, Oid], *, timeout: float) -> tuple[int, int] | None:
    """One git start for one pair."""
    ours, theirs = pair
    ran = _ask(git, git_dir, "rev-list", "--count", "--left-right", f"{ours}...{theirs}", timeout=timeout)
    if ran.code != 0:
        return None
    ahead, behind = ran.stdout.split()
    return int(ahead), int(behind)


def libgit2_version() -> str:
    """The version of the libgit2 that serves here, as `1.9.1`."""
    import pygit2  # noqa: PLC0415 - like the count's: nothing else pays for it

    return pygit2.LIBGIT2_VERSION


def _count_with_library(
    git_dir: Path, pairs: Sequence[tuple[Oid, Oid]], deadline: Deadline
) -> dict[tuple[Oid, Oid], tuple[int, int] | None] | None:
    """The pairs counted in this process before the deadline; None where libgit2 cannot serve: git has to."""
    if _has_grafts(git_dir):  # libgit2 honours the file, and has no switch against it
        return None
    # In the function, against the rule: its 52 ms fall due here only, not for dates and lineage.
    import pygit2  # noqa: PLC0415

    try:
        repository = pygit2.Repository(str(git_dir))
        return {pair: repository.ahead_behind(*pair) for pair in pairs if deadline.remaining()}
    except (pygit2.GitError, KeyError, ValueError):
        # An extension or object format that libgit2 does not know, an owner whom only git's configuration
        # trusts, an object that only git finds: libgit2's no is not git's.
        return None


def _has_grafts(git_dir: Path) -> bool:
    """Whether the repository has a graft file; a linked worktree's folder names the shared one in `commondir`."""
    pointer = git_dir / "commondir"
    common = git_dir / os.fsdecode(pointer.read_bytes()).rstrip("\n") if pointer.is_file() else git_dir
    return (common / "info" / "grafts").exists()


def _run(git: Git, git_dir: Path, *arguments: str, lines: Iterable[str] = (), timeout: float) -> ProcessResult:
    """Like `_ask`, and _Unanswered where git ended with an error or at the deadline."""
    ran = _ask(git, git_dir, *arguments, lines=lines, timeout=timeout)
    if ran.timed_out:
        raise _Unanswered(f"git {arguments[0]} did not end within {timeout:g} s")
    if ran.code != 0:
        said = ran.stderr.strip().splitlines()
        raise _Unanswered(f"git {arguments[0]} failed: {said[-1] if said else f'exit code {ran.code}'}")
    return ran


def _ask(git: Git, git_dir: Path, *arguments: str, lines: Iterable[str] = (), timeout: float) -> ProcessResult:
    """Run git on this git directory, the lines on its standard input."""
    stdin = "".join(f"{line}\n" for line in lines).encode("ascii")
    return git.run(f"--git-dir={git_dir}", *arguments, stdin=stdin, timeout=timeout)


def _as_bytes(name: str) -> bytes:
    """Names sort as git sorts them."""
    return name.encode("utf-8", "surrogatepass")
