"""The small store of remembered choices: a JSON file, which may be another program's preferences.

Reads `global.recentBranches`, the settings of this program that stand beside it, and nothing else; changes
`global.recentBranches` alone, and leaves every other byte as it is. A store that is damaged is said to be so, and
the run goes on: a reader leaves it, a writer keeps it under a dated name beside the new one.

Nothing but a person's answer (`asked`) and an explicit `remember` or `forget` may call `change_recent`: an
unattended run that wrote its own answer would follow itself ever after. The callers see to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from collectors.errors import SetupError
from collectors.stores.store_file import (
    LOCK_SECONDS,
    NEW_DOCUMENT,
    Damage,
    Document,
    Edit,
    JsonObject,
    NotRegularError,
    Outcome,
    Pause,
    Raw,
    Reading,
    change_file,
    parse_document,
    raw_items,
    read_settled,
    reason_of,
    set_member,
)
from collectors.stores.user_folders import config_folder
from collectors.strict_json import join_path, place_of
from ranking.facts import Instant, RecentChoice, Settings
from ranking.names import fault_of, shown
from ranking.recent import is_expired

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PREFERENCES_VARIABLE = "BASE_BRANCH_PREFERENCES"

_LIST = ("global", "recentBranches")
_LISTED = ".".join(_LIST)
_FAULTS_SHOWN = 5
_ANOTHER_FILE = f"name another file with {PREFERENCES_VARIABLE}"
# Ours to look up. Where one of them stands twice nobody can say which is meant.
_TOP_KEYS = frozenset({"global", "settings"})
_GLOBAL_KEYS = frozenset({"recentBranches", "baseBranchEvidence", "autopilotAsksOnIssue", "webRepos"})
# More than any entry's age, and less than what a date can be moved by.
_MOST_DAYS = 36_500
# What every reader of JSON can hold, and the wire.
_MOST_TIMES = 2**53 - 1


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One remembered choice as it stands in the file; another program may add keys."""

    project_key: str
    branch: str
    last_used: Instant
    count: Annotated[int, msgspec.Meta(ge=1, le=_MOST_TIMES)] = 1


class WebRepo(Struct, frozen=True, kw_only=True):
    """One entry of `global.webRepos`: a path as it is written there, and whether nothing may be changed in it."""

    path: str
    read_only: bool = False


class Remembered(Struct, frozen=True, kw_only=True):
    """What the store says for one project: its choices, newest first, and how the reading went.

    `state`: "answered" (a file that is not there has no choices), "partial" (something was passed over),
    "failed" (it is there and cannot be used), "not-asked". `detail`: what was passed over or why it failed.
    `expired`: those that were left out for their age. `evidence`: `global.baseBranchEvidence`, None where it is
    not set (then it is on); `branch_ttl_days` likewise (then it is what the settings say).
    """

    choices: tuple[RecentChoice, ...] = ()
    state: Literal["answered", "partial", "failed", "not-asked"] = "answered"
    detail: str | None = None
    evidence: bool | None = None
    branch_ttl_days: int | None = None
    expired: tuple[RecentChoice, ...] = ()
    autopilot_asks_on_issue: bool = False
    web_repos: tuple[WebRepo, ...] = ()


class Stored(Struct, frozen=True, kw_only=True):
    """One entry of the list, of any project: its text in the file (None: not there yet), and what it says.

    `choice` None: it is odd, and stays as it is until it is forgotten; what is known of it is said all the same.
    """

    project_key: str | None
    branch: str | None
    choice: RecentChoice | None
    raw: Raw | None = None


class Changed(Struct, frozen=True, kw_only=True):
    """What a change did: the list before and after, whether the file was written, and what a person must know.

    `aside`: where a damaged file was kept. `warnings`: one a line, for standard error.
    """

    path: Path
    before: tuple[Stored, ...]
    after: tuple[Stored, ...]
    written: bool
    aside: Path | None = None
    warnings: tuple[str, ...] = ()


