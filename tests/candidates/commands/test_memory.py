"""The memory as a person drives it: remember, recent and forget as processes, and what a later run makes of it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from candidates.setup.schemas import schema_of
from tests.support.preferences import stored_entries
from tests.support.program import Answer, base_branch, resolve, settled, source

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand, Workshop


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    return stand("release_lines")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of remembered choices that the program reads; not there yet."""
    path = tmp_path / "preferences.json"
    monkeypatch.setenv("BASE_BRANCH_PREFERENCES", str(path))
    return path


def keep(store: Path, *branches: str, days_ago: int = 1, project: str = "app", **more: Any) -> None:  # noqa: ANN401
    """Choices of a project, the first the newest, as another run left them."""
    begun = datetime.now(UTC).replace(microsecond=0) - timedelta(days=days_ago)
    choices = [
        {"projectKey": project, "branch": branch, "lastUsed": (begun - timedelta(hours=i)).isoformat(), "count": 1}
        for i, branch in enumerate(branches)
    ]
    store.write_text(json.dumps({"global": {"recentBranches": choices} | more.pop("ours", {})} | more))


def kept(store: Path) -> list[tuple[str, str, int]]:
    """What the store holds: project, branch, count."""
    return [(e["projectKey"], e["branch"], e["count"]) for e in stored_entries(store)]


def said(*arguments: str | Path, code: int) -> str:
    """Standard error of a run that must leave standard output empty."""
    done = base_branch(*arguments)
    assert (done.code, done.out) == (code, b""), (done.code, done.out, done.err)
    return done.err


def recent(where: Stand, *more: str) -> Answer:
    done = base_branch("recent", where.clone.path, "--json", *more)
    assert done.code == 0, done.err
    return done.json()


def reason(decision: Answer, rule: str = "remembered") -> str:
    return str(next(entry["reason"] for entry in decision["trail"] if entry["rule"] == rule))


def test_a_choice_is_remembered_used_shown_and_forgotten(lines: Stand, store: Path) -> None:
    here = lines.clone.path
    key = str(lines.remote.path).removesuffix(".git")
    assert said("remember", "release/8.2.0", here, code=0) == f"base-branch: remembered for {key}: release/8.2.0\n"
    said("remember", "release/8.2.0", here, code=0)
    assert kept(store) == [(key, "release/8.2.0", 2)]
    assert store.stat().st_mode & 0o777 == 0o600
    before = store.read_bytes()
    shown = recent(lines)
    jsonschema.Draft202012Validator(schema_of("recent")).validate(shown)
    assert [(c["branch"], c["count"]) for c in shown.pop("choices")] == [("release/8.2.0", 2)]
    assert shown == {"schema": "base-branch/recent@1", "projectKey": key, "state": "answered", "detail": None}
    assert settled(resolve(here))[::3] == ("release/8.2.0", "remembered")
    assert store.read_bytes() == before
    assert said("forget", "release/8.2.0", here, code=0) == f"base-branch: forgotten for {key}: release/8.2.0\n"
    assert kept(store) == []
    assert said("forget", "release/8.2.0", here, code=0) == f"base-branch: nothing was remembered for {key}\n"


def test_neither_an_unattended_answer_nor_a_given_one_is_remembered(lines: Stand, store: Path) -> None:
    resolve(lines.clone.path, "--issue-version", "8.4.0")
    resolve(lines.clone.path, "--base", "release/8.3.0")
    assert not store.exists()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("release/8.4.1", "near names: release/8.4.0, "), ("--orphan", "base-branch explain")],
)
def test_what_the_remote_does_not_have_is_not_remembered(lines: Stand, store: Path, name: str, hint: str) -> None:
    told = said("remember", "--", name, lines.clone.path, code=2)
    assert told.startswith(f"base-branch: origin has no branch {name}\n  try: {hint}")
    assert not store.exists()


