"""The help is true: every command has its place and its examples, and the examples are run, or at least parsed."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
from typing import TYPE_CHECKING

import pytest
import typer.main

from candidates.cli.app import NAMES, app
from candidates.cli.help import EXAMPLES, EXIT_CODES, GROUPS
from candidates.exit_codes import ExitCode
from tests.support.program import base_branch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repositories import MakeStand

COMMAND = typer.main.get_command(app)
LINES = [line for lines in EXAMPLES.values() for line in lines]
# These want a tracker or an earlier run; the demo has tests of its own.
PARSED_ALONE = [line for line in LINES if "APP-12" in line or "3fa9c1" in line or line.endswith("demo")]


def words(line: str) -> tuple[list[str], str | None, str | None]:
    """A line's words after the program's name, and the files that its standard input and output are."""
    parts = shlex.split(line)
    files = {mark: parts[parts.index(mark) + 1] for mark in "<>" if mark in parts}
    end = min([len(parts), *(parts.index(mark) for mark in files)])
    assert parts[0] == "base-branch"
    return parts[1:end], files.get("<"), files.get(">")


def test_every_command_has_its_one_place_and_examples() -> None:
    placed = [name for commands in GROUPS.values() for name in commands]
    assert sorted(placed) == sorted(NAMES) == sorted(EXAMPLES)
    assert all(1 <= len(lines) <= 3 for lines in EXAMPLES.values())
    assert all(words(line)[0][0] == name for name, lines in EXAMPLES.items() for line in lines)


@pytest.mark.parametrize("line", LINES)
def test_every_example_is_parsed(line: str) -> None:
    arguments, _, _ = words(line)
    with COMMAND.make_context("base-branch", arguments[:0], resilient_parsing=True) as above:
        command = COMMAND.get_command(above, arguments[0])  # type: ignore[attr-defined] # it is a group
        with command.make_context(arguments[0], arguments[1:], parent=above) as context:
            assert context.args == []


def test_an_example_with_a_wrong_option_would_be_found() -> None:
    with pytest.raises(Exception, match="No such option"):
        test_every_example_is_parsed("base-branch recent --nope")


def test_the_examples_run_one_after_the_other(
    stand: MakeStand, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    clone = stand("release_lines").clone
    folder = clone.path
    clone.git("branch", "work", "origin/release/8.4.0")
    (folder / "branches.txt").write_text(clone.git("branch", "--remotes"), encoding="utf-8")
    monkeypatch.chdir(folder)
    codes = {}
    for line in (line for line in LINES if line not in PARSED_ALONE):
        arguments, source, target = words(line)
        if "tuesday.json" in line and target is None:
            shutil.copy("monday.json", "tuesday.json")
        if arguments[0] == "recheck":  # the pipeline's own key
            state = json.loads((folder / "state.json").read_bytes())
            (folder / "state.json").write_text(json.dumps(state | {"branch": "work"}), encoding="utf-8")
        given = (folder / source).read_bytes() if source is not None else b""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        codes[line] = app(arguments, standalone_mode=False) or 0
        out = capfdbinary.readouterr().out
        if target is not None:
            (folder / target).write_bytes(out)
    wanted = {"base-branch choose --cancelled --state state.json": 3, "base-branch gate state.json --autopilot": 7}
    assert codes == {line: wanted.get(line, 0) for line in codes}


def test_the_top_says_where_to_go_and_the_exit_codes(tmp_path: Path) -> None:
    done = base_branch("--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    said = done.out.decode()
    assert [line.rstrip(":") for line in said.splitlines() if line.rstrip(":") in GROUPS] == list(GROUPS)
    assert "..." not in said.partition("Which branch:")[2]
    assert [int(code) for code in re.findall(r"(?m)^  (\d+) ", EXIT_CODES)] == [int(code) for code in ExitCode]
    assert all(line in said for line in EXIT_CODES.splitlines()[1:])
    example = base_branch("choose", "--help", cwd=tmp_path).out.decode().splitlines()
    assert [line.strip() for line in example[-4:]] == ["Examples:", *EXAMPLES["choose"]]
