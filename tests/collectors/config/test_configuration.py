"""The configuration: precedence key by key, whom a token goes to, what a repository may say, what stops a run."""

from __future__ import annotations

import json
import logging
import os
import pickle
import re
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from candidates.boundary import DEBUG_VARIABLE
from collectors.config.configuration import (
    Configuration,
    bind_jira_tokens,
    default_user_file,
    merge,
    overlay,
    read_configuration,
    read_environment,
    read_flags,
    unknown_variables,
)
from collectors.config.files import LARGEST_FILE, REPOSITORY_FILE, parse_file, read_bounded
from collectors.config.keys import (
    FLAGS,
    KEYS,
    PRECEDENCE,
    REPOSITORY_MAY_SET,
    Key,
    Origin,
    Secret,
    SourcedValue,
    SourceName,
    expected,
    from_text,
    from_value,
    nearest,
    parse_address,
)
from collectors.errors import InvalidInput
from collectors.github.site import find_token
from collectors.stores.preferences import preferences_path
from ranking.facts import Settings

TOKEN = "t0k3n-that-must-not-show"  # noqa: S105 - what the tests look for

# Two values of each key that neither equal its default nor one another: as TOML, and as text.
VALUES: Mapping[str, tuple[tuple[object, str], ...]] = {
    "remote": (("fork", "fork"), ("upstream", "upstream"), ("mine", "mine"), ("theirs", "theirs")),
    "projectKey": (("APP", "APP"), ("acme/app", "acme/app"), ("b", "b"), ("c", "c")),
    "timeout": ((3, "3"), (4.5, "4.5"), (5, "5"), (6, "6")),
    "multipleVersions": (("lowest", "lowest"), ("highest", "highest"), ("development", "development")),
    "onConflict": (("derived", "derived"), ("ask", "ask"), ("remembered", "remembered")),
    "resolveOrder": (
        (["remembered"], "remembered"),
        (["derived", "remembered"], "derived,remembered"),
        (["default"], "default"),
        (["default", "remembered"], "default, remembered"),
    ),
    "defaultOrder": (("seed", "seed"), (["main"], "main"), (["release/*", "main"], "release/*, main"), (["x"], "x")),
    "branchTtlDays": ((0, "0"), (1, "1"), (2, "2")),
    "maxCandidates": ((1, "1"), (2, "2"), (3, "3")),
    "deriveFloor": ((0.5, "0.5"), (1, "1"), (0, "0")),
    "deriveAt": ((0.5, "0.5"), (1, "1"), (0, "0")),
    "workPrefixes": ((["wip/"], "wip/"), (["a/", "b/"], "a/,b/"), (["c/"], "c/"), (["d/"], "d/")),
    "autonomy": (("guided", "guided"), ("full", "full"), ("manual", "manual")),
    "onFetchFailure": (("abort", "abort"), ("local", "local"), ("cached", "cached")),
    "refresh": (("all", "all"), ("none", "none"), ("probe", "probe")),
    "issueOptional": ((True, "true"), (False, "no"), (True, "ON")),
    "language": (("tr", "tr"), ("de-AT", "de-AT"), ("fr", "fr")),
    "askOnIssue": ((True, "yes"), (False, "0"), (True, "1")),
    "maxRefs": ((1000, "1000"), (1, "1"), (10_000_000, " 10000000 ")),
    "runs.keep": ((20, "20"), (0, "0"), (3, " 3 ")),
    "jira.url": (("https://a.example", "https://a.example"), ("https://b.example/jira", "https://b.example/jira")),
    "jira.email": (("a@example.com", "a@example.com"), ("b@example.com", "b@example.com")),
    "jira.token": (("abcdef", "abcdef"), ("ghijkl", "ghijkl")),
    "jira.fields": ((["Target Release"], "Target Release"), (["A", "B"], "A, B"), (["C"], "C")),
    "github.host": (("ghe.example.com", "ghe.example.com"), ("ghe.example.org:8443", "ghe.example.org:8443")),
    "github.apiUrl": (
        ("https://a.example/api/v3", "https://a.example/api/v3"),
        ("https://b.example", "https://b.example"),
    ),
    "github.token": (("abcdef", "abcdef"),),
    "github.enterpriseToken": (("abcdef", "abcdef"),),
}


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def user_file(tmp_path: Path) -> Path:
    return tmp_path / "user" / "config.toml"


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(0o600)
    return path


def read(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    repository: str | None = None,
    user: str | None = None,
    folder: Path,
) -> Configuration:
    """Read with a repository's and a user's file of these texts, laid out below a folder."""
    top, user_file = folder / "work", folder / "user" / "config.toml"
    for path, text in ((top / REPOSITORY_FILE, repository), (user_file, user)):
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        if text is not None:
            put(path, text)
    return read_configuration(flags or {}, environ or {}, top, lambda: user_file)


def refusal(call: Callable[[], object]) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        call()
    return caught.value


def toml(name: str, value: object) -> str:
    """One key as a line of TOML, below its table."""
    table, _, last = name.rpartition(".")
    return (f"[{table}]\n" if table else "") + f"{last} = {json.dumps(value)}\n"


# Precedence.


def test_the_values_tried_are_of_every_key() -> None:
    assert VALUES.keys() == KEYS.keys()


