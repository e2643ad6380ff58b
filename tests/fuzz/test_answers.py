"""What a Jira and a GitHub might answer instead of an answer, at any depth: read as far as it goes, or said.

The real clients ask real servers on loopback. How to look longer: `tests.fuzz.hostile`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from collectors.github.facts import Place, graph_issue, rest_issue, rest_mentions
from collectors.github.failures import Reply as GitHubReply
from collectors.github.failures import failure_of, graph_errors, graph_failure
from collectors.github.issue import read_github, read_github_branches
from collectors.jira.comments import text_of
from collectors.jira.facts import (
    find_above,
    find_targets,
    names_of,
    read_above,
    read_found,
    read_issue_links,
    read_own,
    read_remote_links,
)
from collectors.jira.failures import messages_of, problem_of, read_answer
from collectors.jira.issue import read_jira_issue
from collectors.process import Deadline
from ranking.facts import Facts, Failure, Issue, RefListing, Repository
from tests.fuzz.hostile import FEWER, as_bytes, damaged, faults_of, fuzzed, texts, values
from tests.ranking.facts_builder import NOW
from tests.support.github_server import DATE, HOST, Canned, Hub, Item, Milestone, Repo, github_server
from tests.support.jira_server import Jira, jira_server, link, parent, remote, site_of, version
from tests.support.jira_server import Reply as JiraReply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PLACE = Place(repository="acme/app", canonical="acme/app", number=12, host=HOST)
SECONDS = 20
HEADERS = (
    "Retry-After X-RateLimit-Reset X-Seraph-LoginReason X-Authentication-Denied-Reason X-AUSERNAME Location Server "
    "X-GitHub-SSO Content-Type"
).split()


def stands(issue: Issue) -> None:
    """What was read can go on the wire, and into a ranking."""
    refs = RefListing(provenance="remote", complete=True)
    bundle = Facts(schema="base-branch/bundle@1", now=NOW, repository=Repository(name="a/b"), refs=refs, issue=issue)
    assert faults_of("bundle", bundle) == []


# --- Jira ---

ISSUE = {
    "key": "APP-12",
    "names": {"fixVersions": "Fix versions", "customfield_7": "Target Version", "customfield_8": "Epic Link"},
    "fields": {
        "fixVersions": [version("8.4.0", releaseDate="2026-05-01")],
        "versions": [version("8.3.0")],
        "labels": ["8.4.0", "x"],
        "customfield_7": [{"value": "8.4", "child": {"value": "8.4.1"}}],
        "customfield_8": "APP-9",
        "parent": parent("APP-8", level=1),
        "issuelinks": [link("inward", "APP-2", "is blocked by", "blocks")],
    },
}
REMOTE = [remote("https://github.com/acme/app/pull/65"), remote("https://host/projects/A/repos/b/pull-requests/1")]
SEARCH = {
    "startAt": 0,
    "total": 1,
    "isLast": True,
    "issues": [{"key": "APP-9", "fields": {"fixVersions": [version("8.4")]}}],
}
FIELDS = [{"id": "customfield_7", "name": "Target Version"}, {"id": "customfield_9", "name": "Parent Link"}]


@fuzzed
@given(damaged(ISSUE), damaged(REMOTE), damaged(SEARCH), damaged(FIELDS))
def test_jiras_facts_of_anything(issue: object, links: object, search: object, fields: object) -> None:
    asked = issue.get("fields") if isinstance(issue, dict) else None
    held: Mapping[str, object] = asked if isinstance(asked, dict) else {}
    names = names_of(issue.get("names") if isinstance(issue, dict) else issue) | names_of(fields)
    targets = find_targets(names, None)
    for wanted in (["Target Version", "customfield_7"], []):
        find_targets(names, wanted)
    above = read_above(held, find_above(names), 1)
    assert all(each.key for each in above)
    reads = read_own(held, targets, names, hidden=False)
    found = read_found(search.get("issues") if isinstance(search, dict) else search)
    stands(
        Issue(
            key="APP-12",
            source="jira",
            read="partial",
            fields=tuple(each.field for each in reads),
            versions=tuple(v for each in reads for v in each.versions),
            links=(*read_issue_links(held.get("issuelinks"), "APP-12"), *read_remote_links(links)),
        )
    )
    for key, each in found.items():
        assert key
        read_own(each, targets, names, hidden=True)
        text_of(each)


@fuzzed
@given(values, st.integers(100, 599), st.dictionaries(st.sampled_from(HEADERS), texts, max_size=3))
def test_why_a_jira_gave_no_answer(body: object, status: int, headers: dict[str, str]) -> None:
    answer = read_answer(status, headers, as_bytes(body))
    problem = problem_of(site_of(Jira(product="cloud")), answer, "APP-12", NOW)
    assert problem is None or (problem.detail and problem.detail.isprintable())
    messages_of(answer)


@pytest.fixture(scope="module")
def jira() -> Iterator[Jira]:
    """One Jira for all examples."""
    with jira_server() as server:
        for key in ("APP-12", "APP-9", "APP-2"):
            server.add(key)
        yield server


@settings(fuzzed, max_examples=FEWER)
@given(damaged(ISSUE), damaged(REMOTE), damaged(SEARCH), damaged(FIELDS))
def test_a_jira_that_answers_anything(jira: Jira, issue: object, links: object, search: object, fields: object) -> None:
    jira.scripted.clear()
    for address, body in (("issue", issue), ("remotelink", links), ("field", fields)):
        jira.say(address, JiraReply(status=200, body=json.dumps(body)))
    jira.say("search", *[JiraReply(status=200, body=json.dumps(search))] * 6)
    jira.requests.clear()
    stands(read_jira_issue(site_of(jira), "APP-12", Deadline(SECONDS)))
    assert len(jira.requests) <= 6


# --- GitHub ---

PULL = {
    "__typename": "PullRequest",
    "number": 65,
    "state": "OPEN",
    "baseRefName": "release/8.4",
    "bodyText": "Fixes #12",
    "repository": {"nameWithOwner": "acme/app"},
}
TIMELINE = {
    "pageInfo": {"hasPreviousPage": False, "startCursor": "c"},
    "nodes": [{"__typename": "CrossReferencedEvent", "willCloseTarget": True, "source": PULL}],
}
GRAPH_ITEM = {
    "__typename": "Issue",
    "number": 12,
    "milestone": {"title": "8.4.0", "state": "OPEN", "dueOn": "2026-05-01T00:00:00Z"},
    "labels": {"nodes": [{"name": "8.4.0"}], "pageInfo": {"hasNextPage": False}},
    "parent": {"number": 9, "repository": {"nameWithOwner": "acme/app"}, "milestone": {"title": "8.4"}, "parent": None},
    "subIssues": {"nodes": [{"number": 3, "milestone": None}], "pageInfo": {"hasNextPage": False}},
    "closedByPullRequestsReferences": {"nodes": [PULL], "pageInfo": {"hasNextPage": False}},
    "timelineItems": TIMELINE,
}
GRAPH = {
    "data": {
        "repository": {
            "nameWithOwner": "acme/app",
            "defaultBranchRef": {"name": "main"},
            "issueOrPullRequest": GRAPH_ITEM,
        }
    },
    "errors": [{"type": "FORBIDDEN", "message": "no", "path": ["repository", "issueOrPullRequest", "parent"]}],
}
REST_ITEM = {
    "number": 12,
    "milestone": {"title": "8.4.0", "state": "open", "due_on": None},
    "labels": [{"name": "8.4.0"}, "plain"],
    "repository_url": "https://api/repos/acme/app",
    "parent_issue_url": "https://api/repos/acme/app/issues/9",
}
REST_TIMELINE = [
    {
        "event": "cross-referenced",
        "source": {
            "issue": {
                "number": 65,
                "state": "open",
                "body": "Fixes #12",
                "pull_request": {"merged_at": None},
                "repository": {"full_name": "acme/app"},
            }
        },
    }
]


@fuzzed
@given(damaged(GRAPH), damaged(REST_ITEM), damaged(REST_TIMELINE))
def test_githubs_facts_of_anything(graph: object, item: object, timeline: object) -> None:
    reply = GitHubReply(status=200, at=NOW, json=graph)
    errors = graph_errors(reply)
    site = Hub().site()
    failure = graph_failure(reply, errors, site) or failure_of(reply, site, "acme/app#12")
    node = graph
    for key in ("data", "repository", "issueOrPullRequest"):
        node = node.get(key) if isinstance(node, dict) else None
    if isinstance(node, dict):
        events = node.get("timelineItems")
        nodes = events.get("nodes") if isinstance(events, dict) else None
        listed = nodes if isinstance(nodes, list) else []
        stands(graph_issue(node, PLACE, errors=errors, failure=failure, timeline=listed))
    if isinstance(item, dict):
        stands(rest_issue(item, PLACE.key, (), whole=False, failure=None))
    if isinstance(timeline, list):
        rest_mentions(timeline, PLACE)


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    """One GitHub for all examples."""
    state = Hub(repos={"acme/app": Repo(items={12: Item(milestone=Milestone(title="8.4.0"))})})
    with github_server(state) as server:
        yield server


@settings(fuzzed, max_examples=FEWER)
@given(damaged(GRAPH), damaged(REST_ITEM), damaged(REST_TIMELINE), st.booleans())
def test_a_github_that_answers_anything(
    hub: Hub,
    graph: object,
    item: object,
    timeline: object,
    token: bool,  # noqa: FBT001 - hypothesis gives it
) -> None:
    bodies = [graph, item, timeline, item, graph] if token else [item, timeline, item, item, item]
    hub.canned[:] = [Canned(status=200, body=body, headers={"Date": DATE}) for body in bodies * 2]
    hub.asked.clear()
    site = hub.site() if token else hub.site(token=None)
    answer = read_github(site, "acme/app", 12, Deadline(SECONDS))
    stands(answer.issue)
    branches = read_github_branches(site, "acme/app", Deadline(SECONDS))
    assert branches.failure is None or isinstance(branches.failure, Failure)
    assert all(isinstance(name, str) for name in branches.protected)
    assert len(hub.asked) <= 20
