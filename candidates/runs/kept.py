"""What the ring holds of a run: its outcome, its decision and its facts, each a line of JSON; written and read again.

The outcome stands first, so that a list of runs reads the beginning of each file and no more.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from candidates.contract import BaseBranchSource, Decision, FetchStatus, decode_bundle, encode_line
from collectors.errors import EvidenceError, InvalidInput
from collectors.stores.runs import (
    LARGEST_LINE,
    KeptFile,
    keep_lines,
    list_kept,
    new_id,
    read_head,
    read_lines,
    remove,
    runs_folder,
)
from collectors.strict_json import decode_strict, json_text
from ranking.facts import Facts, Instant, Record
from ranking.names import printable

# The keys of a tag alone are more, and those of a branch three times as many.
_LEAST_REF_BYTES = 50

Command = Literal["resolve", "choose"]
T = TypeVar("T")


class Outcome(Record, frozen=True, kw_only=True):
    """How one run of one repository ended. `fault`: the message of the error that ended it.

    `facts`: whether its facts are kept; where there were too many for the ring, the decision alone is.
    """

    id: str
    at: Instant
    command: Command
    repository: str
    folder: str
    issue: str | None = None
    branch: str | None = None
    source: BaseBranchSource | None = None
    fetch_status: FetchStatus | None = None
    exit_code: int
    fault: str | None = None
    version: str
    facts: Literal["kept", "too-many", "none"] = "none"


class KeptRun(Record, frozen=True, kw_only=True):
    """One run, whole."""

    schema: Literal["base-branch/run@1"] = "base-branch/run@1"
    outcome: Outcome
    decision: Decision | None
    bundle: Facts | None


class KeptRuns(Record, frozen=True, kw_only=True):
    """The ring, newest first; `unreadable`: how many files this version makes nothing of."""

    schema: Literal["base-branch/runs@1"] = "base-branch/runs@1"
    folder: str
    runs: tuple[Outcome, ...]
    unreadable: int


def keep_run(environ: Mapping[str, str], run: KeptRun, begun: datetime, most: int) -> None:
    """Put a run into the ring. OSError, SetupError where that cannot be."""
    bundle = _fitting(run.bundle) if run.bundle is not None else None
    facts: Literal["kept", "too-many", "none"]
    facts = "none" if run.bundle is None else "kept" if bundle is not None else "too-many"
    outcome = replace(run.outcome, id=new_id(), facts=facts)
    lines = (
        encode_line(outcome),
        encode_line(run.decision) if run.decision is not None else b"null",
        bundle if bundle is not None else b"null",
    )
    keep_lines(runs_folder(environ), outcome.id, begun, lines, most)


def read_runs(environ: Mapping[str, str]) -> KeptRuns:
    """Every run that is kept. SetupError where the folder cannot be read."""
    folder = runs_folder(environ)
    files = list_kept(folder)
    found = [outcome for file in files if (outcome := _outcome(file)) is not None]
    return KeptRuns(folder=json_text(str(folder)), runs=tuple(found), unreadable=len(files) - len(found))


def read_run(environ: Mapping[str, str], run_id: str) -> KeptRun:
    """One run by its id, or by as much of it as only one begins with. InvalidInput where that is none, or not read."""
    folder = runs_folder(environ)
    found = [file for file in list_kept(folder) if run_id and file.id.startswith(run_id)]
    if len(found) != 1:
        what = (
            f"several kept runs begin with {printable(run_id)!r}"
            if found
            else f"there is no kept run {printable(run_id)!r}"
        )
        raise InvalidInput(f"{what} in {printable(str(folder))}", where="ID", hint="base-branch runs")
    lines = read_lines(found[0])
    try:
        outcome, decision, bundle = lines if lines is not None else []
        return KeptRun(
            # By the name of its file, which is how it is called.
            outcome=replace(decode_strict(outcome, Outcome, "its outcome"), id=found[0].id),
            decision=_unless_null(decision, Decision, "its decision"),
            bundle=decode_bundle(bundle, "its bundle") if bundle != b"null" else None,
        )
    except ValueError as error:  # InvalidInput is one, and so is a line too few
        why = str(error) if isinstance(error, EvidenceError) else "it is damaged"
        message = f"the kept run {found[0].id} cannot be read: {why}"
        raise InvalidInput(message, hint=f"zcat {shlex.quote(printable(str(found[0].path)))}") from error


def clear_runs(environ: Mapping[str, str]) -> int:
    """Remove every kept run; how many there were. SetupError where one cannot be removed."""
    return remove(list_kept(runs_folder(environ)))


def _fitting(facts: Facts) -> bytes | None:
    """The facts as a line; None where it would be longer than the ring takes, most often before it is written."""
    if (len(facts.refs.branches) + len(facts.refs.tags)) * _LEAST_REF_BYTES > LARGEST_LINE:
        return None
    line = encode_line(facts)
    return line if len(line) <= LARGEST_LINE else None


def _outcome(file: KeptFile) -> Outcome | None:
    head = read_head(file)
    try:
        return replace(msgspec.json.decode(head, type=Outcome), id=file.id) if head is not None else None
    except msgspec.DecodeError:  # of another version
        return None


def _unless_null(line: bytes, type_: type[T], what: str) -> T | None:
    return decode_strict(line, type_, what) if line != b"null" else None
