"""The library: its public names, what loading it costs, and the examples of docs/library.md."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

import candidates.library
import ranking
from ranking import Facts, decode_facts, encode_ranking, rank, rank_surely
from tests.support.program import ROOT, base_branch, environment

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand

PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
BUNDLE = (
    b'{"schema": "base-branch/bundle@1", "now": "2026-11-30T12:00:00+03:00", "repository": {"name": "acme/app"}, '
    b'"refs": {"provenance": "remote", "complete": true, "branches": [{"name": "main"}, {"name": "1.x"}]}, '
    b'"issue": {"key": "A-1", "read": "answered", "versions": [{"name": "1.2", "field": "fixVersions"}]}}'
)


def test_the_public_names_are_these() -> None:
    assert ranking.__all__ == ("Facts", "Ranking", "decode_facts", "encode_ranking", "rank", "rank_surely")
    assert candidates.library.__all__ == ("collect", "resolve")
    for module in (ranking, candidates.library):
        for name in module.__all__:
            assert getattr(module, name).__name__ == name
            assert name in dir(module)
            assert f"`{module.__name__}.{name}" in PAGE


def test_the_signatures_are_these() -> None:
    assert [*inspect.signature(decode_facts).parameters] == ["data"]
    assert [*inspect.signature(encode_ranking).parameters] == ["ranking"]
    for function in (rank, rank_surely):
        assert next(iter(inspect.signature(function).parameters)) == "facts"
    for run in (candidates.library.collect, candidates.library.resolve):
        assert [*inspect.signature(run).parameters] == ["path", "issue", "versions", "flags"]


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nope'"):
        importlib.import_module("ranking").nope  # noqa: B018 - looking it up is the test


@pytest.mark.parametrize("first", ["import ranking.ranker", "import candidates.library", "pass"])
def test_rank_is_the_function_whatever_was_imported_before(first: str) -> None:
    code = (
        f"{first}\nfrom ranking import rank\nfrom ranking import rank as again\nassert callable(rank) and rank is again"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=environment())


def test_importing_the_package_loads_none_of_its_modules() -> None:
    code = "import ranking, sys\nprint([name for name in sys.modules if name.startswith(('ranking.', 'msgspec'))])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, env=environment(), capture_output=True)
    assert ran.stdout == b"[]\n"


def test_a_bundle_gives_the_bytes_of_the_command() -> None:
    facts = decode_facts(BUNDLE)
    assert facts.now.isoformat() == "2026-11-30T09:00:00+00:00"
    assert encode_ranking(rank(facts)) + b"\n" == base_branch("rank", "--ndjson", stdin=BUNDLE + b"\n").out
    assert Facts(now=facts.now, repository=facts.repository, refs=facts.refs, issue=facts.issue) == facts


def test_what_is_no_bundle_is_refused_with_its_path() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.refs\.complete"):
        decode_facts(BUNDLE.replace(b'"complete": true', b'"complete": 1'))


def test_the_examples_of_the_page_run(
    tmp_path: Path, stand: MakeStand, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand("release_lines").clone.path.rename(tmp_path / "app")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(example, {})  # noqa: S102 - the page's own examples
    assert capsys.readouterr().out.startswith('{"refProvenance":"remote","chosen":"release/8.4.0"')
