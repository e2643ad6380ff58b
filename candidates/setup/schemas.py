"""Every JSON Schema that the program can print: of what it reads, and of what its commands print with `--json`."""

from __future__ import annotations

from typing import Any

import msgspec

from candidates.checks.gate import GateReport, state_schema
from candidates.checks.probe import Probed
from candidates.checks.recheck import Rechecked
from candidates.contract import SCHEMA_NAMES, json_schema, published
from candidates.memory import Recent
from candidates.questions.hosts import Picker
from candidates.runs.kept import KeptRun, KeptRuns
from collectors.errors import InvalidInput
from ranking.facts import Record
from ranking.names import printable

_REPORTS: dict[str, tuple[type[Record], str]] = {
    "gate": (GateReport, "base-branch/gate@1"),
    "recheck": (Rechecked, "base-branch/recheck@1"),
    "probe": (Probed, "base-branch/probe@1"),
    "recent": (Recent, "base-branch/recent@1"),
    "runs": (KeptRuns, "base-branch/runs@1"),
    "run": (KeptRun, "base-branch/run@1"),
    "picker": (Picker, "base-branch/picker@1"),
}

NAMES = (*SCHEMA_NAMES, "state", "preferences", *_REPORTS)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of this name. Raises InvalidInput if there is none."""
    if name == "state":
        return state_schema()
    if name == "preferences":
        return preferences_schema()
    if name in SCHEMA_NAMES:
        return json_schema(name)
    if name not in _REPORTS:
        raise InvalidInput(f"there is no schema {printable(name)!r}", hint=f"base-branch schema {'|'.join(NAMES)}")
    record, title = _REPORTS[name]
    return published(msgspec.json.schema(record), title)


def preferences_schema() -> dict[str, Any]:
    """The JSON Schema of the preferences: the keys that are read, and `global.recentBranches`, which is written."""
    repo = {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "object", "properties": {"readOnly": {"type": "boolean"}, "editable": {"type": "boolean"}}},
        ]
    }
    repos = {"anyOf": [{"type": "string"}, {"type": "array", "items": repo}]}
    moment = {"anyOf": [{"type": "string", "minLength": 8}, {"type": "number"}]}
    entry = {
        "type": "object",
        "required": ["branch", "lastUsed"],
        "properties": {
            "branch": {"type": "string", "minLength": 1},
            "lastUsed": moment,
            "count": {"type": "integer", "minimum": 1},
            "project": {"type": "string"},
            "chosenFor": {"type": "object", "additionalProperties": moment},
        },
    }
    listed = {"allOf": [entry, {"required": ["projectKey"], "properties": {"projectKey": {"type": "string"}}}]}
    switch = {"enum": [True, False, "on", "off"]}
    evidence = {"type": "object", "properties": {"enabled": switch, "autopilotAsksOnIssue": switch}}
    project = {"type": "object", "properties": {"webRepos": repos}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "base-branch preferences: what is read of the file, which may hold other keys",
        "type": "object",
        "properties": {
            "global": {
                "type": "object",
                "properties": {
                    "recentBranches": {
                        "anyOf": [
                            {"type": "object", "additionalProperties": {"type": "array", "items": entry}},
                            {"type": "array", "items": listed},
                        ]
                    },
                    "baseBranchEvidence": {"anyOf": [switch, evidence]},
                    "autopilotAsksOnIssue": switch,
                    "webRepos": repos,
                },
            },
            "settings": {"type": "object", "properties": {"branchTtlDays": {"type": "integer", "minimum": 0}}},
            "projects": {"type": "object", "additionalProperties": project},
        },
    }
