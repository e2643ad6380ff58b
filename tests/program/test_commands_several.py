"""Several repositories in one run: side by side, one document, questions of one kind, one stop for all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest

from tests.support.program import base_branch, settled
from tests.support.servers import HOST, refusing_port

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.program import Answer
    from tests.support.program import Answer as Schema
    from tests.support.repositories import Repo, Workshop


@pytest.fixture(scope="module")
def schema() -> Schema:
    """What `schema decisions` prints."""
    return base_branch("schema", "decisions").json()


@pytest.fixture
def repos(workshop: Workshop) -> tuple[Repo, Repo]:
    """Two clones, app and lib, each with release/1.2 and release/1.3 on its remote; app is the main one."""
    clones = []
    for name in ("app", "lib"):
        remote = workshop.init(f"acme/{name}.git", "--bare", commit=False)
        work = workshop.clone(remote, f"{name}-work")
        work.commit(name)
        work.git("push", "--quiet", "origin", "main", "main:release/1.2", "main:release/1.3")
        clones.append(workshop.clone(remote, name))
        remote.commit("newer", branch="release/1.2")
    return clones[0], clones[1]


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a remote that refuses connections."""
    with refusing_port() as port:
        yield f"http://{HOST}:{port}/acme/lib.git"


def run(*arguments: str | Path, code: int, schema: Schema, **environ: str) -> Answer:
    done = base_branch("resolve", *arguments, environ=environ)
    assert done.code == code, (done.code, done.err, done.out)
    answer = done.json()
    jsonschema.validate(answer, schema)
    assert answer["schema"] == "base-branch/decisions@1"
    return answer


def branches(answer: Answer) -> list[str | None]:
    return [decision["baseBranch"] for decision in answer["decisions"]]


def kinds(answer: Answer) -> list[tuple[str, str]]:
    return [(question["kind"], question["repository"]) for question in answer["questions"]]


def test_two_paths_are_two_decisions_in_their_order(repos: tuple[Repo, Repo], schema: Schema) -> None:
    app, lib = repos
    answer = run(lib.path, app.path, "--autopilot", "--issue-version", "1.2.1", code=0, schema=schema)
    assert [decision["repository"] for decision in answer["decisions"]] == ["lib", "app"]
    assert (answer["siblings"], answer["questions"]) == ([], [])
    for repo, decision in zip((lib, app), answer["decisions"], strict=True):
        ref = "refs/remotes/origin/release/1.2"
        assert settled(decision) == ("release/1.2", ref, repo.oid(ref), "derived", "fresh")


def test_questions_of_one_kind_are_asked_together(repos: tuple[Repo, Repo], schema: Schema) -> None:
    app, lib = repos
    answer = run(app.path, lib.path, "--issue-version", "1.2.1", code=3, schema=schema)
    assert kinds(answer) == [("base-branch", "app"), ("base-branch", "lib")]
    assert branches(answer) == [None, None]


def test_only_the_earliest_kind_is_asked(
    repos: tuple[Repo, Repo], silent: str, workshop: Workshop, schema: Schema
) -> None:
    app, lib = repos
    lib.git("config", "remote.origin.url", silent)
    failed = run(app.path, lib.path, "--issue-version", "1.2.1", code=3, schema=schema)
    assert kinds(failed) == [("fetch-failed", "acme/lib")]
    assert branches(failed) == [None, None]
    third = workshop.init("third")
    for name in ("one", "two"):
        third.git("remote", "add", name, f"/nowhere/{name}.git")
    undecided = run(app.path, lib.path, third.path, "--autopilot", code=3, schema=schema)
    assert kinds(undecided) == [("remote", "third")]


def test_a_stop_in_one_stops_all(repos: tuple[Repo, Repo], silent: str, tmp_path: Path, schema: Schema) -> None:
    app, lib = repos
    lib.git("config", "remote.origin.url", silent)
    state = tmp_path / "state.json"
    state.write_text('{"taskType": "bug"}')
    before = state.read_bytes()
    options = ("--issue-version", "1.2.1", "--on-fetch-failure", "abort", "--state", state)
    for autopilot in (("--autopilot",), ()):
        answer = run(app.path, lib.path, *autopilot, *options, code=4, schema=schema)
        assert [settled(decision) for decision in answer["decisions"]] == [(None, None, None, None, "aborted")] * 2
        assert answer["questions"] == [q for d in answer["decisions"] for q in d["questions"]] == []
        first, second = (decision["log"][-1][21:] for decision in answer["decisions"])
        assert first == "stopped with the others: a repository of this run could not be decided"
        assert second.startswith("stopped by --on-fetch-failure abort: origin did not answer (refused: ")
        assert state.read_bytes() == before


