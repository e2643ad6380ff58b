"""Every kind of repository that git opens is opened, and what cannot be is told apart."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from collectors.errors import SetupError
from collectors.git.repository import (
    Checkout,
    canonical_key,
    open_repository,
    parse_config,
    parse_git_version,
    read_config,
)
from collectors.process import Git

if TYPE_CHECKING:
    from tests.support.repositories import Repo, Workshop


def opened(repo: Repo, folder: Path | None = None) -> Checkout:
    return open_repository(repo.port().at(folder or repo.path))


def places(checkout: Checkout) -> tuple[Path | None, Path, Path]:
    return checkout.top, checkout.git_dir, checkout.common_dir


def wrapper(path: Path, body: str) -> str:
    """Write a stand-in for the git executable."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def test_a_plain_repository(workshop: Workshop) -> None:
    repo = workshop.init("r")
    found = opened(repo)
    assert places(found) == (repo.path, repo.path / ".git", repo.path / ".git")
    assert (found.bare, found.shallow, found.object_format, found.head) == (
        False,
        False,
        "sha1",
        "refs/heads/main",
    )
    assert found.git_version == parse_git_version(repo.git("version").encode())
    assert found.git_version >= (2, 30)


def test_two_starts_of_git_are_enough(workshop: Workshop, tmp_path: Path) -> None:
    repo = workshop.init("r")
    counting = wrapper(tmp_path / "counting", f'echo "$5" >> {tmp_path}/starts; exec git "$@"')
    open_repository(repo.port(executable=counting))
    assert (tmp_path / "starts").read_text().splitlines() == ["version", "rev-parse"]


def test_from_a_subfolder_and_through_a_symlink(workshop: Workshop, tmp_path: Path) -> None:
    repo = workshop.init("r")
    deep = repo.path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "link").symlink_to(deep)
    for folder in (deep, tmp_path / "link"):
        assert places(opened(repo, folder)) == (repo.path, repo.path / ".git", repo.path / ".git")


def test_inside_the_git_folder_there_is_no_work_tree(workshop: Workshop) -> None:
    repo = workshop.init("r")
    found = opened(repo, repo.path / ".git" / "refs")
    assert places(found) == (None, repo.path / ".git", repo.path / ".git")
    assert (found.bare, found.head) == (False, "refs/heads/main")


def test_without_a_commit_the_head_is_known(workshop: Workshop) -> None:
    repo = workshop.init("r", "--initial-branch=team/trunk", commit=False)
    found = opened(repo)
    assert found.head == "refs/heads/team/trunk"
    assert places(found) == (repo.path, repo.path / ".git", repo.path / ".git")
    bare = workshop.init("b.git", "--bare", commit=False)
    found = opened(bare)
    assert (places(found), found.bare, found.head) == ((None, bare.path, bare.path), True, "refs/heads/main")


