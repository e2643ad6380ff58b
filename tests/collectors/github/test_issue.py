"""GitHub's facts over real HTTP: the real client library against the server of `tests.support.github_server`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from collectors.errors import InvalidInput
from collectors.github.issue import read_github, read_github_branches
from collectors.process import Deadline
from ranking.facts import Issue, IssueLink, IssueVersion
from tests.support.github_server import TOKEN, Event, Hub, Item, Milestone, Repo, github_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APP = "acme/app"
ISSUE = (APP, 49)
VERSION = IssueVersion(name="1.2.0", field="milestone", role="milestone", closed=False, release_date="2026-12-01")


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A server with one repository and one bare issue."""
    with github_server(Hub(repos={APP: Repo(items={49: Item()})})) as state:
        yield state


def read(hub: Hub, *, repository: str = APP, number: int = 49, token: str | None = TOKEN) -> Issue:
    return read_github(hub.site(token=token), repository, number, Deadline(60)).issue


def milestone(title: str = "1.2.0", *, closed: bool = False) -> Milestone:
    return Milestone(title=title, closed=closed, due="2026-12-01T08:00:00Z")


def pull_link(number: int, base: str | None, **others: object) -> IssueLink:
    known: dict[str, object] = {
        "kind": "pull-request",
        "key": f"{APP}#{number}",
        "direction": "inward",
        "label": "is closed by",
        "repository": APP,
        "state": "open",
        "base_branch": base,
    }
    return IssueLink(**(known | others))  # type: ignore[arg-type]


def states(issue: Issue) -> dict[str, str]:
    return {each.name: each.state for each in issue.fields}


# --- the item itself ---


@pytest.mark.parametrize("token", [TOKEN, None])
def test_milestone_and_labels_are_versions_with_their_role(hub: Hub, token: str | None) -> None:
    hub.repos[APP].items[49] = Item(milestone=milestone(), labels=("v1.2", "bug"))
    issue = read(hub, token=token)
    assert issue.key == "acme/app#49"
    assert (issue.source, issue.read, issue.links_read, issue.failure) == ("github", "answered", "answered", None)
    assert issue.versions == (
        VERSION,
        IssueVersion(name="bug", field="labels", role="label"),
        IssueVersion(name="v1.2", field="labels", role="label"),
    )
    assert states(issue) == {"milestone": "values", "labels": "values"}


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_bare_issue_is_asked_and_empty(hub: Hub, token: str | None) -> None:
    issue = read(hub, token=token)
    assert (issue.read, issue.versions, issue.links, issue.links_read) == ("answered", (), (), "answered")
    assert states(issue) == {"milestone": "empty", "labels": "empty"}


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_closed_milestone_without_a_date(hub: Hub, token: str | None) -> None:
    hub.repos[APP].items[49] = Item(milestone=Milestone(title="1.1", closed=True))
    assert read(hub, token=token).versions == (
        IssueVersion(name="1.1", field="milestone", role="milestone", closed=True),
    )


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_pull_request_is_its_own_link(hub: Hub, token: str | None) -> None:
    hub.repos[APP].items[65] = Item(base="release/1.2", state="merged", milestone=milestone())
    issue = read(hub, number=65, token=token)
    assert issue.links == (pull_link(65, "release/1.2", label="itself", direction=None, state="merged"),)
    assert issue.versions == (VERSION,)


def test_what_a_pull_request_closes_is_named_and_no_parent(hub: Hub) -> None:
    hub.repos[APP].items[49] = Item(milestone=milestone())
    hub.repos[APP].items[65] = Item(base="main", closes=(ISSUE,))
    closed = next(link for link in read(hub, number=65).links if link.kind != "pull-request")
    assert (closed.kind, closed.label, closed.key, closed.versions) == ("other", "closes", "acme/app#49", (VERSION,))


