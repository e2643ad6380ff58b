"""What a person answered to a host's picker: checked, recorded, remembered; and a whole step of a pipeline."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from candidates.contract import Decision, Question
from candidates.exit_codes import ExitCode
from candidates.questions.questions import Answer, Asking
from candidates.run.answers import cancelled, choose_base, interact, keep, with_evidence_of
from candidates.run.issue import IssueInput
from candidates.run.run import Run, prepare
from collectors.errors import InvalidInput
from collectors.process import Git
from tests.support.preferences import stored_entries
from tests.support.program import base_branch

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand, Stand

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)


@pytest.fixture
def shop(stand: MakeStand) -> Stand:
    return stand("demo")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "preferences.json"


def run_of(shop: Stand, memory: Path, *versions: str, **flags: object) -> Run:
    environ = dict(os.environ) | {"BASE_BRANCH_PREFERENCES": str(memory)}
    given = IssueInput(versions=versions)
    asked = {f"--{name.replace('_', '-')}": value for name, value in flags.items()}
    return prepare(Git(folder=shop.clone.path, environ=environ), asked, given, NOW)


def remembered(memory: Path) -> list[str]:
    return [entry["branch"] for entry in stored_entries(memory)]


def base(decision: Decision) -> tuple[str | None, str | None, str | None]:
    return decision.base_branch, decision.base_branch_source, decision.base_fetch_status


# --- one answer ---


def test_a_named_branch_is_fetched_and_is_the_persons(shop: Stand, memory: Path) -> None:
    decision, code, facts = choose_base(run_of(shop, memory, "8.4.0"), "release/8.5.0")
    assert (base(decision), code) == (("release/8.5.0", "asked", "fresh"), ExitCode.ANSWERED)
    assert (decision.autonomy, decision.base_commit) == ("manual", shop.remote.oid("release/8.5.0"))
    assert decision.base_branch_evidence is not None
    assert decision.base_branch_evidence.chosen == "release/8.4.0"
    assert keep(run_of(shop, memory), facts, "release/8.5.0") == ()
    assert remembered(memory) == ["release/8.5.0"]


@pytest.mark.parametrize("name", ["release/8.4", "--upload-pack=x", "HEAD", "", "release/8.4.0\n"])
def test_what_the_remote_does_not_have_is_refused(shop: Stand, memory: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="has no branch") as raised:
        choose_base(run_of(shop, memory), name)
    if name == "release/8.4":
        assert raised.value.hint == "near names: release/8.4.0, release/8.5.0, release/8.3.0"


def test_a_remote_that_does_not_answer_confirms_nothing(shop: Stand, memory: Path) -> None:
    shop.take_the_remote_away()
    decision, code, _ = choose_base(run_of(shop, memory), "main")
    assert (base(decision), code) == ((None, None, "aborted"), ExitCode.REMOTE_SILENT)
    assert decision.log[-1] == "2026-11-30T09:00:00Z main is not recorded: the remote did not answer"


def test_what_may_serve_instead_is_said_by_the_policy_and_not_remembered(shop: Stand, memory: Path) -> None:
    shop.take_the_remote_away()
    run = run_of(shop, memory, on_fetch_failure="cached")
    decision, code, facts = choose_base(run, "main")
    assert (base(decision), code) == (("main", "asked", "cached-stale"), ExitCode.ANSWERED)
    assert keep(run, facts, "main") == ("not remembered: origin did not answer",)
    assert not memory.exists()


def test_a_memory_that_cannot_be_kept_is_said(shop: Stand, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    run = run_of(shop, tmp_path / "folder")
    _, _, facts = choose_base(run, "main")
    (said,) = keep(run, facts, "main")
    assert said.startswith("not remembered: ")


def test_giving_up_leaves_the_question(shop: Stand, memory: Path) -> None:
    decision = cancelled(run_of(shop, memory, "8.4.0"))
    assert base(decision) == (None, None, "aborted")
    assert [question.kind for question in decision.questions] == ["base-branch"]
    assert decision.log[-1] == "cancelled: no answer was given"


# --- the evidence that a state holds ---


def undecided() -> Decision:
    return Decision(repository="acme/app", autonomy="manual", remote=None, listing_complete=True)


def test_the_evidence_of_the_state_is_kept(tmp_path: Path) -> None:
    held: dict[str, Any] = {"refProvenance": "remote", "ambiguous": True, "candidates": [], "notes": ["asked"]}
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"baseBranchEvidence": held}))
    evidence = with_evidence_of(undecided(), state).base_branch_evidence
    assert evidence is not None
    assert (evidence.notes, evidence.ambiguous) == (("asked",), True)


@pytest.mark.parametrize("state", [None, "{}", '{"baseBranchEvidence": 3}', '{"baseBranchEvidence": {"x": 1}}'])
def test_a_state_without_evidence_of_ours_changes_nothing(tmp_path: Path, state: str | None) -> None:
    file = tmp_path / "state.json"
    if state is not None:
        file.write_text(state)
    assert with_evidence_of(undecided(), file) == undecided()


# --- asked at a terminal ---


def script(*answers: Answer | None) -> tuple[list[Question], Any]:
    """A person who gives these answers; the questions that were asked."""
    asked: list[Question] = []
    left = list(answers)

    def pick(question: Question) -> Answer | None:
        asked.append(question)
        return left.pop(0)

    return asked, pick


def test_kind_by_kind_a_person_is_asked_until_there_is_an_answer(shop: Stand, memory: Path) -> None:
    shop.clone.git("remote", "rename", "origin", "left")
    shop.clone.git("remote", "add", "right", str(shop.remote.path))
    asked, pick = script(
        Answer(kind="remote", name="right"), Answer(kind="page", page=2), Answer(kind="branch", name="release/8.2.0")
    )
    decision, code, facts = interact(run_of(shop, memory, "8.4.0"), pick)
    assert [question.id for question in asked] == ["remote", "base-branch", "base-branch:2"]
    assert (base(decision), code) == (("release/8.2.0", "asked", "fresh"), ExitCode.ANSWERED)
    assert decision.remote is not None
    assert (decision.remote.name, decision.remote.reason) == ("right", "a person chose it")
    assert facts is not None


def test_a_silent_remote_is_asked_again_and_then_the_cache_serves(shop: Stand, memory: Path) -> None:
    shop.take_the_remote_away()
    asked, pick = script(
        Answer(kind="fetch-failed", name="retry"),
        Answer(kind="fetch-failed", name="cached"),
        Answer(kind="branch", name="main"),
    )
    decision, code, _ = interact(run_of(shop, memory), pick)
    assert [question.kind for question in asked] == ["fetch-failed", "fetch-failed", "base-branch"]
    assert (base(decision), code) == (("main", "asked", "cached-stale"), ExitCode.ANSWERED)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (None, ExitCode.ASK),
        (Answer(kind="fetch-failed", name="abort"), ExitCode.REMOTE_SILENT),
    ],
)
def test_whoever_gives_up_is_asked_no_more(shop: Stand, memory: Path, answer: Answer | None, code: ExitCode) -> None:
    shop.take_the_remote_away()
    asked, pick = script(answer)
    decision, left, facts = interact(run_of(shop, memory), pick)
    assert (base(decision), left, facts, len(asked)) == ((None, None, "aborted"), code, None, 1)


def test_a_base_that_came_with_the_request_is_asked_of_nobody(shop: Stand, memory: Path) -> None:
    run = run_of(shop, memory)
    run = replace(
        run,
        policy=replace(run.policy, base="main", asking=Asking(page=2)),
        request=replace(run.request, base="main"),
    )
    decision, code, facts = interact(run, script()[1])
    assert (base(decision), code, facts) == (("main", "input", "fresh"), ExitCode.ANSWERED, None)


# --- the program ---


def test_a_whole_step_of_a_pipeline(shop: Stand, memory: Path, tmp_path: Path) -> None:
    """Resolve, question, choose, state, gate."""
    state, environ = tmp_path / "state.json", {"BASE_BRANCH_PREFERENCES": str(memory)}
    state.write_text('{"taskType": "bug", "siblings": [], "size": 1.50}\n')
    issue = ("--issue-version", "8.4.0", "--issue-version", "8.5.0", "--step", "3/5")
    asked = base_branch("resolve", shop.clone.path, *issue, "--state", state, "--picker", "claude", environ=environ)
    picker = asked.json()
    assert (asked.code, picker["host"], picker["breadcrumb"]) == (3, "claude", "Step 3/5: base branch")
    (call,) = picker["calls"]
    options = call["input"]["questions"][0]["options"]
    place = [option["label"] for option in options].index("release/8.4.0")
    answer = call["answers"][0][place]["name"]
    chosen = base_branch("choose", answer, shop.clone.path, *issue, "--state", state, environ=environ)
    assert (chosen.code, chosen.err) == (0, "")
    assert chosen.json()["breadcrumb"] == "Step 3/5: base branch"
    written = json.loads(state.read_bytes())
    assert (written["baseBranch"], written["baseBranchSource"]) == ("release/8.4.0", "asked")
    assert written["baseBranchEvidence"]["ambiguous"] is True
    assert '"size": 1.50' in state.read_text()
    assert remembered(memory) == ["release/8.4.0"]
    gate = base_branch("gate", state)
    assert (gate.code, gate.out) == (0, b"passed\n")


def test_cancelled_at_the_picker_nothing_is_written(shop: Stand, memory: Path, tmp_path: Path) -> None:
    state, environ = tmp_path / "state.json", {"BASE_BRANCH_PREFERENCES": str(memory)}
    done = base_branch("choose", "--cancelled", shop.clone.path, "--state", state, environ=environ)
    assert (done.code, done.json()["baseFetchStatus"]) == (3, "aborted")
    assert not state.exists()
    assert not memory.exists()
