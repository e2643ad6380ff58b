"""The file that several processes change: what a killed, refused or late writer leaves, and what an edit keeps."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.errors import InvalidInput, SetupError
from collectors.stores.store_file import (
    Damage,
    Document,
    Edit,
    Outcome,
    Raw,
    Reading,
    change_file,
    parse_document,
    raw_items,
    read_settled,
    replace_bytes,
    set_member,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[3]
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
ASIDE = "f.json.damaged-20261130T090000Z"


def judge(data: bytes) -> Damage | None:
    """Files of these tests begin with a sign that they are whole."""
    return None if data.startswith(b"good") else Damage(why="is not good")


def no_pause(seconds: float) -> None:
    del seconds


def write(path: Path, data: bytes, **more: object) -> Outcome:
    """Replace a file's content; one that is damaged is kept."""
    options = {"pause": no_pause} | more
    return change_file(
        path,
        lambda reading: Edit(data=data, aside=reading.damage is not None),
        judge=judge,
        now=NOW,
        **options,  # type: ignore[arg-type] # each test gives what change_file takes
    )


def names(folder: Path) -> list[str]:
    return sorted(place.name for place in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def run(script: str, *arguments: object) -> object:
    """Run a script in a process of its own, from which others may be forked; what it prints, as JSON."""
    ran = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=ROOT, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr.decode()
    answer: object = json.loads(ran.stdout)
    return answer


# --- what is written ---


def test_a_new_file_and_its_folder_are_their_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "f.json"
    assert write(path, b"good") == Outcome(before=None, after=b"good")
    assert path.read_bytes() == b"good"
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert names(path.parent) == ["f.json", "f.json.lock"]
    assert mode(path.with_name("f.json.lock")) == 0o600


@pytest.mark.parametrize("given", [0o600, 0o644, 0o660, 0o755])
def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path, given: int) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    path.chmod(given)
    assert write(path, b"good 2") == Outcome(before=b"good 1", after=b"good 2")
    assert mode(path) == given


@pytest.mark.skipif(os.geteuid() != 0, reason="only root writes another user's file")
def test_root_does_not_take_a_file_away_from_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    os.chown(path, 54321, 54322)
    write(path, b"good 2")
    assert (path.read_bytes(), path.stat().st_uid, path.stat().st_gid) == (b"good 2", 54321, 54322)


def test_what_is_the_same_already_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good")
    before = path.stat()
    assert write(path, b"good") == Outcome(before=b"good")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_nothing_is_made_where_nothing_is_to_be(tmp_path: Path) -> None:
    assert write(tmp_path / "a" / "f.json", b"good", create=False) == Outcome(before=None)
    assert names(tmp_path) == []


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_one(tmp_path: Path, there: bool) -> None:  # noqa: FBT001 - a table's column
    (tmp_path / "real").mkdir()
    real = tmp_path / "real" / "store.json"
    if there:
        real.write_bytes(b"good 1")
    link = tmp_path / "f.json"
    link.symlink_to("real/store.json")
    write(link, b"good 2")
    assert link.readlink() == Path("real/store.json")
    assert real.read_bytes() == b"good 2"
    # The lock is where everybody finds it who comes by another way.
    assert names(tmp_path / "real") == ["store.json", "store.json.lock"]
    assert names(tmp_path) == ["f.json", "real"]


