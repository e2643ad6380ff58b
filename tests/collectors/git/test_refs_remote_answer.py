"""The remote's answer over real servers, every failure that loopback can give, and a hard limit."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from collectors.errors import SetupError
from collectors.git.refs import (
    RemoteAnswer,
    ask_remote,
    parse_advertised,
)
from collectors.process import Deadline
from ranking.facts import Failure
from tests.support.processes import alive, needs_proc
from tests.support.servers import (
    HOST,
    breaking_listener,
    git_daemon,
    http_answering,
    http_backend,
    refusing_port,
    silent_listener,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.repositories import Repo, Workshop
    from tests.support.servers import HttpSite


@pytest.fixture
def source(workshop: Workshop) -> Repo:
    """A repository with main and release/1.2, tags of each kind, and refs that are neither."""
    repo = workshop.init("acme/app.git", "--bare", commit=False)
    work = workshop.clone(repo, "work")
    work.commit("first")
    work.git("push", "--quiet", "origin", "main")
    repo.commit("line", branch="release/1.2")
    repo.git("tag", "light", "main")
    repo.git("tag", "--annotate", "--message=m", "v1", "release/1.2")
    repo.git("tag", "--annotate", "--message=m", "again", "v1")
    repo.git("update-ref", "refs/pull/1/head", "main")
    return repo


@pytest.fixture
def site(workshop: Workshop, source: Repo) -> Iterator[HttpSite]:
    """The folder of all repositories, over http."""
    assert source.path.is_relative_to(workshop.folder)
    with http_backend(workshop.folder) as site:
        yield site


@pytest.fixture
def here(workshop: Workshop) -> Repo:
    """A repository to ask from."""
    return workshop.init("here")


def ask(repo: Repo, remote: str, seconds: float = 30, **environ: str) -> RemoteAnswer | Failure:
    return ask_remote(repo.port(environ=environ), remote, Deadline(seconds))


def answered(source: Repo) -> tuple[dict[str, str], dict[str, str]]:
    main, line = source.oid("main"), source.oid("release/1.2")
    return {"main": main, "release/1.2": line}, {"again": line, "light": main, "v1": line}


def told(answer: RemoteAnswer | Failure) -> tuple[dict[str, str], dict[str, str]]:
    assert isinstance(answer, RemoteAnswer), answer
    assert answer.milliseconds > 0
    return dict(answer.branches), dict(answer.tags)


def failed(answer: RemoteAnswer | Failure) -> Failure:
    assert isinstance(answer, Failure), answer
    return answer


def test_over_http_in_one_question(here: Repo, source: Repo, site: HttpSite) -> None:
    assert told(ask(here, site.url("acme/app.git"))) == answered(source)
    assert site.requests == [
        "GET /acme/app.git/info/refs?service=git-upload-pack",
        "POST /acme/app.git/git-upload-pack",
    ]
    # The server was asked for heads and tags and not for anything else.
    asked = re.findall(rb"ref-prefix (\S+)", site.bodies[1])
    assert sorted(asked) == [b"refs/heads/", b"refs/tags/"]


def test_the_default_comes_with_the_same_question(here: Repo, source: Repo, site: HttpSite) -> None:
    answer = ask_remote(here.port(), site.url("acme/app.git"), Deadline(30), with_default=True)
    assert told(answer) == answered(source)
    assert isinstance(answer, RemoteAnswer)
    assert answer.default == "main"
    assert len(site.requests) == 2


def test_over_git_daemon(here: Repo, source: Repo, workshop: Workshop) -> None:
    with git_daemon(workshop.folder) as port:
        url = f"git://{HOST}:{port}/acme/app.git"
        assert told(ask(here, url)) == answered(source)
        asked = ask_remote(here.port(), url, Deadline(30), with_default=True)
        assert isinstance(asked, RemoteAnswer)
        assert asked.default == "main"
        gone = failed(ask(here, f"git://{HOST}:{port}/acme/gone.git"))
        assert (gone.kind, gone.host) == ("not-found", HOST)
        assert gone.detail == "fatal: remote error: access denied or repository not exported: /acme/gone.git"


def test_by_name_and_from_a_folder_below(here: Repo, source: Repo, site: HttpSite) -> None:
    here.git("remote", "add", "team/up", site.url("acme/app.git"))
    (here.path / "deep").mkdir()
    answer = ask_remote(here.port().at(here.path / "deep"), "team/up", Deadline(30))
    assert told(answer) == answered(source)


def test_the_users_instead_of_counts(here: Repo, source: Repo, site: HttpSite) -> None:
    here.git("config", "--global", f"url.{site.url('')}.insteadOf", "gh:")
    assert told(ask(here, "gh:acme/app.git")) == answered(source)


def test_the_default_is_the_servers_word(workshop: Workshop, source: Repo, site: HttpSite) -> None:
    clone = workshop.clone(source, "clone")
    source.git("branch", "--move", "main", "team/trunk")
    clone.git("remote", "set-url", "origin", site.url("acme/app.git"))
    asked = ask_remote(clone.port(), "origin", Deadline(30), with_default=True)
    assert isinstance(asked, RemoteAnswer)
    assert asked.default == "team/trunk"
    assert asked.milliseconds > 0
    assert clone.git("symbolic-ref", "refs/remotes/origin/HEAD") == "refs/remotes/origin/main"


def test_a_detached_head_on_the_server_names_no_branch(here: Repo, source: Repo) -> None:
    source.git("update-ref", "--no-deref", "HEAD", "release/1.2")
    asked = ask_remote(here.port(), str(source.path), Deadline(30), with_default=True)
    assert isinstance(asked, RemoteAnswer)
    assert asked.default is None


def test_an_empty_repository_is_an_answer(here: Repo, workshop: Workshop) -> None:
    empty = workshop.init("empty.git", "--bare", commit=False)
    assert told(ask(here, str(empty.path))) == ({}, {})
    with http_backend(workshop.folder) as site, git_daemon(workshop.folder) as port:
        assert told(ask(here, site.url("empty.git"))) == ({}, {})
        assert told(ask(here, f"git://{HOST}:{port}/empty.git")) == ({}, {})
    # Protocol version 0 announces an empty repository in another way.
    here.git("config", "protocol.version", "0")
    assert told(ask(here, str(empty.path))) == ({}, {})
    asked = ask_remote(here.port(), str(empty.path), Deadline(30), with_default=True)
    assert isinstance(asked, RemoteAnswer)
    assert asked.default is None


def test_a_real_branch_called_head_is_not_listed_and_is_no_default(here: Repo, source: Repo) -> None:
    source.git("update-ref", "refs/heads/HEAD", "release/1.2")
    source.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/heads/release/1.2")
    assert told(ask(here, str(source.path))) == answered(source)
    asked = ask_remote(here.port(), str(source.path), Deadline(30), with_default=True)
    assert isinstance(asked, RemoteAnswer)
    assert asked.default == "main"


def test_sha256(workshop: Workshop) -> None:
    source = workshop.init("s", "--object-format=sha256")
    clone = workshop.clone(source, "clone")
    assert told(ask(clone, "origin")) == ({"main": source.oid("main")}, {})


def test_basic_authentication(here: Repo, source: Repo, workshop: Workshop) -> None:
    with http_backend(workshop.folder, credentials=("ada", "s3cret")) as site:
        assert told(ask(here, site.url("acme/app.git", userinfo="ada:s3cret"))) == answered(source)
        wanted = failed(ask(here, site.url("acme/app.git")))
        assert (wanted.kind, wanted.host) == ("auth-wanted", HOST)
        wrong = failed(ask(here, site.url("acme/app.git", userinfo="ada:wr0ng")))
        assert (wrong.kind, wrong.host) == ("auth-refused", HOST)
        assert "wr0ng" not in wrong.detail
        # The user's own helper is asked as git would ask it.
        helper = '!f() { test "$1" = get && echo username=ada && echo password=s3cret; }; f'
        here.git("config", "--global", "credential.helper", helper)
        assert told(ask(here, site.url("acme/app.git"))) == answered(source)


def test_not_found(here: Repo, site: HttpSite, workshop: Workshop) -> None:
    url = site.url("acme/gone.git")
    assert failed(ask(here, url)) == Failure(
        kind="not-found", detail=f"fatal: repository '{url}/' not found", host=HOST
    )
    gone = str(workshop.folder / "gone")
    assert failed(ask(here, gone)) == Failure(
        kind="not-found", detail=f"fatal: '{gone}' does not appear to be a git repository", host=None
    )


def test_refused(here: Repo) -> None:
    with refusing_port() as port:
        over_http = failed(ask_remote(here.port(), f"http://{HOST}:{port}/r", Deadline(30), with_default=True))
        over_git = failed(ask(here, f"git://{HOST}:{port}/r"))
    assert [(found.kind, found.host) for found in (over_http, over_git)] == [("refused", HOST)] * 2
    assert over_git.detail == f"{HOST}[0: {HOST}]: errno=Connection refused"


@pytest.mark.parametrize("scheme", ["http", "git"])
def test_host_not_found(here: Repo, scheme: str) -> None:
    # A label of more than 63 characters is refused by the resolver itself: no name server is asked.
    host = "x" * 64 + ".invalid"
    found = failed(ask(here, f"{scheme}://{host}/r"))
    assert (found.kind, found.host) == ("host-not-found", host)


@pytest.mark.parametrize(
    ("status", "kind"), [(403, "access-denied"), (404, "not-found"), (429, "rate-limited"), (500, "protocol")]
)
def test_http_statuses(here: Repo, status: int, kind: str) -> None:
    with http_answering(status, "no\n") as site:
        found = failed(ask(here, site.url("r")))
    assert (found.kind, found.host) == (kind, HOST)


def test_a_login_page_is_no_answer(here: Repo) -> None:
    with http_answering(200, "<html>\n", content_type="text/html") as site:
        found = failed(ask(here, site.url("r")))
    assert found.kind == "protocol"
    assert found.detail.endswith("not valid: is this a git repository?")


@pytest.mark.parametrize("page", ["", "<html>"])
def test_a_page_that_git_takes_for_an_empty_list_is_no_answer(here: Repo, page: str) -> None:
    with http_answering(200, page, content_type="text/html") as site:
        assert here.git("ls-remote", site.url("r")) == ""
        for asked in (
            ask(here, site.url("r")),
            ask_remote(here.port(), site.url("r"), Deadline(30), with_default=True),
        ):
            assert failed(asked) == Failure(
                kind="protocol", detail="the answer is empty, and not in git's protocol", host=HOST
            )


def test_tls_that_cannot_be_agreed_on(here: Repo) -> None:
    with breaking_listener(b"HTTP/1.0 400 no TLS here\r\n\r\n") as port:
        found = failed(ask(here, f"https://{HOST}:{port}/r"))
    assert (found.kind, found.host) == ("tls", HOST)


@pytest.mark.parametrize("words", [b"", b"0032", b"0010version 1\n00", b"HTTP/1.0 200 OK\r\n\r\n"])
def test_a_server_that_breaks_off(here: Repo, words: bytes) -> None:
    with breaking_listener(words) as port:
        found = failed(ask(here, f"git://{HOST}:{port}/r"))
    assert (found.kind, found.host) == ("protocol", HOST)


@needs_proc
@pytest.mark.parametrize("scheme", ["http", "git"])
def test_a_server_that_never_answers_is_left_at_the_deadline(here: Repo, scheme: str) -> None:
    marker = str(here.path)
    with silent_listener() as port:
        found = failed(ask(here, f"{scheme}://{HOST}:{port}/r", 0.3, MARKER=marker))
    assert (found.kind, found.host) == ("timed-out", HOST)
    assert re.fullmatch(r"no answer within \d+\.\d s", found.detail)
    assert alive(f"MARKER={marker}") == []


def test_a_deadline_that_has_passed_asks_in_vain(here: Repo, source: Repo) -> None:
    assert failed(ask(here, str(source.path), 0)).kind == "timed-out"


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("ada@h: Permission denied (publickey).", "access-denied"),
        ("Host key verification failed.", "unknown-host-key"),
        ("ssh: Could not resolve hostname h: Name or service not known", "host-not-found"),
    ],
)
def test_the_users_own_ssh_command_is_what_runs(here: Repo, words: str, kind: str) -> None:
    script = here.path / "ssh"
    script.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 255\n", encoding="utf-8")
    script.chmod(0o755)
    by_variable = failed(ask(here, "ssh://ada@h/r", GIT_SSH_COMMAND=str(script)))
    here.git("config", "core.sshCommand", str(script))
    by_config = failed(ask(here, "ada@h:r"))
    assert by_variable == by_config == Failure(kind=kind, detail=words, host="h")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["--upload-pack=touch {mark}; git-upload-pack", "-q"])
def test_names_with_a_dash_are_no_options(here: Repo, source: Repo, text: str) -> None:
    here.git("remote", "add", "origin", str(source.path))
    mark = here.path / "mark"
    for asked in (ask(here, text.format(mark=mark)), ask_remote(here.port(), text, Deadline(30), with_default=True)):
        assert failed(asked).kind in {"not-found", "unknown", "protocol"}
    assert not mark.exists()


def test_nothing_of_a_secret_is_left_in_a_failure(here: Repo) -> None:
    with refusing_port() as port:
        for userinfo in ("ada:s3cret", "s3cret", "ada:s3/cret"):
            found = failed(ask(here, f"http://{userinfo}@{HOST}:{port}/r"))
            assert "cret" not in f"{found.detail} {found.host}"


def test_a_foreign_language_changes_nothing(here: Repo) -> None:
    found = failed(ask(here, "/nowhere", LANGUAGE="de", LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8"))
    assert found.detail == "fatal: '/nowhere' does not appear to be a git repository"


def test_a_repository_of_another_user(here: Repo, source: Repo) -> None:
    script = here.path / "foreign"
    body = 'case "$*" in *ls-remote*) export GIT_TEST_ASSUME_DIFFERENT_OWNER=1;; esac'
    script.write_text(f'#!/bin/sh\n{body}\nexec git "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    here.git("config", "--global", "safe.directory", str(here.path))
    port = here.port(executable=str(script))
    assert failed(ask_remote(port, str(source.path), Deadline(30))).kind == "ownership"


def test_the_environment_is_not_needed_for_the_servers() -> None:
    assert "GIT_PROJECT_ROOT" not in os.environ


def test_parse_advertised() -> None:
    oids = [letter * 40 for letter in "abcde"]
    names = ["refs/heads/HEAD", "refs/heads/x", "refs/tags/v1", "refs/tags/v1^{}", "refs/pull/1/head"]
    text = "".join(f"{oid}\t{name}\n" for oid, name in zip(oids, names, strict=True))
    assert parse_advertised(text) == RemoteAnswer(branches={"x": oids[1]}, tags={"v1": oids[3]})
    assert parse_advertised("") == RemoteAnswer(branches={}, tags={})
    long = "f" * 64
    assert parse_advertised(f"{long}\trefs/heads/x\n").branches == {"x": long}


@pytest.mark.parametrize(
    "text",
    [
        f"{'a' * 40} refs/heads/x\n",
        f"{'a' * 40}\trefs/heads/x\trefs/heads/y\n{'b' * 40}\n",
        f"{'a' * 40}\trefs/heads/x\n\n{'b' * 40}\trefs/heads/y\n",
        "a\trefs/heads/x\n",
        "moved\tpermanently\n",
        "\n",
    ],
)
def test_a_list_in_another_form_is_none(text: str) -> None:
    with pytest.raises(SetupError, match="unknown form"):
        parse_advertised(text)


@pytest.mark.parametrize(
    ("text", "branch"),
    [
        ("ref: refs/heads/a/b\tHEAD\n{oid}\tHEAD\n{oid}\trefs/heads/a/b\n", "a/b"),
        ("ref: refs/heads/x\trefs/remotes/origin/HEAD\n{oid}\tHEAD\n", None),
        ("ref: refs/other/x\tHEAD\n", None),
        ("{oid}\tHEAD\n", None),
        ("", None),
    ],
)
def test_the_default_is_what_head_leads_to(text: str, branch: str | None) -> None:
    assert parse_advertised(text.format(oid="a" * 40)).default == branch


def test_a_symref_among_the_branches_is_listed_like_any_other(here: Repo, source: Repo) -> None:
    source.git("symbolic-ref", "refs/heads/alias", "refs/heads/release/1.2")
    answer = ask_remote(here.port(), str(source.path), Deadline(30), with_default=True)
    assert isinstance(answer, RemoteAnswer)
    assert (answer.branches["alias"], answer.default) == (source.oid("release/1.2"), "main")
