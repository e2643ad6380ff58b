"""The remembered choices: what is read, what is passed over and said, and what never stops a run."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.errors import SetupError
from collectors.stores.preferences import Remembered, WebRepo, parse_recent, preferences_path, read_recent, time_to_live
from collectors.stores.recent_entries import Stored, change_recent, newest_first, stored_in
from collectors.stores.store_file import Document, Raw, parse_document
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
        (entry(last_used="yesterday"), "global.recentBranches[0].lastUsed: invalid RFC3339 encoded datetime"),
        (entry(last_used=True), "global.recentBranches[0].lastUsed: expected `datetime`, got `bool`"),
        (entry(count=0), "global.recentBranches[0].count: expected `int` >= 1"),
        (entry(count=2**53), "global.recentBranches[0].count: expected `int` <= 9007199254740991"),
        (entry(count=10**40), "global.recentBranches[0].count: expected `int`, got `float`"),
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


def test_an_entry_that_says_a_thing_twice_is_passed_over() -> None:
    twice = '{"projectKey": "acme/app", "branch": "a", "lastUsed": "2026-03-01T00:00:00Z", "branch": "b"}'
    found = parse_recent(f'{{"global": {{"recentBranches": [{twice}]}}}}'.encode(), PROJECT, "prefs")
    assert (found.choices, found.state) == ((), "partial")
    assert found.detail == "prefs: passed over: global.recentBranches[0].branch: it stands there twice"


def test_keys_of_others_may_stand_twice() -> None:
    assert parse_recent(b'{"a": 1, "a": 2, "global": {"b": 1, "b": 2}}', PROJECT, "prefs") == Remembered()


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
        (
            '{"global": {"recentBranches": 7}}',
            "global.recentBranches: expected a list, or a map from project key to list",
        ),
        ('{"global": {"recentBranches": {"acme/app": 7}}}', 'global.recentBranches["acme/app"]: expected a list'),
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
        (b'{"a": 1, "a": ', "is no JSON: "),
        (b'{"global": {}, "a": 1, "global": {}}', "holds a key twice: global"),
        (
            b'{"settings": 1, "settings": 2, "global": {"recentBranches": [], "recentBranches": []}}',
            "holds a key twice: ",
        ),
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


def test_a_time_to_live_beyond_the_calendar_is_as_good_as_for_ever() -> None:
    days = parsed(settings={"branchTtlDays": 10**12}).branch_ttl_days
    assert days == 36_500
    assert day(1) - timedelta(days=days) < day(1)


def test_what_is_asked_for_goes_before_the_file_and_the_file_before_the_usual() -> None:
    assert [
        time_to_live(given, in_file) for given, in_file in [(3, 7), (0, 7), (None, 7), (None, 0), (None, None)]
    ] == [
        3,
        0,
        7,
        0,
        15,
    ]
    assert time_to_live(10**12, None) == 36_500


@pytest.mark.parametrize("value", [-1, 1.5, True, "15", [15]])
def test_a_time_to_live_that_is_none_is_said(value: object) -> None:
    found = parsed(settings={"branchTtlDays": value})
    assert (found.branch_ttl_days, found.state) == (None, "partial")
    assert found.detail == "prefs: passed over: settings.branchTtlDays: expected a whole number of days"


@pytest.mark.parametrize(("value", "expected"), [(True, True), ("on", True), (False, False), (None, False)])
def test_whether_autopilot_asks_on_the_issue(value: object, expected: bool) -> None:  # noqa: FBT001 - a table's column
    data = json.dumps({"global": {"autopilotAsksOnIssue": value}}).encode()
    assert parse_recent(data, PROJECT, "prefs") == Remembered(autopilot_asks_on_issue=expected)


def test_it_does_not_ask_where_the_switch_is_odd() -> None:
    found = parse_recent(b'{"global": {"autopilotAsksOnIssue": "yes"}}', PROJECT, "prefs")
    assert (found.autopilot_asks_on_issue, found.state) == (False, "partial")
    assert found.detail == "prefs: passed over: global.autopilotAsksOnIssue: expected true or false"


@pytest.mark.parametrize(
    ("value", "expected", "said"),
    [
        (None, (), None),
        ([], (), None),
        (["~/web", "../b"], (WebRepo(path="~/web"), WebRepo(path="../b")), None),
        ("/web", (WebRepo(path="/web"),), None),
        (
            [{"path": "/a", "readOnly": True, "more": 1}, {"path": "/b", "readOnly": None}, {"path": "/c"}],
            (WebRepo(path="/a", read_only=True), WebRepo(path="/b"), WebRepo(path="/c")),
            None,
        ),
        (["/a", {"path": "/a", "readOnly": True}], (WebRepo(path="/a"),), None),
        ({"path": "/a"}, (), "global.webRepos: expected a list"),
        (
            [7, {"readOnly": True}, "", "a\0b", "/a"],
            (WebRepo(path="/a"),),
            "; ".join(f"global.webRepos[{n}]: expected a path, or an object with a path" for n in range(4)),
        ),
        (
            [{"path": "/a", "readOnly": "no"}],
            (WebRepo(path="/a", read_only=True),),
            "global.webRepos[0].readOnly: expected true or false; taken as true",
        ),
    ],
)
def test_the_repositories_that_the_file_names(value: object, expected: tuple[WebRepo, ...], said: str | None) -> None:
    found = parse_recent(json.dumps({"global": {"webRepos": value}}).encode(), PROJECT, "prefs")
    assert found.web_repos == expected
    assert found.detail == (f"prefs: passed over: {said}" if said else None)


# Age, and other programs at work.


def test_choices_past_their_time_are_left_out_of_a_read_and_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    rows = [entry(branch, f"2026-03-{number:02}T00:00:00Z") for branch, number in [("a", 20), ("b", 10), ("c", 3)]]
    path.write_text(json.dumps({"global": {"recentBranches": rows}, "settings": {"branchTtlDays": 10}}))
    before = path.read_bytes()

    def split(found: Remembered) -> tuple[list[str], list[str]]:
        return [c.branch for c in found.choices], [c.branch for c in found.expired]

    assert split(read_recent(path, PROJECT)) == (["a", "b", "c"], [])
    assert split(read_recent(path, PROJECT, now=day(20))) == (["a", "b"], ["c"])
    assert split(read_recent(path, PROJECT, now=day(20), branch_ttl_days=9)) == (["a"], ["b", "c"])
    assert split(read_recent(path, PROJECT, now=day(20), branch_ttl_days=30)) == (["a", "b", "c"], [])
    assert path.read_bytes() == before


def test_a_file_that_is_being_written_in_place_is_read_once_more(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text('{"global": {"recentBr', encoding="utf-8")
    pauses = []

    def go_on(seconds: float) -> None:
        pauses.append(seconds)
        path.write_text(json.dumps({"global": {"recentBranches": [entry()]}}), encoding="utf-8")

    found = read_recent(path, PROJECT, pause=go_on)
    assert (found.state, [c.branch for c in found.choices], len(pauses)) == ("answered", ["develop"], 1)


def test_one_that_is_still_being_written_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text("{", encoding="utf-8")

    def go_on(seconds: float) -> None:
        del seconds
        path.write_text('{"a"', encoding="utf-8")

    found = read_recent(path, PROJECT, pause=go_on)
    assert found.state == "failed"
    assert found.detail is not None
    assert found.detail.endswith("(another program is writing it)")


def test_one_that_is_gone_at_the_second_look_has_no_choices(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text("{", encoding="utf-8")
    assert read_recent(path, PROJECT, pause=lambda _: path.unlink()) == Remembered()


# The list as it is changed.


def test_the_entries_with_their_text() -> None:
    text = '{"global": {"recentBranches": [{"projectKey":"p", "branch" : "a"}, 1.0, {"branch": "b", "x": 1e3}]}}'
    document = parse_document(text.encode())
    assert isinstance(document, Document)
    assert stored_in(document) == (
        Stored(project_key="p", branch="a", choice=None, raw=Raw('{"projectKey":"p", "branch" : "a"}')),
        Stored(project_key=None, branch=None, choice=None, raw=Raw("1.0")),
        Stored(project_key=None, branch="b", choice=None, raw=Raw('{"branch": "b", "x": 1e3}')),
    )


def test_a_change_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(json.dumps({"global": {"recentBranches": [entry()]}}), encoding="utf-8")
    before = path.stat()
    seen = []

    def nothing(entries: tuple[Stored, ...], days: int) -> tuple[Stored, ...]:
        seen.append(days)
        return entries

    changed = change_recent(path, nothing, day(1))
    assert (changed.written, changed.before == changed.after, seen) == (False, True, [15])
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_missing_count_is_written_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    start = '{"global": {"recentBranches": [{"projectKey": "acme/app", "branch": "a", "lastUsed": "2026-03-0'
    path.write_text(f'{start}1T00:00:00Z", "x": 1.0}}]}}}}', encoding="utf-8")

    def again(entries: tuple[Stored, ...], days: int) -> tuple[Stored, ...]:
        del days
        choice = RecentChoice(branch="a", last_used=day(2), count=2)
        return tuple(Stored(project_key=e.project_key, branch=e.branch, choice=choice, raw=e.raw) for e in entries)

    change_recent(path, again, day(2))
    assert path.read_text(encoding="utf-8") == f'{start}2T00:00:00Z", "x": 1.0, "count": 2}}]}}}}'


def test_a_store_that_is_no_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be written: it is no regular file") as caught:
        change_recent(tmp_path, lambda entries, _: entries, day(1))
    assert caught.value.hint == "name another file with BASE_BRANCH_PREFERENCES"
