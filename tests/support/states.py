"""Decisions and rankings that a state file is given, and the merge patch as its RFC defines it."""

from __future__ import annotations

from typing import Any, Literal

from candidates.contract import BaseBranchSource, Decision, FetchStatus
from ranking.facts import Candidate, Convention, Evidence, Ranking
from tests.ranking.facts_builder import OID

RANKING = Ranking(
    ref_provenance="remote",
    chosen="release/8.4.0",
    ambiguous=False,
    convention=Convention(template="release/{major}.{minor}.{patch}", members=7),
    candidates=(
        Candidate(
            branch="release/8.4.0",
            score=100,
            refs=("refs/remotes/origin/release/8.4.0",),
            evidence=(Evidence(kind="issue-version", detail="+100: fixVersions 8.4.0 is this branch's version"),),
        ),
    ),
    notes=("one note",),
)
TIE = Ranking(ref_provenance="local", ambiguous=True, convention=None, candidates=(), notes=())


def decided(
    branch: str | None = "release/8.4.0",
    source: BaseBranchSource | None = "derived",
    status: FetchStatus | None = "fresh",
    evidence: Ranking | None = RANKING,
    *,
    autonomy: Literal["manual", "guided", "full"] = "full",
    repository: str = "acme/app",
) -> Decision:
    return Decision(
        repository=repository,
        autonomy=autonomy,
        remote=None,
        base_branch=branch,
        base_ref=None if branch is None else f"refs/remotes/origin/{branch}",
        base_commit=None if branch is None else OID,
        base_branch_source=source,
        base_fetch_status=status,
        base_branch_evidence=evidence,
        listing_complete=True,
    )


def apply_patch(target: Any, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """RFC 7386, section 2, word for word."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = apply_patch(result.get(key), value)
    return result
