"""The one comment: posted once, only where the user says so, and nothing else is changed; what waits is recorded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as altered

from candidates.contract import decode_bundle
from candidates.run.issue_comment import answered_changes, marker_of, question_on
from collectors.jira.comments import text_of
from ranking.facts import Evidence
from ranking.ranker import rank
from tests.support.github_server import Canned, Hub, Item, Milestone, Repo, github_server
from tests.support.issue_world import World, prefer, world_of
from tests.support.jira_server import Jira, Reply, jira_server, version
from tests.support.program import source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Answer
    from tests.support.repositories import MakeStand

APP = "acme/app"
TIED = ["release/8.2.0", "release/8.3.0"]
BASE = ("baseBranch", "baseRef", "baseCommit", "baseBranchSource", "baseFetchStatus")
COMMENTS = "POST /repos/acme/app/issues/12/comments"


@pytest.fixture
def world(stand: MakeStand, tmp_path: Path) -> World:
    return world_of(stand("release_lines"), tmp_path)


@pytest.fixture(params=["cloud", "server"])
def jira(request: pytest.FixtureRequest) -> Iterator[Jira]:
    """Each product, with an issue that names two versions."""
    with jira_server(request.param) as server:
        server.add("APP-1", fixVersions=[version("8.3.0"), version("8.2.0")])
        yield server


@pytest.fixture
def data_center() -> Iterator[Jira]:
    with jira_server() as server:
        server.add("APP-1", fixVersions=[version("8.3.0"), version("8.2.0")])
        yield server


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A GitHub with an issue whose labels name two versions."""
    with github_server(Hub(repos={APP: Repo(items={12: Item(labels=("8.3.0", "8.2.0"))})})) as state:
        yield state


def waits(decision: Answer, target: str, url: str) -> None:
    """Nothing is decided, and the decision says where it was asked."""
    assert {decision[key] for key in BASE} == {None}
    asked = decision["baseBranchEvidence"]["askedOnIssue"]
    assert (asked["target"], asked["url"]) == (target, url)
    breaker = decision["circuitBreaker"]
    assert breaker == {"tripped": True, "trigger": 6, "detail": f"asked on {target}: {url}"}
    assert decision["wouldPost"] is None
    assert [question["kind"] for question in decision["questions"]] == ["base-branch"]


def posted(jira: Jira) -> list[str]:
    return [text_of(each["body"]) for each in jira.comments.get("APP-1", [])]


def test_jira_is_asked_once_and_never_again(world: World, jira: Jira) -> None:
    mine, url = world.with_jira(jira), f"{jira.url}/browse/APP-1?focusedCommentId=20000"
    before = json.dumps(jira.issues)
    waits(mine.resolve("APP-1", "--ask-on-issue", code=3), "APP-1", url)
    assert jira.requests == ["issue", "remotelink", "comment", "POST comment"]
    (text,) = posted(jira)
    assert "Which branch does the work on APP-1 in acme/app belong on?" in text
    for branch in TIED:
        assert f"{branch} (" in text
        assert f"issue-version: +100: fixVersions {branch.removeprefix('release/')}" in text
    assert "release/8.4.0" not in text
    assert text.count(marker_of(APP)) == 1
    waits(mine.resolve("APP-1", "--ask-on-issue", code=3), "APP-1", url)
    assert jira.asked("POST comment") == 1
    assert json.dumps(jira.issues) == before


def test_github_is_asked_once_and_never_again(world: World, hub: Hub) -> None:
    mine, url = world.with_github(hub), "https://github.example/acme/app/issues/12#issuecomment-1"
    waits(mine.resolve("#12", "--ask-on-issue", code=3), "acme/app#12", url)
    assert hub.paths == ["POST /graphql", "GET /repos/acme/app/branches", "POST /graphql", COMMENTS]
    ((_, text),) = hub.repos[APP].items[12].comments
    assert text.startswith("```text\nWhich branch does the work on acme/app#12 in acme/app belong on?\n")
    assert text.endswith("\n```\n\n<!-- [base-branch question: acme/app] -->")
    assert all(f"{branch} (" in text for branch in TIED)
    waits(mine.resolve("#12", "--ask-on-issue", code=3), "acme/app#12", url)
    assert hub.paths.count(COMMENTS) == 1


