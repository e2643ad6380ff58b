"""From what was collected to one decision and its exit code; pure but for what it is given."""

from __future__ import annotations

from datetime import datetime

from msgspec.structs import replace as altered

from candidates.collect import Collected, RemoteUndecided
from candidates.contract import Decision, Remote
from candidates.exit_codes import ExitCode
from candidates.pickers import base_branch_question, remote_question
from candidates.resolver import Base, base_of
from ranking.facts import Facts


def decide(collected: Collected, *, autopilot: bool, issue_optional: bool = False) -> tuple[Decision, ExitCode]:
    """The decision of an unattended run, or the question of one that may not decide."""
    decision = _undecided(collected, autopilot=autopilot)
    if not autopilot:
        return _asking(decision, collected), ExitCode.ASK
    unread = _unread_issue(collected.facts)
    if unread is not None and not issue_optional:
        stopped = altered(decision, base_fetch_status="aborted", log=(*decision.log, _dated(collected, unread)))
        return stopped, ExitCode.SOURCE_FAILED
    branch = collected.resolution.branch
    if branch is None:
        return _asking(decision, collected), ExitCode.ASK
    facts = collected.facts
    base = base_of(next(b for b in facts.refs.branches if b.name == branch), facts)
    if base is None:
        said = f"{branch} was chosen, but no ref of this clone holds it and it could not be fetched"
        stopped = altered(decision, base_fetch_status="aborted", log=(*decision.log, _dated(collected, said)))
        return stopped, ExitCode.REMOTE_SILENT
    log = (
        decision.log if base.status == "fresh" else (*decision.log, _dated(collected, _staleness(facts, branch, base)))
    )
    return (
        altered(
            decision,
            base_branch=branch,
            base_ref=base.ref,
            base_commit=base.commit,
            base_branch_source=collected.resolution.source,
            base_fetch_status=base.status,
            log=log,
        ),
        ExitCode.ANSWERED,
    )


def undecided_remote(fault: RemoteUndecided, *, autopilot: bool) -> Decision:
    """The decision of a run that cannot know which remote to ask."""
    return Decision(
        repository=fault.repository,
        autonomy="full" if autopilot else "manual",
        remote=None,
        listing_complete=False,
        questions=(remote_question(fault.repository, fault.question.names),),
    )


def _undecided(collected: Collected, *, autopilot: bool) -> Decision:
    choice, facts = collected.choice, collected.facts
    return Decision(
        repository=facts.repository.name,
        autonomy="full" if autopilot else "manual",
        remote=Remote(name=choice.name, url=choice.url, reason=choice.reason) if choice else None,
        base_branch_evidence=collected.ranking,
        listing_complete=facts.refs.complete,
        trail=collected.resolution.trail,
        sources=collected.sources,
        log=tuple(_dated(collected, line) for line in collected.log),
    )


def _asking(decision: Decision, collected: Collected) -> Decision:
    question = base_branch_question(collected.facts, collected.ranking, collected.resolution)
    return altered(decision, questions=(question,))


def _unread_issue(facts: Facts) -> str | None:
    issue = facts.issue
    if issue is None or issue.read in ("answered", "partial"):
        return None
    detail = f": {issue.failure.detail}" if issue.failure else ""
    return f"issue {issue.key} could not be read ({issue.read}){detail}; --issue-optional goes on without it"


def _staleness(facts: Facts, branch: str, base: Base) -> str:
    if facts.repository.remote is None:
        why = "this repository has no remote"
    elif facts.refs.provenance == "local":
        failure = facts.refs.failure
        why = f"{facts.repository.remote} did not answer" + (f" ({failure.kind}: {failure.detail})" if failure else "")
    else:
        why = "the advertised commit was not brought here"
    return f"{branch}: {base.status}: {base.ref} serves at {base.commit}; {why}"


def _dated(collected: Collected, line: str) -> str:
    moment: datetime = collected.facts.now
    return f"{moment:%Y-%m-%dT%H:%M:%SZ} {line}"
