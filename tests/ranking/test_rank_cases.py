"""What one issue gets in one small repository: versions, lineage, policies, defaults, memory, unusable names."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from ranking.facts import (
    Backtest,
    Branch,
    Convention,
    Facts,
    Failure,
    Issue,
    IssueField,
    IssueLink,
    IssueVersion,
    Ranking,
    Role,
    Settings,
    Tag,
)
from ranking.ranker import rank, read_asked, read_view
from ranking.targets import role_of
from tests.ranking.facts_builder import (
    NOW,
    OID,
    answer,
    asks,
    candidate,
    chose,
    details,
    facts,
    names,
    pull,
    releases,
    wants,
)


def claimed(ranking: Ranking, branch: str) -> str:
    """The first reason for a branch without its points, which are fitted."""
    kind, points, reason = details(ranking, branch)[0].split(maxsplit=2)
    assert int(points.removesuffix(":")) > 0
    return f"{kind} {reason}"


# --- what a version finds by names alone ---


@pytest.mark.parametrize(
    ("branches", "label", "expected"),
    [
        # Two-digit minors are numbers.
        ("main release-3.11 release-4.1 release-4.9 release-4.10", "4.10.0", "issue-version release-4.10"),
        ("main release-3.11 release-4.1 release-4.9 release-4.10", "4.1.3", "issue-version release-4.1"),
        ("main release-3.11 release-4.10", "4.1.3", "default main"),
        ("main release-4.1 release-4.2", "4.10.0", "default main"),
        # A line, an exact patch, and both.
        ("main maint-10.0.x maint-10.0.0 maint-10.0.1", "10.0.1", "issue-version maint-10.0.1"),
        ("main maint-10.0.x maint-10.0.0 maint-10.0.1", "10.0.2", "issue-version maint-10.0.x"),
        ("main 1.6 1.6.1", "1.6", "issue-version 1.6"),
        ("main 1.6 1.6.1", "1.6.1", "issue-version 1.6.1"),
        ("main 1.6 1.6.1", "1.6.2", "issue-version 1.6"),
        ("main 1.5.1 1.6.1", "1.6.2", "default main"),
        ("main maint/4.1.0", "4.1.1", "default main"),
        ("main 7.x 7.17 7.17.3", "7.17.3", "issue-version 7.17.3"),
        ("main 7.x 7.17 7.16", "7.17.4", "issue-version 7.17"),
        # Wildcards are lines.
        ("main release-4.19 release-4.20", "4.20.z", "issue-version release-4.20"),
        ("main release/2.3 release/2.4", "2.4.*", "issue-version release/2.4"),
        ("main 6.x 7.x", "7.x", "issue-version 7.x"),
        # Product words.
        ("main release-4.22", "CNV v4.22.3", "issue-version release-4.22"),
        ("main maint-0.11.x js-0.4.x js-0.5.x", "JS-0.4.0", "issue-version js-0.4.x"),
        ("main maint-0.11.x js-0.4.x js-0.5.x", "0.4.0", "default main"),
        ("main maint-0.11.x js-0.4.x js-0.5.x", "JS-0.11.0", "default main"),
        # No version, no guess.
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "2+", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "future", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "tbd", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "Base Addons Next", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "0.5.2, 0.4.3, 0.6.0", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "201601-", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "COMPONENT-", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "", "default main"),
        ("main 17 branch-2.0 branch-0.5 branch-0.6", "17-pool", "issue-version 17"),
        # Pre-releases.
        ("main release/2.0.0-rc1", "2.0.0", "default main"),
        ("main release/2.0.0-rc1", "2.0.0-rc1", "issue-version release/2.0.0-rc1"),
        ("main release/2.0.0-rc1", "2.0.0-rc2", "default main"),
        ("main release/2.0.0-rc1 release/2.0.0-rc2", "2.0.0-rc2", "issue-version release/2.0.0-rc2"),
        ("main release/2.0 release/2.0-rc1", "2.0.0", "issue-version release/2.0"),
        ("main release/2.0", "2.0.0-rc1", "issue-version release/2.0"),
        # Coarse, bare, alone.
        ("main 1.x 2.1 2.2 2.3", "1.5.2", "issue-version 1.x"),
        ("main v5 release-2.1 release-2.2", "5.1.0", "issue-version v5"),
        ("main release-5", "5.1.0", "issue-version release-5"),
        ("main stable22", "22.0.1", "issue-version stable22"),
        # Trunk only.
        ("main", "1.0.0", "default main"),
    ],
)
def test_a_version_among_names(branches: str, label: str, expected: str) -> None:
    assert asks(branches, label) == expected


@pytest.mark.parametrize(("label", "expected"), [("JS-0.4.0", "issue-version js-0.4.x"), ("JS-0.11.0", "default main")])
def test_a_product_with_one_branch(label: str, expected: str) -> None:
    assert asks("main maint-0.11.x js-0.4.x", label) == expected


@pytest.mark.parametrize("label", ["Sprint 24", "PI 24", "Week 24", "Team 24", "24 hours"])
def test_a_bare_number_of_something_else(label: str) -> None:
    assert asks("main release/23 release/24 release/25", label) == "default main"


@pytest.mark.parametrize("word", ["rc/", "beta/", "preview-", "pre/", "snapshot/", "alpha-", "milestone-"])
def test_a_pre_release_word_before_the_number_is_no_bar_to_the_final(word: str) -> None:
    assert asks(f"main {word}1.2 {word}1.3", "1.2.0") == f"issue-version {word}1.2"


def test_two_families_tie() -> None:
    """The owner's word tells no product apart, so neither family is the first found."""
    bundle = facts("main blue-4.19 release-4.19 blue-4.20 release-4.20", name="blue/app", issue=wants("4.20.z"))
    assert answer(bundle) == "tied blue-4.20 release-4.20"
    assert rank(bundle).notes == ("fixVersions 4.20.z: matches 2 branches equally well: blue-4.20, release-4.20",)


def test_the_label_is_shown_with_its_product() -> None:
    ranking = rank(facts("main release-4.22", issue=wants("CNV v4.22.3")))
    assert claimed(ranking, "release-4.22") == "issue-version fixVersions CNV v4.22.3: covered by this branch's 4.22"


def test_line_and_patch_are_both_shown() -> None:
    ranking = rank(facts("main maint-10.0.x maint-10.0.0 maint-10.0.1", issue=wants("10.0.1")))
    assert claimed(ranking, "maint-10.0.1") == "issue-version fixVersions 10.0.1: this branch's version"
    assert details(ranking, "maint-10.0.x")[0] == (
        "version-convention +12: fixVersions 10.0.1: covered by this branch's 10.0.x"
    )


def test_a_branch_for_another_patch_is_a_weak_match() -> None:
    ranking = rank(facts("main maint/4.1.0", issue=wants("4.1.1")))
    assert ranking.chosen == "main"
    assert details(ranking, "maint/4.1.0")[0].startswith("version-convention +6: fixVersions 4.1.1: ")


# --- not cut yet, dead, far ahead ---


def test_not_cut_yet_and_then_cut() -> None:
    before = rank(facts("main 9.4 9.3 8.19", issue=wants(label="v9.5.0")))
    assert (before.chosen, candidate(before, "main").score) == ("main", 58)
    assert details(before, "main")[0].startswith("version-convention +15: labels v9.5.0: ")
    assert details(before, "main")[0].endswith("no branch exists for it yet (it would be 9.5)")
    assert answer(facts("main 9.5 9.4 9.3 8.19", issue=wants(label="v9.5.0"))) == "issue-version 9.5"


