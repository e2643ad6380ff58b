"""What a command costs, counted in what does not drift: modules loaded, git processes started, objects read.

How long it takes is for bench/ to say. A bound that is broken is either a mistake or a decision: then it is changed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.program import COMMAND, environment

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand

OWN = frozenset({"ranking", "collectors", "candidates"})
# What takes long to load, and what most runs can do without.
HEAVY = frozenset(
    """
    typer msgspec packaging pygit2 jira github requests rich platformdirs dataclasses hashlib tomllib ssl http json
    """.split()
)

BUNDLE = (
    b'{"schema": "base-branch/bundle@1", "now": "2026-11-30T09:00:00Z", "repository": {"name": "acme/app"}, '
    b'"refs": {"provenance": "remote", "complete": true, "branches": [{"name": "main"}]}}\n'
)


def loaded_by(*arguments: str | Path) -> set[str]:
    """Every module that the installed command loads, as `-X importtime` tells."""
    ran = subprocess.run(
        [COMMAND[0], "-X", "importtime", COMMAND[1], *arguments],
        input=BUNDLE,
        capture_output=True,
        env=environment(),
        check=False,
    )
    lines = (line for line in ran.stderr.decode().splitlines() if line.startswith("import time:"))
    return {line.rpartition("|")[2].strip() for line in lines}


def costs(*arguments: str | Path) -> tuple[set[str], int]:
    """The heavy ones among what is loaded, and how many of our own modules are."""
    loaded = loaded_by(*arguments)
    tops = {name.partition(".")[0] for name in loaded}
    assert "candidates" in tops
    return tops & HEAVY, sum(name.partition(".")[0] in OWN for name in loaded)


@pytest.mark.parametrize("options", [(), ("--ndjson",)])
def test_rank_loads_what_decodes_and_ranks(options: tuple[str, ...]) -> None:
    heavy, own = costs("rank", *options)
    assert heavy <= {"msgspec", "packaging", "json"}
    assert own <= 30


@pytest.mark.parametrize(
    ("arguments", "most"),
    [(("--help",), 11), (("resolve", "--help"), 13), (("resolve", "--nope"), 13), (("nope",), 11)],
)
def test_help_and_a_usage_error_load_the_command_line_alone(arguments: tuple[str, ...], most: int) -> None:
    heavy, own = costs(*arguments)
    assert heavy - {"json", "dataclasses"} == {"typer"}  # the others are typer's own
    assert own <= most


def test_resolve_loads_no_client_and_no_terminal(stand: MakeStand) -> None:
    heavy, own = costs("resolve", stand("release_lines").clone.path, "--autopilot", "--issue-version", "8.4.0")
    clients = {"pygit2", "jira", "github", "requests", "rich", "platformdirs", "ssl", "http"}
    assert heavy & clients == set()
    assert own <= 89


def starts(folder: Path, *arguments: str | Path) -> tuple[list[str], int]:
    """The git commands that a run starts, in their order, and how many objects it asks them about.

    A git before the real one on PATH writes both down.
    """
    wrapper, notes = folder / "bin" / "git", folder / "notes"
    wrapper.parent.mkdir(exist_ok=True)
    notes.mkdir(exist_ok=True)
    for old in notes.iterdir():
        old.unlink()
    real = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, text=True, check=True).stdout.strip()
    wrapper.write_text(
        f"""#!/bin/sh
for word in "$@"; do
  case "$word" in -*|*=*) continue;; esac
  echo "$word" >> {notes}/commands
  break
done
case " $* " in
  *" --stdin "*|*" --batch "*) tee -a {notes}/objects | {real} "$@";;
  *) exec {real} "$@";;
esac
"""
    )
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    ran = subprocess.run([*COMMAND, *arguments], capture_output=True, env=environment({"PATH": path}), check=False)
    assert ran.returncode == 0, ran.stderr
    objects = (notes / "objects").read_text().split() if (notes / "objects").exists() else []
    return (notes / "commands").read_text().split(), len(objects)


def test_git_is_started_as_often_whatever_the_repository_holds(tmp_path: Path, stand: MakeStand) -> None:
    made = stand("release_lines")
    question = ("resolve", made.clone.path, "--autopilot", "--issue-version", "8.4.0")
    few, objects = starts(tmp_path, *question)
    # What is asked of the remote and what is read here go side by side, in no order.
    looked = "version rev-parse config ls-remote show-ref symbolic-ref".split()
    lineage = "rev-list for-each-ref".split()
    assert sorted(few) == sorted([*looked, *lineage, "rev-list"])
    line = """commit refs/heads/release/9.{0}\nmark :{1}\ncommitter A <a@b.c> 17000000{1:02} +0000\ndata 1\nx
from refs/heads/main^0\nreset refs/tags/v9.{0}.0\nfrom :{1}\n\n"""
    made.remote.git("fast-import", "--quiet", stdin="".join(line.format(i, i + 1) for i in range(60)))
    made.clone.git("fetch", "--quiet")
    many, more = starts(tmp_path, *question)
    assert sorted(many) == sorted(few)
    # Not more than one for each new branch, its tag, and its date.
    assert objects < more <= objects + 3 * 60


def test_a_branch_that_is_not_here_costs_one_fetch(tmp_path: Path, stand: MakeStand) -> None:
    made = stand("release_lines")
    made.clone.git("update-ref", "-d", "refs/remotes/origin/release/8.4.0")
    found, _ = starts(tmp_path, "resolve", made.clone.path, "--autopilot", "--issue-version", "8.4.0")
    assert found.count("fetch") == 1
    assert found.count("ls-remote") == 1
