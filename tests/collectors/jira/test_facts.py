"""Jira's decoded answers turned into facts: states, versions, directions, links to the forge."""

from __future__ import annotations

import pytest

from collectors.errors import InvalidInput
from collectors.jira.facts import (
    KnownField,
    find_targets,
    forge_link,
    kind_of,
    read_above,
    read_field,
    read_found,
    read_issue_links,
    release_date,
)
from collectors.jira.site import JiraSite, parse_issue_key
from tests.support.jira_server import TOKEN, link, parent, version

EPIC_LINK = KnownField(id="customfield_8", name="Epic Link")


# --- fields ---


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "not-delivered"),
        ({"fixVersions": []}, "empty"),
        ({"fixVersions": None}, "empty"),
        ({"fixVersions": [version("8.4.0")]}, "values"),
        ({"fixVersions": [version("8.4.0"), {"id": "1"}]}, "failed"),
        ({"fixVersions": [7.5]}, "failed"),
    ],
)
def test_missing_empty_and_unreadable_are_three_states(fields: dict[str, object], state: str) -> None:
    assert read_field(fields, "fixVersions", "fixVersions", "fix").field.state == state


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (version("4.20.z"), ["4.20.z"]),
        ([version("4.20.z"), version("4.19.z")], ["4.20.z", "4.19.z"]),
        ({"self": "x", "value": "4.20", "id": "7"}, ["4.20"]),
        ([{"value": "4.20"}], ["4.20"]),
        ({"value": "4", "child": {"value": "4.20"}}, ["4.20"]),
        ("4.20.z", ["4.20.z"]),
        (["4.20.z"], ["4.20.z"]),
        (17, ["17"]),
        (4.2, []),  # is it 4.2 or 4.20?
        (True, []),
        ({"type": "doc", "version": 1, "content": [{"type": "text", "text": "4.20"}]}, []),
        ({"displayName": "Ada 4.20"}, []),
    ],
)
def test_what_a_custom_field_may_hold(value: object, names: list[str]) -> None:
    read = read_field({"c": value}, "c", "Target Version", "target")
    assert [each.name for each in read.versions] == names
    assert read.field.state == ("values" if names else "failed")


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-05-01", "2026-05-01"),
        (1777593600000, "2026-05-01"),
        (-1, "1969-12-31"),
        (None, None),
        ("", None),
        (True, None),
        (1e300, None),
        (float("nan"), None),
        ([], None),
    ],
)
def test_release_dates(value: object, day: str | None) -> None:
    assert release_date(value) == day


def test_a_version_keeps_its_flags() -> None:
    held = [version("8.4.0", released=True, archived=True, releaseDate="2026-05-01"), {"name": "8.5.0"}]
    old, new = read_field({"fixVersions": held}, "fixVersions", "fixVersions", "fix").versions
    assert (old.released, old.archived, old.release_date) == (True, True, "2026-05-01")
    assert (new.released, new.archived, new.release_date) == (None, None, None)


# --- which fields ---

NAMES = {"customfield_10001": "Target Version", "customfield_10855": "Target Release", "summary": "Summary"}


def test_by_default_every_usual_name_counts() -> None:
    assert find_targets(NAMES, None).ids == ("customfield_10001", "customfield_10855")


@pytest.mark.parametrize("wanted", ["Target Release", "TARGET  release", "customfield_10855"])
def test_a_configured_field_decides_and_its_like_is_only_shown(wanted: str) -> None:
    found = find_targets(NAMES, [wanted])
    assert found.ids == ("customfield_10855",)
    assert [each.name for each in found.similar] == ["Target Version"]
    assert found.missing == ()


@pytest.mark.parametrize("wanted", ["Target Aim", "customfield_12323140"])
def test_nothing_takes_the_place_of_a_configured_field_that_is_unknown(wanted: str) -> None:
    found = find_targets(NAMES, [wanted])
    assert (found.ids, found.missing) == ((), (wanted,))


