"""The state file as a pipeline drives it: resolve, gate, recheck and probe as processes, on real repositories."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from candidates.setup.schemas import NAMES, schema_of
from tests.support.program import Answer, Done, base_branch
from tests.support.states import apply_patch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand, Workshop

WITH_JSON = (0, 3, 4, 6, 7, 10, 11, 12, 13)
WORK = "feature/APP-12"
VERSION = ("--issue-version", "8.4.0")


@pytest.fixture(scope="session")
def printed() -> Mapping[str, Any]:
    """A validator for each schema, as the program prints it."""
    schemas = {name: schema_of(name) for name in NAMES}
    for name in ("state", "recheck"):  # the others: tests.candidates.test_contract
        assert base_branch("schema", name).json() == json.loads(json.dumps(schemas[name]))
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas.items()}


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    return stand("release_lines")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A run's state, as another program wrote it: its order, its blanks, its spelling of numbers."""
    path = tmp_path / "agent-state.json"
    tree = tmp_path / "tree"
    path.write_text(
        f'{{"taskType":"bug",  "cost": 1.50, "branch": "{WORK}",\n "worktreePath": "{tree}", "siblings": []}}\n'
    )
    return path


def ran(*arguments: str | Path, code: int, environ: Mapping[str, str] | None = None) -> Done:
    """A finished run with this exit code, its standard output as that code has it."""
    done = base_branch(*arguments, environ=environ)
    assert done.code == code, (done.code, done.err, done.out)
    assert "Traceback" not in done.err
    if code in WITH_JSON:
        done.json()
    else:
        assert done.out == b""
    return done


def recheck(file: Path, where: Stand, code: int) -> Answer:
    found = ran("recheck", "--state", file, where.clone.path, "--json", code=code).json()
    jsonschema.Draft202012Validator(schema_of("recheck")).validate(found)
    return found


def cut(where: Stand, decision: Answer, tmp_path: Path) -> None:
    """Begin the work: a work tree on a branch of its own, from the commit of the decision."""
    where.clone.git("worktree", "add", "--quiet", "-b", WORK, str(tmp_path / "tree"), decision["baseCommit"])


# --- the whole pipeline ---


def test_a_pipeline_from_the_decision_to_the_push(
    lines: Stand, file: Path, tmp_path: Path, printed: Mapping[str, Any]
) -> None:
    decision = ran("resolve", lines.clone.path, "--autopilot", *VERSION, "--state", file, code=0).json()
    printed["decision"].validate(decision)
    assert "statePatch" not in decision
    state = json.loads(file.read_text())
    keys = ["baseBranch", "baseBranchSource", "baseFetchStatus", "baseBranchEvidence"]
    assert list(state) == ["taskType", "cost", "branch", "worktreePath", "siblings", *keys, "projects"]
    assert {key: state[key] for key in keys} == {key: decision[key] for key in keys}
    assert (state["baseBranch"], state["baseBranchSource"]) == ("release/8.4.0", "derived")
    assert file.read_text().startswith('{"taskType":"bug",  "cost": 1.50, "branch": "')

    passed = ran("gate", file, "--autopilot", "--json", code=0).json()
    printed["gate"].validate(passed)
    assert (passed["passed"], passed["reasons"]) == (True, [])
    refused = ran("gate", file, "--json", code=7).json()
    said = "baseBranchSource is derived, which an interactive run never records: only asked or input"
    printed["gate"].validate(refused)
    assert (refused["passed"], refused["reasons"]) == (False, [said])
    assert not printed["state"].is_valid(state)
    printed["state"].validate(state | {"workspaceSource": "autopilot"})

    cut(lines, decision, tmp_path)
    before = file.read_bytes()
    found = recheck(file, lines, 0)
    assert (found["status"], found["tip"]) == ("fresh", decision["baseCommit"])

    tip = lines.remote.commit("more", branch="release/8.4.0")
    found = recheck(file, lines, 12)
    assert (found["status"], found["commits"], found["tip"]) == ("moved", 1, tip)
    assert found["mergeBase"] == decision["baseCommit"]

    lines.remote.git("update-ref", "-d", "refs/heads/release/8.4.0")
    found = recheck(file, lines, 13)
    assert (found["status"], found["tip"], found["commits"]) == ("gone", None, None)

    lines.take_the_remote_away()
    found = recheck(file, lines, 11)
    assert (found["status"], found["failure"]["kind"]) == ("no-answer", "not-found")
    assert file.read_bytes() == before