def test_leftovers_are_swept_when_they_are_old_and_ours(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    old = [".f.json.123.0123abcd.tmp", ".f.json.9.ffffffff.tmp"]
    others = [".f.json.123.0123abcd.tmp.bak", ".f.json.x.0123abcd.tmp", ".g.json.123.0123abcd.tmp", "f.json.tmp"]
    for name in (*old, *others, ".f.json.77.00000000.tmp"):
        (tmp_path / name).write_bytes(b"half")
    for name in (*old, *others):
        os.utime(tmp_path / name, (1_000_000, 1_000_000))
    write(path, b"good")
    assert names(tmp_path) == sorted([*others, ".f.json.77.00000000.tmp", "f.json", "f.json.lock"])


def test_a_file_without_other_writers_is_replaced_without_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "a" / "f"
    replace_bytes(path, b"1")
    replace_bytes(path, b"2")
    assert (path.read_bytes(), names(path.parent)) == (b"2", ["f"])


def test_the_content_reaches_the_disk_before_its_name_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    synced: list[tuple[bool, bytes, bytes]] = []

    def fsync(descriptor: int) -> None:
        folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        drafts = b"".join(draft.read_bytes() for draft in tmp_path.glob(".f.json.*.tmp"))
        synced.append((folder, drafts, path.read_bytes()))

    monkeypatch.setattr(os, "fsync", fsync)
    write(path, b"good 2")
    assert synced == [(False, b"good 2", b"good 1"), (True, b"", b"good 2")]


# --- what is refused, and leaves everything as it was ---


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a device"])
def test_what_is_no_regular_file_is_neither_read_nor_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f.json"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    else:
        path.symlink_to("/dev/null")
    before = os.lstat(path)
    with pytest.raises(SetupError, match="cannot be written: it is no regular file"):
        write(path, b"good")
    after = os.lstat(path)
    # Not its times: anybody may write to the null device meanwhile.
    assert (after.st_dev, after.st_ino, after.st_mode) == (before.st_dev, before.st_ino, before.st_mode)
    assert not Path("/dev/null.lock").exists()


def test_a_read_only_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    path.chmod(0o444)
    with pytest.raises(SetupError, match="cannot be written: it is read-only"):
        write(path, b"good 2")
    assert path.read_bytes() == b"good 1"
    assert names(tmp_path) == ["f.json", "f.json.lock"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("~/f.json", "begins with ~, and which folder is home is not known"),
        ("a\0b", "its name holds a NUL"),
        ("file/f.json", "not a directory"),
        ("ring", "too many levels of symbolic links"),
        ("x" * 256, "file name too long"),
    ],
)
def test_an_odd_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(b"")
    Path("ring").symlink_to("ring")
    with pytest.raises(SetupError, match=f"cannot be written: .*{said}") as caught:
        write(Path(name), b"good", hint="name another")
    assert (caught.value.code, caught.value.hint) == ("store-unwritable", "name another")
    assert names(tmp_path) == ["file", "ring"]


# --- the lock ---

HOLDER = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the lock until its standard input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path / "f.json.lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def test_a_lock_that_another_process_holds_is_waited_for_and_then_said(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    pauses: list[float] = []
    with pytest.raises(SetupError, match=r"f\.json is locked by another process; waited 0 s") as caught:
        write(path, b"good 2", wait_seconds=0.0, pause=pauses.append)
    assert (caught.value.code, pauses) == ("store-locked", [])
    # Readers take none.
    assert read_settled(path, judge).data == b"good 1"
    holder.kill()
    holder.wait()
    assert write(path, b"good 2", wait_seconds=0.0).after == b"good 2"


def test_a_lock_that_is_given_back_in_time_is_taken(tmp_path: Path, holder: subprocess.Popen[bytes]) -> None:
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            holder.communicate()

    assert write(tmp_path / "f.json", b"good", pause=pause).after == b"good"
    assert len(pauses) == 3


