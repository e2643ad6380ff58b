"""Questions as data: what is asked, the options with their evidence, and which one is recommended."""

from __future__ import annotations

from collections.abc import Sequence

from candidates.contract import UNNAMED, Option, Question
from candidates.resolver import Resolution
from ranking.facts import Candidate, Facts, Ranking

# What every host that asks can show: two to four options.
_FEWEST_OPTIONS = 2
_MOST_OPTIONS = 4
ANOTHER = "Pick another branch"
STOP = "Stop"


def base_branch_question(facts: Facts, ranking: Ranking, resolution: Resolution) -> Question:
    """Ask which branch the work belongs on: first, and marked, what an unattended run would take, unless others tie."""
    recommended = None if ranking.ambiguous else resolution.branch
    ordered = sorted(ranking.candidates, key=lambda c: c.branch != recommended)[:_MOST_OPTIONS]
    options = [_option(c, recommended=c.branch == recommended) for c in ordered]
    # A question has two answers at least.
    if len(options) < _FEWEST_OPTIONS:
        options.append(Option(label=ANOTHER, description="type the name of another branch"))
    if len(options) < _FEWEST_OPTIONS:
        options.append(Option(label=STOP, description="nothing is listed that work could begin from"))
    issue = f" for {facts.issue.key}" if facts.issue and facts.issue.key != UNNAMED else ""
    return Question(
        id="base-branch",
        repository=facts.repository.name,
        kind="base-branch",
        question=f"Which branch does the work{issue} in {facts.repository.name} belong on?",
        header="Base branch",
        options=tuple(options),
        default=1 if recommended is not None and ordered and ordered[0].branch == recommended else None,
        allow_free_text=True,
    )


def remote_question(repository: str, names: Sequence[str]) -> Question:
    """Ask which of several remotes holds the lines."""
    options = tuple(Option(label=name, description=f"ask {name} for its branches") for name in names[:_MOST_OPTIONS])
    return Question(
        id="remote",
        repository=repository,
        kind="remote",
        question=f"Which remote of {repository} holds the release lines?",
        header="Remote",
        options=options,
        default=None,
        allow_free_text=True,
    )


def fetch_failed_question(facts: Facts) -> Question:
    """Ask what to do where the remote did not answer: again, what is here of it, what is only here, or stop."""
    failure, remote = facts.refs.failure, facts.repository.remote or "the remote"
    where = f" ({failure.host})" if failure and failure.host else ""
    why = f"{failure.kind}: {failure.detail}" if failure else "no answer"
    vpn = " The host's name was not resolved: a private network may want its VPN." if _wants_vpn(facts) else ""
    return Question(
        id="fetch-failed",
        repository=facts.repository.name,
        kind="fetch-failed",
        question=f"{remote}{where} did not answer: {why}.{vpn} How should the run go on?",
        header="No answer",
        options=(
            Option(label="Retry", description="ask the remote again (--on-fetch-failure retry)"),
            Option(
                label="Use the cached ref",
                description=f"cut from refs/remotes/{remote}/..., as of the last fetch (--on-fetch-failure cached)",
            ),
            Option(label="Use the local branch", description="cut from refs/heads/... (--on-fetch-failure local)"),
            Option(label="Abort", description="stop here, with no base (--on-fetch-failure abort)"),
        ),
        default=None,
        allow_free_text=False,
    )


def _wants_vpn(facts: Facts) -> bool:
    return facts.refs.failure is not None and facts.refs.failure.kind == "host-not-found"


def _option(candidate: Candidate, *, recommended: bool) -> Option:
    reason = candidate.evidence[0].detail.partition(": ")[2] if candidate.evidence else "no evidence"
    mark = "recommended: " if recommended else ""
    evidence = "\n".join(f"{e.kind}: {e.detail}" for e in candidate.evidence)
    return Option(
        label=candidate.branch,
        description=f"{mark}{reason} ({candidate.score} points)",
        preview=f"cut from {candidate.branch}\n{evidence}",
    )