def test_every_setting_of_the_ranking_is_a_key_with_its_own_type_and_default() -> None:
    fields = msgspec.structs.fields(Settings)
    assert [(KEYS[f.encode_name].type, KEYS[f.encode_name].default) for f in fields] == [
        (f.type, f.default) for f in fields
    ]


@pytest.mark.parametrize("name", sorted(KEYS))
def test_whoever_is_stronger_wins_for_every_key_and_every_choice_of_sources(name: str, tmp_path: Path) -> None:
    key = KEYS[name]
    sources = [source for source in key.allowed() if source != "default"]
    for chosen in range(1 << len(sources)):
        given = [source for place, source in enumerate(sources) if chosen >> place & 1]
        flags: dict[str, object] = {}
        environ: dict[str, str] = {}
        files: dict[str, str] = {}
        values: dict[SourceName, object] = {}
        for place, source in enumerate(given):
            raw, text = VALUES[name][place % len(VALUES[name])]
            values[source] = from_value(key, raw, "")
            match source:
                case "flag":
                    flags[str(key.flag)] = text
                case "environment":
                    environ[key.variables[0]] = text
                case _:
                    files[source] = toml(name, raw)
        held = read(flags, environ, **files, folder=tmp_path).held[name]
        strongest: SourceName = given[0] if given else "default"
        assert held.origin.source == strongest
        assert held.value == values.get(strongest, key.default)


def test_each_value_keeps_where_it_came_from(tmp_path: Path) -> None:
    found = read(
        {"--remote": "fork", "--timeout": None},
        {"BASE_BRANCH_TIMEOUT": "4", "GH_HOST": "ghe.example.com"},
        repository='projectKey = "APP"\n[jira]\nfields = ["F"]\n',
        user='language = "tr"\n[jira]\nurl = "https://jira.example.com"\n',
        folder=tmp_path,
    )
    ours, theirs = str(tmp_path / "work" / REPOSITORY_FILE), str(tmp_path / "user" / "config.toml")
    assert {name: origin for name, origin in found.origins.items() if origin.source != "default"} == {
        "remote": Origin(source="flag", name="--remote"),
        "timeout": Origin(source="environment", name="BASE_BRANCH_TIMEOUT"),
        "github.host": Origin(source="environment", name="GH_HOST"),
        "projectKey": Origin(source="repository", name="projectKey", file=ours),
        "jira.fields": Origin(source="repository", name="jira.fields", file=ours),
        "language": Origin(source="user", name="language", file=theirs),
        "jira.url": Origin(source="user", name="jira.url", file=theirs),
    }
    assert str(found.origins["jira.fields"]) == f"{ours}: jira.fields"
    assert (str(found.origins["remote"]), str(found.origins["refresh"])) == ("--remote", "default")
    assert found.is_set("timeout")
    assert not found.is_set("refresh")


def test_the_record_holds_what_was_merged(tmp_path: Path) -> None:
    found = read(
        {"--derive-floor": 0.9, "--work-prefixes": ["wip/", "x/"]},
        {"BASE_BRANCH_DEFAULT_ORDER": "develop, release/*", "BASE_BRANCH_ISSUE_OPTIONAL": "on"},
        repository='multipleVersions = "lowest"\nresolveOrder = ["derived", "remembered"]\nremote = "upstream"\n',
        user="branchTtlDays = 3\nmaxCandidates = 7\naskOnIssue = true\nonConflict = 'ask'\n"
        "[github]\nhost = 'GHE.example.com'\n",
        folder=tmp_path,
    )
    assert found.settings == Settings(
        multiple_versions="lowest",
        on_conflict="ask",
        resolve_order=("derived", "remembered"),
        default_order=("develop", "release/*"),
        branch_ttl_days=3,
        max_candidates=7,
        derive_floor=0.9,
        work_prefixes=("wip/", "x/"),
    )
    assert (found.remote, found.issue_optional, found.ask_on_issue) == ("upstream", True, True)
    assert (found.autonomy, found.refresh, found.on_fetch_failure, found.timeout) == ("manual", "needed", None, 20.0)
    assert found.github.host == "GHE.example.com"
    assert found.warnings == ()


def test_a_bare_repository_has_no_file(user_file: Path) -> None:
    assert read_configuration({}, {}, None, lambda: user_file).held == merge(())


LAYERS = st.dictionaries(
    st.sampled_from(sorted(KEYS)),
    st.builds(
        SourcedValue,
        value=st.integers(),
        origin=st.builds(Origin, source=st.sampled_from(PRECEDENCE), name=st.text(max_size=3)),
    ),
)


@given(LAYERS, LAYERS, LAYERS)
def test_merging_is_associative_in_the_written_order(
    one: dict[str, SourcedValue], two: dict[str, SourcedValue], three: dict[str, SourcedValue]
) -> None:
    assert overlay(one, overlay(two, three)) == overlay(overlay(one, two), three)
    assert overlay({}, one) == one == overlay(one, {})


@given(st.lists(LAYERS, max_size=5))
def test_every_key_has_the_value_of_the_first_layer_that_sets_it(layers: list[dict[str, SourcedValue]]) -> None:
    merged = merge(layers)
    assert list(merged) == list(KEYS)
    for name, held in merged.items():
        assert held == next(
            (layer[name] for layer in layers if name in layer), SourcedValue(value=KEYS[name].default, origin=DEFAULT)
        )


DEFAULT = Origin(source="default")


def test_the_merged_layer_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        merge(())["remote"] = SourcedValue(value="x", origin=DEFAULT)  # type: ignore[index] # that is the point


