"""`candidates`: a list of branches as `git branch -r` prints it, and an issue, give the evidence record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from candidates.setup.schemas import schema_of
from tests.support.program import Done, base_branch

if TYPE_CHECKING:
    from pathlib import Path

LINES = b"""  origin/HEAD -> origin/main
  origin/develop
  origin/main
  origin/feature/x
  origin/release/8.3.0
  origin/release/8.4.0
"""
NAMES = [line.strip() for line in LINES.decode().splitlines() if "->" not in line]


def ranked(stdin: bytes, *arguments: str | Path) -> Done:
    return base_branch("candidates", *arguments, stdin=stdin, environ={"PATH": "/nonexistent"})


def test_remote_tracking_names_are_the_remotes_branches() -> None:
    done = ranked(LINES, "--issue-version", "8.4.0")
    assert done.code == 0, done.err
    record = done.json()
    jsonschema.Draft202012Validator(schema_of("ranking")).validate(record)
    assert (record["chosen"], record["ambiguous"], record["refProvenance"]) == ("release/8.4.0", False, "remote")
    branches = [candidate["branch"] for candidate in record["candidates"]]
    assert sorted(branches) == ["develop", "main", "release/8.3.0", "release/8.4.0"]


@pytest.mark.parametrize("names", [NAMES, [name.removeprefix("origin/") for name in NAMES]])
def test_a_json_list_is_the_same(names: list[str]) -> None:
    lines = LINES.replace(b"  origin/HEAD -> origin/main\n", b"")
    more = ("--issue-version", "8.4.0")
    assert ranked(json.dumps(names).encode(), *more).json() == ranked(lines, *more).json()


def test_the_issue_may_be_a_trackers_own_answer(tmp_path: Path) -> None:
    issue = tmp_path / "issue.json"
    issue.write_text(json.dumps({"key": "APP-1", "fields": {"fixVersions": [{"name": "8.3.0"}]}}))
    assert ranked(LINES, "--issue", issue).json()["chosen"] == "release/8.3.0"


def test_a_list_after_a_failed_fetch_is_local() -> None:
    assert ranked(LINES, "--provenance", "local").json()["refProvenance"] == "local"


@pytest.mark.parametrize(
    ("stdin", "more"),
    [(b"[1]", ()), (b"[", ()), (b"origin/a..b", ()), (b"\xff", ()), (LINES, ("--provenance", "mine"))],
)
def test_what_is_no_list_is_refused(stdin: bytes, more: tuple[str, ...]) -> None:
    done = ranked(stdin, *more)
    assert (done.code, done.out) == (2, b"")
