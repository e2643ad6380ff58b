"""Trackers that answer without an end, in one body or in ever more pages: bounded memory, and the deadline holds."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest

from collectors.errors import SourceError
from collectors.github.comment import find_comment as find_on_github
from collectors.github.issue import read_github, read_github_branches
from collectors.github.site import GitHubSite
from collectors.http_body import LARGEST_ANSWER
from collectors.jira.issue import find_comment as find_on_jira
from collectors.jira.issue import read_jira_issue, who_am_i
from collectors.jira.site import JiraSite
from collectors.process import Deadline
from ranking.facts import Failure
from tests.support.servers import HOST, http_answering, http_without_end

if TYPE_CHECKING:
    from tests.support.servers import HttpSite

SECONDS = 60
PIECE = b"x" * 2**20


def jira_at(site: HttpSite) -> JiraSite:
    return JiraSite(url=f"http://{HOST}:{site.port}", token="t0ken-of-ada", deployment="server")  # noqa: S106


def github_at(site: HttpSite) -> GitHubSite:
    return GitHubSite(host="github.example", api=f"http://{HOST}:{site.port}/api/v3", token="t0ken-of-ada")  # noqa: S106


@pytest.mark.parametrize("status", [200, 404])
def test_a_body_of_jiras_without_end(status: int) -> None:
    with http_without_end(status, PIECE) as site:
        issue = read_jira_issue(jira_at(site), "APP-12", Deadline(SECONDS))
    assert (issue.read, issue.failure) == ("failed", endless(HOST))


@pytest.mark.parametrize("status", [200, 404])
def test_a_body_of_githubs_without_end(status: int) -> None:
    with http_without_end(status, PIECE) as site:
        answer = read_github(github_at(site), "acme/app", 12, Deadline(SECONDS))
        branches = read_github_branches(github_at(site), "acme/app", Deadline(SECONDS))
    assert answer.issue.failure == branches.failure == endless("github.example")


def endless(host: str) -> Failure:
    size = LARGEST_ANSWER // 2**20
    return Failure(kind="protocol", detail=f"{host} answered without an end: more than {size} MiB", host=host)


def test_a_body_that_drips_on_is_left_at_the_deadline() -> None:
    with http_without_end(200, b"x") as site:
        who = who_am_i(jira_at(site), Deadline(0.3))
    assert isinstance(who, Failure)
    assert who.kind == "timed-out"


@pytest.mark.parametrize("tracker", ["jira", "github"])
def test_pages_of_comments_without_end_are_left_at_the_deadline(tracker: str) -> None:
    page = {"pageInfo": {"hasPreviousPage": True, "startCursor": "c"}, "nodes": [{"body": "x", "url": "u"}]}
    item = {"__typename": "Issue", "number": 12, "comments": page}
    body: dict[str, object] = {"data": {"repository": {"issueOrPullRequest": item}}}
    body |= {"comments": [{"id": "1", "body": "x"}], "total": 10**9}
    with http_answering(200, json.dumps(body), content_type="application/json") as site:
        ask = {
            "jira": partial(find_on_jira, jira_at(site), "APP-12"),
            "github": partial(find_on_github, github_at(site), "acme/app", 12),
        }[tracker]
        with pytest.raises(SourceError) as caught:
            ask("marker", Deadline(0.5))
        assert caught.value.failure.kind == "timed-out"
        assert len(site.requests) > 1


def test_pages_of_what_is_linked_without_end_are_few() -> None:
    link = {"type": {"inward": "is blocked by"}, "inwardIssue": {"key": "APP-2"}}
    found = {"key": "APP-3", "fields": {"fixVersions": [], "issuelinks": [link]}}
    body = found | {"startAt": 0, "total": 10**9, "issues": [found]}
    with http_answering(200, json.dumps(body), content_type="application/json") as site:
        read_jira_issue(jira_at(site), "APP-12", Deadline(SECONDS))
        assert len(site.requests) <= 5
