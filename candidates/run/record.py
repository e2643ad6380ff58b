"""The decisions of one run as a state file keeps them: written there, or handed on as a merge patch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from candidates.contract import AnyDecision, decisions_of
from candidates.run.issue_comment import answered_changes, asked_changes, asked_patch, waits
from candidates.state_file import (
    Refused,
    State,
    canonical_root,
    decided_changes,
    read_state,
    state_patch,
    write_state,
)


def record(answer: AnyDecision, roots: Sequence[Path], file: Path, now: datetime) -> Refused | None:
    """Write a settled answer into the state file; why that was refused, None where it was not.

    `roots`: the repositories' folders, one a decision.
    """
    canonical = canonical_root(file.resolve().parent)

    def changes(document: Mapping[str, object]) -> State:
        if waits(answer):
            return asked_changes(answer)
        return decided_changes(document, decisions_of(answer), roots, canonical=canonical) | answered_changes(document)

    try:
        write_state(file, changes, now=now)
    except Refused as fault:
        return fault
    return None


def with_patch(answer: AnyDecision, roots: Sequence[Path], file: Path | None) -> tuple[AnyDecision, Refused | None]:
    """The answer with the merge patch of a state (none is there: of an empty one); or why there is none."""
    canonical = canonical_root(file.resolve().parent if file is not None else Path.cwd())
    state = read_state(file) if file is not None and os.path.lexists(file) else {}
    if waits(answer):
        return replace(answer, state_patch=asked_patch(answer)), None
    try:
        patch = answered_changes(state) | state_patch(state, decisions_of(answer), roots, canonical=canonical)
    except Refused as fault:
        return answer, fault
    return replace(answer, state_patch=patch), None
