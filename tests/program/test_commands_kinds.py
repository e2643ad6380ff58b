"""Every kind of repository that git opens, through the program; what is said of a clone that fell behind."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.program import base_branch, names, resolve, settled, source

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.program import Answer
    from tests.support.repositories import MakeStand, Repo, Stand, Workshop


@pytest.fixture
def stale(stand: MakeStand) -> Stand:
    """The remote went on after the clone: release/1.9 deleted, release/1.10 cut, v1.10.0 tagged, main moved."""
    return stand("moved_on")


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    """Release branches named for whole versions, cut from develop; the server's default is main."""
    return stand("release_lines")


def notes(decision: Answer) -> list[str]:
    found = decision["baseBranchEvidence"]["notes"]
    assert isinstance(found, list)
    return found


def changed(clone: Repo, before: dict[str, str]) -> set[str]:
    return {name for name, oid in clone.refs().items() if before.get(name) != oid}


# --- kinds ---


def test_by_the_git_dir_of_the_environment(lines: Stand, tmp_path: Path) -> None:
    tip = lines.remote.oid("release/8.4.0")
    decision = resolve(tmp_path, "--issue-version", "8.4.0", environ={"GIT_DIR": str(lines.clone.path / ".git")})
    assert settled(decision)[1:] == ("refs/remotes/origin/release/8.4.0", tip, "derived", "fresh")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_repository_of_another_user(lines: Stand) -> None:
    foreign = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    os.chown(lines.clone.path, 12345, -1)
    os.chown(lines.clone.path / ".git", 12345, -1)
    refused = base_branch("resolve", lines.clone.path, "--autopilot", "--issue-version", "8.4.0")
    assert (refused.code, refused.out) == (5, b"")
    assert "belongs to another user" in refused.err
    assert f"git config --global --add safe.directory {lines.clone.path}" in refused.err
    trusted = resolve(lines.clone.path, "--issue-version", "8.4.0", environ=foreign)
    assert settled(trusted)[::4] == ("release/8.4.0", "fresh")


