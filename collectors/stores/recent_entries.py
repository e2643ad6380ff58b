"""The entries of `global.recentBranches`: read from the file's text, and changed in it under the store's lock.

The list may be flat (each entry has a `projectKey`) or a map from project key to list; it is written back in the shape
that was found, and a new one is a map. No other key changes, and every other byte stays as it is.

Only a person's answer (`asked`) and an explicit `remember` or `forget` may call `change_recent`: an unattended run that
wrote its own answer would follow itself ever after. The callers see to it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct

from collectors.errors import SetupError
from collectors.stores.store_file import (
    LOCK_SECONDS,
    NEW_DOCUMENT,
    Damage,
    Document,
    Edit,
    JsonObject,
    Outcome,
    Pause,
    Raw,
    Reading,
    change_file,
    parse_document,
    raw_items,
    set_member,
)
from collectors.strict_json import join_path, place_of
from ranking.facts import Instant, RecentChoice, Settings
from ranking.names import HEADS, name_problem, printable

ANY_WORK = "any work"
"""What an entry without `chosenFor` was chosen for."""

_LIST = ("global", "recentBranches")
_LISTED = ".".join(_LIST)
_CHOSEN_FOR = "chosenFor"
_OWNER = "project"
_ANOTHER_FILE = "name another file with BASE_BRANCH_PREFERENCES"
# If one of these keys is a duplicate, nobody can say which is meant.
_TOP_KEYS = frozenset({"global", "settings", "projects"})
_GLOBAL_KEYS = frozenset({"recentBranches", "baseBranchEvidence", "autopilotAsksOnIssue", "webRepos"})
# The same branch, as other programs write it. `origin/NAME` could be a branch of that name: the listing decides.
_PREFIXES = (HEADS, "refs/remotes/origin/", "remotes/origin/")
_TRACKED = "origin/"
# What every reader of JSON can hold, and the wire.
_MOST_TIMES = 2**53 - 1
# Larger epochs are milliseconds: as seconds this one is in the year 5138.
_MOST_SECONDS = 100_000_000_000

MOST_DAYS = 36_500
"""More than any entry's age, and less than what a date can be moved by."""


class Use(Struct, frozen=True, kw_only=True):
    """When a branch was last chosen for one kind of work: a version, `no version`, or `any work`."""

    work: str
    last_used: datetime


class Stored(Struct, frozen=True, kw_only=True):
    """One entry, of any project: its text in the file (None: not there yet), and what it holds.

    `project_key`: the key under which it is kept; `owner`: the project that wrote it, if the entry names one.
    `choice` None: the entry is odd, and stays as it is until it is forgotten. `uses`: () if it is for any work.
    """

    project_key: str | None
    branch: str | None
    choice: RecentChoice | None
    raw: Raw | None = None
    owner: str | None = None
    uses: tuple[Use, ...] = ()


class Changed(Struct, frozen=True, kw_only=True):
    """What a change did: the entries before and after, whether the file was written, and what a person must know.

    `aside`: where a damaged file was kept. `warnings`: one a line, for standard error.
    """

    path: Path
    before: tuple[Stored, ...]
    after: tuple[Stored, ...]
    written: bool
    aside: Path | None = None
    warnings: tuple[str, ...] = ()


class Place(Struct, frozen=True, kw_only=True):
    """One entry as it stands in the file: its project key (None: the entry holds it), its value, its path."""

    key: str | None
    value: object
    where: str