def test_a_stale_base_is_fresh_once_the_remote_says_so(lines: Stand, file: Path, tmp_path: Path) -> None:
    lines.clone.git("fetch", "--quiet", "origin")
    lines.take_the_remote_away()
    decision = ran("resolve", lines.clone.path, "--autopilot", *VERSION, "--state", file, code=0).json()
    assert decision["baseFetchStatus"] == "cached-stale"
    cut(lines, decision, tmp_path)
    lines.remote.path.with_name("taken-away").rename(lines.remote.path)
    stale = file.read_text()
    assert recheck(file, lines, 0)["status"] == "fresh"
    assert file.read_text() == stale.replace('"baseFetchStatus":"cached-stale"', '"baseFetchStatus":"fresh"')
    assert file.read_text() != stale


def test_a_base_that_a_person_chose_passes_the_gate_of_an_interactive_run(
    lines: Stand, file: Path, printed: Mapping[str, Any]
) -> None:
    decision = ran("resolve", lines.clone.path, "--base", "release/8.3.0", "--state", file, code=0).json()
    assert (decision["autonomy"], decision["baseBranchSource"]) == ("manual", "input")
    assert ran("gate", file, "--json", code=0).json()["reasons"] == []
    printed["state"].validate(json.loads(file.read_text()))


def test_several_repositories_stand_in_the_state_by_their_roots(
    lines: Stand, file: Path, workshop: Workshop, printed: Mapping[str, Any]
) -> None:
    beside = workshop.clone(lines.remote, "beside")
    both = ran("resolve", lines.clone.path, beside.path, "--autopilot", *VERSION, "--state", file, code=0).json()
    printed["decisions"].validate(both)
    state = json.loads(file.read_text())
    own = {"baseBranch": "release/8.4.0", "baseBranchSource": "derived", "baseFetchStatus": "fresh"}
    roots = [(entry["name"], entry["root"]) for entry in state["projects"]]
    assert roots == [("app", str(lines.clone.path)), ("app", str(beside.path))]
    assert {key: state[key] for key in own} == own
    assert [{key: entry[key] for key in own} for entry in state["projects"]] == [own, own]
    assert state["projects"][1]["baseBranchEvidence"] == both["decisions"][1]["baseBranchEvidence"]
    assert state["baseBranchEvidence"] == both["decisions"][0]["baseBranchEvidence"]


# --- the patch ---


def test_the_patch_makes_of_the_state_what_would_have_been_written(
    lines: Stand, file: Path, printed: Mapping[str, Any]
) -> None:
    before = file.read_bytes()
    asked = ("resolve", lines.clone.path, "--autopilot", *VERSION, "--state", file)
    decision = ran(*asked, "--state-patch", code=0).json()
    printed["decision"].validate(decision)
    assert file.read_bytes() == before
    ran(*asked, code=0)
    assert apply_patch(json.loads(before), decision["statePatch"]) == {
        **json.loads(file.read_text()),
        "baseBranchEvidence": {k: v for k, v in decision["baseBranchEvidence"].items() if v is not None},
    }


def test_without_a_state_the_patch_is_of_an_empty_one(lines: Stand, tmp_path: Path) -> None:
    absent = tmp_path / "none.json"
    asked = ("resolve", lines.clone.path, "--base", "main", "--state-patch")
    patches = [ran(*asked, *more, code=0).json()["statePatch"] for more in ((), ("--state", absent))]
    assert patches[0] == patches[1]
    assert [patches[0][key] for key in ("baseBranch", "baseBranchSource")] == ["main", "input"]
    assert not absent.exists()


def test_several_repositories_have_one_patch_beside_the_decisions(lines: Stand, workshop: Workshop) -> None:
    beside = workshop.clone(lines.remote, "beside")
    both = ran("resolve", lines.clone.path, beside.path, "--base", "main", "--state-patch", code=0).json()
    roots = [entry["root"] for entry in both["statePatch"]["projects"]]
    assert roots == [str(lines.clone.path), str(beside.path)]
    assert not any("statePatch" in decision for decision in both["decisions"])


# --- nothing is written ---


def test_a_run_that_settled_nothing_writes_nothing_and_patches_nothing(
    lines: Stand, file: Path, printed: Mapping[str, Any], tmp_path: Path
) -> None:
    before = file.read_bytes()
    unread = tmp_path / "issue.json"
    unread.write_text('{"key": "APP-1", "read": "failed"}')
    here = ("resolve", lines.clone.path, "--state", file)
    answers = [
        ran(*here, "--state-patch", code=3).json(),
        ran(*here, "--autopilot", "--issue", unread, code=6).json(),
    ]
    lines.take_the_remote_away()
    answers.append(ran(*here, "--autopilot", "--on-fetch-failure", "abort", code=4).json())
    for answer in answers:
        printed["decision"].validate(answer)
        assert answer["baseBranch"] is None
        assert "statePatch" not in answer
    assert file.read_bytes() == before


