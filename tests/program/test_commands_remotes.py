"""Whole commands over real transports and clones of every shape; what is fetched, and what never changes."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.processes import needs_proc
from tests.support.program import base_branch, children_that_mention, names, resolve, settled, source
from tests.support.repositories import Repo
from tests.support.servers import (
    HOST,
    HttpSite,
    _Backend,
    _HttpServer,
    _serving,
    git_daemon,
    http_backend,
    refusing_port,
    silent_listener,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.repositories import MakeStand, Stand, Workshop


@pytest.fixture
def stale(stand: MakeStand) -> Stand:
    """The remote went on after the clone: release/1.9 deleted, release/1.10 cut, v1.10.0 tagged, main moved."""
    return stand("moved_on")


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    """Release branches named for whole versions, cut from develop; the server's default is main."""
    return stand("release_lines")


@contextmanager
def served(stand: Stand, transport: str) -> Iterator[str]:
    """Serve the remote and let the clone look there; the URL."""
    root, path = stand.remote.path.parent.parent, "acme/app.git"
    match transport:
        case "http":
            with http_backend(root) as site:
                stand.serve_as(site.url(path))
                yield site.url(path)
        case "git":
            with git_daemon(root) as port:
                stand.serve_as(f"git://{HOST}:{port}/{path}")
                yield f"git://{HOST}:{port}/{path}"
        case _:
            stand.serve_as(stand.remote.path.as_uri())
            yield stand.remote.path.as_uri()


# --- a clone that fell behind ---


@pytest.mark.parametrize("transport", ["file", "http", "git"])
def test_a_stale_clone_ends_fresh_and_only_the_needed_ref_is_brought(stale: Stand, transport: str) -> None:
    before = stale.clone.refs()
    with served(stale, transport) as url:
        decision = resolve(stale.clone.path, "--issue-version", "1.10.1")
    tip = stale.remote.oid("release/1.10")
    assert settled(decision) == ("release/1.10", "refs/remotes/origin/release/1.10", tip, "derived", "fresh")
    assert stale.clone.refs() == before | {"refs/remotes/origin/release/1.10": tip}
    assert not (stale.clone.path / ".git" / "FETCH_HEAD").exists()
    assert decision["remote"]["url"] == url
    assert decision["log"] == []
    assert source(decision, "remote")["state"] == "answered"
    assert source(decision, "remote")["host"] == (None if transport == "file" else HOST)


def test_a_branch_that_moved_is_brought_to_the_advertised_commit(stale: Stand) -> None:
    before = stale.clone.refs()
    tip = stale.remote.oid("main")
    assert before["refs/remotes/origin/main"] != tip
    decision = resolve(stale.clone.path)
    assert settled(decision) == ("main", "refs/remotes/origin/main", tip, "default", "fresh")
    assert stale.clone.refs() == before | {"refs/remotes/origin/main": tip, "refs/remotes/origin/HEAD": tip}


def test_a_second_run_changes_nothing_and_says_the_same(stale: Stand) -> None:
    first = resolve(stale.clone.path, "--issue-version", "1.10.1")
    held = stale.clone.refs()
    second = resolve(stale.clone.path, "--issue-version", "1.10.1")
    assert stale.clone.refs() == held
    for answer in (first, second):
        del answer["sources"]
    assert first == second


@pytest.mark.parametrize("option", [("--issue-version", "1.9.1"), ("--issue-version", "1.9.0"), ()])
def test_a_branch_that_is_gone_from_the_remote_is_never_chosen(stale: Stand, option: tuple[str, ...]) -> None:
    # It is still in this clone, twice: as refs/remotes/origin/release/1.9 and as refs/heads/release/1.9.
    assert "refs/heads/release/1.9" in stale.clone.refs()
    decision = resolve(stale.clone.path, *option)
    assert settled(decision)[::3] == ("main", "default")
    assert "release/1.9" not in names(decision)
    assert (
        "known only from this clone, the remote does not have it: 1: release/1.9"
        in (decision["baseBranchEvidence"]["notes"])
    )
    assert "refs/remotes/origin/release/1.9" in stale.clone.refs()  # nothing is pruned


