"""Replay: a decision from a saved bundle, without a repository, a remote or a store, and what it never claims."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from candidates.contract import Decision, encode_line, json_schema
from candidates.run.replay import MAY_FOLLOW, Replay, replay
from collectors.config.keys import FLAGS
from collectors.errors import InvalidInput
from tests.ranking.facts_builder import OID, chose, facts, wants
from tests.support.program import Answer, base_branch, settled

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from candidates.exit_codes import ExitCode
    from ranking.facts import Facts
    from tests.support.repositories import MakeStand, Stand

BRANCHES = "main release/1.0 release/1.1"
FULL = {"--autopilot": True}


@pytest.fixture
def lines(stand: MakeStand) -> Stand:
    return stand("release_lines")


def saved(bundle: Facts) -> bytes:
    """A bundle as `collect` prints it, its branches in this clone as the remote has them."""
    text = json.loads(encode_line(bundle))
    for branch in text["refs"]["branches"]:
        branch["cachedTip"] = branch["tip"]
    return json.dumps(text).encode()


def replayed(
    data: bytes,
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    base: str | None = None,
) -> tuple[Decision, ExitCode]:
    asked = Replay(
        source="-", stdin=BytesIO(data), flags=FULL if flags is None else flags, environ=environ or {}, base=base
    )
    return replay(asked)


def answer(data: bytes, **more: Any) -> tuple[str | None, str | None, int]:  # noqa: ANN401 - handed on
    decision, code = replayed(data, **more)
    return decision.base_branch, decision.base_branch_source, code


# --- as a process ---


def test_what_was_collected_is_decided_again_without_the_repository(lines: Stand, tmp_path: Path) -> None:
    bundle = base_branch("collect", lines.clone.path, "--issue-version", "8.4.0").out
    first = base_branch("resolve", lines.clone.path, "--issue-version", "8.4.0", "--autopilot").json()
    file = tmp_path / "bundle.json"
    file.write_bytes(bundle)
    lines.take_the_remote_away()
    lines.clone.path.rename(tmp_path / "gone")
    empty = tmp_path / "empty"
    empty.mkdir()
    # No git to start, no store to read, no repository around.
    nothing = {"PATH": str(empty), "BASE_BRANCH_PREFERENCES": str(tmp_path / "none" / "p.json")}
    from_file = base_branch("resolve", "--bundle", file, "--autopilot", cwd=empty, environ=nothing)
    from_stdin = base_branch("resolve", "--bundle", "-", "--autopilot", stdin=bundle, cwd=empty, environ=nothing)
    assert (from_file.code, from_file.err) == (0, "")
    assert from_stdin.out == from_file.out
    decision = from_file.json()
    assert settled(decision) == (*settled(first)[:4], "cached-stale")
    same = ("baseBranchEvidence", "trail", "repository", "remote", "listingComplete")
    assert {key: decision[key] for key in same} == {key: first[key] for key in same}
    now = json.loads(bundle)["now"]
    assert decision["log"][0] == f"{now} replayed: these are the facts of {now}"
    assert decision["log"][1].endswith(f"; replayed from facts of {now}")
    assert {s["state"] for s in decision["sources"]} == {"not-asked"}
    jsonschema.Draft202012Validator(json_schema("decision")).validate(decision)
    assert list(empty.iterdir()) == []


def test_what_has_no_say_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    done = base_branch("resolve", "--bundle", "-", "--autopilot", "--state", state, ".", stdin=saved(facts(BRANCHES)))
    assert (done.code, done.out) == (2, b"")
    assert done.err == (
        "base-branch: --state, PATH cannot go with --bundle: its facts are given, and nothing is written\n"
        "  try: base-branch resolve, without --bundle\n"
    )
    assert not state.exists()


def settings_of(*options: str, where: Path) -> Answer:
    settings: Answer = base_branch("collect", where, "--refresh", "none", *options).json()["settings"]
    return settings


def test_every_setting_has_a_flag_and_stands_in_the_bundle(lines: Stand) -> None:
    options = {
        "--multiple-versions": "lowest",
        "--on-conflict": "ask",
        "--resolve-order": "derived,default",
        "--default-order": "main,release/*",
        "--branch-ttl-days": "3",
        "--max-candidates": "2",
        "--derive-floor": "0.5",
        "--derive-at": "0.6",
        "--work-prefixes": "try/,spike/",
    }
    found = settings_of(*(word for pair in options.items() for word in pair), where=lines.clone.path)
    assert found == {
        "multipleVersions": "lowest",
        "onConflict": "ask",
        "resolveOrder": ["derived", "default"],
        "defaultOrder": ["main", "release/*"],
        "branchTtlDays": 3,
        "maxCandidates": 2,
        "deriveFloor": 0.5,
        "deriveAt": 0.6,
        "workPrefixes": ["try/", "spike/"],
    }
    assert {FLAGS[flag].name for flag in options} == found.keys()
    done = base_branch("explain", lines.clone.path, "--json", "--max-candidates", "1", "--resolve-order", "default")
    explained = done.json()
    assert [entry["rule"] for entry in explained["trail"]] == ["default"]
    assert len(explained["baseBranchEvidence"]["candidates"]) == 1
    done = base_branch("resolve", lines.clone.path, "--resolve-order", "guess")
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("base-branch: --resolve-order")


# --- the settings of a replay ---


def test_the_bundles_settings_count_and_a_flag_goes_before_them() -> None:
    text = json.loads(saved(facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),))))
    text["settings"]["onConflict"] = "derived"
    data = json.dumps(text).encode()
    assert answer(data) == ("release/1.0", "derived", 0)
    assert answer(data, flags=FULL | {"--on-conflict": "remembered"}) == ("release/1.1", "remembered", 0)
    assert answer(data, flags=FULL | {"--resolve-order": "default"}) == ("main", "default", 0)
    # The environment speaks of how this run may decide, not of the facts.
    assert answer(data, environ={"BASE_BRANCH_ON_CONFLICT": "remembered"}) == ("release/1.0", "derived", 0)


@pytest.mark.parametrize(
    ("flags", "environ", "autonomy", "code"),
    [
        ({}, {}, "manual", 3),
        ({"--autonomy": "guided"}, {}, "guided", 3),
        ({"--autonomy": "full"}, {}, "full", 0),
        ({}, {"BASE_BRANCH_AUTONOMY": "full"}, "full", 0),
        ({"--autonomy": "manual"}, {"BASE_BRANCH_AUTONOMY": "full"}, "manual", 3),
    ],
)
def test_who_may_decide(flags: dict[str, object], environ: dict[str, str], autonomy: str, code: int) -> None:
    decision, left = replayed(saved(facts(BRANCHES, issue=wants("1.0"))), flags, environ)
    assert (decision.autonomy, left) == (autonomy, code)


def test_the_time_to_live_is_measured_from_the_bundles_now() -> None:
    text = json.loads(saved(facts(BRANCHES, recent=(chose("release/1.1", 15),))))
    text["now"] = "2019-01-01T00:00:00Z"
    text["recent"][0]["lastUsed"] = "2018-12-31T00:00:00Z"
    assert answer(json.dumps(text).encode()) == ("release/1.1", "remembered", 0)


def test_a_base_that_is_given_is_checked_against_the_bundle() -> None:
    data = saved(facts(BRANCHES))
    decision, code = replayed(data, base="release/1.0")
    assert (decision.base_branch_source, decision.base_commit, code) == ("input", OID, 0)
    with pytest.raises(InvalidInput, match="origin of acme/app has no branch release/2"):
        replayed(data, base="release/2")


def test_an_issue_that_was_not_read_stops_a_replay_as_it_stopped_the_run() -> None:
    data = saved(facts(BRANCHES, issue=wants("1.0", read="failed")))
    assert answer(data) == (None, None, 6)
    assert answer(data, flags=FULL | {"--issue-optional": True}) == ("release/1.0", "derived", 0)


def test_a_bundle_of_names_alone_gives_no_base() -> None:
    text = json.loads(saved(facts(BRANCHES)))
    for branch in text["refs"]["branches"]:
        branch["tip"] = branch["cachedTip"] = None
    assert answer(json.dumps(text).encode()) == (None, None, 4)


@pytest.mark.parametrize("flag", sorted(FLAGS.keys() - MAY_FOLLOW))
def test_a_flag_that_says_what_to_look_at_is_refused(flag: str) -> None:
    with pytest.raises(InvalidInput, match=f"{flag} cannot go with --bundle"):
        replayed(saved(facts(BRANCHES)), FULL | {flag: "x"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the bundle on standard input is empty"),
        (b"{}", "schema: a required field is missing"),
        (b'{"schema": "base-branch/bundle@2"}', "schema: "),
        (saved(facts(BRANCHES)).replace(b'"onConflict"', b'"onConflikt"'), "settings.onConflikt: unknown field"),
    ],
)
def test_what_is_no_bundle_is_refused_with_the_place_of_the_fault(data: bytes, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        replayed(data)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("name", ["none.json", ".", "a\0b"])
def test_a_bundle_file_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    asked = Replay(source=str(tmp_path / name), stdin=BytesIO(), flags=FULL, environ={})
    with pytest.raises(InvalidInput, match=r"the bundle file .* cannot be read: "):
        replay(asked)