def test_a_remote_of_another_user_is_a_failure_of_its_own_kind(lines: Stand, tmp_path: Path) -> None:
    real = shutil.which("git")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    foreign = 'case " $* " in *" ls-remote "*) export GIT_TEST_ASSUME_DIFFERENT_OWNER=1;; esac'
    wrapper.write_text(f'#!/bin/sh\n{foreign}\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    lines.clone.git("config", "--global", "safe.directory", str(lines.clone.path))
    path = {"PATH": f"{wrapper.parent}:{os.environ['PATH']}"}
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0", environ=path)
    assert settled(decision)[::4] == ("release/8.4.0", "cached-stale")
    assert source(decision, "remote")["kind"] == "ownership"


# --- refspecs that keep branches elsewhere ---


@pytest.fixture
def elsewhere(lines: Stand, workshop: Workshop) -> Stand:
    """A clone whose fetches store the remote's branches under another name."""
    clone = workshop.clone(lines.remote, "elsewhere", "--config", "remote.origin.fetch=+refs/heads/*:refs/remotes/up/*")
    clone.git("config", "--replace-all", "remote.origin.fetch", "+refs/heads/*:refs/remotes/up/*")
    for name in [*clone.refs()]:
        if name.startswith("refs/remotes/origin/"):
            clone.git("update-ref", "--no-deref", "-d", name)
    clone.git("fetch", "--quiet")
    return type(lines)(lines.remote, clone)


def test_where_refspecs_keep_it_elsewhere_what_is_named_is_there(elsewhere: Stand) -> None:
    before = elsewhere.clone.refs()
    assert "refs/remotes/up/release/8.4.0" in before
    assert not any(name.startswith("refs/remotes/origin/") for name in before)
    bundle = base_branch("collect", elsewhere.clone.path, "--issue-version", "8.4.0", "--refresh", "probe").json()
    assert {b["cachedTip"] for b in bundle["refs"]["branches"]} == {None}
    assert elsewhere.clone.refs() == before
    decision = resolve(elsewhere.clone.path, "--issue-version", "8.4.0")
    tip = elsewhere.remote.oid("release/8.4.0")
    assert settled(decision) == ("release/8.4.0", "refs/remotes/origin/release/8.4.0", tip, "derived", "fresh")
    assert elsewhere.clone.oid("refs/remotes/origin/release/8.4.0") == tip
    assert before.items() <= elsewhere.clone.refs().items()


def test_a_ref_kept_elsewhere_never_serves_for_one_that_is_not_there(elsewhere: Stand) -> None:
    elsewhere.take_the_remote_away()
    decision = resolve(elsewhere.clone.path, "--issue-version", "8.4.0")
    here = elsewhere.clone.refs()
    named = {ref for c in decision["baseBranchEvidence"]["candidates"] for ref in c["refs"]}
    assert named <= here.keys()
    # The branch that the clone checked out is a local one, and all that is left.
    assert settled(decision) == ("main", "refs/heads/main", here["refs/heads/main"], "default", "local-branch")
    kept = [name.removeprefix("refs/remotes/up/") for name in here if name.startswith("refs/remotes/up/")]
    said = ", ".join(kept[:5]) + (", ..." if len(kept) > 5 else "")
    assert decision["log"][0][20:] == (
        f" kept at other refs by the fetch refspecs (refs/remotes/up/develop), so that none serves: {len(kept)}: {said}"
    )


def test_an_old_ref_at_the_usual_place_is_not_fresh_because_another_is(elsewhere: Stand) -> None:
    usual, old = "refs/remotes/origin/release/8.4.0", elsewhere.clone.oid("refs/remotes/up/release/8.4.0^")
    elsewhere.clone.git("update-ref", usual, old)
    assert elsewhere.clone.oid("refs/remotes/up/release/8.4.0") == elsewhere.remote.oid("release/8.4.0")
    probed = resolve(elsewhere.clone.path, "--issue-version", "8.4.0", "--refresh", "probe")
    assert settled(probed) == ("release/8.4.0", usual, old, "derived", "cached-stale")
    fetched = resolve(elsewhere.clone.path, "--issue-version", "8.4.0")
    tip = elsewhere.remote.oid("release/8.4.0")
    assert settled(fetched) == ("release/8.4.0", usual, tip, "derived", "fresh")
    assert elsewhere.clone.oid(usual) == tip


# --- what the three tips tell ---


def test_each_way_of_being_out_of_date_is_said(stale: Stand) -> None:
    clone, remote = stale.clone, stale.remote
    for name in ("1.0", "1.1", "1.2", "1.3"):
        remote.commit("cut", branch=f"release/{name}")
        clone.git("fetch", "--quiet", "--no-tags", "origin", f"release/{name}:refs/remotes/origin/release/{name}")
    clone.git("branch", "release/1.1", "refs/remotes/origin/release/1.1")
    clone.git("branch", "release/1.2", "refs/remotes/origin/release/1.2~1")
    clone.git("branch", "release/1.3", "refs/remotes/origin/release/1.3")
    for name in ("1.0", "1.1"):
        remote.commit("newer", branch=f"release/{name}")
    decision = resolve(clone.path, "--refresh", "probe")
    told = notes(decision)
    assert "moved on the remote since the last fetch: 3: main, release/1.0, release/1.1" in told
    assert "local branches behind the remote's: 2: main, release/1.1" in told
    assert "local branches not at the remote's commit (behind, ahead or both): 1: release/1.2" in told
    assert "known only from this clone, the remote does not have it: 1: release/1.9" in told


def test_nothing_is_said_of_branches_that_no_answer_could_name(stale: Stand) -> None:
    stale.remote.commit("work", branch="feature/x")
    stale.clone.git("fetch", "--quiet", "--no-tags")
    stale.remote.commit("more", branch="feature/x")
    stale.remote.commit("more", branch="release/1.10")
    told = notes(resolve(stale.clone.path, "--refresh", "probe"))
    assert "moved on the remote since the last fetch: 1: release/1.10" in told


@pytest.mark.parametrize("way", ["dangling", "outdated"])
def test_the_pointer_to_the_default_branch_that_is_wrong(lines: Stand, way: str) -> None:
    pointer = "refs/remotes/origin/HEAD"
    if way == "dangling":
        lines.clone.git("symbolic-ref", pointer, "refs/remotes/origin/gone")
    else:
        lines.remote.git("symbolic-ref", "HEAD", "refs/heads/develop")
    decision = resolve(lines.clone.path)
    mend = "mend it with: git remote set-head origin --auto"
    said = {
        "dangling": f"{pointer} points at gone, which is not here; {mend}",
        "outdated": f"{pointer} still says main; the remote's default is develop; {mend}",
    }
    assert [line[21:] for line in decision["log"]] == [said[way]]
    assert settled(decision)[0] == "develop"


def test_offline_a_single_branch_clone_says_what_it_covers(lines: Stand, workshop: Workshop) -> None:
    clone = workshop.clone(lines.remote, "single", "--single-branch", "--branch=main")
    lines.take_the_remote_away()
    decision = resolve(clone.path, "--issue-version", "8.4.0")
    assert settled(decision)[::3] == ("main", "default")
    assert (
        decision["log"][0][21:] == "the fetch refspecs of origin cover only refs/heads/main: the rest is unknown here"
    )
    assert any("a missing branch proves nothing" in note for note in notes(decision))


# --- a line whose name tells nothing, and whose releases are not here ---


@pytest.fixture
def birds(workshop: Workshop) -> Repo:
    """Lines by code name: stable/falcon carries 3.1.x, stable/osprey 3.2.x; main is at 4.0.0; work beside them."""
    remote = workshop.init("birds")
    for folder, version in (("falcon", "v3.1"), ("osprey", "v3.2")):
        remote.commit(f"cut {folder}", branch=f"stable/{folder}")
        remote.git("tag", f"{version}.0", f"stable/{folder}")
        remote.commit("fix", branch=f"stable/{folder}")
        remote.git("tag", f"{version}.1", f"stable/{folder}")
    remote.commit("more", branch="stable/osprey")
    remote.commit("four")
    remote.git("tag", "v4.0.0", "main")
    remote.commit("work", branch="feature/falcon-wings")
    remote.commit("on")
    return remote


@pytest.mark.parametrize(
    ("version", "line"), [("3.1.2", "stable/falcon"), ("3.2.2", "stable/osprey"), ("4.0.1", "main")]
)
def test_a_line_without_a_version_in_its_name_is_found_in_a_single_branch_clone(
    birds: Repo, workshop: Workshop, version: str, line: str
) -> None:
    clone = workshop.clone(birds.path.as_uri(), "clone", "--single-branch", "--branch=main", "--no-tags")
    before = clone.refs()
    decision = resolve(clone.path, "--issue-version", version)
    tip, ref = birds.oid(line), f"refs/remotes/origin/{line}"
    source_of = "default" if line == "main" else "derived"
    assert settled(decision) == (line, ref, tip, source_of, "fresh")
    looked = {f"refs/remotes/origin/stable/{bird}" for bird in ("falcon", "osprey")}
    assert changed(clone, before) == (set() if line == "main" else looked)


def test_where_nothing_may_be_fetched_the_release_stays_unseen_and_that_is_said(
    birds: Repo, workshop: Workshop
) -> None:
    clone = workshop.clone(birds.path.as_uri(), "clone", "--single-branch", "--branch=main", "--no-tags")
    before = clone.refs()
    decision = resolve(clone.path, "--issue-version", "3.1.2", "--refresh", "probe")
    assert settled(decision)[::3] == ("main", "default")
    assert any("nobody looked which branches carry v3.1.1" in note for note in notes(decision))
    assert clone.refs() == before


def test_the_branch_that_came_with_the_request_needs_no_look_at_the_lines(birds: Repo, workshop: Workshop) -> None:
    clone = workshop.clone(birds.path.as_uri(), "clone", "--single-branch", "--branch=main", "--no-tags")
    before = clone.refs()
    decision = resolve(clone.path, "--issue-version", "3.1.2", "--base", "stable/osprey")
    assert settled(decision)[::3] == ("stable/osprey", "input")
    assert changed(clone, before) == {"refs/remotes/origin/stable/osprey"}


def test_of_very_many_lines_a_bounded_number_is_brought_those_at_a_tag_first(birds: Repo, workshop: Workshop) -> None:
    for number in range(20):
        birds.commit("bird", branch=f"stable/bird-{number:02}")
    clone = workshop.clone(birds.path.as_uri(), "clone", "--single-branch", "--branch=main", "--no-tags")
    before = clone.refs()
    # falcon's tip is v3.1.1 itself, so it is looked at before all birds whose names come first.
    decision = resolve(clone.path, "--issue-version", "3.1.2")
    assert settled(decision)[::3] == ("stable/falcon", "derived")
    assert len(changed(clone, before)) == 8
    assert "stable/falcon" in names(decision)


# --- everything is wanted ---


def test_every_branch_is_brought_by_one_fetch_however_many_there_are(stand: MakeStand, workshop: Workshop) -> None:
    lines = stand("release_lines")
    clone = workshop.clone(lines.remote, "single", "--single-branch", "--branch=main")
    for number in range(60):
        lines.remote.git("branch", f"feature/{number}", "main")
    heads = ((name, oid) for name, oid in lines.remote.refs().items() if name.startswith("refs/heads/"))
    told = {name.replace("refs/heads/", "refs/remotes/origin/", 1): oid for name, oid in heads}
    ran = base_branch("-v", "resolve", clone.path, "--autopilot", "--issue-version", "8.4.0", "--refresh", "all")
    assert settled(ran.json())[::4] == ("release/8.4.0", "fresh")
    assert told.items() <= clone.refs().items()
    assert sum(" fetch --quiet" in line for line in ran.err.splitlines()) == 1
    assert sum(line.startswith("base-branch: git ") for line in ran.err.splitlines()) < 30


@pytest.mark.parametrize("refresh", ["needed", "all"])
def test_an_alias_that_the_fetch_itself_moves_is_not_fresh(stand: MakeStand, refresh: str) -> None:
    lines = stand("release_lines")
    alias = "refs/remotes/origin/release/8.4.0"
    tip = lines.remote.oid("release/8.4.0")
    lines.remote.git("update-ref", "refs/heads/main", tip)
    lines.clone.git("fetch", "--quiet")
    lines.clone.git("symbolic-ref", alias, "refs/remotes/origin/main")
    lines.remote.commit("newer", branch="main")
    lines.remote.commit("newer", branch="develop")
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0", "--refresh", refresh, code=4)
    assert settled(decision) == (None, None, None, None, "aborted")
    assert any(f"{alias} is a symref to refs/remotes/origin/main" in line for line in decision["log"])


def at_the_first_fetch(lines: Stand, folder: Path, what: str) -> None:
    """Have the remote do something when it is started a second time: the first time it lists."""
    wrapper, starts = folder / "upload-pack", folder / "starts"
    wrapper.write_text(
        f'#!/bin/sh\necho >> {starts}\n[ $(wc -l < {starts}) = 2 ] && {what}\nexec git-upload-pack "$@"\n'
    )
    wrapper.chmod(0o755)
    lines.clone.git("config", "remote.origin.uploadpack", str(wrapper))


@pytest.mark.parametrize("refresh", ["needed", "all"])
def test_what_moves_between_the_listing_and_the_fetch_is_fetched_once_and_is_not_fresh(
    stand: MakeStand, tmp_path: Path, refresh: str
) -> None:
    lines = stand("release_lines")
    lines.remote.commit("newer", branch="release/8.4.0" if refresh == "needed" else "release/8.3.0")
    later = lines.remote.commit("later", branch="release/8.4.0")
    lines.remote.git("update-ref", "refs/heads/release/8.4.0", f"{later}^")
    at_the_first_fetch(lines, tmp_path, f"git -C {lines.remote.path} update-ref refs/heads/release/8.4.0 {later}")
    options = ("--autopilot", "--issue-version", "8.4.0", "--refresh", refresh)
    ran = base_branch("-v", "resolve", lines.clone.path, *options)
    here = lines.clone.oid("refs/remotes/origin/release/8.4.0")
    assert settled(ran.json()) == (
        "release/8.4.0",
        "refs/remotes/origin/release/8.4.0",
        here,
        "derived",
        "cached-stale",
    )
    assert here == later
    assert sum(" fetch --quiet" in line for line in ran.err.splitlines()) == 1
    assert ran.json()["log"][0][20:] == " release/8.4.0 changed on origin after it was listed"


def test_what_came_is_not_said_to_have_been_left(stand: MakeStand) -> None:
    lines = stand("release_lines")
    for name in ("release/8.4.0", "taken/by", "main"):
        lines.remote.commit("newer", branch=name)
    lines.clone.git("update-ref", "refs/remotes/origin/taken", "refs/remotes/origin/main")
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0", "--refresh", "all")
    assert settled(decision)[::4] == ("release/8.4.0", "fresh")
    (said,) = decision["log"]
    assert said[20:].startswith(" taken/by could not be fetched: ")


def test_one_branch_that_cannot_come_keeps_no_other_back(stand: MakeStand) -> None:
    lines = stand("release_lines")
    for name in ("main", "develop", "release/8.4.0"):
        lines.remote.commit("newer", branch=name)
    alias = "refs/remotes/origin/develop"
    lines.clone.git("symbolic-ref", alias, "refs/remotes/origin/main")
    tip = lines.remote.oid("release/8.4.0")
    decision = resolve(lines.clone.path, "--issue-version", "8.4.0")
    assert settled(decision) == ("release/8.4.0", "refs/remotes/origin/release/8.4.0", tip, "derived", "fresh")
    (said,) = decision["log"]
    assert said[20:] == (f" develop could not be fetched: unknown: {alias} is a symref to refs/remotes/origin/main")


@pytest.mark.parametrize(("refresh", "fetches"), [("needed", 2), ("all", 2)])
def test_after_a_fetch_of_several_that_failed_the_chosen_branch_comes_alone(
    stand: MakeStand, tmp_path: Path, refresh: str, fetches: int
) -> None:
    lines = stand("release_lines")
    for name in ("main", "develop", "release/8.4.0"):
        lines.remote.commit("newer", branch=name)
    at_the_first_fetch(lines, tmp_path, "exit 1")
    tip = lines.remote.oid("release/8.4.0")
    ran = base_branch(
        "-v", "resolve", lines.clone.path, "--autopilot", "--issue-version", "8.4.0", "--refresh", refresh
    )
    decision = ran.json()
    assert settled(decision) == ("release/8.4.0", "refs/remotes/origin/release/8.4.0", tip, "derived", "fresh")
    assert sum(" fetch --quiet" in line for line in ran.err.splitlines()) == fetches
    assert not any("release/8.4.0" in line for line in decision["log"])
    assert any(" could not be fetched: " in line and "main" in line for line in decision["log"])


def test_a_fetch_that_takes_all_the_time_there_is_names_the_chosen_branch_first(
    stand: MakeStand, tmp_path: Path
) -> None:
    lines = stand("release_lines")
    for name in ("main", "develop", "release/8.4.0"):
        lines.remote.commit("newer", branch=name)
    at_the_first_fetch(lines, tmp_path, "sleep 60")
    options = ("--autopilot", "--issue-version", "8.4.0", "--refresh", "all", "--timeout", "3")
    ran = base_branch("-v", "resolve", lines.clone.path, *options)
    decision = ran.json()
    assert settled(decision)[::4] == ("release/8.4.0", "cached-stale")
    assert decision["log"][0][20:].startswith(" release/8.4.0, develop, main could not be fetched: timed-out: ")
    assert sum(" fetch --quiet" in line for line in ran.err.splitlines()) == 1
