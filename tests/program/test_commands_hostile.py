"""Whole commands against names made to harm, secrets in URLs, interruptions and readers that leave."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import needs_proc
from tests.support.program import (
    COMMAND,
    base_branch,
    children_that_mention,
    environment,
    names,
    resolve,
    settled,
    start,
)
from tests.support.servers import HOST, breaking_listener, http_answering, http_backend, refusing_port, silent_listener

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand, Workshop
    from tests.support.servers import HttpSite


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    """Release branches named for whole versions, cut from develop; the server's default is main."""
    return stand("release_lines")


# --- names ---

BIDI = "release/9.0.0\u202e"
ZERO_WIDTH = "release/9.1.0\u200b"
C1 = "release/9.2.0\x9b31m"
OPTION = "--upload-pack=pwned"
HOSTILE = [OPTION, "-x", "HEAD", BIDI, ZERO_WIDTH, C1]


@pytest.fixture
def hostile(lines: Stand) -> Stand:
    """The remote advertises names that git's own commands refuse to make, but serve and fetch."""
    tip = lines.remote.oid("develop").encode() + b"\n"
    for name in [*(name.encode() for name in HOSTILE), b"release/9.3.0\xff"]:
        path = os.fsencode(lines.remote.path) + b"/refs/heads/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - bytes
        with open(path, "wb") as file:  # noqa: PTH123 - likewise
            file.write(tip)
    return lines


@pytest.mark.parametrize("fetched", [False, True])
def test_hostile_names_are_never_chosen_or_listed(hostile: Stand, *, fetched: bool) -> None:
    if fetched:  # then this clone's cache holds them too
        hostile.clone.git("fetch", "--quiet")
    before = raw_refs(hostile)
    versions = [f"--issue-version={version}" for version in ("9.0.0", "9.1.0", "9.2.0", "9.3.0")]
    decision = resolve(hostile.clone.path, *versions, cwd=hostile.clone.path)
    assert settled(decision)[::3] == ("develop", "default")
    assert names(decision) == ["develop", "main", "release/8.4.0", "release/8.3.0", "release/8.2.0"]
    assert not (hostile.clone.path / "pwned").exists()
    assert raw_refs(hostile) == before
    note = next(n for n in decision["baseBranchEvidence"]["notes"] if n.startswith("never an answer"))
    shown = ["--upload-pack=pwned", "-x", "release/9.0.0\\u202e", "release/9.1.0\\u200b", "release/9.2.0\\x9b31m"]
    assert note.replace("'", "").endswith(f"6: {', '.join(shown)}, ...")


def raw_refs(stand: Stand) -> bytes:
    """All refs of the clone; not all of them are text."""
    return subprocess.run(["git", "for-each-ref"], cwd=stand.clone.path, capture_output=True, check=True).stdout


def test_hostile_names_from_the_cache_alone(hostile: Stand) -> None:
    hostile.clone.git("fetch", "--quiet")
    hostile.take_the_remote_away()
    decision = resolve(hostile.clone.path, "--issue-version", "9.0.0")
    assert settled(decision)[::4] == ("develop", "cached-stale")
    assert not set(HOSTILE) & set(names(decision))


@pytest.mark.parametrize("name", [OPTION, "HEAD", BIDI])
def test_a_hostile_default_branch_is_no_answer(hostile: Stand, name: str) -> None:
    (hostile.remote.path / "HEAD").write_text(f"ref: refs/heads/{name}\n", encoding="utf-8")
    for gone in ("develop", "main"):
        hostile.remote.git("update-ref", "-d", f"refs/heads/{gone}")
    decision = resolve(hostile.clone.path)
    assert settled(decision)[::3] == ("release/8.4.0", "default")


@pytest.mark.parametrize("name", ["--orphan", "main\u202e", "main\n"])
def test_a_hostile_memory_is_no_answer(lines: Stand, tmp_path: Path, name: str) -> None:
    store = tmp_path / "memory.json"
    choice = {"projectKey": "app", "branch": name, "lastUsed": "2999-01-01T00:00:00Z"}
    store.write_text(json.dumps({"global": {"recentBranches": [choice]}}))
    decision = resolve(lines.clone.path, environ={"BASE_BRANCH_PREFERENCES": str(store)})
    assert settled(decision)[::3] == ("develop", "default")
    assert "global.recentBranches[0].branch: " in decision["trail"][0]["reason"]


@pytest.mark.parametrize("name", ["--upload-pack=touch pwned"])
def test_a_remote_whose_name_is_an_option_is_never_asked(lines: Stand, name: str) -> None:
    lines.clone.git("remote", "remove", "origin")
    lines.clone.git("config", f"remote.{name}.url", str(lines.remote.path))
    lines.clone.git("config", "remote.pushDefault", name)
    decision = resolve(lines.clone.path, cwd=lines.clone.path)
    assert decision["remote"] is None
    assert not (lines.clone.path / "pwned").exists()


