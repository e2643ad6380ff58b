"""The program under each of its names, and what a wheel of it holds."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.program import COMMAND, ROOT, environment


@pytest.mark.parametrize(
    "command",
    [
        ["base-branch"],
        ["git", "base-branch"],
        ["base-branch-evidence"],
        [sys.executable, "-m", "candidates"],
    ],
)
def test_every_name_starts_the_same_program(command: list[str], tmp_path: Path) -> None:
    path = {"PATH": f"{Path(COMMAND[1]).parent}:{environment()['PATH']}"}
    ran = subprocess.run([*command, "--version"], cwd=tmp_path, env=environment(path), capture_output=True, check=True)
    assert ran.stdout.startswith(b"base-branch ")


def test_a_wheel_says_that_its_packages_are_typed(tmp_path: Path) -> None:
    builders = pytest.importorskip("hatchling.builders.wheel")
    (wheel,) = builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert {f"{package}/py.typed" for package in ("candidates", "collectors", "ranking")} <= held
