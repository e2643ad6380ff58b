"""The gate before the work begins: what a run's state file has to say, and every reason why it does not.

Pure but for `check_file`, which reads the file. `state_schema` says the same as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from candidates.contract import published
from candidates.exit_codes import ExitCode
from candidates.state_file import (
    BRANCH,
    EVIDENCE,
    NULLABLE,
    PERSONS_SOURCES,
    SOURCE,
    SOURCES,
    STALE_STATUSES,
    STATUS,
    STATUSES,
    base_faults,
    is_interactive,
    read_state,
)
from collectors.errors import InvalidInput
from collectors.stores.store_file import JsonObject
from ranking.facts import Ranking, Record
from ranking.names import shown

COMPONENT = "component"

DESIGN_REFERENCES = tuple(
    """
    designReference designReferences designRef designUrl designUrls designLink design
    figmaUrl figmaUrls figmaLink figmaReference figmaRef figma
    """.split()
)
"""The spellings under which a state may name the design that the work follows; any of them counts."""

ACCESS_TIERS = tuple("accessTier designAccessTier designTier figmaAccessTier figmaTier".split())
"""The spellings of how far that design could be read; they count inside the reference's own object too."""

TIERS_INSIDE = (*ACCESS_TIERS, "tier")
"""Inside the reference's object the bare word says enough."""

# As far as a pattern can say what `ranking.names.fault_of` says.
_USABLE_NAME = (
    r"^(?!-)(?!HEAD$)(?!@$)(?![./])(?!.*(?:\.\.|@\{|//|/\.))(?!.*\.lock(?:/|$))(?!.*[./]$)"
    r"[^\u0000-\u0020\u007f~^:?*\[\\]+$"
)

_LOOKED_AT = frozenset(
    {"taskType", BRANCH, STATUS, SOURCE, EVIDENCE, "siblings", "workspaceSource", *DESIGN_REFERENCES, *ACCESS_TIERS}
)


class GateReport(Record, frozen=True, kw_only=True):
    """Whether a state file may pass, and every reason why not."""

    schema: Literal["base-branch/gate@1"] = "base-branch/gate@1"
    file: str
    passed: bool
    reasons: tuple[str, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of docs/contract.md: 0 or 7."""
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
        *_doubled(state),
        *_task_faults(state),
        *_design_faults(state),
        *(f"{key} is missing" for key in (BRANCH, STATUS, SOURCE) if state.get(key) is None),
        *base_faults(state, interactive=is_interactive(state, autopilot=autopilot)),
        *_sibling_faults(state),
    )


def _doubled(state: Mapping[str, object]) -> list[str]:
    """Keys that stand twice in the text: which of the two counts depends on who reads."""
    twice = state.twice if isinstance(state, JsonObject) else frozenset()
    return [f"{key} stands there twice" for key in sorted(twice & _LOOKED_AT)]


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


# --- the schema ---


def state_schema(*, autopilot: bool = False) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `gate` asks of a state, with or without `--autopilot`.

    It says less than the gate in one thing: which characters of a branch name do not show.
    """
    ranking = msgspec.json.schema(Ranking)["$defs"]
    required = [key for key in ranking["Ranking"]["required"] if key not in NULLABLE]
    ranking["Ranking"] = ranking["Ranking"] | {"required": required}
    rules = [_evidence_where(SOURCE, ["derived"], {"ambiguous": {"const": False}})]
    rules += [_evidence_where(STATUS, list(STALE_STATUSES), {}), _design_rule()]
    if not autopilot:
        unattended = {"required": ["workspaceSource"], "properties": {"workspaceSource": {"const": "autopilot"}}}
        rules.append({"if": {"not": unattended}, "then": {"properties": {SOURCE: {"enum": list(PERSONS_SOURCES)}}}})
    schema = {
        "type": "object",
        "required": ["taskType", BRANCH, STATUS, SOURCE, "siblings"],
        "properties": {
            "taskType": {"type": "string", "pattern": r"\S"},
            BRANCH: {"type": "string", "pattern": _USABLE_NAME},
            STATUS: {"enum": list(STATUSES)},
            SOURCE: {"enum": list(SOURCES)},
            EVIDENCE: {"anyOf": [{"$ref": "#/$defs/Ranking"}, {"type": "null"}]},
            "siblings": {"type": "array"},
        },
        "allOf": rules,
        "$defs": ranking,
    }
    return published(schema, "base-branch state: what the gate asks of a run's state file")


def _evidence_where(key: str, values: list[str], more: dict[str, Any]) -> dict[str, Any]:
    """Evidence has to stand where a key has one of these values."""
    return {
        "if": {"required": [key], "properties": {key: {"enum": values}}},
        "then": {"required": [EVIDENCE], "properties": {EVIDENCE: {"type": "object", "properties": more}}},
    }


def _design_rule() -> dict[str, Any]:
    """With a design reference: a component, and an access tier beside the reference or inside it."""
    tier = {"anyOf": [{"type": "string", "pattern": r"\S"}, {"type": "number"}]}
    something: dict[str, Any] = {"not": {"enum": [None, False, "", [], {}]}}
    inside = {"type": "object", "anyOf": [_has(key, tier) for key in TIERS_INSIDE]}
    beside = [_has(key, tier) for key in ACCESS_TIERS]
    return {
        "if": {"anyOf": [_has(key, something) for key in DESIGN_REFERENCES]},
        "then": {
            "properties": {"taskType": {"const": COMPONENT}},
            "anyOf": beside + [_has(key, inside) for key in DESIGN_REFERENCES],
        },
    }


def _has(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: schema}}