class _Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry under a key of the map; another program may add keys."""

    branch: str
    last_used: Instant
    count: Annotated[int, msgspec.Meta(ge=1, le=_MOST_TIMES)] = 1


class _ListedEntry(_Entry, frozen=True, kw_only=True, rename="camel"):
    """One entry of the flat list."""

    project_key: str


Change = Callable[[tuple[Stored, ...], int], tuple[Stored, ...]]
"""Makes the new entries of the old ones and the time to live that the file sets, in days. Pure: it may run twice."""


# --- reading ---


def damage_of(data: bytes) -> Damage | None:
    """Why bytes cannot be a preferences file, or None if they can. Pure."""
    document = preferences_document(data)
    return document if isinstance(document, Damage) else None


def preferences_document(data: bytes) -> Document | Damage:
    """The file as a JSON object in which the keys that are looked up are no duplicates."""
    document = parse_document(data)
    if isinstance(document, Damage):
        return document
    ours = document.root.get("global")
    twice = [key for key in document.root.twice if key in _TOP_KEYS]
    if isinstance(ours, JsonObject):
        twice += [f"global.{key}" for key in ours.twice if key in _GLOBAL_KEYS]
        listed = ours.get(_LIST[1])
        twice += [join_path(_LISTED, key) for key in listed.twice] if isinstance(listed, JsonObject) else []
    if twice:
        return Damage(why=f"holds a key twice: {', '.join(sorted(twice))}", foreign=True)
    return document


def shape_fault(listed: object) -> str | None:
    """What is wrong with the shape of `global.recentBranches` as a whole; None if it is a list, a map or absent."""
    if listed is None or isinstance(listed, list | dict):
        return None
    return f"{_LISTED}: expected a list, or a map from project key to list"


def places(listed: object) -> Iterator[Place]:
    """Every entry of the list or the map, in its order."""
    if isinstance(listed, list):
        yield from (Place(key=None, value=value, where=f"{_LISTED}[{at}]") for at, value in enumerate(listed))
    elif isinstance(listed, dict):
        for key, values in listed.items():
            for at, value in enumerate(values if isinstance(values, list) else ()):
                yield Place(key=key, value=value, where=f"{join_path(_LISTED, key)}[{at}]")


def choices_of(listed: object, project_key: str, old_key: str | None, problems: list[str]) -> list[Stored]:
    """The usable entries of one project; what is odd about the others of the project is added to `faults`."""
    if isinstance(listed, dict):
        keys = [key for key in (project_key, old_key) if key is not None and key in listed]
        problems += [f"{join_path(_LISTED, key)}: expected a list" for key in keys if not isinstance(listed[key], list)]
    found = [(place, _stored(place)) for place in places(listed)]
    ours = of_project([stored for _, stored in found], project_key, old_key)
    for place, stored in found:
        if stored in ours or (stored.project_key is None and place.key is None):
            read_choice(place, problems)
    return [stored for stored in ours if stored.choice is not None]


def of_project(entries: Iterable[Stored], project_key: str, old_key: str | None) -> list[Stored]:
    """The entries of one project, odd ones included.

    Entries under `old_key`, which lacks the host and the folders, count unless another project has the same one.
    """
    entries = list(entries)
    shared = is_shared(entries, project_key, old_key)
    return [entry for entry in entries if _belongs(entry, project_key, None if shared else old_key)]


def is_shared(entries: Iterable[Stored], project_key: str, old_key: str | None) -> bool:
    """Whether another project of the file has the same old key, so that nobody can say whose its entries are."""
    if old_key is None:
        return False
    owners = {owner for entry in entries if (owner := entry.owner or entry.project_key) is not None}
    return any(owner not in (project_key, old_key) and owner.endswith(f"/{old_key}") for owner in owners)


def _belongs(entry: Stored, project_key: str, old_key: str | None) -> bool:
    if entry.project_key is None:
        return False
    mine = project_key in (entry.project_key, entry.owner)
    return mine or (entry.project_key == old_key and entry.owner is None)


def stored_in(document: Document) -> tuple[Stored, ...]:
    """Every entry, in its order, with its text. Pure."""
    ours = document.root.get("global")
    listed = ours.get(_LIST[1]) if isinstance(ours, JsonObject) else None
    if isinstance(listed, list):
        texts = raw_items(document, _LIST)
    elif isinstance(listed, JsonObject):
        texts = tuple(raw for key in listed for raw in raw_items(document, (*_LIST, key)))
    else:
        return ()
    return tuple(_stored(place, raw) for place, raw in zip(places(listed), texts, strict=True))


def _stored(place: Place, raw: Raw | None = None) -> Stored:
    table = place.value if isinstance(place.value, dict) else {}
    key = table.get("projectKey") if place.key is None else place.key
    key = key if isinstance(key, str) else None
    branch, owner = table.get("branch"), table.get(_OWNER)
    choice = read_choice(place, []) if key is not None else None
    return Stored(
        project_key=key,
        branch=plain_name(branch) if isinstance(branch, str) else None,
        choice=choice,
        raw=raw,
        owner=owner if isinstance(owner, str) else None,
        uses=_uses(table.get(_CHOSEN_FOR), choice) if choice is not None else (),
    )


def read_choice(place: Place, problems: list[str]) -> RecentChoice | None:
    """One entry as a choice; None for an odd one, with the reason in `faults`."""
    entry = place.value
    if isinstance(entry, JsonObject) and (twice := sorted(entry.twice)):
        problems.append(f"{join_path(place.where, twice[0])}: it stands there twice")
        return None
    if isinstance(entry, dict) and (moment := moments_of(entry.get("lastUsed"))) is not None:
        entry = entry | {"lastUsed": moment}
    try:
        found: _Entry = msgspec.convert(entry, _ListedEntry if place.key is None else _Entry)
    except UnicodeEncodeError:  # JSON can spell half of a surrogate pair, and UTF-8 cannot
        problems.append(f"{place.where}: it holds characters that no text has")
        return None
    except msgspec.ValidationError as error:
        message, where = place_of(str(error))
        problems.append(f"{place.where}{'.' + where if where else ''}: {message}")
        return None
    name = plain_name(found.branch)
    if fault_of_name := name_problem(name):
        problems.append(f"{place.where}.branch: {fault_of_name}")
        return None
    return RecentChoice(branch=name, last_used=found.last_used, count=found.count)


def plain_name(branch: str) -> str:
    """A branch's short name, of a full refname too.

    >>> plain_name("refs/heads/develop"), plain_name("origin/develop")
    ('develop', 'origin/develop')
    """
    prefix = next((prefix for prefix in _PREFIXES if branch.startswith(prefix)), "")
    return branch.removeprefix(prefix)


def same_branch(written: str, branch: str) -> bool:
    """Whether an entry's name stands for a branch: its short name, or `origin/` before it."""
    return written in (branch, _TRACKED + branch)