@pytest.mark.parametrize("patch", [(), ("--state-patch",)], ids=["write", "patch"])
def test_a_state_that_would_contradict_itself_is_refused_and_the_decision_is_still_told(
    lines: Stand, file: Path, patch: tuple[str, ...], printed: Mapping[str, Any]
) -> None:
    other = {"name": "elsewhere", "baseBranch": "main", "baseFetchStatus": "fresh"}
    text = json.dumps({"taskType": "bug", "siblings": [], "projects": [other]})
    file.write_text(text)
    done = ran("resolve", lines.clone.path, "--autopilot", *VERSION, "--state", file, *patch, code=7)
    decision = done.json()
    printed["decision"].validate(decision)
    assert (decision["baseBranch"], "statePatch" in decision) == ("release/8.4.0", False)
    assert done.err == (
        "base-branch: not recorded: projects[0].baseBranch is 'main', and baseBranch is 'release/8.4.0': "
        "the scalars mirror the first repository\n"
    )
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("no folder", "cannot be made: there is no such folder"),
        ("no JSON", "is no JSON"),
        ("a folder", "is no regular file"),
    ],
)
def test_a_state_that_cannot_be_used_leaves_standard_output_empty(
    lines: Stand, tmp_path: Path, kind: str, said: str
) -> None:
    place = tmp_path / "place"
    match kind:
        case "no folder":
            place = place / "state.json"
        case "a folder":
            place.mkdir()
        case _:
            place.write_text("{")
    before = place.read_bytes() if place.is_file() else None
    code = 5 if kind == "a folder" else 2
    done = ran("resolve", lines.clone.path, "--base", "main", "--state", place, code=code)
    assert said in done.err
    assert (place.read_bytes() if place.is_file() else None) == before


# --- the gate ---


def test_the_gate_gives_every_reason_at_once(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"taskType": "bug", "figmaUrl": "https://d.example/1", "baseFetchStatus": "cached-stale"}')
    refused = ran("gate", file, "--json", code=7).json()
    assert refused["reasons"] == [
        "figmaUrl is given, and taskType is 'bug', not component",
        "figmaUrl is given, and no access tier is recorded (accessTier)",
        "baseBranch is missing",
        "baseBranchSource is missing",
        "baseFetchStatus is cached-stale, and there is no baseBranchEvidence",
        "siblings is missing",
    ]
    shown = base_branch("gate", file)
    assert (shown.code, shown.out.decode().splitlines()) == (7, [f"refused: {said}" for said in refused["reasons"]])


def test_a_state_that_is_not_there_is_refused(tmp_path: Path) -> None:
    refused = ran("gate", tmp_path / "none.json", "--autopilot", "--json", code=7).json()
    assert refused["reasons"] == [f"the state file {tmp_path / 'none.json'} does not exist"]


# --- the probe, and questions on standard output ---


def test_the_probe_tells_three_things_apart(lines: Stand, printed: Mapping[str, Any]) -> None:
    here = ("--json", lines.clone.path)
    answers = [
        ran("probe", "release/8.4.0", *here, code=0).json(),
        ran("probe", "release/9.9.9", *here, code=10).json(),
    ]
    lines.take_the_remote_away()
    answers.append(ran("probe", "release/9.9.9", *here, code=11).json())
    assert [answer["remote"]["state"] for answer in answers] == ["exists", "absent", "failed"]
    for answer in answers:
        printed["probe"].validate(answer)


def test_which_remote_is_asked_on_standard_output_by_every_command_with_json(
    lines: Stand, file: Path, tmp_path: Path, printed: Mapping[str, Any]
) -> None:
    lines.clone.git("remote", "add", "fork", str(lines.remote.path))
    lines.clone.git("remote", "rename", "origin", "left")
    lines.clone.git("worktree", "add", "--quiet", "-b", WORK, str(tmp_path / "tree"), "main")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"baseBranch": "main"}))
    commands: list[tuple[str | Path, ...]] = [
        ("probe", "main", lines.clone.path),
        ("recheck", "--state", file, lines.clone.path),
        ("recent", lines.clone.path),
    ]
    for command in commands:
        answer = ran(*command, "--json", code=3).json()
        printed["decision"].validate(answer)
        assert [option["label"] for option in answer["questions"][0]["options"]] == ["fork", "left"]
    assert base_branch(*commands[0]).out == b""


