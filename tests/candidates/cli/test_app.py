"""The command line's own shape: every command declared, helped and proposed, and loaded only when it is called."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import typer

from candidates.cli.app import NAMES, Commands, app, declarations_of
from candidates.cli.help import GROUPS
from candidates.cli.setup import SCHEMAS
from candidates.setup.schemas import NAMES as SCHEMA_NAMES

SCRIPT = Path(sys.executable).with_name("base-branch")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)


def declared(module: ModuleType) -> set[str]:
    own = (name for name, value in vars(module).items() if inspect.isfunction(value) and name.endswith("_command"))
    return {name.removesuffix("_command") for name in own}


def test_every_command_is_declared_once_and_summarised_on_one_line() -> None:
    modules = {declarations_of(name) for name in NAMES}
    assert sorted(name for module in modules for name in declared(module)) == sorted(NAMES)
    lines = [line for commands in GROUPS.values() for line in commands.values()]
    assert [line for line in lines if len(line) > 66 or not line.endswith(".")] == []


def test_the_help_has_each_command_with_its_whole_line() -> None:
    ran = run("--help")
    assert ran.returncode == 0
    rows = {tuple(line.split(maxsplit=1)) for line in ran.stdout.splitlines() if line.strip()}
    assert [row for commands in GROUPS.values() for row in commands.items() if row not in rows] == []


@pytest.mark.parametrize("name", NAMES)
def test_each_command_is_built_with_its_help(name: str) -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, Commands)
    command = group.get_command(typer.Context(group), name)
    assert command.name == name
    assert command.help == inspect.getdoc(vars(declarations_of(name))[f"{name}_command"])


def test_a_name_that_is_nearly_one_is_proposed() -> None:
    ran = run("resolv")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "Did you mean 'resolve'?" in ran.stderr


def test_the_schemas_that_the_help_names_are_all_there_are() -> None:
    assert sorted(SCHEMAS) == sorted(SCHEMA_NAMES)