@pytest.mark.parametrize(
    ("branches", "label", "missing"),
    [
        ("main 9.4 9.3 8.19", "9.5.0", "9.5"),
        ("main release/8.2.0 release/8.3.0", "8.4.0", "release/8.4.0"),
        ("main 6-0-stable 6-1-stable", "7.0.1", "7-0-stable"),
    ],
)
def test_the_missing_branch_is_named_by_the_convention(branches: str, label: str, missing: str) -> None:
    reason = details(rank(facts(branches, issue=wants(label))), "main")[0]
    assert reason.endswith(f"no branch exists for it yet (it would be {missing})")


def test_a_far_future_version_waits_on_the_trunk() -> None:
    assert asks("main branch-3.4", "3.5.0") == "default main"
    assert asks("main branch-3.4", "4.0.0") == "default main"
    # The development branch takes it, not the server's default.
    bundle = facts("main develop branch-3.4", dates={"main": 3, "develop": 1}, issue=wants("4.0.0"))
    assert answer(bundle) == "default develop"
    assert details(rank(bundle), "develop")[0].startswith("version-convention +15: fixVersions 4.0.0: ")


@pytest.mark.parametrize("provenance", ["remote", "local"])
def test_an_incomplete_list_proves_no_missing_branch(provenance: Literal["remote", "local"]) -> None:
    ranking = rank(facts("main 9.4 9.3", issue=wants("9.5.0"), provenance=provenance, complete=False))
    assert ranking.chosen == "main"
    assert not any("no branch exists" in text for text in (*ranking.notes, *details(ranking, "main")))


def test_an_old_line_without_a_branch() -> None:
    ranking = rank(facts("main release/1.8 release/1.10", issue=wants("1.9.4")))
    assert ranking.chosen == "main"
    assert ranking.notes == ("fixVersions 1.9.4: no branch and no release tag here belongs to the line of 1.9.4",)


def test_an_explicit_wish_for_an_old_line_is_granted() -> None:
    version = IssueVersion(name="1.10.38", field="fixVersions", archived=True, released=True)
    bundle = facts("main v1.9 v1.10 v2.0", issue=wants(more=(version,)))
    assert answer(bundle) == "issue-version v1.10"
    assert rank(bundle).notes == ("fixVersions 1.10.38 is archived in the tracker",)


def test_a_version_that_the_tracker_has_released() -> None:
    version = IssueVersion(name="1.10.3", field="fixVersions", released=True)
    bundle = facts("main 1.10 2.0", issue=wants(more=(version,)))
    assert answer(bundle) == "issue-version 1.10"
    assert rank(bundle).notes == ("fixVersions 1.10.3 is already released, by the tracker",)


# --- tag lineage ---

EXACT = "main release-7.17.3 release-7.17.4 release-8.0.0"
TWO_MODULES = "main app-release-1.29 vpa-release-0.6"
CODE_NAMES = (
    releases("main", "25.0.0 26.0.0")
    + releases("unmaintained/yoga", "20.0.0 20.1.0")
    + releases("stable/zed", "21.0.0 21.1.0")
)
MOVED_ON = releases("stable/a", "1.2.0 1.2.1") + releases("stable/b", "1.2.2 1.2.3") + "v1.3.0@main"
MODULES = (
    releases("main", "1.29.0 1.30.0", "app-")
    + releases("app-release-1.29", "1.29.1 1.29.2", "app-")
    + releases("vpa-release-0.6", "0.6.0 0.6.1", "vertical-pod-autoscaler/v")
    + releases("main", "0.7.0", "vertical-pod-autoscaler/v")
)


@pytest.mark.parametrize(
    ("branches", "label", "tags", "expected"),
    [
        # Code names.
        ("main unmaintained/yoga stable/zed", "20.1.1", CODE_NAMES, "issue-version unmaintained/yoga"),
        pytest.param(
            "main unmaintained/yoga stable/zed",
            "20.2.0",
            CODE_NAMES,
            "issue-version unmaintained/yoga",
        ),
        ("main unmaintained/yoga stable/zed", "21.1.1", CODE_NAMES, "issue-version stable/zed"),
        ("main unmaintained/yoga stable/zed", "22.0.0", CODE_NAMES, "default main"),
        ("main unmaintained/yoga stable/zed", "27.0.0", CODE_NAMES, "default main"),
        # A name without a version that carries the line.
        ("main gold", "17.2.7", releases("gold", "17.2.5 17.2.6") + "v18.0.0@main", "issue-version gold"),
        ("main feature/gold", "17.2.7", "v17.2.6@feature/gold v18.0.0@main", "default main"),
        # A line that moved: 9.5 was deleted, its releases came from 9.6.
        ("main 9.4 9.6", "9.5.2", "v9.4.0@9.4 v9.5.0@9.6 v9.5.1@9.6", "issue-version 9.6"),
        # A line that lost its branch: neither a neighbour nor the default.
        ("main 9.4 9.6", "9.5.2", "v9.4.0@9.4 v9.5.1@ v9.6.0@9.6", "default main"),
        # The newest tag of the line decides.
        ("main stable/a stable/b", "1.2.4", MOVED_ON, "issue-version stable/b"),
        ("main stable/a stable/b", "1.2.11", MOVED_ON.replace("v1.2.3", "v1.2.10"), "issue-version stable/b"),
        # Released from the trunk so far.
        ("main", "1.0.1", "v1.0.0@main", "default main"),
        ("main stable/a", "1.1.0", "v1.0.0@main v0.9.0@stable/a", "default main"),
        # A covering name beats lineage on the default branch.
        ("main 1.0", "1.0.1", "v1.0.0@main", "issue-version 1.0"),
        # A first release, no tag before it.
        ("main 1.0 1.1", "1.1.0", "v1.0.0@1.0 v1.0.1@1.0", "issue-version 1.1"),
        ("main release/1.0", "1.0.0", "", "issue-version release/1.0"),
        # Nobody looked where the tags sit.
        ("main stable/a stable/b", "1.2.3", "v1.2.2", "default main"),
        # Modules by their words, by a branch's word, and by the numbers that only one of them has.
        (TWO_MODULES, "vertical-pod-autoscaler-0.6.2", MODULES, "issue-version vpa-release-0.6"),
        (TWO_MODULES, "vpa 0.6.2", MODULES, "issue-version vpa-release-0.6"),
        (TWO_MODULES, "0.6.2", MODULES, "issue-version vpa-release-0.6"),
        (TWO_MODULES, "1.29.3", MODULES, "issue-version app-release-1.29"),
        # A coarse lone name with lineage beside it.
        ("main 1.x 2.1 2.2 2.3", "1.5.2", "v1.5.1@1.x v2.1.0@2.1", "issue-version 1.x"),
        # Among equals the one that carries the line's newest release.
        ("main v1.2 release/1.2", "1.2.1", "v1.2.0@release/1.2", "issue-version release/1.2"),
        # Wildcards that no name covers: the highest that is not released yet.
        (EXACT, "7.17.x", "v7.17.3@release-7.17.3", "issue-version release-7.17.4"),
        (EXACT, "7.x", "v7.17.3@release-7.17.3", "issue-version release-7.17.4"),
        # Builds of every day are no releases.
        ("main stable/a", "1.2.3", "nightly-1.2.2@stable/a", "default main"),
        pytest.param(
            "main stable/a",
            "1.2.3",
            "v1.2.2-snapshot@stable/a v1.2.1@main",
            "default main",
        ),
    ],
)  # fmt: skip
def test_lineage(branches: str, label: str, tags: str, expected: str) -> None:
    assert asks(branches, label, tags) == expected


def test_a_lost_line_says_so() -> None:
    ranking = rank(facts("main 9.4 9.6", tags="v9.4.0@9.4 v9.5.1@ v9.6.0@9.6", issue=wants("9.5.2")))
    assert ranking.notes == (
        "fixVersions 9.5.2: v9.5.1, the newest release of the line of 9.5.2, is on no listed branch",
    )
    assert all(not d.startswith("version-convention +15") for d in details(ranking, "main"))