# Flags.


def test_a_flag_that_was_not_given_sets_nothing() -> None:
    given: dict[str, object] = dict.fromkeys(FLAGS) | {
        "--autopilot": False,
        "--default-order": [],
        "--work-prefixes": (),
    }
    assert read_flags(given) == {}


def test_a_flag_of_false_or_zero_is_given() -> None:
    layer = read_flags({"--issue-optional": False, "--branch-ttl-days": 0, "--derive-floor": 0.0})
    assert {name: held.value for name, held in layer.items()} == {
        "issueOptional": False,
        "branchTtlDays": 0,
        "deriveFloor": 0.0,
    }


def test_autopilot_is_full_autonomy_and_says_by_which_flag() -> None:
    assert read_flags({"--autopilot": True}) == {
        "autonomy": SourcedValue(value="full", origin=Origin(source="flag", name="--autopilot"))
    }
    assert read_flags({"--autopilot": True, "--autonomy": "full"})["autonomy"].value == "full"


def test_autopilot_beside_another_autonomy_is_refused() -> None:
    said = str(refusal(lambda: read_flags({"--autopilot": True, "--autonomy": "manual"})))
    assert said == "--autonomy and --autopilot contradict each other"


def test_a_flag_that_does_not_fit_is_named() -> None:
    problem = refusal(lambda: read_flags({"--max-candidates": 0}))
    assert (problem.where, str(problem)) == (
        "--max-candidates",
        "--max-candidates: expected a whole number from 1, got 0",
    )


def test_what_binds_a_token_has_no_flag() -> None:
    assert [name for name, key in KEYS.items() if key.flag is None] == [
        name for name in KEYS if name.startswith(("maxRefs", "runs.", "jira.", "github."))
    ]


# The environment.


def test_an_empty_variable_is_not_set() -> None:
    assert read_environment({"JIRA_URL": "", "JIRA_TOKEN": " \n", "BASE_BRANCH_REMOTE": ""}) == {}


def test_of_two_variables_of_one_key_the_first_counts() -> None:
    both = {"GITHUB_TOKEN": "second", "GH_TOKEN": "first"}
    held = read_environment(both)["github.token"]
    assert isinstance(held.value, Secret)
    assert (held.value.reveal(), held.origin.name) == ("first", "GH_TOKEN")
    assert read_environment({**both, "GH_TOKEN": ""})["github.token"].origin.name == "GITHUB_TOKEN"


@pytest.mark.parametrize(
    ("variable", "text", "said"),
    [
        ("BASE_BRANCH_AUTONOMY", "total", "expected one of manual, guided, full, got 'total'"),
        ("BASE_BRANCH_TIMEOUT", "soon", "expected a number from 0.1 to 86400, got 'soon'"),
        ("BASE_BRANCH_TIMEOUT", "nan", "expected a number from 0.1 to 86400, got 'nan'"),
        ("BASE_BRANCH_TIMEOUT", "0", "expected a number from 0.1 to 86400, got 0.0"),
        ("BASE_BRANCH_BRANCH_TTL_DAYS", "-1", "expected a whole number from 0, got -1"),
        ("BASE_BRANCH_BRANCH_TTL_DAYS", "1.5", "expected a whole number from 0, got '1.5'"),
        ("BASE_BRANCH_MAX_CANDIDATES", "\u0663", "expected a whole number from 1, got '\u0663'"),
        ("BASE_BRANCH_ASK_ON_ISSUE", "maybe", "expected true or false, got 'maybe'"),
        ("BASE_BRANCH_RESOLVE_ORDER", "derived,guess", "expected a list of remembered, derived, default, got a list"),
        ("BASE_BRANCH_REMOTE", "--upload-pack=x", "it is no name of a remote: '--upload-pack=x'"),
        ("BASE_BRANCH_REMOTE", "https://u:pw@h/x", "it is no name of a remote: 'https://***@h/x'"),
        (
            "BASE_BRANCH_DEFAULT_ORDER",
            "main,--evil",
            "it is no pattern of branch names: it begins with a dash: '--evil'",
        ),
        ("BASE_BRANCH_PROJECT_KEY", "a\x1b[31mb", r"it holds characters that do not show: 'a\x1b[31mb'"),
        ("BASE_BRANCH_PROJECT_KEY", "a\udcffb", r"it is not UTF-8: 'a\udcffb'"),
        ("BASE_BRANCH_LANGUAGE", "../tr", "it is no language tag: '../tr'"),
        ("JIRA_URL", "jira.example.com", "it is no http or https URL of a site, without a query: 'jira.example.com'"),
        ("JIRA_URL", "file:///etc", "it is no http or https URL of a site, without a query: 'file:///etc'"),
        ("JIRA_URL", "https://a.b/?x=1", "it is no http or https URL of a site, without a query: 'https://a.b/?***'"),
        ("JIRA_EMAIL", "a:b", "it is no e-mail address or login: 'a:b'"),
        ("GH_HOST", "https://ghe.example.com", "it is no host name: 'https://ghe.example.com'"),
        ("JIRA_TOKEN", "two words", "it holds characters that no token has"),
    ],
)
def test_a_variable_that_does_not_fit_is_named_with_what_would(variable: str, text: str, said: str) -> None:
    problem = refusal(lambda: read_environment({variable: text}))
    assert (problem.where, str(problem)) == (variable, f"{variable}: {said}")


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("BASE_BRANCH_TIME_OUT", "BASE_BRANCH_TIMEOUT"),
        ("BASE_BRANCH_JIRA_URL", "JIRA_URL"),
        ("BASE_BRANCH_DEFAULTORDER", "BASE_BRANCH_DEFAULT_ORDER"),
        ("BASE_BRANCH_PREFERENCE", "BASE_BRANCH_PREFERENCES"),
    ],
)
def test_an_unknown_variable_is_said_with_the_nearest(variable: str, near: str) -> None:
    assert unknown_variables({variable: TOKEN}) == (f"{variable} is not known; the nearest is {near}",)


