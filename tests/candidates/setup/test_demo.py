"""`base-branch demo`: three decisions about a real repository, offline, and nothing left behind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.support.program import Done, base_branch

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the demo may put temporary files."""
    path = tmp_path / "temporary"
    path.mkdir()
    return path


def demo(folder: Path, **environ: str) -> Done:
    return base_branch("demo", environ={"TMPDIR": str(folder)} | environ)


def test_three_decisions(folder: Path) -> None:
    done = demo(folder)
    assert (done.code, done.err) == (0, "")
    said = done.out.decode().splitlines()
    at = "at refs/remotes/origin"
    assert [line for line in said if line.startswith("exit ")] == [
        f"exit 0: release/8.4.0 {at}/release/8.4.0, derived, fresh",
        f"exit 0: main {at}/main, default, fresh",
        f"exit 0: release/8.4.0 {at}/release/8.4.0, derived, cached-stale",
    ]
    assert [line for line in said if re.match(r"\d\. ", line)] == [
        "1. A clear one: the issue's fix version is 8.4.0.",
        "2. An ambiguous one: the fix versions are 8.4.0 and 8.5.0.",
        "3. The remote is gone: the same as 1, from this clone's cache, and said so.",
    ]
    assert "The evidence does not decide where work on APP-12 belongs: release/8.5.0, release/8.4.0 tie." in said
    assert sum(line.startswith("  remote      answered in ") for line in said) == 2
    assert sum(line.startswith("  remote      failed (not-found) in ") for line in said) == 1


def test_nothing_is_left_behind(folder: Path, home: Path) -> None:
    before = sorted(home.rglob("*"))
    assert demo(folder).code == 0
    assert list(folder.iterdir()) == []
    assert sorted(home.rglob("*")) == before


def test_it_asks_a_path_and_no_network(folder: Path) -> None:
    # Any other transport would be refused by git.
    done = demo(folder, GIT_ALLOW_PROTOCOL="file")
    urls = re.findall(r"ms: origin (\S+) ", done.out.decode())
    assert len(urls) == 3
    assert all(re.fullmatch(rf"{re.escape(str(folder))}/base-branch-demo-\w+/remote\.git", url) for url in urls)
    assert "://" not in done.out.decode()


def test_the_users_own_settings_do_not_reach_it(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "gitconfig"
    config.write_text('[url "ext::false "]\n\tinsteadOf = /\n[core]\n\thooksPath = /\n[remote]\n\tpushDefault = x\n')
    store = tmp_path / "memory.json"
    store.write_text("{")
    odd = {
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_DIR": str(tmp_path),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "init.defaultBranch",
        "GIT_CONFIG_VALUE_0": "odd",
        "BASE_BRANCH_PREFERENCES": str(store),
    }
    plain, bent = demo(folder), demo(folder, **odd)
    assert bent.code == 0
    assert steady(bent) == steady(plain)


def steady(done: Done) -> str:
    """The output without what differs from run to run."""
    return re.sub(r"\d+ ms|\d\d:\d\d:\d\d|base-branch-demo-\w+", "", done.out.decode())


def test_without_git_it_says_what_to_do(folder: Path) -> None:
    done = demo(folder, PATH=str(folder))
    assert (done.code, done.out) == (5, b"")
    assert done.err.startswith("base-branch: git was not found on PATH\n  try: install git")
    assert list(folder.iterdir()) == []
