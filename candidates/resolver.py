"""Pure: remembered -> derived -> default for a run that cannot ask, and the trail of what fired and what did not."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal

from msgspec import Struct

from candidates.contract import BaseBranchSource, FetchStatus, TrailEntry
from candidates.evidence import tied_names
from ranking.claims import DECISIVE
from ranking.facts import Branch, Candidate, Facts, Ranking, RecentChoice, Rule, Settings
from ranking.names import local_head, printable, remote_tracking
from ranking.ranker import View, read_view
from ranking.recent import is_expired
from ranking.targets import read_targets

Serving = Literal["any", "cached", "local"]

_NAMED = 5
# Two machines that share a memory may differ by so much.
_CLOCKS_APART = timedelta(days=1)


RuleState = Literal["fired", "passed", "not-needed"]
"""`not-needed`: the rule gives a branch as well, and an earlier one fired."""


class RuleOutcome(Struct, frozen=True, kw_only=True):
    """What became of one rule, and why."""

    rule: Rule
    state: RuleState
    reason: str


class Resolution(Struct, frozen=True, kw_only=True):
    """The branch and the rule that gave it; both None where no rule gives one, and a person must choose."""

    branch: str | None
    source: BaseBranchSource | None
    outcomes: tuple[RuleOutcome, ...]

    @property
    def reason(self) -> str:
        """Why the rule that fired gives its branch; empty if none fired."""
        return next((outcome.reason for outcome in self.outcomes if outcome.state == "fired"), "")

    @property
    def trail(self) -> tuple[TrailEntry, ...]:
        """The outcomes in words, as a decision holds them."""
        fired = next((outcome.rule for outcome in self.outcomes if outcome.state == "fired"), None)
        return tuple(
            TrailEntry(
                rule=outcome.rule,
                fired=outcome.state == "fired",
                reason=printable(
                    f"not needed, {fired} came first: {outcome.reason}"
                    if outcome.state == "not-needed"
                    else outcome.reason
                ),
            )
            for outcome in self.outcomes
        )


class Base(Struct, frozen=True, kw_only=True):
    """What a branch stands for in this clone: the ref that serves, its commit, and how fresh that is."""

    ref: str
    commit: str
    status: FetchStatus


class _Finding(Struct, frozen=True):
    """What one rule found: a branch (None: it passes), and why."""

    branch: str | None
    reason: str


def resolve(
    facts: Facts,
    ranking: Ranking,
    memory_fault: str | None = None,
    *,
    evidence_off: bool = False,
    for_other_work: Sequence[str] = (),
    view: View | None = None,
) -> Resolution:
    """Apply the rules in the configured order; the first that gives a branch wins.

    `memory_fault`: why the remembered choices could not be read; what is not known is then not said to be nothing.
    `evidence_off`: the user's preferences switch the issue off; it is then not said that none was given.
    `for_other_work`: stored choices that do not apply to this work.
    `view`: what `read_view` makes of these facts, where that is at hand.
    """
    view = view or read_view(facts)
    found: dict[Rule, _Finding] = {
        "remembered": _remembered(facts, ranking, view, memory_fault, for_other_work),
        "derived": _derived(facts, ranking),
        "default": _default(facts, view),
    }
    if evidence_off:
        found["derived"] = _Finding(None, "the preferences say global.baseBranchEvidence off: the issue was not read")
    order = tuple(dict.fromkeys(facts.settings.resolve_order))
    remembered, derived = found["remembered"], found["derived"]
    # Where the issue's versions tie, nothing is derived; what is named for them outdates another memory all the same.
    against = [derived.branch] if derived.branch else exact_branches(facts, ranking, view)
    conflict = remembered.branch and against and remembered.branch not in against
    if conflict and {"remembered", "derived"} <= set(order):
        said = f"the issue's evidence says {', '.join(against[:_NAMED])}, the memory {remembered.branch}"
        found |= _settled(facts.settings, order, remembered, derived, said)
    winner = next((rule for rule in order if found[rule].branch), None)
    return Resolution(
        branch=found[winner].branch if winner is not None else None,
        source=winner,
        outcomes=tuple(_outcome(rule, found[rule], winner) for rule in order),
    )


def _settled(
    settings: Settings, order: tuple[Rule, ...], remembered: _Finding, derived: _Finding, conflict: str
) -> dict[Rule, _Finding]:
    """What the rules find once `onConflict` has settled a conflict between the memory and the issue's evidence."""
    against = f"{remembered.reason}; {conflict}"
    match settings.on_conflict:
        case "derived":
            return {"remembered": _Finding(None, f"{against}; onConflict: derived")}
        case "ask":
            return {
                "remembered": _Finding(None, f"{against}; onConflict: ask"),
                "derived": _Finding(None, f"{conflict}; onConflict: ask" if derived.branch else derived.reason),
                "default": _Finding(None, "not looked at: a conflict is for a person to settle (onConflict: ask)"),
            }
        case _ if order.index("remembered") < order.index("derived"):
            return {"remembered": _Finding(remembered.branch, f"{against}; onConflict: remembered")}
        case _:  # the configured order has settled it
            return {"remembered": _Finding(remembered.branch, against)}