def moments_of(value: object) -> datetime | None:
    """A moment as other programs write it: RFC 3339, without a zone (UTC), a date, or an epoch in s or ms.

    >>> moments_of("2026-11-29"), moments_of(1764374400000)
    (datetime.datetime(2026, 11, 29, 0, 0, tzinfo=datetime.timezone.utc), \
datetime.datetime(2025, 11, 29, 0, 0, tzinfo=datetime.timezone.utc))
    """
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) > _MOST_SECONDS else value
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
    return None


def newest_first(choices: Iterable[RecentChoice]) -> tuple[RecentChoice, ...]:
    """Order by the moment of use, the newest first, then by name; of two for one branch the newer stands."""
    ordered = sorted(choices, key=lambda choice: (-choice.last_used.timestamp(), choice.branch.encode(), -choice.count))
    newest: dict[str, RecentChoice] = {}
    for choice in ordered:
        newest.setdefault(choice.branch, choice)
    return tuple(newest.values())


def _uses(value: object, choice: RecentChoice) -> tuple[Use, ...]:
    """What the branch was chosen for, newest first; () for an entry that does not say, which is for any work."""
    if not isinstance(value, dict):
        return ()
    found = {work: moment for work, when in value.items() if (moment := moments_of(when)) is not None}
    if not found:
        return ()
    if choice.last_used > max(found.values()):  # another program used the entry, for work that it did not record
        found[ANY_WORK] = choice.last_used
    return uses_in_order(found)


def uses_in_order(found: Mapping[str, datetime]) -> tuple[Use, ...]:
    """Newest first, then by the kind of work."""
    ordered = sorted(found.items(), key=lambda item: (-item[1].timestamp(), item[0]))
    return tuple(Use(work=work, last_used=moment) for work, moment in ordered)


# --- writing ---


def change_recent(
    path: Path,
    change: Change,
    now: datetime,
    *,
    old_key: str | None = None,
    create: bool = True,
    wait_seconds: float = LOCK_SECONDS,
    pause: Pause = time.sleep,
) -> Changed:
    """Replace the entries by what `change` makes of them, under the lock; `create` off: only in a good file.

    `old_key`: in a map that has it, new entries of the project go there. Raises SetupError, and nothing is written,
    if the file cannot be locked, read or replaced, or is another program's and has no place for the entries.
    """

    def edit(reading: Reading) -> Edit | None:
        return _edited(path, reading, change, old_key, create=create)

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


def days_in(settings: object) -> int | None:
    """`settings.branchTtlDays` if it is a whole number of days, zero or more."""
    days = settings.get("branchTtlDays") if isinstance(settings, dict) else None
    return min(days, MOST_DAYS) if isinstance(days, int) and not isinstance(days, bool) and days >= 0 else None


def _edited(path: Path, reading: Reading, change: Change, old_key: str | None, *, create: bool) -> Edit | None:
    """The file's new bytes, or None if nothing is to be written. Pure; raises SetupError if there is no place."""
    document = preferences_document(reading.data if reading.data is not None else NEW_DOCUMENT)
    aside = False
    if isinstance(document, Damage):
        if not create:
            return None
        if document.foreign:
            raise _no_place(path, document.why)
        # What is damaged is kept whole under another name; the new store begins with nothing.
        document, aside = _empty(), True
    days = days_in(document.root.get("settings"))
    before = stored_in(document)
    after = change(before, days if days is not None else Settings().branch_ttl_days)
    if after == before:
        return None
    ours = document.root.get("global")
    if ours is not None and not isinstance(ours, JsonObject):
        raise _no_place(path, "has something else than an object under the key global")
    listed = ours.get(_LIST[1]) if ours is not None else None
    if shape_fault(listed):
        raise _no_place(path, f"has neither a list nor a map under {_LISTED}")
    if isinstance(listed, list):
        text = set_member(document.text, _LIST, [_entry_text(entry, entry.project_key) for entry in after])
    else:
        text = _map_text(path, document.text, listed if isinstance(listed, dict) else {}, before, after, old_key)
    return Edit(data=document.encode(text), aside=aside)


