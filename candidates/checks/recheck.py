"""Before a push: the remote is asked again about the recorded base, and the answer held against the work branch.

Reads the clone, asks one `ls-remote`, and at most fetches the one ref that counting needs. Writes no state.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from candidates.run.collect import RemoteUndecided
from candidates.state_file import BRANCH, EVIDENCE, PROJECTS, ROOT, STATUS, State
from collectors.errors import InvalidInput
from collectors.git.objects import read_ahead_behind
from collectors.git.refs import RemoteAnswer, RemoteChoice, RemoteQuestion, ask_remote, choose_remote, fetch_branches
from collectors.git.repository import Checkout, Config, open_repository, read_config
from collectors.process import Deadline, Git
from ranking.facts import Failure, Instant, OidText, Record
from ranking.names import HEADS, Oid, local_head, name_problem, printable, remote_tracking

Status = Literal["fresh", "moved", "gone", "no-answer"]

_GRAVEST: tuple[Status, ...] = ("gone", "no-answer", "moved", "fresh")

EXIT_CODES: Mapping[Status, int] = {"fresh": 0, "moved": 12, "gone": 13, "no-answer": 11}
"""The exit codes of `recheck`, as in docs/contract.md."""


class Rechecked(Record, frozen=True, kw_only=True):
    """What the remote says of the recorded base now, and what that means for the work branch.

    `commits`: how many the base has that the branch lacks; null where it is not `moved`, or where they could
    not be counted, and then `uncounted` says why. `moved` without a count: not known to be fresh.
    """

    schema: Literal["base-branch/recheck@1"] = "base-branch/recheck@1"
    status: Status
    base_branch: str
    branch: str
    remote: str | None
    tip: OidText | None = None
    merge_base: OidText | None = None
    commits: int | None = None
    uncounted: str | None = None
    failure: Failure | None = None
    at: Instant
    root: str | None = None
    """The folder of the repository, as `projects[]` has it; null for the main one."""
    projects: tuple[Rechecked, ...] = ()
    """The state's other repositories that have a base."""

    @property
    def exit_code(self) -> int:
        """0 fresh, 12 moved, 13 gone, 11 no answer; of several repositories the gravest."""
        found = {one.status for one in (self, *self.projects)}
        return EXIT_CODES[next(status for status in _GRAVEST if status in found)]


class _Recorded(Struct, frozen=True, kw_only=True):
    """What the state says: the base, the work branch, where the work stands."""

    base: str
    branch: str
    worktree: str | None
    refs: tuple[str, ...]
    """The refs that the evidence gives for the base."""


def recheck(
    git: Git, state: Mapping[str, object], deadline: Deadline, now: datetime, *, remote: str | None = None
) -> Rechecked:
    """Ask again about the state's base. InvalidInput for a state without base or branch; SetupError without repository.

    The work stands in the state's `worktreePath` (a relative one begins at git's folder), else at git's folder.
    `remote`: the one to ask; else the one that the evidence's refs name, else as `resolve` chooses it, and
    RemoteUndecided where a person must.
    """
    recorded = _recorded(state)
    here = git.at(git.folder / recorded.worktree) if recorded.worktree else git
    checkout, config = open_repository(here), read_config(here)
    choice = _remote(config, remote, recorded, checkout)
    answer: RemoteAnswer | Failure
    if choice is None:
        answer = Failure(kind="no-remote", detail="this repository has no remote")
    else:
        answer = ask_remote(here, choice.name, deadline, host=choice.host)
    found = Rechecked(
        status="no-answer",
        base_branch=recorded.base,
        branch=recorded.branch,
        remote=choice.name if choice else None,
        failure=answer if isinstance(answer, Failure) else None,
        at=now,
    )
    if isinstance(answer, Failure) or choice is None:
        return found
    tip = answer.branches.get(recorded.base)
    if tip is None:
        return replace(found, status="gone")
    return _held_against_branch(here, checkout, choice, replace(found, status="moved", tip=tip), deadline)


