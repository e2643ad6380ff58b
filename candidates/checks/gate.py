"""The gate before the work begins: what a run's state file has to say, and every reason why it does not.

Pure but for `check_file`, which reads the file. `state_schema` says the same as a JSON Schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from candidates.contract import published
from candidates.exit_codes import ExitCode
from candidates.state_file import (
    BRANCH,
    EVIDENCE,
    PERSONS_SOURCES,
    PROJECTS,
    SOURCE,
    SOURCES,
    STALE_STATUSES,
    STATUS,
    STATUSES,
    AnyEvidence,
    base_faults,
    is_interactive,
    mirror_faults,
    read_state,
    story_faults,
)
from collectors.errors import InvalidInput
from collectors.stores.store_file import JsonObject
from ranking.facts import Record
from ranking.names import printable

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

ACCESS = ("figmaAccess", "designAccess")
"""The objects in which a state may keep that tier, as `tier`."""

Rules = Literal["seed", "strict"]
"""Which evidence is accepted: any that the pipeline's own schema accepts, or this program's records alone."""

WORKSPACE_SOURCES = ("asked", "command", "autopilot")

TIERS_INSIDE = (*ACCESS_TIERS, "tier")
"""Inside the reference's object the bare word says enough."""

# As far as a pattern can say what `ranking.names.fault_of` says.
_USABLE_NAME = (
    r"^(?!-)(?!HEAD$)(?!@$)(?![./])(?!.*(?:\.\.|@\{|//|/\.))(?!.*\.lock(?:/|$))(?!.*[./]$)"
    r"[^\u0000-\u0020\u007f~^:?*\[\\]+$"
)

_LOOKED_AT = frozenset(
    {
        "taskType",
        BRANCH,
        STATUS,
        SOURCE,
        EVIDENCE,
        "siblings",
        "workspaceSource",
        *DESIGN_REFERENCES,
        *ACCESS_TIERS,
        *ACCESS,
        PROJECTS,
    }
)


def rules_named(name: str) -> Rules:
    """The rules of this name. Raises InvalidInput for an unknown one."""
    for rules in get_args(Rules):
        if name == rules:
            return rules  # type: ignore[no-any-return]
    raise InvalidInput(f"unknown rules {printable(name)!r}", where="--rules", hint="--rules seed|strict")


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


def check_file(path: Path, *, autopilot: bool = False, rules: Rules = "seed") -> GateReport:
    """Whether this file may pass. One that is not there, or is no state, may not: that is the reason then."""
    try:
        reasons = gate(read_state(path), autopilot=autopilot, rules=rules)
    except InvalidInput as error:
        reasons = (str(error),)
    return GateReport(file=str(path), passed=not reasons, reasons=reasons)


def gate(state: Mapping[str, object], *, autopilot: bool = False, rules: Rules = "seed") -> tuple[str, ...]:
    """Every reason why a state may not pass; none: it may.

    `rules`: whose evidence is accepted. A state that contradicts itself is refused by both.

    >>> gate({"taskType": "bug", "siblings": [], "baseBranch": "main", "baseFetchStatus": "fresh"})
    ('baseBranchSource is missing',)
    """
    interactive, strict = is_interactive(state, autopilot=autopilot), rules == "strict"
    return (
        *_doubled(state),
        *_task_faults(state),
        *_design_faults(state),
        *(f"{key} is missing" for key in (BRANCH, STATUS, SOURCE) if state.get(key) is None),
        *base_faults(state, interactive=interactive, strict=strict),
        *story_faults(state),
        *_workspace_faults(state),
        *_project_faults(state, interactive=interactive, strict=strict),
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
    problems = []
    kind = state.get("taskType")
    if kind is not None and kind != COMPONENT:
        said = printable(kind) if isinstance(kind, str) else repr(kind)
        problems.append(f"{named[0]} is given, and taskType is {said!r}, not {COMPONENT}")
    inside = [value for key in DESIGN_REFERENCES if isinstance(value := state.get(key), dict)]
    access = [part.get("tier") for key in ACCESS if isinstance(part := state.get(key), dict)]
    tiers = (
        [state.get(key) for key in ACCESS_TIERS] + access + [part.get(key) for part in inside for key in TIERS_INSIDE]
    )
    if not any(map(_is_tier, tiers)):
        problems.append(f"{named[0]} is given, and no access tier is recorded ({ACCESS_TIERS[0]})")
    return problems


def _workspace_faults(state: Mapping[str, object]) -> list[str]:
    source = state.get("workspaceSource")
    if source is None or source in WORKSPACE_SOURCES:
        return []
    said = printable(source) if isinstance(source, str) else repr(source)
    return [f"workspaceSource must be {', '.join(WORKSPACE_SOURCES[:-1])} or {WORKSPACE_SOURCES[-1]} (got {said!r})"]


def _project_faults(state: Mapping[str, object], *, interactive: bool, strict: bool) -> list[str]:
    """What is wrong with the repositories of `projects[]`; the scalars are those of the first."""
    listed = state.get(PROJECTS)
    if listed is None:
        return []
    if not isinstance(listed, list):
        return [f"{PROJECTS} must be an array"]
    problems = list(mirror_faults(state))
    for at, entry in enumerate(listed):
        where = f"{PROJECTS}[{at}]"
        if not isinstance(entry, dict):
            problems.append(f"{where} must be an object")
            continue
        problems += [f"{where}.{key} is missing" for key in (BRANCH, STATUS) if entry.get(key) is None]
        if at == 0:  # the scalars hold its evidence, and its faults are theirs
            continue
        own = (*base_faults(entry, interactive=interactive, strict=strict), *story_faults(entry))
        problems += [f"{where}: {problem}" for problem in own]
    return problems


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

    It says less than the gate: which characters of a branch name do not show, and where keys contradict each other.
    """
    evidence = msgspec.json.schema(AnyEvidence)["$defs"]
    project = {"type": "object", "required": [BRANCH, STATUS], "properties": {STATUS: {"enum": list(STATUSES)}}}
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
            EVIDENCE: {"anyOf": [{"$ref": "#/$defs/AnyEvidence"}, {"type": "null"}]},
            "siblings": {"type": "array"},
            "workspaceSource": {"enum": [*WORKSPACE_SOURCES, None]},
            PROJECTS: {"anyOf": [{"type": "array", "items": project}, {"type": "null"}]},
        },
        "allOf": rules,
        "$defs": evidence,
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
    within = [_has(key, {"type": "object", **_has("tier", tier)}) for key in ACCESS]
    beside = [_has(key, tier) for key in ACCESS_TIERS]
    return {
        "if": {"anyOf": [_has(key, something) for key in DESIGN_REFERENCES]},
        "then": {
            "properties": {"taskType": {"const": COMPONENT}},
            "anyOf": [
                *beside,
                *(_has(key, inside) for key in DESIGN_REFERENCES),
                *within,
            ],
        },
    }


def _has(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: schema}}
