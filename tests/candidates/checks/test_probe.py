"""The probe on real repositories: exists, absent and failed, here and on the remote, and never one for another."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING, get_args

import msgspec
import pytest

from candidates.checks.probe import Probed, Sight, State, probe, sentence
from candidates.run.collect import RemoteUndecided
from collectors.errors import InvalidInput, SetupError
from collectors.process import Deadline
from ranking.facts import Failure
from tests.support.servers import HOST, git_daemon, http_answering, http_backend, refusing_port, silent_listener

if TYPE_CHECKING:
    from tests.support.repositories import Repo, Workshop


def look(repo: Repo, name: str, *, remote: str | None = None, seconds: float = 30) -> Probed:
    return probe(repo.port(), name, remote, Deadline(seconds))


def said(probed: Probed) -> tuple[str, str, int]:
    """Here, there, and the exit code."""
    return probed.local.state, probed.remote.state, probed.exit_code


@pytest.fixture
def source(workshop: Workshop) -> Repo:
    """The remote: main, and a line."""
    repo = workshop.init("source")
    repo.commit("line", branch="release/1.0")
    return repo


@pytest.fixture
def clone(workshop: Workshop, source: Repo) -> Repo:
    """A clone with a branch of its own, and a cached branch that the remote does not have any more."""
    source.commit("old", branch="gone")
    clone = workshop.clone(source, "clone")
    source.git("branch", "--quiet", "--delete", "--force", "gone")
    clone.git("branch", "mine")
    clone.git("branch", "team/mine")
    return clone


# --- where it exists ---


@pytest.mark.parametrize(
    ("name", "here", "there", "code"),
    [
        ("main", "exists", "exists", 0),
        ("mine", "exists", "absent", 0),
        ("release/1.0", "absent", "exists", 0),
        ("gone", "absent", "absent", 10),
        ("release", "absent", "absent", 10),
        ("team", "absent", "absent", 10),
        ("release/1", "absent", "absent", 10),
        ("release/1.0/x", "absent", "absent", 10),
        ("origin/main", "absent", "absent", 10),
        ("refs/heads/main", "absent", "absent", 10),
        ("Main", "absent", "absent", 10),
    ],
)
def test_here_and_there(clone: Repo, name: str, here: str, there: str, code: int) -> None:
    before = clone.refs()
    assert said(look(clone, name)) == (here, there, code)
    assert clone.refs() == before


def test_the_tips_are_each_its_own(clone: Repo, source: Repo) -> None:
    newer = source.commit("newer")
    probed = look(clone, "main")
    assert (probed.local.tip, probed.remote.tip, probed.remote.remote) == (clone.oid("main"), newer, "origin")
    assert probed.local.tip != newer


def test_a_tag_of_that_name_is_no_branch(clone: Repo, source: Repo) -> None:
    clone.git("tag", "v1")
    source.git("tag", "v1")
    assert said(look(clone, "v1")) == ("absent", "absent", 10)


def test_in_a_repository_without_a_commit(workshop: Workshop) -> None:
    empty = workshop.init("empty", commit=False)
    assert said(look(empty, "main")) == ("absent", "not-asked", 10)


def test_without_a_remote_this_clone_alone_answers(workshop: Workshop) -> None:
    alone = workshop.init("alone")
    assert said(look(alone, "main")) == ("exists", "not-asked", 0)
    assert said(look(alone, "none")) == ("absent", "not-asked", 10)
    assert sentence(look(alone, "none")) == "none: absent; here: absent; there is no remote."


def test_an_empty_remote_answers_that_it_has_none(workshop: Workshop) -> None:
    bare = workshop.init("bare", "--bare", commit=False)
    clone = workshop.clone(bare, "of-nothing")
    assert said(look(clone, "main")) == ("absent", "absent", 10)


@pytest.mark.parametrize("form", ["sha256", "worktree", "bare"])
def test_in_other_kinds_of_repository(workshop: Workshop, form: str) -> None:
    options = ("--object-format=sha256",) if form == "sha256" else ()
    source = workshop.init("origin", *options)
    if form == "bare":
        repo = workshop.clone(source, "bare", "--bare")
    else:
        repo = workshop.clone(source, "clone")
        if form != "sha256":
            repo.git("worktree", "add", "--quiet", "-b", "tree", "../tree")
            repo = type(repo)(repo.path.parent / "tree")
    assert said(look(repo, "main")) == ("exists", "exists", 0)
    assert said(look(repo, "none")) == ("absent", "absent", 10)


# --- where it could not be told ---


def test_a_remote_that_gave_no_answer_is_no_absence(clone: Repo, source: Repo) -> None:
    source.path.rename(source.path.with_name("away"))
    probed = look(clone, "none")
    assert said(probed) == ("absent", "failed", 11)
    assert probed.remote.failure is not None
    assert probed.remote.failure.kind == "not-found"
    assert sentence(probed).startswith("none: failed; here: absent; origin: failed (not-found: ")
    # What is here is here, whatever the remote would say; its silence stands beside it.
    assert said(look(clone, "mine")) == ("exists", "failed", 0)
    # The cache is not asked in the remote's place.
    assert said(look(clone, "release/1.0")) == ("absent", "failed", 11)


def test_refused(clone: Repo) -> None:
    with refusing_port() as port:
        clone.git("config", "remote.origin.url", f"git://{HOST}:{port}/x")
        probed = look(clone, "none")
        assert said(probed) == ("absent", "failed", 11)
        assert probed.remote.failure is not None
        assert (probed.remote.failure.kind, probed.remote.failure.host) == ("refused", HOST)


def test_silent(clone: Repo) -> None:
    with silent_listener() as port:
        clone.git("config", "remote.origin.url", f"git://{HOST}:{port}/x")
        probed = look(clone, "none", seconds=0.3)
        assert said(probed) == ("absent", "failed", 11)
        assert probed.remote.failure is not None
        assert probed.remote.failure.kind == "timed-out"


def test_a_page_in_the_remotes_place(clone: Repo) -> None:
    with http_answering(200, "") as site:
        clone.git("config", "remote.origin.url", site.url("x.git", userinfo="me:s3cret"))
        probed = look(clone, "none")
        assert said(probed) == ("absent", "failed", 11)
        assert b"s3cret" not in msgspec.json.encode(probed)


def test_over_the_network(clone: Repo, source: Repo) -> None:
    with http_backend(source.path.parent) as site:
        clone.git("config", "remote.origin.url", site.url("source/.git"))
        assert said(look(clone, "release/1.0")) == ("absent", "exists", 0)
        assert said(look(clone, "none")) == ("absent", "absent", 10)
    with git_daemon(source.path.parent) as port:
        clone.git("config", "remote.origin.url", f"git://{HOST}:{port}/source/.git")
        assert said(look(clone, "release/1.0")) == ("absent", "exists", 0)
        assert said(look(clone, "none")) == ("absent", "absent", 10)


@pytest.mark.parametrize("content", ["", "garbage\n", "0" * 40 + "\n"])
def test_a_broken_local_ref_is_no_absence(clone: Repo, content: str) -> None:
    (clone.path / ".git" / "refs" / "heads" / "broken").write_text(content)
    probed = look(clone, "broken")
    assert said(probed) == ("failed", "absent", 11)
    assert probed.local.failure is not None
    assert "broken" in probed.local.failure.detail
    # Another's damage is nothing to this name.
    assert said(look(clone, "mine")) == ("exists", "absent", 0)
    assert said(look(clone, "none")) == ("absent", "absent", 10)


def test_a_symref_to_nothing_is_no_absence(clone: Repo) -> None:
    clone.git("symbolic-ref", "refs/heads/alias", "refs/heads/nowhere")
    probed = look(clone, "alias")
    assert said(probed) == ("failed", "absent", 11)
    assert probed.local.failure is not None
    assert probed.local.failure.detail == "refs/heads/alias is a symref to refs/heads/nowhere"
    clone.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    assert said(look(clone, "alias")) == ("exists", "absent", 0)


# --- both together ---

EXPECTED = {
    frozenset({"exists"}): 0,
    frozenset({"exists", "absent"}): 0,
    frozenset({"exists", "failed"}): 0,
    frozenset({"exists", "not-asked"}): 0,
    frozenset({"absent"}): 10,
    frozenset({"absent", "not-asked"}): 10,
    frozenset({"absent", "failed"}): 11,
    frozenset({"failed"}): 11,
    frozenset({"failed", "not-asked"}): 11,
}


@pytest.mark.parametrize(("here", "there"), list(product(("exists", "absent", "failed"), get_args(State))))
def test_every_pair_has_its_exit_code(here: State, there: State) -> None:
    probed = Probed(name="x", local=Sight(state=here), remote=Sight(state=there, remote="origin"))
    assert probed.exit_code == EXPECTED[frozenset({here, there})]


# --- what is asked, and of whom ---


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "it is empty"),
        ("--upload-pack=touch x", "it begins with a dash"),
        ("-d", "it begins with a dash"),
        ("HEAD", "HEAD is no branch"),
        ("a b", "git does not allow such a name"),
        ("a*", "git does not allow such a name"),
        ("a..b", "git does not allow such a name"),
        ("a\nb", "git does not allow such a name"),
        ("a\0b", "git does not allow such a name"),
        ("release/", "git does not allow such a name"),
        ("x\u202ey", "it holds characters that do not show"),
    ],
)
def test_unusable_names_are_refused_before_anything_is_asked(clone: Repo, name: str, why: str) -> None:
    clone.git("config", "remote.origin.url", "/nowhere")
    with pytest.raises(InvalidInput, match=why) as caught:
        look(clone, name)
    assert str(caught.value).isprintable()


def test_the_named_remote_is_asked(clone: Repo, workshop: Workshop) -> None:
    other = workshop.init("other")
    other.commit("x", branch="theirs")
    clone.git("remote", "add", "other", str(other.path))
    assert said(look(clone, "theirs")) == ("absent", "absent", 10)
    probed = look(clone, "theirs", remote="other")
    assert (said(probed), probed.remote.remote) == (("absent", "exists", 0), "other")
    with pytest.raises(SetupError, match="no remote named"):
        look(clone, "theirs", remote="--upload-pack=x")


def test_several_remotes_and_no_ground_to_choose(clone: Repo) -> None:
    clone.git("remote", "rename", "origin", "one")
    clone.git("remote", "add", "two", "/nowhere")
    with pytest.raises(RemoteUndecided) as caught:
        look(clone, "main")
    assert caught.value.question.names == ("one", "two")


def test_outside_a_repository(workshop: Workshop, clone: Repo) -> None:
    with pytest.raises(SetupError):
        probe(clone.port().at(workshop.folder), "main", None, Deadline(30))


def test_the_record_on_the_wire_and_the_sentence() -> None:
    failure = Failure(kind="refused", detail="connection\x1b refused", host="h")
    probed = Probed(
        name="x",
        local=Sight(state="absent"),
        remote=Sight(state="failed", remote="origin", failure=failure),
    )
    assert json.loads(msgspec.json.encode(probed)) == {
        "schema": "base-branch/probe@1",
        "name": "x",
        "local": {"state": "absent", "remote": None, "tip": None, "failure": None},
        "remote": {
            "state": "failed",
            "remote": "origin",
            "tip": None,
            "failure": {"kind": "refused", "detail": "connection\x1b refused", "host": "h"},
        },
    }
    assert sentence(probed) == "x: failed; here: absent; origin: failed (refused: connection\\x1b refused)."