def test_two_fields_of_one_name_are_told_apart() -> None:
    found = find_targets({"customfield_2": "Target Version", "customfield_1": "target version"}, None)
    assert [each.name for each in found.found] == ["target version (customfield_1)", "Target Version (customfield_2)"]


# --- above ---


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"parent": parent("APP-3")}, [("APP-3", "parent")]),
        ({"parent": parent("EPIC-1", level=1)}, [("EPIC-1", "epic")]),
        ({"customfield_8": "EPIC-1"}, [("EPIC-1", "epic")]),
        ({"parent": parent("EPIC-1"), "customfield_8": "EPIC-1"}, [("EPIC-1", "parent")]),
        ({"parent": {"key": "APP-3", "fields": {"issuetype": {"name": "Epic"}}}}, [("APP-3", "epic")]),
        ({"parent": {"key": "APP-3"}}, [("APP-3", "parent")]),
        ({"parent": None, "customfield_8": None}, []),
        ({"parent": {"key": '") or key in ("X-1'}, "customfield_8": 7}, []),
        ({}, []),
    ],
)
def test_what_an_issue_stands_under(fields: dict[str, object], found: list[tuple[str, str]]) -> None:
    assert [(each.key, each.kind) for each in read_above(fields, [EPIC_LINK], 1)] == found


@pytest.mark.parametrize("value", ["INIT-1", {"data": {"key": "INIT-1"}}, {"key": "INIT-1"}])
def test_a_parent_link_of_either_shape(value: object) -> None:
    link_field = KnownField(id="customfield_9", name="Parent Link")
    assert [(each.key, each.kind) for each in read_above({"customfield_9": value}, [link_field], 2)] == [
        ("INIT-1", "parent")
    ]


# --- links ---

BLOCKS = ("is blocked by", "blocks")


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (link("inward", "APP-2", *BLOCKS), ("blocks", "inward", "is blocked by")),
        (link("outward", "APP-2", *BLOCKS), ("blocks", "outward", "blocks")),
        (link("inward", "APP-2", "is prerequisite of", "has prerequisite"), ("other", "inward", "is prerequisite of")),
        (link("outward", "APP-2", "is cloned by", "clones"), ("clones", "outward", "clones")),
        (link("inward", "APP-2", "relates to", "relates to"), ("relates", "inward", "relates to")),
    ],
)
def test_the_side_that_is_there_gives_direction_and_label(entry: dict[str, object], said: tuple[str, str, str]) -> None:
    (found,) = read_issue_links([entry], "APP-1")
    assert (found.key, (found.kind, found.direction, found.label)) == ("APP-2", said)


def test_the_type_s_name_says_nothing() -> None:
    entry = link("inward", "APP-2", "depends on", "is needed by") | {"id": "9"}
    entry["type"]["name"] = "Cloners"
    assert [each.kind for each in read_issue_links([entry], "APP-1")] == ["other"]


@pytest.mark.parametrize(
    "entry",
    [
        {"id": "1", "type": {"inward": "is blocked by", "outward": "blocks"}},
        {"id": "1", "type": None, "inwardIssue": None},
        {"id": "1", "type": {}, "inwardIssue": {"key": "APP-1"}},
        {"id": "1", "type": {}, "inwardIssue": {"key": "no key"}},
        "APP-2",
    ],
)
def test_an_entry_that_leads_nowhere_is_skipped(entry: object) -> None:
    assert read_issue_links([entry], "APP-1") == ()


def test_a_link_of_no_type_is_kept_by_its_side() -> None:
    (found,) = read_issue_links([{"outwardIssue": {"key": "APP-2"}}], "APP-1")
    assert (found.kind, found.direction, found.label) == ("other", "outward", None)


