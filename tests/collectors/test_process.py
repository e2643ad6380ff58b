"""Child processes: what they printed comes back whole, and at the deadline nothing of them is left."""

from __future__ import annotations

import os
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
