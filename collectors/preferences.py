"""The small store of remembered choices: a JSON file, which may be another program's preferences.

Reads `global.recentBranches`, `global.baseBranchEvidence` and `settings.branchTtlDays`; every other key is
somebody else's and is not looked at. A store that is damaged is said to be so, and the run goes on.
"""

from __future__ import annotations

import codecs
import json
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from collectors.strict_json import join_path, place_of
from ranking.facts import Instant, RecentChoice
from ranking.names import fault_of

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFERENCES_VARIABLE = "BASE_BRANCH_PREFERENCES"

_LISTED = "global.recentBranches"
_FAULTS_SHOWN = 5


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One remembered choice as it stands in the file; another program may add keys."""

    project_key: str
    branch: str
    last_used: Instant
    count: Annotated[int, msgspec.Meta(ge=1)] = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What the store says for one project: its choices, newest first, and how the reading went.

    `state`: "answered" (a file that is not there has no choices), "partial" (something was passed over),
    "failed" (it is there and cannot be used), "not-asked". `detail`: what was passed over or why it failed.
    `evidence`: `global.baseBranchEvidence`, None where it is not set; `branch_ttl_days` likewise.
    """

    choices: tuple[RecentChoice, ...] = ()
    state: Literal["answered", "partial", "failed", "not-asked"] = "answered"
    detail: str | None = None
    evidence: bool | None = None
    branch_ttl_days: int | None = None


def preferences_path(environ: Mapping[str, str]) -> Path:
    """Where the store is: what BASE_BRANCH_PREFERENCES names, else a file in the user's config folder."""
    named = environ.get(PREFERENCES_VARIABLE)
    if named:
        return Path(named)
    # In the function, against the rule: 13 ms that only a run without the variable pays.
    from platformdirs import user_config_path  # noqa: PLC0415

    return user_config_path("base-branch", appauthor=False) / "preferences.json"


def read_recent(path: Path, project_key: str) -> Remembered:
    """Read what the store remembers for one project; never raises for what is in the file or in its way."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return Remembered(state="failed", detail=f"{path} is no regular file")
        data = path.read_bytes()
    except FileNotFoundError:
        return Remembered()
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        return Remembered(state="failed", detail=f"{path} cannot be read: {why}")
    except ValueError as fault:  # a NUL in the name
        return Remembered(state="failed", detail=f"{str(path)!r} cannot be read: {fault}")
    return parse_recent(data, project_key, str(path))


def parse_recent(data: bytes, project_key: str, what: str) -> Remembered:
    """Find one project's choices in the file's bytes; `what` names the file in the detail. Pure."""
    try:
        root: object = json.loads(data.removeprefix(codecs.BOM_UTF8).decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        why = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)
        return Remembered(state="failed", detail=f"{what} is no JSON: {why}")
    if not isinstance(root, dict):
        return Remembered(state="failed", detail=f"{what} holds no JSON object")
    faults: list[str] = []
    ours = _table(root, "global", faults)
    evidence = _switch(ours.get("baseBranchEvidence"), faults)
    days = _days(_table(root, "settings", faults).get("branchTtlDays"), faults)
    listed = ours.get("recentBranches")
    if listed is None:
        listed = []
    if not isinstance(listed, list):
        faults.append(f"{_LISTED}: expected a list")
        listed = []
    found = [_choice(entry, project_key, f"{_LISTED}[{index}]", faults) for index, entry in enumerate(listed)]
    return Remembered(
        choices=newest_first([choice for choice in found if choice is not None]),
        state="partial" if faults else "answered",
        detail=f"{what}: passed over: {_shown(faults)}" if faults else None,
        evidence=evidence,
        branch_ttl_days=days,
    )


def newest_first(choices: list[RecentChoice]) -> tuple[RecentChoice, ...]:
    """Order by the moment of use, the newest first, then by name; of two for one branch the newer stands."""
    ordered = sorted(choices, key=lambda choice: (-choice.last_used.timestamp(), choice.branch.encode(), -choice.count))
    newest: dict[str, RecentChoice] = {}
    for choice in ordered:
        newest.setdefault(choice.branch, choice)
    return tuple(newest.values())


def _choice(entry: object, project_key: str, where: str, faults: list[str]) -> RecentChoice | None:
    """One entry as a choice; None for another project's, and for an odd one, which is said."""
    if isinstance(entry, dict) and isinstance(entry.get("projectKey"), str) and entry["projectKey"] != project_key:
        return None
    try:
        found = msgspec.convert(entry, _Entry)
    except msgspec.ValidationError as fault:
        message, place = place_of(str(fault))
        faults.append(f"{where}{'.' + place if place else ''}: {message}")
        return None
    fault_of_name = fault_of(found.branch)
    if fault_of_name:
        faults.append(f"{where}.branch: {fault_of_name}")
        return None
    return RecentChoice(branch=found.branch, last_used=found.last_used, count=found.count)


def _table(root: Mapping[str, object], key: str, faults: list[str]) -> dict[str, object]:
    """The object under a key; {} where it is not there, or is something else, which is said."""
    table = root.get(key)
    if isinstance(table, dict):
        return table
    if table is not None:
        faults.append(f"{join_path('', key)}: expected an object")
    return {}


def _shown(faults: list[str]) -> str:
    """The first few faults, and how many more there are."""
    more = len(faults) - _FAULTS_SHOWN
    return "; ".join(faults[:_FAULTS_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _switch(value: object, faults: list[str]) -> bool | None:
    """True or false, or "on" and "off"; None where it is not set."""
    if value is None or isinstance(value, bool):
        return value
    if value in ("on", "off"):
        return value == "on"
    faults.append("global.baseBranchEvidence: expected true or false")
    return None


def _days(value: object, faults: list[str]) -> int | None:
    """A whole number of days, zero or more; None where it is not set."""
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    faults.append("settings.branchTtlDays: expected a whole number of days")
    return None