Change = Callable[[tuple[Stored, ...], int], tuple[Stored, ...]]
"""Makes the new list of the old one and the time to live that the file sets, in days. Pure: it may run twice."""


def preferences_path(environ: Mapping[str, str]) -> Path:
    """Where the store is: what BASE_BRANCH_PREFERENCES names, else a file in the user's config folder."""
    named = environ.get(PREFERENCES_VARIABLE)
    if named:
        return Path(named)
    return config_folder(environ) / "preferences.json"


def read_recent(
    path: Path,
    project_key: str,
    *,
    now: datetime | None = None,
    branch_ttl_days: int | None = None,
    pause: Pause = time.sleep,
) -> Remembered:
    """Read what the store remembers for one project; never raises for what is in the file or in its way.

    With `now`, choices past their time to live (the one given, else the file's, else the usual) are `expired`.
    """
    name = shown(str(path))
    try:
        reading = read_settled(path, damage_of, pause)
    except NotRegularError:
        return Remembered(state="failed", detail=f"{name} is no regular file")
    except OSError as fault:
        return Remembered(state="failed", detail=f"{name} cannot be read: {reason_of(fault)}")
    if reading.data is None:
        return Remembered()
    found = parse_recent(reading.data, project_key, name)
    if reading.moving:
        found = replace(found, detail=f"{found.detail} (another program is writing it)")
    if now is None:
        return found
    days = time_to_live(branch_ttl_days, found.branch_ttl_days)
    old = tuple(choice for choice in found.choices if is_expired(choice, now, days))
    return replace(found, choices=tuple(c for c in found.choices if c not in old), expired=old)


def parse_recent(data: bytes, project_key: str, what: str) -> Remembered:
    """Find one project's choices in the file's bytes; `what` names the file in the detail. Pure."""
    document = _document(data)
    if isinstance(document, Damage):
        return Remembered(state="failed", detail=f"{what} {document.why}")
    faults: list[str] = []
    ours = _table(document.root, "global", faults)
    days = _days(_table(document.root, "settings", faults).get("branchTtlDays"), faults)
    found = [
        _choice(entry, project_key, f"{_LISTED}[{index}]", faults)
        for index, entry in enumerate(_listed(ours.get("recentBranches"), "recentBranches", faults))
    ]
    evidence = _switch(ours.get("baseBranchEvidence"), "baseBranchEvidence", faults)
    asks = _switch(ours.get("autopilotAsksOnIssue"), "autopilotAsksOnIssue", faults)
    repos = _web_repos(ours.get("webRepos"), faults)
    return Remembered(
        choices=newest_first([choice for choice in found if choice is not None]),
        state="partial" if faults else "answered",
        detail=f"{what}: passed over: {_shown(faults)}" if faults else None,
        evidence=evidence,
        branch_ttl_days=days,
        autopilot_asks_on_issue=asks is True,
        web_repos=repos,
    )


def damage_of(data: bytes) -> Damage | None:
    """Why bytes cannot be a store of choices, or None where they can. Pure."""
    document = _document(data)
    return document if isinstance(document, Damage) else None


def change_recent(
    path: Path,
    change: Change,
    now: datetime,
    *,
    create: bool = True,
    wait_seconds: float = LOCK_SECONDS,
    pause: Pause = time.sleep,
) -> Changed:
    """Replace the list of choices by what `change` makes of it, under the lock; `create` off: only in a good file.

    SetupError, and nothing is written, where the store cannot be locked, read or replaced, or is another
    program's file in which there is no place for the list.
    """

    def edit(reading: Reading) -> Edit | None:
        return _edited(path, reading, change, create=create)

    outcome = change_file(
        path,
        edit,
        judge=damage_of,
        now=now,
        create=create,
        hint=_ANOTHER_FILE,
        wait_seconds=wait_seconds,
        pause=pause,
    )
    return _changed(path, outcome)


