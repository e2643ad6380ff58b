"""Which remote holds the lines, by local configuration, each rule by itself and against the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from collectors.errors import SetupError
from collectors.git.refs import RemoteChoice, RemoteQuestion, choose_remote
from collectors.git.repository import parse_config, read_config

if TYPE_CHECKING:
    from collectors.git.repository import Config
    from tests.support.repositories import Workshop


def config(*remotes: str, **more: str) -> Config:
    entries = [f"remote.{name}.url\nhttps://h/{name}" for name in remotes]
    entries += [f"{key}\n{value}" for key, value in more.items()]
    return parse_config("\0".join(entries).encode())


def settings(*remotes: str, more: dict[str, str]) -> Config:
    return config(*remotes, **more)


def chosen(name: str, reason: str) -> RemoteChoice:
    return RemoteChoice(name=name, url=f"https://h/{name}", reason=reason)


def test_none() -> None:
    assert choose_remote(config(), None) is None
    # A remote without a URL is a setting left behind.
    assert choose_remote(settings(more={"remote.origin.prune": "true"}), None) is None


def test_the_only_one_whatever_it_is_called() -> None:
    assert choose_remote(config("gerrit"), None) == chosen("gerrit", "the only remote")


def test_the_one_asked_for_beats_every_ground() -> None:
    held = settings("origin", "upstream", "wiki", more={"remote.upstream.gh-resolved": "base"})
    assert choose_remote(held, "wiki") == chosen("wiki", "asked for")


@pytest.mark.parametrize("asked", ["gone", "", "-x", "--upload-pack=touch P", "https://u:s3cret@h/r"])
def test_one_that_does_not_exist(asked: str) -> None:
    with pytest.raises(SetupError) as caught:
        choose_remote(config("origin"), asked)
    assert (caught.value.code, caught.value.hint) == ("no-such-remote", "git remote -v")
    assert "s3cret" not in str(caught.value)


def test_gh_resolved() -> None:
    both = {"remote.pushdefault": "c", "remote.b.gh-resolved": "base"}
    assert choose_remote(settings("a", "b", "c", more=both), None) == chosen("b", "remote.b.gh-resolved is base")
    # Any other value names a repository that is no remote here.
    other = {"remote.a.gh-resolved": "acme/app"}
    assert choose_remote(settings("a", "origin", more=other), None) == chosen("origin", "named origin, of 2 remotes")


def test_two_bases_are_no_ground() -> None:
    two = {"remote.a.gh-resolved": "base", "remote.b.gh-resolved": "base"}
    assert choose_remote(settings("a", "b", more=two), None) == RemoteQuestion(
        names=("a", "b"), reason="2 remotes, and nothing says which holds the lines"
    )


def test_upstream_beside_a_forks_origin() -> None:
    held = settings("origin", "upstream", more={"remote.pushdefault": "origin"})
    assert choose_remote(held, None) == chosen("upstream", "upstream stands beside origin")


def test_push_default_decides_where_nothing_else_is_tracked() -> None:
    held = settings("a", "b", more={"remote.pushdefault": "b", "branch.main.remote": "b"})
    assert choose_remote(held, None) == chosen("b", "remote.pushDefault")


def test_push_default_of_a_triangular_workflow_is_the_fork() -> None:
    more = {"remote.pushdefault": "fork", "branch.main.remote": "origin"}
    assert choose_remote(settings("fork", "origin", more=more), None) == chosen("origin", "named origin, of 2 remotes")


@pytest.mark.parametrize("value", ["gone", "--upload-pack=touch P"])
def test_push_default_that_names_no_remote(value: str) -> None:
    held = settings("origin", "wiki", "--upload-pack=touch P", more={"remote.pushdefault": value})
    assert choose_remote(held, None) == chosen("origin", "named origin, of 2 remotes")


def test_several_and_no_ground() -> None:
    assert choose_remote(config("wiki", "corp"), None) == RemoteQuestion(
        names=("corp", "wiki"), reason="2 remotes, and nothing says which holds the lines"
    )


def test_the_url_is_the_rewritten_one_without_its_credentials() -> None:
    more = {"url.https://u:s3cret@github.com/.insteadof": "gh:"}
    held = parse_config(b"remote.origin.url\ngh:acme/app\0" + b"".join(f"{k}\n{v}\0".encode() for k, v in more.items()))
    assert choose_remote(held, None) == RemoteChoice(
        name="origin", url="https://***@github.com/acme/app", reason="the only remote"
    )


def test_in_a_real_clone(workshop: Workshop) -> None:
    source = workshop.init("source")
    clone = workshop.clone(source, "clone", "--origin=team/corp")
    assert choose_remote(read_config(clone.port()), None) == RemoteChoice(
        name="team/corp", url=str(source.path), reason="the only remote"
    )
