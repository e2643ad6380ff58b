"""The gate before the work begins: what a run's state file has to say, and every reason why it does not.

Pure but for `check_file`, which reads the file. `agent_state.state_schema` says the same as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from candidates.agent_state import (
    ACCESS_TIERS,
    BRANCH,
    DESIGN_REFERENCES,
    SOURCE,
    STATUS,
    TIERS_INSIDE,
    base_faults,
    is_interactive,
    read_state,
)
from candidates.exit_codes import ExitCode
from collectors.errors import InvalidInput
from ranking.facts import Record
from ranking.names import shown

COMPONENT = "component"


class GateReport(Record, frozen=True, kw_only=True):
    """Whether a state file may pass, and every reason why not."""

    schema: Literal["base-branch/gate@1"] = "base-branch/gate@1"
    file: str
    passed: bool
    reasons: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """DESIGN.md's: 0 or 7."""
        return ExitCode.ANSWERED if self.passed else ExitCode.REFUSED


def check_file(path: Path, *, autopilot: bool = False) -> GateReport:
    """Whether this file may pass. One that is not there, or is no state, may not: that is the reason then."""
    try:
        reasons = gate(read_state(path), autopilot=autopilot)
    except InvalidInput as fault:
        reasons = (str(fault),)
    return GateReport(file=str(path), passed=not reasons, reasons=reasons)


def gate(state: Mapping[str, object], *, autopilot: bool = False) -> tuple[str, ...]:
    """Every reason why a state may not pass; none: it may.

    >>> gate({"taskType": "bug", "siblings": [], "baseBranch": "main", "baseFetchStatus": "fresh"})
    ('baseBranchSource is missing',)
    """
    return (
        *_task_faults(state),
        *_design_faults(state),
        *(f"{key} is missing" for key in (BRANCH, STATUS, SOURCE) if state.get(key) is None),
        *base_faults(state, interactive=is_interactive(state, autopilot=autopilot)),
        *_sibling_faults(state),
    )


def _task_faults(state: Mapping[str, object]) -> list[str]:
    match state.get("taskType"):
        case None:
            return ["taskType is missing"]
        case str(text) if text.strip():
            return []
        case str():
            return ["taskType is empty"]
        case _:
            return ["taskType is no text"]


def _design_faults(state: Mapping[str, object]) -> list[str]:
    """A design reference, under any of its spellings, wants a component and a recorded access tier."""
    named = [key for key in DESIGN_REFERENCES if _is_something(state.get(key))]
    if not named:
        return []
    faults = []
    kind = state.get("taskType")
    if kind is not None and kind != COMPONENT:
        said = shown(kind) if isinstance(kind, str) else repr(kind)
        faults.append(f"{named[0]} is given, and taskType is {said!r}, not {COMPONENT}")
    inside = [value for key in DESIGN_REFERENCES if isinstance(value := state.get(key), dict)]
    tiers = [state.get(key) for key in ACCESS_TIERS] + [part.get(key) for part in inside for key in TIERS_INSIDE]
    if not any(map(_is_tier, tiers)):
        faults.append(f"{named[0]} is given, and no access tier is recorded ({ACCESS_TIERS[0]})")
    return faults


def _sibling_faults(state: Mapping[str, object]) -> list[str]:
    siblings = state.get("siblings")
    if siblings is None:
        return ["siblings is missing"]
    return [] if isinstance(siblings, list) else ["siblings is no array"]


def _is_something(value: object) -> bool:
    """Whether a value stands for anything. Zero does: only what is empty, null or false does not."""
    return value is not None and value is not False and value not in ("", [], {})


def _is_tier(value: object) -> bool:
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int | float) and not isinstance(value, bool)