def test_the_gravest_code_counts(repos: tuple[Repo, Repo], silent: str, tmp_path: Path, schema: Schema) -> None:
    app, lib = repos
    unread = tmp_path / "issue.json"
    unread.write_text(json.dumps({"key": "APP-1", "read": "failed"}))
    source_failed = run(app.path, lib.path, "--autopilot", "--issue", unread, code=6, schema=schema)
    assert branches(source_failed) == [None, None]
    lib.git("config", "remote.origin.url", silent)
    options = ("--autopilot", "--issue", unread, "--on-fetch-failure", "abort")
    assert branches(run(app.path, lib.path, *options, code=4, schema=schema)) == [None, None]


def test_what_is_no_repository_ends_the_run_before_anything_is_said(repos: tuple[Repo, Repo], tmp_path: Path) -> None:
    done = base_branch("resolve", repos[0].path, tmp_path / "gone", "--autopilot")
    assert (done.code, done.out) == (5, b"")
    assert str(tmp_path / "gone") in done.err


def test_the_state_has_an_entry_for_each_repository(repos: tuple[Repo, Repo], tmp_path: Path, schema: Schema) -> None:
    app, lib = repos
    state = tmp_path / "state.json"
    state.write_text('{"taskType": "bug"}')
    answer = run(app.path, lib.path, "--autopilot", "--issue-version", "1.2.1", "--state", state, code=0, schema=schema)
    kept = json.loads(state.read_text())
    keys = ("baseBranch", "baseBranchSource", "baseFetchStatus")
    assert [kept[key] for key in keys] == ["release/1.2", "derived", "fresh"]
    named = [{key: entry[key] for key in ("name", "root", *keys)} for entry in kept["projects"]]
    assert named == [
        {"name": decision["repository"], "root": str(repo.path)} | {key: decision[key] for key in keys}
        for repo, decision in zip((app, lib), answer["decisions"], strict=True)
    ]
    assert kept["projects"][1]["baseBranchEvidence"] == answer["decisions"][1]["baseBranchEvidence"]
    assert "siblings" not in kept


def answered(tmp_path: Path, answers: object) -> tuple[str, Path]:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(answers))
    return "--answers", file


def test_one_round_trip_answers_each_repository(
    repos: tuple[Repo, Repo], silent: str, tmp_path: Path, schema: Schema
) -> None:
    app, lib = repos
    lib.git("config", "remote.origin.url", silent)
    state = tmp_path / "state.json"
    more = answered(
        tmp_path,
        {
            str(app.path): {"base-branch": "release/1.3"},
            "lib": {"fetch-failed": "cached", "base-branch": "release/1.2"},
        },
    )
    answer = run(app.path, lib.path, *more, "--state", state, code=0, schema=schema)
    assert [settled(decision)[0] for decision in answer["decisions"]] == ["release/1.3", "release/1.2"]
    kept = json.loads(state.read_text())
    assert [(e["baseBranchSource"], e["baseFetchStatus"]) for e in kept["projects"]] == [
        ("asked", "fresh"),
        ("asked", "cached-stale"),
    ]


def test_an_answer_that_leaves_a_question_open_is_asked_on(
    repos: tuple[Repo, Repo], tmp_path: Path, schema: Schema
) -> None:
    app, lib = repos
    answer = run(app.path, lib.path, *answered(tmp_path, {"app": {"base-branch": "main"}}), code=3, schema=schema)
    assert [(q["kind"], q["repository"]) for q in answer["questions"]] == [("base-branch", "lib")]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"nowhere": {"base-branch": "main"}}, "no repository of this run is nowhere"),
        ({"app": {"fetch-failed": "ask"}}, "fetch-failed: invalid enum value 'ask'"),
        ({"app": {"branch": "main"}}, "branch"),
        ([], "expected `object`"),
    ],
)
def test_answers_that_are_none_are_refused(
    repos: tuple[Repo, Repo], tmp_path: Path, answers: object, said: str
) -> None:
    done = base_branch("resolve", repos[0].path, repos[1].path, *answered(tmp_path, answers))
    assert (done.code, done.out) == (2, b"")
    assert said in done.err