def test_a_carried_release_is_named() -> None:
    ranking = rank(facts("main unmaintained/yoga stable/zed", tags=CODE_NAMES, issue=wants("20.1.1")))
    assert claimed(ranking, "unmaintained/yoga") == (
        "issue-version fixVersions 20.1.1: it carries v20.1.0, the newest release of the line of 20.1.1"
    )


def test_a_tag_on_a_branch_that_is_not_listed_proves_nothing_for_others() -> None:
    assert asks("main 9.4 9.6", "9.5.2", "v9.5.1@9.5 v9.6.0@9.6") == "default main"


@pytest.mark.parametrize(
    ("branches", "label", "tags", "expected"),
    [
        # Unless the issue asks for exactly that version.
        ("main release/1.2.0 release/1.2.x", "1.2.0", "v1.2.0@release/1.2.0", "issue-version release/1.2.0"),
        (
            "main release/1.2.0 release/1.2.x",
            "1.2.1",
            "v1.2.0@release/1.2.0,release/1.2.x",
            "issue-version release/1.2.x",
        ),
        (
            "main release-8.4.0 release-8.4.1 release-8.4.2",
            "8.4",
            "v8.4.0@release-8.4.0 v8.4.1@release-8.4.1",
            "issue-version release-8.4.2",
        ),
    ],
)
def test_a_branch_of_a_released_version_yields(branches: str, label: str, tags: str, expected: str) -> None:
    """Half sure is enough here: which branch is the likeliest is the point."""
    assert answer(facts(branches, tags=tags, issue=wants(label), settings=Settings(derive_at=0.5))) == expected


def test_a_work_branch_with_releases_on_it_counts() -> None:
    tags = releases("hotfix/8.3", "8.3.0 8.3.1") + releases("hotfix/8.4", "8.4.0 8.4.1")
    assert asks("main hotfix/8.3 hotfix/8.4", "8.4.2", tags) == "issue-version hotfix/8.4"


@pytest.mark.parametrize(
    "branch",
    ["release-notes", "main-rework", "dev-jane", "stable-test", "dev/jane", "release/login-fix", "staging/login"],
)
def test_a_branch_that_carries_the_line_takes_it_whatever_its_words(branch: str) -> None:
    tags = releases(branch, "1.2.2 1.2.3") + "v1.3.0@main"
    assert asks(f"main {branch}", "1.2.4", tags) == f"issue-version {branch}"
    # Without releases the words say nothing, either way.
    assert asks(f"main {branch}", "1.2.4", releases("main", "1.2.2 1.2.3 1.3.0")) == "default main"


@pytest.mark.parametrize("branch", ["fixes/8.4", "hotfix/8.4"])
def test_a_work_branch_with_a_version_takes_it_only_if_the_line_was_released_there(branch: str) -> None:
    tags = releases("release/8.3", "8.3.0")
    assert asks(f"main release/8.3 {branch}", "8.4.2", tags) == "default main"
    tags += releases(branch, "8.4.0 8.4.1")
    assert asks(f"main release/8.3 {branch}", "8.4.2", tags) == f"issue-version {branch}"


@pytest.mark.xfail(reason="that the releases of its namesakes were made elsewhere speaks for a branch")
def test_a_word_whose_releases_were_made_elsewhere_makes_no_line() -> None:
    assert asks("main demo-1.2 demo-1.3", "1.2.1", "v1.2.0@main v1.3.0@main") == "default main"


@pytest.mark.parametrize("branch", ["fixes/login", "bugfixes/login", "backports/login"])
def test_one_release_on_a_work_branch_is_not_enough(branch: str) -> None:
    assert asks(f"main {branch}", "1.2.4", f"v1.2.3@{branch}") == "default main"


def test_two_tags_of_one_version_on_two_branches_tie() -> None:
    tags = "v1.0.0@stable/a 1.0.0@stable/b v1.0.1@stable/a 1.0.1@stable/b v1.1.0@main"
    assert asks("main stable/a stable/b", "1.0.2", tags) == "tied stable/a stable/b"


# --- several versions ---

SEVERAL = ("4.1.2", "4.2.0", "5.0.0")
SEVERAL_BRANCHES = "main branch-4.x branch-4.2 branch-4.1"
Policy = Literal["ambiguous", "lowest", "highest", "development"]


@pytest.mark.parametrize(
    ("policy", "versions", "expected"),
    [
        ("ambiguous", SEVERAL, "tied branch-4.1 branch-4.2 main"),
        ("lowest", SEVERAL, "issue-version branch-4.1"),
        ("highest", SEVERAL, "default main"),
        ("development", SEVERAL, "issue-version main"),
        ("ambiguous", ("4.1.2", "4.2.0"), "tied branch-4.1 branch-4.2"),
        ("lowest", ("4.1.2", "4.2.0"), "issue-version branch-4.1"),
        ("highest", ("4.1.2", "4.2.0"), "issue-version branch-4.2"),
        ("development", ("4.1.2", "4.2.0"), "issue-version main"),
        # One line is no conflict, and one branch none either.
        ("ambiguous", ("4.1.2", "4.1.3"), "issue-version branch-4.1"),
        ("development", ("4.1.2", "4.1.3"), "issue-version branch-4.1"),
        ("ambiguous", ("5.0.0", "6.0.0"), "default main"),
        ("development", ("4.1.2",), "issue-version branch-4.1"),
        # Numbers, not text.
        ("lowest", ("4.10.0", "4.2.0"), "issue-version branch-4.2"),
    ],
)
def test_several_versions(policy: Policy, versions: tuple[str, ...], expected: str) -> None:
    settings = Settings(multiple_versions=policy)
    for order in (versions, versions[::-1]):
        bundle = facts(SEVERAL_BRANCHES + " branch-4.10", issue=wants(order), settings=settings)
        assert answer(bundle) == expected


def test_the_lowest_version_has_lost_its_branch() -> None:
    settings = Settings(multiple_versions="lowest")
    bundle = facts("main 4.1 4.2", tags="v3.9.0@ v4.1.0@4.1", issue=wants(("3.9.1", "4.1.2")), settings=settings)
    assert answer(bundle) == "default main"


def test_the_policy_that_broke_the_tie_is_named() -> None:
    bundle = facts(SEVERAL_BRANCHES, issue=wants(SEVERAL), settings=Settings(multiple_versions="lowest"))
    assert rank(bundle).notes == ("several versions on several lines: multipleVersions lowest takes 4.1.2",)


@pytest.mark.parametrize(
    ("branches", "default", "policy", "taken", "reason"),
    [
        (
            "main 4.1 4.2",
            "main",
            "development",
            "main",
            "of several versions the development branch is taken first (multipleVersions: development)",
        ),
        ("trunk 4.1 4.2", None, "development", "4.2.0", "this branch's version"),
        ("trunk 4.1 4.2", None, "highest", "4.2.0", "this branch's version"),
    ],
)
def test_a_policy_says_what_it_takes(
    branches: str, default: str | None, policy: Policy, taken: str, reason: str
) -> None:
    settings = Settings(multiple_versions=policy)
    ranking = rank(facts(branches, default=default, issue=wants(("4.1.2", "4.2.0")), settings=settings))
    assert f"several versions on several lines: multipleVersions {policy} takes {taken}" in ranking.notes
    top = ranking.candidates[0]
    assert details(ranking, top.branch)[0] == f"issue-version +100: fixVersions 4.2.0: {reason}"


@pytest.mark.parametrize(
    ("tags", "default", "versions", "several"),
    [
        ("", "main", ("5.0.0", "6.0.0"), False),  # both wait in one place
        ("", None, ("5.0.0", "6.0.0"), True),  # and where that is nobody knows
        ("v3.8.0@ v3.9.0@", "main", ("3.8.1", "3.9.1"), True),  # what is lost is a place of its own
        ("v3.9.0@", "main", ("3.9.1", "5.0.0"), True),
    ],
)
def test_how_many_places_several_versions_have(
    tags: str,
    default: str | None,
    versions: tuple[str, ...],
    several: bool,  # noqa: FBT001 - a column of the table
) -> None:
    ranking = rank(facts("main 4.1 4.2", tags=tags, default=default, issue=wants(versions)))
    said = "the issue names 2 versions on several lines, and multipleVersions is ambiguous"
    assert (said in ranking.notes) is several


