"""What a run's state file says of the base: merged purely, and refused where the result would break the contract.

A document in, a document out; nothing here opens a file for writing. Every key that is not the base's keeps its
value and its place, whatever a reader made of its numbers.
"""

from __future__ import annotations

import os.path
import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, get_args

import msgspec

from candidates.contract import BaseBranchSource, Decision
from collectors.errors import EvidenceError, InvalidInput
from collectors.strict_json import decode_strict, join_path, place_of
from ranking.facts import Ranking
from ranking.names import fault_of, shown

State = dict[str, Any]

BRANCH = "baseBranch"
SOURCE = "baseBranchSource"
STATUS = "baseFetchStatus"
EVIDENCE = "baseBranchEvidence"
PROJECTS = "projects"
ROOT = "root"

SOURCES: tuple[str, ...] = get_args(BaseBranchSource)
PERSONS_SOURCES = ("asked", "input")
"""Those that an interactive run records; the rest are an unattended run's."""

STATUSES = ("fresh", "cached-stale", "local-branch")
"""`aborted` is never recorded: a run that stopped has no base."""

STALE_STATUSES = STATUSES[1:]

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

_NULLABLE = ("convention", "askedOnIssue")
"""What the ranking keeps as null; a merge patch can only take a null away, so a state may lack them."""

_SHOWN = 80

# As far as a pattern can say what `ranking.names.fault_of` says.
_USABLE_NAME = (
    r"^(?!-)(?!HEAD$)(?!@$)(?![./])(?!.*(?:\.\.|@\{|//|/\.))(?!.*\.lock(?:/|$))(?!.*[./]$)"
    r"[^\u0000-\u0020\u007f~^:?*\[\\]+$"
)


class Refused(EvidenceError):  # noqa: N818 - it says what happened
    """The contract of the state file would be broken; every reason stands in `reasons`."""

    def __init__(self, what: str, reasons: Sequence[str]) -> None:
        """`what`: what was refused, for the head of the message."""
        super().__init__(f"{what}: {'; '.join(reasons)}", code="refused")
        self.reasons = tuple(reasons)


# --- reading ---


