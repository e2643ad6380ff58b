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
from ranking.names import shown

_REPORTS: dict[str, tuple[type[Record], str]] = {
    "gate": (GateReport, "base-branch/gate@1"),
    "recheck": (Rechecked, "base-branch/recheck@1"),
    "probe": (Probed, "base-branch/probe@1"),
    "recent": (Recent, "base-branch/recent@1"),
    "runs": (KeptRuns, "base-branch/runs@1"),
    "run": (KeptRun, "base-branch/run@1"),
    "picker": (Picker, "base-branch/picker@1"),
}

NAMES = (*SCHEMA_NAMES, "state", *_REPORTS)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of this name. Raises InvalidInput if there is none."""
    if name == "state":
        return state_schema()
    if name in SCHEMA_NAMES:
        return json_schema(name)
    if name not in _REPORTS:
        raise InvalidInput(f"there is no schema {shown(name)!r}", hint=f"base-branch schema {'|'.join(NAMES)}")
    record, title = _REPORTS[name]
    return published(msgspec.json.schema(record), title)
