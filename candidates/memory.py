"""What remembering and forgetting do to the list of choices, and which of them are shown.

Pure, but for `remember` and `forget`, which run the pure change under the store's lock. Nothing but a person's
answer (`asked`) and the commands of these names may call those two: an unattended answer never steers the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from collectors.errors import InvalidInput
from collectors.stores.preferences import time_to_live
from collectors.stores.recent_entries import (
    ANY_WORK,
    Changed,
    Stored,
    Use,
    change_recent,
    newest_first,
    of_project,
    same_branch,
    uses_in_order,
)
from collectors.stores.store_file import LOCK_SECONDS
from ranking.facts import RecentChoice, Record
from ranking.names import name_problem, printable
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
    old_key: str | None = None,
    work: str = ANY_WORK,
    branch_ttl_days: int | None = None,
    wait_seconds: float = LOCK_SECONDS,
) -> Changed:
    """Record that a person chose a branch. Raises InvalidInput for an invalid name, SetupError if it cannot be kept.

    `old_key`: the project's key in older files; `work`: what the branch was chosen for; `branch_ttl_days`: as asked
    for in this run, else the file's own counts.
    """
    _check(project_key, branch)

    def change(entries: tuple[Stored, ...], days_in_file: int) -> tuple[Stored, ...]:
        days = time_to_live(branch_ttl_days, days_in_file)
        return with_choice(entries, project_key, branch, now, days, old_key=old_key, work=work)

    changed = change_recent(path, change, now, old_key=old_key, wait_seconds=wait_seconds)
    return replace(
        changed, warnings=(*changed.warnings, *dated_later(changed.after, project_key, branch, now, old_key))
    )


def forget(
    path: Path,
    project_key: str,
    branch: str | None,
    now: datetime,
    *,
    old_key: str | None = None,
    wait_seconds: float = LOCK_SECONDS,
) -> Changed:
    """Take a project's choices of a branch out of the store, all of the project's where `branch` is None.

    What was forgotten: `forgotten(changed)`. A store that is not there or is damaged is left as it is.
    """
    _check(project_key, None)

    def change(entries: tuple[Stored, ...], days_in_file: int) -> tuple[Stored, ...]:
        del days_in_file
        return without_choice(entries, project_key, branch, old_key=old_key)

    return change_recent(path, change, now, create=False, wait_seconds=wait_seconds)


def with_choice(
    entries: Iterable[Stored],
    project_key: str,
    branch: str,
    now: datetime,
    days: int,
    *,
    old_key: str | None = None,
    work: str = ANY_WORK,
) -> tuple[Stored, ...]:
    """The entries with a branch chosen once more: it is first, and the project keeps its newest few.

    Other projects' entries stay as they are, expired or not (their time to live may be another), and so do
    odd ones, which are not understood well enough to be dropped.
    """
    entries = tuple(entries)
    ours = [e for e in of_project(entries, project_key, old_key) if e.choice is not None]
    same = [e for e in ours if e.choice is not None and same_branch(e.choice.branch, branch)]
    old = max(same, key=lambda e: _age(e.choice), default=None)
    now = now.astimezone(UTC)
    uses = _uses_with(old, work, now, days)
    if old is None or old.choice is None:
        choice = RecentChoice(branch=branch, last_used=now, count=1)
        chosen = Stored(project_key=project_key, branch=branch, choice=choice, uses=uses)
    else:
        choice = replace(old.choice, last_used=now, count=old.choice.count + 1)
        owner = old.owner if old.project_key == project_key else project_key
        chosen = replace(old, choice=choice, owner=owner, uses=uses)
    live = [e.choice for e in ours if e.choice is not None and e not in same and not is_expired(e.choice, now, days)]
    kept = newest_first(live)[: MOST_KEPT - 1]
    return (chosen, *_only(entries, ours, kept))


def _age(choice: RecentChoice | None) -> tuple[float, int]:
    return (choice.last_used.timestamp(), choice.count) if choice is not None else (0.0, 0)


def _uses_with(old: Stored | None, work: str, now: datetime, days: int) -> tuple[Use, ...]:
    """What the branch was chosen for, with this use; () as long as no use is for one kind of work."""
    before = old.uses if old is not None else ()
    if old is not None and old.choice is not None and not before:
        before = (Use(work=ANY_WORK, last_used=old.choice.last_used),)
    alive = {use.work: use.last_used for use in before if now - use.last_used <= timedelta(days=days)}
    uses = uses_in_order(alive | {work: now})[:MOST_KEPT]
    return uses if any(use.work != ANY_WORK for use in uses) else ()


def without_choice(
    entries: Iterable[Stored], project_key: str, branch: str | None, *, old_key: str | None = None
) -> tuple[Stored, ...]:
    """The entries without a project's for a branch (None: without all of the project's), odd ones included."""
    entries = tuple(entries)
    gone = [
        entry
        for entry in of_project(entries, project_key, old_key)
        if branch is None or (entry.branch is not None and same_branch(entry.branch, branch))
    ]
    return tuple(entry for entry in entries if entry not in gone)


def forgotten(changed: Changed) -> tuple[str, ...]:
    """The branches that a change took out, each once, in the order of their bytes; an odd entry's is "?"."""
    left = list(changed.after)
    gone = [entry for entry in changed.before if entry not in left]
    return tuple(sorted({entry.branch if entry.branch is not None else "?" for entry in gone}, key=_bytes))


def to_show(choices: Iterable[RecentChoice]) -> tuple[RecentChoice, ...]:
    """The few that a person is shown, newest first."""
    return newest_first(list(choices))[:MOST_SHOWN]


def dated_later(
    entries: Iterable[Stored], project_key: str, branch: str, now: datetime, old_key: str | None = None
) -> tuple[str, ...]:
    """What is to be said where another choice is dated later than the one that was just made."""
    later = [
        e.choice
        for e in of_project(entries, project_key, old_key)
        if e.choice is not None and not same_branch(e.choice.branch, branch) and e.choice.last_used > now
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
            f"{printable(project_key)!r} is no project key", where="projectKey", hint="name one: --project-key KEY"
        )
    problem = name_problem(branch) if branch is not None else None
    if branch is not None and problem:
        raise InvalidInput(f"{printable(branch)!r} can be no branch: {problem}", where="branch")


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")