# --- pull requests around it ---


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_pull_request_against_a_release_branch_is_found_through_the_timeline(hub: Hub, token: str | None) -> None:
    """GitHub's closing references are empty for it (link-assistant/hive-mind#1896)."""
    hub.repos[APP].items |= {
        49: Item(events=[Event(pull=(APP, 65))]),
        65: Item(base="release/1.2", body="Fixes #49"),
    }
    issue = read(hub, token=token)
    assert issue.links == (pull_link(65, "release/1.2"),)
    assert issue.links_read == "answered"


@pytest.mark.parametrize("token", [TOKEN, None])
@pytest.mark.parametrize(
    "body",
    [
        "Follows #49",
        "prefix #49",
        "Fixes #490",
        "Fixes acme/other#49",
        "fixes https://github.example/acme/other/issues/49",
        "<!-- Fixes #49 -->",
        "",
    ],
)
def test_a_mere_mention_is_a_relation(hub: Hub, token: str | None, body: str) -> None:
    hub.repos[APP].items |= {49: Item(events=[Event(pull=(APP, 65))]), 65: Item(base="release/1.2", body=body)}
    (link,) = read(hub, token=token).links
    assert (link.kind, link.label, link.key) == ("relates", "is mentioned by", "acme/app#65")


@pytest.mark.parametrize(
    "body",
    [
        "Fixes #49",
        "closes: #49.",
        "RESOLVED #49",
        "x\nfixed acme/app#49",
        "Close ACME/App#49",
        "fix https://github.example/acme/app/issues/49",
        "<!-- a template --> resolves #49",
    ],
)
@pytest.mark.parametrize("token", [TOKEN, None])
def test_closing_keywords(hub: Hub, body: str, token: str | None) -> None:
    hub.repos[APP].items |= {49: Item(events=[Event(pull=(APP, 65))]), 65: Item(base="release/1.2", body=body)}
    assert [link.kind for link in read(hub, token=token).links] == ["pull-request"]


def test_quoted_code_closes_nothing_by_rest(hub: Hub) -> None:
    body = "```\nFixes #49\n```\nand `fixes #49`"
    hub.repos[APP].items |= {49: Item(events=[Event(pull=(APP, 65))]), 65: Item(base="release/1.2", body=body)}
    assert [link.kind for link in read(hub, token=None).links] == ["relates"]


def test_a_pull_request_that_github_says_closes_it(hub: Hub) -> None:
    hub.repos[APP].items |= {
        49: Item(closed_by=((APP, 66),), events=[Event(pull=(APP, 65), will_close=True), Event(pull=(APP, 66))]),
        65: Item(base="main"),
        66: Item(base="main", state="closed"),
    }
    assert read(hub).links == (pull_link(65, "main"), pull_link(66, "main", state="closed"))


def test_linked_by_hand_and_unlinked_again(hub: Hub) -> None:
    connected, disconnected = "ConnectedEvent", "DisconnectedEvent"
    hub.repos[APP].items |= {
        49: Item(
            events=[
                Event(pull=(APP, 65), kind=connected),
                Event(pull=(APP, 66), kind=connected),
                Event(pull=(APP, 66), kind=disconnected),
                Event(pull=(APP, 67), kind=disconnected),
                Event(pull=(APP, 67), kind=connected),
            ]
        ),
        65: Item(base="release/1.2"),
        66: Item(base="release/1.1"),
        67: Item(base="release/1.0"),
    }
    assert read(hub).links == (
        pull_link(65, "release/1.2", label="is linked to"),
        pull_link(67, "release/1.0", label="is linked to"),
    )