def time_to_live(given: int | None, in_file: int | None) -> int:
    """How many days a choice counts: as asked for in this run, else as the file says, else as usual."""
    if given is not None:
        return min(given, _MOST_DAYS)
    return in_file if in_file is not None else Settings().branch_ttl_days


def _edited(path: Path, reading: Reading, change: Change, *, create: bool) -> Edit | None:
    """The store's new bytes, or None where nothing is to be written. Pure; SetupError where there is no place."""
    document = _document(reading.data if reading.data is not None else NEW_DOCUMENT)
    aside = False
    if isinstance(document, Damage):
        if not create:
            return None
        if document.foreign:
            raise _no_place(path, document.why)
        # What is damaged is kept whole under another name; the new store begins with nothing.
        document, aside = _empty(), True
    before = stored_in(document)
    after = change(before, time_to_live(None, _days(_table(document.root, "settings", []).get("branchTtlDays"), [])))
    if after == before:
        return None
    ours = document.root.get("global")
    if ours is not None and not isinstance(ours, JsonObject):
        raise _no_place(path, "has something else than an object under the key global")
    listed = ours.get("recentBranches") if ours is not None else None
    odd_list = listed is not None and not isinstance(listed, list)
    text = set_member(document.text, _LIST, [_entry_text(entry) for entry in after])
    return Edit(data=document.encode(text), aside=aside or odd_list)


def stored_in(document: Document) -> tuple[Stored, ...]:
    """Every entry of the list, in its order, with its text. Pure."""
    ours = document.root.get("global")
    listed = ours.get("recentBranches") if isinstance(ours, JsonObject) else None
    if not isinstance(listed, list):
        return ()
    return tuple(_stored(value, raw) for value, raw in zip(listed, raw_items(document, _LIST), strict=True))


def _stored(value: object, raw: Raw) -> Stored:
    table = value if isinstance(value, JsonObject) else {}
    key, branch = table.get("projectKey"), table.get("branch")
    key = key if isinstance(key, str) else None
    choice = _choice(value, key, "", []) if key is not None else None
    return Stored(project_key=key, branch=branch if isinstance(branch, str) else None, choice=choice, raw=raw)


def _entry_text(entry: Stored) -> object:
    """What stands in the file for an entry: its own text where it has one, changed no further than it must be."""
    if entry.raw is None:
        assert entry.choice is not None  # noqa: S101 - what is new was made here
        return {"projectKey": entry.project_key, "branch": entry.branch} | _counted(entry.choice)
    if entry.choice is None or _stored(_value_of(entry.raw), entry.raw) == entry:
        return entry.raw
    text = entry.raw.text
    for key, value in _counted(entry.choice).items():
        text = set_member(text, (key,), value)
    return Raw(text)


def _counted(choice: RecentChoice) -> dict[str, object]:
    moment = choice.last_used.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"lastUsed": moment, "count": min(choice.count, _MOST_TIMES)}


def _value_of(raw: Raw) -> object:
    document = parse_document(raw.text.encode("utf-8", "surrogatepass"))
    return document.root if isinstance(document, Document) else None


def _changed(path: Path, outcome: Outcome) -> Changed:
    name = shown(str(path))
    warnings = []
    damage = damage_of(outcome.before) if outcome.before is not None else None
    if outcome.aside is not None:
        why = damage.why if damage else f"holds no list under {_LISTED}"
        warnings.append(f"{name} {why}; it is kept as {shown(str(outcome.aside))}")
    elif damage is not None:
        warnings.append(f"{name} {damage.why}; nothing was changed")
    before = _entries(outcome.before)
    return Changed(
        path=path,
        before=before,
        after=_entries(outcome.after) if outcome.after is not None else before,
        written=outcome.after is not None,
        aside=outcome.aside,
        warnings=tuple(warnings),
    )


def _entries(data: bytes | None) -> tuple[Stored, ...]:
    document = _document(data) if data is not None else None
    return stored_in(document) if isinstance(document, Document) else ()