def test_unknown_variables_come_sorted_escaped_and_without_a_wild_guess() -> None:
    assert unknown_variables({"BASE_BRANCH_ZZZ\x1b": "", "BASE_BRANCH_QQQQQ": "", "OTHER": ""}) == (
        "BASE_BRANCH_QQQQQ is not known",
        r"BASE_BRANCH_ZZZ\x1b is not known",
    )


def test_what_the_program_reads_elsewhere_is_known() -> None:
    known = {name: "x" for key in KEYS.values() for name in key.variables}
    others = (DEBUG_VARIABLE, "BASE_BRANCH_PREFERENCES", "BASE_BRANCH_CONFIG", "BASE_BRANCH_RUNS_FOLDER")
    assert unknown_variables(known | dict.fromkeys(others, "x")) == ()


def test_every_variable_and_flag_is_the_keys_name() -> None:
    for name, key in KEYS.items():
        plain = re.sub(r"[^a-z]", "", name.lower())
        for variable in key.variables:
            if variable.startswith("BASE_BRANCH_"):
                assert variable.removeprefix("BASE_BRANCH_").replace("_", "").lower() == plain
        if key.flag:
            assert key.flag.replace("-", "") == plain


# The user's file.


def test_the_users_file_lies_beside_the_preferences(home: Path) -> None:
    assert default_user_file(os.environ) == preferences_path(os.environ).parent / "config.toml"
    assert default_user_file(os.environ) == home / "config" / "base-branch" / "config.toml"


def test_a_variable_names_another_file(tmp_path: Path) -> None:
    named = put(tmp_path / "other.toml", "timeout = 7\n")

    def never() -> Path:
        raise AssertionError

    found = read_configuration({}, {"BASE_BRANCH_CONFIG": str(named)}, None, never)
    assert (found.timeout, found.origins["timeout"].file) == (7.0, str(named))


def test_a_file_that_is_named_has_to_be_there_and_the_null_device_is_none(tmp_path: Path) -> None:
    gone = tmp_path / "gone.toml"
    problem = refusal(lambda: read_configuration({}, {"BASE_BRANCH_CONFIG": str(gone)}, None))
    assert str(problem) == f"{gone} does not exist"
    assert read_configuration({}, {"BASE_BRANCH_CONFIG": os.devnull}, None).held == merge(())


def test_the_users_file_may_be_a_symbolic_link(tmp_path: Path, user_file: Path) -> None:
    user_file.parent.mkdir()
    user_file.symlink_to(put(tmp_path / "dotfiles" / "c.toml", "timeout = 7\n"))
    assert read_configuration({}, {}, None, lambda: user_file).timeout == 7.0


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True)])
def test_a_token_that_others_may_read_is_said(mode: int, *, warned: bool, user_file: Path) -> None:
    put(user_file, f'[jira]\ntoken = "{TOKEN}"\n').chmod(mode)
    said = read_configuration({}, {}, None, lambda: user_file).warnings
    assert said == ((f"{user_file} holds a token and others may read it: chmod 600 it",) if warned else ())
    put(user_file, "timeout = 3\n").chmod(mode)
    assert read_configuration({}, {}, None, lambda: user_file).warnings == ()


# What is wrong in a file.