def test_the_user_s_preference_asks_too_and_the_variable_has_the_last_word(world: World, data_center: Jira) -> None:
    mine = world.with_jira(data_center)
    prefer(world, autopilotAsksOnIssue=True)
    silent = mine.having({"BASE_BRANCH_ASK_ON_ISSUE": "no"}).resolve("APP-1")
    assert (silent["baseBranch"], posted(data_center)) == ("develop", [])
    mine.resolve("APP-1", code=3)
    assert len(posted(data_center)) == 1


@pytest.mark.parametrize("autonomy", ["manual", "guided"])
def test_nothing_is_posted_where_a_person_is_there(world: World, data_center: Jira, autonomy: str) -> None:
    mine = world.with_jira(data_center)
    prefer(world, autopilotAsksOnIssue=True)
    arguments = ("--autonomy", autonomy, "--ask-on-issue", "--issue", "APP-1")
    decision = mine.run("resolve", *arguments, code=3).json()
    assert "POST comment" not in data_center.requests
    assert decision["wouldPost"]["target"] == "APP-1"
    assert decision["wouldPost"]["body"].endswith(f"\n\n{marker_of(APP)}")
    assert (decision["circuitBreaker"], decision["baseBranchEvidence"]["askedOnIssue"]) == (None, None)


def test_nothing_is_posted_where_nobody_said_so(world: World, hub: Hub) -> None:
    decision = world.with_github(hub).resolve("#12")
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("develop", "default")
    assert decision["wouldPost"]["target"] == "acme/app#12"
    # What only looks posts nothing, whatever it is allowed.
    allowed = {"BASE_BRANCH_ASK_ON_ISSUE": "yes", "BASE_BRANCH_AUTONOMY": "full"}
    world.with_github(hub).having(allowed).run("explain", "--json", "--issue", "#12")
    assert COMMENTS not in hub.paths


def test_nothing_is_posted_for_a_repository_s_file(world: World, data_center: Jira) -> None:
    (world.stand.clone.path / ".base-branch.toml").write_text("askOnIssue = true\n", encoding="utf-8")
    done = world.with_jira(data_center).run("resolve", "--autopilot", "--issue", "APP-1", code=2)
    assert "askOnIssue" in done.err
    assert data_center.requests == []


@pytest.mark.parametrize("why", ["one version", "given"])
def test_nothing_is_asked_where_nothing_hangs_on_a_tie(world: World, data_center: Jira, why: str) -> None:
    more = ["--base", "release/8.3.0"] if why == "given" else []
    if why == "one version":
        data_center.add("APP-1", fixVersions=[version("8.3.0")])
    decision = world.with_jira(data_center).resolve("APP-1", "--ask-on-issue", *more)
    assert decision["baseBranch"] == "release/8.3.0"
    assert (decision["wouldPost"], posted(data_center)) == (None, [])


def test_a_question_that_could_not_be_put_stops_the_run(world: World, data_center: Jira, hub: Hub) -> None:
    data_center.say("POST comment", Reply(status=403, body='{"errorMessages": ["You may not comment."]}'))
    hub.canned = [None, None, None, Canned(status=403, body={"message": "Resource not accessible"})]
    both = world.with_jira(data_center).with_github(hub)
    for issue, name, words in (
        ("APP-1", "jira", "the comment on APP-1 was not posted: a comment on APP-1: access denied (403)"),
        ("#12", "github", "the question was not posted on acme/app#12: access to acme/app#12 was denied"),
    ):
        decision = both.resolve(issue, "--ask-on-issue", code=6)
        assert (decision["baseBranch"], decision["baseFetchStatus"]) == (None, "aborted")
        assert decision["log"][-1].partition(" ")[2].startswith(words)
        assert source(decision, name)["state"] == "answered"
        assert decision["wouldPost"] is not None
        assert decision["circuitBreaker"] is None


def test_an_old_listing_is_not_asked_about(world: World, data_center: Jira) -> None:
    world.stand.take_the_remote_away()
    decision = world.with_jira(data_center).resolve("APP-1", "--ask-on-issue", code=4)
    assert (decision["baseBranch"], decision["baseFetchStatus"], posted(data_center)) == (None, "aborted", [])