def test_a_version_that_is_out_is_said_to_be() -> None:
    tags = "v1.2.0@1.2 v1.2.1@1.2 v1.3.0@1.3"
    assert rank(facts("main 1.2 1.3", tags=tags, issue=wants("1.2.1"))).notes == (
        "fixVersions 1.2.1: v1.2.1 has been made already",
    )
    assert rank(facts("main 1.2 1.3", tags=tags, issue=wants("1.2.x"))).notes == ()


@pytest.mark.parametrize(
    ("label", "made"),
    [
        ("1.2.1", "v1.2.1"),
        ("widget 1.2.1", None),
        ("widget 1.0.0", "widget-1.0.0"),
        ("1.0.0", None),
    ],
)
def test_what_is_made_already_is_of_the_product_that_is_asked_for(label: str, made: str | None) -> None:
    ranking = rank(
        facts("main 1.2 widget-1.0", tags="v1.2.0@1.2 v1.2.1@1.2 widget-1.0.0@widget-1.0", issue=wants(label))
    )
    said = [note for note in ranking.notes if "made already" in note]
    assert said == ([f"fixVersions {label}: {made} has been made already"] if made else [])


def test_a_tie_shows_all_mappings() -> None:
    ranking = rank(facts(SEVERAL_BRANCHES, issue=wants(SEVERAL)))
    assert {n: details(ranking, n)[0].split(":")[0] for n in names(ranking)} == {
        "main": "version-convention +100",
        "branch-4.2": "issue-version +100",
        "branch-4.1": "issue-version +100",
        "branch-4.x": "version-convention +12",
    }
    assert ranking.chosen is UNSET
    assert ranking.notes[0].startswith("the issue names 3 versions on several lines, and ")
    assert "multipleVersions" in ranking.notes[0]


def test_recency_breaks_no_tie() -> None:
    bundle = facts(SEVERAL_BRANCHES, issue=wants(("4.1.2", "4.2.0")), recent=(chose("branch-4.1"),))
    assert answer(bundle) == "tied branch-4.1 branch-4.2"


def test_a_version_that_waits_with_no_development_branch_holds_the_other() -> None:
    bundle = facts("trunk 4.1 4.2", default=None, issue=wants(("4.1.2", "5.0.0")))
    assert not answer(bundle).startswith("issue-version")
    unsure = "one of the issue's versions waits for its branch, and the development branch is not known"
    assert unsure in rank(bundle).notes
    assert details(rank(bundle), "4.1")[0] == (
        "version-convention +100: fixVersions 4.1.2: covered by this branch's 4.1"
    )
    assert unsure not in rank(facts("trunk 4.1 4.2", default=None, issue=wants("5.0.0"))).notes
    assert answer(facts("trunk 4.1 4.2", default=None, issue=wants(("4.1.2", "4.2.0")))) == "tied 4.1 4.2"


# --- roles and fields ---


@pytest.mark.parametrize(
    ("fix", "target", "milestone", "label", "affected", "expected"),
    [
        ("", "", "", "", "8.1.0", "default main"),
        ("8.2.1", "", "", "", "8.1.0", "issue-version 8.2"),
        ("", "8.2.1", "", "8.1", "", "issue-version 8.2"),
        ("", "", "8.2", "", "", "issue-version 8.2"),
        ("", "", "8.2", "8.1", "", "issue-version 8.2"),
        ("", "", "", "8.1", "", "issue-version 8.1"),
        ("", "", "", "version/8.1", "", "issue-version 8.1"),
        ("", "", "", "Version-8.1", "", "issue-version 8.1"),
        ("", "", "", "V8.1", "", "issue-version 8.1"),
        ("", "", "", "8.1-legacy", "", "default main"),
        ("", "", "", "backport-8.1", "", "default main"),
        ("", "", "", "python8.1", "", "default main"),
        ("", "", "", "affects-8.1", "", "default main"),
        ("", "", "", "sev-8", "", "default main"),
        ("9.0", "", "", "8.1", "", "default main"),
        ("8.1.1", "8.2.1", "", "", "", "tied 8.1 8.2"),
        ("", "", "Next", "", "", "default main"),
    ],
)
def test_roles(fix: str, target: str, milestone: str, label: str, affected: str, expected: str) -> None:
    issue = wants(fix or (), target=target or (), milestone=milestone or (), label=label or (), affected=affected or ())
    assert answer(facts("main 8.1 8.2", issue=issue)) == expected


@pytest.mark.parametrize(
    ("field", "role"),
    [
        ("fixVersions", "fix"),
        ("Fix Version", "fix"),
        ("Affects Version/s", "affected"),
        ("milestone", "milestone"),
        ("Labels", "label"),
        ("Target Release", "target"),
    ],
)
def test_a_field_gives_a_role_by_its_name(field: str, role: Role) -> None:
    assert role_of(IssueVersion(name="8.1", field=field)) == role


@pytest.mark.parametrize("field", ["versions", "Affected Versions", "affectsVersion", "Affects Version/s"])
def test_a_field_of_affected_versions_is_a_hint(field: str) -> None:
    ranking = rank(facts("main 8.1 8.2", issue=wants(more=(IssueVersion(name="8.1", field=field),))))
    assert details(ranking, "8.1")[0] == f"version-convention +4: {field} 8.1: affected, a hint and no target"


def test_the_field_of_labels_holds_labels() -> None:
    version = IssueVersion(name="python 8.1", field="Labels")
    assert answer(facts("main 8.1 8.2", issue=wants(more=(version,)))) == "default main"


@pytest.mark.parametrize(
    ("label", "expected"), [("8.x", "issue-version 8.x"), ("8.X", "issue-version 8.x"), ("release-8", "default main")]
)
def test_a_label_is_a_version_only_with_two_numbers_or_as_a_line(label: str, expected: str) -> None:
    assert answer(facts("main 7.x 8.x", issue=wants(label=label))) == expected


def test_a_role_goes_before_the_name_of_the_field() -> None:
    version = IssueVersion(name="8.1", field="versions", role="fix")
    assert answer(facts("main 8.1 8.2", issue=wants(more=(version,)))) == "issue-version 8.1"


def test_only_a_milestone_can_be_closed() -> None:
    version = IssueVersion(name="8.1", field="fixVersions", closed=True)
    assert answer(facts("main 8.1 8.2", issue=wants(more=(version,)))) == "issue-version 8.1"


def test_a_hint_without_a_version_says_nothing() -> None:
    closed = IssueVersion(name="Backlog", field="milestone", closed=True)
    ranking = rank(facts("main 8.1", issue=wants(affected="Next", more=(closed,))))
    assert ranking.notes == ("milestone Backlog is closed: weak evidence",)


def test_affected_versions_are_hints() -> None:
    ranking = rank(facts("main 8.1 8.2 8.3", issue=wants(affected=("8.1.0", "8.2.3"))))
    assert ranking.chosen == "main"
    for branch, version in (("8.1", "8.1.0"), ("8.2", "8.2.3")):
        first = details(ranking, branch)[0]
        assert first == f"version-convention +4: versions {version}: affected, a hint and no target"
    assert not any("affected" in d for d in details(ranking, "8.3"))


