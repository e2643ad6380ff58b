"""`--version`: what a report of a fault has to name."""

from __future__ import annotations

import platform
import subprocess
from typing import TYPE_CHECKING

import pygit2

from candidates import __version__
from tests.support.program import base_branch

if TYPE_CHECKING:
    from pathlib import Path


def test_the_versions_of_the_parts_are_named(tmp_path: Path) -> None:
    git = subprocess.run(["git", "version"], capture_output=True, check=True, text=True).stdout.split()[2]
    done = base_branch("--version", cwd=tmp_path)
    own, its, library, python = done.out.decode().splitlines()
    assert (done.code, own, python) == (0, f"base-branch {__version__}", f"Python {platform.python_version()}")
    assert its.startswith("git ")
    assert git.startswith(its.removeprefix("git "))
    assert library == f"libgit2 {pygit2.LIBGIT2_VERSION}"


def test_a_git_that_is_not_there_is_said_on_its_line(tmp_path: Path) -> None:
    done = base_branch("--version", cwd=tmp_path, environ={"PATH": str(tmp_path)})
    assert done.code == 0
    assert done.out.decode().splitlines()[1].startswith("git cannot be run: ")
