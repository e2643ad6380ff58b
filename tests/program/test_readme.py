"""The README's sessions are real: run again, and their output compared; `...` stands for anything."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from collectors.config.keys import KEYS, REPOSITORY_MAY_SET
from tests.support.program import ROOT, base_branch, environment, resolve

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand

README = (ROOT / "README.md").read_text(encoding="utf-8")


def sessions() -> list[tuple[str, str]]:
    """Each command of the sessions, with what the README says that it prints."""
    blocks = re.findall(r"```console session\n(.*?)```", README, re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"(?m)^\$ ", block)[1:]]
    return [(command, said) for command, _, said in (step.partition("\n") for step in steps)]


def masked(text: str) -> str:
    """The text without what is another in every run: moments, durations, the ids of kept runs."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?", "MOMENT", text)
    return re.sub(r"\d+ ms", "N ms", re.sub(r"(?m)^[0-9a-f]{6}  MOMENT", "ID  MOMENT", text))


def matches(said: str, printed: str) -> bool:
    """Whether what was printed is what is said; a line `...` stands for any lines, within one for any words."""
    parts = (".*".join(map(re.escape, part.split("..."))) for part in said.split("...\n"))
    pattern = "(?s:.*)".join(parts)
    return re.fullmatch(pattern, printed) is not None


def test_the_comparison_finds_a_difference() -> None:
    assert matches("a\n...\nb ... d\n", "a\n1\n2\nb c d\n")
    assert not matches("a\n...\nb\n", "a\nc\n")
    assert not matches("a\n", "a\nb\n")


def test_the_sessions(tmp_path: Path, stand: MakeStand) -> None:
    made = stand("release_lines")
    made.clone.path.rename(tmp_path / "app")
    for key, *versions in (("APP-12", "8.4.0"), ("APP-13", "8.3.1", "8.4.0")):
        issue = {"key": key, "versions": [{"name": name, "field": "fixVersions"} for name in versions]}
        (tmp_path / f"{key.lower()}.json").write_text(f"{json.dumps(issue)}\n", encoding="utf-8")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    steps = sessions()
    assert len(steps) > 8
    for command, said in steps:
        ran = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment({"PATH": path}), capture_output=True, check=False
        )
        assert ran.returncode == 0, (command, ran.stderr.decode())
        printed = re.sub(r"(?m) +$", "", ran.stdout.decode()).replace(str(tmp_path), "/srv")
        assert matches(masked(said), masked(printed)), f"$ {command}\n{printed}"


def test_every_link_to_a_file_leads_to_one() -> None:
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not target.startswith("https://"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_path_of_the_source_is_one() -> None:
    for name in ("CONTRIBUTING.md", "docs/architecture.md"):
        paths = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / name).read_text(encoding="utf-8"))
        assert len(paths) > 10
        lost = [path for path in paths if not any((folder / path).exists() for folder in (ROOT, ROOT / "candidates"))]
        assert lost == [], name


def examples(language: str) -> list[str]:
    """The README's blocks in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_the_examples_of_configuration_files_are_right(tmp_path: Path, stand: MakeStand) -> None:
    top = stand("release_lines").clone.path
    repository, user = examples("toml")
    preferences, issue = examples("json")
    # A choice of long ago would have expired.
    preferences = re.sub(r'(?<="lastUsed": ")[^"]+', f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", preferences)
    (top / ".base-branch.toml").write_text(repository)
    for name, text in (("config.toml", user), ("preferences.json", preferences), ("issue.json", issue)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o600)
    more = {"BASE_BRANCH_CONFIG": f"{tmp_path}/config.toml", "BASE_BRANCH_PREFERENCES": f"{tmp_path}/preferences.json"}
    shown = base_branch("config", top, environ=more)
    assert (shown.code, shown.err) == (0, "")
    assert re.search(r"multipleVersions +lowest \(.*\.base-branch\.toml", shown.out.decode())
    assert re.search(r"jira\.url +https://acme\.atlassian\.net \(.*config\.toml", shown.out.decode())
    recent = base_branch("recent", top, "--project-key", "acme/app", environ=more)
    assert "release/8.4.0" in recent.out.decode()
    decision = resolve(top, "--issue", tmp_path / "issue.json")
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("release/8.4.0", "derived")


def test_every_setting_is_listed_with_its_option_and_its_variables() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"(?m)^\| `([\w.]+)`( .*)$", page))
    assert rows.keys() == KEYS.keys()
    for name, key in KEYS.items():
        first = rows[name]
        assert (name in REPOSITORY_MAY_SET) == first.startswith(" * "), name
        for word in (*key.variables, *([key.flag] if key.flag else [])):
            assert f"`{word}`" in first, (name, word)


def test_every_test_that_the_security_page_names_is_there() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    files = re.findall(r"`((?:\w+/)?test_\w+\.py)`", page)
    assert len(files) > 20
    assert [name for name in files if not any(path.match(name) for path in sources)] == []
    tests = re.findall(r"`([a-z]+(?:_[a-z]+)+)…?`", page)
    assert len(tests) > 5
    assert [name for name in tests if not any(f"def test_{name}" in text for text in sources.values())] == []
