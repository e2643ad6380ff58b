"""Told to end, at whatever moment: exit code 130, nothing on standard output, no child, no lock of git's, no draft."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.faulty_git import faulty_git
from tests.support.processes import alive, needs_proc
from tests.support.program import ROOT, base_branch, environment, start
from tests.support.servers import HOST

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand, Stand

pytestmark = needs_proc

INTERRUPTED = (130, b"", "base-branch: interrupted\n")
HANGING = "exec sleep 60"


@pytest.fixture
def behind(stand: MakeStand) -> Stand:
    """A clone that lacks the branch of 8.3.0."""
    made = stand("release_lines")
    made.clone.git("update-ref", "-d", "refs/remotes/origin/release/8.3.0")
    return made


def asked(stand: Stand) -> list[str]:
    return ["resolve", str(stand.clone.path), "--autopilot", "--issue-version=8.3.0", "--timeout=60"]


def leaves_nothing(stand: Stand, before: dict[str, str], folder: Path) -> None:
    assert alive(f"MARKER={folder}") == []
    assert list(stand.clone.path.rglob("*.lock")) == []
    assert stand.clone.refs() == before


@pytest.mark.parametrize(
    ("on", "problem"),
    [
        ("version", f"kill -HUP $PPID; {HANGING}"),
        ("ls-remote", f"kill -INT $PPID; {HANGING}"),
        ("fetch", f"kill -TERM $PPID; {HANGING}"),
        # `timeout` tells the program, and then its whole group: twice the same. Nor does this git heed its own end.
        ("fetch", "trap '' TERM; for ever in 1 2 3 4; do kill -TERM $PPID; sleep 0.2; done; sleep 60"),
    ],
)
def test_an_ending_while_git_is_at_work(behind: Stand, tmp_path: Path, on: str, problem: str) -> None:
    before = behind.clone.refs()
    done = base_branch(*asked(behind), environ=faulty_git(tmp_path, on, problem))
    assert (done.code, done.out, done.err) == INTERRUPTED
    leaves_nothing(behind, before, tmp_path)


# Read by the interpreter before the program: what cannot be timed from outside.
WHILE_LOADING = """
import os, signal, sys
def at(event, arguments):
    if event == "import" and arguments[0] == "candidates.resolver":
        os.kill(os.getpid(), signal.SIGTERM)
sys.addaudithook(at)
"""
WHILE_STARTING_A_CHILD = """
import os, signal, subprocess
fork_exec = subprocess._fork_exec
def and_end(argv, *more):
    child = fork_exec(argv, *more)
    if "fetch" in argv:
        os.kill(os.getpid(), signal.SIGTERM)
    return child
subprocess._fork_exec = and_end
"""


@pytest.mark.parametrize("moment", [WHILE_LOADING, WHILE_STARTING_A_CHILD])
def test_an_ending_at_the_worst_moment(behind: Stand, tmp_path: Path, moment: str) -> None:
    before = behind.clone.refs()
    (tmp_path / "sitecustomize.py").write_text(moment)
    environ = faulty_git(tmp_path, "fetch", HANGING) | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    done = base_branch(*asked(behind), environ=environ)
    assert (done.code, done.out, done.err) == INTERRUPTED
    leaves_nothing(behind, before, tmp_path)


def ended(running: subprocess.Popen[bytes], ending: signal.Signals) -> tuple[int, bytes, str]:
    running.send_signal(ending)
    out, err = running.communicate(timeout=50)  # of the 60 seconds that the run has
    return running.returncode, out, err.decode()


def test_an_ending_while_several_repositories_wait_for_their_remotes(stand: MakeStand, tmp_path: Path) -> None:
    clone = stand("release_lines").clone
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(60)
        clone.git("config", "remote.origin.url", f"http://{HOST}:{listener.getsockname()[1]}/acme/app.git")
        paths = (clone.path, clone.path / ".git" / "..")
        arguments = ("resolve", *paths, "--autopilot", "--timeout=60")
        with start(*arguments, environ={"MARKER": str(tmp_path)}) as running:
            waiting = [listener.accept()[0] for _ in paths]
            assert ended(running, signal.SIGTERM) == INTERRUPTED
        assert alive(f"MARKER={tmp_path}") == []
        for line in waiting:
            line.close()


def test_an_ending_while_the_tracker_is_waited_for(stand: MakeStand, tmp_path: Path) -> None:
    clone = stand("release_lines").clone
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(60)
        jira = {"JIRA_URL": f"http://{HOST}:{listener.getsockname()[1]}", "JIRA_TOKEN": "t", "MARKER": str(tmp_path)}
        arguments = ("resolve", clone.path, "--autopilot", "--issue=APP-12", "--timeout=60")
        with start(*arguments, environ=jira) as running:
            waiting, _ = listener.accept()
            assert ended(running, signal.SIGINT) == INTERRUPTED
        assert alive(f"MARKER={tmp_path}") == []
        waiting.close()


def test_an_ending_while_a_state_is_locked(stand: MakeStand, tmp_path: Path) -> None:
    clone, state = stand("release_lines").clone, tmp_path / "state.json"
    state.write_text("{}")
    with state.with_name("state.json.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with start("resolve", clone.path, "--autopilot", "--refresh=none", "--state", state) as running:
            opened = Path(f"/proc/{running.pid}/fd")
            while running.poll() is None and lock.name not in map(target, opened.iterdir()):
                pass
            assert ended(running, signal.SIGTERM) == INTERRUPTED
    assert state.read_text() == "{}"
    assert sorted(p.name for p in tmp_path.glob("*state*")) == ["state.json", "state.json.lock"]


def target(link: Path) -> str | None:
    try:
        return str(link.readlink())
    except OSError:  # closed meanwhile
        return None


WHEN_ALL_IS_SAID = """
import atexit, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGTERM)
"""
WHEN_PYTHON_HAS_GIVEN_UP_ITS_HANDLERS = """
import os, signal
class Late:
    def __del__(self, kill=os.kill, process=os.getpid(), ending=signal.SIGTERM):
        kill(process, ending)
late = Late()
"""
WHILE_ANOTHER_END_IS_TOLD = """
import builtins, os, signal
tell = builtins.print
def and_end(*words, **more):
    builtins.print = tell
    os.kill(os.getpid(), signal.SIGTERM)
    tell(*words, **more)
builtins.print = and_end
"""


def at_the_end(folder: Path, moment: str) -> dict[str, str]:
    (folder / "sitecustomize.py").write_text(moment)
    assert environment()["PYTHONPATH"] == str(ROOT)
    return {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


@pytest.mark.parametrize("moment", [WHEN_ALL_IS_SAID, WHEN_PYTHON_HAS_GIVEN_UP_ITS_HANDLERS])
def test_an_ending_that_comes_when_all_is_said_changes_nothing(tmp_path: Path, moment: str) -> None:
    done = base_branch("schema", "bundle", environ=at_the_end(tmp_path, moment))
    assert (done.code, done.err) == (0, "")
    assert done.json()


def test_an_ending_while_another_end_is_told(tmp_path: Path) -> None:
    done = base_branch("resolve", str(tmp_path / "none"), environ=at_the_end(tmp_path, WHILE_ANOTHER_END_IS_TOLD))
    assert (done.code, done.out, done.err) == INTERRUPTED
