"""Release lines by tag lineage, and what a label's words bind to."""

from __future__ import annotations

import pytest

from ranking.lines import Lineage
from ranking.rank import rank
from ranking.versions import read_label
from tests.ranking.facts_builder import asks, details, facts, tag, wants


def lineage(tags: str, *neutral: str) -> Lineage:
    return Lineage(map(tag, tags.split()), frozenset(neutral))


@pytest.mark.parametrize(
    ("tags", "neutral", "abbreviations"),
    [
        ("vertical-pod-autoscaler-1.0", (), {"vpa": {"vertical", "pod", "autoscaler"}}),
        ("vertical-pod-1.0", (), {"vp": {"vertical", "pod"}}),
        ("vertical-pod-1.0", ("vertical", "pod"), {}),
        ("js-1.0", (), {}),
        ("virtual-pager-api-0.6.0 very-plain-agent-0.7.0", (), {}),
    ],
)
def test_initials_abbreviate_what_has_several_words(
    tags: str, neutral: tuple[str, ...], abbreviations: dict[str, set[str]]
) -> None:
    assert lineage(tags, *neutral).abbreviations == abbreviations


@pytest.mark.parametrize(
    ("tags", "carriers"),
    [
        ("v8.4.1@hotfix/8.4", {"hotfix/8.4"}),
        ("v8.4.1@stable-8.4", {"stable-8.4"}),
        ("v8.4.1@hotfix/8.4,main", set()),
        ("v8.4.1@hotfix/8.3", set()),
        ("v8.4.1@hotfix/login/8.4", set()),
        ("v8.4.1@", set()),
        ("v8.4.1", set()),
    ],
)
def test_a_branch_that_alone_carries_a_release_that_it_is_named_for(tags: str, carriers: set[str]) -> None:
    assert lineage(tags).sole_carriers == carriers


def test_which_tags_are_releases_and_of_which_product() -> None:
    found = lineage("release-1.2@ app-1.1@ v1.10@ 8.x@ v1.3-nightly@ snapshot-1.4@ latest@ js-0.4@", "app")
    assert [r.name for r in found.releases()] == ["app-1.1", "release-1.2", "v1.10"]
    assert [r.words for r in found.releases()] == [("app",), (), ()]
    assert [r.name for r in found.releases(frozenset({"js"}))] == ["js-0.4"]
    assert [r.name for r in lineage("v1.0-b-2@ v1.0@").releases(frozenset({"b"}), (2,))] == ["v1.0-b-2"]


@pytest.mark.parametrize("word", ["snapshot", "nightly", "development", "dev", "canary", "daily", "weekly"])
def test_a_build_of_every_day_is_no_release(word: str) -> None:
    assert lineage(f"{word}-1.4@ v1.4-login-{word}@").majors == set()


def test_a_step_towards_a_release_counts() -> None:
    assert [r.name for r in lineage("v1.3-next1@ v1.3-rc1@").releases()] == ["v1.3-next1", "v1.3-rc1"]


@pytest.mark.parametrize(
    ("tags", "version", "line", "name"),
    [
        ("v8.4.1@a v8.4.0@a v8.5.0@a", "8.4.2", (8, 4), "v8.4.1"),
        # A patch of a patch speaks for the line only where no other does, or where one is asked for.
        ("v8.4.1@a v8.4.1.1@b", "8.4.2", (8, 4), "v8.4.1"),
        ("v8.4.1@a v8.4.1.1@b", "8.4", (8, 4), "v8.4.1"),
        ("v8.4.1@a v8.4.1.1@b", "8", (8, 4), "v8.4.1"),
        ("v8.4.1.1@b v8.4.0.1@b", "8.4.2", (8, 4), "v8.4.1.1"),
        ("v8.4.1@a v8.4.1.1@b", "8.4.1.2", (8, 4), "v8.4.1.1"),
        ("v8.4.1@a v8.4.2.0-rc1@b", "8.4.2", (8, 4), "v8.4.2.0-rc1"),
        # Of two spellings of one version the one counts of which it is known where it sits.
        ("1.0.0 v1.0.0@a", "1.0.1", (1, 0), "v1.0.0"),
        ("1.0.0 v1.0.0", "1.0.1", (1, 0), "v1.0.0"),
    ],
)
def test_the_newest_release_of_a_line(tags: str, version: str, line: tuple[int, ...], name: str) -> None:
    wanted = read_label(version)
    assert wanted is not None
    newest = lineage(tags).newest(wanted.version, line, frozenset(), ())
    assert newest is not None
    assert newest.name == name


def test_the_newest_release_is_of_the_product_and_the_tail_that_are_asked_for() -> None:
    tags = lineage("v4.8.1@ v4.8.0-hbase-1.2@a v4.8.0-hbase-1.3@b")
    wanted = read_label("4.8.2")
    assert wanted is not None
    newest = tags.newest(wanted.version, (4, 8), frozenset({"hbase"}), (1, 2))
    assert newest is not None
    assert newest.name == "v4.8.0-hbase-1.2"
    assert tags.newest(wanted.version, (4, 9), frozenset(), ()) is None