def test_nothing_is_remembered_unchecked(lines: Stand, store: Path) -> None:
    lines.take_the_remote_away()
    told = said("remember", "release/8.4.0", lines.clone.path, code=4)
    assert told.startswith("base-branch: origin did not answer (not-found: ")
    lines.clone.git("remote", "remove", "origin")
    assert said("remember", "main", lines.clone.path, code=5).startswith("base-branch: this repository has no remote")
    assert not store.exists()


def test_choices_are_each_projects_own(lines: Stand, store: Path) -> None:
    said("remember", "release/8.2.0", lines.clone.path, "--project-key", "TEAM", code=0)
    assert recent(lines)["choices"] == []
    assert [c["branch"] for c in recent(lines, "--project-key", "TEAM")["choices"]] == ["release/8.2.0"]
    assert "nothing was remembered for " in said("forget", "release/8.2.0", lines.clone.path, code=0)
    assert kept(store) == [("TEAM", "release/8.2.0", 1)]


def test_five_are_shown_to_a_person_the_newest_first(lines: Stand, store: Path) -> None:
    keep(store, *(f"release/{n}" for n in range(9, 2, -1)))
    shown = base_branch("recent", lines.clone.path).out.decode().splitlines()
    assert [line.split("  ")[0] for line in shown] == [f"release/{n}" for n in range(9, 4, -1)]


def test_an_expired_choice_is_passed_over_and_the_trail_says_so(lines: Stand, store: Path) -> None:
    keep(store, "release/8.2.0", days_ago=16)
    before = store.read_bytes()
    decision = resolve(lines.clone.path)
    assert settled(decision)[::3] == ("develop", "default")
    assert reason(decision).endswith(": older than 15 days")
    assert recent(lines)["choices"] == []
    assert settled(resolve(lines.clone.path, "--branch-ttl-days", "20"))[::3] == ("release/8.2.0", "remembered")
    assert store.read_bytes() == before


def test_the_stores_own_time_to_live_counts_unless_this_run_sets_one(lines: Stand, store: Path) -> None:
    keep(store, "release/8.2.0", days_ago=5, settings={"branchTtlDays": 3})
    assert reason(resolve(lines.clone.path)).endswith(": older than 3 days")
    assert reason(resolve(lines.clone.path, "--branch-ttl-days", "4")).endswith(": older than 4 days")


def test_a_memory_that_an_exact_branch_outdates_is_said_and_on_conflict_decides(lines: Stand, store: Path) -> None:
    keep(store, "release/8.2.0")
    asked = (lines.clone.path, "--issue-version", "8.4.0")
    decision = resolve(*asked)
    assert settled(decision)[::3] == ("release/8.2.0", "remembered")
    assert "; outdated: release/8.4.0 is named for the issue's own version; " in reason(decision)
    assert settled(resolve(*asked, "--on-conflict", "derived"))[::3] == ("release/8.4.0", "derived")
    question = resolve(*asked, "--on-conflict", "ask", code=3)["questions"][0]
    assert (question["kind"], question["default"]) == ("base-branch", None)


def test_with_the_evidence_switched_off_no_issue_is_read_and_nothing_derived(lines: Stand, store: Path) -> None:
    keep(store, ours={"baseBranchEvidence": "off"})
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0")
    assert settled(decision)[::3] == ("develop", "default")
    off = "the preferences say global.baseBranchEvidence off: the issue was not read"
    assert reason(decision, "derived") == off


def test_a_damaged_store_is_kept_aside_and_the_choice_is_remembered(lines: Stand, store: Path) -> None:
    store.write_text('{"global": {"recent')
    told = said("remember", "main", lines.clone.path, code=0).splitlines()
    (aside,) = store.parent.glob("preferences.json.damaged-*")
    assert told[0].endswith(f"; it is kept as {aside}")
    assert told[1].endswith("/acme/app: main")
    assert aside.read_text() == '{"global": {"recent'
    assert [entry[1:] for entry in kept(store)] == [("main", 1)]


