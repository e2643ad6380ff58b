"""`-v` and `--debug`: every command and request with its time, without secrets, and never on standard output."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from candidates.cli.tracing import Plain
from collectors.http_waiting import within
from collectors.process import Deadline, run
from tests.support.program import base_branch

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand


def plain(message: str) -> str:
    return Plain().format(logging.LogRecord("x", logging.DEBUG, "x", 1, "%s", (message,), None))


def test_no_secret_and_no_control_character_is_printed() -> None:
    said = plain("git fetch https://u:ghp_0123456789abcdef0123@github.com/o/r 'a\x1b[31m\nb'")
    assert said == "base-branch: git fetch https://***@github.com/o/r 'a\\x1b[31m\\nb'"
    assert plain("git -c http.extraheader='Authorization: Basic c2VjcmV0'").endswith("Authorization: ***")


def timeless(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [re.sub(r"\d+ ms$", "N ms", message) for message in caplog.messages]


def test_a_child_is_said_with_its_exit_code(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.DEBUG, logger="collectors")
    run(("sh", "-c", "exit 3"), cwd=tmp_path, environ={"PATH": "/usr/bin:/bin"}, deadline=Deadline(60))
    run(("sh", "-c", "sleep 60"), cwd=tmp_path, environ={"PATH": "/usr/bin:/bin"}, deadline=Deadline(0))
    assert timeless(caplog) == [
        "sh -c 'exit 3': exit 3, N ms",
        "sh -c 'sleep 60': ended at the deadline, N ms",
    ]


def test_a_request_is_said_with_what_became_of_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="collectors")

    def refuse() -> None:
        raise ConnectionError

    assert within(Deadline(60), lambda: 7, saying="GET api.github.com /repos/a/b") == 7
    with pytest.raises(ConnectionError):
        within(Deadline(60), refuse, saying="GET jira.acme.org issue/A-1")
    with pytest.raises(TimeoutError):
        within(Deadline(0), lambda: 7, saying="POST jira.acme.org issue/A-1/comment")
    assert timeless(caplog) == [
        "GET api.github.com /repos/a/b: answered, N ms",
        "GET jira.acme.org issue/A-1: failed with ConnectionError, N ms",
        "POST jira.acme.org issue/A-1/comment: no answer in time, N ms",
    ]


def test_a_run_says_its_commands_and_prints_the_same(stand: MakeStand) -> None:
    clone = stand("trunk_only").clone.path
    quiet, loud = (base_branch(*flags, "rank", stdin=BUNDLE) for flags in ((), ("-v",)))
    assert (loud.code, loud.out, loud.err) == (quiet.code, quiet.out, "")
    done = base_branch("-v", "resolve", clone, "--autopilot")
    assert done.code == 0
    assert done.json()["schema"] == "base-branch/decision@1"
    lines = done.err.splitlines()
    assert [line for line in lines if not re.fullmatch(r"base-branch: git .*: exit \d+, \d+ ms", line)] == []
    assert any(" ls-remote " in line for line in lines)


def test_debug_says_where_an_error_came_from(tmp_path: Path) -> None:
    done = base_branch("--debug", "resolve", tmp_path)
    assert (done.code, done.out) == (5, b"")
    lines = done.err.splitlines()
    assert lines[0].startswith("base-branch: git ")
    assert "Traceback (most recent call last):" in lines


BUNDLE = (
    b'{"schema": "base-branch/bundle@1", "now": "2026-11-30T09:00:00Z", "repository": {"name": "acme/app"}, '
    b'"refs": {"provenance": "remote", "complete": true, "branches": [{"name": "main"}]}}\n'
)
