"""The ring of kept runs: bounded, private, whole whatever happens to a writer, and nobody else's files touched."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from collectors.errors import SetupError
from collectors.stores import runs as runs_store
from collectors.stores.runs import keep_lines, list_kept, new_id, read_head, read_lines, remove, runs_folder

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[3]


def ids(folder: Path) -> list[str]:
    return [file.id for file in list_kept(folder)]


def keep(folder: Path, run_id: str, minutes: int = 0, *lines: bytes, most: int = 20) -> None:
    keep_lines(folder, run_id, NOON + timedelta(minutes=minutes), lines or (b"head", b"body"), most)


def test_the_newest_are_kept_and_listed_first(tmp_path: Path) -> None:
    for number in range(5):
        keep(tmp_path, f"00000{number}", number, most=3)
    assert ids(tmp_path) == ["000004", "000003", "000002"]


def test_a_run_that_is_dated_before_the_others_does_not_remove_itself(tmp_path: Path) -> None:
    keep(tmp_path, "00000a", 1, most=1)
    keep(tmp_path, "00000b", 0, most=1)
    assert ids(tmp_path) == ["00000b"]


def test_all_together_keep_the_bound_of_bytes(tmp_path: Path) -> None:
    for number in range(4):
        keep(tmp_path, f"00000{number}", number, os.urandom(3 * 1024 * 1024))
    assert ids(tmp_path) == ["000003", "000002"]
    assert sum(file.size for file in list_kept(tmp_path)) <= runs_store.MOST_BYTES


def test_lines_come_back_as_they_were_kept(tmp_path: Path) -> None:
    keep(tmp_path, "00000a", 0, b"head", b"", b"x" * 200_000)
    (file,) = list_kept(tmp_path)
    assert read_head(file) == b"head"
    assert read_lines(file) == [b"head", b"", b"x" * 200_000]
    assert subprocess.run(["zcat", file.path], capture_output=True, check=True).stdout.startswith(b"head\n\nxxx")


def test_the_files_are_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "runs"
    keep(folder, new_id())
    (file,) = list_kept(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", [b"", b"no gzip at all", "cut"])
def test_a_damaged_file_is_nothing_and_harms_no_other(tmp_path: Path, damage: bytes | str) -> None:
    keep(tmp_path, "00000a", 0)
    keep(tmp_path, "00000b", 1, b"head", os.urandom(500))
    newest, oldest = list_kept(tmp_path)
    newest.path.write_bytes(damage if isinstance(damage, bytes) else newest.path.read_bytes()[:-200])
    assert (read_lines(newest), read_lines(oldest)) == (None, [b"head", b"body"])


def test_of_a_file_of_any_size_no_more_is_read_than_a_run_can_be(tmp_path: Path) -> None:
    keep(tmp_path, "00000a", 0, b"head", os.urandom(200_000))
    (file,) = list_kept(tmp_path)
    os.truncate(file.path, 1 << 36)  # a hole, which takes no room, and more than any machine's memory
    assert read_head(file) == b"head"
    lines = read_lines(file)
    assert lines is not None
    assert lines[0] == b"head"


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    (tmp_path / "notes.gz").write_bytes(b"mine")
    (tmp_path / "run-20261130T120000000000Z-00000f.gz").mkdir()
    keep(tmp_path, "00000a", 0, most=1)
    keep(tmp_path, "00000b", 1, most=1)
    assert remove(list_kept(tmp_path)) == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == ["notes.gz", "run-20261130T120000000000Z-00000f.gz"]


def test_what_cannot_be_removed_keeps_no_run_out(tmp_path: Path) -> None:
    odd = tmp_path / ".run-x.gz.1.00000000.tmp"
    odd.mkdir()
    os.utime(odd, (0, 0))
    keep(tmp_path, "00000a")
    assert ids(tmp_path) == ["00000a"]
    assert odd.is_dir()


def test_a_file_that_is_gone_meanwhile_was_removed_by_somebody(tmp_path: Path) -> None:
    keep(tmp_path, "00000a")
    files = list_kept(tmp_path)
    assert (remove(files), remove(files), read_head(files[0])) == (1, 0, None)


def test_no_folder_is_no_runs_and_a_file_in_its_place_is_said(tmp_path: Path) -> None:
    assert list_kept(tmp_path / "none") == []
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SetupError, match="cannot be read: not a directory") as caught:
        list_kept(tmp_path / "file")
    assert caught.value.hint == "name another folder with BASE_BRANCH_RUNS_FOLDER"


def test_where_the_runs_are(home: Path) -> None:
    assert runs_folder({"BASE_BRANCH_RUNS_FOLDER": "/x/y"}) == Path("/x/y")
    environ = {**os.environ, "BASE_BRANCH_RUNS_FOLDER": ""}
    assert runs_folder(environ) == home / "state" / "base-branch" / "runs"


# A writer that tells when it has begun, and would go on for ever.
_WRITER = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from collectors.stores.runs import keep_lines, new_id
folder, times = Path(sys.argv[1]), int(sys.argv[2])
body = os.urandom(100_000)
for number in range(times):
    keep_lines(folder, new_id(), datetime.now(UTC), (b"head", body.hex().encode()), 1000)
    if number == 2:
        print(flush=True)
"""


def writer(folder: Path, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(folder), str(times)],
        stdout=subprocess.PIPE,
        env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
    )


def test_a_killed_writer_leaves_whole_runs_and_its_draft_goes_in_time(tmp_path: Path) -> None:
    with writer(tmp_path, 1_000_000) as child:
        assert child.stdout is not None
        child.stdout.readline()
        child.kill()
    assert len(ids(tmp_path)) >= 3
    assert all(read_head(file) == b"head" and len(read_lines(file) or ()) == 2 for file in list_kept(tmp_path))
    draft = tmp_path / ".run-20261130T120000000000Z-00000a.gz.1.0123abcd.tmp"
    for name, age in ((draft, 7200), (draft.with_name(draft.name.replace("0123", "4567")), 60)):
        name.write_bytes(b"half")
        then = datetime.now(UTC).timestamp() - age
        os.utime(name, (then, then))
    keep(tmp_path, new_id())
    assert [p.name for p in tmp_path.iterdir() if "0123abcd" in p.name or "4567abcd" in p.name] == [
        draft.name.replace("0123", "4567")
    ]


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    children = [writer(tmp_path, 12) for _ in range(2)]
    assert [child.wait() for child in children] == [0, 0]
    for child in children:
        assert child.stdout is not None
        child.stdout.close()
    assert len(ids(tmp_path)) == 24
