"""What this clone holds, read from real repositories of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from collectors.errors import SetupError
from collectors.git.local_refs import Elsewhere, LocalRefs, list_local_refs, read_local_refs, without_aliases
from collectors.git.repository import read_config
from ranking.names import Refname

if TYPE_CHECKING:
    from tests.support.repositories import Repo, Workshop


def local(repo: Repo, remote: str | None = "origin") -> LocalRefs:
    return read_local_refs(repo.port(), remote, read_config(repo.port()))


@pytest.fixture
def source(workshop: Workshop) -> Repo:
    """A repository with main, release/1.2 and main-2."""
    repo = workshop.init("source")
    repo.commit("on the line", branch="release/1.2")
    repo.commit("second", branch="main-2")
    return repo


def test_a_plain_clone(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    main, line, second = (source.oid(name) for name in ("main", "release/1.2", "main-2"))
    mine = clone.commit("mine")
    assert local(clone) == LocalRefs(
        heads={"main": mine},
        tracking={"main": main, "main-2": second, "release/1.2": line},
        elsewhere={},
        tags={},
        cached_default="main",
        dangling_default=None,
        covers_all=True,
        covered=("refs/heads/*",),
    )


def test_the_starts_of_git_are_counted(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    script = workshop.folder / "counting"
    script.write_text(f'#!/bin/sh\necho "$5" >> {workshop.folder}/starts\nexec git "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    port = clone.port(executable=str(script))
    found = list_local_refs(port, "origin", read_config(clone.port()))
    without_aliases(port, "origin", found, found.tracking)
    assert (workshop.folder / "starts").read_text().splitlines() == ["show-ref", "symbolic-ref"]
    without_aliases(port, "origin", found, {"main": found.tracking["main"]})
    assert (workshop.folder / "starts").read_text().splitlines() == ["show-ref", "symbolic-ref", "for-each-ref"]


def test_without_a_remote(source: Repo) -> None:
    found = local(source, None)
    assert sorted(found.heads) == ["main", "main-2", "release/1.2"]
    assert (found.tracking, found.cached_default, found.covers_all, found.covered) == ({}, None, False, ())


def test_an_empty_repository(workshop: Workshop) -> None:
    empty = workshop.init("empty", commit=False)
    found = local(empty)
    assert (found.heads, found.tracking, found.tags, found.cached_default) == ({}, {}, {}, None)


def test_tags_are_peeled_to_the_end(source: Repo) -> None:
    source.git("tag", "light")
    source.git("tag", "--annotate", "--message=m", "v1", "release/1.2")
    source.git("tag", "--annotate", "--message=m", "signed/v1", "v1")
    # git before 2.45 peels %(*objectname) of the last one to the tag v1 only.
    assert local(source).tags == {
        "light": source.oid("main"),
        "signed/v1": source.oid("release/1.2"),
        "v1": source.oid("release/1.2"),
    }


def test_a_tag_whose_object_is_missing_takes_nothing_else_down(source: Repo) -> None:
    source.git("tag", "light")
    source.git("tag", "--annotate", "--message=m", "v1")
    oid = source.refs()["refs/tags/v1"]
    (source.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    found = local(source)
    assert found.tags == {"light": None, "v1": None}
    assert sorted(found.heads) == ["main", "main-2", "release/1.2"]


def test_a_branch_whose_commit_is_missing_is_still_listed(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    gone = "1" * 40
    (clone.path / ".git" / "refs" / "remotes" / "origin" / "gone").write_text(gone + "\n")
    assert local(clone).tracking["gone"] == gone


def test_a_branch_whose_commit_is_missing_takes_no_tag_down(source: Repo) -> None:
    source.git("tag", "--annotate", "--message=m", "v1")
    (source.path / ".git" / "refs" / "heads" / "gone").write_text("1" * 40 + "\n")
    assert local(source).tags == {"v1": source.oid("main")}


def test_a_tag_object_where_a_branch_is_kept_makes_no_second_branch(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("tag", "--annotate", "--message=m", "v1")
    clone.git("update-ref", "refs/remotes/origin/odd", "v1")
    assert sorted(local(clone).tracking) == ["main", "main-2", "odd", "release/1.2"]
    clone.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/far/*")
    clone.git("update-ref", "refs/remotes/far/odd", "v1")
    assert sorted(local(clone).elsewhere) == ["odd"]


def test_a_single_branch_clone_says_what_it_covers(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone", "--single-branch", "--branch=release/1.2")
    found = local(clone)
    assert found.tracking == {"release/1.2": source.oid("release/1.2")}
    assert (found.covers_all, found.covered) == (False, ("refs/heads/release/1.2",))
    assert found.cached_default is None


def test_what_was_fetched_by_name_past_the_refspec_counts(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone", "--single-branch")
    clone.git("fetch", "--quiet", "origin", "+refs/heads/main-2:refs/remotes/origin/main-2")
    assert local(clone).tracking == {"main": source.oid("main"), "main-2": source.oid("main-2")}


def test_a_refspec_that_stores_elsewhere(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/kept/by/name/*")
    source.commit("newer", branch="main-2")
    clone.git("fetch", "--quiet")
    found = local(clone)
    # Both places hold main-2: each by its own tip, and what the refspec renews is the newest.
    old, new = source.oid("main-2^"), source.oid("main-2")
    assert found.tracking["main-2"] == old
    assert found.elsewhere["main-2"] == Elsewhere(refname=Refname("refs/remotes/kept/by/name/main-2"), tip=new)
    assert found.newest["main-2"] == new
    assert (
        sorted(found.tracking) == sorted(found.elsewhere) == sorted(found.newest) == ["main", "main-2", "release/1.2"]
    )


def test_pull_request_refs_are_no_branches(workshop: Workshop, source: Repo) -> None:
    source.git("update-ref", "refs/pull/12/head", "main")
    clone = workshop.clone(source, "clone")
    clone.git("config", "--add", "remote.origin.fetch", "+refs/pull/*/head:refs/remotes/origin/pr/*")
    clone.git("fetch", "--quiet")
    assert "refs/remotes/origin/pr/12" in clone.refs()
    assert sorted(local(clone).tracking) == ["main", "main-2", "release/1.2"]


def test_remotes_whose_names_hold_slashes(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone", "--origin=team")
    other = workshop.init("other")
    other.commit("x", branch="feature/x")
    clone.git("remote", "add", "team/up", str(other.path))
    clone.git("fetch", "--quiet", "team/up")
    clone.git("remote", "set-head", "team/up", "feature/x")
    assert sorted(local(clone, "team").tracking) == ["main", "main-2", "release/1.2"]
    up = local(clone, "team/up")
    assert sorted(up.tracking) == ["feature/x", "main"]
    assert up.cached_default == "feature/x"


def test_origin_head_that_dangles_is_no_default(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone", "--origin=team/upstream")
    clone.git("update-ref", "-d", "refs/remotes/team/upstream/main")
    found = local(clone, "team/upstream")
    assert (found.cached_default, found.dangling_default) == (None, "main")
    assert sorted(found.tracking) == ["main-2", "release/1.2"]


def test_a_renamed_default_leaves_the_old_pointer_in_the_cache(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    source.git("branch", "--move", "main", "trunk")
    clone.git("fetch", "--quiet")
    found = local(clone)
    assert found.cached_default == "main"
    assert sorted(found.tracking) == ["main", "main-2", "release/1.2", "trunk"]


def test_head_is_never_a_branch(workshop: Workshop, source: Repo) -> None:
    source.git("update-ref", "refs/heads/HEAD", "main")
    assert sorted(local(source).heads) == ["main", "main-2", "release/1.2"]
    clone = workshop.clone(source, "clone")
    # Written by what does not know that it is a symref: then it is none.
    clone.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    clone.git("update-ref", "refs/remotes/origin/HEAD", source.oid("main-2"))
    found = local(clone)
    assert sorted(found.tracking) == ["main", "main-2", "release/1.2"]
    assert (found.cached_default, found.dangling_default) == (None, None)


def test_other_symrefs_are_told_by_being_symrefs(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("symbolic-ref", "refs/remotes/origin/alias", "refs/remotes/origin/main")
    clone.git("symbolic-ref", "refs/heads/mine", "refs/heads/main")
    found = local(clone)
    assert sorted(found.tracking) == ["main", "main-2", "release/1.2"]
    # A local alias can be worked on like any branch.
    assert sorted(found.heads) == ["main", "mine"]


@pytest.mark.parametrize("beside", [(), ("stale",), ("stale-\u00fc",)])
def test_an_alias_counts_where_it_stands_at_what_the_remote_lists(
    workshop: Workshop, source: Repo, beside: tuple[str, ...]
) -> None:
    main, line = source.oid("main"), source.oid("release/1.2")
    clone = workshop.clone(source, "clone")
    for alias in ("alias", "other"):
        clone.git("symbolic-ref", f"refs/remotes/origin/{alias}", "refs/remotes/origin/main")
    for name in beside:  # what else lies here makes no difference
        clone.git("update-ref", f"refs/remotes/origin/{name}", main)
    listed = list_local_refs(clone.port(), "origin", read_config(clone.port()))
    remote = {"main": main, "main-2": source.oid("main-2"), "release/1.2": line, "alias": main, "other": line}
    found = without_aliases(clone.port(), "origin", listed, remote)
    assert sorted(found.tracking) == sorted(["alias", *beside, "main", "main-2", "release/1.2"])


def test_an_alias_at_another_place_is_no_branch_either(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/far/*")
    clone.git("fetch", "--quiet")
    clone.git("symbolic-ref", "refs/remotes/far/alias", "refs/remotes/far/main")
    assert sorted(local(clone).elsewhere) == ["main", "main-2", "release/1.2"]


def test_a_pointer_to_a_ref_that_is_gone_dangles_though_the_branch_is_kept_elsewhere(
    workshop: Workshop, source: Repo
) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/far/*")
    clone.git("fetch", "--quiet")
    clone.git("update-ref", "-d", "refs/remotes/origin/main")
    found = local(clone)
    assert (found.cached_default, found.dangling_default) == (None, "main")


def test_names_that_are_trouble_are_listed_as_they_are(source: Repo) -> None:
    oid = source.oid("main")
    odd = [b"--evil", b"a\xc2\x85b", b"c\xe2\x80\xa8d", b"\xff", "\u00fcber/\u202exyz".encode()]
    for name in odd:
        path = bytes(source.path) + b"/.git/refs/heads/" + name
        if b"/" in name:
            (source.path / ".git" / "refs" / "heads" / name.decode().partition("/")[0]).mkdir()
        with open(path, "w", encoding="ascii") as file:  # noqa: PTH123 - a name that is no text
            file.write(oid + "\n")
    found = set(local(source).heads) - {"main", "main-2", "release/1.2"}
    assert found == {"--evil", "a\u0085b", "c\u2028d", "\\xff", "\u00fcber/\u202exyz"}


@pytest.mark.parametrize("options", [["--bare"], ["--depth=1", "--no-single-branch"], []])
def test_bare_shallow_and_sha256(workshop: Workshop, options: list[str]) -> None:
    source = workshop.init("source", "--object-format=sha256")
    source.commit("second")
    line = source.commit("line", branch="release/1.2")
    clone = workshop.clone(f"file://{source.path}", "clone", *options)
    found = local(clone)
    held = found.heads if "--bare" in options else found.tracking
    assert held == {"main": source.oid("main"), "release/1.2": line}
    assert len(line) == 64


def test_from_a_linked_worktree_and_a_subfolder(workshop: Workshop, source: Repo) -> None:
    clone = workshop.clone(source, "clone")
    clone.git("worktree", "add", "--quiet", "-b", "work", "../linked")
    deep = workshop.folder / "linked" / "deep"
    deep.mkdir()
    port = clone.port().at(deep)
    found = read_local_refs(port, "origin", read_config(port))
    assert sorted(found.heads) == ["main", "work"]
    assert found == local(clone)


def test_refs_that_git_cannot_list(source: Repo) -> None:
    config = read_config(source.port())
    (source.path / ".git" / "packed-refs").write_text("nonsense\n")
    with pytest.raises(SetupError, match="unexpected line in") as caught:
        read_local_refs(source.port(), None, config)
    assert (caught.value.code, caught.value.hint) == ("refs-unreadable", "git fsck --connectivity-only")
