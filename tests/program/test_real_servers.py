"""The whole program against https with a private authority, sshd, proxies that refuse, a server that dies half-way.

Each failure has its kind, its host and its exit code; the user's own set-up decides, and nothing ever prompts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.program import COMMAND, base_branch, environment, resolve, settled, source
from tests.support.repositories import Repo, Workshop
from tests.support.servers import (
    HOST,
    Authority,
    SshSite,
    dying_backend,
    http_answering,
    http_backend,
    make_authority,
    refusing_port,
    ssh_server,
    why_no_sshd,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.program import Answer

LINE = "refs/remotes/origin/release/1.2"


@pytest.fixture
def remote(workshop: Workshop) -> Repo:
    """A remote with main and release/1.2."""
    repo = workshop.init("acme/app.git", "--bare", commit=False)
    work = workshop.clone(repo, "work")
    work.commit("first")
    work.git("push", "--quiet", "origin", "main", "main:release/1.2")
    return repo


@pytest.fixture
def clone(workshop: Workshop, remote: Repo) -> Repo:
    """A clone whose release/1.2 fell behind."""
    made = workshop.clone(remote, "clone")
    remote.commit("newer", branch="release/1.2")
    return made


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A private certificate authority; its use is skipped where openssl is not there."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def ssh_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshSite]:
    """An ssh server with its own host key; its use is skipped where sshd is not there."""
    why = why_no_sshd()
    if why is not None:
        pytest.skip(why)
    with ssh_server(tmp_path_factory.mktemp("ssh")) as site:
        yield site


def ask(clone: Repo, url: str, *options: str, code: int = 0, environ: Mapping[str, str] | None = None) -> Answer:
    clone.git("config", "remote.origin.url", url)
    return resolve(clone.path, "--issue-version", "1.2.1", *options, code=code, environ=environ)


def is_fresh(decision: Answer, remote: Repo) -> bool:
    return settled(decision) == ("release/1.2", LINE, remote.oid("release/1.2"), "derived", "fresh")


def failed(decision: Answer, clone: Repo) -> tuple[str, str | None]:
    """What kind of failure, and of which host; the cached ref serves, and the log has one dated line that says so."""
    old = clone.oid(LINE)
    assert settled(decision) == ("release/1.2", LINE, old, "derived", "cached-stale")
    assert decision["listingComplete"] is False
    told = source(decision, "remote")
    assert told["state"] == "failed"
    (said,) = decision["log"]
    assert said[20:] == (
        f" release/1.2: cached-stale: {LINE} serves at {old}; origin did not answer ({told['kind']}: {told['detail']})"
    )
    return told["kind"], told["host"]


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


# --- https ---


def test_https_with_a_private_authority_and_basic_authentication(
    remote: Repo, clone: Repo, workshop: Workshop, authority: Authority
) -> None:
    with http_backend(workshop.folder, credentials=("ada", "s3cret"), authority=authority) as site:
        url = site.url("acme/app.git")
        with_password = site.url("acme/app.git", userinfo="ada:s3cret")
        untrusted = ask(clone, with_password)
        assert failed(untrusted, clone) == ("tls", HOST)
        trusting = {"GIT_SSL_CAINFO": str(authority.authority)}
        wanted = ask(clone, url, environ=trusting)
        assert failed(wanted, clone) == ("auth-wanted", HOST)
        wrong = ask(clone, site.url("acme/app.git", userinfo="ada:wr0ng"), environ=trusting)
        assert failed(wrong, clone) == ("auth-refused", HOST)
        missing = ask(clone, site.url("acme/gone.git", userinfo="ada:s3cret"), environ=trusting)
        assert failed(missing, clone) == ("not-found", HOST)
        clone.git("config", "http.sslCAInfo", str(authority.authority))
        right = ask(clone, with_password)
    assert is_fresh(right, remote)
    for decision in (untrusted, wanted, wrong, missing, right):
        assert "s3cret" not in str(decision)
        assert "wr0ng" not in str(decision)


# --- a token from an askpass program ---


@pytest.mark.parametrize("way", ["GIT_ASKPASS", "core.askPass"])
def test_a_token_that_an_askpass_program_hands_over(
    remote: Repo, clone: Repo, workshop: Workshop, tmp_path: Path, way: str
) -> None:
    program = script(tmp_path / "askpass", 'case "$1" in Username*) echo ada;; *) echo s3cret;; esac')
    if way == "core.askPass":
        clone.git("config", "core.askPass", program)
    with http_backend(workshop.folder, credentials=("ada", "s3cret")) as site:
        decision = ask(clone, site.url("acme/app.git"), environ={way: program} if way == "GIT_ASKPASS" else {})
    assert is_fresh(decision, remote)
    assert "s3cret" not in str(decision)


def test_an_askpass_program_that_would_ask_a_person_reaches_nobody(
    clone: Repo, workshop: Workshop, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    ways = 'echo "${DISPLAY-none} ${WAYLAND_DISPLAY-none} ${VSCODE_GIT_IPC_HANDLE-none}"'
    program = script(
        tmp_path / "askpass", f"{ways} >>{heard}; (: </dev/tty) 2>>{heard} && echo terminal >>{heard}; exit 1"
    )
    window = script(tmp_path / "window", f"echo window >>{heard}; exit 1")
    ways_to_ask = {"DISPLAY": ":0", "WAYLAND_DISPLAY": "w", "VSCODE_GIT_IPC_HANDLE": "v", "SSH_ASKPASS": window}
    with http_backend(workshop.folder, credentials=("ada", "s3cret")) as site:
        decision = ask(clone, site.url("acme/app.git"), environ=ways_to_ask | {"GIT_ASKPASS": program})
        assert failed(decision, clone) == ("auth-wanted", HOST)
        lines = heard.read_text().splitlines()
        assert [line for line in lines if "/dev/tty" not in line] == ["none none none"]
        assert any("/dev/tty" in line for line in lines)
        heard.unlink()
        without = ask(clone, site.url("acme/app.git"), environ=ways_to_ask)
    assert failed(without, clone) == ("auth-wanted", HOST)
    assert not heard.exists()


# --- ssh ---


@pytest.mark.parametrize("way", ["GIT_SSH_COMMAND", "core.sshCommand", "GIT_SSH"])
def test_ssh_with_the_users_own_command(remote: Repo, clone: Repo, ssh_site: SshSite, tmp_path: Path, way: str) -> None:
    environ = {}
    if way == "core.sshCommand":
        clone.git("config", "core.sshCommand", ssh_site.command())
    elif way == "GIT_SSH":
        environ = {"GIT_SSH": script(tmp_path / "my-ssh", f'exec {ssh_site.command()} "$@"'), "GIT_SSH_VARIANT": "ssh"}
    else:
        environ = {"GIT_SSH_COMMAND": ssh_site.command()}
    assert is_fresh(ask(clone, ssh_site.url(remote.path), environ=environ), remote)


@pytest.mark.parametrize(
    ("key", "hosts", "kind"),
    [
        ("key", "nobody", "unknown-host-key"),
        ("key", "changed", "unknown-host-key"),
        ("locked", "hosts", "access-denied"),
        ("stranger", "hosts", "access-denied"),
    ],
)
def test_ssh_that_would_ask_or_is_refused_fails_at_once_and_asks_nobody(
    remote: Repo, clone: Repo, ssh_site: SshSite, key: str, hosts: str, kind: str
) -> None:
    known = (ssh_site.folder / "hosts").read_text().split()[0]
    (ssh_site.folder / "changed").write_text(f"{known} {(ssh_site.folder / 'stranger.pub').read_text()}")
    clone.git("config", "remote.origin.url", ssh_site.url(remote.path))
    clone.git("config", "core.sshCommand", ssh_site.command(key=key, hosts=hosts))
    # With a terminal of its own, on which ssh would ask if it could.
    leader, follower = os.openpty()
    arguments = ["resolve", str(clone.path), "--autopilot", "--issue-version", "1.2.1"]
    with os.fdopen(leader, "rb", buffering=0) as screen, os.fdopen(follower, "r+b", buffering=0) as terminal:
        ran = subprocess.run(
            ["setsid", "--ctty", "--wait", *COMMAND, *arguments],
            stdin=terminal,
            capture_output=True,
            env=environment(),
            check=False,
        )
        os.set_blocking(screen.fileno(), False)
        assert screen.read() is None  # not a byte was written to it
    assert ran.returncode == 0, ran.stderr
    decision = json.loads(ran.stdout)
    assert failed(decision, clone) == (kind, HOST)


def test_what_cannot_be_asked_for_over_ssh_is_a_question_to_a_person(
    remote: Repo, clone: Repo, ssh_site: SshSite
) -> None:
    url, mine = ssh_site.url(remote.path), {"GIT_SSH_COMMAND": ssh_site.command(hosts="nobody")}
    clone.git("config", "remote.origin.url", url)
    asked = base_branch("resolve", clone.path, environ=mine)
    assert asked.code == 3
    (question,) = asked.json()["questions"]
    assert question["kind"] == "fetch-failed"
    assert question["question"] == (
        f"origin ({HOST}) did not answer for acme/app: unknown-host-key: Host key verification failed.."
        " How should the run go on?"
    )
    stopped = ask(clone, url, "--on-fetch-failure", "abort", code=4, environ=mine)
    assert settled(stopped) == (None, None, None, None, "aborted")


def test_a_repository_that_is_not_there_over_ssh(remote: Repo, clone: Repo, ssh_site: SshSite) -> None:
    gone = ssh_site.url(remote.path.with_name("gone.git"))
    assert failed(ask(clone, gone, environ={"GIT_SSH_COMMAND": ssh_site.command()}), clone) == ("not-found", HOST)


# --- proxies ---


def test_a_proxy_that_nobody_answers_for(clone: Repo) -> None:
    with refusing_port() as port:
        clone.git("config", "http.proxy", f"http://{HOST}:{port}")
        decision = ask(clone, "http://git.example.invalid/acme/app.git")
    assert failed(decision, clone) == ("refused", "git.example.invalid")


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(("status", "kind"), [(403, "access-denied"), (407, "auth-wanted"), (502, "protocol")])
def test_a_proxy_that_refuses(clone: Repo, scheme: str, status: int, kind: str) -> None:
    with http_answering(status) as site:
        proxy = f"http://ada:s3cret@{HOST}:{site.port}"
        decision = ask(clone, f"{scheme}://git.example.invalid/acme/app.git", environ={f"{scheme}_proxy": proxy})
    assert failed(decision, clone) == (kind, "git.example.invalid")
    assert "s3cret" not in str(decision)


# --- a server that dies half-way ---


def test_a_server_that_dies_while_it_sends(clone: Repo, workshop: Workshop) -> None:
    before = clone.refs()
    with dying_backend(workshop.folder) as site:
        decision = ask(clone, site.url("acme/app.git"))
    old = before[LINE]
    assert clone.refs() == before
    assert settled(decision) == ("release/1.2", LINE, old, "derived", "cached-stale")
    assert decision["baseBranchEvidence"]["refProvenance"] == "remote"
    fetch, serves = decision["log"]
    assert fetch[20:].startswith(" release/1.2 could not be fetched: protocol: ")
    assert serves[20:] == (
        f" release/1.2: cached-stale: {LINE} serves at {old}; the advertised commit was not brought here"
    )
