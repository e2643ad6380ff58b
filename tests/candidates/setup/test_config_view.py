"""What `base-branch config` shows: every key with its origin, in one order, the same bytes, and no token."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidates.contract import encode_pretty
from candidates.setup.config_view import ConfigView, config_lines, view_configuration
from collectors.config.configuration import Configuration, read_configuration
from collectors.config.keys import KEYS, PRECEDENCE, REPOSITORY_MAY_SET

TOKEN = "t0k3n-that-must-not-show"  # noqa: S105 - what the tests look for
NOWHERE = Path("/nonexistent/config.toml")


def read(
    flags: dict[str, object] | None = None, environ: dict[str, str] | None = None, user: Path = NOWHERE
) -> Configuration:
    return read_configuration(flags or {}, environ or {}, None, lambda: user)


def text_of(configuration: Configuration) -> list[str]:
    return ["".join(text for _, text in line) for line in config_lines(configuration)]


def row(configuration: Configuration, key: str) -> str:
    return next(" ".join(line.split()) for line in text_of(configuration) if line.startswith(f"{key} "))


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(f'language = "tr"\n[jira]\nurl = "https://own.example:8443/jira"\ntoken = "{TOKEN}"\n', "utf-8")
    path.chmod(0o600)
    return path


def test_every_key_has_its_row_in_the_order_of_the_table() -> None:
    assert [line.partition(" ")[0] for line in text_of(read())[: len(KEYS) + 1]] == [*KEYS, ""]
    assert [value.key for value in view_configuration(read()).values] == list(KEYS)


@pytest.mark.parametrize(
    ("flags", "environ", "key", "said"),
    [
        ({"--remote": "fork"}, {}, "remote", "remote fork (--remote)"),
        ({"--autopilot": True}, {}, "autonomy", "autonomy full (--autopilot)"),
        ({}, {"BASE_BRANCH_TIMEOUT": "2.50"}, "timeout", "timeout 2.5 (BASE_BRANCH_TIMEOUT)"),
        ({}, {"BASE_BRANCH_BRANCH_TTL_DAYS": "0"}, "branchTtlDays", "branchTtlDays 0 (BASE_BRANCH_BRANCH_TTL_DAYS)"),
        ({"--issue-optional": False}, {}, "issueOptional", "issueOptional no (--issue-optional)"),
        ({"--ask-on-issue": True}, {}, "askOnIssue", "askOnIssue yes (--ask-on-issue)"),
        ({"--default-order": "a,b/*"}, {}, "defaultOrder", "defaultOrder a, b/* (--default-order)"),
        ({"--default-order": ","}, {}, "defaultOrder", "defaultOrder none (--default-order)"),
        ({}, {}, "defaultOrder", "defaultOrder not set (default)"),
        ({}, {}, "timeout", "timeout 20 (default)"),
        ({}, {}, "jira.token", "jira.token not set (default)"),
        ({}, {"JIRA_TOKEN": TOKEN}, "jira.token", "jira.token set (from JIRA_TOKEN)"),
        ({}, {"GITHUB_TOKEN": TOKEN}, "github.token", "github.token set (from GITHUB_TOKEN)"),
    ],
)
def test_a_row_says_the_value_and_where_it_came_from(
    flags: dict[str, object], environ: dict[str, str], key: str, said: str
) -> None:
    assert row(read(flags, environ), key) == said


def test_a_value_of_a_file_says_which_file_and_which_key(user_file: Path) -> None:
    found = read(user=user_file)
    assert row(found, "language") == f"language tr ({user_file}: language)"
    assert row(found, "jira.token") == f"jira.token set (from {user_file}: jira.token)"


def test_each_token_says_where_it_goes_and_what_named_that_place(user_file: Path) -> None:
    both = {"JIRA_TOKEN": "abcdef", "JIRA_URL": "https://dc.example"}
    assert text_of(read(environ=both, user=user_file))[-3:] == [
        "Jira tokens",
        "  JIRA_TOKEN: goes to https://dc.example alone, which JIRA_URL names",
        f"  {user_file}: jira.token: goes to https://own.example:8443 alone, which {user_file}: jira.url names",
    ]
    bound = view_configuration(read(environ=both, user=user_file)).jira_tokens
    assert [(one.token.source, one.goes_to, one.bound_by.name) for one in bound] == [
        ("environment", "https://dc.example", "JIRA_URL"),
        ("user", "https://own.example:8443", "jira.url"),
    ]
    six = text_of(read(environ={"JIRA_TOKEN": "abcdef", "JIRA_URL": "http://[::1]:80"}))[-1]
    assert six == "  JIRA_TOKEN: goes to http://[::1] alone, which JIRA_URL names"


def test_a_token_that_goes_nowhere_says_so_and_what_to_set() -> None:
    said = "  JIRA_TOKEN: goes nowhere, because nothing of yours names a site; set JIRA_URL"
    assert text_of(read(environ={"JIRA_TOKEN": TOKEN}))[-1] == said


def test_no_token_and_no_credential_is_shown(user_file: Path) -> None:
    environ = {
        "JIRA_URL": f"https://me:{TOKEN}@jira.example.com",
        "JIRA_TOKEN": TOKEN,
        "GH_TOKEN": TOKEN,
        "GH_ENTERPRISE_TOKEN": TOKEN,
        "BASE_BRANCH_GITHUB_API_URL": f"https://{TOKEN}@ghe.example.com/api/v3",
        "BASE_BRANCH_PROJECT_KEY": "ghp_" + "a" * 36,
        "BASE_BRANCH_TOKEN": TOKEN,
    }
    found = read(environ=environ, user=user_file)
    shown = encode_pretty(view_configuration(found)).decode() + "\n".join(text_of(found)) + repr(found.held)
    assert TOKEN not in shown
    assert "ghp_" not in encode_pretty(view_configuration(found)).decode() + "\n".join(text_of(found))
    assert row(found, "jira.url") == "jira.url https://jira.example.com (JIRA_URL)"
    assert row(found, "projectKey") == "projectKey *** (BASE_BRANCH_PROJECT_KEY)"
    values = {value.key: value.value for value in view_configuration(found).values}
    assert (values["jira.token"], values["github.token"], values["jira.email"]) == ("set", "set", None)


def test_warnings_stand_at_the_end_and_in_the_json() -> None:
    found = read(environ={"BASE_BRANCH_REMOT": "x"})
    said = "BASE_BRANCH_REMOT is not known; the nearest is BASE_BRANCH_REMOTE"
    assert text_of(found)[-2:] == ["Warnings", f"  {said}"]
    assert view_configuration(found).warnings == (said,)


def test_the_json_is_versioned_and_says_who_may_set_each_key() -> None:
    data = encode_pretty(view_configuration(read({"--remote": "fork"})))
    told = json.loads(data)
    assert (told["schema"], told["precedence"]) == ("base-branch/config@1", list(PRECEDENCE))
    assert told["values"][0] == {
        "key": "remote",
        "value": "fork",
        "origin": {"source": "flag", "name": "--remote", "file": None},
        "maySet": ["flag", "environment", "repository", "user"],
    }
    assert {value["key"] for value in told["values"] if "repository" in value["maySet"]} == set(REPOSITORY_MAY_SET)
    assert encode_pretty(msgspec.json.decode(data, type=ConfigView)) == data


def test_what_would_move_the_cursor_is_escaped_for_a_person_and_exact_in_the_json(tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31mb.toml"
    path.write_text("timeout = 3\n", "utf-8")
    found = read(user=path)
    assert "\x1b" not in "".join(text_of(found))
    assert next(v for v in view_configuration(found).values if v.key == "timeout").origin.file == str(path)


NAMES = ("JIRA_URL", "JIRA_TOKEN", "BASE_BRANCH_GITHUB_API_URL", "BASE_BRANCH_X", "BASE_BRANCH_Y")
PAIRS = st.dictionaries(st.sampled_from(NAMES), st.just("https://a.example"))


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_same_inputs_in_any_order_give_the_same_bytes(pairs: dict[str, str], random: Random) -> None:
    shuffled = list(pairs.items())
    random.shuffle(shuffled)
    flags: dict[str, object] = {"--remote": "a", "--timeout": 3, "--autopilot": True}
    one = read(flags, pairs)
    two = read(dict(reversed(flags.items())), dict(shuffled))
    assert encode_pretty(view_configuration(one)) == encode_pretty(view_configuration(two))
    assert config_lines(one) == config_lines(two)


def test_what_a_repository_may_set_is_told_with_its_reason() -> None:
    said = text_of(read())
    title = said.index("What a repository's own .base-branch.toml may set")
    told = [line.split(maxsplit=1) for line in said[title + 1 :]]
    assert told == [[name, why] for name, why in REPOSITORY_MAY_SET.items()]
