"""Read an evidence record: the points and the reason of one evidence, and the candidates that tie at the top. Pure."""

from __future__ import annotations

from ranking.facts import Candidate, Evidence, Ranking


def split_detail(evidence: Evidence) -> tuple[int, str]:
    """Split the wire's `+100: text` into the points and the reason.

    >>> split_detail(Evidence(kind="repo-default", detail="+40: the server's default branch"))
    (40, "the server's default branch")
    """
    points, _, reason = evidence.detail.partition(": ")
    return int(points), reason


def tied(ranking: Ranking) -> tuple[Candidate, ...]:
    """Return the candidates that share the highest score, in order; one alone if nothing ties with it."""
    return tuple(c for c in ranking.candidates if c.score == ranking.candidates[0].score)


def tied_names(ranking: Ranking) -> tuple[str, ...]:
    """Return the branches of an ambiguous ranking's tie; none if the ranking is not ambiguous."""
    return tuple(c.branch for c in tied(ranking)) if ranking.ambiguous else ()