def test_a_hostile_version_label_is_shown_as_text_and_yields_nothing(lines: Stand) -> None:
    label = "\x1b[31m8.4.0\x1b[0m $(touch pwned) \u202e"
    done = base_branch("resolve", lines.clone.path, "--autopilot", "--issue-version", label, cwd=lines.clone.path)
    assert b"\x1b" not in done.out
    assert not (lines.clone.path / "pwned").exists()
    told = base_branch("explain", lines.clone.path, "--issue-version", label)
    assert told.code == 0
    assert b"\x1b" not in told.out
    assert "\u202e" not in told.out.decode()


@pytest.mark.parametrize("remotes", [(), ("left", "right")])
def test_a_folder_whose_name_is_no_text_still_gives_json(
    workshop: Workshop, tmp_path: Path, remotes: tuple[str, ...]
) -> None:
    repo = workshop.init("plain")
    for name in remotes:
        repo.git("remote", "add", name, str(tmp_path / "nowhere"))
    odd = tmp_path / os.fsdecode(b"re\xffpo")
    repo.path.rename(odd)
    decision = resolve(odd, code=3 if remotes else 0)
    assert decision["repository"] == "re\\xffpo"


@pytest.mark.parametrize("command", ["probe", "recheck"])
def test_the_question_for_the_remote_names_such_a_folder_too(workshop: Workshop, tmp_path: Path, command: str) -> None:
    repo, odd, state = workshop.init("plain"), tmp_path / os.fsdecode(b"re\xffpo"), tmp_path / "state.json"
    for name in ("left", "right"):
        repo.git("remote", "add", name, str(tmp_path / "nowhere"))
    repo.path.rename(odd)
    state.write_text('{"baseBranch": "main", "branch": "work"}')
    more = ("main", odd) if command == "probe" else (odd, "--state", state)
    done = base_branch(command, *more, "--json")
    assert (done.code, done.json()["repository"]) == (3, "re\\xffpo")
    assert "not kept" not in base_branch("resolve", odd).err


# --- secrets ---

SECRET = "s3cr3t-T0ken"  # noqa: S105 - what must not be seen


@pytest.mark.parametrize(
    ("outcome", "userinfo"),
    [
        ("answered", f"ada:{SECRET}"),
        ("answered", SECRET),
        ("unauthorised", f"ada:{SECRET}"),
        ("unauthorised", SECRET),
        ("refused", f"ada:{SECRET}"),
        ("refused", SECRET),
        ("broken", f"x-access-token:{SECRET}"),
        ("silent", f"x-access-token:{SECRET}"),
        ("no git", f"x-access-token:{SECRET}"),
    ],
)
def test_credentials_never_appear(lines: Stand, outcome: str, userinfo: str) -> None:
    user, _, password = userinfo.rpartition(":")
    root = lines.remote.path.parent.parent
    server: AbstractContextManager[HttpSite] | None = None
    match outcome:
        case "answered":
            server = http_backend(root, credentials=(user, password) if user else (password, ""))
        case "unauthorised":
            server = http_backend(root, credentials=("somebody", "else"))
        case "broken":
            server = http_answering(500, f"failed for {userinfo}")
        case _:
            pass
    if server is not None:
        with server as site:
            assert_no_secret(lines, site.url("acme/app.git", userinfo=userinfo), outcome)
    elif outcome == "silent":
        with silent_listener() as port:
            assert_no_secret(lines, f"http://{userinfo}@{HOST}:{port}/acme/app.git", outcome)
    else:
        with refusing_port() as port:
            assert_no_secret(lines, f"http://{userinfo}@{HOST}:{port}/acme/app.git", outcome)


def assert_no_secret(stand: Stand, url: str, outcome: str) -> None:
    stand.serve_as(url)
    states = set()
    for command in ("resolve", "explain") if outcome in {"answered", "broken"} else ("resolve",):
        environ = {"BASE_BRANCH_DEBUG": "1"} | ({"PATH": "/nowhere"} if outcome == "no git" else {})
        done = base_branch(
            command, stand.clone.path, "--timeout", "0.5" if outcome == "silent" else "20", environ=environ
        )
        assert SECRET not in done.out.decode() + done.err
        if command == "resolve" and done.out:
            states.add(done.json()["sources"][0]["kind"])
            assert done.json()["remote"]["url"].startswith("http://***@")
    kinds = {
        "answered": {None},
        "unauthorised": {"auth-refused" if f":{SECRET}@" in url else "auth-wanted"},
        "refused": {"refused"},
        "silent": {"timed-out"},
        "broken": {"protocol"},
        "no git": set(),
    }
    assert states == kinds[outcome]