def test_the_releases_of_all_products_by_their_versions() -> None:
    tags = lineage("v2.0@ js-1.5@ v1.0@ docs-1.5@ v1.5.1@")
    assert [r.name for r in tags.all_releases()] == ["v1.0", "docs-1.5", "js-1.5", "v1.5.1", "v2.0"]


# --- what a label's words bind to ---

WITH_THE_WHOLE = "v8.0.0@8.0 v9.0.0@9.0 v10.0.0@10.0 v7.0.0@7.0 "


@pytest.mark.parametrize(
    ("branches", "label", "tags", "expected"),
    [
        # Words that bind nothing: the repository's own, a family's; a remark behind a dash.
        ("main 17 18", "app 17", "", "issue-version 17"),
        ("main 17 18", "release 17", "", "issue-version 17"),
        ("main 17 18", "17 pool", "", "default main"),
        ("main 8.4 8.5", "8.4.1-pool-2", "", "issue-version 8.4"),
        ("main maint-0.11.x js-0.4.x", "0.11.3", "", "issue-version maint-0.11.x"),
        # All lines are of one product: it need not be named, unless the releases are of another.
        (
            "main blue-1.5 blue-1.6",
            "1.5.1",
            "red-1.3.0@main red-1.4.0@main blue-1.4.0@main",
            "issue-version blue-1.5",
        ),
        ("main blue-1.5 blue-1.6", "1.5.1", "red-1.0.0@main red-1.1.0@main", "default main"),
        (
            "main blue-1.5 blue-1.6 stable21 stable22",
            "1.5.1",
            "red-1.3.0@main red-1.4.0@main blue-1.4.0@main",
            "issue-version blue-1.5",
        ),
        # A module that is released with the whole, at most three lines behind, takes the branches of the whole.
        ("main 7.0 8.0 9.0 10.0", "go 10.0.1", WITH_THE_WHOLE + "go/v10.0.5@10.0", "issue-version 10.0"),
        ("main 7.0 8.0 9.0 10.0", "go 8.0.1", WITH_THE_WHOLE + "go/v8.0.0@main", "issue-version 8.0"),
        ("main 7.0 8.0 9.0 10.0", "go 7.0.1", WITH_THE_WHOLE + "go/v7.0.0@main", "default main"),
        (
            "main 7.0 8.0 9.0 10.0",
            "go 7.0.1",
            WITH_THE_WHOLE + "go/v10.0.0@main go/v7.0.0@main",
            "issue-version 7.0",
        ),
        (
            "main 10.0 10.1 10.2 10.3",
            "go 10.0.1",
            "v10.0.0@10.0 v10.1.0@10.1 v10.2.0@10.2 v10.3.0@10.3 go/v10.0.0@main",
            "default main",
        ),
        (
            "main 10.0 10.1",
            "go 10.0.1",
            "v10.0.0@10.0 v10.0.1@10.0 v10.0.2@10.0 v10.0.3@10.0 v10.1.0@10.1 go/v10.0.0@main",
            "issue-version 10.0",
        ),
        # A product that has branches, and no releases yet.
        ("main 0.11 js-0.4 js-0.5", "js 0.4.1", "v0.11.0@0.11", "issue-version js-0.4"),
    ],
)
def test_what_the_words_of_a_label_bind_to(branches: str, label: str, tags: str, expected: str) -> None:
    assert asks(branches, label, tags) == expected


def test_initials_bind_a_branch_to_the_product() -> None:
    tags = "app-1.0.0@main app-1.1.0@main vertical-pod-autoscaler/v0.6.0@vpa-0.6"
    for label in ("vertical-pod-autoscaler-0.6.2", "vpa 0.6.2"):
        ranking = rank(facts("main app-1.0 vpa-0.6", tags=tags, issue=wants(label)))
        assert details(ranking, "vpa-0.6")[0] == (
            f"issue-version +100: fixVersions {label}: "
            "covered by this branch's 0.6, and it carries vertical-pod-autoscaler/v0.6.0"
        )


def test_a_bare_number_beside_a_word_that_only_tags_carry_is_a_version() -> None:
    tags = "v16.0.0@main v16.1.0@main js-v16.0.0@main"
    said = "fixVersions js 16: js-v16.0.0, the newest release of the line of 16, was made on main"
    assert said in rank(facts("main 17", tags=tags, issue=wants("js 16"))).notes


def test_a_tail_that_only_tags_carry_counts() -> None:
    ranking = rank(facts("main", tags="v4.8.0-HBase-1.2@main", issue=wants("4.8.1-HBase-1.2")))
    assert ranking.notes == (
        "fixVersions 4.8.1-HBase-1.2: v4.8.0-HBase-1.2, the newest release of the line of 4.8.1, was made on main",
    )