def test_what_another_writer_left_meanwhile_is_read_inside_the_lock(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")

    def pause(seconds: float) -> None:
        del seconds
        path.write_bytes(b"good 2")
        holder.communicate()

    seen = []

    def edit(reading: Reading) -> Edit:
        seen.append(reading.data)
        return Edit(data=b"good 3")

    change_file(path, edit, judge=judge, now=NOW, pause=pause)
    assert seen == [b"good 2"]


# A child that is forked while the lock is held has a copy of its descriptor, and may live long.
FORKED_MEANWHILE = """
import json, os, sys
from datetime import UTC, datetime
from pathlib import Path
from collectors.stores.store_file import Edit, change_file

gate, opened = os.pipe()

def write(data, fork):
    def edit(reading):
        if fork and os.fork() == 0:
            os.close(opened)
            os.read(gate, 1)
            os._exit(0)
        return Edit(data=data)
    change_file(Path(sys.argv[1]), edit, judge=lambda data: None, now=datetime.now(UTC), wait_seconds=0.0)

write(b"1", True)
write(b"2", False)
os.close(opened)
os.wait()
print(json.dumps("done"))
"""


def test_a_child_of_the_holder_does_not_keep_the_lock(tmp_path: Path) -> None:
    assert run(FORKED_MEANWHILE, tmp_path / "f.json") == "done"
    assert (tmp_path / "f.json").read_bytes() == b"2"


# --- programs that do not take the lock ---


def test_a_writer_without_the_lock_between_reading_and_replacing_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    seen = []

    def edit(reading: Reading) -> Edit:
        seen.append(reading.data)
        if len(seen) == 1:
            path.write_bytes(b"good 1, theirs")
        return Edit(data=(reading.data or b"") + b", ours")

    change_file(path, edit, judge=judge, now=NOW)
    assert path.read_bytes() == b"good 1, theirs, ours"
    assert seen == [b"good 1", b"good 1, theirs"]


def test_a_file_that_never_comes_to_rest_is_left_to_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    path.write_bytes(b"good")
    theirs = [b"good"]

    def edit(reading: Reading) -> Edit:
        theirs.append((reading.data or b"") + b"+")
        path.write_bytes(theirs[-1])
        return Edit(data=b"good ours")

    with pytest.raises(SetupError, match="is being written by another program; nothing was changed") as caught:
        change_file(path, edit, judge=judge, now=NOW)
    assert caught.value.code == "store-busy"
    assert path.read_bytes() == theirs[-1]
    assert names(tmp_path) == ["f.json", "f.json.lock"]


IN_PLACE = """
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    file.write(b"go")
    print("half", flush=True)
    sys.stdin.readline()
    file.write(b"od 2" if sys.argv[2] == "whole" else b"d")
print("done", flush=True)
"""


@pytest.fixture
def in_place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Callable[[float], None]]:
    """Stand for a program that writes in place and has come half the way; it goes on while the reader pauses."""
    path = tmp_path / "f.json"
    path.write_bytes(b"good 1")
    with subprocess.Popen(
        [sys.executable, "-c", IN_PLACE, path, request.param], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        assert stdout.readline() == b"half\n"

        def pause(seconds: float) -> None:
            del seconds
            stdin.write(b"\n")
            stdin.flush()
            assert stdout.readline() == b"done\n"

        yield pause
        process.kill()


@pytest.mark.parametrize("in_place", ["whole"], indirect=True)
def test_a_file_that_is_being_written_is_read_again_before_it_is_judged(
    tmp_path: Path, in_place: Callable[[float], None]
) -> None:
    reading = read_settled(tmp_path / "f.json", judge, in_place)
    assert (reading.data, reading.damage, reading.moving) == (b"good 2", None, False)


@pytest.mark.parametrize("in_place", ["whole"], indirect=True)
def test_a_writer_waits_for_it_likewise(tmp_path: Path, in_place: Callable[[float], None]) -> None:
    assert write(tmp_path / "f.json", b"good 3", pause=in_place) == Outcome(before=b"good 2", after=b"good 3")
    assert names(tmp_path) == ["f.json", "f.json.lock"]


@pytest.mark.parametrize("in_place", ["more"], indirect=True)
def test_a_damaged_file_that_still_changes_is_not_judged(tmp_path: Path, in_place: Callable[[float], None]) -> None:
    path = tmp_path / "f.json"
    with pytest.raises(SetupError, match="is being written by another program"):
        write(path, b"good 3", pause=in_place)
    assert (path.read_bytes(), names(tmp_path)) == (b"god", ["f.json", "f.json.lock"])


# --- what is damaged ---


def test_a_damaged_file_is_kept_under_a_dated_name(tmp_path: Path) -> None:
    path = tmp_path / "f.json"
    for number, data in enumerate([b"bad 1", b"bad 2", b"bad 3"]):
        path.write_bytes(data)
        path.chmod(0o640)
        aside = tmp_path / (ASIDE + ("", "-2", "-3")[number])
        assert write(path, b"good") == Outcome(before=data, after=b"good", aside=aside)
        assert (aside.read_bytes(), path.read_bytes(), mode(path)) == (data, b"good", 0o640)


def test_where_there_are_no_hard_links_a_copy_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(*names: Path) -> None:
        del names
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    path = tmp_path / "f.json"
    (tmp_path / ASIDE).write_bytes(b"of an earlier time")
    path.write_bytes(b"bad")
    assert write(path, b"good").aside == tmp_path / f"{ASIDE}-2"
    assert (tmp_path / f"{ASIDE}-2").read_bytes() == b"bad"
    assert (tmp_path / ASIDE).read_bytes() == b"of an earlier time"


# --- killed writers ---

# A child is killed at the n-th line of the module that it comes to, for every n until it comes to its end. What
# the kernel has been given outlives a killed process, so the disk is not waited for.
KILLED_AT_EVERY_LINE = """
import json, os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from collectors.stores import store_file
from collectors.stores.store_file import Damage, Edit, change_file

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
os.fsync = lambda descriptor: None
folder, before = Path(sys.argv[1]), sys.argv[2].encode()

def judge(data):
    return None if data.startswith(b"good") else Damage(why="is not good")

def write(path, data):
    change_file(path, lambda r: Edit(data=data, aside=r.damage is not None), judge=judge, now=NOW, wait_seconds=0.0,
                pause=lambda seconds: None)

def killed_at(line):
    left = line
    def trace(frame, event, argument):
        nonlocal left
        if frame.f_code.co_filename != store_file.__file__:
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace
    return trace

def contents(place):
    return {p.name: p.read_text() for p in place.iterdir() if not p.name.endswith((".lock", ".tmp"))}

seen, line, ended = [], 0, False
while not ended:
    line += 1
    place = folder / str(line)
    place.mkdir()
    path = place / "f.json"
    if before != b"none":
        path.write_bytes(before)
    child = os.fork()
    if child == 0:
        sys.settrace(killed_at(line))
        write(path, b"good new")
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    left = contents(place)
    write(path, b"good next")
    drafts = sum(p.name.endswith(".tmp") for p in place.iterdir())
    seen.append({"left": left, "next": contents(place), "drafts": drafts})
print(json.dumps(seen))
"""


@pytest.mark.parametrize("before", ["good old", "none", "bad old"])
def test_a_writer_killed_at_any_line_leaves_the_old_or_the_new(tmp_path: Path, before: str) -> None:
    seen = run(KILLED_AT_EVERY_LINE, tmp_path, before)
    assert isinstance(seen, list)
    old: dict[str, str] = {} if before == "none" else {"f.json": before}
    new = {"f.json": "good new"}
    allowed = [old, new]
    if before == "bad old":
        # Between the two there is a moment at which the damaged content has both names: it is never without one.
        allowed = [old, old | {ASIDE: before}, new | {ASIDE: before}]
    lefts = [one["left"] for one in seen]
    assert all(left in allowed for left in lefts)
    assert all(state in lefts for state in allowed)
    for one in seen:
        assert one["next"]["f.json"] == "good next"
        assert before != "bad old" or one["next"][ASIDE] == before
    # Kills did come between the making of a draft and its moving into place.
    assert max(one["drafts"] for one in seen) == 1
    assert seen[-1] == {"left": allowed[-1], "next": allowed[-1] | {"f.json": "good next"}, "drafts": 0}


# --- JSON text ---


def document(text: str) -> Document:
    found = parse_document(text.encode())
    assert isinstance(found, Document)
    return found


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("{}", "a", 1, '{\n  "a": 1\n}'),
        ("{}\n", "a.b", [], '{\n  "a": {\n    "b": []\n  }\n}\n'),
        ("{ }", "a", 1, '{\n  "a": 1\n}'),
        ('{"x":1.0,"a":2,"y":1e3}', "a", [1, 2], '{"x":1.0,"a":[1,2],"y":1e3}'),
        ('{"x": -0}', "a.b", {"c": "é"}, '{"x": -0, "a": {"b": {"c": "é"}}}'),
        ('{ "x" : 1 }', "a", 1, '{ "x" : 1, "a" : 1 }'),
        ('{\r\n\t"x": 1\r\n}\r\n', "a", [1], '{\r\n\t"x": 1,\r\n\t"a": [\r\n\t\t1\r\n\t]\r\n}\r\n'),
        ('{\n    "a": {}\n}', "a.b", 1, '{\n    "a": {\n        "b": 1\n    }\n}'),
        ('{\n    "a": {"x": 1}\n}', "a.b", [1], '{\n    "a": {"x": 1, "b": [1]}\n}'),
        ('{\n"x": 1\n}', "a.b", 1, '{\n"x": 1,\n"a": {\n"b": 1\n}\n}'),
        ('{"a": null}', "a.b", 1, '{"a": {"b": 1}}'),
        ('{"a": null, "b": 1}', "a", None, '{"a": null, "b": 1}'),
        ('{"a/b": 1, "a\\u002fb": "\\ud800"}', "c", "\ud800", '{"a/b": 1, "a\\u002fb": "\\ud800", "c": "\\ud800"}'),
        ('{"a": {"}": "{"}, "b": "\\"}"}', "a.c", 1, '{"a": {"}": "{", "c": 1}, "b": "\\"}"}'),
        ('  {"a": 1}', "a", Raw("1.50"), '  {"a": 1.50}'),
    ],
)  # fmt: skip
def test_a_value_is_set_in_the_layout_of_what_is_there(text: str, path: str, value: object, expected: str) -> None:
    assert set_member(text, path.split("."), value) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}', r"a: expected an object"),
        ('{"a": {"b": []}}', r"a\.b: expected an object"),
        ('{"a": {"b": {"c": 1, "c": 2}}}', r"a\.b\.c: it stands there twice"),
    ],
)
def test_where_there_is_no_place_nothing_is_set(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{said}$"):
        set_member(text, ("a", "b", "c"), 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": {"l": [1.0, {"x" :-0}, "]", []]}}', ["1.0", '{"x" :-0}', '"]"', "[]"]),
        ('{"a": {"l": [ ]}}', []),
        ('{"a": {"l": {}}}', []),
        ('{"a": [1]}', []),
        ("{}", []),
    ],
)
def test_the_items_of_a_list_as_they_stand(text: str, expected: list[str]) -> None:
    assert [raw.text for raw in raw_items(document(text), ("a", "l"))] == expected