def test_credentials_that_a_rewritten_url_brings_in_never_appear(lines: Stand) -> None:
    with http_backend(lines.remote.path.parent.parent, credentials=("ada", SECRET)) as site:
        lines.serve_as("work:acme/app.git")
        lines.clone.git("config", f"url.{site.url('', userinfo=f'ada:{SECRET}')}.insteadOf", "work:")
        done = base_branch("resolve", lines.clone.path, "--autopilot", environ={"BASE_BRANCH_DEBUG": "1"})
        told = base_branch("explain", lines.clone.path)
    assert done.json()["baseFetchStatus"] == "fresh"
    assert SECRET not in done.out.decode() + done.err + told.out.decode() + told.err


def test_a_secret_in_a_wrong_remote_name_is_not_repeated(lines: Stand) -> None:
    name = f"https://ada:{SECRET}@example.com/acme/app.git"
    done = base_branch("resolve", lines.clone.path, "--remote", name, environ={"BASE_BRANCH_DEBUG": "1"})
    assert done.code == 5
    assert SECRET not in done.err


@pytest.mark.parametrize("words", [b"\x1b[31mHTTP/1.1 200 OK\r\n\r\n", b"\xff\xfe\x00" * 99])
def test_what_a_broken_server_says_reaches_no_screen_raw(lines: Stand, words: bytes) -> None:
    with breaking_listener(words) as port:
        lines.serve_as(f"http://{HOST}:{port}/acme/app.git")
        done = base_branch("explain", lines.clone.path)
    assert done.code == 0
    assert b"\x1b" not in done.out
    assert b"failed (" in done.out


# --- interruptions ---


@needs_proc
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_ends_with_130_and_leaves_no_child(lines: Stand, ending: signal.Signals) -> None:
    with socket.create_server((HOST, 0)) as listener:
        listener.settimeout(60)  # where the program ended without asking
        address = f"{HOST}:{listener.getsockname()[1]}"
        lines.serve_as(f"http://{address}/acme/app.git")
        with start("resolve", "--autopilot", "--timeout", "600", lines.clone.path) as running:
            # The question has reached the listener, which never says a word.
            line, _ = listener.accept()
            running.send_signal(ending)
            out, err = running.communicate()
        assert (running.returncode, out, err) == (130, b"", b"base-branch: interrupted\n")
        assert children_that_mention(address) == []
        line.close()


def test_an_ending_that_the_caller_ignores_stays_ignored() -> None:
    with start("rank", "--ndjson", ignoring=signal.SIGHUP) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(LINE)
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["chosen"] == "main"
        running.send_signal(signal.SIGHUP)
        running.stdin.write(LINE)
        running.stdin.close()
        assert json.loads(running.stdout.readline())["chosen"] == "main"
        assert running.wait() == 0


def test_an_interrupted_rank() -> None:
    with start("rank", "--ndjson") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(LINE)
        running.stdin.flush()
        assert json.loads(running.stdout.readline())["chosen"] == "main"
        running.send_signal(signal.SIGINT)
        assert running.wait() == 130
        assert running.stderr is not None
        assert running.stderr.read() == b"base-branch: interrupted\n"


# --- streams that are not there ---

LINE = (
    b'{"schema": "base-branch/bundle@1", "now": "2026-11-30T09:00:00Z", "repository": {"name": "acme/app"}, '
    b'"refs": {"provenance": "remote", "complete": true, "branches": [{"name": "main"}]}}\n'
)
COMMANDS = ["resolve", "collect", "explain", "rank", "schema", "demo"]


def arguments_of(command: str, stand: Stand) -> list[str]:
    place = str(stand.clone.path)
    more = {"resolve": [place, "--autopilot"], "collect": [place], "explain": [place], "schema": ["bundle"]}
    return [*COMMAND, command, *more.get(command, [])]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_left_early_is_no_fault(lines: Stand, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        ran = subprocess.run(
            arguments_of(command, lines),
            input=LINE,
            stdout=gone,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("closed", "code", "said"), [(">&-", 0, b""), ("<&-", 2, b"base-branch: the bundle is empty\n")]
)
def test_closed_streams_are_empty_ones(closed: str, code: int, said: bytes) -> None:
    ran = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "rank"],
        input=LINE,
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (code, b"", said)


def test_without_standard_error_a_message_does_not_land_in_the_answer(tmp_path: Path) -> None:
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *COMMAND, "resolve", str(tmp_path)],
        stdout=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (5, b"")


@pytest.mark.parametrize("command", ["collect", "explain", "resolve", "rank"])
def test_a_full_disk_is_said(lines: Stand, command: str) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123 - a device
        ran = subprocess.run(
            arguments_of(command, lines),
            input=LINE,
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )
    said = b"base-branch: standard output cannot be written: no space left on device\n"
    assert (ran.returncode, ran.stderr) == (1, said)


def test_a_traceback_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    plain = base_branch("resolve", tmp_path)
    told = base_branch("resolve", tmp_path, environ={"BASE_BRANCH_DEBUG": "1"})
    assert "Traceback" not in plain.err
    assert told.err.startswith("Traceback")
    assert told.err.endswith(plain.err)
    assert (told.code, told.out) == (plain.code, plain.out) == (5, b"")
