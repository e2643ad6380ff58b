"""Whole commands: what is asked in, one JSON document or nothing out, and the exit code of the README."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.program import base_branch, names, resolve, settled, source, start

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand, Stand


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    """Release branches named for whole versions, cut from develop; the server's default is main."""
    return stand("release_lines")


def issue_of(*versions: str, **more: Any) -> bytes:  # noqa: ANN401 - any JSON
    named = [{"name": name, "field": "fixVersions"} for name in versions]
    return json.dumps({"key": "APP-12", "versions": named} | more).encode()


# --- the answer ---


def test_a_clear_issue_is_derived_and_everything_to_cut_a_worktree_from_is_there(lines: Stand) -> None:
    done = base_branch("resolve", lines.clone.path, "--autopilot", "--issue-version", "8.4.0")
    decision = done.json()
    tip = lines.remote.oid("refs/heads/release/8.4.0")
    assert (done.code, done.err) == (0, "")
    assert settled(decision) == ("release/8.4.0", "refs/remotes/origin/release/8.4.0", tip, "derived", "fresh")
    assert lines.clone.oid("refs/remotes/origin/release/8.4.0") == tip
    assert decision["schema"] == "base-branch/decision@1"
    assert (decision["repository"], decision["autonomy"]) == ("app", "full")
    assert decision["remote"] == {"name": "origin", "url": str(lines.remote.path), "reason": "the only remote"}
    assert decision["listingComplete"] is True
    assert decision["questions"] == decision["log"] == []
    assert [(t["rule"], t["fired"]) for t in decision["trail"]] == [
        ("remembered", False),
        ("derived", True),
        ("default", False),
    ]
    assert [(s["name"], s["state"]) for s in decision["sources"]] == [
        ("remote", "answered"),
        ("jira", "not-asked"),
        ("github", "not-asked"),
        ("preferences", "answered"),
    ]
    assert decision["baseBranchEvidence"]["refProvenance"] == "remote"
    assert decision["baseBranchEvidence"]["chosen"] == "release/8.4.0"


def test_a_worktree_can_be_cut_from_the_answer(lines: Stand, tmp_path: Path) -> None:
    decision = resolve(lines.clone.path, "--issue-version", "8.2.2")
    _, ref, commit, _, _ = settled(decision)
    assert ref is not None
    lines.clone.git("worktree", "add", "--quiet", "-b", "work", str(tmp_path / "tree"), ref)
    assert lines.clone.oid("work") == commit == lines.remote.oid("release/8.2.0")


def test_nothing_is_decided_without_autopilot(lines: Stand) -> None:
    done = base_branch("resolve", lines.clone.path, "--issue-version", "8.4.0")
    decision = done.json()
    assert done.code == 3
    assert settled(decision) == (None, None, None, None, None)
    assert decision["autonomy"] == "manual"
    (question,) = decision["questions"]
    assert (question["id"], question["kind"], question["default"]) == ("base-branch", "base-branch", 1)
    assert [option["label"] for option in question["options"]] == [
        "release/8.4.0",
        "develop",
        "main",
        "Pick another branch",
    ]
    assert question["options"][0]["description"].startswith("recommended: ")
    assert not any(option["description"].startswith("recommended") for option in question["options"][1:])


def test_lesser_evidence_does_not_break_the_tie_of_two_fix_versions(lines: Stand) -> None:
    # v8.3.0 is out and sits on release/8.3.0; nothing of 8.4.0 is: both branches are what the issue names.
    decision = resolve(lines.clone.path, "--issue-version", "8.3.0", "--issue-version", "8.4.0")
    assert decision["baseBranchEvidence"]["ambiguous"] is True
    assert settled(decision)[3] == "default"


def test_a_tie_is_never_derived_and_the_question_recommends_nothing(stand: MakeStand) -> None:
    shop = stand("demo")
    versions = ("--issue-version", "8.4.0", "--issue-version", "8.5.0")
    decision = resolve(shop.clone.path, *versions)
    assert decision["baseBranchEvidence"]["ambiguous"] is True
    assert "chosen" not in decision["baseBranchEvidence"]
    assert names(decision)[:2] == ["release/8.5.0", "release/8.4.0"]
    tip = shop.remote.oid("main")
    assert settled(decision) == ("main", "refs/remotes/origin/main", tip, "default", "fresh")
    derived = next(t["reason"] for t in decision["trail"] if t["rule"] == "derived")
    assert derived == "ambiguous: release/8.5.0, release/8.4.0 tie with 105 points"
    asked = base_branch("resolve", shop.clone.path, *versions)
    assert asked.code == 3
    assert asked.json()["questions"][0]["default"] is None


