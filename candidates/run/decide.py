"""From what was collected to one decision and its exit code; pure but for what it is given."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from candidates.contract import BaseBranchSource, Decision, Question, Remote, WouldPost, log_line, moment
from candidates.exit_codes import ExitCode
from candidates.listing_state import doubt, listing_state, proves_absence, silence
from candidates.questions.questions import Asking, base_branch_question, fetch_failed_question, remote_question
from candidates.resolver import Base, Serving, base_of, derived_branch
from candidates.run.collect import Collected, RemoteUndecided
from candidates.run.issue_comment import question_on
from candidates.run.names import listed_name
from candidates.suggest import near_hint
from collectors.config.keys import Autonomy, OnFetchFailure
from collectors.errors import InvalidInput
from collectors.remote_url import redact
from ranking.facts import Facts
from ranking.names import printable

_SHOWN_CHARACTERS = 60


class Policy(Struct, frozen=True, kw_only=True):
    """How a run may decide. `on_fetch_failure` None: ask where a person is there, else cached, then local.

    `base`: the branch that came with the request; `replay`: the facts are recorded, so that nothing is fresh.
    `ask_on_issue`: None where nobody said it for this run, so that the user's preferences count.
    `unusable_versions`: what was given as a version with the request and names none.
    `hold_ties`: a tie is never taken to the default.
    `base_source`: who named `base`, the request or a person who was asked; `asking`: how questions are put.
    """

    autonomy: Autonomy
    on_fetch_failure: OnFetchFailure | None = None
    issue_optional: bool = False
    unusable_versions: tuple[str, ...] = ()
    ask_on_issue: bool | None = None
    base: str | None = None
    base_source: Literal["input", "asked"] = "input"
    replay: bool = False
    hold_ties: bool = False
    asking: Asking = field(default_factory=Asking)

    @property
    def unattended(self) -> bool:
        """Whether nobody can be asked."""
        return self.autonomy == "full"


def decide(collected: Collected, policy: Policy) -> tuple[Decision, ExitCode]:
    """The decision of an unattended run, or the question of one that may not decide.

    InvalidInput where the branch that came with the request is not on the remote.
    """
    decision = _undecided(collected, policy)
    if policy.issue_optional and (unusable := _unusable_version(policy)) is not None:
        decision = replace(decision, log=(*decision.log, log_line(collected.facts.now, unusable)))
    serving: Serving = "any"
    if listing_state(collected.facts) == "silent":
        match policy.on_fetch_failure or (None if policy.unattended else "ask"):
            case "abort":
                why = f"stopped by --on-fetch-failure abort: {silence(collected.facts)}"
                return _stopped(decision, collected, why), ExitCode.REMOTE_SILENT
            case "ask" | "retry" if not policy.unattended or policy.on_fetch_failure == "ask":
                return _asking(decision, fetch_failed_question(collected.facts, policy.asking)), ExitCode.ASK
            case "cached":
                serving = "cached"
            case "local":
                serving = "local"
            case _:  # the unattended default, also after a retry
                pass
    if (stop := _stop_by_issue(decision, collected, policy)) is not None:
        return stop
    if policy.base is not None:
        return _given(decision, collected, policy, policy.base, serving)
    branch, source = collected.resolution.branch, collected.resolution.source
    wants_to_ask = _wants_to_ask(collected, policy) and collected.facts.issue is not None
    held = (policy.hold_ties or wants_to_ask) and collected.ranking.ambiguous and source == "default"
    if not policy.unattended or branch is None or source is None or held:
        return _asking(decision, _which_branch(collected, policy, serving)), ExitCode.ASK
    return _settled(decision, collected, policy, branch, source, serving)


def _stop_by_issue(decision: Decision, collected: Collected, policy: Policy) -> tuple[Decision, ExitCode] | None:
    """The stop of an unattended run: its issue or version cannot be read, or the issue is to be asked on; else None."""
    unread = _unread_issue(collected.facts) or _unusable_version(policy)
    if unread is not None and policy.unattended and not policy.issue_optional:
        return _stopped(decision, collected, unread), ExitCode.SOURCE_FAILED
    if not asks_on_issue(collected, policy):
        return None
    if is_silent(collected):
        why = "several branches fit alike, and the remote did not answer: not asked on the issue about old branches"
        return _stopped(decision, collected, why), ExitCode.REMOTE_SILENT
    question = base_branch_question(collected.facts, collected.ranking, collected.resolution, policy.asking)
    return _asking(decision, question), ExitCode.ASK


def asks_on_issue(collected: Collected, policy: Policy) -> bool:
    """Whether the run asks on the issue instead of taking a default: only unattended, and only where the user says so.

    Never where the branch came with the request or is remembered: then nothing hangs on the tie.
    """
    return policy.unattended and _wants_to_ask(collected, policy) and _would_post(collected, policy) is not None


def _wants_to_ask(collected: Collected, policy: Policy) -> bool:
    """Whether the user wants a tie to be asked on the issue."""
    return collected.asks_on_issue if policy.ask_on_issue is None else policy.ask_on_issue


def is_silent(collected: Collected) -> bool:
    """Whether the remote was asked and did not answer."""
    return listing_state(collected.facts) == "silent"


def undecided_remote(error: RemoteUndecided, autonomy: Autonomy, asking: Asking | None = None) -> Decision:
    """The decision of a run that cannot know which remote to ask."""
    return Decision(
        repository=error.repository,
        autonomy=autonomy,
        remote=None,
        listing_complete=False,
        questions=(remote_question(error.repository, error.question.names, asking),),
    )


def _would_post(collected: Collected, policy: Policy) -> WouldPost | None:
    settled = policy.base is not None or policy.replay or collected.resolution.source in ("remembered", "derived")
    issue = collected.facts.issue
    # Read from a tracker, and it cannot be asked there: evidence is off, or the reading failed.
    mute = collected.post is None and (issue is None or issue.source != "file")
    return None if settled or mute else question_on(collected.facts, collected.ranking)


def _undecided(collected: Collected, policy: Policy) -> Decision:
    choice, facts = collected.choice, collected.facts
    return Decision(
        repository=facts.repository.name,
        autonomy=policy.autonomy,
        remote=Remote(name=choice.name, url=choice.url, reason=choice.reason) if choice else None,
        base_branch_evidence=collected.ranking,
        confidence=None if collected.confidence is None else round(collected.confidence, 4),
        listing_complete=facts.refs.complete,
        trail=collected.resolution.trail,
        sources=collected.sources,
        would_post=_would_post(collected, policy),
        log=tuple(log_line(collected.facts.now, line) for line in collected.log),
    )


def _given(
    decision: Decision, collected: Collected, policy: Policy, base: str, serving: Serving
) -> tuple[Decision, ExitCode]:
    """The branch that came with the request: checked against the listing, never replaced."""
    facts = collected.facts
    listed, remote = collected.view.listed.branches, facts.repository.remote
    if (branch := listed_name(base, remote, listed.__contains__)) in listed:
        return _settled(decision, collected, policy, branch, policy.base_source, serving)
    # What holds a credential is a URL, and no branch: of a name nothing is hidden.
    name = printable(redact(base))
    if proves_absence(facts):
        whose = f"{remote} of {facts.repository.name}" if remote else facts.repository.name
        message = f"{printable(whose)} has no branch {name}"
        raise InvalidInput(message, where="--base", hint=near_hint(base, listed))
    said = f"{name} is not known here, and {doubt(facts)}: whether it exists cannot be told"
    return _stopped(decision, collected, said), ExitCode.REMOTE_SILENT


def _settled(
    decision: Decision,
    collected: Collected,
    policy: Policy,
    branch: str,
    source: BaseBranchSource,
    serving: Serving,
) -> tuple[Decision, ExitCode]:
    """The base of a chosen branch, or the stop where no ref here holds it."""
    facts = collected.facts
    base = base_of(next(b for b in facts.refs.branches if b.name == branch), facts, serving)
    if base is None:
        kind = "" if serving == "any" else f" {serving}"
        why = "and nothing is fetched in a replay" if policy.replay else "and it could not be fetched"
        said = f"{branch} was chosen, but no{kind} ref of this clone holds it {why}"
        return _stopped(decision, collected, said), ExitCode.REMOTE_SILENT
    if policy.replay and base.status == "fresh":
        base = Base(ref=base.ref, commit=base.commit, status="cached-stale")
    log = decision.log
    if base.status != "fresh":
        log = (*log, log_line(collected.facts.now, _staleness(facts, branch, base, policy)))
    settled = replace(
        decision,
        base_branch=branch,
        base_ref=base.ref,
        base_commit=base.commit,
        base_branch_source=source,
        base_fetch_status=base.status,
        log=log,
    )
    return settled, ExitCode.ANSWERED


def _which_branch(collected: Collected, policy: Policy, serving: Serving) -> Question:
    if serving != "any":
        collected = _served(collected, serving)
    resolution = collected.resolution
    derived = derived_branch(collected.facts, collected.ranking)
    if derived and (policy.autonomy == "guided" or resolution.source == "remembered"):
        resolution = replace(resolution, branch=derived)  # first and marked, also before a memory
    return base_branch_question(collected.facts, collected.ranking, resolution, policy.asking)


def _served(collected: Collected, serving: Serving) -> Collected:
    """The same with the branches alone that a ref of this kind holds here: no other answer could be taken."""
    facts, ranking = collected.facts, collected.ranking
    branches = tuple(b for b in facts.refs.branches if base_of(b, facts, serving) is not None)
    names = {branch.name for branch in branches}
    candidates = tuple(c for c in ranking.candidates if c.branch in names)
    tied = [c for c in candidates if c.score == candidates[0].score]
    taken = collected.resolution.branch
    return replace(
        collected,
        facts=replace(facts, refs=replace(facts.refs, branches=branches)),
        ranking=replace(ranking, candidates=candidates, ambiguous=len(tied) > 1),
        resolution=replace(collected.resolution, branch=taken if taken in names else None),
    )


def _asking(decision: Decision, question: Question) -> Decision:
    return replace(decision, questions=(question,))


def _stopped(decision: Decision, collected: Collected, why: str) -> Decision:
    return replace(decision, base_fetch_status="aborted", log=(*decision.log, log_line(collected.facts.now, why)))


def _unread_issue(facts: Facts) -> str | None:
    issue = facts.issue
    if issue is None or issue.read in ("answered", "partial"):
        return None
    detail = f": {issue.failure.detail}" if issue.failure else ""
    return f"issue {issue.key} could not be read ({issue.read}){detail}; --issue-optional goes on without it"


def _unusable_version(policy: Policy) -> str | None:
    if not policy.unusable_versions:
        return None
    given = ", ".join(f"'{printable(name[:_SHOWN_CHARACTERS])}'" for name in policy.unusable_versions)
    return f"--issue-version {given} is not one version to look for; --issue-optional goes on without it"


def _staleness(facts: Facts, branch: str, base: Base, policy: Policy) -> str:
    if policy.replay:
        why = f"replayed from facts of {moment(facts.now)}"
    else:
        match listing_state(facts):
            case "no-remote":
                why = "this repository has no remote"
            case "silent":
                why = silence(facts) or ""
            case "not-asked":
                why = f"{facts.repository.remote} was not asked"
            case "answered" | "incomplete":
                why = "the advertised commit was not brought here"
    return f"{branch}: {base.status}: {base.ref} serves at {base.commit}; {why}"