def _outcome(rule: Rule, found: _Finding, winner: Rule | None) -> RuleOutcome:
    state: RuleState = "fired" if rule == winner else "not-needed" if found.branch else "passed"
    return RuleOutcome(rule=rule, state=state, reason=found.reason)


def base_of(branch: Branch, facts: Facts, serving: Serving = "any") -> Base | None:
    """The ref of this clone that serves for a branch, or None where nothing here holds it.

    `serving`: which kinds of ref may serve; the remote-tracking ref goes before the local branch.
    """
    remote = facts.repository.remote
    if remote is not None and branch.cached_tip is not None and serving != "local":
        fresh = facts.refs.provenance == "remote" and branch.tip == branch.cached_tip
        status: FetchStatus = "fresh" if fresh else "cached-stale"
        return Base(ref=remote_tracking(remote, branch.name), commit=branch.cached_tip, status=status)
    if branch.local_tip is not None and serving != "cached":
        return Base(ref=local_head(branch.name), commit=branch.local_tip, status="local-branch")
    return None


def derived_branch(facts: Facts, ranking: Ranking) -> str | None:
    """What the issue's evidence gives by itself, whatever is remembered; None where nothing, or more than one."""
    asked = "derived" in facts.settings.resolve_order
    return _derived(facts, ranking).branch if asked else None


def exact_branches(facts: Facts, ranking: Ranking, view: View) -> list[str]:
    """The branches that the issue's own versions go to and that are named for exactly these."""
    wanted = {target.reading.version for target in read_targets(facts.issue, facts.repository.name).own}
    lines = view.repo.conventions.lines
    return [
        c.branch
        for c in ranking.candidates
        if any(e.kind == "issue-version" for e in c.evidence)
        and c.branch in lines
        and lines[c.branch].reading.version in wanted
    ]


def _remembered(
    facts: Facts, ranking: Ranking, view: View, memory_fault: str | None, for_other_work: Sequence[str]
) -> _Finding:
    """The newest choice that is inside its time to live and listed; of the newer ones, why they are passed over."""
    if not facts.recent and memory_fault is not None:
        return _Finding(None, f"what is remembered is not known: {memory_fault}")
    if not facts.recent and for_other_work:
        return _Finding(None, f"nothing is remembered for this work: {'; '.join(for_other_work[:_NAMED])}")
    if not facts.recent:
        return _Finding(None, "nothing is remembered for this project")
    passed = []
    for choice in sorted(facts.recent, key=lambda r: (r.last_used, r.count, r.branch), reverse=True):
        said = f"{choice.branch}, chosen on {choice.last_used:%Y-%m-%d}"
        if choice.last_used - facts.now > _CLOCKS_APART:
            said += " (yet to come: some clock was wrong, and no later choice goes before it)"
        if (why := _passed_over(choice, facts, view)) is not None:
            passed.append(f"{said}: {why}")
            continue
        exact = exact_branches(facts, ranking, view)
        if exact and choice.branch not in exact:
            said += f"; outdated: {', '.join(exact[:_NAMED])} is named for the issue's own version"
        return _Finding(choice.branch, "; ".join([said, *passed[:_NAMED]]))
    return _Finding(None, "; ".join(passed[:_NAMED]))


def _passed_over(choice: RecentChoice, facts: Facts, view: View) -> str | None:
    """Why a stored choice does not count in this run, None if it does."""
    if is_expired(choice, facts.now, facts.settings.branch_ttl_days):
        return f"older than {facts.settings.branch_ttl_days} days"
    if choice.branch in view.listed.branches:
        return None
    where = "the remote's answer" if facts.refs.provenance == "remote" else "the cache and the local heads"
    return f"not in {where}; kept in the memory, passed over in this run"


def _derived(facts: Facts, ranking: Ranking) -> _Finding:
    if facts.issue is None:
        return _Finding(None, "no issue was given")
    if not ranking.candidates:
        return _Finding(None, "there is no candidate")
    top = ranking.candidates[0]
    if ranking.ambiguous:
        return _Finding(None, f"ambiguous: {', '.join(tied_names(ranking)[:_NAMED])} tie with {top.score} points")
    reason = decisive_reason(top)
    if reason is None:
        return _Finding(None, f"{top.branch} is first, but neither the issue's version nor a linked release says so")
    return _Finding(top.branch, reason)


def _default(facts: Facts, view: View) -> _Finding:
    if not view.order:
        ordered = facts.settings.default_order is not None
        return _Finding(None, "no branch answers to defaultOrder" if ordered else "no branch could be a default")
    first = view.order[0]
    if facts.settings.default_order is not None:
        return _Finding(first, "first of the configured defaultOrder")
    if first == view.listed.development:
        said = "the server's default branch" if first == view.listed.default else "the development branch"
        return _Finding(first, said if view.listed.default else f"{said}; the server's default is not known")
    return _Finding(first, "first of the default order; the server's default is not known")


def decisive_reason(candidate: Candidate) -> str | None:
    """The text of the strongest evidence that may be acted on, None where there is none."""
    decisive = [e.detail for e in candidate.evidence if e.kind in DECISIVE]
    return decisive[0] if decisive else None