def recheck_all(
    git: Git, state: Mapping[str, object], deadline: Deadline, now: datetime, *, remote: str | None = None
) -> Rechecked:
    """The main repository's answer, with those of the other repositories that have a base. Raises as `recheck`."""
    main = recheck(git, state, deadline, now, remote=remote)
    listed = state.get(PROJECTS)
    others = [entry for entry in (listed[1:] if isinstance(listed, list) else ()) if isinstance(entry, dict)]
    found = [
        replace(recheck(git, _as_state(entry, state), deadline, now), root=entry[ROOT])
        for entry in others
        if isinstance(entry.get(ROOT), str) and entry.get(BRANCH) is not None
    ]
    return replace(main, projects=tuple(found))


def _as_state(entry: Mapping[str, object], state: Mapping[str, object]) -> dict[str, object]:
    """One of `projects[]` as the state of a repository: what it does not say of the work branch, the scalars say."""
    branch, worktree = entry.get("branch"), entry.get("worktreePath")
    return {**entry, "branch": branch or state.get("branch"), "worktreePath": worktree or entry.get(ROOT)}


def recheck_changes(state: Mapping[str, object], found: Rechecked) -> State:
    """What a recheck changes in the state: `fresh`, where it is fresh, and nothing else; also as a merge patch.

    Nothing where the state records another base by now. The first of `projects[]` follows where it holds the
    same base: the scalars mirror it.
    """
    fresh_main = found.status == "fresh" and _plain(state.get(BRANCH)) == found.base_branch
    fresh = {(one.root, one.base_branch) for one in found.projects if one.status == "fresh"}
    changes: State = {STATUS: "fresh"} if fresh_main else {}
    listed = state.get(PROJECTS)
    projects = list(listed) if isinstance(listed, list) else []
    for at, entry in enumerate(projects):
        held = (entry.get(ROOT), _plain(entry.get(BRANCH))) if isinstance(entry, dict) else None
        mirrors = at == 0 and fresh_main and held is not None and held[1] == found.base_branch
        if mirrors or held in fresh:
            projects[at] = {**entry, STATUS: "fresh"}
    return changes | ({PROJECTS: projects} if projects != listed and projects else {})


def sentence(found: Rechecked) -> str:
    """The answer as one sentence for a person."""
    base, branch, remote = printable(found.base_branch), printable(found.branch), printable(found.remote or "")
    match found:
        case Rechecked(status="fresh"):
            return f"{base} is fresh: {branch} holds all that {remote} has of it."
        case Rechecked(status="gone"):
            return f"{base} is gone: {remote} answered and does not have it any more."
        case Rechecked(status="moved", commits=int(count)):
            commits = "1 commit" if count == 1 else f"{count} commits"
            since = f" since {found.merge_base[:12]}" if found.merge_base else ", which share no history with it"
            return f"{base} moved by {commits} that {branch} lacks{since}: rebase."
        case Rechecked(status="moved"):
            why = printable(found.uncounted or "no reason is known")
            return f"{base} is not known to be fresh: the commits that {branch} lacks could not be counted: {why}."
        case Rechecked(failure=Failure() as failure):
            where = f" ({failure.host})" if failure.host else ""
            who = f"{remote} did not answer" if remote else "nobody could be asked"
            return f"{base} may be stale: {who}{where}: {failure.kind}: {printable(failure.detail)}."
        case _:
            return f"{base} may be stale: {remote} did not answer."


# --- what the state says ---


def _recorded(state: Mapping[str, object]) -> _Recorded:
    worktree = state.get("worktreePath")
    if worktree is not None and (not isinstance(worktree, str) or not worktree or "\0" in worktree):
        raise InvalidInput("the state has no path there", where="worktreePath", hint=_written("worktreePath"))
    base = _name(state, BRANCH)
    return _Recorded(base=base, branch=_name(state, "branch"), worktree=worktree, refs=_refs(state.get(EVIDENCE), base))


