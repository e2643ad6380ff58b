"""What the local objects say: dates of commits and tags, the lines that tags sit on, commits between tips.

The only owner of pygit2. It serves where one process with many small walks beats one git start each; git does
the large walks (measured: half the time and a third of the memory of a libgit2 walk) and everything in a
repository that libgit2 cannot open (reftable, SHA-256, unknown extensions). No network, no write.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from collectors.git.commit_graph import (
    Forest,
    Line,
    containment,
    is_single,
    names_of,
    own_lines,
    parse_batch,
    parse_parents,
    parse_timestamps,
    parse_walk,
    signed_at,
    to_datetime,
)
from collectors.process import Deadline
from ranking.names import OID_PATTERN, TAGS, BranchName, Oid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from collectors.process import Git, Ran

_OID = re.compile(OID_PATTERN)

# Below this many pairs starting git for each is cheaper than importing pygit2 (52 ms; a pair some 20 ms).
_PAIRS_WORTH_A_LIBRARY = 4

BranchesOfTag = tuple[BranchName, ...] | None
"""`tags[].branches`: None where nobody could look, () where it sits on none of the branches."""


class Lineage(Struct, frozen=True, kw_only=True):
    """Which branches each tag sits on, and where each branch's own line begins.

    `tags`: see `read_lineage`. `lines`: None for a branch without a line of its own (the default; a branch
    equal to it, behind it, or merged into it by fast-forward: when such a one began is not in the graph) and
    for every branch while the default is not known. `missing`: the branches whose tip is not among the local
    objects. `state`: "shallow" and "failed" say that nobody could look; every tag is then None, and `detail`
    says why.
    """

    state: Literal["read", "shallow", "failed"]
    tags: Mapping[str, BranchesOfTag]
    lines: Mapping[BranchName, Line | None]
    missing: tuple[BranchName, ...] = ()
    detail: str | None = None


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
    """Say for each tag (by its peeled commit) which branches it sits on: DESIGN.md, `tags[].branches`.

    The default alone where the commit is on its first-parent line; else the branches on whose own
    first-parent line (from the tip to where it meets the default's) it is; else those whose commits that the
    default lacks contain it; () on none of these; None where the clone is shallow, the commit is not here, or
    git gave no answer. Names come in byte order.

    Give the newest tip of each branch *that is here* (a cached one does). Where a tip is not here, no tag is
    said to sit on no branch: None stands for (). Where the default is unknown or its tip not here, a tag gets
    the answer that every branch as the default would give alike (it is on one branch's first-parent line
    only, or in no branch), else None; with a tip missing besides, None.

    The graph is walked once for all first-parent lines and once for what the default lacks: never once for
    each branch. `shallow`: whether the clone is, where that is known.
    """
    nowhere: dict[str, BranchesOfTag] = dict.fromkeys(tag_commits)
    unread: dict[BranchName, Line | None] = dict.fromkeys(branch_tips)
    try:
        if _is_shallow(git, git_dir, timeout=timeout) if shallow is None else shallow:
            detail = "the clone is shallow: what git says of ancestry is not so"
            return Lineage(state="shallow", tags=nowhere, lines=unread, detail=detail)
        here = _commits_here(git, git_dir, [*branch_tips.values(), *tag_commits.values()], timeout=timeout)
        names = sorted(branch_tips, key=_as_bytes)
        tips = {name: branch_tips[name] for name in names if branch_tips[name] in here}
        tags = {name: oid for name, oid in tag_commits.items() if oid in here}
        missing = tuple(name for name in names if name not in tips)
        if default is None or default not in tips:
            sits = {} if missing else _read_undecided(git, git_dir, tips, tags, timeout=timeout)
            lines: dict[BranchName, Line | None] = {}
        else:
            sits, lines = _read_decided(git, git_dir, tips, tags, default, timeout=timeout)
    except _Unanswered as fault:
        return Lineage(state="failed", tags=nowhere, lines=unread, detail=str(fault))
    if missing:
        sits = {name: branches or None for name, branches in sits.items()}
    return Lineage(state="read", tags=nowhere | sits, lines=unread | lines, missing=missing)


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


def _read_decided(
    git: Git,
    git_dir: Path,
    tips: Mapping[BranchName, Oid],
    tags: Mapping[str, Oid],
    default: BranchName,
    *,
    timeout: float,
) -> tuple[dict[str, BranchesOfTag], dict[BranchName, Line | None]]:
    """The tags' branches and the branches' lines under a known default that is here."""
    order = tuple(tips)
    forest = Forest.of(parse_walk(_walk_first_parents(git, git_dir, tips, timeout=timeout)))
    trunk = forest.chain(tips[default])
    wanted = set(tags.values())
    own = own_lines(forest, trunk, [tips[name] for name in order], wanted)
    sits: dict[Oid, BranchesOfTag] = {oid: (default,) for oid in wanted if oid in trunk}
    sits |= {oid: names_of(mask, order) for oid, mask in own.masks.items()}
    left = wanted - sits.keys()
    if left:
        stdin = [*dict.fromkeys(tips.values()), f"^{tips[default]}"]
        options = ("rev-list", "--topo-order", "--parents", "--stdin")
        walk = _run(git, git_dir, *options, lines=stdin, timeout=timeout)
        masks = containment(parse_parents(walk.stdout), [tips[name] for name in order], left)
        sits |= {oid: names_of(masks.get(oid, 0), order) for oid in left}
    return {name: sits[oid] for name, oid in tags.items()}, dict(zip(order, own.lines, strict=True))


def _read_undecided(
    git: Git, git_dir: Path, tips: Mapping[BranchName, Oid], tags: Mapping[str, Oid], *, timeout: float
) -> dict[str, BranchesOfTag]:
    """The tags' branches as far as they do not depend on which branch is the default.

    On exactly one first-parent line: as the default that branch takes the tag, and with another default the
    tag stands above the point where they meet, since all below that is on both lines. In no branch: on none.
    All else depends.
    """
    order = tuple(tips)
    forest = Forest.of(parse_walk(_walk_first_parents(git, git_dir, tips, timeout=timeout)))
    wanted = set(tags.values())
    masks = own_lines(forest, frozenset(), [tips[name] for name in order], wanted).masks
    sits: dict[Oid, BranchesOfTag] = {oid: names_of(mask, order) for oid, mask in masks.items() if is_single(mask)}
    if wanted:
        stdin = [*sorted(wanted), *(f"^{tip}" for tip in dict.fromkeys(tips.values()))]
        loose = _run(git, git_dir, "rev-list", "--stdin", lines=stdin, timeout=timeout)
        sits |= dict.fromkeys(wanted.intersection(map(Oid, loose.lines)), ())
    return {name: sits[oid] for name, oid in tags.items() if oid in sits}


def _walk_first_parents(git: Git, git_dir: Path, tips: Mapping[BranchName, Oid], *, timeout: float) -> bytes:
    """All first-parent lines in one walk, children before parents."""
    if not tips:
        return b""
    options = ("rev-list", "--first-parent", "--topo-order", "--parents", "--timestamp", "--stdin")
    return _run(git, git_dir, *options, lines=dict.fromkeys(tips.values()), timeout=timeout).stdout


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
    # In the function, against the rule: its 52 ms fall due here only, not for dates and lineage.
    import pygit2  # noqa: PLC0415

    try:
        repository = pygit2.Repository(str(git_dir))
        return {pair: repository.ahead_behind(*pair) for pair in pairs if deadline.remaining()}
    except (pygit2.GitError, KeyError, ValueError):
        # An extension or object format that libgit2 does not know, an owner whom only git's configuration
        # trusts, an object that only git finds: libgit2's no is not git's.
        return None


def _run(git: Git, git_dir: Path, *arguments: str, lines: Iterable[str] = (), timeout: float) -> Ran:
    """Like `_ask`, and _Unanswered where git ended with an error or at the deadline."""
    ran = _ask(git, git_dir, *arguments, lines=lines, timeout=timeout)
    if ran.timed_out:
        raise _Unanswered(f"git {arguments[0]} did not end within {timeout:g} s")
    if ran.code != 0:
        said = ran.stderr.strip().splitlines()
        raise _Unanswered(f"git {arguments[0]} failed: {said[-1] if said else f'exit code {ran.code}'}")
    return ran


def _ask(git: Git, git_dir: Path, *arguments: str, lines: Iterable[str] = (), timeout: float) -> Ran:
    """Run git on this git directory, the lines on its standard input.

    Replacements (refs/replace) are this clone's own view; the facts are about the branches that all share.
    """
    stdin = "".join(f"{line}\n" for line in lines).encode("ascii")
    return git.run(f"--git-dir={git_dir}", "--no-replace-objects", *arguments, stdin=stdin, timeout=timeout)


def _as_bytes(name: str) -> bytes:
    """Names sort as git sorts them."""
    return name.encode("utf-8", "surrogatepass")
