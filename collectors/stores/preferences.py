"""Reads the preferences: the stored choices, and the settings that stand beside them.

The file may be another program's. `global.recentBranches` is a list, or a map from project key to list; a branch may
be written `origin/NAME` or as a full refname, a moment as a date or an epoch. A value of an unknown shape is reported
and passed over. `recent_entries` writes; docs/preferences.md describes the shapes.
"""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from collectors.stores.recent_entries import (
    MOST_DAYS,
    Use,
    choices_of,
    damage_of,
    days_in,
    newest_first,
    preferences_document,
    shape_fault,
)
from collectors.stores.store_file import (
    Damage,
    JsonObject,
    NotRegularError,
    Pause,
    read_settled,
    reason_of,
)
from collectors.stores.user_folders import config_folder
from collectors.strict_json import join_path
from ranking.facts import RecentChoice, Settings
from ranking.names import printable
from ranking.recent import is_expired

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFERENCES_VARIABLE = "BASE_BRANCH_PREFERENCES"

_FAULTS_SHOWN = 5
_OURS = frozenset({"recentBranches", "baseBranchEvidence", "autopilotAsksOnIssue", "webRepos"})


class WebRepo(Struct, frozen=True, kw_only=True):
    """One repository that the file lists: its path as written there, and whether nothing may be changed in it."""

    path: str
    read_only: bool = False


class Remembered(Struct, frozen=True, kw_only=True):
    """What the file holds for one project: its choices, newest first, and how the reading went.

    `state`: "answered" (a file that is not there has no choices), "partial" (something was passed over),
    "failed" (it is there and cannot be used), "not-asked". `detail`: what was passed over or why it failed.
    `expired`: those that were left out for their age. `evidence`: whether `global.baseBranchEvidence` is on, None if
    it is not set (then it is on); `branch_ttl_days` likewise (then it is what the settings say).
    `uses`: by branch, what it was chosen for; a branch that is not in it was chosen for any work.
    """

    choices: tuple[RecentChoice, ...] = ()
    state: Literal["answered", "partial", "failed", "not-asked"] = "answered"
    detail: str | None = None
    evidence: bool | None = None
    branch_ttl_days: int | None = None
    expired: tuple[RecentChoice, ...] = ()
    autopilot_asks_on_issue: bool = False
    web_repos: tuple[WebRepo, ...] = ()
    uses: dict[str, tuple[Use, ...]] = field(default_factory=dict)


def preferences_path(environ: Mapping[str, str]) -> Path:
    """Where the file is: what BASE_BRANCH_PREFERENCES names, else a file in the user's config folder."""
    named = environ.get(PREFERENCES_VARIABLE)
    if named:
        return Path(named)
    return config_folder(environ) / "preferences.json"


def read_recent(
    path: Path,
    project_key: str,
    *,
    old_key: str | None = None,
    now: datetime | None = None,
    branch_ttl_days: int | None = None,
    pause: Pause = time.sleep,
) -> Remembered:
    """Read what the file holds for one project; never raises for what is in the file or in its way.

    `old_key`: the key that earlier versions and other programs use. With `now`, choices past their time to live (the
    one given, else the file's, else the usual) are `expired`.
    """
    name = printable(str(path))
    try:
        reading = read_settled(path, damage_of, pause)
    except NotRegularError:
        return Remembered(state="failed", detail=f"{name} is no regular file")
    except OSError as error:
        return Remembered(state="failed", detail=f"{name} cannot be read: {reason_of(error)}")
    if reading.data is None:
        return Remembered()
    found = parse_recent(reading.data, project_key, name, old_key=old_key)
    if reading.moving:
        found = replace(found, detail=f"{found.detail} (another program is writing it)")
    if now is None:
        return found
    days = time_to_live(branch_ttl_days, found.branch_ttl_days)
    old = tuple(choice for choice in found.choices if is_expired(choice, now, days))
    return replace(found, choices=tuple(c for c in found.choices if c not in old), expired=old)


def parse_recent(data: bytes, project_key: str, what: str, *, old_key: str | None = None) -> Remembered:
    """Find what the file's bytes hold for one project; `what` names the file in the detail. Pure."""
    document = preferences_document(data)
    if isinstance(document, Damage):
        return Remembered(state="failed", detail=f"{what} {document.why}")
    problems: list[str] = []
    ours = _table(document.root, "global", problems)
    days = _days(_table(document.root, "settings", problems).get("branchTtlDays"), problems)
    listed = ours.get("recentBranches")
    if (problem := shape_fault(listed)) is not None:
        problems.append(problem)
    found = choices_of(listed, project_key, old_key, problems)
    uses_of = {entry.choice: entry.uses for entry in found if entry.choice is not None}
    choices = newest_first(uses_of)
    evidence, asks = _evidence(ours, problems)
    repos = [
        *_web_repos(ours.get("webRepos"), "global.webRepos", problems),
        *_repos_of_project(document.root, project_key, old_key, problems),
    ]
    return Remembered(
        choices=choices,
        state="partial" if problems else "answered",
        detail=f"{what}: passed over: {_shown(problems)}" if problems else None,
        evidence=evidence,
        branch_ttl_days=days,
        autopilot_asks_on_issue=asks is True,
        web_repos=tuple({repo.path: repo for repo in reversed(repos)}.values())[::-1],
        uses={choice.branch: uses_of[choice] for choice in choices if uses_of[choice]},
    )


