"""Child processes: what they printed comes back whole, and at the deadline nothing of them is left."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collectors.errors import SetupError
from collectors.process import Deadline, Git, ProcessResult, git_environment, run
from tests.support.processes import alive, needs_proc

if TYPE_CHECKING:
    from tests.support.repositories import Workshop


def ran(stdout: bytes) -> ProcessResult:
    return ProcessResult(argv=("git",), code=0, stdout=stdout, stderr="", milliseconds=1)


def test_lines_end_at_newlines_only() -> None:
    # U+0085 and U+2028 may stand in a refname.
    odd = "refs/heads/a\u0085b\nrefs/heads/c\u2028d\n"
    assert ran(odd.encode()).lines == ["refs/heads/a\u0085b", "refs/heads/c\u2028d"]
    assert ran(b"a\n\nb").lines == ["a", "", "b"]
    assert ran(b"").lines == []


def test_undecodable_bytes_stay_visible() -> None:
    assert ran(b"refs/heads/\xff\n").lines == ["refs/heads/\\xff"]


def test_the_callers_variables_that_would_change_answers_do_not_reach_git() -> None:
    environ = {
        "GIT_INDEX_FILE": "x",
        "GIT_TRACE": "1",
        "GIT_SSH_COMMAND": "ssh -F x",
        "GIT_CONFIG_COUNT": "0",
        "GIT_TERMINAL_PROMPT": "1",
        "GIT_ASKPASS": "/ci/token",
        "SSH_ASKPASS": "/usr/bin/window",
        "DISPLAY": ":0",
        "LC_ALL": "de_DE.UTF-8",
        "PATH": "/bin",
    }
    kept = git_environment(environ)
    assert "GIT_INDEX_FILE" not in kept
    assert "GIT_TRACE" not in kept
    assert kept["GIT_SSH_COMMAND"] == "ssh -F x"
    assert kept["GIT_CONFIG_COUNT"] == "0"
    assert kept["GIT_TERMINAL_PROMPT"] == "0"
    assert kept["GIT_ASKPASS"] == "/ci/token"
    assert kept["SSH_ASKPASS"] == ""
    assert "DISPLAY" not in kept
    assert kept["LC_ALL"] == "C"
    assert kept["PATH"] == "/bin"


def test_no_git_is_a_set_up_error_with_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        Git(folder=tmp_path, environ={"PATH": str(tmp_path)}, executable=str(tmp_path / "git")).run("version")
    assert (caught.value.code, caught.value.hint) == (
        "git-missing",
        "install git 2.30 or newer, then: git --version",
    )


@pytest.mark.parametrize("path", ["", ":", ".", "bin", "{PATH}:", ":{PATH}", ".:{PATH}", "bin:{PATH}"])
def test_a_git_of_the_repository_is_never_run(workshop: Workshop, path: str) -> None:
    repo = workshop.init("r")
    for place in (repo.path, repo.path / "bin"):
        place.mkdir(exist_ok=True)
        (place / "git").write_text("#!/bin/sh\necho of the repository\n", encoding="utf-8")
        (place / "git").chmod(0o755)
    port = repo.port(environ={"PATH": path.format(PATH=os.environ["PATH"])})
    if "{PATH}" in path:
        assert port.run("version").stdout.startswith(b"git version ")
        # Nor by git itself.
        assert port.run("-c", "alias.x=!git version", "x").stdout.startswith(b"git version ")
    else:
        with pytest.raises(SetupError, match="was not found on PATH"):
            port.run("version")


def test_no_folder_is_told_apart_from_no_git(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(SetupError) as caught:
        workshop.init("r").port().at(tmp_path / "gone").run("version")
    assert caught.value.code == "no-such-folder"
    (tmp_path / "file").touch()
    with pytest.raises(SetupError) as caught:
        Git(folder=tmp_path / "file", environ=dict(os.environ)).run("version")
    assert caught.value.code == "not-a-folder"


@needs_proc
def test_at_the_deadline_the_children_of_the_child_end_too(tmp_path: Path) -> None:
    marker = f"MARKER={tmp_path}"
    environ = {"PATH": os.environ["PATH"], "MARKER": str(tmp_path)}
    # The grandchild holds the pipe: ending the child alone would leave it, and the reader blocked.
    script = f"cat {tmp_path}/fifo & echo started; wait"
    os.mkfifo(tmp_path / "fifo")
    done = run(["sh", "-c", script], cwd=tmp_path, environ=environ, deadline=Deadline(0.3))
    assert (done.timed_out, done.stdout) == (True, b"started\n")
    assert alive(marker) == []


# A process in a session of its own, which neither the end of the child nor that of its group ends, holds a pipe.
_LEAVES_ONE_BEHIND = """
setsid cat fifo >&{pipe} 2>&{pipe} & echo $! > left-behind
echo said; echo told >&2; exit {code}
"""


@pytest.mark.parametrize("pipe", [1, 2])
@pytest.mark.parametrize("code", [0, 3])
def test_what_a_child_leaves_behind_is_not_waited_for(tmp_path: Path, pipe: int, code: int) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = _LEAVES_ONE_BEHIND.format(pipe=pipe, code=code)
    deadline = Deadline(3600)
    done = run(["sh", "-c", script], cwd=tmp_path, environ={"PATH": os.environ["PATH"]}, deadline=deadline)
    left_behind = int((tmp_path / "left-behind").read_text())
    os.kill(left_behind, 0)  # it lives: a user's own ssh connection is not this program's to end
    os.kill(left_behind, signal.SIGKILL)
    assert (done.code, done.stdout, done.stderr) == (code, b"said\n", "told\n")


def test_at_the_deadline_what_was_said_is_kept_and_no_pipe_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = "setsid cat fifo & echo $! > left-behind; echo said; read line < fifo"
    done = run(["sh", "-c", script], cwd=tmp_path, environ={"PATH": os.environ["PATH"]}, deadline=Deadline(0.3))
    os.kill(int((tmp_path / "left-behind").read_text()), signal.SIGKILL)
    assert (done.timed_out, done.stdout) == (True, b"said\n")


def test_a_child_that_closed_its_pipes_is_waited_for_and_ended_at_the_deadline(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    script = "echo said; exec >&- 2>&-; {0}exit 3"
    environ = {"PATH": os.environ["PATH"]}
    done = run(["sh", "-c", script.format("")], cwd=tmp_path, environ=environ, deadline=Deadline(3600))
    assert (done.code, done.stdout) == (3, b"said\n")
    waits = script.format("read line < fifo; ")
    done = run(["sh", "-c", waits], cwd=tmp_path, environ=environ, deadline=Deadline(0.3))
    assert (done.timed_out, done.stdout) == (True, b"said\n")


def test_more_than_a_pipe_holds_goes_in_and_comes_out(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}
    much = b"0123456789abcdef\n" * 100_000
    assert run(["cat"], cwd=tmp_path, environ=environ, deadline=Deadline(3600), stdin=much).stdout == much
    # It reads one line and ends: what was not taken is dropped.
    ended = run(["sh", "-c", "read line"], cwd=tmp_path, environ=environ, deadline=Deadline(3600), stdin=much)
    assert (ended.code, ended.stdout) == (0, b"")


def test_a_child_that_prints_too_many_lines_is_ended(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"]}
    endless = run(["yes"], cwd=tmp_path, environ=environ, deadline=Deadline(3600), most_lines=1000)
    assert (endless.code, endless.too_many, endless.timed_out) == (None, True, False)
    long = run(["cat", "/dev/zero"], cwd=tmp_path, environ=environ, deadline=Deadline(3600), most_lines=1000)
    assert (long.code, long.too_many, long.timed_out) == (None, True, False)
    exact = run(["seq", "1000"], cwd=tmp_path, environ=environ, deadline=Deadline(3600), most_lines=1000)
    assert (exact.code, exact.too_many, len(exact.lines)) == (0, False, 1000)


@needs_proc
def test_the_look_for_survivors_sees_one_that_lives(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "MARKER": str(tmp_path)}
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ) as living:
        assert living.stdin is not None
        assert living.stdout is not None
        # Before it says something its environment may not be to be seen yet.
        living.stdin.write(b"here\n")
        living.stdin.flush()
        assert living.stdout.readline() == b"here\n"
        assert alive(f"MARKER={tmp_path}") == [living.pid]
