"""The gate: what a state has to say, every reason at once, and a schema that passes and fails the same states."""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import combinations
from typing import TYPE_CHECKING, Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidates.checks.gate import ACCESS_TIERS, DESIGN_REFERENCES, check_file, gate, state_schema
from candidates.state_file import SOURCES, merge_state, parse_state, state_patch
from tests.ranking.facts_builder import unhurried
from tests.support.states import RANKING, TIE, apply_patch, decided

if TYPE_CHECKING:
    from pathlib import Path

State = dict[str, Any]

EVIDENCE: State = json.loads(msgspec.json.encode(RANKING))
AMBIGUOUS: State = json.loads(msgspec.json.encode(TIE)) | {"refProvenance": "remote"}

GOOD: State = {
    "taskType": "bug",
    "baseBranch": "release/8.4.0",
    "baseFetchStatus": "fresh",
    "baseBranchSource": "asked",
    "siblings": [],
}
UNATTENDED: State = GOOD | {
    "workspaceSource": "autopilot",
    "baseBranchSource": "derived",
    "baseBranchEvidence": EVIDENCE,
}
DESIGNED: State = GOOD | {"taskType": "component", "designReference": "https://d.example/1", "accessTier": "full"}

VALIDATORS = {
    autopilot: jsonschema.Draft202012Validator(state_schema(autopilot=autopilot)) for autopilot in (False, True)
}


def schema_passes(state: Any, *, autopilot: bool = False) -> bool:  # noqa: ANN401 - any JSON value
    return bool(VALIDATORS[autopilot].is_valid(state))


def without(state: State, *keys: str) -> State:
    return {key: value for key, value in state.items() if key not in keys}


def test_the_schemas_are_schemas() -> None:
    for autopilot in (False, True):
        jsonschema.Draft202012Validator.check_schema(state_schema(autopilot=autopilot))
    assert state_schema() is not state_schema()
    json.dumps(state_schema())


# --- what passes ---

