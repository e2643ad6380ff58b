"""Factory mode: what was decided beforehand, the result of every outcome, and the program where nobody can be asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace as altered

from candidates.contract import Decision, Decisions, Source, WouldPost
from candidates.exit_codes import ExitCode
from candidates.run.collect import RemoteUndecided
from candidates.run.decide import Policy, decide, undecided_remote
from candidates.run.factory import Factory, NeedsInput, Requested, Result, decided_before, failed, reported, result_of
from candidates.run.replay import recollected
from collectors.errors import InvalidInput, SetupError, SourceError
from collectors.git.refs import RemoteQuestion
from ranking.facts import Failure, Settings
from tests.ranking.facts_builder import chose, facts, wants
from tests.support.program import base_branch

if TYPE_CHECKING:
    from ranking.facts import Facts
    from tests.support.repositories import MakeStand


def decided(bundle: Facts) -> tuple[Decision, ExitCode]:
    """What a run in factory mode decides; every branch is in this clone."""
    branches = tuple(altered(b, cached_tip=b.tip) for b in bundle.refs.branches)
    bundle = altered(bundle, refs=altered(bundle.refs, branches=branches))
    collected = altered(recollected(bundle), choice=None, sources=(), log=("looked",))
    return decide(collected, Policy(autonomy="full", ask_on_issue=False, hold_ties=True))


TIE = wants(("1.0", "1.1"))


# --- outcomes ---


def test_a_clear_answer_is_a_success() -> None:
    decision, code = decided(facts("main release/1.0", issue=wants("1.0")))
    result = result_of(decision, code)
    assert result == Result(outcome="success", summary="acme/app: release/1.0 (derived)", decision=decision)


def test_a_tie_is_not_taken_to_the_default_and_the_first_by_order_is_recommended() -> None:
    decision, code = decided(facts("main release/1.0 release/1.1", issue=TIE))
    result = result_of(decision, code)
    assert (code, decision.base_branch, result.outcome) == (ExitCode.ASK, None, "needs_input")
    assert decision.base_branch_evidence is not None
    first, second = (candidate.branch for candidate in decision.base_branch_evidence.candidates[:2])
    said = (
        "Which branch does the work for APP-1 in acme/app belong on? "
        f"2 fit alike ({first}, {second}); the first by order is recommended."
    )
    assert result.needs_input == (NeedsInput(question=said, recommended=first),)
    assert result.summary == "a person must choose: 1 to answer"


def test_what_is_remembered_settles_a_tie() -> None:
    decision, code = decided(facts("main release/1.0 release/1.1", issue=TIE, recent=(chose("release/1.1"),)))
    assert (result_of(decision, code).outcome, decision.base_branch) == ("success", "release/1.1")


def test_a_conflict_that_is_a_persons_recommends_the_first_and_says_so() -> None:
    bundle = facts(
        "main release/1.0 release/1.1",
        issue=wants("1.0"),
        recent=(chose("release/1.1"),),
        settings=Settings(on_conflict="ask"),
    )
    (needed,) = result_of(*decided(bundle)).needs_input
    assert needed.recommended == "release/1.0"
    assert needed.question.endswith(" The first by order is recommended.")


def test_a_repository_without_a_branch_recommends_nothing() -> None:
    (needed,) = result_of(*decided(facts("", default=None))).needs_input
    assert needed == NeedsInput(question="Which branch does the work in acme/app belong on?", recommended=None)


def test_three_are_asked_at_most_and_the_rest_is_counted() -> None:
    decision, _ = decided(facts("main release/1.0 release/1.1", issue=TIE))
    several = Decisions(decisions=(decision,) * 5, questions=decision.questions * 5)
    result = result_of(several, ExitCode.ASK)
    assert len(result.needs_input) == 3
    assert result.summary == "a person must choose: 5 to answer, the first 3 of them here"


def test_a_remote_that_nobody_named_needs_input() -> None:
    problem = RemoteUndecided("acme/app", RemoteQuestion(names=("left", "right"), reason="nothing tells"))
    result = failed(problem)
    assert result.outcome == "needs_input"
    said = "Which remote of acme/app holds the release lines? The first by order is recommended."
    assert result.needs_input == (NeedsInput(question=said, recommended="left"),)
    assert result.decision == undecided_remote(problem, "full")


def test_a_rate_limit_and_an_outward_action_are_said_whatever_the_outcome() -> None:
    decision, code = decided(facts("main release/1.0", issue=wants("1.0")))
    limited = altered(
        decision,
        sources=(Source(name="jira", state="failed", kind="rate-limited"),),
        would_post=WouldPost(target="APP-1", body="Which?"),
    )
    result = result_of(limited, code)
    assert (result.outcome, result.rate_limited) == ("success", True)
    assert result.requested == (Requested(kind="tracker_write", target="APP-1", payload={"body": "Which?"}),)


def test_a_run_that_stopped_fails_with_the_last_it_said() -> None:
    decision, _ = decided(facts("main release/1.0", issue=TIE))
    stopped = altered(decision, base_branch=None, base_fetch_status="aborted", log=("a", "issue APP-1 is gone"))
    result = result_of(stopped, ExitCode.SOURCE_FAILED)
    assert (result.outcome, result.summary, result.error) == ("fail", "no base was decided", "issue APP-1 is gone")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            SetupError("no git", code="no-git", hint="install git"),
            Result(outcome="fail", summary="nothing was decided (no-git); try: install git", error="no git"),
        ),
        (
            SourceError("too many", failure=Failure(kind="rate-limited", detail="429")),
            Result(outcome="fail", summary="nothing was decided (rate-limited)", error="too many", rate_limited=True),
        ),
        (ValueError("a\nb"), Result(outcome="fail", summary="an unforeseen error", error="ValueError: a\\nb")),
    ],
)
def test_an_error_is_a_failure(error: Exception, expected: Result) -> None:
    assert failed(error) == expected


# --- the result file ---


def test_the_result_is_written_and_the_error_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "out" / "result.json"
    with pytest.raises(SetupError, match="no git"), reported(Factory(result=file)):
        raise SetupError("no git", code="no-git")
    assert json.loads(file.read_bytes()) == {
        "outcome": "fail",
        "summary": "nothing was decided (no-git)",
        "error": "no git",
        "needsInput": [],
        "rateLimited": False,
        "requested": [],
        "decision": None,
    }


def test_a_result_that_cannot_be_written_is_a_fault_of_the_set_up(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    decision, code = decided(facts("main"))
    with (
        pytest.raises(SetupError, match=r"the result file .* cannot be written"),
        reported(Factory(result=tmp_path / "file" / "result.json")) as plan,
    ):
        plan.report(decision, code)


# --- what was decided beforehand ---


def before(tmp_path: Path, stage: Any, *given: str) -> tuple[dict[str, str], tuple[str, ...]]:  # noqa: ANN401 - JSON
    file = tmp_path / "stage.json"
    file.write_text(json.dumps(stage))
    return decided_before(given, file)


def test_decisions_of_the_run_go_before_the_stages(tmp_path: Path) -> None:
    stage = {
        "stage": "start",
        "decisions": [
            {"key": "base-branch", "value": "main"},
            {"key": "remote", "value": "left", "by": "ada"},
            {"key": "remote", "value": "right"},
            {"key": "reviewer", "value": 3},
        ],
    }
    found, passed_over = before(tmp_path, stage, "base-branch=release/1.0=x", "fetch-failed=cached")
    assert found == {"--base": "release/1.0=x", "--on-fetch-failure": "cached", "--remote": "left"}
    assert passed_over == ("decisions[3]: reviewer is no decision that this program takes: passed over",)
    assert before(tmp_path, {}) == ({}, ())


@pytest.mark.parametrize(
    ("stage", "given", "problem"),
    [
        ([], (), "--stage: the stage file {} holds no JSON object"),
        ({"decisions": {}}, (), "decisions: it is no array (in the stage file {})"),
        ({"decisions": ["main"]}, (), "decisions[0]: it is no object"),
        ({"decisions": [{"value": "main"}]}, (), "decisions[0].key: it is no text"),
        ({"decisions": [{"key": "remote", "value": None}]}, (), "decisions[0].value: it is no text"),
        ({"decisions": [{"key": "remote", "value": ""}]}, (), "decisions[0]: remote is empty"),
        (
            {"decisions": [{"key": "fetch-failed", "value": "ask"}]},
            (),
            "decisions[0]: fetch-failed is 'ask', none of retry, cached, local, abort",
        ),
        ({}, ("base=main",), "--decision: 'base=main' is no decision that this program takes"),
        ({}, ("base-branch",), "--decision: 'base-branch' is no decision that this program takes"),
        ({}, ("base-branch=",), "--decision: base-branch is empty"),
    ],
)
def test_what_is_no_decision_is_refused(tmp_path: Path, stage: object, given: tuple[str, ...], problem: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        before(tmp_path, stage, *given)
    assert str(raised.value) == problem.format(tmp_path / "stage.json")


@pytest.mark.parametrize(
    ("data", "problem"), [(None, "cannot be read: no such file or directory"), (b"{", "is no JSON"), (b"\xff", "is no")]
)
def test_a_stage_file_that_is_missing_or_no_json_is_refused(tmp_path: Path, data: bytes | None, problem: str) -> None:
    file = tmp_path / "stage.json"
    if data is not None:
        file.write_bytes(data)
    with pytest.raises(InvalidInput, match=problem):
        decided_before((), file)


# --- the program ---


def test_in_factory_mode_nobody_is_asked(stand: MakeStand, tmp_path: Path) -> None:
    shop, stage, result = stand("demo"), tmp_path / "stage.json", tmp_path / "result.json"
    stage.write_text('{"decisions": [{"key": "base-branch", "value": "release/8.5.0"}]}')
    files = ("--stage", stage, "--result", result)
    issue = ("--issue-version", "8.4.0", "--issue-version", "8.5.0")
    done = base_branch("resolve", shop.clone.path, *issue, *files, environ={"ORC_FACTORY": "1"})
    found = json.loads(result.read_bytes())
    assert (done.code, done.err, found["outcome"]) == (0, "", "success")
    assert found["decision"] == done.json()
    assert (found["decision"]["baseBranch"], found["decision"]["baseBranchSource"]) == ("release/8.5.0", "input")

    stage.write_text("{}")
    done = base_branch("resolve", shop.clone.path, *issue, "--factory", "--interactive", *files)
    found = json.loads(result.read_bytes())
    assert (done.code, found["outcome"], found["decision"]) == (3, "needs_input", done.json())
    assert [needed["recommended"] for needed in found["needsInput"]] == ["release/8.5.0"]

    gone = base_branch("resolve", shop.clone.path, "--factory", *files, "--decision", "base-branch=release/9.9")
    found = json.loads(result.read_bytes())
    assert (gone.code, gone.out, found["outcome"]) == (2, b"", "fail")
    assert "has no branch release/9.9" in found["error"]


def test_the_files_of_factory_mode_are_refused_outside_it(tmp_path: Path) -> None:
    done = base_branch("resolve", tmp_path, "--result", tmp_path / "result.json")
    assert (done.code, done.out) == (2, b"")
    assert (
        done.err
        == "base-branch: --stage, --result and --decision are factory mode's\n  try: base-branch resolve --factory\n"
    )


def test_a_replay_is_no_factory_run(tmp_path: Path) -> None:
    done = base_branch("resolve", "--bundle", tmp_path / "bundle.json", environ={"ORC_FACTORY": "1"})
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("base-branch: --factory cannot go with --bundle: ")