def test_a_weaker_claim_beside_a_decisive_one_is_shown_without_points() -> None:
    ranking = rank(facts("main 8.1 8.2", issue=wants("8.1.1", affected="8.1.0")))
    assert claimed(ranking, "8.1") == "issue-version fixVersions 8.1.1: covered by this branch's 8.1"
    assert [d for d in details(ranking, "8.1") if not d.startswith("issue-version")] == [
        "version-convention +0: versions 8.1.0: affected, a hint and no target",
        "version-convention +0: one of 2 named under {major}.{minor}",
        "sort-order +0: number 3 of the default order",
        "ref-provenance +5: the remote listed it in this run",
    ]


def test_a_weaker_claim_breaks_no_tie_of_a_version_that_waits() -> None:
    issue = wants(("8.1.1", "9.0.0"), links=(pull("main", state="closed"),))
    assert answer(facts("main 8.1 8.2", issue=issue)) == "tied 8.1 main"


def test_a_closed_milestone_is_weak() -> None:
    version = IssueVersion(name="2.7.2", field="milestone", closed=True)
    ranking = rank(facts("main 2.7 2.8", issue=wants(more=(version,))))
    assert ranking.chosen == "main"
    assert ranking.notes == ("milestone 2.7.2 is closed: weak evidence",)
    assert details(ranking, "2.7")[0] == "version-convention +4: milestone 2.7.2: closed, a hint and no target"


def test_a_closed_milestone_leaves_the_labels_to_speak() -> None:
    version = IssueVersion(name="2.7.2", field="milestone", closed=True)
    assert answer(facts("main 2.7 2.8", issue=wants(label="2.8", more=(version,)))) == "issue-version 2.8"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("fixVersions", "issue-version 8.1"),
        ("Fix Version/s", "issue-version 8.1"),
        ("Target Release", "issue-version 8.1"),
        ("milestone", "issue-version 8.1"),
        ("labels", "issue-version 8.1"),
        ("versions", "default main"),
        pytest.param(
            "Affects Version/s",
            "default main",
        ),
    ],
)
def test_the_role_of_a_well_known_field(field: str, expected: str) -> None:
    version = IssueVersion(name="8.1", field=field)
    assert answer(facts("main 8.1 8.2", issue=wants(more=(version,)))) == expected


def test_a_label_that_is_not_used_is_said() -> None:
    ranking = rank(facts("main 8.1 8.2", issue=wants(("8.1.1", "Backlog"), label="8.2")))
    assert ranking.chosen == "8.1"
    assert ranking.notes == (
        "label 8.2 is not used: the issue names a version elsewhere",
        "fixVersions 'Backlog' names no version and no branch",
    )


def test_fields_keep_their_three_states_apart() -> None:
    states: tuple[tuple[str, Literal["empty", "not-delivered", "not-visible", "failed"]], ...] = (
        ("a", "empty"),
        ("b", "not-delivered"),
        ("c", "not-visible"),
        ("d", "failed"),
    )
    fields = tuple(IssueField(name=n, role="fix", state=s) for n, s in states)
    assert set(rank(facts("main", issue=wants(fields=fields))).notes) == {
        "field a is empty",
        "field b was not delivered",
        "field c is not visible to us",
        "field d could not be read",
    }


@pytest.mark.parametrize(
    ("read", "note"),
    [
        ("failed", "issue APP-1 could not be read (failed): its versions are not known"),
        ("not-found", "issue APP-1 could not be read (not-found): its versions are not known"),
        ("partial", "issue APP-1 was read in part only"),
    ],
)
def test_an_issue_that_was_not_read(read: Literal["failed", "not-found", "partial"], note: str) -> None:
    assert rank(facts("main 8.1 8.2", issue=wants(read=read))).notes == (note,)
    why = replace(wants(read=read), failure=Failure(kind="timed-out", detail="no answer"))
    head, colon, rest = note.partition(": ")
    assert rank(facts("main 8.1 8.2", issue=why)).notes == (f"{head}: no answer{colon}{rest}",)


def test_a_label_without_a_version_is_said() -> None:
    note = "fixVersions 'Backlog' names no version and no branch"
    assert rank(facts("main 8.1", issue=wants("Backlog"))).notes == (note,)


# --- which branches count ---


def test_a_branch_that_an_answered_remote_lacks() -> None:
    bundle = facts("main release/1.10", only_here="release/1.9", issue=wants("1.9.4"))
    ranking = rank(bundle)
    assert answer(bundle) == "default main"
    assert names(ranking) == ["main", "release/1.10"]
    assert ranking.notes[0] == "known only from this clone, the remote does not have it: 1: release/1.9"


def test_a_branch_that_an_incomplete_list_lacks_may_still_be_there() -> None:
    bundle = facts("main release/1.10", only_here="release/1.9", issue=wants("1.9.4"), complete=False)
    assert answer(bundle) == "issue-version release/1.9"
    assert rank(bundle).notes == ("the remote's list is incomplete: a missing branch proves nothing",)


def test_a_local_list_says_so() -> None:
    down = Failure(kind="timed-out", detail="no answer within 20 s")
    ranking = rank(facts("main 1.8 1.9", issue=wants("1.9.4"), provenance="local", complete=False, failure=down))
    assert (ranking.ref_provenance, ranking.chosen) == ("local", "1.9")
    assert details(ranking, "1.9")[-1] == (
        "ref-provenance +1: known from this clone; the remote did not answer in this run"
    )
    assert ranking.notes == (
        (
            "the remote did not answer (timed-out: no answer within 20 s): "
            "these are this clone's refs, and a missing branch proves nothing"
        ),
    )


def test_a_local_list_without_a_reason() -> None:
    assert rank(facts("main 1.8", provenance="local", complete=False)).notes == (
        "the remote did not answer: these are this clone's refs, and a missing branch proves nothing",
    )


def test_a_repository_without_a_remote() -> None:
    bundle = facts("main", provenance="local")
    ranking = rank(replace(bundle, repository=replace(bundle.repository, remote=None)))
    assert details(ranking, "main")[-1] == "ref-provenance +1: known from this clone; there is no remote"
    assert ranking.notes == ("there is no remote: these are this repository's own branches",)


def test_an_empty_remote() -> None:
    ranking = rank(facts("", default=None, default_state="none"))
    assert (ranking.chosen, ranking.ambiguous, ranking.candidates) == (UNSET, False, ())
    assert ranking.notes == ("the remote has no default branch: the default is not known",)


UNUSABLE = [
    ("--upload-pack=x-1.9", "it begins with a dash, which git would read as an option"),
    ("-1.9", "it begins with a dash, which git would read as an option"),
    ("HEAD", "HEAD is no branch"),
    ("HEAD -> release/1.9", "git does not allow such a name"),
    ("release/1.9\n", "git does not allow such a name"),
    ("release/\x1b[31m1.9", "git does not allow such a name"),
    ("release/1.9\x7f", "git does not allow such a name"),
    ("release 1.9", "git does not allow such a name"),
    ("release\\1.9", "git does not allow such a name"),
    ("release/1..9", "git does not allow such a name"),
    ("release/1.9.lock", "git does not allow such a name"),
    ("release/1.9/", "git does not allow such a name"),
    ("@", "git does not allow such a name"),
    ("release/1.9\u202e", "it holds characters that do not show"),
    ("release/1.9\u200b", "it holds characters that do not show"),
    ("release/\u20661.9", "it holds characters that do not show"),
    ("release/1.9\ufeff", "it holds characters that do not show"),
    ("release/1.9\x85", "it holds characters that do not show"),
    ("release/1.9\udcff", "it holds characters that do not show"),
    ("", "it is empty"),
]
INVISIBLE = ["\u180e", "\U000e0041", "\ufff9", "\U0001d173", "\u3164", "\u115f", "\ufe0f", "\u00a0", "\u3000"]


@pytest.mark.parametrize(("name", "why"), UNUSABLE)
def test_an_unusable_name_is_never_an_answer(name: str, why: str) -> None:
    bundle = facts(["main", name], issue=wants("1.9.4", links=(pull(name),)), recent=(chose(name),))
    ranking = rank(bundle)
    assert names(ranking) == ["main"]
    assert (
        f"never an answer ({why}): 1: {ascii(name)[1:-1] if not name.isascii() or not name.isprintable() else name}"
        in ranking.notes
    )