def _name(state: Mapping[str, object], key: str) -> str:
    """The branch name under a key of the state, whole or as `refs/heads/NAME`."""
    value = state.get(key)
    if not isinstance(value, str):
        said = "the state does not name it" if value is None else "the state has no text there"
        raise InvalidInput(said, where=key, hint="base-branch resolve --state FILE" if key == BRANCH else _written(key))
    name = _plain(value)
    if problem := name_problem(name):
        raise InvalidInput(f"{printable(value)!r} can be no branch: {problem}", where=key)
    return name


def _written(key: str) -> str:
    return f"let the pipeline write {key} into the state"


def _plain(value: object) -> str:
    """A branch's short name, of a full refname too."""
    return value.removeprefix(HEADS) if isinstance(value, str) else ""


def _refs(evidence: object, base: str) -> tuple[str, ...]:
    """The refs of the base's candidate; nothing where the evidence is none, or not of the known form."""
    candidates: Any = evidence.get("candidates") if isinstance(evidence, dict) else None
    own = [c.get("refs") for c in candidates or () if isinstance(c, dict) and c.get("branch") == base]
    return tuple(ref for refs in own if isinstance(refs, list) for ref in refs if isinstance(ref, str))


def _remote(config: Config, asked: str | None, recorded: _Recorded, checkout: Checkout) -> RemoteChoice | None:
    """The remote that the base was recorded from, as far as the state tells."""
    if asked is None:
        names = config.subsections("remote", "url")
        named = [n for n in names if name_problem(n) is None and remote_tracking(n, recorded.base) in recorded.refs]
        asked = named[0] if len(named) == 1 else None
    choice = choose_remote(config, asked)
    if isinstance(choice, RemoteQuestion):
        raise RemoteUndecided(checkout.name, choice)
    return choice


# --- against the work branch ---


def _held_against_branch(
    git: Git, checkout: Checkout, choice: RemoteChoice, found: Rechecked, deadline: Deadline
) -> Rechecked:
    """Whether the work branch holds the advertised tip already; else how many commits it lacks."""
    tip = Oid(found.tip or "")
    branch = _commit(git, local_head(found.branch))
    if branch is None:
        return replace(found, uncounted=f"{found.branch} is no branch of {git.folder}")
    missing = _bring(git, tip, choice, found.base_branch, deadline)
    if missing is not None:
        return replace(found, uncounted=missing)
    # What a cut-off history still shows to be an ancestor is one; only its no proves nothing.
    if _is_ancestor(git, tip, branch):
        return replace(found, status="fresh")
    counts = read_ahead_behind(git, checkout.git_dir, [(tip, branch)])[tip, branch]
    if counts is None:
        why = "the clone is shallow" if checkout.shallow else "an object is missing, or git gave no answer"
        return replace(found, uncounted=why)
    return replace(found, commits=counts[0], merge_base=_merge_base(git, tip, branch))


def _bring(git: Git, tip: Oid, choice: RemoteChoice, base: str, deadline: Deadline) -> str | None:
    """Fetch the base where its advertised tip is not here; why it is still not here, None where it is."""
    if _commit(git, tip) is not None:
        return None
    others = read_config(git).subsections("remote", "url")
    failure = fetch_branches(git, choice.name, [base], deadline, host=choice.host, others=others)
    if failure is not None:
        return f"the fetch failed: {failure.kind}: {failure.detail}"
    return None if _commit(git, tip) is not None else f"the fetch did not bring {tip}: the base moved meanwhile"


def _commit(git: Git, revision: str) -> Oid | None:
    """The commit that a full refname or object id stands for, None where it is not here."""
    ran = git.run("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    return Oid(ran.lines[0]) if ran.code == 0 else None


def _is_ancestor(git: Git, ours: Oid, theirs: Oid) -> bool:
    ran = git.run("merge-base", "--is-ancestor", ours, theirs)
    return ran.code == 0


def _merge_base(git: Git, ours: Oid, theirs: Oid) -> Oid | None:
    """The merge base, of several (criss-cross merges) the first by name; None where nothing is shared."""
    ran = git.run("merge-base", "--all", ours, theirs)
    return Oid(min(ran.lines)) if ran.code == 0 and ran.lines else None
