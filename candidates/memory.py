"""What remembering and forgetting do to the list of choices, and which of them are shown.

Pure, but for `remember` and `forget`, which run the pure change under the store's lock. Nothing but a person's
answer (`asked`) and the commands of these names may call those two: an unattended answer never steers the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from collectors.errors import InvalidInput
from collectors.stores.preferences import Changed, Stored, change_recent, newest_first, time_to_live
from collectors.stores.store_file import LOCK_SECONDS
from ranking.facts import RecentChoice, Record
from ranking.names import fault_of, shown
from ranking.recent import is_expired

MOST_KEPT = 10
"""Choices that are kept for one project."""

MOST_SHOWN = 5
"""Choices that a person is shown."""


class Recent(Record, frozen=True, kw_only=True):
    """The remembered choices of one project, newest first, and how the reading went."""

    schema: Literal["base-branch/recent@1"] = "base-branch/recent@1"
    project_key: str
    choices: tuple[RecentChoice, ...]
    state: Literal["answered", "partial", "failed", "not-asked"]
    detail: str | None = None


def remember(
    path: Path,
    project_key: str,
    branch: str,
    now: datetime,
    *,
    branch_ttl_days: int | None = None,
    wait_seconds: float = LOCK_SECONDS,
) -> Changed:
    """Record that a person chose a branch; InvalidInput for what is no name, SetupError where it cannot be kept.

    `branch_ttl_days`: as asked for in this run; else the file's own counts.
    """
    _check(project_key, branch)

    def change(entries: tuple[Stored, ...], days_in_file: int) -> tuple[Stored, ...]:
        return with_choice(entries, project_key, branch, now, time_to_live(branch_ttl_days, days_in_file))

    changed = change_recent(path, change, now, wait_seconds=wait_seconds)
    return replace(changed, warnings=(*changed.warnings, *dated_later(changed.after, project_key, branch, now)))


def forget(
    path: Path, project_key: str, branch: str | None, now: datetime, *, wait_seconds: float = LOCK_SECONDS
) -> Changed:
    """Take a project's choices of a branch out of the store, all of the project's where `branch` is None.

    What was forgotten: `forgotten(changed)`. A store that is not there or is damaged is left as it is.
    """
    _check(project_key, None)

    def change(entries: tuple[Stored, ...], days_in_file: int) -> tuple[Stored, ...]:
        del days_in_file
        return without_choice(entries, project_key, branch)

    return change_recent(path, change, now, create=False, wait_seconds=wait_seconds)


def with_choice(
    entries: Iterable[Stored], project_key: str, branch: str, now: datetime, days: int
) -> tuple[Stored, ...]:
    """The list with a branch chosen once more: it comes first, and the project keeps its newest few.

    Other projects' entries stay as they are, expired or not (their time to live may be another), and so do
    odd ones, which are not understood well enough to be dropped.
    """
    entries = tuple(entries)
    ours = [e for e in entries if e.project_key == project_key and e.choice is not None]
    before = newest_first([e.choice for e in ours if e.choice is not None and e.branch == branch])
    count = before[0].count + 1 if before else 1
    choice = RecentChoice(branch=branch, last_used=now.astimezone(UTC), count=count)
    old = next((e for e in ours if before and e.choice == before[0]), None)
    chosen = replace(old, choice=choice) if old else Stored(project_key=project_key, branch=branch, choice=choice)
    live = [
        e.choice for e in ours if e.choice is not None and e.branch != branch and not is_expired(e.choice, now, days)
    ]
    kept = newest_first(live)[: MOST_KEPT - 1]
    return (chosen, *_only(entries, ours, kept))


def without_choice(entries: Iterable[Stored], project_key: str, branch: str | None) -> tuple[Stored, ...]:
    """The list without a project's entries for a branch (None: without all of the project's), odd ones included."""
    return tuple(e for e in entries if e.project_key != project_key or branch not in (None, e.branch))


def forgotten(changed: Changed) -> tuple[str, ...]:
    """The branches that a change took out, each once, in the order of their bytes; an odd entry's is "?"."""
    left = list(changed.after)
    gone = [entry for entry in changed.before if entry not in left]
    return tuple(sorted({entry.branch if entry.branch is not None else "?" for entry in gone}, key=_bytes))


def to_show(choices: Iterable[RecentChoice]) -> tuple[RecentChoice, ...]:
    """The few that a person is shown, newest first."""
    return newest_first(list(choices))[:MOST_SHOWN]


def dated_later(entries: Iterable[Stored], project_key: str, branch: str, now: datetime) -> tuple[str, ...]:
    """What is to be said where another choice is dated later than the one that was just made."""
    later = [
        e.choice
        for e in entries
        if e.project_key == project_key and e.choice is not None and e.branch != branch and e.choice.last_used > now
    ]
    return tuple(
        f"{choice.branch} was chosen on {choice.last_used:%Y-%m-%d}, later than now: it still comes first; "
        f"base-branch forget {choice.branch}"
        for choice in newest_first(later)[:1]
    )


def _only(entries: tuple[Stored, ...], ours: list[Stored], kept: tuple[RecentChoice, ...]) -> Iterable[Stored]:
    """Everybody else's entries, and of ours one for each that is kept."""
    left = list(kept)
    for entry in entries:
        if entry not in ours:
            yield entry
        elif entry.choice in left:
            left.remove(entry.choice)
            yield entry


def _check(project_key: str, branch: str | None) -> None:
    if not project_key or not project_key.isprintable():
        raise InvalidInput(
            f"{shown(project_key)!r} is no project key", where="projectKey", hint="name one: --project-key KEY"
        )
    fault = fault_of(branch) if branch is not None else None
    if branch is not None and fault:
        raise InvalidInput(f"{shown(branch)!r} can be no branch: {fault}", where="branch")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