@pytest.mark.parametrize(
    ("text", "where", "said", "hint"),
    [
        ("default_order = ['x']", "default_order", "unknown key", "the nearest is defaultOrder"),
        ("[jira]\nurll = 'x'", "jira.urll", "unknown key", "the nearest is jira.url"),
        ("[jria]\nurl = 'x'", "jria", "unknown key", None),
        ("'jira.url' = 'https://a.b'", '["jira.url"]', "unknown key", "the nearest is jira.url"),
        ("jira = 3", "jira", "expected a table", None),
        ("[[jira]]\nurl = 'x'", "jira", "expected a table", None),
        ("timeout = '5'", "timeout", "expected a number from 0.1 to 86400, got '5'", None),
        ("timeout = inf", "timeout", "expected a number from 0.1 to 86400, got inf", None),
        ("deriveFloor = nan", "deriveFloor", "expected a number from 0 to 1, got nan", None),
        ("timeout = true", "timeout", "expected a number from 0.1 to 86400, got True", None),
        ("maxCandidates = 1979-05-27", "maxCandidates", "expected a whole number from 1, got a date", None),
        ("remote = ''", "remote", "it is empty: ''", None),
        ("defaultOrder = 'main'", "defaultOrder", "expected a list of at most 200 texts or seed, got 'main'", None),
        (
            "defaultOrder = ['main', 3]",
            "defaultOrder",
            "expected a list of at most 200 texts or seed, got a list",
            None,
        ),
        ("jira.fields = [' ']", "jira.fields", "it is empty: ' '", None),
        ("issueOptional = 'true'", "issueOptional", "expected true or false, got 'true'", None),
        ("[jira.url]\nx = 1", "jira.url", "expected a text, got a dict", None),
        ("[github]\nhost = 'h/../x'", "github.host", "it is no host name: 'h/../x'", None),
        ("[jira]\nemail = ''", "jira.email", "it is empty: ''", None),
        ("[jira]\ntoken = 12345678", "jira.token", "expected a text", None),
    ],
)
def test_a_wrong_key_or_value_is_named_by_file_and_path(
    text: str, where: str, said: str, hint: str | None, user_file: Path
) -> None:
    put(user_file, text)
    problem = refusal(lambda: read_configuration({}, {}, None, lambda: user_file))
    assert (problem.where, str(problem)) == (where, f"{where}: {said} (in {user_file})")
    if hint is not None:
        assert problem.hint == hint


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"timeout = \n", "is no TOML: invalid value"),
        (b"timeout = 1\ntimeout = 2\n", "is no TOML: cannot overwrite"),
        (b"timeout = " + b"9" * 5000, "is no TOML: exceeds the limit"),
        (b"x = " + b"[" * 5000, "is nested too deeply"),
        (b"language = 'tr'\nremote = '\xff'\n", "is not UTF-8 (line 2)"),
        (b"\xef\xbb\xbftimeout = 3\n", "begins with a byte order mark"),
        (b"#" * (LARGEST_FILE + 1), "is larger than 64 KiB"),
        (b"\x00" * 100, "is no TOML"),
    ],
)
@pytest.mark.parametrize("source", ["repository", "user"])
def test_a_file_that_is_no_configuration_stops_the_run(
    data: bytes, said: str, source: str, top: Path, user_file: Path
) -> None:
    path = put(top / REPOSITORY_FILE if source == "repository" else user_file, data)
    problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
    assert str(problem).startswith(f"{path} {said}")
    # The decoding error keeps the bytes that it was given: a file's tokens with them.
    assert not isinstance(problem.__cause__, UnicodeError)


def test_the_largest_file_is_still_read(user_file: Path) -> None:
    put(user_file, b"timeout = 3\n#" + b"x" * (LARGEST_FILE - 13))
    assert read_configuration({}, {}, None, lambda: user_file).timeout == 3.0


@pytest.mark.parametrize("kind", ["fifo", "folder", "long", "nul"])
def test_what_is_no_readable_file_stops_the_run_at_once(kind: str, top: Path, user_file: Path) -> None:
    for path in (top / REPOSITORY_FILE, user_file):
        path.parent.mkdir(exist_ok=True)
        match kind:
            case "fifo":
                os.mkfifo(path)
            case "folder":
                path.mkdir()
            case "long":
                path = path.with_name("x" * 300)  # noqa: PLW2901 - the name is the case
            case _:
                path = path.with_name("a\0b")  # noqa: PLW2901 - the name is the case
        said = str(refusal(lambda path=path: read_bounded(path, str(path), follow=True)))  # type: ignore[misc] # a default
        assert "is no regular file" in said or "cannot be read: " in said
    if kind in ("fifo", "folder"):
        problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
        assert str(problem) == f"{top / REPOSITORY_FILE} is no regular file"


def test_a_folder_that_is_not_there_or_a_file_in_its_place_is_no_file(tmp_path: Path) -> None:
    put(tmp_path / "plain", "")
    for path in (tmp_path / "none" / "c.toml", tmp_path / "plain" / "c.toml"):
        assert read_configuration({}, {}, tmp_path / "nowhere", lambda path=path: path).held == merge(())  # type: ignore[misc] # a default


# What a repository's file may say.


def test_the_repository_may_set_what_its_table_says_and_nothing_else(top: Path, user_file: Path) -> None:
    for name in KEYS:
        raw, _ = VALUES[name][0]
        path = put(top / REPOSITORY_FILE, toml(name, raw))
        if name in REPOSITORY_MAY_SET:
            assert read_configuration({}, {}, top, lambda: user_file).origins[name].source == "repository"
            continue
        problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
        assert (problem.where, str(problem)) == (name, f"{name}: a repository's file may not set this (in {path})")
        assert problem.hint


def test_the_table_holds_no_host_no_token_no_policy() -> None:
    # Written out: a key that is added to the table is a decision about trust.
    assert set(REPOSITORY_MAY_SET) == {
        "remote",
        "projectKey",
        "multipleVersions",
        "resolveOrder",
        "defaultOrder",
        "workPrefixes",
        "jira.fields",
    }
    assert not any(KEYS[name].secret for name in REPOSITORY_MAY_SET)


def test_a_token_in_a_repository_is_never_shown_and_has_to_go(top: Path, user_file: Path) -> None:
    put(top / REPOSITORY_FILE, toml("jira.token", TOKEN))
    problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
    assert problem.hint == "take the token out of the repository and revoke it"
    assert TOKEN not in everything(problem)


@pytest.mark.parametrize("key", ["github.token", "github.enterpriseToken"])
def test_the_github_tokens_are_the_environments_alone(key: str, user_file: Path) -> None:
    put(user_file, toml(key, TOKEN))
    problem = refusal(lambda: read_configuration({}, {}, None, lambda: user_file))
    assert str(problem) == f"{key}: the user's file may not set this (in {user_file})"
    assert problem.hint == f"set it by {' or '.join(KEYS[key].variables)}"
    assert TOKEN not in everything(problem)


