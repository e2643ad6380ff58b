"""Remembering and forgetting: the list that they make, and the store under many writers, killed and refused ones."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidates.memory import (
    MOST_KEPT,
    MOST_SHOWN,
    dated_later,
    forget,
    forgotten,
    remember,
    to_show,
    with_choice,
    without_choice,
)
from collectors.errors import InvalidInput, SetupError
from collectors.stores.preferences import read_recent
from collectors.stores.recent_entries import Stored
from ranking.facts import RecentChoice
from tests.support.processes import NAMESPACE, refused

ROOT = Path(__file__).resolve().parents[2]
APP, OTHER = "acme/app", "acme/other"
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
DAYS = 15


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def choice(branch: str, days: float = 1, count: int = 1) -> RecentChoice:
    return RecentChoice(branch=branch, last_used=ago(days), count=count)


def stored(branch: str, days: float = 1, count: int = 1, project: str = APP) -> Stored:
    return Stored(project_key=project, branch=branch, choice=choice(branch, days, count))


def odd(branch: str | None = None, project: str | None = APP) -> Stored:
    return Stored(project_key=project, branch=branch, choice=None)


def chosen(entries: tuple[Stored, ...]) -> list[tuple[str | None, int]]:
    return [(entry.branch, entry.choice.count if entry.choice else 0) for entry in entries]


# --- the list ---


def test_a_first_choice_is_counted_once() -> None:
    assert with_choice([], APP, "main", NOW, DAYS) == (stored("main", 0),)


def test_a_choice_made_again_is_counted_and_comes_first() -> None:
    entries = [stored("develop", 1), stored("main", 2, 4)]
    assert chosen(with_choice(entries, APP, "main", NOW, DAYS)) == [("main", 5), ("develop", 1)]


def test_the_moment_is_kept_as_utc() -> None:
    now = datetime(2026, 11, 30, 11, tzinfo=timezone(timedelta(hours=2)))
    made = with_choice([], APP, "main", now, DAYS)[0].choice
    assert made is not None
    assert (made.last_used, made.last_used.tzinfo) == (NOW, UTC)


def test_of_several_entries_for_a_branch_one_is_left_with_the_newest_count() -> None:
    entries = [stored("main", 3, 9), stored("main", 1, 2), stored("main", 2, 7)]
    assert chosen(with_choice(entries, APP, "main", NOW, DAYS)) == [("main", 3)]
    entries = [stored("develop", 3, 9), stored("develop", 1, 2)]
    assert chosen(with_choice(entries, APP, "main", NOW, DAYS)) == [("main", 1), ("develop", 2)]


def test_the_oldest_of_a_project_is_dropped_when_there_are_too_many() -> None:
    entries = [stored(f"release/{n}", days=n) for n in (9, 3, 10, 1, 2, 8, 4, 7, 5, 6)]
    made = with_choice([*entries, stored("main", 14, 1, OTHER)], APP, "main", NOW, DAYS)
    assert len(made) == MOST_KEPT + 1
    # What is kept keeps its place.
    assert [e.branch for e in made if e.project_key == APP] == [
        "main",
        *(f"release/{n}" for n in (9, 3, 1, 2, 8, 4, 7, 5, 6)),
    ]


def test_a_full_list_is_not_cut_for_a_branch_that_is_in_it() -> None:
    entries = [stored(f"release/{n}", days=n) for n in range(1, 11)]
    assert len(with_choice(entries, APP, "release/10", NOW, DAYS)) == 10


@pytest.mark.parametrize(("days", "left"), [(15, True), (15.001, False), (400, False), (-400, True)])
def test_a_choice_past_its_time_is_dropped_with_the_next(days: float, left: bool) -> None:  # noqa: FBT001
    made = with_choice([stored("develop", days)], APP, "main", NOW, DAYS)
    assert [entry.branch for entry in made] == ["main", *(["develop"] if left else [])]


def test_other_projects_and_odd_entries_are_let_be() -> None:
    others = [stored("main", 400, 3, OTHER), odd("main"), odd(), odd(project=None), stored("main", 1, 1, "ACME/app")]
    assert with_choice(others, APP, "main", NOW, DAYS)[1:] == tuple(others)


def test_forgetting_one_branch_and_all() -> None:
    main, develop, other = stored("main"), stored("develop"), stored("main", project=OTHER)
    entries = (main, odd("main"), other, develop, odd(), odd(project=None))
    assert without_choice(entries, APP, "main") == (other, develop, odd(), odd(project=None))
    assert without_choice(entries, APP, None) == (other, odd(project=None))
    assert without_choice(entries, APP, "release/1") == entries


names = st.sampled_from([f"release/{n}" for n in range(14)])
entries_drawn = st.lists(
    st.builds(
        stored,
        branch=names,
        days=st.integers(-1, 20),
        count=st.integers(1, 3),
        project=st.sampled_from([APP, APP, OTHER]),
    )
    | st.builds(odd, branch=names, project=st.sampled_from([APP, OTHER, None])),
    max_size=20,
)


@settings(max_examples=200)
@given(entries_drawn, names)
def test_the_list_keeps_its_word(entries: list[Stored], branch: str) -> None:
    made = with_choice(entries, APP, branch, NOW, DAYS)
    ours = [e.choice for e in made if e.project_key == APP and e.choice]
    assert len({one.branch for one in ours}) == len(ours) <= MOST_KEPT
    assert made[0].choice is not None
    assert (made[0].branch, made[0].choice.last_used) == (branch, NOW)
    assert all(one.last_used >= ago(DAYS) for one in ours)

    def let_be(listed: tuple[Stored, ...]) -> list[Stored]:
        return [e for e in listed if e.project_key != APP or e.choice is None]

    assert let_be(made) == let_be(tuple(entries))
    # And nothing is dropped without a reason: the dropped are expired, doubled, or older than all that are kept.
    for entry in entries:
        if entry.project_key == APP and entry.choice and entry.branch not in {one.branch for one in ours}:
            oldest = min(one.last_used for one in ours)
            assert entry.choice.last_used < ago(DAYS) or (len(ours) == MOST_KEPT and entry.choice.last_used <= oldest)
    assert without_choice(made, APP, None) == without_choice(entries, APP, None)


def test_the_newest_few_are_shown() -> None:
    choices = [choice(f"release/{n}", days=n) for n in (7, 1, 6, 3, 2, 5, 4)]
    assert [c.branch for c in to_show(choices)] == [f"release/{n}" for n in range(1, MOST_SHOWN + 1)]


def test_a_choice_that_is_dated_later_is_said() -> None:
    entries = [stored("main", 0), stored("develop", -400), stored("release/1", -1), stored("dev", -500, 1, OTHER)]
    assert dated_later(entries, APP, "main", NOW) == (
        "develop was chosen on 2028-01-04, later than now: it still comes first; base-branch forget develop",
    )
    assert dated_later(entries, APP, "develop", ago(-401)) == ()


# --- the store ---


def count_of(path: Path, branch: str, project: str = APP) -> int:
    return {c.branch: c.count for c in read_recent(path, project).choices}.get(branch, 0)


def test_remembered_and_read_again(tmp_path: Path) -> None:
    path = tmp_path / "config" / "preferences.json"
    remember(path, APP, "main", ago(1))
    changed = remember(path, APP, "release/é", NOW + timedelta(microseconds=5))
    assert (changed.written, changed.warnings, changed.aside) == (True, (), None)
    assert path.read_text(encoding="utf-8") == (
        "{\n"
        '  "global": {\n'
        '    "recentBranches": {\n'
        '      "acme/app": [\n'
        "        {\n"
        '          "branch": "release/é",\n'
        '          "lastUsed": "2026-11-30T09:00:00.000005Z",\n'
        '          "count": 1\n'
        "        },\n"
        "        {\n"
        '          "branch": "main",\n'
        '          "lastUsed": "2026-11-29T09:00:00Z",\n'
        '          "count": 1\n'
        "        }\n"
        "      ]\n"
        "    }\n"
        "  }\n"
        "}\n"
    )
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    found = read_recent(path, APP)
    assert [c.branch for c in found.choices] == ["release/é", "main"]
    assert read_recent(path, OTHER).choices == ()


THEIRS = """{
    "editor": {"size": 1.0, "big": 123456789012345678901234567890, "zero": -0, "exp": 1e3, "text": "\\u00e9é"},
    "global": {
        "theme": "dark",
        "recentBranches": [
            {"projectKey": "acme/other", "branch": "old", "lastUsed": "2001-01-01T00:00:00Z", "count": 1.0},
            {"i" : 1.50, "projectKey": "acme/app", "count": 2, "branch":"main", "lastUsed":"2026-11-29T10:00:00+01:00"},
            {"projectKey": "acme/app", "branch": 7},
            {"projectKey": "acme/app", "branch": "dev", "lastUsed": "2026-11-29T10:00:00.000+01:00"},
            {"projectKey": "acme/web", "branch": "dev", "lastUsed": "2026-11-29T10:00:00+01:00"}
        ],
        "zoom": 2E-1
    },
    "editor2":{},
    "settings": {"branchTtlDays": 3}
}

