"""What a person answered, from the terminal or from a host's picker: checked, recorded as `asked`, remembered.

Only here does an answer reach the memory; one that was cancelled, or that nobody gave, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from candidates.contract import Decision, Question, log_line
from candidates.exit_codes import ExitCode
from candidates.memory import remember
from candidates.questions.questions import Answer
from candidates.run.collect import RemoteUndecided, key_of
from candidates.run.decide import decide, is_silent, undecided_remote
from candidates.run.run import Run, gather
from candidates.run.work import work_of
from candidates.state_file import NULLABLE, canonical_root, evidence_of, read_state
from collectors.errors import EvidenceError
from collectors.git.repository import open_repository
from collectors.stores.preferences import preferences_path
from collectors.stores.recent_entries import ANY_WORK
from ranking.facts import Facts, Ranking

Pick = Callable[[Question], Answer | None]
"""Puts one question to the person; None where no answer was given."""

_SERVING = ("cached", "local")


def choose_base(run: Run, name: str) -> tuple[Decision, ExitCode, Facts]:
    """The decision for a branch that a person named, checked against the remote's own answer.

    Where the remote did not answer the run stops, unless `--on-fetch-failure` says what may serve. InvalidInput for
    a branch that the remote does not have.
    """
    run = answered_with(run, name)
    collected = gather(run)
    if is_silent(collected) and run.policy.on_fetch_failure not in _SERVING:
        decision, code = decide(collected, replace(run.policy, on_fetch_failure="abort"))
        said = log_line(collected.facts.now, f"{name} is not recorded: the remote did not answer")
        return replace(decision, log=(*decision.log[:-1], said)), code, collected.facts
    return *decide(collected, run.policy), collected.facts


def cancelled(run: Run) -> Decision:
    """The decision of a person who gave up: the question stands, nothing is chosen."""
    try:
        collected = gather(run)
    except RemoteUndecided as error:
        return _given_up(undecided_remote(error, run.policy.autonomy, run.policy.asking))
    policy = replace(run.policy, autonomy="manual", base=None)
    return _given_up(decide(collected, policy)[0])


def interact(run: Run, pick: Pick) -> tuple[Decision, ExitCode, Facts | None]:
    """Ask the person whatever a run has to ask, kind by kind, until there is an answer or the person gives up."""
    while True:
        try:
            collected = gather(run)
        except RemoteUndecided as error:
            decision = undecided_remote(error, run.policy.autonomy, run.policy.asking)
            answer = pick(decision.questions[0])
            if answer is None or answer.kind not in ("remote", "page"):
                return _given_up(decision), ExitCode.ASK, None
            run = _after(run, answer)
            continue
        decision, code = decide(collected, run.policy)
        while code == ExitCode.ASK and decision.questions:
            answer = pick(decision.questions[0])
            if answer is None or answer.kind == "stop":
                return _given_up(decision), code, None
            run = _after(run, answer)
            if answer.kind == "branch" or answer.name == "retry":
                break
            decision, code = decide(collected, run.policy)
        else:
            return decision, code, collected.facts if run.policy.base_source == "asked" else None


def answered_with(run: Run, branch: str) -> Run:
    """The run whose base a person named."""
    policy = replace(run.policy, autonomy="manual", base=branch, base_source="asked", ask_on_issue=False)
    return replace(run, policy=policy, request=replace(run.request, base=branch))


def keep(run: Run, facts: Facts, branch: str) -> tuple[str, ...]:
    """Remember an answer that the remote's own list confirms; what has to be said of it."""
    if facts.refs.provenance != "remote" and facts.repository.remote is not None:
        return (f"not remembered: {facts.repository.remote} did not answer",)
    days = run.configuration.branch_ttl_days
    key, old_key = run.configuration.project_key, None
    if key is None:
        checkout = run.request.checkout or open_repository(run.git)
        key, old_key = key_of(facts.repository.url, checkout), facts.repository.name
    path = preferences_path(run.git.environ)
    # An issue that was not handed over may have a version all the same.
    work = work_of(facts.issue) if facts.issue is not None else ANY_WORK
    try:
        changed = remember(path, key, branch, run.request.now, old_key=old_key, work=work, branch_ttl_days=days)
    except EvidenceError as error:
        return (f"not remembered: {error}",)
    return changed.warnings


def with_evidence_of(decision: Decision, state: Path, root: Path | None = None) -> Decision:
    """The decision with the evidence that a state holds for this repository; its own if that is none of ours."""
    held = evidence_of(read_state(state), root, canonical_root(state.resolve().parent)) if state.exists() else None
    if not isinstance(held, dict):
        return decision
    try:
        # By the wire, so that what could not be written out again is none of ours.
        ranking = msgspec.json.decode(msgspec.json.encode(dict.fromkeys(NULLABLE) | held), type=Ranking)
    except (msgspec.DecodeError, UnicodeEncodeError, OverflowError, RecursionError):
        return decision
    return replace(decision, base_branch_evidence=ranking)


def _after(run: Run, answer: Answer) -> Run:
    """The run as one answer lets it go on."""
    asking = replace(run.policy.asking, page=answer.page or 1)
    run = replace(run, policy=replace(run.policy, asking=asking))
    match answer.kind, answer.name:
        case "branch", str(name):
            return answered_with(run, name)
        case "remote", str(name):
            return replace(run, request=replace(run.request, remote=name, remote_reason="a person chose it"))
        case "fetch-failed", ("cached" | "local" | "abort") as how:
            return replace(run, policy=replace(run.policy, on_fetch_failure=how))
        case _:
            return run


def _given_up(decision: Decision) -> Decision:
    return replace(decision, base_fetch_status="aborted", log=(*decision.log, "cancelled: no answer was given"))