def test_words_in_the_middle_of_others_are_no_kind() -> None:
    assert kind_of("is correlated with") == "other"


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://github.com/acme/app/pull/65", ("pull-request", "acme/app", "acme/app#65")),
        ("https://git.example/acme/app/pull/65/commits?w=1#x", ("pull-request", "acme/app", "acme/app#65")),
        ("https://bitbucket.org/acme/app/pull-requests/7/diff", ("pull-request", "acme/app", "acme/app#7")),
        (
            "https://host/bitbucket/projects/ACME/repos/app/pull-requests/7/overview",
            ("pull-request", "acme/app", "acme/app#7"),
        ),
        ("https://host/users/ada/repos/app/pull-requests/7", ("pull-request", "ada/app", "ada/app#7")),
        ("https://gitlab.com/a/b/app/-/merge_requests/7", ("pull-request", "a/b/app", "a/b/app!7")),
        ("https://gitlab.com/a/app/merge_requests/7/diffs", ("pull-request", "a/app", "a/app!7")),
        ("https://github.com/acme/app/releases/tag/v8.4.1", ("release", "acme/app", "v8.4.1")),
        ("https://github.com/acme/app/releases/tag/app%2Fv8.4.1/", ("release", "acme/app", "app/v8.4.1")),
        ("https://gitlab.com/a/b/app/-/releases/v8.4.1", ("release", "a/b/app", "v8.4.1")),
        ("https://github.com/acme/app/issues/65", None),
        ("https://github.com/acme/app/pull/new", None),
        ("https://github.com/acme/app/releases", None),
        ("javascript://github.com/acme/app/pull/65", None),
        ("/acme/app/pull/65", None),
        ("https://[github.com/acme/app/pull/65", None),
        (None, None),
    ],
)
def test_links_to_the_forge(url: object, found: tuple[str, str, str] | None) -> None:
    assert forge_link(url) == found


# --- searches ---


def test_what_a_search_delivered_without_its_fields_was_not_read() -> None:
    answer = [{"id": "1"}, {"key": "APP-2"}, {"key": "APP-3", "fields": {"labels": []}},
              {"key": "APP-4", "fields": {"fixVersions": []}}]  # fmt: skip
    assert list(read_found(answer)) == ["APP-4"]


# --- the site ---


@pytest.mark.parametrize("text", ["APP-12", "a_1-9", "ZZ9-100000"])
def test_issue_keys(text: str) -> None:
    assert parse_issue_key(text) == text


@pytest.mark.parametrize("text", ["", "APP", "APP-0", "APP-1/comment", "APP-1?x", "../APP-1", "APP-\u0661", "APP-1\n"])
def test_what_is_no_key_reaches_no_url(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_issue_key(text)


@pytest.mark.parametrize(
    ("site", "said"),
    [
        (JiraSite(url="https://acme.atlassian.net", email="a@b", token=TOKEN), ("basic", True, "3")),
        (JiraSite(url="https://acme.atlassian.net", token=TOKEN), ("bearer", True, "3")),
        (JiraSite(url="https://jira.acme.example/jira", token=TOKEN), ("bearer", False, "2")),
        (JiraSite(url="https://jira.acme.example", email="a@b", token=TOKEN), ("basic", True, "2")),
        (
            JiraSite(url="https://jira.acme.example", email="a@b", token=TOKEN, deployment="server"),
            ("basic", False, "2"),
        ),
        (JiraSite(url="https://jira.acme.example", deployment="cloud", api="2"), ("none", True, "2")),
        (JiraSite(url="https://acme.atlassian.net.evil.example", token=TOKEN), ("bearer", False, "2")),
    ],
)
def test_what_a_site_is(site: JiraSite, said: tuple[str, bool, str]) -> None:
    assert (site.login, site.on_cloud, site.rest_api) == said


def test_an_address_shows_no_credentials() -> None:
    assert JiraSite(url="https://ada:pw@jira.example:8443/jira/?x=1#y").address == "https://jira.example:8443/jira"