def _map_text(
    path: Path,
    text: str,
    listed: Mapping[str, object],
    before: Sequence[Stored],
    after: Sequence[Stored],
    old_key: str | None,
) -> str:
    """The text with the lists that change; a new list stands under the project's key."""
    was, now = _by_key(before, listed, None), _by_key(after, listed, old_key)
    for key in dict.fromkeys([*was, *now]):
        if was.get(key) == now.get(key):
            continue
        if not isinstance(listed.get(key, []), list):
            raise _no_place(path, f"has something else than a list under {join_path(_LISTED, key)}")
        text = set_member(text, (*_LIST, key), [_entry_text(entry, None, key) for entry in now.get(key, ())])
    return text


def _by_key(entries: Sequence[Stored], listed: Mapping[str, object], old_key: str | None) -> dict[str, list[Stored]]:
    """The entries by the key of the map under which they stand, or will stand."""
    found: dict[str, list[Stored]] = {}
    for entry in entries:
        key = entry.project_key or ""
        joins_old = entry.raw is None and old_key is not None and key not in listed and old_key in listed
        if joins_old and old_key is not None and not is_shared(entries, key, old_key):
            key = old_key
        found.setdefault(key, []).append(entry)
    return found


def _entry_text(entry: Stored, listed_under: str | None, key: str | None = None) -> object:
    """What the file holds for an entry: its own text if it has one, changed no further than it must be.

    `listed_under`: the `projectKey` that an entry of the flat list names; `key`: the map's key.
    """
    if entry.raw is None:
        assert entry.choice is not None  # noqa: S101 - what is new was made here
        head = {} if listed_under is None else {"projectKey": listed_under}
        owner = {_OWNER: entry.project_key} if key is not None and key != entry.project_key else {}
        return head | {"branch": entry.branch} | _counted(entry, None) | owner
    old = _stored(Place(key=key, value=_value_of(entry.raw), where=""), entry.raw)
    if entry.choice is None or old == entry:
        return entry.raw
    text = entry.raw.text
    for name, value in _counted(entry, _value_of(entry.raw)).items():
        text = set_member(text, (name,), value)
    if entry.owner != old.owner:
        text = set_member(text, (_OWNER,), entry.owner)
    return Raw(text)


def _counted(entry: Stored, old: object) -> dict[str, object]:
    """What a choice changes in its entry; an epoch stays an epoch."""
    assert entry.choice is not None  # noqa: S101 - an odd entry is not counted
    moment = entry.choice.last_used.astimezone(UTC)
    epoch = old.get("lastUsed") if isinstance(old, dict) else None
    last_used: object = _spelled(moment)
    if isinstance(epoch, int | float) and not isinstance(epoch, bool):
        last_used = round(moment.timestamp() * (1000 if abs(epoch) > _MOST_SECONDS else 1))
    uses = {_CHOSEN_FOR: {use.work: _spelled(use.last_used.astimezone(UTC)) for use in entry.uses}}
    return {"lastUsed": last_used, "count": min(entry.choice.count, _MOST_TIMES)} | (uses if entry.uses else {})


def _spelled(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def _value_of(raw: Raw) -> object:
    document = parse_document(raw.text.encode("utf-8", "surrogatepass"))
    return document.root if isinstance(document, Document) else None


def _changed(path: Path, outcome: Outcome) -> Changed:
    name = printable(str(path))
    warnings = []
    damage = damage_of(outcome.before) if outcome.before is not None else None
    if outcome.aside is not None and damage is not None:
        warnings.append(f"{name} {damage.why}; it is kept as {printable(str(outcome.aside))}")
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
    document = preferences_document(data) if data is not None else None
    return stored_in(document) if isinstance(document, Document) else ()


def _empty() -> Document:
    document = parse_document(NEW_DOCUMENT)
    assert isinstance(document, Document)  # noqa: S101 - it is a constant
    return document


def _no_place(path: Path, why: str) -> SetupError:
    said = f"{printable(str(path))} {why}; nothing was changed"
    return SetupError(said, code="preferences-unusable", hint=_ANOTHER_FILE)
