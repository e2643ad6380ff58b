"""A fetch brings the branches that were asked for and changes nothing else, whatever is configured."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from collectors.errors import InvalidInput
from collectors.git.refs import fetch_all_branches, fetch_branches, find_symrefs
from collectors.process import Deadline
from ranking.facts import Failure
from tests.support.servers import HOST, http_backend, refusing_port, silent_listener

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.repositories import Repo, Workshop


def fetch(repo: Repo, *names: str, remote: str = "origin", seconds: float = 30) -> Failure | None:
    return fetch_branches(repo.port(), remote, names, Deadline(seconds))


def fetch_all(repo: Repo, remote: str = "origin") -> Failure | None:
    return fetch_all_branches(repo.port(), remote, Deadline(30))


def state(repo: Repo) -> tuple[dict[str, str], set[str], str]:
    """All refs, the files of the git folder but for objects and reflogs, and the configuration."""
    root = repo.path / ".git"
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    kept = {name for name in files if not name.startswith(("objects/", "logs/", "refs/"))}
    return repo.refs(), kept, (root / "config").read_text()


@pytest.fixture
def source(workshop: Workshop) -> Repo:
    """A repository with four branches and a tag."""
    repo = workshop.init("source")
    for name in ("develop", "release/1.2", "release/1.3"):
        repo.commit(name, branch=name)
    repo.git("tag", "--annotate", "--message=m", "v1", "release/1.2")
    return repo


@pytest.fixture
def clone(workshop: Workshop, source: Repo) -> Repo:
    """A clone that is behind on every branch, lacks one, and holds one that is gone on the remote."""
    clone = workshop.clone(source, "clone")
    for name in ("develop", "release/1.2", "release/1.3", "main"):
        source.commit("newer", branch=name)
    source.commit("new", branch="release/1.4")
    source.git("branch", "--delete", "--force", "develop")
    source.git("tag", "--annotate", "--message=m", "v2", "release/1.2")
    return clone


def test_only_what_was_asked_for_moves(clone: Repo, source: Repo) -> None:
    before = state(clone)
    assert fetch(clone, "release/1.2", "release/1.4") is None
    moved = {f"refs/remotes/origin/{name}": source.oid(name) for name in ("release/1.2", "release/1.4")}
    assert moved["refs/remotes/origin/release/1.2"] != before[0]["refs/remotes/origin/release/1.2"]
    assert state(clone) == (before[0] | moved, before[1], before[2])
    assert clone.git("fsck", "--connectivity-only", "--no-dangling") == ""


@pytest.mark.parametrize(("old", "new"), [("release/1", "release/1/x"), ("release/1/x", "release/1")])
def test_a_ref_in_the_way_is_a_kind_of_its_own_with_the_command_that_helps(
    clone: Repo, source: Repo, old: str, new: str
) -> None:
    clone.git("update-ref", f"refs/remotes/origin/{old}", "main")
    source.git("branch", new)
    failure = fetch(clone, new)
    assert failure is not None
    assert failure.kind == "ref-in-the-way"
    assert failure.detail.endswith("; what origin no longer has goes by: git remote prune origin")
    clone.git("remote", "prune", "origin")
    assert fetch(clone, new) is None


def test_the_refs_of_a_remote_that_lies_inside_another_are_left_alone(
    workshop: Workshop, clone: Repo, source: Repo
) -> None:
    other = workshop.init("other")
    clone.git("remote", "add", "origin/release", str(other.path))
    other.git("branch", "1.3")
    clone.git("fetch", "--quiet", "origin/release")
    theirs = clone.oid("refs/remotes/origin/release/1.3")
    remotes = ("origin", "origin/release", "original")
    failure = fetch_branches(clone.port(), "origin", ["release/1.3", "main"], Deadline(30), others=remotes)
    detail = "refs/remotes/origin/release/1.3 is a ref of the remote origin/release"
    assert failure == Failure(kind="ref-in-the-way", detail=detail)
    assert fetch_all_branches(clone.port(), "origin", Deadline(30), others=remotes) is None
    assert clone.oid("refs/remotes/origin/release/1.3") == theirs
    assert clone.oid("refs/remotes/origin/main") == source.oid("main")
    assert fetch_branches(clone.port(), "origin/release", ["main"], Deadline(30), others=remotes) is None
    assert clone.oid("refs/remotes/origin/release/main") == other.oid("main")


def test_a_rewound_branch_is_taken_as_it_is(clone: Repo, source: Repo) -> None:
    source.git("update-ref", "refs/heads/release/1.3", "main~1")
    assert fetch(clone, "release/1.3") is None
    assert clone.refs()["refs/remotes/origin/release/1.3"] == source.oid("main~1")


def test_no_configuration_widens_it(clone: Repo, source: Repo) -> None:
    for key, value in {
        "fetch.prune": "true",
        "fetch.pruneTags": "true",
        "fetch.writeCommitGraph": "true",
        "fetch.recurseSubmodules": "true",
        "fetch.all": "true",
        "gc.auto": "1",
        "maintenance.auto": "true",
        "remote.origin.prune": "true",
        "remote.origin.pruneTags": "true",
        "remote.origin.tagOpt": "--tags",
        "remote.origin.mirror": "true",
        "transfer.fsckObjects": "true",
    }.items():
        clone.git("config", key, value)
    # Would be updated along the way: a refspec that stores the same branch as a local one.
    clone.git("config", "--add", "remote.origin.fetch", "+refs/heads/*:refs/heads/copies/*")
    before = state(clone)
    assert fetch(clone, "release/1.2") is None
    moved = {"refs/remotes/origin/release/1.2": source.oid("release/1.2")}
    assert state(clone) == (before[0] | moved, before[1], before[2])
    assert list((clone.path / ".git" / "objects" / "info").glob("commit-graph*")) == []


def test_no_maintenance_runs(clone: Repo, source: Repo) -> None:
    for key, value in {"gc.autoPackLimit": "1", "gc.autoDetach": "false", "fetch.unpackLimit": "1"}.items():
        clone.git("config", key, value)
    packs = clone.path / ".git" / "objects" / "pack"
    for name in ("main", "release/1.2", "release/1.3"):
        source.commit("yet newer", branch=name)
        assert fetch(clone, name) is None
    assert len(list(packs.glob("*.pack"))) == 3
    clone.git("fetch", "--quiet")
    assert len(list(packs.glob("*.pack"))) == 1


def test_submodules_are_left_alone(workshop: Workshop) -> None:
    part, whole = workshop.init("part"), workshop.init("whole")
    whole.git("submodule", "--quiet", "add", str(part.path), "sub")
    whole.commit("with a part")
    clone = workshop.clone(whole, "clone", "--recurse-submodules")
    newer = part.commit("newer")
    whole.git("-C", "sub", "pull", "--quiet")
    whole.git("commit", "--quiet", "--all", "--message=moved")
    clone.git("config", "fetch.recurseSubmodules", "true")
    inner = type(clone)(clone.path / "sub")
    before = inner.refs()
    assert fetch(clone, "main") is None
    assert clone.refs()["refs/remotes/origin/main"] == whole.oid("main")
    assert inner.refs() == before
    clone.git("fetch", "--quiet", "origin")
    assert inner.refs()["refs/remotes/origin/main"] == newer


def test_no_hook_and_no_configured_command_runs(clone: Repo, source: Repo, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    hook = clone.path / ".git" / "hooks" / "reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {mark}\n", encoding="utf-8")
    hook.chmod(0o755)
    clone.git("config", "core.alternateRefsCommand", f"touch {mark}; true")
    other = tmp_path / "source" / ".git" / "objects"
    (clone.path / ".git" / "objects" / "info" / "alternates").write_text(f"{other}\n")
    assert fetch(clone, "release/1.2") is None
    assert clone.refs()["refs/remotes/origin/release/1.2"] == source.oid("release/1.2")
    assert not mark.exists()
    # Both would have run otherwise.
    clone.git("fetch", "--quiet", "origin", "+refs/heads/release/1.3:refs/remotes/origin/release/1.3")
    assert mark.exists()


def test_a_ref_that_leads_elsewhere_is_not_written_through(clone: Repo) -> None:
    clone.git("symbolic-ref", "refs/remotes/origin/release/1.2", "refs/heads/main")
    clone.git("symbolic-ref", "refs/remotes/origin/release/1.4", "refs/heads/made")  # dangling
    before = state(clone)
    for name, target in {"release/1.2": "main", "release/1.4": "made"}.items():
        assert fetch(clone, name) == Failure(
            kind="unknown", detail=f"refs/remotes/origin/{name} is a symref to refs/heads/{target}"
        )
    assert state(clone) == before


def test_a_ref_that_leads_elsewhere_keeps_no_other_back(clone: Repo, source: Repo) -> None:
    clone.git("symbolic-ref", "refs/remotes/origin/release/1.2", "refs/heads/main")
    before = clone.refs()
    detail = "refs/remotes/origin/release/1.2 is a symref to refs/heads/main"
    assert fetch(clone, "release/1.2", "release/1.3") == Failure(kind="unknown", detail=detail)
    assert clone.refs() == before | {"refs/remotes/origin/release/1.3": source.oid("release/1.3")}


def test_a_branch_that_is_gone_brings_nothing(clone: Repo) -> None:
    before = state(clone)
    assert fetch(clone, "release/1.2", "develop") == Failure(
        kind="not-found", detail="fatal: couldn't find remote ref refs/heads/develop"
    )
    assert state(clone) == before


def test_nothing_asked_for_is_nothing_done(clone: Repo) -> None:
    before = state(clone)
    assert fetch(clone) is None
    assert state(clone) == before


@pytest.mark.parametrize(
    "name",
    [
        "",
        "-x",
        "--upload-pack=touch x",
        "HEAD",
        "*",
        "release/*",
        "a:refs/heads/main",
        "a..b",
        "a b",
        "../../heads/main",
    ],
)
def test_names_that_could_mean_more_are_refused(clone: Repo, name: str) -> None:
    before = state(clone)
    with pytest.raises(InvalidInput, match="cannot be fetched"):
        fetch(clone, "release/1.2", name)
    assert state(clone) == before


@pytest.mark.parametrize("remote", ["-x", "--upload-pack=touch x", "../heads", "https://h/r", ""])
def test_remotes_that_could_mean_more_are_refused(clone: Repo, remote: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be fetched"):
        fetch(clone, "main", remote=remote)


def test_a_remote_with_a_slash_over_http(workshop: Workshop, source: Repo) -> None:
    bare = workshop.clone(source, "served.git", "--bare")
    with http_backend(workshop.folder) as site:
        clone = workshop.clone(site.url("served.git"), "clone", "--origin=team/up", "--single-branch")
        assert fetch(clone, "release/1.3", remote="team/up") is None
    assert clone.refs()["refs/remotes/team/up/release/1.3"] == bare.oid("release/1.3")
    assert "refs/remotes/team/up/develop" not in clone.refs()


def test_a_shallow_clone_stays_as_shallow(workshop: Workshop, source: Repo) -> None:
    source.commit("second")
    clone = workshop.clone(f"file://{source.path}", "shallow", "--depth=1", "--no-single-branch")
    newer = source.commit("third", branch="release/1.2")
    boundary = (clone.path / ".git" / "shallow").read_text()
    assert fetch(clone, "release/1.2") is None
    assert clone.refs()["refs/remotes/origin/release/1.2"] == newer
    assert (clone.path / ".git" / "shallow").read_text() == boundary
    assert clone.git("rev-list", "--count", "refs/remotes/origin/release/1.2") == "2"


def test_sha256(workshop: Workshop) -> None:
    source = workshop.init("s", "--object-format=sha256")
    clone = workshop.clone(source, "c")
    line = source.commit("line", branch="release/1.2")
    assert fetch(clone, "release/1.2") is None
    assert clone.refs()["refs/remotes/origin/release/1.2"] == line


def test_a_remote_that_does_not_answer(clone: Repo, source: Repo) -> None:
    before = clone.refs()
    with refusing_port() as port:
        clone.git("remote", "set-url", "origin", f"git://{HOST}:{port}/r")
        refused = fetch_branches(clone.port(), "origin", ["main"], Deadline(30), host=HOST)
    with silent_listener() as port:
        clone.git("remote", "set-url", "origin", f"http://{HOST}:{port}/r")
        silent = fetch_branches(clone.port(), "origin", ["main"], Deadline(0.3), host=HOST)
    assert refused is not None
    assert silent is not None
    assert (refused.kind, refused.host, silent.kind, silent.host) == ("refused", HOST, "timed-out", HOST)
    shutil.rmtree(source.path)
    clone.git("remote", "set-url", "origin", str(source.path))
    gone = fetch(clone, "main")
    assert gone == Failure(kind="not-found", detail=f"fatal: '{source.path}' does not appear to be a git repository")
    assert clone.refs() == before


# --- every branch ---


def test_every_branch_comes_and_nothing_else_moves(clone: Repo, source: Repo) -> None:
    clone.git("config", "fetch.prune", "true")
    clone.git("config", "remote.origin.tagOpt", "--tags")
    clone.git("config", "--add", "remote.origin.fetch", "+refs/heads/*:refs/heads/copies/*")
    before = state(clone)
    assert fetch_all(clone) is None
    names = ("main", "release/1.2", "release/1.3", "release/1.4")
    moved = {f"refs/remotes/origin/{name}": source.oid(name) for name in names}
    moved["refs/remotes/origin/HEAD"] = source.oid("main")  # a symref to origin/main
    assert state(clone) == (before[0] | moved, before[1], before[2])
    assert "refs/remotes/origin/develop" in before[0]  # gone on the remote, and not pruned


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_no_symref_is_written_through_when_every_branch_comes(workshop: Workshop, form: str) -> None:
    source = workshop.init("s", f"--object-format={form}")
    clone = workshop.clone(source, "c")
    for name in ("main", "release/1.2", "release/1.4", "last"):
        source.commit("newer", branch=name)
    source.git("update-ref", "refs/heads/HEAD", "main")  # its place is origin/HEAD, which leads to origin/main
    clone.git("symbolic-ref", "refs/remotes/origin/release/1.2", "refs/heads/main")
    clone.git("symbolic-ref", "refs/remotes/origin/release/1.4", "refs/heads/made")  # dangling
    clone.git("update-ref", "-d", "refs/remotes/origin/HEAD")
    clone.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/other")
    before = clone.refs()
    assert fetch_all(clone) is None
    assert clone.refs() == before | {f"refs/remotes/origin/{name}": source.oid(name) for name in ("main", "last")}
    for name, target in {"release/1.2": "main", "release/1.4": "made"}.items():
        why = Failure(kind="unknown", detail=f"refs/remotes/origin/{name} is a symref to refs/heads/{target}")
        assert find_symrefs(clone.port(), "origin", ["main", name, "nowhere"]) == {name: why}


def test_names_of_remotes_are_refused_for_every_branch_too(clone: Repo) -> None:
    with pytest.raises(InvalidInput, match="cannot be fetched"):
        fetch_all(clone, "--upload-pack=touch x")