def read_state(path: Path) -> State:
    """The state file's document; InvalidInput where it is not there, cannot be read or is no JSON object."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise InvalidInput(f"the state file {path} is no regular file")
        data = path.read_bytes()
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        raise InvalidInput(f"the state file {path} cannot be read: {why}") from fault
    except ValueError as fault:
        if isinstance(fault, InvalidInput):
            raise
        raise InvalidInput(f"the state file {str(path)!r} cannot be read: {fault}") from fault  # a NUL in the name
    return parse_state(data, f"the state file {path}")


def parse_state(data: bytes, what: str = "the state") -> State:
    """Decode a state; InvalidInput for anything but one JSON object.

    >>> parse_state(b'{"taskType": "bug"}')
    {'taskType': 'bug'}
    """
    return decode_strict(data, State, what)


# --- the contract ---


def is_interactive(state: Mapping[str, object], *, autopilot: bool) -> bool:
    """Whether a person stood behind the run: neither the caller nor the state says that none did."""
    return not autopilot and state.get("workspaceSource") != "autopilot"


def base_faults(state: Mapping[str, object], *, interactive: bool) -> tuple[str, ...]:
    """Every way in which what a state says of its base breaks the contract; what it does not say breaks nothing.

    >>> base_faults({"baseBranchSource": "derived"}, interactive=True)[0]
    'baseBranchSource is derived, which an interactive run never records: only asked or input'
    """
    return (
        *_branch_faults(state.get(BRANCH)),
        *_source_faults(state.get(SOURCE), interactive=interactive),
        *_status_faults(state.get(STATUS)),
        *_evidence_faults(state.get(EVIDENCE), state.get(SOURCE), state.get(STATUS)),
    )


def _branch_faults(branch: object) -> list[str]:
    if branch is None:
        return []
    if not isinstance(branch, str):
        return [f"{BRANCH} is no text"]
    fault = fault_of(branch)
    return [f"{BRANCH} {_quoted(branch)} can be no base: {fault}"] if fault else []


def _source_faults(source: object, *, interactive: bool) -> list[str]:
    if source is None:
        return []
    if source not in SOURCES:
        return [f"{SOURCE} {_quoted(source)} is none of {', '.join(SOURCES)}"]
    if interactive and source not in PERSONS_SOURCES:
        return [f"{SOURCE} is {source}, which an interactive run never records: only {' or '.join(PERSONS_SOURCES)}"]
    return []


def _status_faults(status: object) -> list[str]:
    if status is None or status in STATUSES:
        return []
    if status == "aborted":
        return [f"{STATUS} is aborted: a run that stopped has no base to record"]
    return [f"{STATUS} {_quoted(status)} is none of {', '.join(STATUSES)}"]


def _evidence_faults(evidence: object, source: object, status: object) -> list[str]:
    if evidence is None:
        faults = []
        if source == "derived":
            faults.append(f"{SOURCE} is derived, and there is no {EVIDENCE}")
        if status in STALE_STATUSES:
            faults.append(f"{STATUS} is {status}, and there is no {EVIDENCE}")
        return faults
    if not isinstance(evidence, dict):
        return [f"{EVIDENCE} is no object"]
    faults = _ranking_faults(evidence)
    if source == "derived" and evidence.get("ambiguous") is True:
        faults.append(f"{SOURCE} is derived, and {EVIDENCE} is ambiguous")
    return faults


def _ranking_faults(evidence: dict[str, object]) -> list[str]:
    """The keys that a ranking does not have, all of them, and the first other fault of the record."""
    own = Ranking.__struct_encode_fields__
    strange = sorted(evidence.keys() - set(own))
    faults = [f"{join_path(EVIDENCE, key)}: the ranking record has no such key" for key in strange]
    known = {key: value for key, value in evidence.items() if key in own}
    try:
        msgspec.convert(dict.fromkeys(_NULLABLE) | known, Ranking)
    except msgspec.ValidationError as fault:
        message, where = place_of(str(fault))
        faults.append(f"{EVIDENCE}.{where}: {message}" if where else f"{EVIDENCE}: {message}")
    return faults


def _quoted(value: object) -> str:
    text = shown(value if isinstance(value, str) else repr(value))
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


# --- merging ---

Canonical = Callable[[str], str]
"""One spelling for all that name the same folder."""


def merge_state(
    state: Mapping[str, Any],
    decisions: Sequence[Decision],
    roots: Sequence[str | PurePath] = (),
    *,
    canonical: Canonical = os.path.normpath,
) -> State:
    """The state with what was decided; Refused, with every reason, where the result would break the contract.

    `roots`: the repositories' folders, one a decision, the first the main one's; of one decision it may be left
    out. Nothing is recorded while any decision is without a base. `canonical`: what makes two spellings of one
    root equal (the caller may look at the file system; this function does not).
    """
    changes = _changes(state, decisions, roots, canonical)
    return {key: value for key, value in {**state, **changes}.items() if key not in changes or value is not None}


def state_patch(
    state: Mapping[str, Any],
    decisions: Sequence[Decision],
    roots: Sequence[str | PurePath] = (),
    *,
    canonical: Canonical = os.path.normpath,
) -> State:
    """The same as a JSON merge patch (RFC 7386), for a pipeline with a writer of its own; Refused alike.

    Where the evidence holds a null (no convention), the patched state lacks that key: a merge patch cannot set
    a null. `projects` stands in it whole: a merge patch has no other way to change an array.
    """
    changes = _changes(state, decisions, roots, canonical)
    evidence = changes.get(EVIDENCE)
    if evidence is not None:
        # What an earlier record held is taken away by name, also where the given state is not the latest.
        absent = dict.fromkeys(Ranking.__struct_encode_fields__)
        changes[EVIDENCE] = absent | _object_patch(state.get(EVIDENCE), evidence)
    return changes


def _object_patch(old: object, new: Mapping[str, Any]) -> State:
    """The merge patch that makes one object of another."""
    before = old if isinstance(old, dict) else {}
    gone: State = {key: None for key in before if key not in new}
    return gone | {
        key: _object_patch(before.get(key), value) if isinstance(value, dict) else value for key, value in new.items()
    }


def _changes(
    state: Mapping[str, Any], decisions: Sequence[Decision], roots: Sequence[str | PurePath], canonical: Canonical
) -> State:
    """What the decisions make of the state's own keys; None: the key goes."""
    places: list[str | None] = [str(root) for root in roots] or [None] * min(len(decisions), 1)
    paired = list(zip(decisions, places, strict=True))
    several = len(paired) > 1
    faults = [
        f"{shown(decision.repository)}: {fault}" if several else fault
        for decision in decisions
        for fault in _decision_faults(decision)
    ]
    if several and not isinstance(state.get(PROJECTS, []), list | None):
        faults.append(f"{PROJECTS} is no array, and there are several repositories to record")
    if faults:
        raise Refused("not recorded", faults)
    if not paired or any(decision.base_branch is None for decision in decisions):
        return {}
    changes = _placed(state, paired, canonical)
    faults = _mirror_faults({**state, **changes})
    if faults:
        raise Refused("not recorded", faults)
    return changes


