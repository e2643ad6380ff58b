"""Which GitHub is asked, and whose token goes there."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from collectors.errors import InvalidInput
from collectors.github.site import api_of, find_site, find_token, gh_of
from collectors.process import Deadline

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = {"GH_TOKEN": "gh", "GITHUB_TOKEN": "github"}
ENTERPRISE = {"GH_ENTERPRISE_TOKEN": "ent", "GITHUB_ENTERPRISE_TOKEN": "enterprise"}
HOST = "ghe.example.com"
RUNNER = {"GITHUB_SERVER_URL": f"https://{HOST}"}


def no_gh(host: str) -> str | None:  # noqa: ARG001 - a port
    return None


@pytest.mark.parametrize(
    ("environ", "host", "token"),
    [
        ({}, "github.com", None),
        (PUBLIC, "github.com", "gh"),
        (PUBLIC, "GitHub.com", "gh"),
        ({"GITHUB_TOKEN": "github"}, "github.com", "github"),
        ({"GH_TOKEN": " ", "GITHUB_TOKEN": "github\n"}, "github.com", "github"),
        (PUBLIC | {"GITHUB_SERVER_URL": "https://github.com"}, "github.com", "gh"),
        # A repository's remote may name any host: nothing goes there that is not bound to it.
        (PUBLIC | ENTERPRISE, "github.evil.example", None),
        (PUBLIC | ENTERPRISE | {"GH_HOST": HOST}, "github.evil.example", None),
        (PUBLIC, "evilgithub.com", None),
        (PUBLIC, "github.com.evil.example", None),
        (PUBLIC, HOST, None),
        (PUBLIC | ENTERPRISE, HOST, None),
        (PUBLIC | ENTERPRISE | {"GH_HOST": HOST}, HOST, "ent"),
        (PUBLIC | {"GH_HOST": HOST}, HOST, None),
        ({"GITHUB_ENTERPRISE_TOKEN": "enterprise", "GH_HOST": HOST.upper()}, HOST, "enterprise"),
        (ENTERPRISE | {"GH_HOST": HOST}, "github.com", None),
        # An Actions run on an Enterprise server: its GITHUB_TOKEN is that server's.
        (RUNNER | {"GITHUB_TOKEN": "github"}, HOST, "github"),
        (RUNNER | {"GITHUB_TOKEN": "github"}, "github.com", None),
        (RUNNER | PUBLIC, "github.com", "gh"),
        (RUNNER | PUBLIC, HOST, "github"),
        # A tenant of github.com under ghe.com.
        (PUBLIC, "acme.ghe.com", None),
        (PUBLIC | {"GH_HOST": "acme.ghe.com"}, "acme.ghe.com", "gh"),
        (PUBLIC | {"GH_HOST": "acme.ghe.com"}, "other.ghe.com", None),
        (PUBLIC | {"GH_HOST": "acme.ghe.com", "GITHUB_SERVER_URL": "https://acme.ghe.com"}, "acme.ghe.com", "gh"),
    ],
)
def test_a_token_goes_to_the_host_it_is_bound_to(environ: dict[str, str], host: str, token: str | None) -> None:
    assert find_token(environ, host, no_gh) == token


def test_gh_is_asked_for_this_host_where_the_environment_has_none() -> None:
    asked: list[str] = []

    def gh(host: str) -> str | None:
        asked.append(host)
        return "gho_x\n"

    assert find_token(PUBLIC, "GHE.example.com", gh) == "gho_x"
    assert find_token(PUBLIC, "github.com", gh) == "gh"
    assert asked == [HOST]


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "tökén", "a\x00b"])
def test_what_is_no_token_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(InvalidInput, match="GH_TOKEN holds characters") as caught:
        find_token({"GH_TOKEN": token}, "github.com", no_gh)
    assert token not in str(caught.value)


@pytest.mark.parametrize("host", ["", "-x", "a b", "a/b", "a@b", "host:port", "host:123456", "a\n"])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(InvalidInput, match="no host name"):
        api_of(host)


def test_the_site_of_a_host() -> None:
    site = find_site({"GH_TOKEN": "gh", "SSL_CERT_FILE": "/etc/a.pem"}, "GitHub.com", no_gh)
    assert (site.host, site.api, site.token, site.ca) == ("github.com", "https://api.github.com", "gh", "/etc/a.pem")
    site = find_site({"CURL_CA_BUNDLE": "/b", "REQUESTS_CA_BUNDLE": "/c"}, f"{HOST}:8443", no_gh)
    assert (site.api, site.token, site.ca) == (f"https://{HOST}:8443/api/v3", None, "/c")


# --- gh itself ---

GH = """#!/bin/sh
echo "$@" >> "$HOME/asked"
env | grep -E '^(GH|GITHUB)_' | sort >> "$HOME/asked"
[ "$4" = "" ] && [ "$3" = "--hostname=ghe.example.com" ] && echo gho_stored && exit 0
echo 'no oauth token found' >&2
exit 1
"""


def installed_gh(folder: Path) -> dict[str, str]:
    path = folder / "bin" / "gh"
    path.parent.mkdir()
    path.write_text(GH, encoding="utf-8")
    path.chmod(0o755)
    return dict(os.environ) | PUBLIC | ENTERPRISE | {"PATH": f"{path.parent}:{os.environ['PATH']}"}


def test_an_installed_gh_is_asked_without_the_environments_tokens(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = installed_gh(tmp_path)
    monkeypatch.setenv("PATH", environ["PATH"])
    ask = gh_of(environ, tmp_path, Deadline(60))
    assert ask(HOST) == "gho_stored"
    assert ask("github.com") is None
    said = (home / "asked").read_text(encoding="utf-8").splitlines()
    quiet = ["GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1"]
    assert said == [f"auth token --hostname={HOST}", *quiet, "auth token --hostname=github.com", *quiet]


def test_without_gh_there_is_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gh_of({"PATH": str(tmp_path)}, tmp_path, Deadline(60))(HOST) is None


def test_a_gh_that_does_not_answer_has_no_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environ = installed_gh(tmp_path)
    monkeypatch.setenv("PATH", environ["PATH"])
    assert gh_of(environ, tmp_path, Deadline(0))(HOST) is None