def test_rest_names_no_pull_request_that_was_linked_by_hand_and_that_is_said(hub: Hub) -> None:
    hub.repos[APP].items |= {49: Item(events=[Event(pull=(APP, 65), kind="ConnectedEvent")]), 65: Item(base="main")}
    issue = read(hub, token=None)
    assert (issue.links, issue.links_read, issue.read) == ((), "partial", "answered")


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_pull_request_of_another_repository_is_told_apart(hub: Hub, token: str | None) -> None:
    hub.repos["acme/site"] = Repo(
        items={7: Item(base="main", body="fixes acme/app#49"), 8: Item(base="m", body="fixes #49")}
    )
    hub.repos[APP].items[49] = Item(events=[Event(pull=("acme/site", 7)), Event(pull=("acme/site", 8))])
    links = {link.key: link for link in read(hub, token=token).links}
    assert (links["acme/site#7"].kind, links["acme/site#7"].repository) == ("pull-request", "acme/site")
    assert links["acme/site#8"].kind == "relates"


def test_one_repository_has_one_spelling(hub: Hub) -> None:
    """Names are compared as text later, and a remote's URL may write them otherwise than GitHub does."""
    hub.repos[APP].items |= {49: Item(closed_by=((APP, 65),)), 65: Item(base="main")}
    issue = read(hub, repository="Acme/App")
    assert (issue.key, issue.links[0].key, issue.links[0].repository) == ("Acme/App#49", "Acme/App#65", "Acme/App")


def test_a_renamed_repository_is_still_this_one(hub: Hub) -> None:
    hub.repos["acme/old"] = Repo(renamed=APP)
    hub.repos[APP].items |= {49: Item(closed_by=((APP, 65),)), 65: Item(base="main")}
    assert read(hub, repository="acme/old").links[0].repository == "acme/old"


def many_mentions(count: int) -> list[Event]:
    return [Event(pull=(APP, 1000 + i)) for i in range(count)]


@pytest.mark.parametrize("token", [TOKEN, None])
@pytest.mark.parametrize(("count", "links_read"), [(100, "answered"), (101, "answered"), (201, "partial")])
def test_a_long_timeline_is_read_to_a_bound_and_that_is_said(
    hub: Hub, token: str | None, count: int, links_read: str
) -> None:
    hub.repos[APP].items |= {1000 + i: Item(base="main") for i in range(count)}
    hub.repos[APP].items[49] = Item(events=many_mentions(count))
    issue = read(hub, token=token)
    assert (len(issue.links), issue.links_read) == (min(count, 200), links_read)


def test_rest_asks_for_five_bases_and_says_that_others_were_not_asked(hub: Hub) -> None:
    hub.repos[APP].items |= {100 + i: Item(base="main", body="fixes #49") for i in range(7)}
    hub.repos[APP].items[49] = Item(events=[Event(pull=(APP, 100 + i)) for i in range(7)])
    issue = read(hub, token=None)
    assert [link.read for link in issue.links] == ["not-asked"] * 2 + ["answered"] * 5
    assert issue.links_read == "partial"


# --- parents and sub-issues ---


def test_parents_up_to_the_third_with_their_milestones(hub: Hub) -> None:
    hub.repos[APP].items |= {
        49: Item(parent=(APP, 9)),
        9: Item(parent=(APP, 8)),
        8: Item(parent=(APP, 7), milestone=milestone()),
        7: Item(parent=(APP, 6)),
        6: Item(),
    }
    links = read(hub).links
    assert [(k.kind, k.key, k.depth) for k in links] == [
        ("parent", "acme/app#9", 1),
        ("parent", "acme/app#8", 2),
        ("parent", "acme/app#7", 3),
    ]
    assert [k.versions for k in links] == [(), (VERSION,), ()]


@pytest.mark.parametrize(("above", "links_read"), [(None, "answered"), ((APP, 8), "partial")])
def test_rest_reads_one_parent(hub: Hub, above: tuple[str, int] | None, links_read: str) -> None:
    hub.repos[APP].items |= {49: Item(parent=(APP, 9)), 9: Item(milestone=milestone(), parent=above), 8: Item()}
    issue = read(hub, token=None)
    assert [(k.kind, k.key, k.versions) for k in issue.links] == [("parent", "acme/app#9", (VERSION,))]
    assert issue.links_read == links_read


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_parent_in_another_repository_is_a_relation(hub: Hub, token: str | None) -> None:
    """Its milestone is a version of something else."""
    hub.repos["acme/plans"] = Repo(items={9: Item(milestone=milestone())})
    hub.repos[APP].items[49] = Item(parent=("acme/plans", 9))
    (link,) = read(hub, token=token).links
    assert (link.kind, link.label, link.repository) == ("other", "parent in another repository", "acme/plans")


