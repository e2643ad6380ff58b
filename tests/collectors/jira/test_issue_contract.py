"""The test server's shapes against Jira Cloud's own OpenAPI document, which the package `jira-as` carries."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator, ValidationError

from collectors.jira.issue import find_comment, post_comment, read_jira_issue, who_am_i
from collectors.process import Deadline
from tests.support.jira_server import Jira, Reply, jira_server, link, parent, remote, site_of, version

DOCUMENT = "specs/jira-platform-swagger-v3.json"
FOLDERS = [Path(each) for each in (getattr(find_spec("jira_as"), "submodule_search_locations", None) or ())]

pytestmark = pytest.mark.skipif(
    not any((folder / DOCUMENT).exists() for folder in FOLDERS),
    reason="jira-as is not installed (pip install --no-deps jira-as): no OpenAPI document to check against",
)

OPERATIONS = {
    "issue": "/rest/api/3/issue/{issueIdOrKey}",
    "remotelink": "/rest/api/3/issue/{issueIdOrKey}/remotelink",
    "comment": "/rest/api/3/issue/{issueIdOrKey}/comment",
    "field": "/rest/api/3/field",
    "myself": "/rest/api/3/myself",
    "search/jql": "/rest/api/3/search/jql",
}


@cache
def document() -> dict[str, Any]:
    """The document, less one rule that real answers and its own example break: a link has one side."""
    path = next(folder / DOCUMENT for folder in FOLDERS if (folder / DOCUMENT).exists())
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found["components"]["schemas"]["IssueLink"]["required"] = ["type"]
    return found


def check(value: object, schema: dict[str, Any]) -> None:
    """Hold a value against a schema of the document."""
    Draft4Validator(schema | {"components": document()["components"]}).validate(value)


def check_named(value: object, name: str) -> None:
    check(value, {"$ref": f"#/components/schemas/{name}"})


def exchanges() -> list[tuple[str, str, dict[str, str], Reply]]:
    """Every kind of question that the collector asks of Cloud, with its parameters and the answer."""
    seen: list[tuple[str, str, dict[str, str], Reply]] = []
    with jira_server("cloud") as server:
        server.custom = {"customfield_10001": "Target Version"}
        server.add(
            "APP-1",
            fixVersions=[version("8.4.0", releaseDate="2026-05-01")],
            issuelinks=[link("inward", "APP-2", "is blocked by", "blocks")],
            parent=parent("EPIC-1", level=1),
        )
        server.add("APP-2")
        server.add("EPIC-1")
        server.remotes["APP-1"] = [remote("https://github.com/acme/app/pull/65")]
        serve = Jira.serve

        def watched(method: str, target: str, authorization: str | None, body: str) -> Reply:
            reply = serve(server, method, target, authorization, body)
            seen.append((method.lower(), server.requests[-1].removeprefix("POST "), server.queries[-1], reply))
            return reply

        server.serve = watched  # type: ignore[method-assign]
        site = site_of(server, "3")
        assert read_jira_issue(site, "APP-1", Deadline(30)).read == "answered"
        assert read_jira_issue(site, "APP-9", Deadline(30)).read == "not-found"
        who_am_i(site, Deadline(30))
        post_comment(site, "APP-1", "which? marker", Deadline(30), marker="marker")
        assert find_comment(site, "APP-1", "marker", Deadline(30)) is not None
    return seen


def test_every_question_and_answer_is_the_document_s() -> None:
    asked = set()
    for method, address, query, reply in exchanges():
        operation = document()["paths"][OPERATIONS[address]][method]
        parameters = {each["name"]: each for each in operation["parameters"] if each["in"] == "query"}
        assert set(query) <= set(parameters), address
        answer = operation["responses"][str(reply.status)]
        if reply.status < 300:
            check(json.loads(reply.body), answer["content"]["application/json"]["schema"])
        else:
            check_named(json.loads(reply.body), "ErrorCollection")
        asked.add((method, address))
    assert asked == {("get", address) for address in OPERATIONS} | {("post", "comment")}


@pytest.mark.parametrize(
    ("name", "piece"),
    [
        ("Version", version("8.4.0", releaseDate="2026-05-01")),
        ("IssueLink", link("inward", "APP-2", "is blocked by", "blocks")),
        ("IssueLink", link("outward", "APP-2", "is blocked by", "blocks")),
        ("RemoteIssueLink", remote("https://github.com/acme/app/pull/65")),
    ],
)
def test_the_pieces_are_the_document_s(name: str, piece: dict[str, Any]) -> None:
    check_named(piece, name)
    with pytest.raises(ValidationError):
        check_named(piece | {"id": [piece["id"]]}, name)


def test_the_document_has_the_search_that_cloud_has() -> None:
    assert document()["paths"]["/rest/api/3/search"]["get"]["deprecated"]
    assert not document()["paths"][OPERATIONS["search/jql"]]["get"]["deprecated"]