def test_unusable_names_are_told_together() -> None:
    assert rank(facts(["main", "HEAD", "-x", "a..b", "c..d", "a\u202eb"])).notes == (
        (
            "never an answer (HEAD is no branch; git does not allow such a name; "
            "it begins with a dash, which git would read as an option; it holds characters that do not show): "
            "5: -x, HEAD, a..b, a\\u202eb, c..d"
        ),
    )


@pytest.mark.parametrize("mark", INVISIBLE)
def test_a_character_that_does_not_show_makes_a_name_unusable(mark: str) -> None:
    assert names(rank(facts(["main", f"release{mark}/1.9"], issue=wants("1.9.4")))) == ["main"]


def test_a_default_that_is_unusable_is_unknown() -> None:
    ranking = rank(facts(["--evil", "prod"], default="--evil"))
    assert names(ranking) == ["prod"]
    assert "the default branch --evil is not listed: the default is not known" in ranking.notes


def test_an_undecodable_tag_does_not_take_the_run_down() -> None:
    tags = [Tag(name="v1.0.0\udcff", branches=("main",)), Tag(name="v1.1.0", branches=("1.1",))]
    assert answer(facts("main 1.0 1.1", tags=tags, issue=wants("1.1.1"))) == "issue-version 1.1"


def test_an_answer_holds_no_control_characters() -> None:
    forged = "1.2\x1b[31m\nissue-version +100: forged"
    ranking = rank(facts("main 1.2 1.3", issue=wants(forged, links=(pull("x", key=forged),))))
    texts = [*ranking.notes, *(e.detail for c in ranking.candidates for e in c.evidence)]
    assert [t for t in texts if not t.isprintable()] == []


def test_only_work_branches_are_better_than_nothing() -> None:
    ranking = rank(facts("feature/8.4 feature/y", default=None, issue=wants("8.4.2")))
    assert names(ranking) == ["feature/8.4", "feature/y"]
    assert ranking.ambiguous


def test_refs_begin_with_the_one_that_the_fetch_brings() -> None:
    remote = rank(facts("main")).candidates[0]
    assert remote.refs == ("refs/remotes/origin/main",)
    bundle = facts("main")
    both = tuple(replace(b, local_tip=b.tip) for b in bundle.refs.branches)
    bundle = replace(bundle, refs=replace(bundle.refs, branches=both))
    assert rank(bundle).candidates[0].refs == ("refs/remotes/origin/main", "refs/heads/main")
    without = replace(bundle, repository=replace(bundle.repository, remote=None))
    assert rank(without).candidates[0].refs == ("refs/heads/main",)
    assert rank(without).notes == ()


@pytest.mark.parametrize(
    ("remote", "tip", "cached", "local", "refs"),
    [
        ("origin", OID, None, None, ["refs/remotes/origin/b"]),
        ("origin", None, OID, OID, ["refs/remotes/origin/b", "refs/heads/b"]),
        ("origin", None, None, OID, ["refs/heads/b"]),
        ("origin", None, None, None, ["refs/remotes/origin/b"]),
        (None, None, None, OID, ["refs/heads/b"]),
        (None, None, None, None, ["refs/heads/b"]),
    ],
)
def test_the_refs_that_hold_a_branch(
    remote: str | None, tip: str | None, cached: str | None, local: str | None, refs: list[str]
) -> None:
    bundle = facts("b", complete=False)
    bundle = replace(bundle, repository=replace(bundle.repository, remote=remote))
    branch = Branch(name="b", tip=tip, cached_tip=cached, local_tip=local)
    ranking = rank(replace(bundle, refs=replace(bundle.refs, branches=(branch,))))
    assert list(ranking.candidates[0].refs) == refs


@pytest.mark.parametrize(
    ("cached", "local", "complete", "provenance", "there"),
    [
        (OID, None, True, "remote", False),
        (None, OID, True, "remote", False),
        (OID, None, False, "remote", True),
        (OID, None, True, "local", True),
        (None, None, True, "remote", True),  # a recorded list of names
    ],
)
def test_which_branch_without_a_tip_is_gone(
    cached: str | None,
    local: str | None,
    complete: bool,  # noqa: FBT001 - a column of the table
    provenance: Literal["remote", "local"],
    there: bool,  # noqa: FBT001 - likewise
) -> None:
    bundle = facts("main", complete=complete, provenance=provenance)
    branches = (*bundle.refs.branches, Branch(name="1.0", cached_tip=cached, local_tip=local))
    assert ("1.0" in names(rank(replace(bundle, refs=replace(bundle.refs, branches=branches))))) is there


def test_at_most_max_candidates_are_listed() -> None:
    bundle = facts("main 1.0 1.1 1.2", issue=wants("1.1"), settings=Settings(max_candidates=2))
    ranking = rank(bundle)
    assert names(ranking) == ["1.1", "main"]
    assert ranking.notes == ("left out after the first 2 candidates: 2: 1.0, 1.2",)


def test_the_cut_does_not_break_a_tie() -> None:
    ranking = rank(facts("main 1.1 v1.1", issue=wants("1.1.0"), settings=Settings(max_candidates=1)))
    assert (ranking.chosen, ranking.ambiguous, names(ranking)) == (UNSET, True, ["1.1"])
    assert "fixVersions 1.1.0: matches 2 branches equally well: 1.1, v1.1" in ranking.notes


# --- which names count: the default, the settings, what was linked or chosen ---


@pytest.mark.parametrize(
    ("branches", "taken", "expected"),
    [("fixes/8.4 main", "main", "default main"), ("fixes/8.4 release/8.3", "no other branch", "default release/8.3")],
)
def test_a_default_that_looks_like_a_work_branch_is_not_used(branches: str, taken: str, expected: str) -> None:
    bundle = facts(branches, default="fixes/8.4", issue=wants("8.4.1"))
    assert answer(bundle) == expected
    note = f"the server's default branch fixes/8.4 is a work branch and is not used; {taken} stands for it"
    assert rank(bundle).notes[0] == note


def test_work_prefixes_replace_the_usual_ones() -> None:
    def ask(branches: str, *prefixes: str) -> Facts:
        return facts(branches, issue=wants("8.4.1"), settings=Settings(work_prefixes=prefixes))

    assert answer(ask("main stable/8.4", "stable/")) == "default main"
    assert rank(ask("main stable/8.4", "stable/")).notes[0] == "left out as work branches: 1: stable/8.4"
    assert answer(ask("main fixes/8.4", "feature/")) == "issue-version fixes/8.4"


def test_a_version_in_a_name_that_is_no_line_is_said() -> None:
    assert rank(facts("main release/8.4 login-8.4")).notes == (
        "a version in the name, and no release line by it: 1: login-8.4",
    )


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (pull("fixes/8.4"), "issue-version fixes/8.4"),
        (pull("fixes/8.4", state="merged"), "issue-version fixes/8.4"),
        (pull("fixes/8.4", state="closed"), "default main"),
        (IssueLink(kind="other", key="APP-2", base_branch="fixes/8.4"), "default main"),
    ],
)
def test_a_base_of_a_pull_request_counts_whatever_its_name(link: IssueLink, expected: str) -> None:
    assert answer(facts("main fixes/8.4", issue=wants("8.4.1", links=(link,)))) == expected


def test_what_stands_in_no_order_comes_after_what_does() -> None:
    """Of equal scores: the ninth of the order, which gets no points for its place, before a family word."""
    settings = Settings(default_order=("n*",))
    ranking = rank(facts("na nb nc nd ne nf ng nh ni legacy", default=None, settings=settings))
    assert names(ranking)[-2:] == ["ni", "legacy"]
    assert ranking.candidates[-2].score == ranking.candidates[-1].score
    assert details(ranking, "nh")[0] == "sort-order +1: number 8 of the default order"
    assert details(ranking, "ni") == ["ref-provenance +5: the remote listed it in this run"]


