"""Whole issues by the real client over real HTTP: what is read, and in how many requests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from collectors.errors import InvalidInput
from collectors.jira.issue import JiraSite, read_jira_issue
from collectors.process import Deadline
from ranking.facts import Issue
from ranking.ranker import rank
from tests.ranking.facts_builder import answer, facts
from tests.support.jira_server import Jira, Product, Reply, jira_server, link, parent, remote, site_of, version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ranking.facts import IssueLink

CUSTOM = {
    "customfield_10001": "Target Version",
    "customfield_10855": "Target Release",
    "customfield_10008": "Epic Link",
    "customfield_10009": "Parent Link",
}


@pytest.fixture(params=["cloud-3", "cloud-2", "server-2"])
def jira(request: pytest.FixtureRequest) -> Iterator[tuple[Jira, JiraSite]]:
    """Each product and version with the same fields, and the site as its user has it configured."""
    product, _, api = request.param.partition("-")
    with jira_server(product) as server:
        server.custom = dict(CUSTOM)
        yield server, site_of(server, api)


def read(site: JiraSite, key: str = "APP-1") -> Issue:
    return read_jira_issue(site, key, Deadline(30))


def states(issue: Issue) -> dict[str, str]:
    return {each.name: each.state for each in issue.fields}


def names(issue: Issue, role: str) -> list[str]:
    return [each.name for each in issue.versions if each.role == role]


def links(issue: Issue) -> dict[str, IssueLink]:
    return {each.key: each for each in issue.links}


def aims(each: IssueLink) -> list[str]:
    return [version.name for version in each.versions]


# --- one issue ---


def test_an_issue_that_stands_alone(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add(
        "APP-1",
        fixVersions=[version("8.4.0", released=True, releaseDate="2026-05-01")],
        versions=[version("8.3.0")],
        labels=["v8.4", "urgent"],
        customfield_10001=[version("8.4.z")],
    )
    issue = read(site)
    assert (issue.key, issue.source, issue.read, issue.failure) == ("APP-1", "jira", "answered", None)
    assert states(issue) == {
        "fixVersions": "values",
        "versions": "values",
        "Target Version": "values",
        "labels": "values",
    }
    assert [(v.field, v.name, v.role) for v in issue.versions] == [
        ("fixVersions", "8.4.0", "fix"),
        ("versions", "8.3.0", "affected"),
        ("Target Version", "8.4.z", "target"),
        ("labels", "v8.4", "label"),
    ]
    assert (issue.versions[0].released, issue.versions[0].release_date) == (True, "2026-05-01")
    assert (issue.links_read, issue.links) == ("answered", ())
    assert server.requests == ["issue", "remotelink"]


def test_free_text_is_not_even_asked_for(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1")
    issue = read(site)
    assert issue.versions == ()
    assert {"-description", "-comment"} <= set(server.queries[0]["fields"].split(","))


def test_empty_is_said_of_every_field(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", fixVersions=None, customfield_10001=None)
    issue = read(site)
    assert (issue.read, set(states(issue).values())) == ("answered", {"empty"})


def test_a_field_that_was_not_delivered_is_not_empty(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    del server.add("APP-1")["fixVersions"]
    issue = read(site)
    assert issue.read == "partial"
    assert states(issue) == {"fixVersions": "not-delivered", "versions": "empty", "labels": "empty"}


# --- target fields ---


def test_the_configured_one_of_two_similar_fields(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10001=version("4.20.z"), customfield_10855=version("4.19.z"))
    issue = read(replace(site, target_fields=("Target Release",)))
    assert names(issue, "target") == ["4.19.z"]
    assert [(v.field, v.name) for v in issue.versions if v.role == "affected"] == [
        ("Target Version (not the configured field)", "4.20.z")
    ]
    assert server.requests == ["issue", "remotelink"]


def test_an_unknown_id_is_said_and_nothing_takes_its_place(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10001=version("4.20.z"))
    issue = read(replace(site, target_fields=("customfield_12323140",)))
    assert issue.read == "partial"
    assert states(issue)["customfield_12323140"] == "failed"
    assert issue.failure is not None
    assert issue.failure.detail == (
        "the configured id 'customfield_12323140' is unknown to 127.0.0.1; a field named"
        " 'Target Version' exists as customfield_10001, 'Target Release' exists as customfield_10855"
    )
    assert names(issue, "target") == []
    assert server.requests == ["issue", "remotelink", "field"]


def test_a_configured_field_that_the_issue_does_not_have_is_no_unknown_one(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1")
    issue = read(replace(site, target_fields=("Target Release",)))
    assert (issue.read, issue.failure) == ("partial", None)
    assert states(issue)["Target Release"] == "not-visible"
    assert server.requests == ["issue", "remotelink", "field"]


def test_a_field_list_that_fails_does_not_make_a_field_unknown(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1")
    server.say("field", failing(500))
    issue = read(replace(site, target_fields=("Target Release",)))
    assert issue.failure is not None
    assert issue.failure.detail == "the list of fields: HTTP 500"
    assert states(issue)["Target Release"] == "failed"


def test_names_are_looked_up_where_the_answer_has_none(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10001=version("4.20.z"))
    body = '{"key": "APP-1", "fields": {"fixVersions": [], "customfield_10001": {"name": "4.20.z"}}}'
    server.say("issue", failing(200, body))
    assert names(read(site), "target") == ["4.20.z"]


def failing(status: int, body: str = "") -> Reply:
    return Reply(status=status, body=body)


# --- above ---


def test_versions_of_a_parent(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", parent=parent("APP-3"))
    server.add("APP-3", fixVersions=[version("8.4.0")], customfield_10001=version("8.4.z"), versions=[version("8.1")])
    issue = read(site)
    above = links(issue)["APP-3"]
    assert (above.kind, above.depth, above.read, aims(above)) == ("parent", 1, "answered", ["8.4.0", "8.4.z"])
    assert (issue.read, issue.links_read) == ("answered", "answered")
    search = "search/jql" if site.on_cloud else "search"
    assert server.requests == ["issue", "remotelink", "field", search]


def test_an_initiative_two_levels_up(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10008="EPIC-1")
    server.add("EPIC-1", parent=parent("INIT-1", level=2))
    server.add("INIT-1", fixVersions=[version("8.4.0")])
    found = [(each.kind, each.key, each.depth, aims(each)) for each in read(site).links]
    assert found == [("epic", "EPIC-1", 1, []), ("parent", "INIT-1", 2, ["8.4.0"])]
    assert len(server.requests) == 5


def test_what_is_further_up_than_the_requests_go_is_said_not_to_have_been_asked(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    for lower, upper in (("APP-1", "APP-2"), ("APP-2", "APP-3"), ("APP-3", "APP-4")):
        server.add(lower, parent=parent(upper))
    server.add("APP-4", fixVersions=[version("8.4.0")])
    issue = read(site)
    assert [(each.key, each.read) for each in issue.links] == [
        ("APP-2", "answered"),
        ("APP-3", "answered"),
        ("APP-4", "not-asked"),
    ]
    assert (issue.read, issue.links_read, len(server.requests)) == ("partial", "partial", 5)


@pytest.mark.parametrize("upper", ["APP-1", "APP-2"])
def test_a_circle_of_parents_ends(jira: tuple[Jira, JiraSite], upper: str) -> None:
    server, site = jira
    server.add("APP-1", parent=parent("APP-2"))
    server.add("APP-2", parent=parent(upper))
    issue = read(site)
    assert [each.key for each in issue.links] == ["APP-2"]
    assert (issue.read, len(server.requests)) == ("answered", 4)


def test_an_issue_above_itself(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", parent=parent("APP-1"), customfield_10008="APP-1")
    issue = read(site)
    assert (issue.links, issue.read) == ((), "answered")


# --- links ---


def test_all_that_is_linked_in_one_search(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    blocks = ("is blocked by", "blocks")
    server.add(
        "APP-1",
        parent=parent("EPIC-1", level=1),
        issuelinks=[link("inward", "APP-2", *blocks), link("outward", "APP-3", *blocks)],
    )
    server.add("APP-2", fixVersions=[version("8.3.1")])
    server.add("APP-3", customfield_10001="8.2.z")
    server.add("EPIC-1", fixVersions=[version("8.4.0")])
    server.remotes["APP-1"] = [
        remote("https://github.com/acme/app/pull/65", "fixed by"),
        remote("https://github.com/acme/app/releases/tag/v8.4.1"),
        remote("https://wiki.example/8.4.2"),
        remote("https://github.com/acme/app/pull/65/files"),
    ]
    found = [(k.kind, k.key, k.direction, k.label, k.repository, aims(k)) for k in read(site).links]
    assert found == [
        ("epic", "EPIC-1", None, None, None, ["8.4.0"]),
        ("blocks", "APP-2", "inward", "is blocked by", None, ["8.3.1"]),
        ("blocks", "APP-3", "outward", "blocks", None, ["8.2.z"]),
        ("pull-request", "acme/app#65", None, "fixed by", "acme/app", []),
        ("release", "v8.4.1", None, "mentioned in", "acme/app", []),
    ]
    assert len(server.requests) == 4


def test_links_alone_take_three_requests(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", issuelinks=[link("inward", "APP-2", "is cloned by", "clones")])
    server.add("APP-2")
    issue = read(site)
    assert (links(issue)["APP-2"].read, len(server.requests)) == ("answered", 3)


def test_a_search_goes_on_page_by_page(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.page = 2
    keys = [f"APP-{number}" for number in range(2, 7)]
    server.add("APP-1", issuelinks=[link("inward", key, "relates to", "relates to") for key in keys])
    for key in keys:
        server.add(key, fixVersions=[version("8.3.1")])
    issue = read(site)
    assert [aims(each) for each in issue.links] == [["8.3.1"]] * 5
    assert (issue.read, len(server.requests)) == ("answered", 5)


def test_pages_beyond_the_requests_are_not_asked_for(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.page = 1
    keys = [f"APP-{number}" for number in range(2, 7)]
    server.add("APP-1", issuelinks=[link("inward", key, "relates to", "relates to") for key in keys])
    for key in keys:
        server.add(key)
    issue = read(site)
    assert [each.read for each in issue.links] == ["answered"] * 3 + ["not-asked"] * 2
    assert (issue.links_read, len(server.requests)) == ("partial", 5)


def test_ids_alone_do_not_say_that_there_are_no_versions(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.ids_only = True
    server.add("APP-1", issuelinks=[link("inward", "APP-2", "relates to", "relates to")])
    server.add("APP-2", fixVersions=[version("8.3.1")])
    issue = read(site)
    assert (links(issue)["APP-2"].read, issue.links_read, issue.read) == ("failed", "partial", "partial")
    assert issue.failure is not None
    assert issue.failure.detail == "APP-2: linked, and not visible to us or not delivered"


def test_a_linked_issue_that_nobody_may_see_hides_no_other(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    both = [link("inward", key, "relates to", "relates to") for key in ("SEC-9", "APP-2")]
    server.add("APP-1", issuelinks=both)
    server.add("APP-2", fixVersions=[version("8.3.1")])
    issue = read(site)
    assert {key: (each.read, aims(each)) for key, each in links(issue).items()} == {
        "SEC-9": ("failed", []),
        "APP-2": ("answered", ["8.3.1"]),
    }
    assert issue.failure is not None
    assert issue.failure.detail.startswith("SEC-9: linked, and not visible")
    assert len(server.requests) == (4 if site.on_cloud else 3)


def test_links_of_which_nobody_may_see_any(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", issuelinks=[link("inward", "SEC-9", "relates to", "relates to")])
    assert links(read(site))["SEC-9"].read == "failed"


@pytest.mark.parametrize(
    ("remote_fails", "delivered", "state"),
    [(True, True, "partial"), (False, False, "partial"), (True, False, "failed")],
)
def test_links_that_were_not_delivered(
    jira: tuple[Jira, JiraSite], *, remote_fails: bool, delivered: bool, state: str
) -> None:
    server, site = jira
    fields = server.add("APP-1", fixVersions=[version("8.4.0")])
    if remote_fails:
        server.say("remotelink", failing(500))
    if not delivered:
        del fields["issuelinks"]
    issue = read(site)
    assert (issue.links_read, issue.read) == (state, "partial")
    assert names(issue, "fix") == ["8.4.0"]


# --- products told apart ---


@pytest.mark.parametrize("product", ["cloud", "server"])
def test_the_search_is_the_product_s_that_answers_whatever_its_host_is_called(product: Product) -> None:
    with jira_server(product) as server:
        site = replace(site_of(server), deployment=None)
        server.add("APP-1", issuelinks=[link("inward", "APP-2", "relates to", "relates to")])
        server.add("APP-2")
        assert read(site).read == "answered"
        assert server.requests[-1] == ("search/jql" if product == "cloud" else "search")


def test_version_3_gives_documents_and_they_are_left_alone() -> None:
    with jira_server("cloud") as server:
        server.custom["customfield_7"] = "Target Version"
        document = {"type": "doc", "version": 1, "content": [{"type": "text", "text": "8.4.0"}]}
        server.add("APP-1", customfield_7=document)
        issue = read(site_of(server, "3"))
        assert names(issue, "target") == []
        assert states(issue)["Target Version"] == "failed"


def test_what_is_no_key_asks_nothing(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    with pytest.raises(InvalidInput):
        read(site, "APP-1/../../admin")
    assert server.requests == []


# --- what the ranking makes of it ---


def test_the_configured_field_decides_and_the_other_is_shown(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10001=version("4.20.z"), customfield_10855=version("4.19.z"))
    issue = read(replace(site, target_fields=("Target Release",)))
    told = facts("main release-4.19 release-4.20", issue=issue)
    assert answer(told) == "issue-version release-4.19"
    shown = [each.detail for candidate in rank(told).candidates for each in candidate.evidence]
    assert any("Target Release 4.19.z" in detail for detail in shown)
    assert any("Target Version (not the configured field) 4.20.z" in detail for detail in shown)


def test_versions_of_an_initiative_decide_from_two_levels_up(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    server.add("APP-1", customfield_10008="EPIC-1")
    server.add("EPIC-1", parent=parent("INIT-1", level=2))
    server.add("INIT-1", fixVersions=[version("4.19.3")])
    assert answer(facts("main release-4.19 release-4.20", issue=read(site))) == "linked-release release-4.19"


def test_three_states_of_a_field_are_three_notes(jira: tuple[Jira, JiraSite]) -> None:
    server, site = jira
    del server.add("APP-1", customfield_10001=None)["fixVersions"]
    notes = rank(facts("main release-4.19", issue=read(replace(site, target_fields=("Target Aim",))))).notes
    assert "field fixVersions was not delivered" in notes
    assert "field Target Aim could not be read" in notes
    assert "field versions is empty" in notes