"""


def test_all_that_is_not_ours_keeps_its_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text(THEIRS, encoding="utf-8")
    remember(path, APP, "main", NOW)
    lines = THEIRS.splitlines(keepends=True)
    used = lines[6].replace('"count": 2', '"count": 3').replace("2026-11-29T10:00:00+01:00", "2026-11-30T09:00:00Z")
    assert path.read_text(encoding="utf-8") == "".join([*lines[:5], used, lines[5], *lines[7:]])
    assert forgotten(forget(path, APP, "main", NOW)) == ("main",)
    assert path.read_text(encoding="utf-8") == "".join([*lines[:6], *lines[7:]])
    assert forgotten(forget(path, APP, None, NOW)) == ("?", "dev")
    assert path.read_text(encoding="utf-8") == "".join([*lines[:6], *lines[9:]])


def test_the_files_own_time_to_live_counts_unless_another_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text('{"settings": {"branchTtlDays": 3}}', encoding="utf-8")
    for branch, days in [("a", 5), ("b", 4), ("c", 2)]:
        remember(path, APP, branch, ago(days), branch_ttl_days=9)
    remember(path, APP, "d", NOW, branch_ttl_days=4)
    assert [c.branch for c in read_recent(path, APP).choices] == ["d", "c", "b"]
    remember(path, APP, "d", NOW)
    assert [c.branch for c in read_recent(path, APP).choices] == ["d", "c"]


def test_what_is_no_name_is_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    for project, branch, said in [
        (APP, "--orphan", "branch: '--orphan' can be no branch: it begins with a dash"),
        (APP, "", "branch: '' can be no branch: it is empty"),
        ("", "main", "projectKey: '' is no project key"),
        ("a\nb", "main", "projectKey: "),
        ("a\ud800", "main", "projectKey: "),
    ]:
        with pytest.raises(InvalidInput, match=f"^{said}"):
            remember(path, project, branch, NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_choice_that_will_still_come_second_is_said(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    remember(path, APP, "develop", ago(-400))
    assert "develop was chosen on 2028-01-04, later than now" in remember(path, APP, "main", NOW).warnings[0]


def test_forgetting_what_is_not_there_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a" / "preferences.json"
    assert not forget(path, APP, None, NOW).written
    assert list(tmp_path.iterdir()) == []
    remember(path, APP, "main", NOW)
    before = path.stat().st_ino
    changed = forget(path, APP, "develop", NOW)
    assert (changed.written, forgotten(changed), path.stat().st_ino) == (False, (), before)


DAMAGED = [
    b"",
    b'{"global": {"recentBranches": [{"proj',
    b"\0" * 4096,
    b'[{"projectKey": "acme/app"}]',
    b"\xff\xfe{\0}\0",
    b'{"a": "\xe9"}',
]


@pytest.mark.parametrize("data", DAMAGED, ids=lambda data: repr(data)[2:14])
def test_a_damaged_store_is_kept_aside_and_the_choice_is_remembered(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(data)
    changed = forget(path, APP, "main", NOW)
    assert (changed.written, path.read_bytes()) == (False, data)
    changed = remember(path, APP, "main", NOW)
    aside = tmp_path / "preferences.json.damaged-20261130T090000Z"
    assert (changed.aside, aside.read_bytes()) == (aside, data)
    assert changed.warnings[0].startswith(f"{path} ")
    assert changed.warnings[0].endswith(f"; it is kept as {aside}")
    assert count_of(path, "main") == 1
    assert remember(path, APP, "main", NOW).warnings == ()
    assert count_of(path, "main") == 2


def test_forgetting_in_a_damaged_store_says_so(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(b"{")
    assert forget(path, APP, None, NOW).warnings[0].startswith(f"{path} is no JSON: ")
    assert forget(path, APP, None, NOW).warnings[0].endswith("; nothing was changed")


@pytest.mark.parametrize(
    "data",
    [
        b'{"global": []}',
        b'{"global": "x", "a": 1}',
        b'{"global": {"recentBranches": "main"}}',
        b'{"global": {"recentBranches": {"acme/app": "main"}}}',
        b'{"global": {"a": 1}, "global": {"a": 2}}',
        b'{"global": {"recentBranches": [], "recentBranches": []}}',
        b'{"global": {"recentBranches": {"a": [], "a": []}}}',
        b'{"a": 1, // mine\n "b": 2}',
        b"[user]\n\tname = Ada\n",
        b"#!/bin/sh",
    ],
)
def test_another_programs_file_without_a_place_for_ours_is_not_touched(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(data)
    with pytest.raises(SetupError, match="nothing was changed") as caught:
        remember(path, APP, "main", NOW)
    assert (caught.value.code, caught.value.hint) == (
        "preferences-unusable",
        "name another file with BASE_BRANCH_PREFERENCES",
    )
    assert not forget(path, APP, None, NOW).written
    assert path.read_bytes() == data
    assert sorted(p.name for p in tmp_path.iterdir()) == ["preferences.json", "preferences.json.lock"]


def test_a_byte_order_mark_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1.0}\r\n')
    assert remember(path, APP, "main", NOW).warnings == ()
    data = path.read_bytes()
    assert data.startswith(b'\xef\xbb\xbf{"a": 1.0, "global": {"recentBranches": {"acme/app": [')
    assert data.endswith(b"}\r\n")
    assert count_of(path, "main") == 1


def test_a_count_does_not_grow_beyond_what_json_holds(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    remember(path, APP, "main", NOW)
    path.write_text(path.read_text().replace('"count": 1', f'"count": {2**53 - 1}'))
    remember(path, APP, "main", NOW)
    assert count_of(path, "main") == 2**53 - 1


# --- many, killed, and refused writers: real processes ---

BEGINNING = """
import json, os, random, signal, subprocess, sys, time
from datetime import UTC, datetime
from pathlib import Path
from candidates.memory import remember
from collectors.errors import EvidenceError
from collectors.stores.preferences import read_recent, preferences_path
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
path = Path(sys.argv[1])
"""


def run(script: str, *arguments: object, within: tuple[str, ...] = (), **environ: str) -> object:
    """Run a script in a process of its own; what it prints, as JSON."""
    ran = subprocess.run(
        [*within, sys.executable, "-c", BEGINNING + script, *map(str, arguments)],
        cwd=ROOT,
        env=environ or None,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    answer: object = json.loads(ran.stdout)
    return answer


AT_ONCE = """
gate, opened = os.pipe()
children = []
for number in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        os.close(opened)
        os.read(gate, 1)  # until the gate is closed
        remember(path, "acme/app", "main", NOW)
        remember(path, f"acme/{number}", "develop", NOW)
        os._exit(0)
    children.append(child)
