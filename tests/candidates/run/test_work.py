"""What a branch was chosen for, and the work to which that applies."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from candidates.run.work import applies, choices_for, work_of
from collectors.stores.preferences import Remembered
from collectors.stores.recent_entries import ANY_WORK, Use
from ranking.facts import Issue, IssueVersion, RecentChoice
from tests.ranking.facts_builder import wants


def day(number: int) -> datetime:
    return datetime(2026, 11, number, tzinfo=UTC)


@pytest.mark.parametrize(
    ("chosen_for", "work", "branch", "expected"),
    [
        ("8.3.0", "8.3.0", "develop", True),
        ("8.3.0", "8.3.1", "develop", True),
        ("8.3.0", "8.3.1", "release/8.3", True),
        ("8.3.0", "8.3.1", "release/8.3.0", False),
        ("8.3", "8.3.0", "release/8.3.0", True),
        ("8.3.0", "8.4.0", "release/8.3", False),
        ("8.3.0", "8.4.0", "8.x", True),
        ("8.3.0, 8.4.0", "8.3.1", "develop", False),
        ("8.3.0, 8.4.0", "8.3.1, 8.4.1", "develop", True),
        ("v8.3.0", "8.3.2", "develop", True),
        ("CNV 4.22", "4.22", "release-4.22", False),
        ("no version", "8.3.0", "develop", False),
        ("8.3.0", "no version", "develop", False),
        ("no version", "no version", "develop", True),
        ("any work", "8.3.0", "develop", True),
        ("8.3.0", "any work", "develop", True),
    ],
)
def test_a_choice_applies_to_work_on_its_line(chosen_for: str, work: str, branch: str, *, expected: bool) -> None:
    assert applies(chosen_for, work, branch) is expected


def test_the_versions_that_the_work_is_for() -> None:
    assert work_of(None) == "no version"
    assert work_of(wants(("8.4.0", "8.3.0"))) == "8.3.0, 8.4.0"
    assert work_of(Issue(key="A-1", read="failed")) == ANY_WORK
    affected = IssueVersion(name="8.2.0", field="versions", role="affected")
    label = IssueVersion(name="8.1.0", field="labels", role="label")
    backlog = IssueVersion(name="Backlog", field="fixVersions", role="fix")
    assert work_of(Issue(key="A-1", read="answered", versions=(affected, backlog))) == "no version"
    assert work_of(Issue(key="A-1", read="answered", versions=(affected, label))) == "8.1.0"


def test_a_branch_counts_by_its_newest_use_for_this_work() -> None:
    choices = tuple(RecentChoice(branch=name, last_used=day(9)) for name in ("develop", "main", "release/8.4"))
    uses = {
        "develop": (Use(work="8.4.0", last_used=day(9)), Use(work="8.3.0", last_used=day(2))),
        "release/8.4": (Use(work="8.4.0", last_used=day(9)),),
    }
    found, others = choices_for(Remembered(choices=choices, uses=uses), wants("8.3.1"))
    assert [(choice.branch, choice.last_used) for choice in found] == [("develop", day(2)), ("main", day(9))]
    assert others == ("release/8.4, chosen for 8.4.0",)
