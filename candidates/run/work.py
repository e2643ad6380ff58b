"""What a branch is chosen for: the versions of the work, and whether a stored choice applies to other work. Pure."""

from __future__ import annotations

import re
from typing import Final

from msgspec.structs import replace

from collectors.stores.preferences import Remembered
from collectors.stores.recent_entries import ANY_WORK
from ranking.facts import Issue, IssueVersion, RecentChoice

NO_VERSION: Final = "no version"
"""The work of an issue that names no version."""

_TARGETS: Final = ("fix", "target", "milestone", None)
_BETWEEN: Final = ", "
_NUMBERS: Final = re.compile(r"\d+(?:[._-]\d+)*")
# Of a branch whose name has no version: work on one line shares this much.
_LINE: Final = 2

_Version = tuple[str, tuple[int, ...]]
"""The words before the number, and the number's components."""


def work_of(issue: Issue | None) -> str:
    """The versions of the work as one text; `no version` if it names none, `any work` if they could not be read."""
    if issue is None:
        return NO_VERSION
    if issue.read not in ("answered", "partial"):
        return ANY_WORK
    named = _named(issue, _TARGETS) or _named(issue, ("label",))
    return _BETWEEN.join(sorted(named)) or NO_VERSION


def choices_for(remembered: Remembered, issue: Issue | None) -> tuple[tuple[RecentChoice, ...], tuple[str, ...]]:
    """The stored choices that apply to this work, and for the others what they were chosen for."""
    work = work_of(issue)
    found, others = [], []
    for choice in remembered.choices:
        uses = remembered.uses.get(choice.branch)
        if uses is None:
            found.append(choice)
        elif fitting := [use.last_used for use in uses if applies(use.work, work, choice.branch)]:
            found.append(replace(choice, last_used=max(fitting)))
        else:
            others.append(f"{choice.branch}, chosen for {'; '.join(use.work for use in uses)}")
    return tuple(found), tuple(others)


def applies(chosen_for: str, work: str, branch: str) -> bool:
    """Whether a branch that was chosen for some work serves other work: for any, for the same, or on the same line.

    The line is as long as the version in the branch's name: of `release/8.3` it is 8.3, of `release/8.3.0` 8.3.0.

    >>> applies("8.3.0", "8.3.1", "release/8.3"), applies("8.3.0", "8.4.0", "release/8.3")
    (True, False)
    """
    if chosen_for == work or ANY_WORK in (chosen_for, work):
        return True
    if NO_VERSION in (chosen_for, work):
        return False
    numbers = _NUMBERS.findall(branch)
    size = len(re.split(r"[._-]", numbers[-1])) if numbers else _LINE
    return _lines(chosen_for, size) == _lines(work, size)


def _named(issue: Issue, roles: tuple[str | None, ...]) -> set[str]:
    return {version.name for version in issue.versions if _role(version) in roles and _NUMBERS.search(version.name)}


def _role(version: IssueVersion) -> str | None:
    if version.role is None and version.field == "versions":
        return "affected"
    return "label" if version.role is None and version.field == "labels" else version.role


def _lines(work: str, size: int) -> frozenset[_Version]:
    return frozenset(_line(label, size) for label in work.split(_BETWEEN))


def _line(label: str, size: int) -> _Version:
    found = _NUMBERS.search(label)
    if found is None:
        return label, ()
    words = re.sub(r"[^a-z0-9]+", " ", label[: found.start()].lower()).strip().removesuffix("v").strip()
    numbers = [int(part) for part in re.split(r"[._-]", found[0])]
    return words, tuple((numbers + [0] * size)[:size])