PASSING: dict[str, tuple[State, bool]] = {
    "asked": (GOOD, False),
    "input": (GOOD | {"baseBranchSource": "input"}, False),
    "foreign keys": (GOOD | {"x": {"y": [1]}, "branch": "feature/1", "worktreePath": "/w"}, False),
    "stale with evidence": (GOOD | {"baseFetchStatus": "cached-stale", "baseBranchEvidence": EVIDENCE}, False),
    "local with evidence": (GOOD | {"baseFetchStatus": "local-branch", "baseBranchEvidence": AMBIGUOUS}, False),
    "asked on a tie": (GOOD | {"baseBranchEvidence": AMBIGUOUS}, False),
    "no evidence, said so": (GOOD | {"baseBranchEvidence": None}, False),
    "unattended by the state": (UNATTENDED, False),
    "unattended by the flag": (without(UNATTENDED, "workspaceSource"), True),
    "remembered by the flag": (GOOD | {"baseBranchSource": "remembered"}, True),
    "default on a tie": (UNATTENDED | {"baseBranchSource": "default", "baseBranchEvidence": AMBIGUOUS}, False),
    "a person's answer in an unattended run": (GOOD | {"workspaceSource": "autopilot"}, True),
    "siblings": (GOOD | {"siblings": [{"root": "/w/lib"}]}, False),
    "a design": (DESIGNED, False),
    "a component without a design": (GOOD | {"taskType": "component"}, False),
    "a tier without a design": (GOOD | {"accessTier": "full"}, False),
    "a numbered tier": (DESIGNED | {"accessTier": 0}, False),
    "evidence less its nulls": (
        UNATTENDED | {"baseBranchEvidence": without(EVIDENCE, "convention", "askedOnIssue")},
        False,
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_may_pass(name: str) -> None:
    state, autopilot = PASSING[name]
    before = deepcopy(state)
    assert gate(state, autopilot=autopilot) == ()
    assert schema_passes(state, autopilot=autopilot)
    assert state == before


@pytest.mark.parametrize("key", DESIGN_REFERENCES)
def test_every_spelling_of_the_reference_counts(key: str) -> None:
    for value in ("https://d.example/1", ["u"], {"url": "u"}, 7):
        state = GOOD | {key: value}
        assert gate(state) == (
            f"{key} is given, and taskType is 'bug', not component",
            f"{key} is given, and no access tier is recorded (accessTier)",
        )
        assert not schema_passes(state)
        assert not schema_passes(state | {"taskType": "component"})
        assert not schema_passes(state | {"accessTier": "full"})
        whole = state | {"taskType": "component", "accessTier": "full"}
        assert gate(whole) == ()
        assert schema_passes(whole)
    nothings: tuple[object, ...] = (None, "", [], {}, False)
    for nothing in nothings:
        assert gate(GOOD | {key: nothing}) == ()
        assert schema_passes(GOOD | {key: nothing})


@pytest.mark.parametrize("key", ACCESS_TIERS)
def test_every_spelling_of_the_tier_counts(key: str) -> None:
    state = without(DESIGNED, "accessTier") | {key: "full"}
    assert gate(state) == ()
    assert schema_passes(state)


@pytest.mark.parametrize("key", [*ACCESS_TIERS, "tier"])
def test_the_tier_may_stand_inside_the_reference(key: str) -> None:
    state = GOOD | {"taskType": "component", "design": {"url": "u", key: "full"}}
    assert gate(state) == ()
    assert schema_passes(state)
    state = GOOD | {"taskType": "component", "design": {"url": "u", key: " "}}
    assert gate(state) == ("design is given, and no access tier is recorded (accessTier)",)
    assert not schema_passes(state)


def test_the_bare_word_tier_counts_inside_only() -> None:
    state = without(DESIGNED, "accessTier") | {"tier": "full"}
    assert gate(state) == ("designReference is given, and no access tier is recorded (accessTier)",)
    assert not schema_passes(state)


# --- what does not ---

FAILING: dict[str, tuple[State, bool, tuple[str, ...]]] = {
    "nothing": (
        {},
        False,
        (
            "taskType is missing",
            "baseBranch is missing",
            "baseFetchStatus is missing",
            "baseBranchSource is missing",
            "siblings is missing",
        ),
    ),
    "nothing, unattended": (
        {"workspaceSource": "autopilot"},
        True,
        (
            "taskType is missing",
            "baseBranch is missing",
            "baseFetchStatus is missing",
            "baseBranchSource is missing",
            "siblings is missing",
        ),
    ),
    "an empty task type": (GOOD | {"taskType": " "}, False, ("taskType is empty",)),
    "a strange task type": (GOOD | {"taskType": ["bug"]}, False, ("taskType is no text",)),
    "siblings as an object": (GOOD | {"siblings": {}}, False, ("siblings is no array",)),
    "siblings null": (GOOD | {"siblings": None}, False, ("siblings is missing",)),
    "derived, interactive": (
        without(UNATTENDED, "workspaceSource"),
        False,
        ("baseBranchSource is derived, which an interactive run never records: only asked or input",),
    ),
    "another workspace source": (
        UNATTENDED | {"workspaceSource": "Autopilot", "baseBranchSource": "default"},
        False,
        (
            "baseBranchSource is default, which an interactive run never records: only asked or input",
            "workspaceSource must be asked, command or autopilot (got 'Autopilot')",
        ),
    ),
    "derived without evidence": (
        without(UNATTENDED, "baseBranchEvidence"),
        False,
        ("baseBranchSource is derived, and there is no baseBranchEvidence",),
    ),
    "derived with null evidence": (
        UNATTENDED | {"baseBranchEvidence": None},
        False,
        ("baseBranchSource is derived, and there is no baseBranchEvidence",),
    ),
    "derived on a tie": (
        UNATTENDED | {"baseBranchEvidence": AMBIGUOUS},
        False,
        (
            "baseBranchSource is derived, and baseBranchEvidence is ambiguous",
            "baseBranchSource is derived, and neither the issue's version nor a linked release speaks for baseBranch",
        ),
    ),
    "stale without evidence": (
        GOOD | {"baseFetchStatus": "cached-stale"},
        False,
        ("baseFetchStatus is cached-stale, and there is no baseBranchEvidence",),
    ),
    "local without evidence, unattended": (
        GOOD | {"baseFetchStatus": "local-branch"},
        True,
        ("baseFetchStatus is local-branch, and there is no baseBranchEvidence",),
    ),
    "aborted": (
        GOOD | {"baseFetchStatus": "aborted"},
        False,
        ("baseFetchStatus is aborted: a run that stopped has no base to record",),
    ),
    "another status": (
        GOOD | {"baseFetchStatus": "Fresh"},
        False,
        ("baseFetchStatus 'Fresh' is none of fresh, cached-stale, local-branch",),
    ),
    "another source": (
        GOOD | {"baseBranchSource": "guessed"},
        True,
        ("baseBranchSource 'guessed' is none of asked, input, remembered, derived, default",),
    ),
    "an empty branch": (GOOD | {"baseBranch": ""}, False, ("baseBranch '' can be no base: it is empty",)),
    "a strange branch": (GOOD | {"baseBranch": 1}, False, ("baseBranch is no text",)),
    "a dash": (
        GOOD | {"baseBranch": "--orphan"},
        False,
        ("baseBranch '--orphan' can be no base: it begins with a dash, which git would read as an option",),
    ),
    "HEAD": (GOOD | {"baseBranch": "HEAD"}, False, ("baseBranch 'HEAD' can be no base: HEAD is no branch",)),
    "a foreign key in the evidence": (
        UNATTENDED | {"baseBranchEvidence": EVIDENCE | {"confidence": 1}},
        False,
        ("baseBranchEvidence.confidence: the ranking record has no such key",),
    ),
    "a half record": (
        UNATTENDED | {"baseBranchEvidence": without(EVIDENCE, "refProvenance")},
        False,
        ("baseBranchEvidence.refProvenance: a required field is missing",),
    ),
    "evidence in another shape": (GOOD | {"baseBranchEvidence": "yes"}, False, ("baseBranchEvidence is no object",)),
    "a tier that is only true": (
        DESIGNED | {"accessTier": True},
        False,
        ("designReference is given, and no access tier is recorded (accessTier)",),
    ),
    "everything at once": (
        {
            "taskType": "bug",
            "figmaUrl": "u",
            "accessTier": None,
            "baseBranchSource": "derived",
            "baseFetchStatus": "local-branch",
            "siblings": "none",
        },
        False,
        (
            "figmaUrl is given, and taskType is 'bug', not component",
            "figmaUrl is given, and no access tier is recorded (accessTier)",
            "baseBranch is missing",
            "baseBranchSource is derived, which an interactive run never records: only asked or input",
            "baseBranchSource is derived, and there is no baseBranchEvidence",
            "baseFetchStatus is local-branch, and there is no baseBranchEvidence",
            "siblings is no array",
        ),
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_may_not_pass(name: str) -> None:
    state, autopilot, reasons = FAILING[name]
    assert gate(state, autopilot=autopilot) == reasons
    assert not schema_passes(state, autopilot=autopilot)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_what_is_missing_is_named_whatever_else_is_missing(count: int) -> None:
    for missing in combinations(GOOD, count):
        reasons = gate(without(GOOD, *missing))
        assert set(reasons) == {f"{key} is missing" for key in missing}
        assert not schema_passes(without(GOOD, *missing))


@pytest.mark.parametrize(
    "name",
    [
        *"a..b a/ /a a.lock a.lock/b .a a/.b @ a@{b a~1 a^ a:b a? a* a[ a\b a. a//b -a HEAD".split(),
        "a b",
        "a\x1bb",
        "a\x7f",
    ],
)
def test_names_that_git_would_refuse_are_refused_by_both(name: str) -> None:
    assert len(gate(GOOD | {"baseBranch": name})) == 1
    assert not schema_passes(GOOD | {"baseBranch": name})


@pytest.mark.parametrize(
    "name", ["main", "release/8.4.x", "1.0", "a-b", "a@b", "ä/ö", "x.locked", "HEADS", "a.b.c", "@a"]
)
def test_names_that_git_takes_are_taken_by_both(name: str) -> None:
    assert gate(GOOD | {"baseBranch": name}) == ()
    assert schema_passes(GOOD | {"baseBranch": name})


VALUES: dict[str, list[object]] = {
    "taskType": ["bug", "component", "", None, 3],
    "baseBranch": ["main", "-x", "", None, []],
    "baseFetchStatus": ["fresh", "cached-stale", "local-branch", "aborted", None],
    "baseBranchSource": [*SOURCES, "guessed", None],
    "baseBranchEvidence": [EVIDENCE, AMBIGUOUS, without(AMBIGUOUS, "convention"), {}, {"x": 1}, None, 5],
    "siblings": [[], [1], {}, None, "x"],
    "workspaceSource": ["autopilot", "manual", None],
    "designReference": ["u", {"accessTier": "x"}, {"tier": 2}, {"tier": True}, "", None, 0],
    "figma": ["u", {"tier": "x"}, None],
    "accessTier": ["full", " ", 0, True, None, []],
}
STATES = st.fixed_dictionaries({}, optional={key: st.sampled_from(values) for key, values in VALUES.items()})


@unhurried
@given(STATES | STATES.map(lambda some: {**GOOD, **some}), st.booleans())
def test_the_schema_and_the_gate_agree(state: State, autopilot: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    assert schema_passes(state, autopilot=autopilot) == (gate(state, autopilot=autopilot) == ())


def test_a_key_that_stands_twice_is_refused() -> None:
    text = json.dumps(GOOD)[:-1].encode() + b', "baseBranch": "main", "other": 1, "other": 2}'
    assert gate(parse_state(text)) == ("baseBranch stands there twice",)


# --- with the state that is recorded ---


def test_a_recorded_state_passes_and_a_patched_one_too() -> None:
    task = {"taskType": "bug", "siblings": [], "workspaceSource": "autopilot"}
    for decision in (decided(), decided("main", "default", "cached-stale", TIE)):
        for state in (merge_state(task, [decision]), apply_patch(task, state_patch(task, [decision]))):
            assert gate(state) == ()
            assert schema_passes(state)


# --- the file ---


def test_a_file_is_checked_and_the_report_carries_its_exit_code(tmp_path: Path) -> None:
    file = tmp_path / "agent-state.json"
    file.write_text(json.dumps(GOOD))
    report = check_file(file)
    assert (report.passed, report.reasons, report.exit_code) == (True, (), 0)
    file.write_text(json.dumps(UNATTENDED | {"workspaceSource": None}))
    refused = check_file(file)
    assert (refused.passed, len(refused.reasons), refused.exit_code) == (False, 1, 7)
    assert check_file(file, autopilot=True).passed
    assert json.loads(msgspec.json.encode(refused)) == {
        "schema": "base-branch/gate@1",
        "file": str(file),
        "passed": False,
        "reasons": list(refused.reasons),
    }


@pytest.mark.parametrize("data", [None, b"", b"{", b"[]", b"\0" * 40, b"\xff"])
def test_a_file_that_is_no_state_is_refused_with_the_reason(tmp_path: Path, data: bytes | None) -> None:
    file = tmp_path / "agent-state.json"
    if data is not None:
        file.write_bytes(data)
    report = check_file(file)
    assert (report.passed, report.exit_code, len(report.reasons)) == (False, 7, 1)
    assert str(file) in report.reasons[0]
    assert not file.exists() or file.read_bytes() == data


# --- evidence of another writer, and stories that contradict themselves ---

OTHER_WRITER: State = {
    "refProvenance": "remote",
    "candidates": [
        {"branch": "release/8.4.0", "score": 5.5, "evidence": [{"kind": "issue-version", "detail": "in free words"}]}
    ],
}


@pytest.mark.parametrize("key", ["figmaAccess", "designAccess"])
def test_the_tier_may_stand_in_an_access_object(key: str) -> None:
    state = without(DESIGNED, "accessTier") | {key: {"tier": "dev"}}
    assert gate(state) == ()
    assert schema_passes(state)
    assert gate(without(DESIGNED, "accessTier") | {key: {"tier": ""}}) != ()


@pytest.mark.parametrize(
    ("state", "strict"),
    [
        (GOOD | {"baseBranchEvidence": {"refProvenance": "remote"}}, "ambiguous"),
        (GOOD | {"baseFetchStatus": "cached-stale", "baseBranchEvidence": {"refProvenance": "local"}}, "ambiguous"),
        (UNATTENDED | {"baseBranchEvidence": OTHER_WRITER}, "score"),
    ],
)
def test_evidence_of_another_writer_passes_unless_the_rules_are_strict(state: State, strict: str) -> None:
    assert gate(state) == ()
    assert schema_passes(state)
    assert strict in gate(state, rules="strict")[0]


def top(*candidates: tuple[str, float, str], **more: object) -> State:
    listed = [
        {"branch": branch, "score": score, "evidence": [{"kind": kind, "detail": "so"}]}
        for branch, score, kind in candidates
    ]
    return {"refProvenance": "remote", "candidates": listed} | more


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (GOOD | {"baseBranchEvidence": {"refProvenance": "local"}}, "baseFetchStatus is fresh, and "),
        (UNATTENDED | {"baseBranchEvidence": top(("release/8.4.0", 9, "sort-order"))}, "neither the issue's version"),
        (
            UNATTENDED | {"baseBranchEvidence": top(("release/8.4.0", 9, "issue-version"), chosen="main")},
            "baseBranch 'release/8.4.0' is not the chosen 'main'",
        ),
        (
            UNATTENDED
            | {
                "baseBranchEvidence": top(
                    ("release/8.4.0", 9, "issue-version"), ("main", 9, "issue-version"), ambiguous=False
                )
            },
            "2 candidates tie at the top",
        ),
    ],
)
@pytest.mark.parametrize("rules", ["seed", "strict"])
def test_a_story_that_contradicts_itself_is_refused(state: State, said: str, rules: Any) -> None:  # noqa: ANN401
    assert any(said in reason for reason in gate(state, rules=rules))


FIRST: State = {"root": "/w/app", "baseBranch": "release/8.4.0", "baseFetchStatus": "fresh"}


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"root": "/w/web"}, ("projects[1].baseBranch is missing", "projects[1].baseFetchStatus is missing")),
        (
            {"root": "/w/web", "baseBranch": "main", "baseFetchStatus": "aborted"},
            ("projects[1]: baseFetchStatus is aborted: a run that stopped has no base to record",),
        ),
        (
            {"baseBranch": "main", "baseFetchStatus": "fresh", "baseBranchEvidence": {"refProvenance": "local"}},
            (f"projects[1]: {gate(GOOD | {'baseBranchEvidence': {'refProvenance': 'local'}})[0]}",),
        ),
        ("web", ("projects[1] must be an object",)),
    ],
)
def test_every_repository_of_the_state_is_looked_at(second: object, said: tuple[str, ...]) -> None:
    assert gate(GOOD | {"projects": [FIRST, {"baseBranch": "main", "baseFetchStatus": "fresh"}]}) == ()
    assert gate(GOOD | {"projects": [FIRST, second]}) == said


def test_scalars_that_are_not_the_first_projects_are_refused() -> None:
    (said,) = gate(GOOD | {"projects": [FIRST | {"baseBranch": "main"}]})
    assert said.startswith("projects[0].baseBranch is 'main', and baseBranch is 'release/8.4.0'")