@pytest.mark.parametrize("version", [("--issue-version", "8.4.0"), ("--issue-version", "9.0.0"), ()])
def test_one_remote_gives_one_answer_whatever_this_clone_has_for_its_default(
    lines: Stand, version: tuple[str, ...]
) -> None:
    answers = []
    for pointer in ("main", "develop", None):
        lines.clone.git("remote", "set-head", "origin", *([pointer] if pointer else ["--delete"]))
        decision = resolve(lines.clone.path, *version)
        answers.append((settled(decision), decision["baseBranchEvidence"], decision["repository"]))
    assert answers[0] == answers[1] == answers[2]


def test_explain_fetches_nothing(stale: Stand) -> None:
    before = stale.clone.refs()
    done = base_branch("explain", stale.clone.path, "--issue-version", "1.10.1")
    assert done.code == 0
    assert stale.clone.refs() == before


def test_the_gone_branch_in_the_way_of_a_new_one_is_said(workshop: Workshop) -> None:
    remote = workshop.init("app.git", "--bare", commit=False)
    work = workshop.clone(remote, "work")
    work.commit()
    work.git("push", "--quiet", "origin", "HEAD:main", "HEAD:release")
    clone = workshop.clone(remote, "clone")
    work.git("push", "--quiet", "origin", ":release", "HEAD:release/1.0", "HEAD:release/1.1")
    decision = resolve(clone.path, "--issue-version", "1.0", code=4)
    assert settled(decision) == (None, None, None, None, "aborted")
    fetch, chosen = (line[20:] for line in decision["log"])
    assert fetch == (
        " release/1.0 could not be fetched: unknown: error: cannot lock ref 'refs/remotes/origin/release/1.0': "
        "'refs/remotes/origin/release' exists; cannot create 'refs/remotes/origin/release/1.0'"
    )
    assert chosen == " release/1.0 was chosen, but no ref of this clone holds it and it could not be fetched"