def test_a_version_that_is_not_cut_yet_goes_to_development_as_a_default(lines: Stand) -> None:
    decision = resolve(lines.clone.path, "--issue-version", "9.0.0")
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("develop", "default")
    kinds = {e["kind"] for e in decision["baseBranchEvidence"]["candidates"][0]["evidence"]}
    assert "issue-version" not in kinds


def test_file_standard_input_and_options_say_the_same(lines: Stand, tmp_path: Path) -> None:
    file = tmp_path / "issue.json"
    file.write_bytes(issue_of("8.4.0", "8.3.0"))
    here = lines.clone.path
    answers = [
        resolve(here, "--issue", file),
        resolve(here, "--issue", "-", stdin=file.read_bytes()),
        resolve(here, "--issue-version", "8.3.0", "--issue-version", "8.4.0"),
        resolve(here, "--issue", "-", "--issue-version", "8.3.0", stdin=issue_of("8.4.0")),
    ]
    evidence = [json.dumps(answer["baseBranchEvidence"]) for answer in answers]
    assert len(set(evidence)) == 1
    assert "release/8.4.0" in evidence[0]


def test_the_path_is_the_current_folder_where_none_is_given(lines: Stand) -> None:
    done = base_branch("resolve", "--autopilot", "--issue-version", "8.4.0", cwd=lines.clone.path)
    assert (done.code, done.json()["baseBranch"]) == (0, "release/8.4.0")


# --- the halves ---

SITUATIONS = {
    "derived": (),
    "issue": ("--issue-version", "8.3.1"),
    "ambiguous": ("--issue-version", "8.3.0", "--issue-version", "8.4.0"),
    "not cut": ("--issue-version", "99"),
}