def test_detached(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.git("checkout", "--quiet", "--detach")
    assert opened(repo).head is None


def test_bare(workshop: Workshop) -> None:
    bare = workshop.clone(workshop.init("r"), "b.git", "--bare")
    found = opened(bare)
    assert (places(found), found.bare, found.head) == ((None, bare.path, bare.path), True, "refs/heads/main")


def test_linked_worktree(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.git("worktree", "add", "--quiet", "-b", "work", "../linked")
    linked = workshop.folder / "linked"
    found = opened(repo, linked)
    assert places(found) == (linked, repo.path / ".git" / "worktrees" / "linked", repo.path / ".git")
    assert found.head == "refs/heads/work"


def test_submodule_is_a_repository_of_its_own(workshop: Workshop) -> None:
    part, whole = workshop.init("part"), workshop.init("whole")
    whole.git("submodule", "--quiet", "add", str(part.path), "sub")
    found = opened(whole, whole.path / "sub")
    inner = whole.path / ".git" / "modules" / "sub"
    assert places(found) == (whole.path / "sub", inner, inner)


def test_shallow(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.commit("second")
    shallow = workshop.clone(f"file://{repo.path}", "s", "--depth=1")
    assert opened(shallow).shallow is True


def test_sha256(workshop: Workshop) -> None:
    assert opened(workshop.init("r", "--object-format=sha256")).object_format == "sha256"


def test_git_dir_of_the_environment_counts(workshop: Workshop, tmp_path: Path) -> None:
    repo = workshop.init("r")
    tree = tmp_path / "tree"
    tree.mkdir()
    environ = dict(os.environ) | {"GIT_DIR": str(repo.path / ".git")}
    found = open_repository(Git(folder=tree, environ=environ))
    assert places(found) == (tree, repo.path / ".git", repo.path / ".git")


def test_a_folder_that_is_named_outranks_git_dir(workshop: Workshop) -> None:
    one, other = workshop.init("one"), workshop.init("other")
    hook = {"GIT_DIR": str(one.path / ".git"), "GIT_WORK_TREE": str(one.path), "GIT_OBJECT_DIRECTORY": "none"}
    assert open_repository(one.port(environ=hook).at(other.path)).top == other.path


def test_paths_may_hold_newlines_and_bytes_that_are_no_text(workshop: Workshop) -> None:
    name = os.fsdecode(b"odd\n\xff name\n")
    repo = workshop.init(name)
    assert places(opened(repo)) == (repo.path, repo.path / ".git", repo.path / ".git")
    assert opened(repo).head == "refs/heads/main"


def test_not_a_repository(tmp_path: Path, workshop: Workshop) -> None:
    with pytest.raises(SetupError, match="is not in a git repository") as caught:
        opened(workshop.init("r"), tmp_path)
    assert (caught.value.code, caught.value.hint) == ("not-a-repository", "git rev-parse --git-dir")


def test_another_users_repository_names_the_way_out(workshop: Workshop, tmp_path: Path) -> None:
    repo = workshop.init("r")
    (repo.path / "sub").mkdir()
    # git's own switch for testing this; our allow-list keeps it away otherwise.
    foreign = wrapper(tmp_path / "foreign", 'GIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec git "$@"')
    port = repo.port(executable=foreign).at(repo.path / "sub")
    with pytest.raises(SetupError, match="belongs to another user") as caught:
        open_repository(port)
    # The repository's top, not the folder below it.
    assert caught.value.code == "dubious-ownership"
    assert caught.value.hint == f"git config --global --add safe.directory {repo.path}"
    repo.git("config", "--global", "--add", "safe.directory", str(repo.path))
    assert open_repository(port).top == repo.path


def test_a_bare_repository_that_may_not_be_found(workshop: Workshop) -> None:
    bare = workshop.clone(workshop.init("r"), "b.git", "--bare")
    bare.git("config", "--global", "safe.bareRepository", "explicit")
    with pytest.raises(SetupError) as caught:
        opened(bare)
    assert caught.value.code == "bare-repository-refused"


def test_an_extension_that_this_git_does_not_know(workshop: Workshop) -> None:
    repo = workshop.init("r")
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.madeUp", "true")
    with pytest.raises(SetupError, match="extension that this git does not know") as caught:
        opened(repo)
    assert caught.value.code == "git-too-old"


@pytest.mark.parametrize("answer", ["git version 2.29.3", "git version 1.9.1.windows.1", "no git at all"])
def test_a_git_too_old(workshop: Workshop, tmp_path: Path, answer: str) -> None:
    old = wrapper(tmp_path / "old", f"echo '{answer}'")
    with pytest.raises(SetupError, match=r"the oldest that serves is 2\.30") as caught:
        open_repository(workshop.init("r").port(executable=old))
    assert (caught.value.code, caught.value.hint) == (
        "git-too-old",
        "install git 2.30 or newer, then: git version",
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (b"git version 2.39.5\n", (2, 39, 5)),
        (b"git version 2.39.5 (Apple Git-154)\n", (2, 39, 5)),
        (b"git version 2.47.0.windows.2\n", (2, 47, 0)),
        (b"git version 2.30.rc1\n", (2, 30)),
        (b"hub version 2.1", ()),
    ],
)
def test_git_versions(text: bytes, version: tuple[int, ...]) -> None:
    assert parse_git_version(text) == version


def test_configuration_is_what_git_reads(workshop: Workshop) -> None:
    repo = workshop.init("r")
    for value in ("a", "b"):
        repo.git("config", "--add", "remote.Team/Up.stream.fetch", value)
    repo.git("config", "remote.pushDefault", "x\ny = z")
    repo.git("config", "--global", "core.bare", "true")
    with (repo.path / ".git" / "config").open("a") as local:
        local.write("[some]\n\tflag\n\tnumber = 2\n\toff =\n\tword = maybe\n")
    config = read_config(repo.port())
    assert config.every("remote.Team/Up.stream.fetch") == ("a", "b")
    assert config.every("remote.team/up.stream.fetch") == ()
    assert config.last("remote.pushDefault") == "x\ny = z"
    assert config.values["core.bare"] == ("true", "false")
    assert config.flag("core.bare") is False
    assert (config.flag("some.flag"), config.last("some.flag")) == (True, None)
    assert (config.flag("some.number"), config.flag("some.off"), config.flag("some.unset")) == (
        True,
        False,
        None,
    )
    with pytest.raises(SetupError, match=r"some\.word is 'maybe'") as caught:
        config.flag("some.word")
    assert (caught.value.code, caught.value.hint) == (
        "bad-config",
        "git config --show-origin --get-all some.word",
    )
    assert config.subsections("remote", "fetch") == ("Team/Up.stream",)
    assert config.subsections("remote", "url") == ()


def test_configuration_that_git_cannot_read(workshop: Workshop) -> None:
    repo = workshop.init("r")
    (repo.path / ".git" / "config").write_text("[broken\n")
    with pytest.raises(SetupError, match="bad config line 1") as caught:
        read_config(repo.port())
    assert caught.value.code == "bad-config"


def test_an_empty_value_clears_a_list() -> None:
    config = parse_config(b"remote.o.url\na\0remote.o.url\n\0remote.o.url\nb\0")
    assert config.every("remote.o.url") == ("b",)
    assert config.last("remote.o.url") == "b"
    assert parse_config(b"").values == {}


def test_keys_keep_the_case_of_their_middle() -> None:
    assert canonical_key("Branch.Feature/X.gh-Resolved") == "branch.Feature/X.gh-resolved"
    assert canonical_key("Core.Bare") == "core.bare"
