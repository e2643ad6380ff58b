"""What `--issue` may name, and what it may not."""

from __future__ import annotations

import pytest

from collectors.errors import InvalidInput
from collectors.issue.reference import (
    ACCEPTED,
    FileReference,
    GitHubReference,
    IssueReference,
    JiraReference,
    parse_reference,
)

HOME = ("acme/app", "github.com")


def github(repository: str, number: int, host: str = "github.com") -> GitHubReference:
    return GitHubReference(repository=repository, number=number, host=host)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-", FileReference(path="-")),
        ("./-", FileReference(path="./-")),
        ("APP-12", JiraReference(key="APP-12")),
        (" APP-12 ", JiraReference(key="APP-12")),
        ("A1_B-1", JiraReference(key="A1_B-1")),
        ("GH-12", JiraReference(key="GH-12")),
        ("./APP-12", FileReference(path="./APP-12")),
        ("issues/APP-12", FileReference(path="issues/APP-12")),
        ("APP-12.json", FileReference(path="APP-12.json")),
        ("issue.json", FileReference(path="issue.json")),
        ("/tmp/x", FileReference(path="/tmp/x")),  # noqa: S108 - nothing is opened
        ("~/issue", FileReference(path="~/issue")),
        (r"C:\issue.txt", FileReference(path=r"C:\issue.txt")),
        ("#12", github("acme/app", 12)),
        ("other/re.po_-x#7", github("other/re.po_-x", 7)),
        ("./acme/app#12", FileReference(path="./acme/app#12")),
        ("o/r#-1", FileReference(path="o/r#-1")),
        ("acme/..#12", FileReference(path="acme/..#12")),
        ("https://github.com/o/r/issues/12", github("o/r", 12)),
        ("https://github.com/o/r/pull/12/files#diff-1", github("o/r", 12)),
        ("https://github.com/o/r/issues/12?notification=1#issuecomment-9", github("o/r", 12)),
        ("https://api.github.com/repos/o/r/pulls/12", github("o/r", 12)),
        ("https://api.acme.ghe.com/repos/o/r/issues/12", github("o/r", 12, "acme.ghe.com")),
        ("https://api.example.com/o/r/issues/12", github("o/r", 12, "api.example.com")),
        ("https://GHE.example.com/o/r/pull/3", github("o/r", 3, "ghe.example.com")),
        ("https://ghe.example.com:8443/api/v3/repos/o/r/issues/3", github("o/r", 3, "ghe.example.com:8443")),
        (
            "https://acme.atlassian.net/browse/APP-12?focusedCommentId=1",
            JiraReference(key="APP-12", url="https://acme.atlassian.net"),
        ),
        (
            "https://acme.atlassian.net/jira/software/c/projects/APP/boards/7?selectedIssue=APP-12",
            JiraReference(key="APP-12", url="https://acme.atlassian.net"),
        ),
        (
            "https://acme.atlassian.net/jira/software/c/projects/APP/issues/APP-12",
            JiraReference(key="APP-12", url="https://acme.atlassian.net"),
        ),
        ("https://jira.example.com/browse/app-12", JiraReference(key="APP-12", url="https://jira.example.com")),
        ("https://example.com/jira/browse/APP-12", JiraReference(key="APP-12", url="https://example.com/jira")),
        (
            "http://example.com:8080/jira/projects/APP/issues/APP-12?filter=x",
            JiraReference(key="APP-12", url="http://example.com:8080/jira"),
        ),
        (
            "https://example.com/jira/secure/RapidBoard.jspa?rapidView=1&selectedIssue=APP-12",
            JiraReference(key="APP-12", url="https://example.com/jira"),
        ),
        ("https://user:secret@example.com/browse/SHA-1", JiraReference(key="SHA-1", url="https://example.com")),
    ],
)
def test_each_form_is_read(text: str, expected: IssueReference) -> None:
    assert parse_reference(text, *HOME) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "app-12",
        "A-1",
        "APP-0",
        "APP-012",
        "APP_12",
        "2023-04-11-245a825",
        "STAR-11072-For-5.2-demo",
        "admin-6lfr1m",
        "SHA-256",
        "UTF-8",
        "ISO-8601",
        "CVE-2026",
        "#0",
        "#012",
        "#2147483648",
        "#" + "9" * 5000,
        "r#-1",
        "https://github.com/o/r",
        "https://github.com/o/r/issues",
        "https://github.com/o/r/issues/x",
        "https://github.com/o/../issues/1",
        "https://gitlab.com/o/r/issues/3",
        "https://bitbucket.org/o/r/issues/3",
        "https://acme.atlassian.net/browse/APP",
        "https://acme.atlassian.net/?selectedIssue=nothing",
        "https://",
        "https://[::1/o/r/issues/3",
        "https://host:port/o/r/issues/3",
        "file:///etc/passwd",
        "ssh://git@github.com/o/r/issues/3",
    ],
)
def test_what_names_no_issue_is_refused_with_the_forms_that_do(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_reference(text, *HOME)
    assert caught.value.hint in (ACCEPTED, "give the issue's Jira URL")


@pytest.mark.parametrize("text", ["SHA-256", "UTF-8"])
def test_known_projects_decide_what_is_a_key(text: str) -> None:
    assert parse_reference(text, *HOME, projects=("SHA", "UTF")) == JiraReference(key=text)
    with pytest.raises(InvalidInput, match="none of the known projects"):
        parse_reference(text, *HOME, projects=("APP",))


def test_a_number_alone_needs_a_github_remote() -> None:
    with pytest.raises(InvalidInput, match="no GitHub repository"):
        parse_reference("#12", None, None)
    assert parse_reference("o/r#12", None, None) == github("o/r", 12)


def test_this_repositorys_host_is_meant_where_none_is_written() -> None:
    assert parse_reference("o/r#12", "acme/app", "ghe.example.com") == github("o/r", 12, "ghe.example.com")


def test_a_refusal_shows_no_password() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_reference("https://ada:hunter2@github.com/o/r", *HOME)
    assert "hunter2" not in str(caught.value)
