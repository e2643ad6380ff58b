"""The decisions of one run as a state file keeps them: written there, or handed on as a merge patch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from candidates.contract import AnyDecision, Decisions, decisions_of
from candidates.run.issue_comment import answered_changes, asked_changes, asked_patch, waits
from candidates.state_file import (
    Refused,
    State,
    canonical_root,
    decided_changes,
    is_main,
    person_base,
    read_state,
    state_patch,
    write_state,
)


def record(
    answer: AnyDecision, roots: Sequence[Path], file: Path, now: datetime, *, siblings: bool = False
) -> Refused | None:
    """Write a settled answer into the state file; why that was refused, None where it was not.

    `roots`: the repositories' folders, one a decision. `siblings`: they were looked for, and are recorded, also an
    empty list and also while a question stands: the list says that somebody looked.
    """
    canonical = canonical_root(file.resolve().parent)

    def changes(document: Mapping[str, object]) -> State:
        listed = _listed(answer) if siblings else {}
        if waits(answer):
            return asked_changes(answer, document) | listed
        decided = decided_changes(document, decisions_of(answer), roots, canonical=canonical)
        return (decided | answered_changes(document) if decided else {}) | listed

    try:
        write_state(file, changes, now=now)
    except Refused as error:
        return error
    return None


def with_patch(
    answer: AnyDecision, roots: Sequence[Path], file: Path | None, *, siblings: bool = False
) -> tuple[AnyDecision, Refused | None]:
    """The answer with the merge patch of a state (none is there: of an empty one); or why there is none."""
    canonical = canonical_root(file.resolve().parent if file is not None else Path.cwd())
    state = read_state(file) if file is not None and os.path.lexists(file) else {}
    listed = _listed(answer) if siblings else {}
    if waits(answer):
        return replace(answer, state_patch=asked_patch(answer, state) | listed), None
    try:
        decided = state_patch(state, decisions_of(answer), roots, canonical=canonical)
        patch = (answered_changes(state) | decided if decided else {}) | listed
    except Refused as error:
        return answer, error
    return replace(answer, state_patch=patch), None


def _listed(answer: AnyDecision) -> State:
    siblings = answer.siblings if isinstance(answer, Decisions) else ()
    return {"siblings": msgspec.to_builtins(siblings)}


def kept_bases(file: Path, roots: Sequence[Path]) -> tuple[tuple[str, str] | None, ...]:
    """For each repository the base that a person chose before, as the state holds it, with its source."""
    if not file.is_file():  # what is none, is refused when it is to be written
        return (None,) * len(roots)
    canonical = canonical_root(file.resolve().parent)
    state = read_state(file)
    main, *others = roots
    first = person_base(state, None, canonical) if is_main(state, main, canonical) else None
    listed = [person_base(state, root, canonical) for root in (main, *others)]
    return (listed[0] or first, *listed[1:])