def test_rest_says_that_a_parent_could_not_be_read(hub: Hub) -> None:
    hub.repos["acme/plans"] = Repo(private=True, items={9: Item()})
    hub.repos[APP].items[49] = Item(parent=("acme/plans", 9))
    issue = read(hub, token=None)
    assert [(k.key, k.read) for k in issue.links] == [("acme/plans#9", "failed")]
    assert (issue.read, issue.links_read) == ("partial", "partial")


def test_sub_issues_are_relations(hub: Hub) -> None:
    hub.repos[APP].items |= {49: Item(subs=((APP, 50),)), 50: Item(milestone=milestone())}
    (link,) = read(hub).links
    assert (link.kind, link.label, link.direction, link.versions) == ("other", "has sub-issue", "outward", (VERSION,))


def test_more_sub_issues_than_a_page(hub: Hub) -> None:
    hub.repos[APP].items |= {100 + i: Item() for i in range(51)}
    hub.repos[APP].items[49] = Item(subs=tuple((APP, 100 + i) for i in range(51)))
    issue = read(hub)
    assert (len(issue.links), issue.links_read) == (50, "partial")


# --- branches ---


@pytest.mark.parametrize(("default", "state"), [("trunk", "host-api"), (None, "none")])
def test_the_default_branch_comes_with_the_issue(hub: Hub, default: str | None, state: str) -> None:
    hub.repos[APP].default = default
    branches = read_github(hub.site(), APP, 49, Deadline(60)).branches
    assert (branches.default_branch, branches.default_branch_state) == (default, state)
    assert branches.protected_read == "not-asked"


@pytest.mark.parametrize("token", [TOKEN, None])
def test_default_and_protected_branches(hub: Hub, token: str | None) -> None:
    hub.repos[APP] = Repo(default="trunk", protected=("trunk", "release/1.2"))
    branches = read_github_branches(hub.site(token=token), APP, Deadline(60))
    assert (branches.default_branch, branches.default_branch_state) == ("trunk", "host-api")
    assert (branches.protected, branches.protected_read) == (("release/1.2", "trunk"), "answered")


@pytest.mark.parametrize(("count", "listed", "state"), [(250, 250, "answered"), (501, 500, "partial")])
def test_protected_branches_are_read_page_by_page(hub: Hub, count: int, listed: int, state: str) -> None:
    hub.repos[APP].protected = tuple(f"b{i}" for i in range(count))
    branches = read_github_branches(hub.site(), APP, Deadline(60))
    assert (len(branches.protected), branches.protected_read) == (listed, state)


def test_branches_that_are_not_told_are_not_said_to_be_none(hub: Hub) -> None:
    branches = read_github_branches(hub.site(), "acme/none", Deadline(60))
    assert (branches.default_branch_state, branches.protected_read) == ("failed", "failed")
    assert branches.failure is not None
    assert branches.failure.kind == "not-found"


# --- how often it is asked ---


@pytest.mark.parametrize("public", [True, False])
def test_the_paths_of_github_and_of_an_enterprise_server(hub: Hub, public: bool) -> None:  # noqa: FBT001 - a parameter
    read_github(hub.site(public=public), APP, 49, Deadline(60))
    assert [asked.path for asked in hub.asked] == ["/graphql" if public else "/api/graphql"]