def test_a_view_is_read_for_the_versions_that_the_issue_asks_for() -> None:
    bundle = facts("main widget-1.2", issue=wants("widget 1.2.3", links=(pull("main"),)))
    view = read_asked(bundle)
    assert set(view.repo.conventions.lines) == {"widget-1.2"}
    assert set(read_view(bundle).repo.conventions.lines) == set()
    # The names are not looked at again for facts with the same refs.
    assert read_asked(bundle, view).listed.branches is view.listed.branches


# --- default and development branch ---


def develop(days: int | None, main: int | None = 5) -> Facts:
    """Make a repository of main and develop, their last commits so many days old."""
    ages = {n: d for n, d in (("main", main), ("develop", days)) if d is not None}
    return facts("main develop", dates=ages)


@pytest.mark.parametrize(
    ("days", "main", "expected"),
    [
        (1, 5, "develop"),
        (35, 5, "develop"),
        (36, 5, "main"),
        (None, 5, "main"),
        (1, None, "main"),
        (400, 399, "develop"),
    ],
)
def test_the_development_branch_is_alive(days: int | None, main: int | None, expected: str) -> None:
    assert answer(develop(days, main)) == f"default {expected}"


def test_why_a_development_branch_is_not_taken() -> None:
    assert rank(develop(1)).notes == ("develop is the development branch; the server's default is main",)
    assert rank(develop(40)).notes == ("develop was left behind by main: 2026-10-21 against 2026-11-25",)
    assert rank(develop(None)).notes == ("develop may be the development branch, but its date or main's is not known",)


@pytest.mark.parametrize("name", ["Develop", "develop2", "dev/develop", "develop-x", "devel"])
def test_a_development_branch_is_named_exactly(name: str) -> None:
    assert answer(facts(f"main {name}", dates={"main": 5, name: 1})) == "default main"


def test_a_dead_development_branch_does_not_hide_a_living_one() -> None:
    ages = {"main": 5, "development": 400, "dev": 1}
    assert answer(facts("main development dev", dates=ages)) == "default dev"
    assert answer(facts("main development dev", dates=ages | {"development": 1})) == "default development"


@pytest.mark.parametrize(
    ("branches", "default", "expected"),
    [
        ("main develop", "develop", "default develop"),
        ("develop development", "development", "default development"),
        ("main staging", "staging", "default staging"),
        ("grove main", "grove", "default grove"),
        ("main trunk master", "trunk", "default trunk"),
        ("main", None, "default main"),
        ("prod", "main", "default prod"),
    ],
)
def test_the_servers_word_goes_before_names(branches: str, default: str, expected: str) -> None:
    assert answer(facts(branches, default=default)) == expected
    dated = facts(branches, default=default, dates=dict.fromkeys(branches.split(), 1))
    assert not any("development branch" in note for note in rank(dated).notes if default == "develop")


@pytest.mark.parametrize(
    ("state", "note"),
    [
        ("failed", "the remote did not say its default branch: the default is not known"),
        ("none", "the remote has no default branch: the default is not known"),
        ("not-asked", "nobody asked for the default branch: the default is not known"),
    ],
)
def test_an_unknown_default(state: Literal["failed", "none", "not-asked"], note: str) -> None:
    ranking = rank(facts("main dev", default=None, default_state=state))
    assert sorted(names(ranking)) == ["dev", "main"]
    assert ranking.notes == (note,)


def test_a_cached_default_is_said_to_be_one() -> None:
    assert rank(facts("main", default_state="cached")).notes == (
        "the default branch main is this clone's last knowledge, not the remote's word",
    )


def test_a_default_that_is_not_listed_is_unknown() -> None:
    ranking = rank(facts("prod", default="main"))
    assert ranking.notes == ("the default branch main is not listed: the default is not known",)
    assert not any(d.startswith("repo-default") for d in details(ranking, "prod"))


# --- default order ---


def test_the_default_order() -> None:
    bundle = facts("master main develop trunk 1.9 1.10", default="trunk", dates={"develop": 1, "trunk": 1})
    ranking = rank(bundle)
    places = sorted(
        (d.split("number ")[1], n) for n in names(ranking) for d in details(ranking, n) if d.startswith("sort-order")
    )
    assert [n for _, n in places] == ["develop", "trunk", "main", "master", "1.10", "1.9"]
    assert details(ranking, "develop")[0] == "repo-default +30: the development branch"
    assert details(ranking, "trunk")[0] == "repo-default +20: the server's default branch"


@pytest.mark.parametrize(
    ("branches", "order", "expected"),
    [
        ("main develop", ("main", "develop"), "default main"),
        ("main release/1.9 release/1.10", ("release/*", "main"), "default release/1.10"),
        ("main release/1.9 release/1.10", "seed", "default release/1.10"),
        ("main env/dev env/prod", ("env/d*",), "default env/dev"),
    ],
)
def test_a_configured_order(branches: str, order: tuple[str, ...] | Literal["seed"], expected: str) -> None:
    bundle = facts(branches, dates={"main": 2, "develop": 1}, settings=Settings(default_order=order))
    assert answer(bundle) == expected
    assert not any("defaultOrder" in note for note in rank(bundle).notes)


def test_a_configured_order_gives_the_places() -> None:
    ranking = rank(facts("main release/1.9 release/1.10", settings=Settings(default_order=("release/*", "main"))))
    assert details(ranking, "release/1.10")[-2] == "sort-order +8: number 1 of the default order"
    assert details(ranking, "release/1.9")[-2] == "sort-order +7: number 2 of the default order"
    assert details(ranking, "main")[-2] == "sort-order +6: number 3 of the default order"
    assert details(ranking, "release/1.10")[-3] == "repo-default +30: first of the configured defaultOrder"
    assert details(ranking, "release/1.9")[:-2] == [
        "version-convention +2: one of 2 named under release/{major}.{minor}"
    ]
    assert details(ranking, "main")[:-2] == ["repo-default +20: the server's default branch"]


def test_the_order_of_the_seed() -> None:
    ranking = rank(facts("master main develop2 release/1.0", settings=Settings(default_order="seed")))
    places = {n: d.split("number ")[1][0] for n in names(ranking) for d in details(ranking, n) if "number" in d}
    assert sorted(places, key=places.__getitem__) == ["develop2", "release/1.0", "main", "master"]


def test_missing_entries_of_an_order() -> None:
    ranking = rank(facts("main", settings=Settings(default_order=("develop", "rc", "main"))))
    assert ranking.chosen == "main"
    assert ranking.notes == ("defaultOrder names what is not listed: develop, rc",)
    assert rank(facts("main", settings=Settings(default_order="seed"))).notes == ()


def test_patterns_match_whole_short_names() -> None:
    settings = Settings(default_order=("release-?.?", "v/[0-9]"))
    ranking = rank(facts("main release-1.2 my-release-1.2 v/9 v/10", settings=settings))
    ordered = [n for n in names(ranking) for d in details(ranking, n) if d.startswith("sort-order")]
    assert sorted(ordered) == ["release-1.2", "v/9"]


# --- memory ---


def test_recent_choices_inside_their_time() -> None:
    ranking = rank(facts("main 1.0 1.1", recent=(chose("1.0", 15), chose("1.1", 15.01))))
    assert "recent +12: chosen by a person once, last on 2026-11-15" in details(ranking, "1.0")
    assert not any(d.startswith("recent") for d in details(ranking, "1.1"))


def test_the_time_to_live_is_a_setting() -> None:
    bundle = facts("main 1.0", recent=(chose("1.0", 3),), settings=Settings(branch_ttl_days=2))
    assert not any(d.startswith("recent") for d in details(rank(bundle), "1.0"))