def assert_halves_equal_the_whole(stand: Stand, *options: str, **environ: str) -> None:
    """`collect | rank` gives resolve's evidence, byte for byte, and both from the same state of the clone."""
    bundle = base_branch("collect", stand.clone.path, *options, environ=environ)
    assert bundle.code == 0, bundle.err
    ranked = base_branch("rank", stdin=bundle.out)
    assert (ranked.code, ranked.err) == (0, "")
    evidence = resolve(stand.clone.path, *options, environ=environ)["baseBranchEvidence"]
    assert ranked.out.decode() == json.dumps(evidence, indent=2, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_halves_equal_the_whole(lines: Stand, situation: str) -> None:
    assert_halves_equal_the_whole(lines, *SITUATIONS[situation])


def test_the_halves_equal_the_whole_where_something_is_fetched(stand: MakeStand) -> None:
    stale = stand("moved_on")
    before = stale.clone.refs()
    bundle = base_branch("collect", stale.clone.path, "--issue-version", "1.10.1")
    assert stale.clone.refs() != before
    for name in stale.clone.refs().keys() - before.keys():
        stale.clone.git("update-ref", "-d", name)
    evidence = resolve(stale.clone.path, "--issue-version", "1.10.1")["baseBranchEvidence"]
    ranked = base_branch("rank", stdin=bundle.out)
    assert ranked.out.decode() == json.dumps(evidence, indent=2, ensure_ascii=False) + "\n"
    assert evidence["chosen"] == "release/1.10"


def test_the_halves_equal_the_whole_without_the_remote(lines: Stand) -> None:
    lines.take_the_remote_away()
    assert_halves_equal_the_whole(lines, "--issue-version", "8.3.1")


def test_the_halves_equal_the_whole_with_a_memory(lines: Stand, tmp_path: Path) -> None:
    store = tmp_path / "memory.json"
    remember(store, "release/8.2.0", "2999-01-01T00:00:00Z")
    assert_halves_equal_the_whole(lines, "--issue-version", "8.3.1", BASE_BRANCH_PREFERENCES=str(store))


def test_a_bundle_ranks_to_the_same_bytes_again_and_again(lines: Stand) -> None:
    bundle = base_branch("collect", lines.clone.path, "--issue-version", "8.3.1").out
    answers = {base_branch("rank", stdin=bundle, environ={"PYTHONHASHSEED": seed}).out for seed in "12"}
    assert len(answers) == 1


# --- one a line ---


def line_of(*branches: str) -> bytes:
    listed = [{"name": name} for name in branches]
    bundle = {
        "schema": "base-branch/bundle@1",
        "now": "2026-11-30T09:00:00Z",
        "repository": {"name": "acme/app"},
        "refs": {"provenance": "remote", "complete": True, "branches": listed},
    }
    return json.dumps(bundle).encode() + b"\n"


def test_each_line_is_answered_before_the_next_is_written() -> None:
    with start("rank", "--ndjson") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        rescue = threading.Timer(60, running.kill)
        rescue.start()
        for name in ("main", "master"):
            running.stdin.write(line_of(name))
            running.stdin.flush()
            # Nothing comes, until the rescue ends it all, if the program reads ahead or holds its answer back.
            assert json.loads(running.stdout.readline())["chosen"] == name
        running.stdin.close()
        assert running.stdout.read() == b""
        assert running.wait() == 0
        rescue.cancel()


def test_a_bad_line_ends_the_run_and_the_answers_before_it_stand() -> None:
    text = line_of("main") + b"\n" + line_of("master") + b'{"schema": "base-branch/bundle@1"}\n' + line_of("main")
    done = base_branch("rank", "--ndjson", stdin=text)
    assert [json.loads(line)["chosen"] for line in done.out.splitlines()] == ["main", "master"]
    assert (done.code, done.err) == (
        2,
        "base-branch: now: a required field is missing (in the bundle on line 4)\n",
    )


def test_the_last_line_needs_no_newline_and_blank_lines_are_none() -> None:
    done = base_branch("rank", "--ndjson", stdin=b"\n\r\n" + line_of("main").rstrip())
    assert (done.code, done.out.count(b"\n")) == (0, 1)
    assert base_branch("rank", "--ndjson").out == b""


def test_the_answer_of_a_line_is_the_answer_of_the_bundle() -> None:
    text = line_of("main", "release/1.0", "release/1.1")
    one, many = base_branch("rank", stdin=text), base_branch("rank", "--ndjson", stdin=text)
    assert json.loads(one.out) == json.loads(many.out)
    assert one.out.count(b"\n") > 1 == many.out.count(b"\n")


# --- exit codes: 2 and 5 leave standard output empty, and say what to do ---


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "Usage: "),
        (("bogus",), "No such command 'bogus'"),
        (("resolve", "--bogus"), "No such option: --bogus"),
        (("resolve", "--timeout", "0"), "base-branch: --timeout: expected a number from 0.1 to 86400, got 0.0"),
        (("rank", "one"), "unexpected extra argument"),
        (("schema", "nothing"), "base-branch: there is no schema 'nothing'\n  try: base-branch schema bundle"),
    ],
)
def test_usage(arguments: tuple[str, ...], said: str) -> None:
    done = base_branch(*arguments)
    assert (done.code, done.out) == (2, b"")
    assert said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the issue on standard input is empty"),
        (b"{}", "key: a required field is missing"),
        (b'{"key": "A-1", "versions": [{"field": "fixVersions"}]}', "versions[0].name: a required field is missing"),
        (b'{"key": "A-1", "versions": [{"name": "1", "field": "f", "zip": 1}]}', "versions[0].zip: unknown field"),
        (b'{"key": "A-1", "links": [{"kind": "cousin", "key": "A-2"}]}', "links[0].kind: invalid enum value 'cousin'"),
    ],
)
def test_a_wrong_issue_is_refused_with_the_place_of_the_fault(lines: Stand, text: bytes, said: str) -> None:
    done = base_branch("resolve", lines.clone.path, "--autopilot", "--issue", "-", stdin=text)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith(f"base-branch: {said}")


@pytest.mark.parametrize("command", ["resolve", "explain"])
def test_an_issue_file_that_is_not_there(lines: Stand, tmp_path: Path, command: str) -> None:
    done = base_branch(command, lines.clone.path, "--issue", tmp_path / "no.json")
    assert (done.code, done.out) == (2, b"")
    assert done.err == f"base-branch: the issue file {tmp_path / 'no.json'} cannot be read: no such file or directory\n"