def full(hub: Hub) -> None:
    hub.repos[APP].protected = ("main",)
    hub.repos[APP].items |= {
        49: Item(
            milestone=milestone(),
            labels=("v1.2",),
            parent=(APP, 9),
            subs=((APP, 50),),
            events=[Event(pull=(APP, 65)), Event(pull=(APP, 66))],
        ),
        9: Item(milestone=milestone()),
        50: Item(),
        65: Item(base="release/1.2", body="fixes #49"),
        66: Item(base="main", body="see #49", state="merged"),
    }


def test_requests_with_a_token(hub: Hub) -> None:
    full(hub)
    site = hub.site()
    answer = read_github(site, APP, 49, Deadline(60))
    assert hub.paths == ["POST /graphql"]
    read_github_branches(site, APP, Deadline(60), known=answer.branches)
    assert hub.paths == ["POST /graphql", "GET /repos/acme/app/branches"]


def test_requests_for_a_pull_request(hub: Hub) -> None:
    full(hub)
    read(hub, number=65)
    assert hub.paths == ["POST /graphql"]
    hub.asked.clear()
    read(hub, number=65, token=None)
    assert hub.paths == ["GET /repos/acme/app/issues/65", "GET /repos/acme/app/pulls/65"]


def test_requests_without_a_token(hub: Hub) -> None:
    full(hub)
    read(hub, token=None)
    assert hub.paths == [
        "GET /repos/acme/app/issues/49",
        "GET /repos/acme/app/issues/49/timeline",
        "GET /repos/acme/app/pulls/65",
        "GET /repos/acme/app/issues/9",
    ]
    assert {asked.authorization for asked in hub.asked} == {None}
    hub.asked.clear()
    hub.repos[APP].items[49] = Item(milestone=milestone())
    read(hub, token=None)
    assert hub.paths == ["GET /repos/acme/app/issues/49", "GET /repos/acme/app/issues/49/timeline"]


def test_both_ways_give_the_same_facts(hub: Hub) -> None:
    full(hub)
    by_graphql, by_rest = read(hub), read(hub, token=None)
    seen = tuple(k for k in by_graphql.links if k.label != "has sub-issue")
    # REST is not asked for the base of what only mentions the issue, nor for sub-issues.
    expected = tuple(
        k
        if k.kind != "relates"
        else IssueLink(
            kind="relates",
            key=k.key,
            direction=k.direction,
            label=k.label,
            repository=k.repository,
            state=k.state,
            read="not-asked",
        )
        for k in seen
    )
    assert by_rest.links == expected
    assert (by_rest.versions, by_rest.fields) == (by_graphql.versions, by_graphql.fields)


def test_an_older_enterprise_server_is_asked_by_rest(hub: Hub) -> None:
    full(hub)
    hub.unknown_fields = frozenset({"subIssues", "parent"})
    issue = read(hub)
    assert issue.versions[0] == VERSION
    assert issue.read == "answered"
    assert hub.paths[:2] == ["POST /graphql", "GET /repos/acme/app/issues/49"]


@pytest.mark.parametrize("name", ["", "app", "acme/..", "acme/app/x", "acme/app?x", "../app"])
def test_what_is_no_repository_is_refused_before_anything_is_asked(hub: Hub, name: str) -> None:
    with pytest.raises(InvalidInput, match="owner/name"):
        read(hub, repository=name)
    assert hub.asked == []


def test_the_token_is_sent_and_shows_in_no_record(hub: Hub) -> None:
    answer = read_github(hub.site(), APP, 49, Deadline(60))
    assert [asked.authorization for asked in hub.asked] == [f"token {TOKEN}"]
    assert TOKEN not in repr(hub.site()) + repr(answer)


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_netrc_changes_nothing(hub: Hub, home: Path, token: str | None) -> None:
    (home / ".netrc").write_text("machine 127.0.0.1 login ada password hunter2\n", encoding="utf-8")
    assert read(hub, token=token).read == "answered"
    assert {asked.authorization for asked in hub.asked} == {token and f"token {token}"}
