"""An issue as Jira or GitHub returns it: its versions, and what only they name."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from candidates.run.filed_issue import read_filed_issue
from collectors.errors import InvalidInput

if TYPE_CHECKING:
    from ranking.facts import Issue

JIRA = {
    "id": "10001",
    "self": "https://jira.example.com/rest/api/2/issue/10001",
    "key": "APP-12",
    "names": {"customfield_10010": "Target Version", "customfield_10011": "Epic Link"},
    "fields": {
        "summary": "number 9.9 of the text is no version",
        "fixVersions": [{"id": "1", "name": "8.4.0", "released": False}],
        "versions": [{"id": "2", "name": "8.3.0"}],
        "customfield_10010": {"value": "8.4.1"},
        "customfield_10011": "APP-1",
        "labels": ["backend"],
        "issuelinks": [],
    },
}
GITHUB = {
    "number": 12,
    "title": "Fix it",
    "url": "https://api.github.com/repos/acme/app/issues/12",
    "html_url": "https://github.com/acme/app/issues/12",
    "repository_url": "https://api.github.com/repos/acme/app",
    "milestone": {"title": "8.4.0", "state": "open"},
    "labels": [{"name": "8.3.0"}, {"name": "bug"}],
}


def read(document: Any) -> Issue:  # noqa: ANN401 - any JSON value
    return read_filed_issue("-", io.BytesIO(json.dumps(document).encode()))


def test_a_raw_jira_issue() -> None:
    issue = read(JIRA)
    assert (issue.key, issue.read, issue.source) == ("APP-12", "answered", "file")
    assert [(v.name, v.role) for v in issue.versions] == [("8.4.0", "fix"), ("8.3.0", "affected"), ("8.4.1", "target")]
    assert [(link.kind, link.key, link.read) for link in issue.links] == [("epic", "APP-1", "not-asked")]


def test_a_raw_github_issue() -> None:
    issue = read(GITHUB)
    assert (issue.key, issue.read, issue.source) == ("acme/app#12", "answered", "file")
    assert [(v.name, v.role) for v in issue.versions][:1] == [("8.4.0", "milestone")]
    assert "8.3.0" in [v.name for v in issue.versions if v.role == "label"]


def test_the_programs_own_record_is_read_as_before() -> None:
    own = {"key": "APP-12", "versions": [{"name": "8.4.0", "field": "fixVersions"}]}
    assert [version.name for version in read(own).versions] == ["8.4.0"]


@pytest.mark.parametrize("document", [{"number": 12}, {"key": "APP-12", "fields": 7}, {"key": "A-1", "number": 3}])
def test_what_is_neither_is_refused(document: Any) -> None:  # noqa: ANN401 - any JSON value
    with pytest.raises(InvalidInput):
        read(document)
