"""Which branches a ranking may answer with: those that are listed, and whose names can be used.

A branch that an answered, complete listing lacks is never an answer, however well its name fits.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from heapq import nsmallest
from operator import attrgetter

from msgspec import Struct

from ranking.facts import Branch, Facts, RefListing
from ranking.names import local_head, name_problems, printable, remote_tracking
from ranking.versions import read_branch
from ranking.words import DEVELOPMENT, FAMILY, TRUNKS, is_work_branch

# A development branch whose last commit is this much older than the default's has been left behind. A month
# lets a release merge be newer than the branch it was merged from.
_LEFT_BEHIND = timedelta(days=30)

_NAMED = 5


class Listed(Struct, frozen=True):
    """The branches that count by name, in order; the server's default and the development branch (None: unknown).

    `family`: those that one of the family's words names by itself. `sifted`: those of the notes that depend on nothing
    but the refs.
    """

    branches: Mapping[str, Branch]
    family: tuple[str, ...]
    default: str | None
    development: str | None
    notes: tuple[str, ...]
    sifted: tuple[str, ...]


def list_branches(facts: Facts, like: Listed | None = None) -> Listed:
    """Leave out what can never be an answer, and say so; `like`: what was made of facts with the same refs.

    What is listed is then like's: whoever learnt a date since puts the branch that has it there.
    """
    if like is None:
        usable, sifted = _sift(facts)
        family = tuple(name for name in usable if name.lower() in FAMILY)
    else:
        usable, sifted, family = like.branches, like.sifted, like.family
    default, said = _default(facts, usable)
    development, dead = _development(usable, default, trunks=_asks_versions(facts))
    return Listed(usable, family, default, development, (*sifted, *said, *dead), sifted)


def _sift(facts: Facts) -> tuple[Mapping[str, Branch], tuple[str, ...]]:
    usable = _by_name(facts.refs.branches)
    unusable = name_problems(usable)
    for name in unusable:
        del usable[name]
    gone = [b.name for b in usable.values() if b.tip is None and _gone(b, facts.refs)]
    for name in gone:
        del usable[name]
    notes = []
    if gone:
        notes.append(f"known only from this clone, the remote does not have it: {counted(gone)}")
    if unusable:
        notes.append(f"never an answer ({'; '.join(sorted(set(unusable.values())))}): {counted(unusable)}")
    return usable, tuple(notes)


def _by_name(branches: Sequence[Branch]) -> dict[str, Branch]:
    """In the order of the names; of two records of one branch the same one counts, whatever their order."""
    found = {branch.name: branch for branch in sorted(branches, key=attrgetter("name"))}
    if len(found) < len(branches):
        found = {branch.name: branch for branch in sorted(branches, key=_record_order)}
    return found


def _record_order(branch: Branch) -> tuple[str, str, str, str, str]:
    moment = branch.committed_at.isoformat() if branch.committed_at else ""
    return branch.name, branch.tip or "", branch.cached_tip or "", branch.local_tip or "", moment


def hangs_on_dates(listed: Listed) -> bool:
    """Whether the ranking may look at a date: at those of a branch named for development, and of the default."""
    return any(name in listed.branches for name in development_names(listed.default))


def development_names(default: str | None, *, trunks: bool = True) -> tuple[str, ...]:
    """The names that a development branch has: a trunk's too (`trunks`) if the server's default is named for a line."""
    return (*DEVELOPMENT, *TRUNKS) if trunks and default and read_branch(default) else DEVELOPMENT


def _asks_versions(facts: Facts) -> bool:
    """Whether the issue, or what it is linked to, names a version."""
    issue = facts.issue
    return issue is not None and bool(issue.versions or any(link.versions for link in issue.links))


def refs_of(branch: Branch, facts: Facts) -> tuple[str, ...]:
    """The refs that hold a branch in this clone, first the one that the fetch brings."""
    remote = facts.repository.remote
    refs = []
    if remote is not None and (branch.tip or branch.cached_tip or not branch.local_tip):
        refs.append(remote_tracking(remote, branch.name))
    if branch.local_tip or remote is None:
        refs.append(local_head(branch.name))
    return tuple(refs)


def counted(names: Collection[str]) -> str:
    """`7: a, b, c, d, e, ...`: how many, and up to five of them, in the order of their bytes."""
    return f"{len(names)}: {few(names)}"


def few(names: Collection[str]) -> str:
    """Up to five of the names, in the order of their bytes."""
    more = ", ..." if len(names) > _NAMED else ""
    return ", ".join(map(printable, nsmallest(_NAMED, names))) + more


def tip_notes(facts: Facts, branches: Iterable[Branch]) -> list[str]:
    """What the three tips of these branches tell of this clone, where the remote itself answered.

    A local branch that stands where the remote's stood at the last fetch is behind. Of others the tips alone do
    not tell whether they are behind, ahead or both.
    """
    if facts.refs.provenance != "remote":
        return []
    known = [b for b in branches if b.tip is not None]
    moved = [b.name for b in known if b.cached_tip not in (None, b.tip)]
    apart = [b for b in known if b.local_tip not in (None, b.tip)]
    behind = [b.name for b in apart if b.local_tip == b.cached_tip]
    other = [b.name for b in apart if b.local_tip != b.cached_tip]
    said = {
        "moved on the remote since the last fetch": moved,
        "local branches behind the remote's": behind,
        "local branches not at the remote's commit (behind, ahead or both)": other,
    }
    return [f"{what}: {counted(each)}" for what, each in said.items() if each]


def _gone(branch: Branch, refs: RefListing) -> bool:
    """Whether the remote answered with a complete list, and this branch without a tip is not in it."""
    known_here = branch.cached_tip is not None or branch.local_tip is not None
    return refs.provenance == "remote" and refs.complete and known_here


def _default(facts: Facts, usable: Mapping[str, Branch]) -> tuple[str | None, list[str]]:
    name, state = facts.repository.default_branch, facts.repository.default_branch_state
    if name is None:
        why = {
            "none": "the remote has no default branch",
            "failed": "the remote did not say its default branch",
        }
        return None, [f"{why.get(state, 'nobody asked for the default branch')}: the default is not known"]
    if name not in usable:
        return None, [f"the default branch {printable(name)} is not listed: the default is not known"]
    refused = _refuse(name, facts)
    if refused:
        trunk = next((t for t in TRUNKS if t in usable), None)
        instead = trunk or "no other branch"
        return trunk, [
            f"the server's default branch {printable(name)} {refused} and is not used; {instead} stands for it"
        ]
    if state == "cached":
        return name, [f"the default branch {name} is this clone's last knowledge, not the remote's word"]
    return name, []


def has_key(name: str, key: str) -> bool:
    """Whether a branch is named for an issue: its key stands in the name by itself.

    >>> has_key("feature/app-12-login", "APP-12"), has_key("feature/APP-123", "APP-12")
    (True, False)
    >>> has_key("app-1.2", "APP-1")
    False
    """
    lowered = key.lower()
    if not lowered or lowered not in name.lower():
        return False
    return re.search(rf"(?<![a-z0-9]){re.escape(lowered)}(?![0-9]|[._][0-9])", name.lower()) is not None


def _refuse(name: str, facts: Facts) -> str | None:
    """Why the server's default branch is nobody's default: a work branch, or the issue's own; None if it is one."""
    if facts.issue is not None and has_key(name, facts.issue.key):
        return f"is named for the issue {printable(facts.issue.key)}"
    prefixes = facts.settings.work_prefixes
    if is_work_branch(name, None if prefixes is None else tuple(p.lower() for p in prefixes)):
        return "is a work branch"
    return None


def _development(usable: Mapping[str, Branch], default: str | None, *, trunks: bool) -> tuple[str | None, list[str]]:
    """One named exactly develop, development or dev that is alive, else the server's default.

    If a version is asked for (`trunks`), a trunk that is alive is it beside a default branch that is a release line.

    Whether it is alive the two dates tell. Where one is not known, a name alone does not beat the server's word.
    """
    named = [name for name in development_names(default, trunks=trunks) if name in usable]
    if default in named or default is None:
        return default or next(iter(named), None), []
    notes = []
    theirs = usable[default].committed_at
    for name in named:
        ours = usable[name].committed_at
        if ours is None or theirs is None:
            notes.append(f"{name} may be the development branch, but its date or {default}'s is not known")
        elif theirs - ours > _LEFT_BEHIND:
            notes.append(f"{name} was left behind by {default}: {ours:%Y-%m-%d} against {theirs:%Y-%m-%d}")
        else:
            return name, [*notes, f"{name} is the development branch; the server's default is {default}"]
    return default, notes
