"""What a shell is offered, through the shell's own protocol and through bash itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from candidates.commands.completion import branch_names, run_ids, words_of
from collectors.config.keys import KEYS
from tests.support.program import base_branch, environment, resolve

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand, Stand


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    return stand("release_lines")


def offered(folder: Path, line: str) -> list[str]:
    """What bash is told for a line whose last word is being typed, as typer's script asks for it."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_BASE_BRANCH_COMPLETE": "complete_bash"}
    done = base_branch(cwd=folder, environ=words)
    assert (done.code, done.err) == (0, "")
    return done.out.decode().split()


def test_branches_are_the_clones_own_and_the_remotes_without_asking_it(lines: Stand) -> None:
    lines.clone.git("branch", "only-here")
    known = branch_names(lines.clone.path, os.environ)
    assert {"only-here", "main", "develop", "release/8.3.0", "release/8.4.0"} <= set(known)
    assert known == sorted(known)
    lines.take_the_remote_away()
    assert branch_names(lines.clone.path, os.environ) == known
    for line in ("explain --why", "resolve --remote origin --base", "remember", "probe", "choose"):
        assert offered(lines.clone.path, f"base-branch {line} release/8.4") == ["release/8.4.0"]


def test_of_several_remotes_that_could_be_meant_all_are_offered(lines: Stand) -> None:
    git = lines.clone.git
    git("remote", "rename", "origin", "one")
    git("config", "remote.two.url", "x")
    git("config", "remote.two.fetch", "+refs/heads/*:refs/remotes/two/*")
    git("update-ref", "refs/remotes/two/theirs", "HEAD")
    assert {"theirs", "release/8.4.0"} <= set(branch_names(lines.clone.path, os.environ))
    assert "theirs" not in branch_names(lines.clone.path, os.environ, "one")


def test_a_name_that_a_shell_would_read_is_not_offered(lines: Stand) -> None:
    names = ["x;id", "x$(id)", "x`id`", "x'y", 'x"y', "x|y", "x&y", "x{a,b}", "-x", "ü"]
    lines.clone.git(
        "update-ref", "--stdin", stdin="".join(f"create refs/remotes/origin/{name} HEAD\n" for name in names)
    )
    known = branch_names(lines.clone.path, os.environ)
    assert [name for name in names if name in known] == []
    assert "release/8.4.0" in known


def test_where_nothing_can_be_read_nothing_is_offered(tmp_path: Path) -> None:
    assert branch_names(tmp_path, os.environ) == []
    assert branch_names(tmp_path / "none", os.environ) == []
    assert run_ids({"BASE_BRANCH_RUNS_FOLDER": str(tmp_path / "none")}) == []
    assert offered(tmp_path, "base-branch explain --why ma") == []


def test_words_runs_and_schemas(lines: Stand, home: Path) -> None:
    assert words_of("onFetchFailure") == ("ask", "retry", "cached", "local", "abort")
    assert {name for name in KEYS if words_of(name)} == {
        "autonomy",
        "defaultOrder",
        "multipleVersions",
        "onConflict",
        "onFetchFailure",
        "refresh",
        "resolveOrder",
    }
    assert offered(lines.clone.path, "base-branch resolve --autonomy g") == ["guided"]
    assert offered(lines.clone.path, "base-branch schema re") == ["recheck", "recent"]
    resolve(lines.clone.path)
    (file,) = (home / "state" / "base-branch" / "runs").iterdir()
    assert offered(lines.clone.path, "base-branch runs ") == [file.name[-9:-3]]


def test_remembered_ones_are_offered_to_forget(lines: Stand) -> None:
    assert base_branch("remember", "develop", lines.clone.path).code == 0
    assert offered(lines.clone.path, "base-branch forget ") == ["develop"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize("called", ["base-branch", "git-base-branch"])
def test_bash_itself_completes_with_the_script_that_is_printed(lines: Stand, called: str) -> None:
    script = """
        source <("$0" --show-completion bash)
        COMP_WORDS=("$0" explain --why release/8.4)
        COMP_CWORD=3
        $(complete -p "$0" | sed 's/.*-F \\([^ ]*\\).*/\\1/') "$0"
        printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "--norc", "-c", script, called],
        capture_output=True,
        cwd=lines.clone.path,
        env=environment({"PATH": path}),
        check=False,
    )
    assert (ran.returncode, ran.stdout.decode().split()) == (0, ["release/8.4.0"]), ran.stderr