def describe(data: bytes, project_key: str, *, old_key: str | None = None) -> tuple[str, ...]:
    """How each key that this program looks up in the file is read, one a line; the others are never changed. Pure."""
    document = preferences_document(data)
    if isinstance(document, Damage):
        return ()
    root, found = document.root, parse_recent(data, project_key, "", old_key=old_key)
    ours = _table(root, "global", [])
    lines = []
    listed = ours.get("recentBranches")
    if isinstance(listed, list | dict):
        shape = "a list" if isinstance(listed, list) else f"a map of {len(listed)} projects"
        branches = ", ".join(printable(choice.branch) for choice in found.choices[:_FAULTS_SHOWN]) or "none"
        lines.append(f"global.recentBranches: {shape}, written back as such; of {printable(project_key)}: {branches}")
    if (evidence := ours.get("baseBranchEvidence")) is not None:
        kind = "an object" if isinstance(evidence, dict) else "a switch"
        lines.append(f"global.baseBranchEvidence: {kind}; the evidence is {'off' if found.evidence is False else 'on'}")
    asks = "asks" if found.autopilot_asks_on_issue else "does not ask"
    if "autopilotAsksOnIssue" in ours or (isinstance(evidence, dict) and "autopilotAsksOnIssue" in evidence):
        lines.append(f"autopilotAsksOnIssue: an unattended run {asks} on the issue")
    if found.branch_ttl_days is not None:
        lines.append(f"settings.branchTtlDays: {found.branch_ttl_days} days")
    if found.web_repos:
        lines.append(f"webRepos: {', '.join(printable(repo.path) for repo in found.web_repos[:_FAULTS_SHOWN])}")
    looked_up = {"global", "settings", "projects"}
    others = [*(key for key in root if key not in looked_up), *(f"global.{key}" for key in ours if key not in _OURS)]
    if others:
        more = f" and {len(others) - _FAULTS_SHOWN} more" if len(others) > _FAULTS_SHOWN else ""
        lines.append(f"not read, never changed: {', '.join(map(printable, others[:_FAULTS_SHOWN]))}{more}")
    return tuple(lines)


def time_to_live(given: int | None, in_file: int | None) -> int:
    """How many days a choice counts: as asked for in this run, else as the file says, else as usual."""
    if given is not None:
        return min(given, MOST_DAYS)
    return in_file if in_file is not None else Settings().branch_ttl_days


def _evidence(ours: Mapping[str, object], problems: list[str]) -> tuple[bool | None, bool | None]:
    """`global.baseBranchEvidence`, a switch or an object, and whether an unattended run may ask on the issue."""
    value, where = ours.get("baseBranchEvidence"), "global.baseBranchEvidence"
    asks = _switch(ours.get("autopilotAsksOnIssue"), "global.autopilotAsksOnIssue", problems)
    if not isinstance(value, dict):
        return _switch(value, where, problems), asks
    inside = _switch(value.get("autopilotAsksOnIssue"), f"{where}.autopilotAsksOnIssue", problems)
    enabled = _switch(value.get("enabled"), f"{where}.enabled", problems)
    return enabled, asks if inside is None else inside


def _repos_of_project(
    root: Mapping[str, object], project_key: str, old_key: str | None, problems: list[str]
) -> Sequence[WebRepo]:
    """`projects[KEY].webRepos`, under the project's key, its old key, or its last part."""
    projects = root.get("projects")
    if not isinstance(projects, dict):
        return ()
    names = dict.fromkeys(key for key in (project_key, old_key, project_key.rpartition("/")[2]) if key)
    for name in names:
        project = projects.get(name)
        if isinstance(project, dict) and project.get("webRepos") is not None:
            return _web_repos(project["webRepos"], f"{join_path('projects', name)}.webRepos", problems)
    return ()


def _table(root: Mapping[str, object], key: str, problems: list[str]) -> dict[str, object]:
    """The object under a key; {} if it is not there, or is something else, which is a fault."""
    table = root.get(key)
    if isinstance(table, dict):
        return table
    if table is not None:
        problems.append(f"{join_path('', key)}: expected an object")
    return {}


def _shown(problems: list[str]) -> str:
    """The first few faults, and how many more there are."""
    more = len(problems) - _FAULTS_SHOWN
    return "; ".join(problems[:_FAULTS_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _switch(value: object, where: str, problems: list[str]) -> bool | None:
    """True or false, or "on" and "off"; None if it is not set."""
    if value is None or isinstance(value, bool):
        return value
    if value in ("on", "off"):
        return value == "on"
    problems.append(f"{where}: expected true or false")
    return None


def _days(value: object, problems: list[str]) -> int | None:
    """A whole number of days, zero or more; None if it is not set."""
    if value is not None and days_in({"branchTtlDays": value}) is None:
        problems.append("settings.branchTtlDays: expected a whole number of days")
    return days_in({"branchTtlDays": value})


def _web_repos(value: object, where: str, problems: list[str]) -> list[WebRepo]:
    """The repositories that the file names there."""
    if value is None:
        return []
    if not isinstance(value, str | list):
        problems.append(f"{where}: expected a list")
        return []
    entries = [value] if isinstance(value, str) else value
    found = [_web_repo(entry, f"{where}[{index}]", problems) for index, entry in enumerate(entries)]
    return [repo for repo in found if repo is not None]


def _web_repo(entry: object, where: str, problems: list[str]) -> WebRepo | None:
    """A path, or an object with a `path` (or `root`) and perhaps `readOnly` or `editable`; else None and a fault."""
    table = entry if isinstance(entry, JsonObject) else {"path": entry}
    path, read_only, editable = table.get("path", table.get("root")), table.get("readOnly"), table.get("editable")
    if not isinstance(path, str) or not path or "\0" in path:
        problems.append(f"{where}: expected a path, or an object with a path")
        return None
    if read_only is not None and not isinstance(read_only, bool):
        # Who wrote something there meant a restriction; reading it as none could do harm.
        problems.append(f"{where}.readOnly: expected true or false; taken as true")
        read_only = True
    return WebRepo(path=path, read_only=read_only is True or editable is False)
