"""What is sent to GitHub against GitHub's own descriptions, and the test server against the same.

The descriptions are too large to keep here: `GITHUB_SCHEMA` names the `schema.graphql` of the npm package
@octokit/graphql-schema (graphql-core reads it), `GITHUB_OPENAPI` the `api.github.com.json` of @octokit/openapi.
"""
# ruff: noqa: ANN401 - descriptions are JSON of any depth

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest
from jsonschema import Draft4Validator

from collectors.github import queries
from collectors.github.queries import variables
from tests.support.github_graphql import TYPES, UNIONS, Refused, check, execute, parse
from tests.support.github_server import TOKEN, Event, Hub, Item, Milestone, Repo, github_server

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA, OPENAPI = os.environ.get("GITHUB_SCHEMA"), os.environ.get("GITHUB_OPENAPI")


ALL = {name: text for name, text in vars(queries).items() if str(text).lstrip().startswith("query ")}

# --- GraphQL ---


@pytest.fixture(scope="module")
def schema() -> Any:
    """GitHub's public schema; two of its fields are defined twice, so it is not checked itself."""
    graphql = pytest.importorskip("graphql", reason="graphql-core is not installed")
    if not SCHEMA:
        pytest.skip("GITHUB_SCHEMA names no schema.graphql")
    return graphql.build_schema(Path(SCHEMA).read_text(encoding="utf-8"), assume_valid_sdl=True, assume_valid=True)


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_text_is_valid_by_githubs_schema(schema: Any, name: str) -> None:
    graphql = pytest.importorskip("graphql")
    assert graphql.validate(schema, graphql.parse(ALL[name])) == []


def test_githubs_schema_refuses_what_it_does_not_have(schema: Any) -> None:
    graphql = pytest.importorskip("graphql")
    assert graphql.validate(schema, graphql.parse(ALL["ISSUE"].replace("milestone", "milestones"))) != []


def test_the_servers_types_are_githubs(schema: Any) -> None:
    graphql = pytest.importorskip("graphql")
    for name, fields in TYPES.items():
        for field, leads in fields.items():
            known = schema.type_map[name].fields[field]
            named = graphql.get_named_type(known.type)
            if leads is None:
                assert graphql.is_leaf_type(named), f"{name}.{field}"
            else:
                assert named.name == leads.removeprefix("!"), f"{name}.{field}"
                assert leads.startswith("!") == ("first" in known.args), f"{name}.{field}"
    for name, members in UNIONS.items():
        assert set(members) <= {each.name for each in schema.type_map[name].types}


@pytest.mark.parametrize("name", sorted(ALL))
def test_each_text_is_valid_by_the_test_servers_types(name: str) -> None:
    document = parse(ALL[name])
    check(document, variables("acme/app", 12) if document.variables else {}, frozenset())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("query Q { repository { nope } }", "undefinedField"),
        ("query Q { viewer }", "selectionMismatch"),
        ("query Q { viewer { login { x } } }", "selectionMismatch"),
        ("query Q { viewer { ...None } }", "cannotSpreadFragment"),
        ("query Q { viewer { ... on Issue { number } } }", "cannotSpreadFragment"),
        ("query Q { viewer { login }", "parse"),
        ("query Q { % }", "parse"),
        ("query Q($n: Int!) { viewer { login } }", "variableMismatch"),
        ("query Q { repository(owner: $o) { nameWithOwner } }", "variableNotDefined"),
    ],
)
def test_the_test_server_refuses_what_githubs_would(text: str, code: str) -> None:
    with pytest.raises(Refused) as caught:
        check(parse(text), {}, frozenset())
    assert caught.value.code == code


@pytest.mark.parametrize(("arguments", "kind"), [("", "MISSING"), ("(first: 101)", "EXCESSIVE")])
def test_the_test_server_refuses_pages_of_no_size_or_too_large(arguments: str, kind: str) -> None:
    text = "query Q { repository { issueOrPullRequest { ... on Issue { labels%s { nodes { name } } } } } }"
    document = parse(text % arguments)
    item = {"__typename": "Issue", "labels": [{"name": "x"}]}
    answer: Any = execute(document, {"repository": {"issueOrPullRequest": item}}, {})
    assert [error["type"].partition("_")[0] for error in answer["errors"]] == [kind]


