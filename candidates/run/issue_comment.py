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

from candidates.contract import UNNAMED, AnyDecision, CircuitBreaker, Decision, WouldPost, decisions_of, log_line
from candidates.evidence import tied
from candidates.exit_codes import ExitCode
from candidates.run.collect import Collected
from candidates.state_file import BRANCH, BREAKER, EVIDENCE, SOURCE, STATUS, with_question_of
from collectors.errors import SourceError
from ranking.facts import AskedOnIssue, Candidate, Facts, Ranking
from ranking.names import printable

TRIGGER: Final = 6
"""The circuit breaker's number for a question that only a person can answer."""

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
    """The comment that would ask, if several branches tie at the top for an issue that has a key."""
    issue = facts.issue
    if issue is None or issue.key == UNNAMED or issue.read not in ("answered", "partial") or not ranking.ambiguous:
        return None
    alike = tied(ranking)
    marker = marker_of(facts.repository.name)
    lines = [
        f"Which branch does the work on {printable(issue.key)} in {printable(facts.repository.name)} belong on?",
        f"{len(alike)} branches fit alike, so nothing was decided:",
        "",
        *(line for number, one in enumerate(alike[:_MOST_CANDIDATES], 1) for line in _candidate(number, one)),
    ]
    if len(alike) > _MOST_CANDIDATES:
        lines.append(f"and {len(alike) - _MOST_CANDIDATES} more")
    lines += ["", "Let the issue name one version, or hand the branch in: base-branch resolve --base BRANCH"]
    text = "\n".join(line.replace(marker, "[...]") for line in lines)
    if issue.source == "github" or "#" in issue.key:
        text = _fenced(text)
        marker = f"<!-- {marker} -->"
    return WouldPost(target=issue.key, body=f"{text}\n\n{marker}")


def ask_on_issue(collected: Collected, decision: Decision) -> tuple[Decision, ExitCode]:
    """Post what would be posted, unless it is there already; the decision that waits for the answer.

    The issue of a file is in no tracker of this run: the caller posts `wouldPost`. If the comment could not be
    posted, or nobody knows whether it was, the run stops as one whose source failed.
    """
    would = decision.would_post
    if would is None:
        return decision, ExitCode.ASK
    if collected.post is None:
        said = f"to be asked on {would.target}: post wouldPost there"
        breaker = CircuitBreaker(tripped=True, trigger=TRIGGER, detail=said)
        return replace(decision, circuit_breaker=breaker), ExitCode.ASK
    now = collected.facts.now
    try:
        url = collected.post(marker_of(collected.facts.repository.name), would.body)
    except SourceError as error:
        log = (*decision.log, log_line(now, str(error)))
        return replace(decision, base_fetch_status="aborted", log=log), ExitCode.SOURCE_FAILED
    said = f"asked on {would.target}: {printable(url)}"
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


def asked_changes(answer: AnyDecision, state: Mapping[str, Any]) -> dict[str, Any]:
    """What a state keeps of a run that waits for the answer: no base, the evidence, and why it stopped.

    What else the circuit breaker holds, its counters above all, stays.
    """
    decision = decisions_of(answer)[0]
    evidence, breaker = (
        None if record is None else msgspec.json.decode(msgspec.json.encode(record))
        for record in (decision.base_branch_evidence, decision.circuit_breaker)
    )
    held = state.get(BREAKER)
    breaker = (held if isinstance(held, dict) else {}) | (breaker or {})
    gone = {key: msgspec.UNSET for key in (BRANCH, SOURCE, STATUS) if key in state}
    return gone | {EVIDENCE: with_question_of(state, evidence or {}), BREAKER: breaker}


def asked_patch(answer: AnyDecision, state: Mapping[str, Any]) -> dict[str, Any]:
    """The same as a merge patch: what an earlier record held is taken away by name."""
    evidence = dict.fromkeys(Ranking.__struct_encode_fields__) | asked_changes(answer, state)[EVIDENCE]
    breaker = asked_changes(answer, {})[BREAKER]
    return {BRANCH: None, SOURCE: None, STATUS: None, EVIDENCE: evidence, BREAKER: breaker}


def answered_changes(state: Mapping[str, Any]) -> dict[str, Any]:
    """What becomes of that breaker once there is a base; one that something else tripped is left alone."""
    return {BREAKER: {**state[BREAKER], "tripped": False}} if is_waiting(state) else {}


def is_waiting(state: Mapping[str, object]) -> bool:
    """Whether the state's run waits for the answer to the question about its base."""
    breaker = state.get(BREAKER)
    return isinstance(breaker, dict) and breaker.get("tripped") is True and breaker.get("trigger") == TRIGGER


def _candidate(number: int, candidate: Candidate) -> list[str]:
    reasons = [f"   {_short(f'{e.kind}: {e.detail}')}" for e in candidate.evidence[:_MOST_REASONS]]
    return [f"{number}. {_short(candidate.branch)} ({candidate.score} points)", *reasons]


def _short(text: str) -> str:
    text = printable(text)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def _fenced(text: str) -> str:
    """The text as a block in which Markdown means nothing: its fence is longer than any that it holds."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