os.close(opened)
print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]))
"""


def test_fifty_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    path.write_text('{"theme": 1.0}', encoding="utf-8")
    assert run(AT_ONCE, path, 50) == [0] * 50
    assert count_of(path, "main") == 50
    assert [count_of(path, "develop", f"acme/{number}") for number in range(50)] == [1] * 50
    assert path.read_text(encoding="utf-8").startswith('{"theme": 1.0, "global"')
    assert sorted(p.name for p in tmp_path.iterdir()) == ["preferences.json", "preferences.json.lock"]


# The moments are drawn over one and a half times what a whole write takes, so that some fall before it, some
# after it and most within it. After each the next write must work, whatever the killed one has left; that one
# need not wait for the disk.
KILLED = """
def write():
    remember(path, "acme/app", "main", NOW)

def content():
    data = path.read_bytes()
    return data, json.loads(data)["global"]["recentBranches"]["acme/app"][0]["count"]

write()
began = time.perf_counter()
for _ in range(10):
    write()
longest = (time.perf_counter() - began) / 10 * 1.5
rounds, to_disk = [], os.fsync
os.fsync = lambda descriptor: None
for _ in range(int(sys.argv[2])):
    before, count = content()
    ready, say = os.pipe()
    child = os.fork()
    if child == 0:
        os.fsync = to_disk
        os.write(say, b".")
        write()
        os._exit(0)
    os.read(ready, 1)
    time.sleep(random.uniform(0, longest))
    os.kill(child, signal.SIGKILL)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    os.close(ready), os.close(say)
    after, _ = content()
    new = before.replace(f'"count": {count}'.encode(), f'"count": {count + 1}'.encode())
    left = "old" if after == before else "new" if after == new else "neither"
    write()
    rounds.append({"killed": killed, "left": left, "next": content()[1] - count})