def test_of_two_branches_one_came_and_what_is_said_is_what_is_there(
    stale: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both are needed, to see which one lives; develop/old, gone from the remote, is in develop's way.
    stale.remote.commit("last of its kind", branch="develop")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2027-06-01T00:00:00+00:00")
    stale.remote.commit("a year later", branch="main")
    stale.clone.git("update-ref", "refs/remotes/origin/develop/old", "refs/remotes/origin/main")
    decision = resolve(stale.clone.path)
    tip = stale.remote.oid("main")
    assert stale.clone.oid("refs/remotes/origin/main") == tip
    assert settled(decision) == ("main", "refs/remotes/origin/main", tip, "default", "fresh")
    (said,) = decision["log"]
    assert said[20:].startswith(" develop could not be fetched: ")


def test_a_ref_that_came_although_the_fetch_failed_counts(stale: Stand, tmp_path: Path) -> None:
    # As where another run on the same clone was quicker.
    real = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\n{real} "$@"; code=$?\ncase " $* " in *" fetch "*) exit 1;; esac\nexit $code\n')
    wrapper.chmod(0o755)
    path = {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    decision = resolve(stale.clone.path, "--issue-version", "1.10.1", environ=path)
    tip = stale.remote.oid("release/1.10")
    assert settled(decision) == ("release/1.10", "refs/remotes/origin/release/1.10", tip, "derived", "fresh")


# --- a remote that does not answer ---


def test_the_remote_taken_away(lines: Stand) -> None:
    lines.take_the_remote_away()
    decision = resolve(lines.clone.path, "--issue-version", "8.3.1")
    tip = lines.clone.oid("refs/remotes/origin/release/8.3.0")
    assert settled(decision) == ("release/8.3.0", "refs/remotes/origin/release/8.3.0", tip, "derived", "cached-stale")
    evidence = decision["baseBranchEvidence"]
    assert evidence["refProvenance"] == "local"
    assert decision["listingComplete"] is False
    failed = source(decision, "remote")
    assert (failed["state"], failed["kind"]) == ("failed", "not-found")
    (said,) = decision["log"]
    assert said[:2] == "20"
    assert said[20:] == (
        f" release/8.3.0: cached-stale: refs/remotes/origin/release/8.3.0 serves at {tip}; "
        f"origin did not answer (not-found: {failed['detail']})"
    )
    assert any(note.startswith("the remote did not answer (not-found: ") for note in evidence["notes"])
    points = {e["detail"] for c in evidence["candidates"] for e in c["evidence"] if e["kind"] == "ref-provenance"}
    assert points == {"+1: known from this clone; the remote did not answer in this run"}


def test_a_refused_connection(lines: Stand) -> None:
    with refusing_port() as port:
        lines.serve_as(f"http://{HOST}:{port}/acme/app.git")
        decision = resolve(lines.clone.path, "--issue-version", "8.3.1")
    assert settled(decision)[::4] == ("release/8.3.0", "cached-stale")
    assert (source(decision, "remote")["kind"], source(decision, "remote")["host"]) == ("refused", HOST)


def test_a_local_branch_serves_where_nothing_else_does(lines: Stand) -> None:
    lines.clone.git("branch", "release/8.9.0", "refs/remotes/origin/develop")
    lines.take_the_remote_away()
    decision = resolve(lines.clone.path, "--issue-version", "8.9.0")
    tip = lines.clone.oid("refs/heads/release/8.9.0")
    assert settled(decision) == ("release/8.9.0", "refs/heads/release/8.9.0", tip, "derived", "local-branch")
    assert len(decision["log"]) == 1


@needs_proc
@pytest.mark.parametrize("scheme", ["http", "git"])
def test_a_silent_remote_is_answered_from_the_cache_and_no_child_is_left(lines: Stand, scheme: str) -> None:
    with silent_listener() as port:
        lines.serve_as(f"{scheme}://{HOST}:{port}/acme/app.git")
        # Without the limit this would never end: the listener says nothing for as long as the test runs.
        decision = resolve(lines.clone.path, "--issue-version", "8.3.1", "--timeout", "0.5")
        assert children_that_mention(f"{HOST}:{port}") == []
    assert settled(decision)[::3] == ("release/8.3.0", "derived")
    assert (decision["baseFetchStatus"], decision["baseBranchEvidence"]["refProvenance"]) == ("cached-stale", "local")
    assert source(decision, "remote")["kind"] == "timed-out"


class _Stalling(_Backend):
    """Answers what refs there are, and never sends an object."""

    released: threading.Event

    def do_POST(self) -> None:  # noqa: N802 - the base class's way
        body = self._body()
        if b"command=fetch" in body:
            self.released.wait()
            return
        self._body = lambda: body  # type: ignore[method-assign] # read already
        self._serve()


@contextmanager
def stalling(root: Path) -> Iterator[HttpSite]:
    released = threading.Event()
    handler = type("Stalling", (_Stalling,), {"root": root, "released": released})
    site = HttpSite(port=0)
    with _serving(_HttpServer(handler, site)):
        try:
            yield site
        finally:
            released.set()


@needs_proc
def test_a_remote_that_lists_and_never_sends(stale: Stand) -> None:
    before = stale.clone.refs()
    with stalling(stale.remote.path.parent.parent) as site:
        stale.serve_as(site.url("acme/app.git"))
        cached = resolve(stale.clone.path, "--timeout", "1")
        missing = resolve(stale.clone.path, "--timeout", "1", "--issue-version", "1.10.1", code=4)
        assert children_that_mention(site.url("")) == []
    assert stale.clone.refs() == before
    old = before["refs/remotes/origin/main"]
    assert settled(cached) == ("main", "refs/remotes/origin/main", old, "default", "cached-stale")
    assert cached["baseBranchEvidence"]["refProvenance"] == "remote"
    fetch, serves = cached["log"]
    assert fetch[20:].startswith(" main could not be fetched: timed-out: no answer within ")
    assert serves[20:] == (
        f" main: cached-stale: refs/remotes/origin/main serves at {old}; the advertised commit was not brought here"
    )
    assert settled(missing) == (None, None, None, None, "aborted")
    assert missing["log"][-1][20:] == (
        " release/1.10 was chosen, but no ref of this clone holds it and it could not be fetched"
    )


# --- clones of every shape ---

LINE = "refs/remotes/origin/release/8.3.0"


def shaped(stand: Stand, workshop: Workshop, *options: str) -> Repo:
    return workshop.clone(stand.remote.path.as_uri(), "shaped", *options)


@pytest.mark.parametrize(
    "options",
    [
        ("--single-branch", "--branch=main"),
        ("--single-branch", "--branch=main", "--no-tags"),
        ("--single-branch", "--branch=release/8.2.0"),
        ("--bare",),
        ("--mirror",),
        ("--no-checkout",),
        ("--filter=blob:none",),
    ],
    ids=" ".join,
)
def test_clones_that_hold_less_or_hold_it_elsewhere(lines: Stand, workshop: Workshop, options: tuple[str, ...]) -> None:
    clone = shaped(lines, workshop, *options)
    before = clone.refs()
    decision = resolve(clone.path, "--issue-version", "8.3.1")
    tip = lines.remote.oid("release/8.3.0")
    assert settled(decision) == ("release/8.3.0", LINE, tip, "derived", "fresh")
    changed = {name for name, oid in clone.refs().items() if before.get(name) != oid}
    contenders = {"refs/remotes/origin/develop", "refs/remotes/origin/main"}
    if "--branch=release/8.2.0" in options:  # neither main nor the lines are here: one of them carries v8.3.0
        contenders.add("refs/remotes/origin/release/8.4.0")
    assert changed - contenders <= {LINE}
    assert before.keys() <= clone.refs().keys()


def test_in_a_shallow_clone_no_topology_is_taken_for_true(lines: Stand, workshop: Workshop) -> None:
    clone = shaped(lines, workshop, "--depth=1", "--no-single-branch")
    by_lineage = resolve(clone.path, "--issue-version", "8.3.1")
    assert settled(by_lineage)[::3] == ("develop", "default")
    assert any("the clone is shallow" in line for line in by_lineage["log"])
    assert any("nobody looked" in note for note in by_lineage["baseBranchEvidence"]["notes"])
    by_name = resolve(clone.path, "--issue-version", "8.4.0")
    assert settled(by_name)[::2] == ("release/8.4.0", lines.remote.oid("release/8.4.0"), "fresh")


@pytest.mark.parametrize("where", ["worktree", "sub-folder", "detached", "inside .git"])
def test_wherever_in_the_repository_one_stands(lines: Stand, tmp_path: Path, where: str) -> None:
    folder = lines.clone.path
    match where:
        case "worktree":
            folder = tmp_path / "tree"
            lines.clone.git("worktree", "add", "--quiet", "-b", "work", str(folder))
        case "sub-folder":
            folder = folder / "some" / "where"
            folder.mkdir(parents=True)
        case "detached":
            lines.clone.git("checkout", "--quiet", "--detach")
        case _:
            folder = folder / ".git"
    decision = resolve(folder, "--issue-version", "8.3.1")
    assert settled(decision) == ("release/8.3.0", LINE, lines.remote.oid("release/8.3.0"), "derived", "fresh")
    assert decision["repository"] == "app"


def test_in_a_submodule_its_own_remote_is_asked(lines: Stand, workshop: Workshop) -> None:
    above = workshop.init("above")
    above.git("submodule", "--quiet", "add", str(lines.remote.path), "below")
    inside = resolve(above.path / "below", "--issue-version", "8.3.1")
    assert settled(inside)[::4] == ("release/8.3.0", "fresh")
    outside = resolve(above.path, "--issue-version", "8.3.1")
    assert outside["remote"] is None
    assert settled(outside)[::4] == ("main", "local-branch")


def test_sha256(stand: MakeStand) -> None:
    made = stand("release_lines:sha256")
    decision = resolve(made.clone.path, "--issue-version", "8.3.1")
    tip = made.remote.oid("release/8.3.0")
    assert len(tip) == 64
    assert settled(decision) == ("release/8.3.0", LINE, tip, "derived", "fresh")


def test_a_remote_whose_name_holds_a_slash(stale: Stand) -> None:
    stale.clone.git("remote", "rename", "origin", "team/up")
    # A neighbour whose tracking refs would lie below the same prefix.
    stale.clone.git("config", "remote.team.url", "/nowhere")
    decision = resolve(stale.clone.path, "--remote", "team/up", "--issue-version", "1.10.1")
    ref = "refs/remotes/team/up/release/1.10"
    assert settled(decision) == ("release/1.10", ref, stale.remote.oid("release/1.10"), "derived", "fresh")


def test_without_a_remote_the_own_branches_serve_and_nobody_claims_more(workshop: Workshop) -> None:
    repo = workshop.init("alone")
    tip = repo.commit("line", branch="release/1.0")
    decision = resolve(repo.path, "--issue-version", "1.0")
    assert settled(decision) == ("release/1.0", "refs/heads/release/1.0", tip, "derived", "local-branch")
    assert decision["remote"] is None
    assert decision["baseBranchEvidence"]["refProvenance"] == "local"
    assert (source(decision, "remote")["state"], source(decision, "remote")["kind"]) == ("not-asked", "no-remote")
    assert "there is no remote: these are this repository's own branches" in decision["baseBranchEvidence"]["notes"]


def test_without_a_commit_a_person_is_asked(workshop: Workshop) -> None:
    repo = workshop.init("nothing", commit=False)
    decision = resolve(repo.path, code=3)
    assert settled(decision) == (None, None, None, None, None)
    assert decision["baseBranchEvidence"]["candidates"] == []


def test_the_servers_new_default_beats_this_clones_old_knowledge(lines: Stand) -> None:
    lines.remote.git("branch", "trunk", "main")
    lines.remote.git("symbolic-ref", "HEAD", "refs/heads/trunk")
    for name in ("develop", "main"):
        lines.remote.git("branch", "-D", name)
    decision = resolve(lines.clone.path)
    assert settled(decision)[::3] == ("trunk", "default")
    assert lines.clone.git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"
    lines.take_the_remote_away()
    cached = resolve(lines.clone.path)
    assert cached["baseBranchEvidence"]["refProvenance"] == "local"
    assert any("last knowledge" in note for note in cached["baseBranchEvidence"]["notes"])


def test_a_development_branch_that_was_left_behind_is_seen_though_its_commits_are_not_here(
    stale: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This clone knows neither tip: the two dates that decide are read after both were brought.
    stale.remote.commit("last of its kind", branch="develop")
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2027-06-01T00:00:00+00:00")
    tip = stale.remote.commit("a year later", branch="main")
    before = stale.clone.refs()
    decision = resolve(stale.clone.path)
    assert settled(decision) == ("main", "refs/remotes/origin/main", tip, "default", "fresh")
    changed = {name for name, oid in stale.clone.refs().items() if before.get(name) != oid}
    assert changed == {f"refs/remotes/origin/{name}" for name in ("HEAD", "develop", "main")}
    notes = decision["baseBranchEvidence"]["notes"]
    assert "develop was left behind by main: 2026-01-02 against 2027-06-01" in notes