def _empty() -> Document:
    document = parse_document(NEW_DOCUMENT)
    assert isinstance(document, Document)  # noqa: S101 - it is a constant
    return document


def _no_place(path: Path, why: str) -> SetupError:
    said = f"{shown(str(path))} {why}; nothing was changed"
    return SetupError(said, code="preferences-unusable", hint=_ANOTHER_FILE)


def _document(data: bytes) -> Document | Damage:
    """The file as a JSON object in which the keys that are looked up stand once."""
    document = parse_document(data)
    if isinstance(document, Damage):
        return document
    ours = document.root.get("global")
    twice = [key for key in document.root.twice if key in _TOP_KEYS]
    if isinstance(ours, JsonObject):
        twice += [f"global.{key}" for key in ours.twice if key in _GLOBAL_KEYS]
    if twice:
        return Damage(why=f"holds a key twice: {', '.join(sorted(twice))}")
    return document


def newest_first(choices: list[RecentChoice]) -> tuple[RecentChoice, ...]:
    """Order by the moment of use, the newest first, then by name; of two for one branch the newer stands."""
    ordered = sorted(choices, key=lambda choice: (-choice.last_used.timestamp(), choice.branch.encode(), -choice.count))
    newest: dict[str, RecentChoice] = {}
    for choice in ordered:
        newest.setdefault(choice.branch, choice)
    return tuple(newest.values())


def _choice(entry: object, project_key: str, where: str, faults: list[str]) -> RecentChoice | None:
    """One entry as a choice; None for another project's, and for an odd one, which is said."""
    if isinstance(entry, JsonObject):
        if isinstance(entry.get("projectKey"), str) and entry["projectKey"] != project_key:
            return None
        if twice := sorted(entry.twice):
            faults.append(f"{join_path(where, twice[0])}: it stands there twice")
            return None
    try:
        found = msgspec.convert(entry, _Entry)
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair, and UTF-8 cannot
        faults.append(f"{where}: it holds characters that no text has")
        return None
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


def _listed(value: object, key: str, faults: list[str]) -> Sequence[object]:
    """The list under a key of `global`; () where it is not there, or is something else, which is said."""
    if value is None or isinstance(value, list):
        return value or ()
    faults.append(f"global.{key}: expected a list")
    return ()


def _switch(value: object, key: str, faults: list[str]) -> bool | None:
    """True or false, or "on" and "off"; None where it is not set."""
    if value is None or isinstance(value, bool):
        return value
    if value in ("on", "off"):
        return value == "on"
    faults.append(f"global.{key}: expected true or false")
    return None


def _days(value: object, faults: list[str]) -> int | None:
    """A whole number of days, zero or more; None where it is not set."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return min(value, _MOST_DAYS)
    faults.append("settings.branchTtlDays: expected a whole number of days")
    return None


def _web_repos(value: object, faults: list[str]) -> tuple[WebRepo, ...]:
    """The repositories that the file names, each path once."""
    entries = [value] if isinstance(value, str) else _listed(value, "webRepos", faults)
    found = [_web_repo(entry, f"global.webRepos[{index}]", faults) for index, entry in enumerate(entries)]
    by_path: dict[str, WebRepo] = {}
    for repo in found:
        if repo is not None:
            by_path.setdefault(repo.path, repo)
    return tuple(by_path.values())


def _web_repo(entry: object, where: str, faults: list[str]) -> WebRepo | None:
    """A path, or an object with a path and perhaps readOnly; None for what is neither, which is said."""
    table = entry if isinstance(entry, JsonObject) else {"path": entry}
    path, read_only = table.get("path"), table.get("readOnly")
    if not isinstance(path, str) or not path or "\0" in path:
        faults.append(f"{where}: expected a path, or an object with a path")
        return None
    if read_only is not None and not isinstance(read_only, bool):
        # Who wrote something there meant a restriction; reading it as none could do harm.
        faults.append(f"{where}.readOnly: expected true or false; taken as true")
        read_only = True
    return WebRepo(path=path, read_only=read_only is True)
