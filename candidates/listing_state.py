"""Tell how far a list of branches can be trusted: whether the remote gave it, and whether it is complete. Pure."""

from __future__ import annotations

from typing import Literal

from ranking.facts import Facts

ListingState = Literal["answered", "no-remote", "not-asked", "silent", "incomplete"]


def listing_state(facts: Facts) -> ListingState:
    """Return what the remote said of its branches; `silent` if it was asked and did not answer."""
    refs = facts.refs
    if facts.repository.remote is None:
        return "no-remote"
    if refs.failure is not None:
        return "silent"
    if refs.provenance == "local":
        return "not-asked"
    return "answered" if refs.complete else "incomplete"


def proves_absence(facts: Facts) -> bool:
    """Whether a branch that is not listed does not exist."""
    return facts.refs.complete or facts.repository.remote is None


def silence(facts: Facts) -> str | None:
    """Say that the remote did not answer, and why; None if it did, or was not asked."""
    remote, failure = facts.repository.remote, facts.refs.failure
    return f"{remote} did not answer ({failure.kind}: {failure.detail})" if remote and failure else None


def doubt(facts: Facts) -> str:
    """Say why a branch that is not listed may exist all the same."""
    remote, failure = facts.repository.remote, facts.refs.failure
    if failure is not None:
        return f"{remote} did not answer ({failure.kind})"
    return f"{remote} was not asked" if listing_state(facts) == "not-asked" else f"the list of {remote} is incomplete"