drafts = sum(p.name.endswith(".tmp") for p in path.parent.iterdir())
print(json.dumps({"rounds": rounds, "drafts": drafts}))
"""


def test_two_hundred_killed_writers_leave_the_old_or_the_new(tmp_path: Path) -> None:
    answer = run(KILLED, tmp_path / "preferences.json", 200)
    assert isinstance(answer, dict)
    rounds = answer["rounds"]
    assert len(rounds) == 200
    assert {one["left"] for one in rounds} <= {"old", "new"}
    assert all(one["next"] == (2 if one["left"] == "new" else 1) for one in rounds)
    assert any(one["killed"] for one in rounds), "nobody was killed: the test shows nothing"


# --- file systems that refuse, in a mount namespace that ends with the process ---

ON_A_SMALL_DISK = (*NAMESPACE, "sh", "-c", 'mount -t tmpfs -o size=64k none "$0" && exec "$@"')


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """Name a folder on which ON_A_SMALL_DISK mounts 64 KiB of memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    why = refused(*ON_A_SMALL_DISK, str(folder), "true")
    if why:
        pytest.skip(f"no small file system can be mounted here: {why}")
    return folder


FULL = """
def said():
    try:
        remember(path, "acme/app", "main", NOW)
    except EvidenceError as fault:
        return [fault.code, str(fault)]

remember(path, "acme/app", "main", NOW)
before = path.read_bytes()
filler = path.with_name("filler")
with filler.open("wb", buffering=0) as file:
    try:
        while True:
            file.write(b"x" * 1024)
    except OSError:
        pass
full = said()
kept = path.read_bytes() == before
names = sorted(p.name for p in path.parent.iterdir())
filler.unlink()
print(json.dumps([full, kept, names, said(), read_recent(path, "acme/app").choices[0].count]))
"""


