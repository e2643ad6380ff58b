"""What happens outside: git killed, the remote cut off, disks that are full or read-only, streams that take nothing."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.faulty_git import faulty_git
from tests.support.issue_world import world_of
from tests.support.jira_server import jira_server
from tests.support.processes import NAMESPACE, refused
from tests.support.program import COMMAND, base_branch, environment, resolve, settled, source, start
from tests.support.servers import refusing_port

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand

KILLED = "git was ended by SIGKILL"
ISSUE = "--issue-version=8.3.0"
REF = "refs/remotes/origin/release/8.3.0"


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    """A clone that is behind on release/8.3.0."""
    made = stand("release_lines")
    made.remote.commit("newer", branch="release/8.3.0")
    return made


def stale(lines: Stand) -> tuple[str, str, str, str, str]:
    return "release/8.3.0", REF, lines.clone.oid(REF), "derived", "cached-stale"


def is_fresh(lines: Stand) -> None:
    decision = resolve(lines.clone.path, ISSUE)
    assert settled(decision)[::4] == ("release/8.3.0", "fresh")
    assert decision["baseCommit"] == lines.remote.oid("release/8.3.0")


# --- git and the remote ---


@pytest.mark.parametrize(
    ("on", "problem", "said"),
    [
        ("ls-remote", "kill -KILL $$", KILLED),
        ("fetch", "kill -KILL $$", KILLED),
        ("fetch", 'mv "$REMOTE" "$REMOTE.away"', "does not appear to be a git repository"),
        ("fetch", 'mkdir -p ".git/${REF%/*}"; touch ".git/$REF.lock"', f"cannot lock ref '{REF}'"),
    ],
)
def test_what_breaks_off_half_way_is_said_and_never_fresh(
    lines: Stand, tmp_path: Path, on: str, problem: str, said: str
) -> None:
    expected = stale(lines)
    environ = faulty_git(tmp_path, on, problem) | {"REMOTE": str(lines.remote.path), "REF": REF}
    decision = resolve(lines.clone.path, ISSUE, environ=environ)
    assert settled(decision) == expected
    assert any(said in line for line in decision["log"])
    away, lock = lines.remote.path.with_name("app.git.away"), lines.clone.path / ".git" / f"{REF}.lock"
    if away.exists():
        away.rename(lines.remote.path)
    lock.unlink(missing_ok=True)
    is_fresh(lines)


def test_a_git_that_does_not_run_is_no_old_git(lines: Stand, tmp_path: Path) -> None:
    done = base_branch("resolve", lines.clone.path, environ=faulty_git(tmp_path, "version", "kill -KILL $$"))
    assert (done.code, done.out) == (5, b"")
    assert done.err == f"base-branch: git does not run: fatal: {KILLED}\n  try: git version\n"


def test_runs_at_once_on_one_clone_are_all_fresh(lines: Stand) -> None:
    running = [start("resolve", lines.clone.path, "--autopilot", ISSUE) for _ in range(4)]
    answers = [one.communicate() for one in running]
    assert [one.returncode for one in running] == [0] * 4
    decisions = [json.loads(out) for out, _ in answers]
    assert {settled(d)[::4] for d in decisions} == {("release/8.3.0", "fresh")}
    assert {d["baseCommit"] for d in decisions} == {lines.remote.oid("release/8.3.0")}


def test_jira_answers_and_the_remote_does_not_and_the_reverse(stand: MakeStand, tmp_path: Path) -> None:
    world = world_of(stand("release_lines"), tmp_path)
    with jira_server() as jira:
        jira.add("APP-12", fixVersions=[{"id": "1", "name": "8.3.0", "released": False, "archived": False}])
        without_remote = world.with_jira(jira).having({"GIT_SSH_COMMAND": "false"})
        decision = without_remote.resolve("APP-12")
        assert (source(decision, "jira")["state"], source(decision, "remote")["state"]) == ("answered", "failed")
        assert settled(decision)[::4] == ("release/8.3.0", "cached-stale")
    with refusing_port() as port:
        without_jira = world.having({"JIRA_URL": f"http://127.0.0.1:{port}", "JIRA_TOKEN": "t"})
        decision = without_jira.resolve("APP-12", code=6)
        assert (source(decision, "jira")["kind"], source(decision, "remote")["state"]) == ("refused", "answered")
        assert decision["baseBranch"] is None
        assert without_jira.resolve("APP-12", "--issue-optional")["baseFetchStatus"] == "fresh"


# --- disks ---

# On 2 MiB of memory that end with the process: full, then read-only, then as it should be.
ON_A_SMALL_DISK = """
mount -t tmpfs -o size=2m none "$DISK" && cp -R "$CLONE" "$DISK/clone" && mkdir "$DISK/home" && export HOME="$DISK/home"
unset XDG_CONFIG_HOME
dd if=/dev/zero of="$DISK/filler" bs=1k 2>/dev/null
"$@" resolve "$DISK/clone" --autopilot --issue-version=8.3.0 > "$OUT/full" 2>&1; echo $?
"$@" remember develop "$DISK/clone" 2> "$OUT/full-home"; echo $?
rm "$DISK/filler"; mount -o remount,ro "$DISK"
"$@" resolve "$DISK/clone" --autopilot --issue-version=8.3.0 > "$OUT/read-only" 2>&1; echo $?
"$@" remember develop "$DISK/clone" 2> "$OUT/read-only-home"; echo $?
mount -o remount,rw "$DISK"
"$@" resolve "$DISK/clone" --autopilot --issue-version=8.3.0 > "$OUT/mended" 2>&1; echo $?
find "$DISK/clone" -name '*.lock'
"""


def test_a_full_and_a_read_only_disk_under_clone_and_home(lines: Stand, tmp_path: Path) -> None:
    if why := refused(*NAMESPACE, "true"):
        pytest.skip(f"no file system can be mounted here: {why}")
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").mkdir()
    places = {"DISK": tmp_path / "disk", "CLONE": lines.clone.path, "OUT": tmp_path / "out"}
    ran = subprocess.run(
        [*NAMESPACE, "sh", "-c", ON_A_SMALL_DISK, "sh", *COMMAND],
        env=environment({name: str(place) for name, place in places.items()}),
        capture_output=True,
        check=False,
    )
    assert ran.stdout.decode().split() == ["0", "5", "0", "5", "0"], ran.stderr.decode()
    told = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    for disk, words in (("full", "no space left on device"), ("read-only", "read-only file system")):
        decision = json.loads(told[disk])
        assert settled(decision) == stale(lines)
        assert any(words in line.lower() for line in decision["log"]), decision["log"]
        assert f"preferences.json cannot be written: {words}" in told[f"{disk}-home"]
    assert json.loads(told["mended"])["baseFetchStatus"] == "fresh"


# --- streams and targets ---


def with_error_to(where: str, *arguments: str | Path) -> tuple[int, bytes]:
    """Exit code and standard output of a run whose standard error takes nothing."""
    if where == "full":
        descriptor = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, descriptor = os.pipe()
        os.close(reading)
    try:
        ran = subprocess.run(
            [*COMMAND, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=descriptor,
            env=environment(),
            check=False,
        )
    finally:
        os.close(descriptor)
    return ran.returncode, ran.stdout


@pytest.mark.parametrize("where", ["full", "gone"])
def test_standard_error_that_takes_nothing_changes_no_exit_code(where: str, tmp_path: Path) -> None:
    assert with_error_to(where, "resolve", tmp_path) == (5, b"")
    assert with_error_to(where, "--bogus") == (2, b"")


@pytest.mark.parametrize(("where", "code", "outcome"), [("full", 1, "fail"), ("gone", 0, "success")])
def test_the_result_of_a_run_whose_answer_cannot_be_printed(
    lines: Stand, tmp_path: Path, where: str, code: int, outcome: str
) -> None:
    (tmp_path / "stage.json").write_text("{}")
    files = ("--stage", tmp_path / "stage.json", "--result", tmp_path / "result.json")
    command = [*COMMAND, *map(str, ("resolve", lines.clone.path, ISSUE, "--refresh=none", "--factory", *files))]
    shell = '"$@" > /dev/full' if where == "full" else 'exec 3> >(exit); wait $!; "$@" >&3'
    ran = subprocess.run(["bash", "-c", shell, "bash", *command], env=environment(), check=False, capture_output=True)
    assert (ran.returncode, json.loads((tmp_path / "result.json").read_bytes())["outcome"]) == (code, outcome)


@pytest.mark.parametrize("flag", ["--result", "--save-bundle", "--state"])
def test_what_is_no_regular_file_is_never_replaced(lines: Stand, tmp_path: Path, flag: str) -> None:
    odd, link, real = tmp_path / "pipe", tmp_path / "link", tmp_path / "real.json"
    os.mkfifo(odd)
    real.write_text("{}")
    link.symlink_to(real)
    (tmp_path / "stage.json").write_text("{}")
    factory = ("--factory", "--stage", tmp_path / "stage.json") if flag == "--result" else ()
    arguments = ("resolve", lines.clone.path, "--autopilot", ISSUE, "--refresh=none", *factory)
    done = base_branch(*arguments, flag, odd)
    assert (done.code, done.out) == (2 if flag == "--save-bundle" else 5, b"")
    assert "pipe cannot be written: it is no regular file" in done.err
    assert odd.is_fifo()
    assert base_branch(*arguments, flag, link).code == 0
    assert link.is_symlink()
    assert len(real.read_text()) > len("{}")