def test_a_repositorys_order_cannot_lead_past_on_conflict(tmp_path: Path) -> None:
    problem = refusal(lambda: read(repository="resolveOrder = ['derived', 'default']\n", folder=tmp_path))
    assert problem.where == "resolveOrder"
    assert "has to hold remembered too" in str(problem)
    assert read(user="resolveOrder = ['derived', 'default']\n", folder=tmp_path).settings.resolve_order == (
        "derived",
        "default",
    )
    order = read(repository="resolveOrder = ['derived', 'remembered']\n", folder=tmp_path).settings.resolve_order
    assert order == ("derived", "remembered")


def test_the_nearest_key_offered_to_a_repository_is_one_that_it_may_set(top: Path, user_file: Path) -> None:
    put(top / REPOSITORY_FILE, "onConflicts = 'ask'\n")
    problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
    assert problem.hint == f"known: {', '.join(REPOSITORY_MAY_SET)}"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("../secret.toml", "is a symbolic link out of the work tree; it is not followed"),
        ("/etc/hostname", "is a symbolic link out of the work tree; it is not followed"),
        (".git/config", "is a symbolic link into .git; it is not followed"),
        ("gone.toml", "is a symbolic link to what is not there"),
        (REPOSITORY_FILE, "cannot be read: "),
    ],
)
def test_a_link_out_of_the_work_tree_is_not_followed(target: str, said: str, top: Path, user_file: Path) -> None:
    put(top.parent / "secret.toml", f"remote = '{TOKEN}'\n")
    put(top / ".git" / "config", "")
    (top / REPOSITORY_FILE).symlink_to(target)
    problem = refusal(lambda: read_configuration({}, {}, top, lambda: user_file))
    assert str(problem).startswith(f"{top / REPOSITORY_FILE} {said}")
    assert TOKEN not in everything(problem)


def test_a_link_through_a_linked_folder_out_of_the_work_tree_is_not_followed(top: Path, user_file: Path) -> None:
    put(top.parent / "out" / "c.toml", "remote = 'x'\n")
    (top / "folder").symlink_to("../out")
    (top / REPOSITORY_FILE).symlink_to("folder/c.toml")
    said = str(refusal(lambda: read_configuration({}, {}, top, lambda: user_file)))
    assert said.endswith("is a symbolic link out of the work tree; it is not followed")


def test_a_link_inside_the_work_tree_and_a_linked_work_tree_are_followed(top: Path, user_file: Path) -> None:
    put(top / "ci" / "base.toml", "remote = 'upstream'\n")
    (top / REPOSITORY_FILE).symlink_to("ci/base.toml")
    (top.parent / "linked").symlink_to(top)
    for folder in (top, top.parent / "linked"):
        assert read_configuration({}, {}, folder, lambda: user_file).remote == "upstream"


# Whom a token goes to.

ELSEWHERE = (
    "https://evil.example",
    "http://jira.example.com",
    "http://jira.example.com:443",
    "https://jira.example.com:8443",
    "https://jira.example.com.evil.example/browse/APP-1",
    "https://evil.example/https://jira.example.com",
    "https://jira.example.com@evil.example/",
    "https://evil.example\\@jira.example.com/",
    "https://jira.example.com\\@evil.example/",
    "https://jira.example.com\t.evil.example/",
    "https://jira.example.com.",
    "https://jira.example.com:99999",
    "//jira.example.com",
    "jira.example.com",
    "ftp://jira.example.com",
    "https://[",
    "",
)


@pytest.mark.parametrize("bound_by", ["environment", "user"])
@pytest.mark.parametrize("url", ELSEWHERE)
def test_a_token_goes_to_no_other_host(url: str, bound_by: str, tmp_path: Path) -> None:
    environ = {"JIRA_TOKEN": TOKEN, "JIRA_EMAIL": "a@example.com"}
    if bound_by == "environment":
        found = read({}, environ | {"JIRA_URL": "https://jira.example.com"}, folder=tmp_path)
    else:
        found = read({}, environ, user=toml("jira.url", "https://jira.example.com"), folder=tmp_path)
    assert found.jira.credential_for(url) is None
    bound = found.jira.credential_for("https://JIRA.example.com:443/jira/browse/APP-1?x=1#y")
    assert bound is not None
    assert (bound.token.reveal(), bound.email, bound.bound_by.source) == (TOKEN, "a@example.com", bound_by)


def test_a_token_that_nothing_binds_goes_nowhere(tmp_path: Path) -> None:
    found = read({}, {"JIRA_TOKEN": TOKEN}, folder=tmp_path)
    assert found.jira.credentials == ()
    for url in (*ELSEWHERE, "https://jira.example.com"):
        assert found.jira.credential_for(url) is None