def test_a_later_choice_counts_more() -> None:
    recent = (chose("1.0", 3, 9), chose("gone", 0), chose("1.1", 1), chose("1.2", 2))
    ranking = rank(facts("main 1.0 1.1 1.2", recent=recent))
    assert "recent +8: chosen by a person 9 times, last on 2026-11-27" in details(ranking, "1.0")
    points = {n: d.split(":")[0] for n in names(ranking) for d in details(ranking, n) if d.startswith("recent")}
    assert points == {"1.1": "recent +12", "1.2": "recent +10", "1.0": "recent +8"}


def test_the_points_of_old_choices_end_at_none() -> None:
    lines = [f"1.{n}" for n in range(9)]
    recent = tuple(chose(line, day) for day, line in enumerate(lines))
    ranking = rank(facts(["main", *lines], recent=recent))
    points = [d.split(":")[0] for line in lines for d in details(ranking, line) if d.startswith("recent")]
    assert points == [f"recent +{p}" for p in (12, 10, 8, 6, 4, 2, 0, 0, 0)]


MEMORY = "the memory says 1.2, chosen on 2026-11-29; the issue's evidence says "


@pytest.mark.parametrize(
    ("issue", "said"),
    [
        (wants("1.0.3"), [f"{MEMORY}1.0"]),
        (wants(("1.5.3", "1.4.0", "1.3.0", "1.0.3", "1.1.0")), [f"{MEMORY}1.0, 1.1, 1.3, 1.4, 1.5"]),
        (wants(("1.0.3", "1.2.0")), []),
        (wants(affected="1.0.3"), []),
        (None, []),
    ],
)
def test_a_memory_against_the_evidence_is_said(issue: Issue | None, said: list[str]) -> None:
    bundle = facts("main 1.0 1.1 1.2 1.3 1.4 1.5", issue=issue, recent=(chose("1.0", 3), chose("1.2", 1)))
    assert [note for note in rank(bundle).notes if "memory" in note] == said


def test_a_remembered_branch_that_is_gone() -> None:
    ranking = rank(facts("main", only_here="release/2.1", recent=(chose("release/2.1"),)))
    assert names(ranking) == ["main"]


def test_a_remembered_branch_is_a_candidate_whatever_its_name() -> None:
    ranking = rank(facts("main feature/login", recent=(chose("feature/login"),)))
    assert names(ranking) == ["main", "feature/login"]


@pytest.mark.parametrize("why", ["expired", "foreign"])
def test_what_does_not_count_admits_no_work_branch(why: str) -> None:
    links = (pull("fixes/8.4", repository="acme/other"),) if why == "foreign" else ()
    recent = (chose("fixes/8.4", 300),) if why == "expired" else ()
    bundle = facts("main fixes/8.4", issue=wants("8.4.1", links=links), recent=recent)
    assert answer(facts("main fixes/8.4", issue=wants("8.4.1"))) == "default main"
    assert answer(bundle) == "default main"


# --- the floor under a derivation ---

KEPT = Backtest(asked=10, right=8, wrong=1, held=1, at=NOW)


@pytest.mark.parametrize(
    ("floor", "kept", "expected"),
    [
        (None, None, "issue-version 1.0"),
        (None, KEPT, "issue-version 1.0"),
        (0.8, KEPT, "issue-version 1.0"),
        (0.81, KEPT, "default 1.0"),
        (0.0, None, "default 1.0"),
        (0.5, Backtest(asked=0, right=0, wrong=0, held=0, at=NOW), "default 1.0"),
        # The floor counts derived answers alone.
        (0.5, replace(KEPT, derived_right=0, derived_wrong=0), "default 1.0"),
        (0.8, replace(KEPT, derived_right=3, derived_wrong=1), "default 1.0"),
        (0.9, replace(KEPT, derived_right=9, derived_wrong=1), "issue-version 1.0"),
    ],
)
def test_derive_floor(floor: float | None, kept: Backtest | None, expected: str) -> None:
    bundle = facts("main 1.0 1.1", issue=wants("1.0.2"), backtest=kept, settings=Settings(derive_floor=floor))
    assert answer(bundle) == expected


def test_the_floor_is_explained() -> None:
    low = facts("main 1.0", issue=wants("1.0.2"), backtest=KEPT, settings=Settings(derive_floor=0.9))
    assert rank(low).notes == (
        "deriveFloor 0.9: the backtest was right in 80.0% only, so nothing is derived",
        "backtest of 2026-11-30: 10 asked, 8 right, 1 wrong, 1 held",
    )
    none = facts("main 1.0", issue=wants("1.0.2"), settings=Settings(derive_floor=0.9))
    assert rank(none).notes == (
        "deriveFloor 0.9: no backtest is kept, so nothing is derived; run base-branch backtest",
    )
    kinds = {e.kind for c in rank(low).candidates for e in c.evidence}
    assert not kinds & {"issue-version", "linked-release"}
    assert claimed(rank(low), "1.0") == "version-convention fixVersions 1.0.2: covered by this branch's 1.0"


def test_a_backtest_that_asked_nothing_is_not_spoken_of() -> None:
    assert rank(facts("main", backtest=Backtest(asked=0, right=0, wrong=0, held=0, at=NOW))).notes == ()


# --- the whole record ---


def test_only_names_under_the_convention_have_its_points() -> None:
    ranking = rank(facts("main 1.0 1.1 v1.2"))
    assert "version-convention +2: one of 2 named under {major}.{minor}" in details(ranking, "1.1")
    assert not any("named under" in d for d in details(ranking, "v1.2"))


def test_a_whole_ranking() -> None:
    ranking = rank(facts("main release/8.3.0 release/8.4.0", tags="v8.3.1@release/8.3.0", issue=wants("8.4.0")))
    assert ranking.convention == Convention(template="release/{major}.{minor}.{patch}", members=2)
    assert [(c.branch, c.score) for c in ranking.candidates[1:]] == [("main", 43), ("release/8.3.0", 13)]
    first = ranking.candidates[0]
    assert first.branch == "release/8.4.0"
    assert first.score > 100
    kinds = [e.kind for e in first.evidence]
    assert kinds[-3:] == ["version-convention", "sort-order", "ref-provenance"]
    assert set(kinds[:-3]) == {"issue-version"}
    assert details(ranking, "main") == [
        "repo-default +30: the server's default branch",
        "sort-order +8: number 1 of the default order",
        "ref-provenance +5: the remote listed it in this run",
    ]
    assert ranking.asked_on_issue is None
    assert ranking.notes == ()


# --- twins and coarse names ---


def test_twins_tie_where_both_carry_the_newest_release() -> None:
    assert asks("main v8.x v8.x-dev", "8.57.1", "v8.57.0@v8.x,v8.x-dev") == "tied v8.x v8.x-dev"


def test_a_twin_without_the_newest_release_does_not() -> None:
    assert asks("main v8.x v8.x-dev", "8.57.1", "v8.57.0@v8.x v8.56.0@v8.x-dev") == "issue-version v8.x"


def test_of_two_spellings_of_one_line_the_plainer_takes_it() -> None:
    tags = "v4.0.0@main v4.1.9@4.1,41_dev"
    assert asks("main 4.1 41_dev", "4.1.10", tags) in ("issue-version 4.1", "tied 4.1 41_dev")


def test_a_coarse_name_takes_what_no_finer_one_does() -> None:
    tags = "v0.12.1@0.12.1 v0.12.2@0.12.2 v0.13.0@main v1.0.0@main"
    assert asks("main 0.12.1 0.12.2 0.13.x 1.x", "1.1.0", tags) == "issue-version 1.x"
    assert asks("main 0.12.x 0.13.x 1.x", "0.13.1", tags) == "issue-version 0.13.x"
