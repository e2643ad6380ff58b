"""The remembered choices: what is read, what is passed over and said, and what never stops a run."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.preferences import Remembered, newest_first, parse_recent, preferences_path, read_recent
from ranking.facts import RecentChoice

if TYPE_CHECKING:
    from random import Random

PROJECT = "acme/app"


def day(number: int) -> datetime:
    return datetime(2026, 3, number, tzinfo=UTC)


def entry(branch: object = "develop", last_used: object = "2026-03-01T00:00:00Z", **more: object) -> dict[str, object]:
    return {"projectKey": PROJECT, "branch": branch, "lastUsed": last_used, "count": 1} | more


def parsed(*entries: object, **more: object) -> Remembered:
    data = json.dumps({"global": {"recentBranches": entries}} | more).encode()
    return parse_recent(data, PROJECT, "prefs")


# Where the store is.


def test_the_variable_names_the_store() -> None:
    assert preferences_path({"BASE_BRANCH_PREFERENCES": "/tmp/p.json"}) == Path("/tmp/p.json")  # noqa: S108


def test_without_the_variable_it_is_in_the_users_own_folder(home: Path) -> None:
    path = preferences_path({"BASE_BRANCH_PREFERENCES": ""})
    assert path.is_relative_to(home)
    assert path.parts[-2:] == ("base-branch", "preferences.json")


# What is read.


def test_the_choices_of_this_project_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(
        json.dumps(
            {
                "theme": "dark",
                "global": {
                    "recentBranches": [
                        entry("release/8.3.0", "2026-03-02T00:00:00Z", count=4),
                        entry("main", "2026-03-09T00:00:00+02:00"),
                        entry("release/1.0", projectKey="acme/other"),
                        entry("develop", "2026-03-08T23:00:00Z", colour="red"),
                    ],
                    "other": [1],
                },
            }
        ),
        encoding="utf-8",
    )
    assert read_recent(path, PROJECT) == Remembered(
        choices=(
            RecentChoice(branch="develop", last_used=datetime(2026, 3, 8, 23, tzinfo=UTC)),
            RecentChoice(branch="main", last_used=datetime(2026, 3, 8, 22, tzinfo=UTC)),
            RecentChoice(branch="release/8.3.0", last_used=day(2), count=4),
        )
    )


def test_a_file_that_is_not_there_has_no_choices(tmp_path: Path) -> None:
    assert read_recent(tmp_path / "none.json", PROJECT) == Remembered(state="answered")
    assert read_recent(tmp_path / "no" / "folder.json", PROJECT) == Remembered(state="answered")


@pytest.mark.parametrize("text", ["{}", '{"global": {}}', '{"global": null}', '{"global": {"recentBranches": []}}'])
def test_a_file_without_our_keys_has_no_choices(text: str) -> None:
    assert parse_recent(text.encode(), PROJECT, "prefs") == Remembered()


def test_a_mark_at_the_beginning_is_another_programs_habit() -> None:
    assert parse_recent(b"\xef\xbb\xbf{}", PROJECT, "prefs") == Remembered()


def test_the_newer_of_two_entries_for_a_branch_stands() -> None:
    found = parsed(entry(count=2), entry(last_used="2026-03-05T00:00:00Z"), entry(last_used="2026-03-03T00:00:00Z"))
    assert found.choices == (RecentChoice(branch="develop", last_used=day(5)),)


def test_a_count_may_be_left_out() -> None:
    found = parsed({"projectKey": PROJECT, "branch": "develop", "lastUsed": "2026-03-01T00:00:00Z"})
    assert found == Remembered(choices=(RecentChoice(branch="develop", last_used=day(1), count=1),))


choices = st.builds(
    RecentChoice,
    branch=st.sampled_from(["main", "develop", "release/1", "é"]),
    last_used=st.sampled_from([day(1), day(2), day(3)]),
    count=st.integers(1, 3),
)


@settings(max_examples=60)
@given(st.lists(choices, max_size=8), st.randoms(use_true_random=False))
def test_the_order_is_total_and_each_branch_stands_once(found: list[RecentChoice], random: Random) -> None:
    shuffled = list(found)
    random.shuffle(shuffled)
    ordered = newest_first(found)
    assert newest_first(shuffled) == ordered
    assert sorted(choice.branch for choice in ordered) == sorted({choice.branch for choice in found})
    assert all(one.last_used >= other.last_used for one, other in pairwise(ordered))


# What is passed over, and said.


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (entry(branch=7), "global.recentBranches[0].branch: expected `str`, got `int`"),
        (entry(last_used=1767603600), "global.recentBranches[0].lastUsed: expected `datetime`, got `int`"),
        (entry(last_used="yesterday"), "global.recentBranches[0].lastUsed: invalid RFC3339 encoded datetime"),
        (
            entry(last_used="2026-03-01T00:00:00"),
            "global.recentBranches[0].lastUsed: expected `datetime` with a timezone component",
        ),
        (entry(count=0), "global.recentBranches[0].count: expected `int` >= 1"),
        (
            entry(branch="--orphan"),
            "global.recentBranches[0].branch: it begins with a dash, which git would read as an option",
        ),
        (entry(branch=""), "global.recentBranches[0].branch: it is empty"),
        (entry(branch="a\ud800"), "global.recentBranches[0].branch: it holds characters that do not show"),
        (entry(projectKey=None), "global.recentBranches[0].projectKey: expected `str`, got `null`"),
        ({"projectKey": PROJECT}, "global.recentBranches[0].branch: a required field is missing"),
        (["develop"], "global.recentBranches[0]: expected `object`, got `array`"),
        (None, "global.recentBranches[0]: expected `object`, got `null`"),
    ],
)
def test_one_odd_entry_is_passed_over_and_the_others_stand(odd: object, said: str) -> None:
    assert parsed(odd, entry()) == Remembered(
        choices=(RecentChoice(branch="develop", last_used=day(1)),),
        state="partial",
        detail=f"prefs: passed over: {said}",
    )


def test_another_projects_odd_entry_is_none_of_ours() -> None:
    assert parsed({"projectKey": "acme/other", "branch": 7}) == Remembered()


def test_of_many_odd_entries_a_few_are_shown() -> None:
    detail = parsed(*[None] * 12).detail
    assert detail is not None
    assert detail.count("expected `object`") == 5
    assert detail.endswith("; and 7 more")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"global": []}', "global: expected an object"),
        ('{"global": {"recentBranches": {}}}', "global.recentBranches: expected a list"),
        ('{"settings": 3}', "settings: expected an object"),
    ],
)
def test_a_part_of_another_shape_is_said(text: str, said: str) -> None:
    assert parse_recent(text.encode(), PROJECT, "prefs") == Remembered(
        state="partial", detail=f"prefs: passed over: {said}"
    )


def test_moments_at_the_edge_of_the_calendar_are_ordered() -> None:
    found = parsed(entry("a", "0001-01-01T00:00:00+14:00"), entry("b", "9999-12-31T23:59:59-14:00"))
    assert [choice.branch for choice in found.choices] == ["b", "a"]
    assert found.state == "answered"


# What is damaged.


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is no JSON: "),
        (b'{"global": {"recentBranches": [{"proj', "is no JSON: "),
        (b"\0" * 512, "is no JSON: "),
        (b"\xff\xfe{\0}\0", "is no JSON: "),
        (b"[" * 100_000, "is no JSON: nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "is no JSON: "),
        (b"[]", "holds no JSON object"),
        (b'"text"', "holds no JSON object"),
    ],
    ids=lambda value: repr(value[:12]),
)
def test_a_damaged_store_is_said_and_kept(data: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(data)
    found = read_recent(path, PROJECT)
    assert (found.state, found.choices) == ("failed", ())
    assert found.detail is not None
    assert found.detail.startswith(f"{path} {said}")
    assert path.read_bytes() == data


def test_what_is_in_the_way_is_said(tmp_path: Path) -> None:
    assert read_recent(tmp_path, PROJECT) == Remembered(state="failed", detail=f"{tmp_path} is no regular file")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert read_recent(pipe, PROJECT) == Remembered(state="failed", detail=f"{pipe} is no regular file")
    below = tmp_path / "file" / "preferences.json"
    below.parent.write_text("", encoding="utf-8")
    assert read_recent(below, PROJECT) == Remembered(state="failed", detail=f"{below} cannot be read: not a directory")
    ring = tmp_path / "ring"
    ring.symlink_to(ring)
    assert read_recent(ring, PROJECT).state == "failed"
    assert read_recent(Path("a\0b"), PROJECT).state == "failed"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_store_that_may_not_be_read_is_said(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text("{}", encoding="utf-8")
    path.chmod(0)
    assert read_recent(path, PROJECT) == Remembered(state="failed", detail=f"{path} cannot be read: permission denied")


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_give_an_answer(data: bytes) -> None:
    assert parse_recent(data, PROJECT, "prefs").choices == ()


# The settings that the file may hold.


@pytest.mark.parametrize(
    ("value", "expected"), [(True, True), (False, False), ("on", True), ("off", False), (None, None)]
)
def test_the_evidence_switch(value: object, expected: bool | None) -> None:  # noqa: FBT001 - a table's column
    data = json.dumps({"global": {"baseBranchEvidence": value}}).encode()
    assert parse_recent(data, PROJECT, "prefs") == Remembered(evidence=expected)


def test_an_evidence_switch_of_another_shape_is_said() -> None:
    found = parse_recent(b'{"global": {"baseBranchEvidence": 1}}', PROJECT, "prefs")
    assert (found.evidence, found.state) == (None, "partial")
    assert found.detail == "prefs: passed over: global.baseBranchEvidence: expected true or false"


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (30, 30), (None, None)])
def test_the_time_to_live(value: object, expected: int | None) -> None:
    assert parsed(settings={"branchTtlDays": value}) == Remembered(branch_ttl_days=expected)


@pytest.mark.parametrize("value", [-1, 1.5, True, "15", [15]])
def test_a_time_to_live_that_is_none_is_said(value: object) -> None:
    found = parsed(settings={"branchTtlDays": value})
    assert (found.branch_ttl_days, found.state) == (None, "partial")
    assert found.detail == "prefs: passed over: settings.branchTtlDays: expected a whole number of days"