@given(
    st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(["https://a.example", "https://b.example"]) for name in ("env", "user")}
    ),
    st.sets(st.sampled_from(["env", "user"])),
    st.sets(st.sampled_from(["env", "user"])),
)
@settings(max_examples=200)
def test_each_token_goes_where_its_own_source_says_and_only_there(
    urls: dict[str, str], tokens: set[str], emails: set[str]
) -> None:
    def layer(place: str, source: SourceName) -> dict[str, SourcedValue]:
        origin = Origin(source=source, name=place)
        values: dict[str, object] = {}
        if place in urls:
            values["jira.url"] = urls[place]
        if place in tokens:
            values["jira.token"] = Secret(place)
        if place in emails:
            values["jira.email"] = f"{place}@example.com"
        return {name: SourcedValue(value=value, origin=origin) for name, value in values.items()}

    found = bind_jira_tokens(layer("env", "environment"), layer("user", "user"))
    for one in found:
        own = one.token.reveal()
        other = "user" if own == "env" else "env"
        assert parse_address(urls.get(own, urls.get(other, ""))) == one.address
        # A login never leaves for an address beside which it does not stand.
        if one.email is not None:
            place = one.email.partition("@")[0]
            assert place == own or parse_address(urls.get(place, "")) in (None, one.address)
    assert len({one.address for one in found}) == len(found)
    reachable = {place for place in tokens if urls}
    assert bool(found) == bool(reachable)


def test_one_shells_url_does_not_draw_the_token_of_the_file(tmp_path: Path) -> None:
    file = f'[jira]\nurl = "https://own.example"\ntoken = "{TOKEN}"\nemail = "me@own.example"\n'
    found = read({}, {"JIRA_URL": "https://other.example"}, user=file, folder=tmp_path)
    assert found.jira.url == "https://other.example"
    assert found.jira.credential_for("https://other.example") is None
    own = found.jira.credential_for("https://own.example/browse/APP-1")
    assert own is not None
    assert (own.token.reveal(), own.email) == (TOKEN, "me@own.example")


def test_two_tokens_each_to_its_own_host_and_the_login_stays_with_its_host(tmp_path: Path) -> None:
    file = '[jira]\nurl = "https://cloud.example"\ntoken = "of-file"\nemail = "me@cloud.example"\n'
    found = read({}, {"JIRA_URL": "https://dc.example/jira", "JIRA_TOKEN": "of-shell"}, user=file, folder=tmp_path)
    seen = {one.address[1]: (one.token.reveal(), one.email) for one in found.jira.credentials}
    # Without an e-mail the Data Center's is a bearer token; with the Cloud's it would become a basic login.
    assert seen == {"dc.example": ("of-shell", None), "cloud.example": ("of-file", "me@cloud.example")}


def test_for_one_host_the_environments_token_is_the_stronger(tmp_path: Path) -> None:
    file = '[jira]\nurl = "https://a.example"\ntoken = "of-file"\nemail = "me@a.example"\n'
    found = read({}, {"JIRA_TOKEN": "of-shell"}, user=file, folder=tmp_path)
    assert [(one.token.reveal(), one.email) for one in found.jira.credentials] == [("of-shell", "me@a.example")]


def test_credentials_in_a_url_are_taken_out_and_said(tmp_path: Path) -> None:
    environ = {"JIRA_URL": f"https://me:{TOKEN}@jira.example.com/jira", "JIRA_TOKEN": "abcdef"}
    found = read({}, environ, folder=tmp_path)
    assert found.jira.url == "https://jira.example.com/jira"
    assert found.warnings == ("the credentials in the URL of JIRA_URL are not used: set the token by itself",)
    assert found.jira.credential_for("https://jira.example.com") is not None
    assert TOKEN not in repr(found)


def test_a_token_over_http_is_said_unless_it_stays_on_this_machine(tmp_path: Path) -> None:
    environ = {"JIRA_URL": "http://jira.example.com", "JIRA_TOKEN": TOKEN}
    assert read({}, environ, folder=tmp_path).warnings == (
        "JIRA_URL is an http URL: the token of JIRA_TOKEN goes unencrypted",
    )
    for host in ("127.0.0.1:8080", "localhost", "[::1]:80"):
        assert read({}, environ | {"JIRA_URL": f"http://{host}"}, folder=tmp_path).warnings == ()


def test_the_users_enterprise_host_binds_the_enterprise_token(tmp_path: Path) -> None:
    environ = {"GH_ENTERPRISE_TOKEN": TOKEN, "GH_TOKEN": "public"}

    def no_gh(host: str) -> str | None:
        del host
        return None

    found = read({}, environ, user=toml("github.host", "ghe.example.com"), folder=tmp_path)
    bound = found.github.environment(environ)
    assert find_token(bound, "ghe.example.com", no_gh) == TOKEN
    assert find_token(bound, "github.com", no_gh) == "public"
    assert find_token(bound, "evil.example", no_gh) is None
    # A token beside GH_HOST is that host's, whatever host the configuration prefers.
    both = environ | {"GH_HOST": "own.example", "BASE_BRANCH_GITHUB_HOST": "ghe.example.com"}
    bound = read({}, both, folder=tmp_path).github.environment(both)
    assert (find_token(bound, "own.example", no_gh), find_token(bound, "ghe.example.com", no_gh)) == (TOKEN, None)
    assert read({}, {}, folder=tmp_path).github.environment({"A": "b"}) == {"A": "b"}


def test_an_api_url_is_its_own_hosts_alone(tmp_path: Path) -> None:
    api = {"BASE_BRANCH_GITHUB_API_URL": "https://proxy.example/api"}
    alone = read({}, api, folder=tmp_path).github
    assert (alone.api_url_for("GitHub.com"), alone.api_url_for("ghe.example.com")) == (api.popitem()[1], None)
    named = read({}, {"GH_HOST": "GHE.example.com", "BASE_BRANCH_GITHUB_API_URL": "https://p.example"}, folder=tmp_path)
    assert named.github.api_url_for("ghe.example.com") == "https://p.example"
    assert named.github.api_url_for("github.com") is None


