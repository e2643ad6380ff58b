"""The program under each of its names, and what a wheel of it holds."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.program import COMMAND, ROOT, base_branch, environment


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


@pytest.mark.parametrize("path", [":{ROOT}", ".:{ROOT}", "lib:{ROOT}", "{HERE}:{ROOT}"])
@pytest.mark.parametrize("module", ["msgspec", "json", "ranking", "typer"])
def test_no_module_of_the_current_folder_is_imported(tmp_path: Path, path: str, module: str) -> None:
    for folder in (tmp_path, tmp_path / "lib"):
        (folder / module).mkdir(parents=True)
        (folder / module / "__init__.py").write_text("raise SystemExit('of the repository')", encoding="utf-8")
    environ = {"PYTHONPATH": path.format(ROOT=ROOT, HERE=tmp_path)}
    done = base_branch("gate", "none.json", environ=environ, cwd=tmp_path)
    assert (done.code, done.err) == (7, ""), done.out


def test_a_wheel_says_that_its_packages_are_typed(tmp_path: Path) -> None:
    builders = pytest.importorskip("hatchling.builders.wheel")
    (wheel,) = builders.WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    assert {f"{package}/py.typed" for package in ("candidates", "collectors", "ranking")} <= held
