"""The wire: what the commands print stands under the schemas that they print; what does not is refused by its path."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, get_args

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace as altered

from candidates.contract import SCHEMA_NAMES, decode_bundle, encode_bundle, encode_pretty, json_schema
from collectors.errors import InvalidInput
from ranking.facts import Branch, Facts, FailureKind, Tag
from tests.support.program import ROOT, Answer, base_branch
from tests.support.servers import HOST, silent_listener

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand


def validator(name: str) -> Any:  # noqa: ANN401 - jsonschema is untyped
    schema = json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


VALIDATORS = {name: validator(name) for name in SCHEMA_NAMES}


def problems(name: str, answer: Answer) -> list[str]:
    return [f"{problem.json_path}: {problem.message}" for problem in VALIDATORS[name].iter_errors(answer)]


# --- what the commands print ---


def failed_issue(read: str) -> bytes:
    failure = {"kind": "auth-refused", "detail": "401", "host": "jira.example.com"}
    return json.dumps({"key": "APP-12", "read": read, "source": "jira", "failure": failure}).encode()


SITUATIONS: dict[str, tuple[str, tuple[str, ...], bytes, int]] = {
    # recipe, options of `resolve`, standard input, exit code
    "derived": ("release_lines", ("--autopilot", "--issue-version", "8.4.0"), b"", 0),
    "ambiguous": ("demo", ("--autopilot", "--issue-version", "8.4.0", "--issue-version", "8.5.0"), b"", 0),
    "manual question": ("release_lines", ("--issue-version", "8.4.0"), b"", 3),
    "manual tie": ("demo", ("--issue-version", "8.4.0", "--issue-version", "8.5.0"), b"", 3),
    "fetched": ("moved_on", ("--autopilot", "--issue-version", "1.10.1"), b"", 0),
    "remote gone": ("stable_dash", ("--autopilot", "--issue-version", "7.0.2"), b"", 0),
    "remote silent": ("trunk_only", ("--autopilot", "--timeout", "0.2"), b"", 0),
    "no remote": ("dotted_x", ("--autopilot", "--issue-version", "4.0.2"), b"", 0),
    "empty remote": ("empty", ("--autopilot",), b"", 3),
    "empty remote, manual": ("empty", ("--issue-version", "1"), b"", 3),
    "remote question": ("trunk_only", ("--autopilot",), b"", 3),
    "issue unread": ("release_lines", ("--autopilot", "--issue", "-"), failed_issue("failed"), 6),
    "issue optional": ("release_lines", ("--autopilot", "--issue", "-", "--issue-optional"), failed_issue("failed"), 0),
    "issue not found": ("release_lines", ("--issue", "-"), failed_issue("not-found"), 3),
    "two products": ("two_products", ("--autopilot", "--issue-version", "server 4.1.1"), b"", 0),
    "knots": ("knots", ("--autopilot", "--issue-version", "1.0"), b"", 0),
}


# The evidence is the same record whoever prints it: here the halves are held to their schemas too.
COLLECTED = {"derived", "remote gone", "no remote", "empty remote", "issue unread", "two products"}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_every_answer_stands_under_its_schema(stand: MakeStand, situation: str) -> None:
    recipe, options, stdin, code = SITUATIONS[situation]
    made = stand(recipe)
    match situation:
        case "remote gone":
            made.take_the_remote_away()
        case "no remote":
            made.clone.git("remote", "remove", "origin")
            made.clone.git("branch", "4.0.x", "4.1.x")
        case "remote question":
            made.clone.git("remote", "rename", "origin", "left")
            made.clone.git("remote", "add", "right", str(made.remote.path))
        case _:
            pass
    with silent_listener() as port:
        if situation == "remote silent":
            made.serve_as(f"git://{HOST}:{port}/acme/app.git")
        done = base_branch("resolve", made.clone.path, *options, stdin=stdin)
        collected = [o for o in options if o not in {"--autopilot", "--issue-optional"}]
        bundle = base_branch("collect", made.clone.path, *collected, stdin=stdin) if situation in COLLECTED else None
    assert done.code == code, done.err
    decision = done.json()
    assert problems("decision", decision) == []
    held_to_the_design(decision)
    if situation == "remote question":
        assert decision["baseBranchEvidence"] is None
        return
    assert problems("ranking", decision["baseBranchEvidence"]) == []
    if bundle is None:
        return
    assert bundle.code == 0, bundle.err
    assert problems("bundle", bundle.json()) == []
    ranking = base_branch("rank", stdin=bundle.out)
    assert (ranking.code, ranking.err) == (0, "")
    assert problems("ranking", ranking.json()) == []


def held_to_the_design(decision: Answer) -> None:
    """What a schema does not say and docs/contract.md does."""
    four = [decision[key] for key in ("baseBranch", "baseRef", "baseCommit", "baseBranchSource")]
    assert all(part is None for part in four) or None not in four
    assert decision["baseBranchSource"] in {None, "remembered", "derived", "default"}
    if decision["autonomy"] == "manual":
        assert four == [None] * 4
    status = decision["baseFetchStatus"]
    assert (status in {None, "aborted"}) == (four[0] is None)
    if status not in {None, "fresh"}:
        assert decision["log"]
    assert len(decision["questions"]) <= 1
    for question in decision["questions"]:
        assert 2 <= len(question["options"]) <= 4
        assert question["default"] in {None, *range(1, len(question["options"]) + 1)}
    evidence = decision["baseBranchEvidence"]
    if evidence is None:
        return
    scores = []
    for candidate in evidence["candidates"]:
        points = [int(entry["detail"].partition(":")[0]) for entry in candidate["evidence"]]
        assert sum(points) == candidate["score"]
        assert candidate["refs"]
        scores.append(candidate["score"])
    assert scores == sorted(scores, reverse=True)
    tied = scores.count(scores[0]) > 1 if scores else False
    assert evidence["ambiguous"] is tied
    assert ("chosen" in evidence) is bool(scores and not tied)
    if tied:
        assert decision["baseBranchSource"] != "derived"
    assert sum(entry["fired"] for entry in decision["trail"]) <= 1


def test_the_schemas_refuse_what_the_decoder_refuses() -> None:
    good: Answer = json.loads(BUNDLE)
    assert problems("bundle", good) == []
    assert problems("bundle", good | {"zip": 1}) != []
    assert problems("bundle", {key: good[key] for key in good if key != "now"}) != []
    assert problems("ranking", {"refProvenance": "remote"}) != []
    assert problems("decision", {"schema": "base-branch/decision@2"}) != []


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_the_printed_schema_is_the_one_that_is_tested_with(name: str) -> None:
    done = base_branch("schema", name)
    assert (done.code, done.err) == (0, "")
    assert done.json() == json.loads(json.dumps(json_schema(name)))
    assert done.json()["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert "docs/contract.md" in done.json()["$comment"]


def test_the_schemas_are_these_and_closed_at_every_depth() -> None:
    assert SCHEMA_NAMES == ("bundle", "ranking", "decision", "decisions")
    for name in SCHEMA_NAMES:
        for title, part in json_schema(name)["$defs"].items():
            assert part["additionalProperties"] is False, title


def test_the_evidence_record_has_the_designs_keys_and_no_other() -> None:
    ranking = json_schema("ranking")["$defs"]["Ranking"]["properties"]
    assert list(ranking) == [
        "refProvenance",
        "chosen",
        "ambiguous",
        "convention",
        "candidates",
        "notes",
        "askedOnIssue",
    ]
    assert list(json_schema("ranking")["$defs"]["Candidate"]["properties"]) == ["branch", "score", "refs", "evidence"]
    kinds = json_schema("ranking")["$defs"]["Evidence"]["properties"]["kind"]["enum"]
    assert sorted(kinds) == [
        "issue-version",
        "linked-release",
        "recent",
        "ref-provenance",
        "repo-default",
        "sort-order",
        "version-convention",
    ]


def test_a_failure_is_one_of_a_closed_list() -> None:
    schema = json_schema("decision")["$defs"]["Source"]["properties"]["kind"]
    listed = next(part["enum"] for part in schema["anyOf"] if "enum" in part)
    kinds = get_args(FailureKind)
    assert sorted(listed) == sorted(kinds)
    assert len(set(kinds)) == len(kinds)


# --- what is refused, and where ---

BUNDLE = json.dumps(
    {
        "schema": "base-branch/bundle@1",
        "now": "2026-11-30T09:00:00Z",
        "repository": {"name": "acme/app", "defaultBranch": "main", "defaultBranchState": "remote"},
        "refs": {
            "provenance": "remote",
            "complete": True,
            "branches": [{"name": "main", "tip": "0" * 40}, {"name": "release/1.0"}],
            "tags": [{"name": "v1.0.0", "branches": ["release/1.0"]}],
        },
        "issue": {
            "key": "APP-12",
            "read": "answered",
            "fields": [{"name": "fixVersions", "role": "fix", "state": "values"}],
            "versions": [{"name": "1.0.1", "field": "fixVersions"}],
            "links": [{"kind": "parent", "key": "APP-9", "versions": [{"name": "1.0", "field": "fixVersions"}]}],
        },
        "recent": [{"branch": "main", "lastUsed": "2026-11-29T09:00:00+01:00"}],
        "backtest": {"asked": 3, "right": 2, "wrong": 0, "held": 1, "at": "2026-11-30T00:00:00Z"},
        "settings": {"branchTtlDays": 3},
    }
).encode()

Change = Callable[[Answer], object]


def put(path: str, value: object) -> Change:
    """Set what a dotted path names."""

    def change(bundle: Answer) -> None:
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        part: Any = bundle
        for key in way:
            part = part[int(key)] if isinstance(part, list) else part[key]
        part[last] = value

    return change


def drop(path: str) -> Change:
    def change(bundle: Answer) -> None:
        *way, last = path.replace("[", ".").replace("]", "").split(".")
        part: Any = bundle
        for key in way:
            part = part[int(key)] if isinstance(part, list) else part[key]
        del part[last]

    return change


UNKNOWN = "unknown field"
MISSING = "a required field is missing"
FAULTS: dict[str, tuple[Change, str]] = {
    # unknown keys
    "zip": (put("zip", 1), UNKNOWN),
    "repository.zip": (put("repository.zip", 1), UNKNOWN),
    "repository.default_branch": (put("repository.default_branch", "main"), UNKNOWN),
    "refs.zip": (put("refs.zip", None), UNKNOWN),
    "refs.branches[1].zip": (put("refs.branches[1].zip", 1), UNKNOWN),
    "refs.tags[0].zip": (put("refs.tags[0].zip", 1), UNKNOWN),
    "issue.zip": (put("issue.zip", 1), UNKNOWN),
    "issue.links[0].versions[0].zip": (put("issue.links[0].versions[0].zip", 1), UNKNOWN),
    'issue["a.b"]': (lambda bundle: bundle["issue"].__setitem__("a.b", 1), UNKNOWN),
    "settings.zip": (put("settings.zip", 1), UNKNOWN),
    # missing keys
    "schema": (drop("schema"), MISSING),
    "now": (drop("now"), MISSING),
    "repository": (drop("repository"), MISSING),
    "repository.name": (drop("repository.name"), MISSING),
    "refs": (drop("refs"), MISSING),
    "refs.provenance": (drop("refs.provenance"), MISSING),
    "refs.complete": (drop("refs.complete"), MISSING),
    "refs.branches[0].name": (drop("refs.branches[0].name"), MISSING),
    "issue.key": (drop("issue.key"), MISSING),
    "issue.read": (drop("issue.read"), MISSING),
    "issue.versions[0].name": (drop("issue.versions[0].name"), MISSING),
    "issue.links[0].versions[0].field": (drop("issue.links[0].versions[0].field"), MISSING),
    "recent[0].branch": (drop("recent[0].branch"), MISSING),
    "backtest.held": (drop("backtest.held"), MISSING),
}
WRONG: dict[str, tuple[object, str]] = {
    "schema": ("base-branch/bundle@2", "invalid enum value 'base-branch/bundle@2'"),
    "now": ("2026-11-30T09:00:00", "expected `datetime` with a timezone component"),
    "repository.name": (None, "expected `str`, got `null`"),
    "repository.defaultBranchState": ("known", "invalid enum value 'known'"),
    "repository.remoteType": ("svn", "invalid enum value 'svn'"),
    "refs.provenance": ("cache", "invalid enum value 'cache'"),
    "refs.complete": (1, "expected `bool`, got `int`"),
    "refs.branches": ({}, "expected `array`, got `object`"),
    "refs.branches[1]": ("release/1.0", "expected `object`, got `str`"),
    "refs.branches[0].tip": ("0" * 39, "expected `str` matching regex"),
    "refs.branches[0].dateState": ("old", "invalid enum value 'old'"),
    "refs.branches[0].committedAt": ("yesterday", "invalid RFC3339 encoded datetime"),
    "refs.tags[0].branches[0]": (7, "expected `str`, got `int`"),
    "issue.versions[0].role": ("fixes", "invalid enum value 'fixes'"),
    "issue.links[0].depth": (0, "expected `int` >= 1"),
    "issue.links[0].versions[0].released": ("yes", "expected `bool | null`, got `str`"),
    "recent[0].count": (0, "expected `int` >= 1"),
    "backtest.asked": (-1, "expected `int` >= 0"),
    "settings.onConflict": ("flip", "invalid enum value 'flip'"),
    "settings.resolveOrder[0]": ("guess", "invalid enum value 'guess'"),
    "settings.branchTtlDays": (1.5, "expected `int`, got `float`"),
    "settings.maxCandidates": (0, "expected `int` >= 1"),
    "settings.deriveFloor": (1.1, "expected `float` <= 1.0"),
}
CASES = [
    *((path, change, said) for path, (change, said) in FAULTS.items()),
    *((path, None, said) for path, (_, said) in WRONG.items()),
]


def bent(path: str, change: Change | None) -> bytes:
    bundle: Answer = json.loads(BUNDLE)
    if change is not None:
        change(bundle)
    elif path.endswith("]"):
        head, _, index = path[:-1].rpartition("[")
        rest: Any = bundle
        for key in head.replace("[", ".").replace("]", "").split("."):
            rest = rest[int(key)] if isinstance(rest, list) else rest.setdefault(key, ["remembered"])
        rest[int(index)] = WRONG[path][0]
    else:
        put(path, WRONG[path][0])(bundle)
    return json.dumps(bundle).encode()


@pytest.mark.parametrize(("path", "change", "said"), CASES, ids=[f"{p} {s[:12]}" for p, _, s in CASES])
def test_a_wrong_bundle_is_refused_with_the_path_of_the_fault(path: str, change: Change | None, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_bundle(bent(path, change))
    assert caught.value.where == path
    assert str(caught.value).startswith(f"{path}: {said}")
    assert problems("bundle", json.loads(bent(path, change))) != [] or path in ONLY_THE_DECODER_SEES


# `format` is an annotation to JSON Schema, not a check.
ONLY_THE_DECODER_SEES = {"now", "refs.branches[0].committedAt"}


@pytest.mark.parametrize("path", ["zip", "refs.branches[0].name", "issue.links[0].versions[0].zip"])
def test_rank_refuses_with_2_and_prints_nothing(path: str) -> None:
    change, said = FAULTS[path]
    text = bent(path, change)
    done = base_branch("rank", stdin=text)
    assert (done.code, done.out) == (2, b"")
    assert done.err == f"base-branch: {path}: {said} (in the bundle)\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "the bundle is empty"),
        (b" \n\t", "the bundle is empty"),
        (b"{", "the bundle is no JSON"),
        (BUNDLE[:-1], "the bundle is no JSON"),
        (BUNDLE + BUNDLE, "the bundle is no JSON"),
        (b"\xef\xbb\xbf" + BUNDLE, "the bundle begins with a byte order mark"),
        (BUNDLE.decode().encode("utf-16"), "the bundle is no JSON"),
        (b"\xff", "the bundle is no JSON"),
        (b"null", "expected `object`, got `null`"),
        (b"[]", "expected `object`, got `array`"),
        (b"NaN", "the bundle is no JSON"),
        (b'"' + b"x" * 9 + b'"', "expected `object`, got `str`"),
        (BUNDLE.replace(b"main", b"ma\xffin", 1), "the bundle is no JSON"),
        (b'{"refs":{"branches":' + b"[" * 5000, "refs.branches[0]: expected `object`, got `array`"),
    ],
)
def test_what_is_no_bundle_at_all(text: bytes, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        decode_bundle(text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("text", [b"", b"[]"])
def test_rank_on_no_bundle(text: bytes) -> None:
    done = base_branch("rank", stdin=text)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("base-branch: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("branches", [0, 1, 999, 1_000, 1_001, 2_500])
def test_a_bundle_is_printed_with_a_branch_a_line(branches: int) -> None:
    facts = decode_bundle(BUNDLE)
    hostile = 'x\n"branches": [], "tags": []'
    refs = altered(
        facts.refs,
        branches=tuple(Branch(f"b{i}", committed_at=facts.now) for i in range(branches)),
        tags=tuple(Tag(name=f"t{i}", branches=()) for i in range(branches // 2)),
    )
    facts = altered(facts, refs=refs, repository=altered(facts.repository, name=hostile))
    printed = b"".join(encode_bundle(facts))
    assert json.loads(printed) == json.loads(encode_pretty(facts))
    lines = printed.splitlines()
    assert sum(line.startswith(b'      {"name":"b') for line in lines) == branches
    assert sum(line.startswith(b'      {"name":"t') for line in lines) == branches // 2
    assert printed.endswith(b"}\n")


def test_a_good_bundle_comes_through_whole() -> None:
    facts = decode_bundle(BUNDLE)
    again = msgspec.json.decode(msgspec.json.encode(facts), type=Facts)
    assert again == facts
    required = {"schema", "now", "repository", "refs"}
    least = {key: value for key, value in json.loads(BUNDLE).items() if key in required}
    least["repository"] = {"name": "x"}
    least["refs"] = {"provenance": "local", "complete": False, "branches": [{"name": "main"}]}
    assert decode_bundle(json.dumps(least).encode()).refs.branches[0].name == "main"
    assert problems("bundle", deepcopy(least)) == []


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_the_document_explains_every_key_and_every_value(name: str) -> None:
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    words = set(re.findall(r"[\w@/-]+", " ".join(re.findall(r"`([^`]+)`", page))))
    said = {word for part in json_schema(name)["$defs"].values() for word in words_of(part)}
    assert said - words == set()


def words_of(schema: Any) -> Iterator[str]:  # noqa: ANN401 - a JSON Schema
    """The keys of a schema and the values of its closed lists."""
    if isinstance(schema, dict):
        yield from schema.get("properties", ())
        yield from (value for value in schema.get("enum", ()) if isinstance(value, str))
        for inner in schema.values():
            yield from words_of(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from words_of(inner)