def test_numbers_of_any_length_are_no_damage() -> None:
    text = '{"a": ' + "1" * 5000 + ', "b": 1e999}'
    assert set_member(document(text).text, ("c",), 1) == text[:-1] + ', "c": 1}'


@pytest.mark.parametrize(
    ("data", "why", "foreign"),
    [
        (b"", "is no JSON", False),
        (b"\0" * 99, "is no JSON", False),
        (b'{"a": [1, {"b', "is no JSON", False),
        (b'{"a": "https://', "is no JSON", False),
        (b'{"a": "\xff"}', "is no JSON", False),
        (b"\xff\xfe{\0}\0", "is no JSON", False),
        (b"[1]", "holds no JSON object", False),
        (b"null", "holds no JSON object", False),
        (b"{} // mine", "is no JSON", True),
        (b'{"a": 1, /* mine */ "b": 2}', "is no JSON", True),
        (b"[user]\n\tname = Ada\n", "is no JSON", True),
        (b"#!/bin/sh\n", "is no JSON", True),
        (b'{"a":' * 100_000, "is no JSON: nested too deeply", True),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_damaged_and_what_is_another_programs(data: bytes, why: str, foreign: bool) -> None:  # noqa: FBT001
    found = parse_document(data)
    assert isinstance(found, Damage)
    assert found.why.startswith(why)
    assert found.foreign is foreign


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=150)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "é", '"', "global"]), json_values, max_size=4),
    json_values,
    st.sampled_from([None, 0, 2, "\t"]),
    st.sampled_from([(",", ":"), (", ", ": ")]),
)
def test_an_edit_and_its_undoing_give_the_same_text(
    root: dict[str, object], value: object, indent: int | str | None, separators: tuple[str, str]
) -> None:
    def dumps(what: object) -> str:
        between = (",", separators[1]) if indent is not None else separators
        return json.dumps(what, indent=indent, separators=between, ensure_ascii=False)

    edited = set_member(dumps(root), ("a",), value)
    assert json.loads(edited) == root | {"a": value}
    # In the layout that the other program gave it; an empty object has none to follow.
    if root:
        assert edited == dumps(root | {"a": value})
    if "a" in root:
        unit = " " * indent if isinstance(indent, int) else indent or ""
        assert set_member(edited, ("a",), Raw(dumps(root["a"]).replace("\n", f"\n{unit}"))) == dumps(root)