def _decision_faults(decision: Decision) -> list[str]:
    record = _record(decision)
    halves = {
        "baseBranch": decision.base_branch,
        "baseRef": decision.base_ref,
        "baseCommit": decision.base_commit,
        "baseBranchSource": decision.base_branch_source,
    }
    missing = [key for key, value in halves.items() if value is None]
    if len(missing) == len(halves):
        return []
    faults = list(base_faults(record, interactive=decision.autonomy != "full"))
    if missing:
        faults.insert(0, f"all of {', '.join(halves)} stand together or none: {', '.join(missing)} is null")
    if decision.base_fetch_status is None:
        faults.append(f"{STATUS} is missing")
    return faults


def _record(decision: Decision) -> State:
    """What the state keeps of a decision."""
    evidence = decision.base_branch_evidence
    return {
        BRANCH: decision.base_branch,
        SOURCE: decision.base_branch_source,
        STATUS: decision.base_fetch_status,
        EVIDENCE: None if evidence is None else msgspec.json.decode(msgspec.json.encode(evidence)),
    }


def _placed(state: Mapping[str, Any], paired: Sequence[tuple[Decision, str | None]], canonical: Canonical) -> State:
    """Each decision at its place: the scalars for the first repository, `projects[]` by root.

    One decision touches `projects[]` only where an entry has its root; several make the entries that are missing.
    """
    listed = state.get(PROJECTS)
    projects = list(listed) if isinstance(listed, list) else []
    index_of = {
        canonical(entry[ROOT]): index
        for index, entry in reversed(list(enumerate(projects)))
        if isinstance(entry, dict) and isinstance(entry.get(ROOT), str)
    }
    several = len(paired) > 1
    touched = False
    for decision, root in paired:
        index = None if root is None else index_of.get(canonical(root))
        own = {BRANCH: decision.base_branch, STATUS: decision.base_fetch_status}
        if index is not None:
            projects[index] = {**projects[index], **own}
        elif several and root is not None:
            index_of[canonical(root)] = len(projects)
            projects.append({ROOT: root, **own})
        else:
            continue
        touched = True
    first, root = paired[0]
    # A single one that stands later in `projects[]` is not the main repository; the scalars are not its own.
    is_main = several or root is None or not index_of.get(canonical(root))
    changes = _record(first) if is_main else {}
    return {**changes, PROJECTS: projects} if touched else changes


def _mirror_faults(state: Mapping[str, Any]) -> list[str]:
    """Where the scalars are not those of the first of `projects[]`."""
    projects = state.get(PROJECTS)
    first = projects[0] if isinstance(projects, list) and projects else None
    if not isinstance(first, dict):
        return []
    return [
        f"{PROJECTS}[0].{key} is {_quoted(first[key])}, and {key} is {_quoted(state.get(key))}: "
        f"the scalars mirror the first repository"
        for key in (BRANCH, STATUS)
        if first.get(key) is not None and first[key] != state.get(key)
    ]


# --- the schema ---


def state_schema(*, autopilot: bool = False) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what `gate` asks of a state, with or without `--autopilot`.

    It says less than the gate in one thing: which characters of a branch name do not show.
    """
    ranking = msgspec.json.schema(Ranking)["$defs"]
    required = [key for key in ranking["Ranking"]["required"] if key not in _NULLABLE]
    ranking["Ranking"] = ranking["Ranking"] | {"required": required}
    rules = [_evidence_where(SOURCE, ["derived"], {"ambiguous": {"const": False}})]
    rules += [_evidence_where(STATUS, list(STALE_STATUSES), {}), _design_rule()]
    if not autopilot:
        unattended = {"required": ["workspaceSource"], "properties": {"workspaceSource": {"const": "autopilot"}}}
        rules.append({"if": {"not": unattended}, "then": {"properties": {SOURCE: {"enum": list(PERSONS_SOURCES)}}}})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "base-branch state: what the gate asks of a run's state file",
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
            "properties": {"taskType": {"const": "component"}},
            "anyOf": beside + [_has(key, inside) for key in DESIGN_REFERENCES],
        },
    }


def _has(key: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"required": [key], "properties": {key: schema}}
