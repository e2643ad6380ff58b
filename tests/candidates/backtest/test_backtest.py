"""The ranker asked a repository's own history: what is shown, how it is judged, what is kept and what that does."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from candidates.backtest.backtest import Answer, History, Question, as_of, ask, read_questions, report
from candidates.setup.recipes import Branch as BranchStep
from candidates.setup.recipes import Commit, Recipe, build
from candidates.setup.recipes import Tag as TagStep
from collectors.stores.backtests import KeptBacktest, keep_backtest, read_backtest
from ranking.facts import Backtest, Convention, Tag
from tests.support.program import COMMAND, base_branch, environment, resolve

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def day(n: int) -> datetime:
    return BEGIN + timedelta(days=n)


def tag(name: str, made: int, *branches: str) -> Tag:
    return Tag(name=name, created_at=day(made), branches=branches)


HISTORY = History(
    repository="acme/app",
    default="main",
    began={"main": day(0), "1.0": day(10), "1.1": day(30), "feature/x": None},
    tags=(
        tag("v1.0.0", 12, "1.0"),
        tag("v1.0.1", 20, "1.0"),
        tag("v1.1.0-rc1", 31, "1.1"),
        tag("v1.1.0", 35, "1.1"),
        tag("v0.9.0", 5, "main"),
    ),
)


def outcomes(history: History) -> dict[str, str | None]:
    questions = read_questions(history).asked
    answers = ask(history, questions)
    return {q.tag: a.outcome if a else None for q, a in zip(questions, answers, strict=True)}


# --- the questions ---


def test_a_question_for_every_release_oldest_first() -> None:
    found = read_questions(HISTORY)
    assert found.asked == (
        Question(tag="v0.9.0", at=day(5), accepted=("main",)),
        Question(tag="v1.0.0", at=day(12), accepted=("1.0",)),
        Question(tag="v1.0.1", at=day(20), accepted=("1.0",)),
        Question(tag="v1.1.0", at=day(35), accepted=("1.1",)),
    )
    assert found.unjudged == {"prerelease": 1}


def merged(name: str, made: int, *branches: str) -> Tag:
    return Tag(name=name, created_at=day(made), branches=(), merged_into=branches)


def test_what_cannot_be_judged_is_counted_by_its_reason() -> None:
    tags = (
        tag("v1.0.0", 12),
        Tag(name="v1.0.1", branches=("1.0",)),
        Tag(name="v1.0.2", created_at=day(3)),
        merged("v0.9.1", 40, "1.0"),
        tag("v1.1.0-rc1", 31, "1.1"),
        tag("nightly", 5, "main"),
    )
    found = read_questions(replace(HISTORY, tags=tags))
    assert found.asked == ()
    assert found.unjudged == {"gone": 1, "undated": 1, "unread": 1, "newer-line": 1, "prerelease": 1}


def test_a_release_that_a_branch_took_in_is_asked_for_that_branch() -> None:
    tags = (merged("v1.0.0", 12, "1.0", "feature/x"), merged("v1.1.0", 13, "main"))
    assert [q.accepted for q in read_questions(replace(HISTORY, tags=tags)).asked] == [("1.0", "feature/x"), ("main",)]


def test_a_release_that_was_merged_up_is_not_asked() -> None:
    tags = (merged("v1.1.0", 12, "main"), merged("v1.0.1", 13, "main"), merged("v1.1.1", 14, "main"))
    found = read_questions(replace(HISTORY, tags=tags))
    assert [q.tag for q in found.asked] == ["v1.1.0", "v1.1.1"]
    assert found.unjudged == {"newer-line": 1}


def test_a_merge_is_shown_from_its_day_on() -> None:
    history = replace(HISTORY, tags=(merged("v1.0.0", 12, "1.0", "1.1"),), merged_at={"v1.0.0": day(14)})
    shown = {
        at: as_of(history, Question(tag="v1.0.1", at=day(at), accepted=("1.0",))).refs.tags[0].merged_into
        for at in (13, 14, 15, 31)
    }
    # 1.1 began on day 30.
    assert shown == {13: None, 14: None, 15: ("1.0",), 31: ("1.0", "1.1")}


def test_what_was_made_later_is_hidden_and_so_are_the_dates_of_branches() -> None:
    facts = as_of(HISTORY, Question(tag="v1.0.1", at=day(20), accepted=("1.0",)))
    assert facts.now == day(20)
    # A branch without commits of its own has no beginning in the graph: it is shown.
    assert [b.name for b in facts.refs.branches] == ["1.0", "feature/x", "main"]
    assert {b.date_state for b in facts.refs.branches} == {"not-asked"}
    assert [t.name for t in facts.refs.tags] == ["v1.0.0", "v0.9.0"]
    assert facts.issue is not None
    assert [v.name for v in facts.issue.versions] == ["v1.0.1"]


def test_another_spelling_of_the_answer_is_hidden() -> None:
    tags = (*HISTORY.tags, tag("release-1.0.1", 19, "1.0"))
    facts = as_of(replace(HISTORY, tags=tags), Question(tag="v1.0.1", at=day(20), accepted=("1.0",)))
    assert [t.name for t in facts.refs.tags] == ["v1.0.0", "v0.9.0"]


# --- the judgement ---


def test_every_release_of_an_orderly_repository_is_right() -> None:
    assert outcomes(HISTORY) == {"v0.9.0": "right", "v1.0.0": "right", "v1.0.1": "right", "v1.1.0": "right"}


def test_another_branch_is_wrong() -> None:
    tags = (tag("v1.0.0", 12, "1.0"), tag("v1.0.1", 40, "1.1"))
    assert outcomes(replace(HISTORY, tags=tags)) == {"v1.0.0": "right", "v1.0.1": "wrong"}


def test_nothing_derived_is_held() -> None:
    began = {"main": day(0), "jane": day(10)}
    assert outcomes(replace(HISTORY, began=began, tags=(tag("v1.0.0", 12, "jane"),))) == {"v1.0.0": "held"}


def test_a_tag_on_the_default_beside_a_branch_of_its_version_cannot_be_judged() -> None:
    assert outcomes(replace(HISTORY, tags=(tag("v1.0.2", 40, "main"),))) == {"v1.0.2": None}


def test_a_report_counts_and_names_the_conventions() -> None:
    questions = read_questions(HISTORY)
    answers = [*ask(HISTORY, questions.asked[:2]), None]
    found = report(HISTORY, answers, questions)
    assert (found.count("right"), found.count("right", "default"), found.left) == (2, 1, 1)
    assert found.unjudged == {"prerelease": 1, "on-default": 1}
    assert found.conventions == (Convention(template="{major}.{minor}", members=2),)
    assert found.figure(day(50)) == Backtest(
        asked=2, right=2, wrong=0, held=0, at=day(50), derived_right=1, derived_wrong=0
    )


def test_the_reason_of_a_tie_names_who_ties() -> None:
    began = {"main": day(0), "1.0": day(1), "v1.0": day(2)}
    questions = [Question(tag="v1.0.0", at=day(9), accepted=("1.0",))]
    (answer,) = ask(replace(HISTORY, began=began, tags=()), questions)
    assert isinstance(answer, Answer)
    assert answer.outcome == "held"
    assert answer.why.startswith("1.0, v1.0 tie; ")


# --- the command ---


def test_a_real_history_is_asked_and_its_figure_kept(stand: MakeStand, tmp_path: Path) -> None:
    clone = stand("stable_dash").clone
    store = tmp_path / "own" / "preferences.json"
    own = {"BASE_BRANCH_PREFERENCES": str(store)}
    done = base_branch("backtest", clone.path, "--json", environ=own)
    told = done.json()
    assert (done.code, done.err) == (0, "")
    assert [(a["tag"], a["accepted"], a["outcome"]) for a in told["answers"]] == [
        ("v7.0.0", ["7-0-stable"], "right"),
        ("v7.0.1", ["7-0-stable"], "right"),
        ("v7.1.0", ["7-1-stable"], "right"),
    ]
    assert told["conventions"] == [{"template": "{major}-{minor}-stable", "members": 2}]
    kept = read_backtest(store, "acme/app") or read_backtest(store, "app")
    assert kept is not None
    assert (kept.tags, kept.figure.asked, kept.figure.right) == (4, 3, 3)
    assert [p.name for p in store.parent.iterdir()] == ["backtests"]

    bundle = base_branch("collect", clone.path, environ=own).json()
    assert bundle["backtest"] == told["figure"]
    note = f"backtest of {kept.figure.at:%Y-%m-%d}: 3 asked, 3 right, 0 wrong, 0 held"
    assert note in resolve(clone.path, environ=own)["baseBranchEvidence"]["notes"]


def test_a_person_is_told_the_shares_and_the_conventions(stand: MakeStand) -> None:
    done = base_branch("backtest", stand("stable_dash").clone.path)
    lines = done.out.decode().splitlines()
    assert lines[0].endswith(": 3 release tags asked, each as of its day")
    assert lines[1].split()[:3] == ["right", "3", "100.0%"]
    assert lines[2].split()[:3] == ["wrong", "0", "0.0%"]
    assert "     2  {major}-{minor}-stable" in lines
    assert lines[-1].startswith("kept in ")


def test_a_repository_without_releases_keeps_nothing(stand: MakeStand, tmp_path: Path) -> None:
    store = tmp_path / "own" / "preferences.json"
    clone = stand("trunk_only").clone
    for name in ("v1.0.0", "v1.1.0"):
        clone.git("tag", "--delete", name)
    done = base_branch("backtest", clone.path, environ={"BASE_BRANCH_PREFERENCES": str(store)})
    assert done.code == 0
    assert done.out.decode().splitlines()[0].endswith(": 0 release tags asked, each as of its day")
    assert not store.parent.exists()


@pytest.mark.parametrize(("floor", "source"), [("0.5", "derived"), ("0.9", "default")])
def test_under_the_floor_nothing_is_derived(stand: MakeStand, tmp_path: Path, floor: str, source: str) -> None:
    clone = stand("stable_dash").clone
    store = tmp_path / "own" / "preferences.json"
    # 95 of 100 are right, of the derived ones 8 of 10.
    figure = Backtest(asked=100, right=95, wrong=2, held=3, at=BEGIN, derived_right=8, derived_wrong=2)
    keep_backtest(store, KeptBacktest(project_key="KEY", tags=4, figure=figure))
    flags = ("--project-key", "KEY", "--issue-version", "7.0.2", "--derive-floor", floor)
    decision = resolve(clone.path, *flags, environ={"BASE_BRANCH_PREFERENCES": str(store)})
    assert decision["baseBranchSource"] == source
    said = f"deriveFloor {floor}: the backtest's derived answers were right in 80.0% only, so nothing is derived"
    assert (said in decision["baseBranchEvidence"]["notes"]) is (source == "default")


def test_a_shallow_clone_cannot_be_asked(stand: MakeStand, tmp_path: Path) -> None:
    remote = stand("stable_dash").remote
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{remote.path}", str(shallow)], check=True)
    done = base_branch("backtest", shallow)
    assert (done.code, done.out) == (5, b"")
    assert "  try: git fetch --unshallow\n" in done.err


def test_a_clone_that_does_not_know_the_default_cannot_be_asked(stand: MakeStand) -> None:
    clone = stand("stable_dash").clone
    clone.git("remote", "set-head", "origin", "--delete")
    done = base_branch("backtest", clone.path)
    assert (done.code, done.out) == (5, b"")
    assert "  try: git remote set-head origin --auto\n" in done.err


def test_an_interrupt_says_what_was_asked_and_keeps_nothing(tmp_path: Path) -> None:
    """On a terminal, where the bar shows that the asking has begun."""
    steps: list[Commit | BranchStep | TagStep] = [Commit(on="main")]
    for minor in range(40):
        line = f"release/1.{minor}"
        steps += [BranchStep(name=line, from_="main"), Commit(on=line), Commit(on="main")]
        steps += [TagStep(name=f"v1.{minor}.{patch}", on=line, annotated=False) for patch in range(60)]
    built = build(Recipe(about="many releases", steps=tuple(steps), hours=0), tmp_path, dict(os.environ))
    store = tmp_path / "own" / "preferences.json"
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*COMMAND, "backtest", "--json", str(built.clone)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment({"BASE_BRANCH_PREFERENCES": str(store), "TERM": "xterm"}),
    )
    os.close(theirs)
    seen = b""
    while b"asking" not in seen:
        ready, _, _ = select.select([ours], [], [], 30)
        assert ready, seen
        seen += os.read(ours, 4096)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=30)
    os.close(ours)
    assert child.returncode == 130
    told = json.loads(out)
    assert told["notAsked"] > 0
    assert told["notAsked"] + len(told["answers"]) + sum(told["unjudged"].values()) == 40 * 60
    assert not store.parent.exists()


# --- the store ---


KEPT = KeptBacktest(project_key="acme/app", tags=7, figure=Backtest(asked=3, right=2, wrong=0, held=1, at=BEGIN))


def test_a_figure_is_read_back_and_replaced(tmp_path: Path) -> None:
    preferences = tmp_path / "preferences.json"
    assert read_backtest(preferences, "acme/app") is None
    first = keep_backtest(preferences, KEPT)
    assert read_backtest(preferences, "acme/app") == KEPT
    again = KeptBacktest(project_key="acme/app", tags=8, figure=KEPT.figure)
    assert keep_backtest(preferences, again) == first
    assert read_backtest(preferences, "acme/app") == again
    assert read_backtest(preferences, "acme/other") is None
    assert [p.name for p in first.parent.iterdir()] == [first.name]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\0" * 40, b'{"projectKey": "acme/other", "tags": 1}'])
def test_what_is_no_figure_counts_as_none(tmp_path: Path, content: bytes) -> None:
    preferences = tmp_path / "preferences.json"
    keep_backtest(preferences, KEPT).write_bytes(content)
    assert read_backtest(preferences, "acme/app") is None