def test_a_question_of_a_silent_remote_names_its_repository(
    repos: tuple[Repo, Repo], silent: str, schema: Schema
) -> None:
    for repo in repos:
        repo.git("config", "remote.origin.url", f"{silent}/{repo.path.name}.git")
    answer = run(repos[0].path, repos[1].path, code=3, schema=schema)
    questions = [question["question"] for question in answer["questions"]]
    assert [question.partition(" did not answer for ")[2].partition(":")[0] for question in questions] == [
        "lib.git/app",
        "lib.git/lib",
    ]


# --- siblings ---


@pytest.fixture
def family(repos: tuple[Repo, Repo], workshop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A clone of app with a submodule lib (hint 1.x), one that is not checked out, and two listed repositories."""
    app, lib = repos
    app.git(
        "submodule",
        "--quiet",
        "add",
        "--branch",
        "release/1.3",
        "--name",
        "lib",
        lib.git("config", "remote.origin.url"),
        "parts/lib",
    )
    app.git("config", "--file", ".gitmodules", "submodule.absent.path", "parts/absent")
    app.git("config", "--file", ".gitmodules", "submodule.absent.url", "/nowhere")
    web, fixed = workshop.clone(lib.git("config", "remote.origin.url"), "web"), workshop.init("fixed")
    store = tmp_path / "preferences.json"
    listed = [{"path": str(web.path), "readOnly": False}, {"path": str(fixed.path), "readOnly": True}]
    store.write_text(json.dumps({"global": {"webRepos": listed}}))
    monkeypatch.setenv("BASE_BRANCH_PREFERENCES", str(store))
    return app


def test_siblings_are_decided_and_the_read_only_and_absent_ones_listed(family: Repo, schema: Schema) -> None:
    answer = run(family.path, "--siblings", "--autopilot", "--issue-version", "1.2.1", code=0, schema=schema)
    beside = family.path.parent
    assert answer["siblings"] == [
        {
            "path": str(family.path / "parts/absent"),
            "kind": "submodule",
            "branchHint": None,
            "readOnly": False,
            "present": False,
        },
        {
            "path": str(family.path / "parts/lib"),
            "kind": "submodule",
            "branchHint": "release/1.3",
            "readOnly": False,
            "present": True,
        },
        {"path": str(beside / "web"), "kind": "web-repo", "branchHint": None, "readOnly": False, "present": True},
        {"path": str(beside / "fixed"), "kind": "web-repo", "branchHint": None, "readOnly": True, "present": True},
    ]
    assert [decision["repository"] for decision in answer["decisions"]] == ["app", "lib", "lib"]
    assert branches(answer) == ["release/1.2"] * 3
    assert {decision["baseFetchStatus"] for decision in answer["decisions"]} == {"fresh"}


def test_the_branch_that_came_with_the_request_is_the_main_repositorys(family: Repo, schema: Schema) -> None:
    family.git("push", "--quiet", "origin", "main:only-here")
    answer = run(family.path, "--siblings", "--autopilot", "--base", "only-here", code=0, schema=schema)
    assert branches(answer) == ["only-here", "main", "main"]
    assert [decision["baseBranchSource"] for decision in answer["decisions"]] == ["input", "default", "default"]


def test_without_siblings_to_look_at_it_is_one_decision_in_the_same_document(
    repos: tuple[Repo, Repo], schema: Schema
) -> None:
    answer = run(repos[0].path, "--siblings", "--autopilot", "--issue-version", "1.3.1", code=0, schema=schema)
    assert (branches(answer), answer["siblings"]) == (["release/1.3"], [])


@pytest.mark.parametrize(("more", "code"), [(("--autopilot",), 0), ((), 3)])
def test_the_siblings_are_recorded_also_while_a_question_stands(
    family: Repo, tmp_path: Path, schema: Schema, more: tuple[str, ...], code: int
) -> None:
    state = tmp_path / "state.json"
    answer = run(
        family.path, "--siblings", *more, "--issue-version", "1.2.1", "--state", state, code=code, schema=schema
    )
    kept = json.loads(state.read_text())
    assert kept["siblings"] == answer["siblings"]
    assert ("baseBranch" in kept) == (code == 0)


def test_no_siblings_are_recorded_as_none(repos: tuple[Repo, Repo], tmp_path: Path, schema: Schema) -> None:
    state = tmp_path / "state.json"
    run(repos[0].path, "--siblings", "--autopilot", "--state", state, code=0, schema=schema)
    assert json.loads(state.read_text())["siblings"] == []