@pytest.mark.parametrize("command", ["resolve", "collect", "explain"])
def test_not_a_repository(tmp_path: Path, command: str) -> None:
    done = base_branch(command, tmp_path)
    assert (done.code, done.out) == (5, b"")
    assert done.err == f"base-branch: {tmp_path} is not in a git repository\n  try: git rev-parse --git-dir\n"


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_not_a_folder_comes_with_the_next_command(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    if kind == "file":
        place.write_bytes(b"")
    done = base_branch("resolve", place)
    assert (done.code, done.out) == (5, b"")
    assert f"{place} " in done.err
    assert "\n  try: " in done.err


def test_no_git_on_the_path(lines: Stand, tmp_path: Path) -> None:
    done = base_branch("resolve", lines.clone.path, "--autopilot", environ={"PATH": str(tmp_path)})
    assert (done.code, done.out) == (5, b"")
    assert done.err.startswith("base-branch: git was not found on PATH\n  try: install git 2.30 or newer")


@pytest.mark.parametrize("name", ["nope", "--upload-pack=touch pwned", ""])
def test_no_such_remote(lines: Stand, name: str) -> None:
    done = base_branch("resolve", lines.clone.path, "--autopilot", f"--remote={name}", cwd=lines.clone.path)
    assert (done.code, done.out) == (5, b"")
    assert done.err == f"base-branch: there is no remote named {name!r}\n  try: git remote -v\n"
    assert not (lines.clone.path / "pwned").exists()


def test_a_git_that_is_too_old_says_so(lines: Stand, tmp_path: Path) -> None:
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho git version 2.29.9\n")
    old.chmod(0o755)
    done = base_branch("resolve", lines.clone.path, environ={"PATH": str(old.parent)})
    assert (done.code, done.out) == (5, b"")
    assert "version 2.29.9; the oldest that serves is 2.30\n  try: install git 2.30 or newer" in done.err


# --- exit code 3: a person must choose ---


def test_an_empty_remote_is_a_question_with_something_to_answer(stand: MakeStand) -> None:
    decision = resolve(stand("empty").clone.path, "--issue-version", "1.0", code=3)
    assert settled(decision) == (None, None, None, None, None)
    assert decision["listingComplete"] is True
    assert source(decision, "remote")["state"] == "answered"
    assert decision["baseBranchEvidence"]["candidates"] == []
    (question,) = decision["questions"]
    assert [option["label"] for option in question["options"]] == ["Pick another branch", "Stop"]
    assert question["default"] is None


@pytest.fixture
def two_remotes(lines: Stand) -> Stand:
    """Two remotes, and nothing says which holds the lines."""
    lines.clone.git("remote", "rename", "origin", "left")
    lines.clone.git("remote", "add", "right", str(lines.remote.path))
    return lines


@pytest.mark.parametrize(("options", "autonomy"), [((), "manual"), (("--autopilot",), "full")])
def test_which_remote_is_asked_and_not_guessed(two_remotes: Stand, options: tuple[str, ...], autonomy: str) -> None:
    done = base_branch("resolve", two_remotes.clone.path, *options)
    decision = done.json()
    assert done.code == 3
    assert settled(decision) == (None, None, None, None, None)
    assert (decision["autonomy"], decision["remote"], decision["baseBranchEvidence"]) == (autonomy, None, None)
    (question,) = decision["questions"]
    assert (question["kind"], question["default"]) == ("remote", None)
    assert [option["label"] for option in question["options"]] == ["left", "right"]
    assert done.err == (
        "base-branch: 2 remotes, and nothing says which holds the lines: left, right\n  try: give --remote NAME\n"
    )


def test_the_named_remote_is_asked(two_remotes: Stand) -> None:
    decision = resolve(two_remotes.clone.path, "--remote", "right", "--issue-version", "8.3.1")
    assert decision["remote"]["reason"] == "asked for"
    assert settled(decision)[1:3] == ("refs/remotes/right/release/8.3.0", two_remotes.remote.oid("release/8.3.0"))


@pytest.mark.parametrize("command", [("collect",), ("explain", "--json")])
def test_the_question_is_on_standard_output_whatever_command_asks(two_remotes: Stand, command: tuple[str, ...]) -> None:
    done = base_branch(*command, two_remotes.clone.path)
    assert done.code == 3
    assert done.json()["questions"][0]["kind"] == "remote"


# --- exit code 6: the issue ---


@pytest.mark.parametrize("read", ["failed", "not-found"])
def test_an_issue_that_could_not_be_read_stops_an_unattended_run(lines: Stand, read: str) -> None:
    failure = {"kind": "auth-refused", "detail": "401 from jira", "host": "jira.example.com"}
    text = issue_of("8.4.0", read=read, failure=failure)
    decision = resolve(lines.clone.path, "--issue", "-", stdin=text, code=6)
    assert settled(decision) == (None, None, None, None, "aborted")
    (said,) = decision["log"]
    assert said[20:] == (
        f" issue APP-12 could not be read ({read}): 401 from jira; --issue-optional goes on without it"
    )
    optional = resolve(lines.clone.path, "--issue", "-", "--issue-optional", stdin=issue_of(read=read))
    assert (optional["baseBranch"], optional["baseBranchSource"]) == ("develop", "default")


@pytest.mark.parametrize("version", ["", " ", "latest", ">=3.0", "8.3.0,8.4.0"])
def test_a_version_that_names_none_stops_an_unattended_run(lines: Stand, version: str) -> None:
    given = ("--issue-version", version, "--issue-version", "8.4.0")
    decision = resolve(lines.clone.path, *given, code=6)
    assert settled(decision) == (None, None, None, None, "aborted")
    said = f"--issue-version '{version}' is not one version to look for; --issue-optional goes on without it"
    assert decision["log"][-1].endswith(said)
    gone_on = resolve(lines.clone.path, *given, "--issue-optional")
    assert settled(gone_on)[::3] == ("release/8.4.0", "derived")
    assert gone_on["log"][0].endswith(said)
    asked = base_branch("resolve", lines.clone.path, *given)
    assert asked.code == 3


def test_an_issue_that_was_read_in_part_serves(lines: Stand) -> None:
    decision = resolve(lines.clone.path, "--issue", "-", stdin=issue_of("8.4.0", read="partial"))
    assert settled(decision)[0] == "release/8.4.0"


# --- the memory ---


def remember(store: Path, branch: str, at: str, project: str = "app", **settings: int) -> None:
    choices = [{"projectKey": project, "branch": branch, "lastUsed": at, "count": 2}]
    store.write_text(json.dumps({"global": {"recentBranches": choices}, "settings": settings}))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of remembered choices that the program reads."""
    path = tmp_path / "memory.json"
    monkeypatch.setenv("BASE_BRANCH_PREFERENCES", str(path))
    return path


def test_a_remembered_choice_is_used_and_an_unattended_run_does_not_renew_it(lines: Stand, store: Path) -> None:
    remember(store, "release/8.2.0", "2999-01-01T00:00:00Z")
    before = store.read_bytes()
    decision = resolve(lines.clone.path)
    tip = lines.remote.oid("release/8.2.0")
    assert settled(decision) == ("release/8.2.0", "refs/remotes/origin/release/8.2.0", tip, "remembered", "fresh")
    assert store.read_bytes() == before


def test_a_choice_for_another_project_is_nobodys(lines: Stand, store: Path) -> None:
    remember(store, "release/8.2.0", "2999-01-01T00:00:00Z", project="other/app")
    assert settled(resolve(lines.clone.path))[3] == "default"
    assert settled(resolve(lines.clone.path, "--project-key", "other/app"))[3] == "remembered"


def test_a_remembered_branch_that_is_gone_is_passed_over_and_kept(lines: Stand, store: Path) -> None:
    remember(store, "release/8.1.0", "2999-01-01T00:00:00Z")
    before = store.read_bytes()
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0")
    assert settled(decision)[::3] == ("release/8.4.0", "derived")
    assert decision["trail"][0]["reason"] == (
        "release/8.1.0, chosen on 2999-01-01 (yet to come: some clock was wrong, and no later choice goes before it): "
        "not in the remote's answer; kept in the memory, passed over in this run"
    )
    assert store.read_bytes() == before


@pytest.mark.parametrize("text", [b"{", b'{"global": {"recentBranches": 7}}'])
def test_a_damaged_memory_is_said_to_be_so_and_is_not_said_to_be_empty(lines: Stand, store: Path, text: bytes) -> None:
    store.write_bytes(text)
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0")
    assert settled(decision)[::3] == ("release/8.4.0", "derived")
    memory = source(decision, "preferences")
    assert memory["state"] in {"failed", "partial"}
    assert memory["detail"].startswith(f"{store}")
    assert decision["trail"][0] == {
        "rule": "remembered",
        "fired": False,
        "reason": f"what is remembered is not known: {memory['detail']}",
    }
    assert store.read_bytes() == text


def test_a_memory_that_the_issue_contradicts_is_said_in_the_notes(lines: Stand, store: Path) -> None:
    remember(store, "release/8.2.0", "2999-01-01T00:00:00Z")
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0")
    assert settled(decision)[::3] == ("release/8.2.0", "remembered")
    notes = decision["baseBranchEvidence"]["notes"]
    assert any("release/8.2.0" in note and "release/8.4.0" in note for note in notes)
