"""The kept runs: each resolve and choose leaves one, however it ends; listed, explained again, and never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import zlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from candidates import __version__
from candidates.commands.explain import View
from candidates.commands.runs import RunsRequest, list_or_explain
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from candidates.runs.kept import KeptRun, Outcome, keep_run
from candidates.setup.schemas import schema_of
from collectors.errors import InvalidInput
from tests.ranking.facts_builder import facts, wants
from tests.support.program import COMMAND, Done, base_branch, children_that_mention, environment, resolve, start
from tests.support.servers import HOST, silent_listener

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand

ASKED = ("--issue-version", "8.4.0")
TOKEN = "s3cret-of-the-run"  # noqa: S105 - nobody's


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    return stand("release_lines")


def kept() -> list[dict[str, Any]]:
    """What `runs --json` prints of each run, without a process."""
    data = list_or_explain(RunsRequest(run_id=None, view=View(as_json=True)), os.environ).data
    assert data is not None
    found: list[dict[str, Any]] = json.loads(data)["runs"]
    return found


def shown_of(run_id: str, view: View | None = None, save: Path | None = None) -> list[str]:
    """What `runs ID` shows, without a process."""
    shown = list_or_explain(RunsRequest(run_id=run_id, view=view or View(), save_bundle=save), os.environ)
    return ["".join(text for _, text in line) for line in shown.lines]


def told(done: Done) -> list[str]:
    assert (done.code, done.err) == (0, "")
    return done.out.decode().splitlines()


def test_each_run_is_kept_with_its_outcome_and_explained_again(lines: Stand, home: Path, tmp_path: Path) -> None:
    clone, state = lines.clone.path, tmp_path / "state.json"
    decision = resolve(clone, *ASKED)
    assert base_branch("resolve", clone, *ASKED).code == 3
    assert base_branch("choose", "develop", clone, "--state", state, *ASKED).code == 0
    assert base_branch("resolve", clone, "--base", "nope").code == 2
    assert base_branch("resolve", clone, "--remote", "nope", "--autopilot").code == 5
    found = kept()
    keys = ("command", "exitCode", "branch", "source", "issue", "facts", "repository")
    assert [tuple(run[key] for key in keys) for run in found] == [
        ("resolve", 5, None, None, None, "none", "clone"),
        ("resolve", 2, None, None, None, "kept", "app"),
        ("choose", 0, "develop", "asked", "8.4.0", "kept", "app"),
        ("resolve", 3, None, None, "8.4.0", "kept", "app"),
        ("resolve", 0, "release/8.4.0", "derived", "8.4.0", "kept", "app"),
    ]
    assert found[1]["fault"] == "--base: origin of app has no branch nope"
    assert {(run["folder"], run["version"], run["fetchStatus"]) for run in found[-1:]} == {
        (str(clone), __version__, "fresh")
    }
    assert (home / "state" / "base-branch" / "runs").is_dir()

    listed = base_branch("runs", "--json")
    jsonschema.validate(listed.json(), schema_of("runs"))
    assert listed.json()["runs"] == found
    first, failed = found[-1]["id"], found[0]["id"]
    again = told(base_branch("runs", first))
    assert again[1:4] == ["  answered  release/8.4.0 (derived, fresh)", "", "Work for 8.4.0 belongs on release/8.4.0"]
    assert any(line.startswith("  remote      answered in ") for line in again)
    assert again[-2:] == ["What this kept run cannot tell", "  what has changed since"]
    assert shown_of(failed)[1:] == [
        "  failed    there is no remote named 'nope'",
        "",
        "It ended before anything was ranked.",
    ]
    whole = base_branch("runs", first, "--json").json()
    jsonschema.validate(whole, schema_of("run"))
    assert whole["decision"] == decision
    table = told(base_branch("runs"))
    assert table[0].split() == ["id", "time", "(UTC)", "repository", "issue", "branch", "source", "exit"]
    assert table[5].split()[0] == first
    assert table[5].split()[3:] == ["app", "8.4.0", "release/8.4.0", "derived", "0"]


def test_two_kept_runs_are_written_out_and_compared(lines: Stand, tmp_path: Path) -> None:
    clone = lines.clone.path
    resolve(clone, *ASKED)
    resolve(clone, "--issue-version", "8.3.0")
    new, old = (run["id"] for run in kept())
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    told(base_branch("runs", old, "--save-bundle", one))
    shown_of(new, View(why="develop"), other)
    compared = told(base_branch("diff", one, other))
    assert compared[0] == "The answer was release/8.4.0 (derived); it is release/8.3.0 (derived)."
    assert shown_of(new[:5], View(why_not="main"))[0].startswith("main is number 3 of 5 candidates")
    assert told(base_branch("runs", new, "--markdown"))[0].startswith("**Base branch:** `release/8.3.0`")


def test_a_replay_and_an_explanation_keep_nothing(lines: Stand, tmp_path: Path) -> None:
    file = tmp_path / "b.json"
    assert base_branch("collect", lines.clone.path, "--save-bundle", file).code == 0
    assert base_branch("resolve", "--bundle", file, "--autopilot").code == 0
    assert base_branch("explain", lines.clone.path).code == 0
    assert kept() == []
    (line,) = list_or_explain(RunsRequest(run_id=None, view=View()), os.environ).lines
    assert line[0][1].startswith("No run is kept in ")


def test_several_repositories_are_a_run_each_the_main_one_first(lines: Stand, tmp_path: Path) -> None:
    other = tmp_path / "other"
    lines.clone.git("clone", "--quiet", str(lines.remote.path), str(other))
    assert base_branch("resolve", lines.clone.path, other, "--autopilot", *ASKED).code == 0
    assert [run["folder"] for run in kept()] == [str(lines.clone.path), str(other)]


def test_the_user_says_how_many_and_none_at_all(lines: Stand, home: Path) -> None:
    config = home / "config" / "base-branch" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[runs]\nkeep = 2\n", encoding="utf-8")
    for environ in ({"BASE_BRANCH_RUNS_KEEP": "0"}, {}, {}, {}):
        resolve(lines.clone.path, environ=environ)
    assert len(kept()) == 2
    (lines.clone.path / ".base-branch.toml").write_text("[runs]\nkeep = 1\n", encoding="utf-8")
    refused = base_branch("resolve", lines.clone.path, "--autopilot")
    assert (refused.code, "runs.keep: a repository's file may not set this" in refused.err) == (2, True)
    cleared = base_branch("runs", "--clear")
    assert (cleared.code, cleared.out, cleared.err) == (0, b"", "base-branch: 2 kept runs were removed\n")
    assert kept() == []


def test_a_run_that_cannot_be_kept_is_said_once_and_changes_nothing(lines: Stand, tmp_path: Path) -> None:
    good = base_branch("resolve", lines.clone.path, "--autopilot", *ASKED)
    (tmp_path / "file").write_bytes(b"")
    environ = {"BASE_BRANCH_RUNS_FOLDER": str(tmp_path / "file" / "runs")}
    done = base_branch("resolve", lines.clone.path, "--autopilot", *ASKED, environ=environ)
    assert (done.code, len(done.err.splitlines())) == (good.code, 1)
    assert done.err.startswith(f"base-branch: this run is not kept: {tmp_path}/file/runs/run-")
    assert "cannot be written: not a directory" in done.err
    assert done.err.endswith("set BASE_BRANCH_RUNS_FOLDER to another folder, or BASE_BRANCH_RUNS_KEEP to 0\n")
    same = ("baseBranch", "baseRef", "baseCommit", "baseBranchSource", "baseFetchStatus", "trail")
    assert [done.json()[key] for key in same] == [good.json()[key] for key in same]


def test_a_disk_that_takes_no_byte_is_no_fault_of_the_run(lines: Stand, home: Path) -> None:
    command = [*COMMAND, "resolve", lines.clone.path, "--autopilot", "--refresh", "none", *ASKED]
    full = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *map(str, command)]
    ran = subprocess.run(full, capture_output=True, env=environment(), check=False)
    assert (ran.returncode, json.loads(ran.stdout)["baseBranch"]) == (0, "release/8.4.0")
    said = ran.stderr.decode().splitlines()
    assert len(said) == 1
    assert "this run is not kept: " in said[0]
    assert "file too large" in said[0]
    assert list((home / "state" / "base-branch" / "runs").iterdir()) == []


def test_what_fails_after_the_answer_is_how_the_run_ended(lines: Stand, tmp_path: Path) -> None:
    stage, nowhere = tmp_path / "stage.json", tmp_path / "stage.json" / "result.json"
    stage.write_text("{}", encoding="utf-8")
    factory = ("--factory", "--stage", stage, "--result", nowhere, *ASKED)
    assert base_branch("resolve", lines.clone.path, *factory).code == 5
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        command = [*COMMAND, "resolve", str(lines.clone.path), "--autopilot", *ASKED]
        assert (
            subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False).returncode == 1
        )
    disk, result = kept()
    assert (disk["exitCode"], disk["branch"]) == (1, "release/8.4.0")
    assert disk["fault"] == "standard output cannot be written: no space left on device"
    assert (result["exitCode"], result["branch"]) == (5, "release/8.4.0")
    assert "result.json cannot be written" in result["fault"]


def test_a_run_in_a_folder_whose_name_is_no_utf_8_is_kept(lines: Stand, tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    lines.clone.path.rename(folder)
    environ = {"XDG_STATE_HOME": str(folder)}
    done = base_branch("resolve", folder, "--autopilot", *ASKED, environ=environ)
    assert (done.code, done.err) == (0, "")
    listed = base_branch("runs", "--json", environ=environ).json()
    assert listed["folder"] == rf"{tmp_path}/caf\xe9/base-branch/runs"
    assert [run["folder"] for run in listed["runs"]] == [rf"{tmp_path}/caf\xe9"]


def test_of_much_that_was_asked_the_list_has_the_beginning(lines: Stand) -> None:
    resolve(
        lines.clone.path,
        "--refresh",
        "none",
        "--issue-optional",
        "--issue-version",
        "8.4.0",
        "--issue-version",
        "x" * 70_000,
    )
    [run] = kept()
    assert run["issue"].startswith("8.4.0, xxx")
    assert len(run["issue"]) == 120


def test_a_run_is_called_by_the_name_of_its_file(lines: Stand, home: Path) -> None:
    resolve(lines.clone.path)
    (file,) = (home / "state" / "base-branch" / "runs").iterdir()
    file.with_name("run-20260101T000000000000Z-c0c0c0.gz").write_bytes(file.read_bytes())
    assert [run["id"] for run in kept()] == [file.name[-9:-3], "c0c0c0"]
    data = list_or_explain(RunsRequest(run_id="c0", view=View(as_json=True)), os.environ).data
    assert data is not None
    assert json.loads(data)["outcome"]["id"] == "c0c0c0"


def test_no_token_is_kept(lines: Stand, home: Path) -> None:
    lines.serve_as(f"http://ada:{TOKEN}@127.0.0.1:1/acme/app.git")
    names = ("GH_TOKEN", "GITHUB_TOKEN", "JIRA_TOKEN", "GH_ENTERPRISE_TOKEN")
    environ = dict.fromkeys(names, TOKEN) | {"JIRA_URL": f"http://ada:{TOKEN}@127.0.0.1:1", "JIRA_EMAIL": "a@b.c"}
    asked = ("--autopilot", "--on-fetch-failure", "cached")
    assert base_branch("resolve", lines.clone.path, *asked, "--issue", "APP-1", environ=environ).code == 6
    assert base_branch("resolve", lines.clone.path, *asked, *ASKED, environ=environ).code == 0
    wrong = f"https://ada:{TOKEN}@acme.example/app.git"
    assert base_branch("resolve", lines.clone.path, *asked, "--base", wrong, environ=environ).code == 4
    files = sorted((home / "state" / "base-branch" / "runs").iterdir())
    texts = [zlib.decompress(file.read_bytes(), 31) for file in files]
    assert [b"http://***@127.0.0.1:1/acme/app.git" in text for text in texts] == [True, True, True]
    assert [TOKEN.encode() in text for text in texts] == [False, False, False]


def test_a_run_that_is_ended_from_outside_is_kept_too(lines: Stand, tmp_path: Path) -> None:
    with silent_listener() as port:
        url = f"http://{HOST}:{port}/ended.git"
        lines.serve_as(url)
        child = start("resolve", lines.clone.path, "--autopilot")
        while not children_that_mention(url):
            assert child.poll() is None
        child.terminate()
        child.communicate()
    [run] = kept()
    assert (run["exitCode"], run["fault"]) == (130, "interrupted")
    assert shown_of(run["id"])[-1] == "It ended before anything was ranked."
    for view in (View(html=tmp_path / "page.html"), View(markdown=True), View(mermaid=True)):
        with pytest.raises(InvalidInput, match=r"--(html|markdown|mermaid): the run .* has no evidence to write"):
            shown_of(run["id"], view)
    assert not (tmp_path / "page.html").exists()


def test_more_facts_than_the_ring_takes_leave_the_decision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = facts("main release/8.3.0 release/8.4.0", issue=wants(("8.4.0",)))
    monkeypatch.setattr("candidates.runs.kept.LARGEST_LINE", 10)
    decision = decide(recollected(found), Policy(autonomy="full", replay=True))[0]
    outcome = Outcome(
        id="", at=found.now, command="resolve", repository="acme/app", folder="/x", exit_code=0, version="0.0.1"
    )
    keep_run(os.environ, KeptRun(outcome=outcome, decision=decision, bundle=found), datetime.now(UTC), 20)
    (run,) = kept()
    assert run["facts"] == "too-many"
    said = shown_of(run["id"])
    assert said[1:3] == [
        "  its facts were too many for the ring: the decision alone is kept",
        f"  by version 0.0.1; ranked again below by {__version__}",
    ]
    assert "What this decision cannot tell" in said
    with pytest.raises(InvalidInput, match=f"the run {run['id']} has no bundle: its facts were too many"):
        shown_of(run["id"], save=tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


ALL = View()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (RunsRequest(run_id="zz", view=ALL), "ID: there is no kept run 'zz' in "),
        (RunsRequest(run_id="", view=ALL), "ID: there is no kept run '' in "),
        (RunsRequest(run_id=None, view=View(why="main")), "ID: --why: of which run?"),
        (RunsRequest(run_id=None, view=View(as_json=True), clear=True), "--clear: it goes with nothing else"),
        (RunsRequest(run_id="abc", view=ALL, clear=True), "--clear: it goes with nothing else"),
    ],
)
def test_what_cannot_be_shown_is_said(asked: RunsRequest, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        list_or_explain(asked, os.environ)
    assert str(caught.value).startswith(said)


def test_what_is_of_another_version_is_counted_and_named(lines: Stand, home: Path) -> None:
    resolve(lines.clone.path)
    folder = home / "state" / "base-branch" / "runs"
    for number, head in enumerate((b'{"id": "00000a", "zip": 1}', b"\xff")):
        text = b"\n".join((head, b"null", b"null", b""))
        (folder / f"run-20260101T00000000000{number}Z-00000a.gz").write_bytes(zlib.compress(text, 1, 31))
    listed = list_or_explain(RunsRequest(run_id=None, view=ALL), os.environ)
    assert len(listed.lines) == 2
    assert listed.notices[0].startswith(f"no runs that version {__version__} can read, in {folder}: 2 files; ")
    for run_id in ("00000a", "0"):
        with pytest.raises(InvalidInput):
            shown_of(run_id)
    (file,) = [p for p in folder.iterdir() if "00000a" not in p.name]
    whole = zlib.decompress(file.read_bytes(), 31).split(b"\n")
    assert [json.loads(line)["schema"] for line in whole[1:3]] == ["base-branch/decision@1", "base-branch/bundle@1"]
    file.write_bytes(zlib.compress(b"\n".join((whole[0], b"{}", b"null", b"")), 1, 31))
    with pytest.raises(InvalidInput, match=r"cannot be read: repository: a required field .* \(in its decision\)"):
        shown_of(json.loads(whole[0])["id"])


def test_the_command_that_shows_a_damaged_file_can_be_typed_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "my runs"
    folder.mkdir()
    file = folder / "run-20260101T000000000000Z-00000a.gz"
    file.write_bytes(b"")
    with pytest.raises(InvalidInput) as caught:
        list_or_explain(RunsRequest(run_id="00000a", view=ALL), {"BASE_BRANCH_RUNS_FOLDER": str(folder)})
    assert caught.value.hint == f"zcat '{file}'"


def test_a_kept_run_is_written_as_a_page(lines: Stand, tmp_path: Path) -> None:
    resolve(lines.clone.path, *ASKED)
    [run] = kept()
    page = tmp_path / "run.html"
    done = base_branch("runs", run["id"], "--html", page)
    assert (done.code, done.out, done.err) == (0, b"", f"base-branch: the page is {page}\n")
    assert "release/8.4.0" in page.read_text()
    with pytest.raises(InvalidInput, match="--html: of which run"):
        list_or_explain(RunsRequest(run_id=None, view=View(html=page)), os.environ)