def test_what_is_another_programs_is_neither_changed_nor_an_obstacle(lines: Stand, store: Path) -> None:
    text = '{"theme": "dark", "ratio": 1.50, "global": {"other": [1,2]}}'
    store.write_text(text)
    said("remember", "main", lines.clone.path, code=0)
    said("forget", "main", lines.clone.path, code=0)
    assert store.read_text().startswith('{"theme": "dark", "ratio": 1.50, "global": {"other": [1,2]')
    assert json.loads(store.read_text()) == {
        "theme": "dark",
        "ratio": 1.5,
        "global": {"other": [1, 2], "recentBranches": {str(lines.remote.path).removesuffix(".git"): []}},
    }


def test_an_entry_that_is_odd_is_said_and_the_others_serve(lines: Stand, store: Path) -> None:
    keep(store, "release/8.2.0")
    document = json.loads(store.read_text())
    document["global"]["recentBranches"].append({"projectKey": "app", "branch": 7})
    store.write_text(json.dumps(document))
    decision = resolve(lines.clone.path)
    assert settled(decision)[3] == "remembered"
    memory = source(decision, "preferences")
    assert memory["state"] == "partial"
    assert "global.recentBranches[1].branch" in memory["detail"]


# A file that another program keeps.


def shared(store: Path, *names: str, key: str = "app") -> str:
    """The stored choices as a map of lists, beside another project's; the file's text."""
    day = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    entries = [{"branch": name, "lastUsed": day} for name in names]
    other = [{"branch": "origin/main", "lastUsed": day}]
    store.write_text(json.dumps({"global": {"recentBranches": {"other": other, key: entries}}, "theme": "dark"}))
    return store.read_text()


@pytest.mark.parametrize("name", ["release/8.3.0", "origin/release/8.3.0", "refs/heads/release/8.3.0"])
def test_a_map_of_lists_fires_the_memory(lines: Stand, store: Path, name: str) -> None:
    before = shared(store, name)
    assert settled(resolve(lines.clone.path))[::3] == ("release/8.3.0", "remembered")
    assert store.read_text() == before


def test_a_choice_keeps_the_map_and_the_other_projects(lines: Stand, store: Path, tmp_path: Path) -> None:
    shared(store, "release/8.3.0")
    done = base_branch("choose", "origin/release/8.4.0", lines.clone.path, "--state", tmp_path / "state.json")
    assert (done.code, done.json()["baseBranch"]) == (0, "release/8.4.0"), done.err
    document = json.loads(store.read_text())
    branches = document["global"]["recentBranches"]
    assert [entry["branch"] for entry in branches["app"]] == ["release/8.4.0", "release/8.3.0"]
    assert [entry["branch"] for entry in branches["other"]] == ["origin/main"]
    assert document["theme"] == "dark"
    assert list(store.parent.glob("preferences.json.damaged-*")) == []


@pytest.mark.parametrize("name", ["origin/develop", "refs/heads/develop", "refs/remotes/origin/develop"])
def test_a_name_with_its_remote_before_it_is_the_branch(lines: Stand, store: Path, name: str) -> None:
    assert settled(resolve(lines.clone.path, "--base", name))[::3] == ("develop", "input")
    assert said("remember", name, lines.clone.path, code=0).endswith(": develop\n")
    assert [branch for _, branch, _ in kept(store)] == ["develop"]


def test_the_doctor_shows_how_each_key_of_a_shared_file_is_read(lines: Stand, store: Path) -> None:
    before = shared(store, "release/8.3.0")
    checks = base_branch("doctor", lines.clone.path, "--json").json()["checks"]
    details = [check["detail"] for check in checks if check["name"] == "preferences"]
    key = str(lines.remote.path).removesuffix(".git")
    assert details[1:] == [
        f"global.recentBranches: a map of 2 projects, written back as such; of {key}: release/8.3.0",
        "not read, never changed: theme",
    ]
    assert store.read_text() == before


# Which choice counts.


