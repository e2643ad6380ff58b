"""A run that is struck while it writes: the old or the new stands, whole, and the next run works."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.processes import alive, needs_proc
from tests.support.program import environment

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand

# The longer run, of every strike on every command: FAULTS=all pytest tests/program/test_faults_writes.py
EVERY = os.environ.get("FAULTS") == "all"

TRAP = Path(__file__).parents[1] / "support" / "trap.py"

FIGURE = f"backtests/{hashlib.sha256(b'acme/app').hexdigest()[:32]}.json"
OLD = {
    "decision": {"state.json": '{"taskType": "bug"}', "result.json": '{"old": 1}', "bundle.json": '{"old": 1}'},
    "memory": {"preferences.json": '{"theme": 1.0, "global": {"recentBranches": []}}'},
    "figure": {FIGURE: "{}"},
}
# What tells the new content of each file from everything else.
NEW: dict[str, tuple[str, object]] = {
    "state.json": ("baseBranch", "release/8.3.0"),
    "result.json": ("outcome", "success"),
    "bundle.json": ("schema", "base-branch/bundle@1"),
    "preferences.json": ("theme", 1.0),
    FIGURE: ("projectKey", "acme/app"),
}
DECISION = (
    "--autopilot --issue-version=8.3.0 --refresh=none --factory --stage={place}/stage.json"
    " --result={place}/result.json --state={place}/state.json --save-bundle={place}/bundle.json"
)


def struck(kind: str, what: str, clone: Path, folder: Path) -> list[dict[str, Any]]:
    """Every moment at which the command was struck, and last the run that was not."""
    arguments = {
        "decision": ["resolve", str(clone), *DECISION.split()],
        "memory": ["remember", "develop", str(clone)],
        "figure": ["backtest", str(clone), "--json", "--project-key=acme/app"],
    }[what]
    begin = folder / "begin"
    begin.mkdir(parents=True)
    for name, text in (OLD[what] | {"stage.json": "{}"}).items():
        (begin / name).parent.mkdir(exist_ok=True)
        (begin / name).write_text(text)
    ran = subprocess.run(
        [sys.executable, str(TRAP), kind, str(folder), "--", *arguments],
        env=environment({"MARKER": str(folder)}),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    seen: list[dict[str, Any]] = json.loads(ran.stdout)
    assert alive(f"MARKER={folder}") == []
    assert seen[-1]["code"] == 0
    assert whole(seen[-1], what) == {"new"}
    for one in seen:
        assert one["locked"] == []
        assert not one["out"] or json.loads(one["out"])
        assert "Traceback" not in one["err"]
    return seen


def whole(one: dict[str, Any], what: str) -> set[str]:
    """Which contents stand in the files that the command writes; one that is neither is an error."""
    found = set()
    for name, old in OLD[what].items():
        text = one["files"][name]
        key, value = NEW[name]
        assert text == old or json.loads(text)[key] == value, text
        found.add("old" if text == old else "new")
    return found


def drafts(one: dict[str, Any]) -> list[str]:
    return [name for name in one["files"] if name.endswith(".tmp")]


@needs_proc
@pytest.mark.parametrize("what", ["decision", *(["memory", "figure"] if EVERY else [])])
def test_killed_at_any_moment_it_leaves_the_old_or_the_new_and_the_next_run_works(
    stand: MakeStand, tmp_path: Path, what: str
) -> None:
    *killed, _ = struck("kill", what, stand("release_lines").clone.path, tmp_path / "copies")
    assert {one["code"] for one in killed} == {-9}
    assert any(drafts(one) for one in killed)
    for one in killed:
        whole(one, what)
    nexts = [one["next"] for one in killed if "next" in one]
    assert len(nexts) > len(OLD[what]), "a kill after another kind of leftovers"
    for one in nexts:
        assert one["code"] == 0
        assert whole(one, what) == {"new"}


@needs_proc
@pytest.mark.parametrize("what", ["decision", "memory", *(["figure"] if EVERY else [])])
@pytest.mark.parametrize("ending", ["SIGTERM", *(["SIGINT", "SIGHUP"] if EVERY else [])])
def test_told_to_end_at_any_moment_it_leaves_no_draft_and_says_130(
    stand: MakeStand, tmp_path: Path, what: str, ending: str
) -> None:
    *ended, _ = struck(ending, what, stand("release_lines").clone.path, tmp_path / "copies")
    assert {one["code"] for one in ended} == {130}
    for one in ended:
        whole(one, what)
        assert drafts(one) == []
        assert one["err"].endswith("base-branch: interrupted\n")


@needs_proc
@pytest.mark.parametrize("what", ["decision", *(["memory"] if EVERY else [])])
def test_a_disk_that_is_full_from_any_moment_on_is_said_and_leaves_the_old_or_the_new(
    stand: MakeStand, tmp_path: Path, what: str
) -> None:
    *full, _ = struck("full", what, stand("release_lines").clone.path, tmp_path / "copies")
    for one in full:
        whole(one, what)
        assert drafts(one) == []
        if one["code"] == 0:  # the name was there, and whether it outlives a power failure is all that is unsure
            assert (one["struck"], whole(one, what)) == (["os.fsync"], {"new"})
        else:
            assert one["code"] in {2, 5}
            assert one["out"] == ""
            assert "cannot be written: no space left on device" in one["err"]
    assert any(one["code"] != 0 for one in full)
