"""The one comment: what it says, when a run asks on the issue instead of taking a default, and what is recorded.

Pure but for `ask_on_issue`, which posts by what it is given. Whatever is quoted was written by anyone: it is shown
as it is, and must not become markup, a mention or a second marker.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from candidates.contract import AnyDecision, CircuitBreaker, Decision, WouldPost, decisions_of, log_line
from candidates.evidence import tied
from candidates.exit_codes import ExitCode
from candidates.run.collect import Collected
from candidates.state_file import BRANCH, EVIDENCE, SOURCE, STATUS
from collectors.errors import SourceError
from ranking.facts import AskedOnIssue, Candidate, Facts, Ranking
from ranking.names import shown

TRIGGER: Final = 6
"""The circuit breaker's number for a question that only a person can answer."""

BREAKER: Final = "circuitBreaker"

_MOST_CANDIDATES: Final = 10
_MOST_REASONS: Final = 8
_LONGEST: Final = 200
_ASKED_ON_ISSUE: Final = "askedOnIssue"


def marker_of(repository: str) -> str:
    """What tells the question about one repository from every other comment; of two names no two are one.

    >>> marker_of("acme/app")
    '[base-branch question: acme/app]'
    """
    return f"[base-branch question: {quote(repository)}]"


def question_on(facts: Facts, ranking: Ranking) -> WouldPost | None:
    """The comment that would ask: where the issue was read from a tracker, and several branches tie at the top."""
    issue = facts.issue
    if issue is None or issue.source == "file" or issue.read not in ("answered", "partial") or not ranking.ambiguous:
        return None
    alike = tied(ranking)
    marker = marker_of(facts.repository.name)
    lines = [
        f"Which branch does the work on {shown(issue.key)} in {shown(facts.repository.name)} belong on?",
        f"{len(alike)} branches fit alike, so nothing was decided:",
        "",
        *(line for number, one in enumerate(alike[:_MOST_CANDIDATES], 1) for line in _candidate(number, one)),
    ]
    if len(alike) > _MOST_CANDIDATES:
        lines.append(f"and {len(alike) - _MOST_CANDIDATES} more")
    lines += ["", "Let the issue name one version, or hand the branch in: base-branch resolve --base BRANCH"]
    text = "\n".join(line.replace(marker, "[...]") for line in lines)
    if issue.source == "github":
        text = _fenced(text)
        marker = f"<!-- {marker} -->"
    return WouldPost(target=issue.key, body=f"{text}\n\n{marker}")


def ask_on_issue(collected: Collected, decision: Decision) -> tuple[Decision, ExitCode]:
    """Post what would be posted, unless it is there already; the decision that waits for the answer.

    Where it could not be posted, or nobody knows whether it was, the run stops as one whose source failed.
    """
    would = decision.would_post
    if would is None or collected.post is None:
        return decision, ExitCode.ASK
    now = collected.facts.now
    try:
        url = collected.post(marker_of(collected.facts.repository.name), would.body)
    except SourceError as fault:
        log = (*decision.log, log_line(now, str(fault)))
        return replace(decision, base_fetch_status="aborted", log=log), ExitCode.SOURCE_FAILED
    said = f"asked on {would.target}: {shown(url)}"
    ranking = replace(collected.ranking, asked_on_issue=AskedOnIssue(target=would.target, url=url, at=now))
    waiting = replace(
        decision,
        base_branch_evidence=ranking,
        circuit_breaker=CircuitBreaker(tripped=True, trigger=TRIGGER, detail=said),
        would_post=None,
        log=(*decision.log, log_line(now, said)),
    )
    return waiting, ExitCode.ASK


def waits(answer: AnyDecision) -> bool:
    """Whether the main repository's decision waits for an answer on the issue."""
    return decisions_of(answer)[0].circuit_breaker is not None


def asked_changes(answer: AnyDecision) -> dict[str, Any]:
    """What a state keeps of a run that waits for the answer: no base, the evidence, and why it stopped."""
    decision = decisions_of(answer)[0]
    evidence, breaker = (
        None if record is None else msgspec.json.decode(msgspec.json.encode(record))
        for record in (decision.base_branch_evidence, decision.circuit_breaker)
    )
    return {BRANCH: None, SOURCE: None, STATUS: None, EVIDENCE: evidence, BREAKER: breaker}


def asked_patch(answer: AnyDecision) -> dict[str, Any]:
    """The same as a merge patch: what an earlier record held is taken away by name."""
    changes = asked_changes(answer)
    return changes | {EVIDENCE: dict.fromkeys(Ranking.__struct_encode_fields__) | (changes[EVIDENCE] or {})}


def answered_changes(state: Mapping[str, object]) -> dict[str, Any]:
    """Reset the breaker once there is a base, if the evidence says that it waited for an answer on the issue."""
    breaker, evidence = state.get(BREAKER), state.get(EVIDENCE)
    waited = isinstance(evidence, dict) and evidence.get(_ASKED_ON_ISSUE) is not None
    if not waited or not isinstance(breaker, dict):
        return {}
    if breaker.get("tripped") is not True or breaker.get("trigger") != TRIGGER:
        return {}
    return {BREAKER: {**breaker, "tripped": False}}


def _candidate(number: int, candidate: Candidate) -> list[str]:
    reasons = [f"   {_short(f'{e.kind}: {e.detail}')}" for e in candidate.evidence[:_MOST_REASONS]]
    return [f"{number}. {_short(candidate.branch)} ({candidate.score} points)", *reasons]


def _short(text: str) -> str:
    text = shown(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _fenced(text: str) -> str:
    """The text as a block in which Markdown means nothing: its fence is longer than any that it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