def test_the_newest_choice_that_is_still_on_the_remote_counts(lines: Stand, store: Path) -> None:
    keep(store, "release/8.1.0", "release/8.3.0", "release/8.2.0")
    decision = resolve(lines.clone.path)
    assert settled(decision)[::3] == ("release/8.3.0", "remembered")
    assert "release/8.1.0, chosen on " in reason(decision)
    assert "not in the remote's answer; kept in the memory" in reason(decision)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (("--issue-version", "8.3.0"), ("release/8.2.0", "remembered")),
        (("--issue-version", "8.4.0"), ("release/8.4.0", "derived")),
        ((), ("develop", "default")),
    ],
)
@pytest.mark.usefixtures("store")
def test_a_choice_applies_to_the_version_that_it_was_made_for(
    lines: Stand, tmp_path: Path, work: tuple[str, ...], expected: tuple[str, str]
) -> None:
    state = ("--state", tmp_path / "state.json")
    done = base_branch("choose", "release/8.2.0", lines.clone.path, "--issue-version", "8.3.0", *state)
    assert done.code == 0, done.err
    decision = resolve(lines.clone.path, *work)
    assert settled(decision)[::3] == expected
    if expected[1] != "remembered":
        assert "release/8.2.0, chosen for 8.3.0" in reason(decision)


@pytest.mark.usefixtures("store")
def test_a_choice_for_work_without_a_version_is_not_for_a_version(lines: Stand, tmp_path: Path) -> None:
    (tmp_path / "issue.json").write_text('{"key": "APP-1"}')
    issue = ("--issue", tmp_path / "issue.json")
    done = base_branch("choose", "release/8.2.0", lines.clone.path, *issue, "--state", tmp_path / "state.json")
    assert done.code == 0, done.err
    assert settled(resolve(lines.clone.path, *issue))[::3] == ("release/8.2.0", "remembered")
    assert settled(resolve(lines.clone.path, "--issue-version", "8.4.0"))[::3] == ("release/8.4.0", "derived")


@pytest.mark.usefixtures("store")
def test_a_choice_of_unknown_work_applies_to_all(lines: Stand, tmp_path: Path) -> None:
    done = base_branch("choose", "release/8.2.0", lines.clone.path, "--state", tmp_path / "state.json")
    assert done.code == 0, done.err
    assert settled(resolve(lines.clone.path, "--issue-version", "8.4.0"))[::3] == ("release/8.2.0", "remembered")


def test_a_question_recommends_the_issues_branch_before_a_remembered_one(lines: Stand, store: Path) -> None:
    keep(store, "release/8.2.0")
    done = base_branch("resolve", lines.clone.path, "--issue-version", "8.4.0")
    (question,) = done.json()["questions"]
    assert [option["label"] for option in question["options"]][:2] == ["release/8.4.0", "release/8.2.0"]
    assert (done.code, question["default"]) == (3, 1)


@pytest.mark.usefixtures("store")
def test_two_remotes_of_one_name_share_no_choice(lines: Stand, workshop: Workshop) -> None:
    other = workshop.folder / "teamB" / "app.git"
    other.parent.mkdir()
    workshop.clone(lines.remote, "teamB/app.git", "--mirror")
    clone = workshop.clone(str(other), "second")
    said("remember", "release/8.2.0", lines.clone.path, code=0)
    assert settled(resolve(lines.clone.path))[::3] == ("release/8.2.0", "remembered")
    assert resolve(clone.path)["baseBranchSource"] == "default"


def test_an_old_key_that_two_remotes_share_is_read_until_one_of_them_writes(
    lines: Stand, store: Path, workshop: Workshop
) -> None:
    (workshop.folder / "teamB").mkdir()
    workshop.clone(lines.remote, "teamB/app.git", "--mirror")
    clone = workshop.clone(str(workshop.folder / "teamB" / "app.git"), "second")
    keep(store, "release/8.3.0")
    assert settled(resolve(lines.clone.path))[::3] == ("release/8.3.0", "remembered")
    said("remember", "release/8.2.0", lines.clone.path, code=0)
    assert resolve(clone.path)["baseBranchSource"] == "default"