def test_the_state_keeps_that_the_run_waits_and_later_that_it_does_not(
    world: World, data_center: Jira, tmp_path: Path
) -> None:
    state, mine = tmp_path / "state.json", world.with_jira(data_center)
    state.write_text('{"taskType": "bug", "workspaceSource": "autopilot", "baseBranch": "main"}', encoding="utf-8")
    decision = mine.resolve("APP-1", "--ask-on-issue", "--state", state, code=3)
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert kept["circuitBreaker"] == decision["circuitBreaker"]
    assert kept["baseBranchEvidence"]["askedOnIssue"] == decision["baseBranchEvidence"]["askedOnIssue"]
    assert kept.keys() & {"baseBranch", "baseBranchSource", "baseFetchStatus"} == set()
    assert kept["taskType"] == "bug"
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    mine.resolve("APP-1", "--ask-on-issue", "--state", state)
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert (kept["baseBranch"], kept["circuitBreaker"]["tripped"]) == ("release/8.3.0", False)


# --- an issue that the caller brought ---


def brought(folder: Path, *versions: str) -> str:
    """An issue as the caller hands it over, in a file."""
    path = folder / "issue.json"
    named = [{"name": name, "field": "fixVersions"} for name in versions]
    path.write_text(json.dumps({"key": "APP-1", "versions": named}), encoding="utf-8")
    return str(path)


def test_for_an_issue_from_a_file_the_run_stops_and_says_what_to_post(
    world: World, data_center: Jira, tmp_path: Path
) -> None:
    issue = brought(tmp_path, "8.2.0", "8.3.0")
    decision = world.with_jira(data_center).resolve(issue, "--ask-on-issue", code=3)
    assert {decision[key] for key in BASE} == {None}
    assert decision["wouldPost"]["target"] == "APP-1"
    assert marker_of(APP) in decision["wouldPost"]["body"]
    assert decision["circuitBreaker"] == {
        "tripped": True,
        "trigger": 6,
        "detail": "to be asked on APP-1: post wouldPost there",
    }
    assert (decision["baseBranchEvidence"]["askedOnIssue"], posted(data_center)) == (None, [])


def test_versions_alone_have_no_issue_to_ask_on_and_still_stop_the_run(world: World) -> None:
    tie = ("--issue-version", "8.2.0", "--issue-version", "8.3.0")
    decision = world.run("resolve", "--autopilot", "--ask-on-issue", *tie, code=3).json()
    assert (decision["baseBranch"], decision["wouldPost"]) == (None, None)
    assert [question["kind"] for question in decision["questions"]] == ["base-branch"]


# --- waiting, and going on ---

WAITING = """\
{"taskType": "bug", "circuitBreaker": {"tripped": false, "counters": {"rework": 2.0, "fetch": 1}},
 "baseBranch": "main", "baseBranchSource": "default", "baseFetchStatus": "fresh"}
"""