# --- REST ---

APP = "acme/app"
PATHS = {
    "/repos/acme/app": "full-repository",
    "/repos/acme/app/branches?protected=true": "short-branch",
    "/repos/acme/app/issues/49": "issue",
    "/repos/acme/app/issues/65": "issue",
    "/repos/acme/app/issues/49/timeline": "timeline-cross-referenced-event",
    "/repos/acme/app/pulls/65": "pull-request",
}


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A server that has one of each."""
    due = Milestone(title="1.2", due="2026-12-01T08:00:00Z")
    issue = Item(milestone=due, labels=("v1",), parent=(APP, 9), events=[Event(pull=(APP, 65))])
    items = {49: issue, 9: Item(), 65: Item(base="release/1.2", state="merged", body="fixes #49")}
    with github_server(Hub(repos={APP: Repo(items=items, protected=("main",))})) as state:
        yield state


def ask(hub: Hub, path: str, body: object = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {TOKEN}", "User-Agent": "a test"}
    with urlopen(Request(f"{hub.base}/api/v3{path}", data=data, headers=headers)) as reply:  # noqa: S310 - loopback
        return json.load(reply)


@pytest.fixture(scope="module")
def openapi() -> Any:
    """GitHub's description of its REST API, with `nullable` as JSON Schema says it and no field required.

    The test server gives the fields that are read here, and no others.
    """
    if not OPENAPI:
        pytest.skip("GITHUB_OPENAPI names no api.github.com.json")
    return relaxed(json.loads(Path(OPENAPI).read_text(encoding="utf-8")))


def relaxed(node: Any) -> Any:
    if isinstance(node, list):
        return [relaxed(each) for each in node]
    if not isinstance(node, dict):
        return node
    found = {k: relaxed(v) for k, v in node.items() if not (k == "required" and isinstance(v, list))}
    if not found.pop("nullable", False):
        return found
    if "type" in found:
        found["type"] = [found["type"], "null"]
        if "enum" in found:
            found["enum"] = [*found["enum"], None]
        return found
    return {"anyOf": [found, {"type": "null"}]}


def problems(openapi: Any, name: str, value: object) -> list[str]:
    # Beside the schema stands what it refers to.
    known = openapi["components"]["schemas"][name]
    strict = known | {"additionalProperties": False, "components": openapi["components"]}
    return [error.message for error in Draft4Validator(strict).iter_errors(value)]


@pytest.mark.parametrize("path", sorted(PATHS))
def test_the_test_servers_answers_are_of_githubs_shapes(hub: Hub, openapi: Any, path: str) -> None:
    answer = ask(hub, path)
    for each in answer if isinstance(answer, list) else [answer]:
        assert problems(openapi, PATHS[path], each) == []


def test_a_comments_answer_is_of_githubs_shape(hub: Hub, openapi: Any) -> None:
    assert problems(openapi, "issue-comment", ask(hub, "/repos/acme/app/issues/49/comments", {"body": "x"})) == []


def test_the_look_at_shapes_finds_a_wrong_one(openapi: Any) -> None:
    assert problems(openapi, "issue", {"number": "49"}) != []
    assert problems(openapi, "issue", {"numbr": 49}) != []
    assert problems(openapi, "issue", {"milestone": {"due_on": 7}}) != []


@pytest.mark.parametrize("path", sorted(PATHS))
def test_the_paths_that_are_asked_are_githubs(openapi: Any, path: str) -> None:
    bare = re.sub(r"\?.*", "", path)
    patterns = (re.sub(r"\{[^}]+\}", "[^/]+", known) for known in openapi["paths"])
    assert any(re.fullmatch(pattern, bare) for pattern in patterns)