# Secrets.


def everything(error: BaseException) -> str:
    """All that a traceback with its chain would show."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(getattr(error, "hint", ""))


def test_nothing_shows_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(TOKEN)
    held = SourcedValue(value=secret, origin=DEFAULT)
    logging.getLogger("x").warning("%s %r", secret, secret)
    said = f"{secret} {secret!r} {secret!s:>40} {secret:>40}" + "%s %r" % (secret, secret) + str([secret]) + repr(held)  # noqa: UP031 - one of the ways
    assert TOKEN not in said + caplog.text + repr(msgspec.structs.asdict(held)) + repr(dir(secret))
    assert secret.reveal() == TOKEN
    assert len(f"{secret:>40}") == len(str(secret))


@pytest.mark.parametrize("write", [pickle.dumps, json.dumps, msgspec.json.encode, msgspec.to_builtins, vars])
def test_nothing_writes_a_secret(write: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError) as caught:
        write(Secret(TOKEN))
    assert TOKEN not in everything(caught.value)
    with pytest.raises(TypeError):
        pickle.dumps(SourcedValue(value=Secret(TOKEN), origin=DEFAULT))


def test_a_secret_is_frozen_and_compares_by_its_text() -> None:
    secret = Secret(TOKEN)
    with pytest.raises(AttributeError):
        secret._text = "other"
    assert secret == Secret(TOKEN)
    assert hash(secret) == hash(Secret(TOKEN))
    assert secret != Secret("other")
    assert secret != TOKEN


def test_no_error_and_no_record_shows_a_token(tmp_path: Path) -> None:
    for environ in (
        {"JIRA_TOKEN": f"{TOKEN} {TOKEN}"},
        {"JIRA_TOKEN": f"{TOKEN}\u00e9"},
        {"JIRA_TOKEN": f"{TOKEN}\udcff"},
    ):
        assert TOKEN not in everything(refusal(lambda environ=environ: read({}, environ, folder=tmp_path)))  # type: ignore[misc] # a default
    bad = f'[jira]\ntoken = ["{TOKEN}"]\n'
    assert TOKEN not in everything(refusal(lambda: read(user=bad, folder=tmp_path)))
    bad = f'[jira]\ntokn = "{TOKEN}"\n'
    assert TOKEN not in everything(refusal(lambda: read(user=bad, folder=tmp_path)))
    found = read({}, {"JIRA_TOKEN": f" {TOKEN}\n", "JIRA_URL": "https://a.example", "GH_TOKEN": TOKEN}, folder=tmp_path)
    assert TOKEN not in repr(found) + str(msgspec.structs.asdict(found.jira))
    credential = found.jira.credential_for("https://a.example")
    assert credential is not None
    assert credential.token.reveal() == TOKEN


def test_a_token_in_the_wrong_place_is_redacted_where_it_is_known_for_one() -> None:
    known = "ghp_" + "a" * 36
    assert known not in everything(refusal(lambda: read_environment({"BASE_BRANCH_AUTONOMY": known})))


# Words and addresses.


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://a.example", ("https", "a.example", 443)),
        ("HTTP://A.example:8080/x", ("http", "a.example", 8080)),
        ("https://user:pw@a.example/x?y", ("https", "a.example", 443)),
        ("https://[::1]:8443/", ("https", "::1", 8443)),
        ("https://a.example:0", None),
        ("https://a.example:65536", None),
        ("https://\u0430.example", None),
        ("https://\u212aira.example", None),  # the Kelvin sign, a k by its lower case
        ("https://a.example/%2e", ("https", "a.example", 443)),
        ("https://-a.example", None),
        ("https://[::1", None),
    ],
)
def test_an_address_is_read_only_where_all_read_it_alike(url: str, address: tuple[str, str, int] | None) -> None:
    assert parse_address(url) == address


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_key_says_what_it_takes_and_takes_its_default(name: str) -> None:
    key = KEYS[name]
    assert expected(key.type)
    if key.default is not None:
        assert from_value(key, msgspec.to_builtins(key.default), "") == key.default


@pytest.mark.parametrize("name", sorted(KEYS))
def test_a_text_and_a_toml_value_mean_the_same(name: str) -> None:
    for raw, text in VALUES[name]:
        assert from_text(KEYS[name], f" {text} ", "") == from_value(KEYS[name], raw, "")


def test_the_nearest_name_is_found_whatever_its_capitals_and_none_is_forced() -> None:
    assert nearest("jira.URL", tuple(KEYS)) == "jira.url"
    assert nearest("max-candidate", tuple(KEYS)) == nearest("max-candidate", tuple(KEYS)[::-1]) == "maxCandidates"
    assert nearest("zzzzz", tuple(KEYS)) is None


@given(st.binary(max_size=200))
def test_any_bytes_are_values_or_an_invalid_input(data: bytes) -> None:
    try:
        layer = parse_file(data, "f", "repository")
    except InvalidInput:
        return
    assert layer.keys() <= REPOSITORY_MAY_SET.keys()


def test_a_key_is_a_record_that_says_who_may_set_it() -> None:
    assert Key(name="x", type=str, user=False).allowed() == ("default",)
    assert KEYS["remote"].allowed() == PRECEDENCE
    assert KEYS["askOnIssue"].allowed() == ("flag", "environment", "user", "default")
    assert KEYS["github.token"].allowed() == ("environment", "default")