def test_guided_takes_a_remote_and_says_so_but_asks_for_the_branch(lines: Stand, printed: Mapping[str, Any]) -> None:
    lines.clone.git("remote", "add", "fork", str(lines.remote.path))
    lines.clone.git("remote", "rename", "origin", "left")
    done = ran("resolve", lines.clone.path, "--autonomy", "guided", *VERSION, code=3)
    answer = done.json()
    printed["decision"].validate(answer)
    assert done.err == "auto: left - guided\n"
    assert answer["remote"]["name"] == "left"
    assert answer["remote"]["reason"] == (
        "of 2 that nothing tells apart the one configured first: guided, and the branch is asked for"
    )
    (question,) = answer["questions"]
    assert (question["kind"], question["default"], question["options"][0]["label"]) == (
        "base-branch",
        1,
        "release/8.4.0",
    )
    guided = {"BASE_BRANCH_AUTONOMY": "guided"}
    explained = base_branch("explain", lines.clone.path, *VERSION, "--json", environ=guided)
    assert (explained.code, explained.err) == (0, done.err)
    assert explained.json()["questions"] == answer["questions"]
    # Nobody would be asked any more: then nothing is taken.
    settled = ran("resolve", lines.clone.path, "--autonomy", "guided", "--base", "main", code=3).json()
    assert settled["questions"][0]["kind"] == "remote"


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (("probe", "--json", "--", "--orphan"), 2, "'--orphan' can be no branch"),
        (("recheck", "--json", "--state", "none.json"), 2, "the state file none.json does not exist"),
        (("recheck", "--json"), 2, "Missing option '--state'"),
        (("resolve", "--state-patch", ".git/config"), 2, "--state-patch takes no value\n  try: name the state with"),
    ],
)
def test_usage_leaves_standard_output_empty(
    lines: Stand, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], code: int, said: str
) -> None:
    monkeypatch.chdir(lines.clone.path)
    assert said in ran(*command, code=code).err


@pytest.mark.parametrize("source", ["asked", "input"])
def test_a_base_that_a_person_chose_is_kept(lines: Stand, file: Path, source: str) -> None:
    state = json.loads(file.read_text()) | {"baseBranch": "release/8.2.0", "baseBranchSource": source}
    file.write_text(json.dumps(state))
    done = ran("resolve", lines.clone.path, *VERSION, "--autopilot", "--state", file, code=0)
    decision = done.json()
    assert (decision["baseBranch"], decision["baseBranchSource"]) == ("release/8.2.0", source)
    assert f"release/8.2.0 is kept as the base: the state has it as {source}" in done.err
    kept = json.loads(file.read_text())
    assert (kept["baseBranch"], kept["baseBranchSource"], kept["baseFetchStatus"]) == ("release/8.2.0", source, "fresh")
    ran("resolve", lines.clone.path, *VERSION, "--base", "release/8.3.0", "--state", file, code=0)
    assert json.loads(file.read_text())["baseBranch"] == "release/8.3.0"


def test_two_repositories_answered_one_after_the_other(lines: Stand, file: Path, workshop: Workshop) -> None:
    beside = workshop.clone(lines.remote, "beside")
    ran("choose", "release/8.4.0", lines.clone.path, *VERSION, "--state", file, code=0)
    first = json.loads(file.read_text())
    ran("choose", "develop", beside.path, "--state", file, code=0)
    state = json.loads(file.read_text())
    keys = ("baseBranch", "baseBranchSource", "baseFetchStatus", "baseBranchEvidence")
    assert [state[key] for key in keys] == [first[key] for key in keys]
    found = [(e["root"], e["baseBranch"], e["baseBranchSource"], e["baseFetchStatus"]) for e in state["projects"]]
    assert found == [
        (str(lines.clone.path), "release/8.4.0", "asked", "fresh"),
        (str(beside.path), "develop", "asked", "fresh"),
    ]
    evidence = state["projects"][1]["baseBranchEvidence"]
    assert evidence["candidates"][0]["branch"] == "develop"


def test_recheck_asks_about_every_repository_of_the_state(lines: Stand, file: Path, workshop: Workshop) -> None:
    beside = workshop.clone(lines.remote, "beside")
    ran("resolve", lines.clone.path, "--base", "release/8.4.0", "--state", file, code=0)
    ran("resolve", beside.path, "--base", "develop", "--state", file, code=0)
    state = json.loads(file.read_text())
    for repo, entry in zip((lines.clone, beside), state["projects"], strict=True):
        repo.git("branch", "--quiet", "--no-track", WORK, f"origin/{entry['baseBranch']}")
        entry["worktreePath"] = str(repo.path)
    state["worktreePath"] = str(lines.clone.path)
    file.write_text(json.dumps(state))
    found = recheck(file, lines, 0)
    assert [(one["root"], one["baseBranch"], one["status"]) for one in (found, *found["projects"])] == [
        (None, "release/8.4.0", "fresh"),
        (str(beside.path), "develop", "fresh"),
    ]
    lines.remote.commit("newer", branch="develop")
    found = recheck(file, lines, 12)
    assert [one["status"] for one in (found, *found["projects"])] == ["fresh", "moved"]