def test_a_full_disk_is_said_and_nothing_is_lost(small_disk: Path) -> None:
    path = small_disk / "preferences.json"
    assert run(FULL, path, within=(*ON_A_SMALL_DISK, str(small_disk)), **os.environ) == [
        ["store-unwritable", f"{path} cannot be written: no space left on device"],
        True,
        ["filler", "preferences.json", "preferences.json.lock"],
        None,
        2,
    ]


READ_ONLY = """
path.write_text('{"global": {"recentBranches": []}, "settings": {"branchTtlDays": 7}}')
subprocess.run(["mount", "-o", "remount,ro", path.parent], check=True)
try:
    remember(path, "acme/app", "main", NOW)
except EvidenceError as fault:
    said = [fault.code, str(fault), fault.hint]
print(json.dumps([said, read_recent(path, "acme/app").branch_ttl_days]))
"""


def test_a_read_only_file_system_is_said_and_can_still_be_read(small_disk: Path) -> None:
    path = small_disk / "preferences.json"
    assert run(READ_ONLY, path, within=(*ON_A_SMALL_DISK, str(small_disk)), **os.environ) == [
        [
            "store-unwritable",
            f"{path} cannot be written: read-only file system",
            "name another file with BASE_BRANCH_PREFERENCES",
        ],
        7,
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into every folder; the mounted one above is tried")
def test_a_read_only_folder_is_said(tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    tmp_path.chmod(0o555)
    with pytest.raises(SetupError, match="cannot be written: permission denied"):
        remember(path, APP, "main", NOW)
    tmp_path.chmod(0o755)


NO_HOME = """
path = preferences_path(os.environ)
try:
    remember(path, "acme/app", "main", NOW)
except EvidenceError as fault:
    said = str(fault)
found = read_recent(path, "acme/app")
print(json.dumps([said, found.state, found.detail, os.path.exists("~")]))
"""


def test_without_a_home_nothing_is_written_anywhere() -> None:
    stranger = ("unshare", "--user", "--map-user=54321", "--map-group=54321")
    why = refused(*stranger, "true")
    if why:
        pytest.skip(f"no process without an entry in the user database can be had here: {why}")
    path = "~/.config/base-branch/preferences.json"
    unknown = "it begins with ~, and which folder is home is not known"
    assert run(NO_HOME, "-", within=stranger, PATH=os.environ["PATH"]) == [
        f"{path} cannot be written: {unknown}",
        "failed",
        f"{path} cannot be read: {unknown}",
        False,
    ]