def test_a_waiting_state_holds_no_nulls_and_the_breaker_keeps_its_counters(world: World, tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(WAITING, encoding="utf-8")
    world.resolve(brought(tmp_path, "8.2.0", "8.3.0"), "--ask-on-issue", "--state", state, code=3)
    assert '"counters": {"rework": 2.0, "fetch": 1}' in state.read_text(encoding="utf-8")
    kept = json.loads(state.read_text(encoding="utf-8"))
    assert sorted(kept) == ["baseBranchEvidence", "circuitBreaker", "taskType"]
    assert (kept["circuitBreaker"]["tripped"], kept["circuitBreaker"]["trigger"]) == (True, 6)
    patch = world.resolve(
        brought(tmp_path, "8.2.0", "8.3.0"), "--ask-on-issue", "--state", state, "--state-patch", code=3
    )["statePatch"]
    assert "counters" not in patch["circuitBreaker"]


def test_resume_goes_on_with_what_the_state_asked_and_keeps_that_it_asked(
    world: World, data_center: Jira, tmp_path: Path
) -> None:
    state, mine = tmp_path / "state.json", world.with_jira(data_center)
    state.write_text(WAITING, encoding="utf-8")
    mine.resolve("APP-1", "--ask-on-issue", "--state", state, code=3)
    asked = json.loads(state.read_bytes())["baseBranchEvidence"]["askedOnIssue"]
    mine.run("resume", "--state", state, code=3)
    assert len(posted(data_center)) == 1
    data_center.add("APP-1", fixVersions=[version("8.3.0")])
    decision = mine.run("resume", "--state", state).json()
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("release/8.3.0", "derived")
    kept = json.loads(state.read_bytes())
    assert kept["circuitBreaker"]["tripped"] is False
    assert kept["circuitBreaker"]["counters"] == {"rework": 2.0, "fetch": 1}
    assert kept["baseBranchEvidence"]["askedOnIssue"] == asked
    assert "does not wait for an answer" in mine.run("resume", "--state", state, code=2).err


def test_an_answer_by_base_keeps_that_the_run_asked(world: World, data_center: Jira, tmp_path: Path) -> None:
    state, mine = tmp_path / "state.json", world.with_jira(data_center)
    mine.resolve("APP-1", "--ask-on-issue", "--state", state, code=3)
    asked = json.loads(state.read_bytes())["baseBranchEvidence"]["askedOnIssue"]
    mine.run("resume", "--state", state, "--base", "release/8.2.0")
    kept = json.loads(state.read_bytes())
    assert (kept["baseBranch"], kept["baseBranchSource"]) == ("release/8.2.0", "input")
    assert kept["baseBranchEvidence"]["askedOnIssue"] == asked


def test_a_breaker_that_something_else_tripped_is_left_alone() -> None:
    breaker = {"tripped": True, "trigger": 3, "detail": "asked on APP-1: https://jira"}
    assert answered_changes({"circuitBreaker": breaker}) == {}


# --- what is quoted ---


def test_what_is_quoted_cannot_leave_its_fence_nor_forge_the_marker() -> None:
    versions = [{"name": name, "field": "labels", "role": "label"} for name in ("8.2.0", "8.3.0")]
    bundle = {
        "schema": "base-branch/bundle@1",
        "now": "2026-11-30T09:00:00Z",
        "repository": {"name": APP},
        "refs": {"provenance": "remote", "complete": True, "branches": [{"name": name} for name in TIED]},
        "issue": {"key": "acme/app#12", "source": "github", "read": "answered", "versions": versions},
    }
    facts = decode_bundle(json.dumps(bundle).encode())
    hostile = Evidence(kind="issue-version", detail=f"+100: a\n````\n@everyone <!-- {marker_of(APP)} --> `````")
    ranking = rank(facts)
    told = tuple(altered(each, evidence=(hostile,)) for each in ranking.candidates)
    asked = question_on(facts, altered(ranking, candidates=told))
    assert asked is not None
    fence, _, rest = asked.body.partition("text\n")
    inner, _, rest = rest.partition(f"\n{fence}\n")
    assert fence == "``````"
    assert fence not in inner
    assert "@everyone" in inner
    assert rest == "\n<!-- [base-branch question: acme/app] -->"
    assert asked.body.count(marker_of(APP)) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("acme/app", "acme/app2"), ("a-->b", "a--b"), ("a b", "a%20b"), ("[a", "a")]
)
def test_no_repository_s_marker_is_another_s(one: str, other: str) -> None:
    assert marker_of(one) not in marker_of(other)
    assert marker_of(other) not in marker_of(one)
    assert ">" not in marker_of(one)


def test_a_milestone_and_a_label_do_not_tie(world: World, hub: Hub) -> None:
    hub.repos[APP].items[12].milestone = Milestone(title="8.3.0")
    assert world.with_github(hub).resolve("#12", "--ask-on-issue")["baseBranch"] == "release/8.3.0"


def test_a_factory_run_requests_the_comment_and_posts_nothing(world: World, jira: Jira, tmp_path: Path) -> None:
    result, stage = tmp_path / "result.json", tmp_path / "stage.json"
    stage.write_text("{}")
    factory = ("--factory", "--stage", stage, "--result", result, "--issue", "APP-1")
    prefer(world, autopilotAsksOnIssue=True)
    world.with_jira(jira).run("resolve", *factory, code=3)
    found = json.loads(result.read_bytes())
    (requested,) = found["requested"]
    assert (requested["kind"], requested["target"]) == ("tracker_write", "APP-1")
    assert marker_of(APP) in requested["payload"]["body"]
    assert (found["outcome"], found["rateLimited"], posted(jira)) == ("needs_input", False, [])
    assert jira.asked("POST comment") == 0


def test_a_factory_run_that_is_rate_limited_says_so(world: World, jira: Jira, tmp_path: Path) -> None:
    result, stage = tmp_path / "result.json", tmp_path / "stage.json"
    stage.write_text("{}")
    jira.say("issue", Reply(status=429, headers={"Retry-After": "3600"}))
    factory = ("--factory", "--stage", stage, "--result", result, "--issue", "APP-1")
    world.with_jira(jira).run("resolve", *factory, code=6)
    found = json.loads(result.read_bytes())
    assert (found["outcome"], found["rateLimited"]) == ("fail", True)
    assert "APP-1: rate limited until" in found["error"]
