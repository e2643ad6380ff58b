"""Conventions as the names show them: many spellings, offshoots, work branches, odd names, run-together digits."""

from __future__ import annotations

import pytest

from ranking.conventions import Conventions, infer_conventions, name_under, tell_work
from ranking.facts import Convention
from ranking.ranker import rank
from ranking.record import Record, own_words
from ranking.versions import Version, read_branch
from ranking.words import is_family, is_work_branch
from tests.ranking.facts_builder import answer, asks, facts, names, releases, tag, wants


def infer(branches: str, tags: str = "", default: str | None = "main") -> Conventions:
    """Read the names of a repository `acme/app`."""
    record = Record(map(tag, tags.split()), own_words("acme/app"))
    return infer_conventions(tell_work(branches.split()), record=record, default=default)


# --- many real spellings ---

SPELLINGS = [
    ("release/3 release/4 release/5", "4.2", "release/4", "release/{major}"),
    ("Release_1.2.3 Release_1.2.4 Release_1.3.0", "1.2.4", "Release_1.2.4", "Release_{major}.{minor}.{patch}"),
    ("release/R2110 release/R2112 release/R2204", "R2112", "release/R2112", "release/R{major}"),
    ("release/v2024-01 release/v2024-02 release/v2025-01", "2024.2", "release/v2024-02", "release/v{major}-{minor}"),
    ("2.x 3.x 4.x", "3.11.4", "3.x", "{major}.x"),
    ("release/2.x release/3.x release/4.x", "3.1", "release/3.x", "release/{major}.x"),
    ("release-2.x release-3.x release-4.x", "3.1", "release-3.x", "release-{major}.x"),
    ("app-v7.0.x app-v7.1.x app-v7.2.x", "7.1.3", "app-v7.1.x", "app-v{major}.{minor}.x"),
    ("release/1.1.x release/1.2.x release/1.3.x", "1.2.5", "release/1.2.x", "release/{major}.{minor}.x"),
    ("version-14.1 version-14.2 version-15.0", "14.2", "version-14.2", "version-{major}.{minor}"),
    ("release-4.1.8 release-4.1.9 release-4.2.0", "4.1.9", "release-4.1.9", "release-{major}.{minor}.{patch}"),
    ("REL_14_STABLE REL_15_STABLE REL_16_STABLE", "15.3", "REL_15_STABLE", "REL_{major}_STABLE"),
    ("REL9_4_STABLE REL9_5_STABLE REL9_6_STABLE", "9.5.2", "REL9_5_STABLE", "REL{major}_{minor}_STABLE"),
    ("RELEASE-1.1 RELEASE-1.2 RELEASE-1.3", "1.2.7", "RELEASE-1.2", "RELEASE-{major}.{minor}"),
    ("6-0-stable 6-1-stable 7-0-stable", "6.1.4", "6-1-stable", "{major}-{minor}-stable"),
    ("stable-6-0 stable-6-1 stable-7-0", "6.1.4", "stable-6-1", "stable-{major}-{minor}"),
    ("16 17 18", "17.0.2", "17", "{major}"),
    ("v1 v2 v3", "2.4.0", "v2", "v{major}"),
    ("3.9 3.10 3.11", "3.10.4", "3.10", "{major}.{minor}"),
    ("net8.0 net9.0 net10.0", "net10.0", "net10.0", "net{major}.{minor}"),
    ("r1.9 r1.10 r1.11", "1.10.0", "r1.10", "r{major}.{minor}"),
    ("stable/2024.1 stable/2024.2 stable/2025.1", "2024.2", "stable/2024.2", "stable/{major}.{minor}"),
    ("24.04 24.10 25.04", "24.4.1", "24.04", "{major}.{minor}"),
    ("release/1_1 release/1_2 release/1_3", "1.2.1", "release/1_2", "release/{major}_{minor}"),
    ("release/2.1.z release/2.2.z release/2.3.z", "2.2.7", "release/2.2.z", "release/{major}.{minor}.z"),
    ("support/1.1 support/1.2 support/1.10", "1.1.0", "support/1.1", "support/{major}.{minor}"),
    ("lts/4.18 lts/4.19 lts/5.0", "v4.19.7", "lts/4.19", "lts/{major}.{minor}"),
    ("v22.3.x v22.4.x v23.1.x", "22.4.1", "v22.4.x", "v{major}.{minor}.x"),
    ("v/1.2.3.4 v/1.2.3.5 v/1.2.4.0", "1.2.3.5", "v/1.2.3.5", "v/{major}.{minor}.{patch}.{build}"),
]  # fmt: skip


@pytest.mark.parametrize(("branches", "label", "branch", "template"), SPELLINGS)
def test_many_real_spellings(branches: str, label: str, branch: str, template: str) -> None:
    ranking = rank(facts(f"main {branches}", issue=wants(label)))
    assert answer(facts(f"main {branches}", issue=wants(label))) == f"issue-version {branch}"
    assert ranking.convention == Convention(template=template, members=3)


def test_family_words_that_run_together() -> None:
    branches = "main releasebranch_8_2 releasebranch_8_3 releasebranch_8_4"
    assert asks(branches, "8.4.1") == "issue-version releasebranch_8_4"


@pytest.mark.parametrize(
    ("word", "family"),
    [
        ("stable", True),
        ("nextmain", True),
        ("releasestable", True),
        ("releasenotes", False),
        ("unstable", False),
        ("goldstable", False),
        # Shorter ones run together in any word.
        ("stablerc", False),
        ("rcstable", False),
        ("branchdev", False),
        ("devbranch", False),
    ],
)
def test_family_words(word: str, family: bool) -> None:  # noqa: FBT001 - a column of the table
    assert is_family(word) is family


def test_a_word_that_every_line_carries_tells_no_product_apart() -> None:
    assert asks("main blue-3.17 blue-3.18", "3.18.x") == "issue-version blue-3.18"


def test_an_opaque_code_has_no_relation_to_a_number() -> None:
    branches = "main release/R2110 release/R2112 release/R2204"
    ranking = rank(facts(branches, issue=wants("2.1.0")))
    assert asks(branches, "2.1.0") == "default main"
    assert ranking.notes == ("fixVersions 2.1.0: no branch and no release tag here belongs to the line of 2.1.0",)


@pytest.mark.parametrize(("branches", "label", "branch", "_template"), SPELLINGS)
def test_a_version_of_no_line_finds_nothing(branches: str, label: str, branch: str, _template: str) -> None:
    """Without its own branch a label finds no other one of the style."""
    others = " ".join(name for name in branches.split() if name != branch)
    assert asks(f"main {others}", label) == "default main"


# --- what is no line ---


def test_offshoots_are_no_members() -> None:
    found = infer("main release-2.8.x release-2.9.x release-2.8.x-fix-test 12.0.x-upgrade temp-2.10-devel")
    assert found.dominant == "release-{major}.{minor}.x"
    assert found.members == {"release-{major}.{minor}.x": 2}
    assert sorted(found.lines) == ["release-2.8.x", "release-2.9.x"]
    assert sorted(found.topics) == ["12.0.x-upgrade", "release-2.8.x-fix-test", "temp-2.10-devel"]


def test_several_names_of_one_kind_are_lines_whatever_their_words() -> None:
    found = infer("main cut-1.1 cut-1.2 release-1.1 gold-1.1")
    assert sorted(found.lines) == ["cut-1.1", "cut-1.2", "release-1.1"]
    assert found.topics == ("gold-1.1",)


@pytest.mark.parametrize("offshoot", ["release-2.8.x-fix-test", "2.8.x-upgrade", "temp-2.8-devel", "jane/release-2.8"])
def test_an_offshoot_takes_no_version_of_a_line_that_has_its_branch(offshoot: str) -> None:
    assert asks(f"main release-2.8.x release-2.9.x {offshoot}", "2.8.3") == "issue-version release-2.8.x"
    tags = "v2.8.2@release-2.8.x v2.9.0@release-2.9.x"
    assert asks(f"main release-2.8.x release-2.9.x {offshoot}", "2.8.3", tags) == "issue-version release-2.8.x"


def test_a_name_with_several_words_that_nothing_else_has_is_not_surely_a_line() -> None:
    assert asks("main release-2.9.x release-2.10.x release-2.8.x-fix-test-again", "2.8.3") == "default main"


WORK = [
    "gh-readonly-queue/release-8.4/pr-1-abc",
    "cherry-pick-3604-to-release-0.30",
    "cherry-pick/0.30/pr-12",
    "mergify/bp/8.1/pr-2",
    "dependabot/npm/lodash-4.17.21",
    "renovate/foo-1.x",
    "revert-99-release/1.2",
    "feature/8.4",
    "bugfix/8.4.1-login",
    "fix/8.4",
    "hotfix/8.4.1",
    "chore/8.4",
    "backport/8.4",
    "backport-12-to-8.4",
    "copilot/fix-8.4",
    "jane-patch-1",
]


@pytest.mark.parametrize("name", WORK)
def test_bots_queues_and_work_are_left_out(name: str) -> None:
    assert is_work_branch(name, None)
    ranking = rank(facts(f"main release-8.3 release-9.0 {name}", issue=wants("8.4.7")))
    assert names(ranking) == ["main", "release-9.0", "release-8.3"]
    assert f"left out as work branches: 1: {name}" in ranking.notes
    assert ranking.convention == Convention(template="release-{major}.{minor}", members=2)


@pytest.mark.parametrize(
    "name", ["release/8.4", "8.4", "support/8.4", "main", "fixture-8.4", "features8", "prod/8.4", "maint-8.4"]
)
def test_a_line_is_no_work(name: str) -> None:
    assert not is_work_branch(name, None)


def test_own_work_prefixes_replace_the_list() -> None:
    assert is_work_branch("Mine/8.4", ("mine/",))
    assert not is_work_branch("feature/8.4", ("mine/",))
    assert not is_work_branch("feature/8.4", ())


def test_work_is_left_out_and_counted() -> None:
    ranking = rank(facts("main " + " ".join(WORK), issue=wants("0.30.1")))
    assert names(ranking) == ["main"]
    assert (
        f"left out as work branches: {len(WORK)}: backport-12-to-8.4, backport/8.4, bugfix/8.4.1-login, "
        in (ranking.notes[0])
    )
    assert ranking.convention is None


# --- odd names ---

ODD = "main release-1.2 release-1.3 release-compute-v1 release/ release- release/1..2 release-1.2-do-not-use"


def test_odd_names_do_not_take_the_run_down() -> None:
    ranking = rank(facts(ODD, issue=wants("1.2.1")))
    assert ranking.chosen == "release-1.2"
    assert ranking.convention == Convention(template="release-{major}.{minor}", members=2)
    assert "never an answer (git does not allow such a name): 2: release/, release/1..2" in (ranking.notes)


def test_odd_names_are_reported_as_left_out() -> None:
    notes = " ".join(rank(facts(ODD, issue=wants("1.2.1"))).notes)
    assert "release-1.2-do-not-use" in notes
    assert "release-compute-v1" in notes


def test_an_odd_name_answers_to_its_own_words() -> None:
    assert asks(ODD, "compute-v1") == "issue-version release-compute-v1"


@pytest.mark.parametrize("label", ["1.9", "compute-v2", "2.0.0"])
def test_odd_names_take_nothing(label: str) -> None:
    assert asks(ODD, label) == "default main"


NUMBERED = "v7.0.0@main v8.0.0@main v122.0.0@main"


@pytest.mark.parametrize("name", ["PROJ-123", "PROJ-8", "jane/PROJ-8-login"])
@pytest.mark.parametrize("label", ["8", "8.4.1", "123", "8.4", "123.1"])
def test_a_name_like_an_issue_key_is_no_line(name: str, label: str) -> None:
    assert asks(f"main {name}", label, NUMBERED) == "default main"


@pytest.mark.xfail(reason="the number of an issue in a name is read as a version")
@pytest.mark.parametrize(("name", "label"), [("issue-8", "8"), ("8-login", "8")])
def test_a_name_with_the_number_of_an_issue_is_no_line(name: str, label: str) -> None:
    assert asks(f"main {name}", label, NUMBERED) == "default main"


def test_a_key_of_the_issues_own_project_is_no_line() -> None:
    tags = "v7.0.0@main v8.0.0@main v8.1.0@main"
    assert asks("main APP-8 APP-9", "8.2.0", tags) == "default main"


def test_one_bare_number_among_words_covers_nothing() -> None:
    assert asks("main APP-123", "123") == "default main"


# --- digits that run together ---


def test_digits_run_together_where_tags_prove_it() -> None:
    tags = "v4.5.0@stable45 v4.6.0@stable46"
    assert asks("main stable45 stable46", "4.5.1", tags) == "issue-version stable45"
    assert asks("main stable45 stable46", "4.6.0", tags) == "issue-version stable46"
    assert asks("main stable45 stable46", "45.1", tags) == "default main"


def test_digits_run_together_prove_nothing_by_themselves() -> None:
    assert asks("main stable45 stable46", "4.5.1") == "default main"
    # Two ways to cut: 1.12 and 11.2 are both lines.
    assert asks("main stable112", "1.12.1", "v11.2.0@main v1.12.0@main") == "default main"
    # The number itself is a release's first number.
    assert asks("main stable45", "4.5.1", "v45.0.0@main v4.5.0@main") == "default main"


def test_a_bare_number_needs_releases_of_that_number() -> None:
    assert asks("main stable22", "22.0.1", "v1.5.0@main") == "default main"
    assert asks("main stable21 stable22", "22.0.1", "v21.0.0@stable21") == "issue-version stable22"


# --- templates ---


@pytest.mark.parametrize(
    ("name", "template"),
    [
        ("release/8.4.0", "release/{major}.{minor}.{patch}"),
        ("7-1-stable", "{major}-{minor}-stable"),
        ("1.2.3.4.5", "{major}.{minor}.{patch}.{build}.{n}"),
        ("release-2.8.x-fix-1", "release-{major}.{minor}.x-fix-1"),
        ("main", None),
    ],
)
def test_templates(name: str, template: str | None) -> None:
    reading = read_branch(name)
    assert (reading.template if reading else None) == template


def test_the_template_with_most_lines_dominates() -> None:
    found = infer("main v1.0 v1.1 release/1.0 release/1.1 release/1.2 support/1.0")
    assert found.dominant == "release/{major}.{minor}"
    assert found.members == {
        "release/{major}.{minor}": 3,
        "v{major}.{minor}": 2,
        "support/{major}.{minor}": 1,
    }


def test_one_name_makes_no_convention() -> None:
    assert infer("main release/1.0").dominant is None
    assert rank(facts("main release/1.0")).convention is None


def test_twins_of_one_version_are_one_member() -> None:
    found = infer("main release/1.0 release/1.00 release/1.1")
    assert found.members == {"release/{major}.{minor}": 2}


def test_pre_releases_are_members_of_a_template_of_their_own() -> None:
    found = infer("main release/1.0 release/1.1 release/2.0-rc1 release/2.0-rc2 release/1.2")
    assert found.members == {"release/{major}.{minor}": 3, "release/{major}.{minor}-rc{n}": 2}
    assert found.dominant == "release/{major}.{minor}"


def test_families_side_by_side_and_a_renamed_scheme() -> None:
    branches = "main 6-0-stable 6-1-stable release/7.0 release/7.1 support/7.0"
    assert asks(branches, "6.1.4") == "issue-version 6-1-stable"
    assert asks(branches, "7.1.4") == "issue-version release/7.1"
    assert asks(branches, "7.0.4") == "tied release/7.0 support/7.0"


def test_releases_decide_between_two_branches_of_one_line() -> None:
    branches = "main release/7.0 release/7.1 release/7.2 support/7.0"
    assert asks(branches, "7.0.4", "v7.0.3@support/7.0") == "issue-version support/7.0"
    assert asks(branches, "7.0.4", "v7.0.3@release/7.0") == "issue-version release/7.0"


@pytest.mark.parametrize("word", ["staging", "integration", "next", "dev", "lts"])
def test_beside_the_branch_that_carries_the_line_another_of_its_version_takes_nothing(word: str) -> None:
    tags = "v8.0.0@release/8.0 v8.1.0@release/8.1"
    branches = f"main release/8.0 release/8.0-{word} release/8.1"
    assert asks(branches, "8.0.1", tags) == "issue-version release/8.0"


def test_newest_first_is_by_number() -> None:
    branches = "main release release-1.8 release-1.9 release-1.10 release-1.102"
    ranking = rank(facts(branches, default=None))
    assert [n for n in names(ranking) if n.startswith("release-")] == [
        "release-1.102",
        "release-1.10",
        "release-1.9",
        "release-1.8",
    ]
    assert names(ranking)[-1] == "release"


def test_dates_do_not_order_lines() -> None:
    branches = "main release-1.9 release-1.10"
    early = facts(branches, dates={"release-1.9": 1, "release-1.10": 300})
    late = facts(branches, dates={"release-1.9": 300, "release-1.10": 1})
    assert names(rank(early)) == names(rank(late)) == ["main", "release-1.10", "release-1.9"]


def test_words_and_numbers_after_the_version() -> None:
    branches = "main 4.7-HBase-1.1 4.7-HBase-1.2 4.8-HBase-1.1 4.8-HBase-1.2"
    for tags in (
        "",
        releases("4.8-HBase-1.2", "4.8.0-HBase-1.2") + releases("4.8-HBase-1.1", "4.8.0-HBase-1.1"),
    ):
        assert asks(branches, "4.8.1-HBase-1.2", tags) == "issue-version 4.8-HBase-1.2"
        assert asks(branches, "4.8.1-HBase-1.1", tags) == "issue-version 4.8-HBase-1.1"
        # Two fit as well as each other: a question.
        assert asks(branches, "4.8.1-HBase-1.3", tags) == "tied 4.8-HBase-1.1 4.8-HBase-1.2"
        assert not asks(branches, "4.8.1", tags).startswith("issue-version")


# --- which names are lines, one by one ---


@pytest.mark.parametrize(
    ("branches", "tags", "name", "line"),
    [
        # A bare number is a line's where releases have, or will next have, such a first number.
        ("main stable22", "", "stable22", True),
        ("main stable22", "v22.0.0@main", "stable22", True),
        ("main stable22", "v21.0.0@main", "stable22", True),
        ("main stable22", "v1.5.0@main", "stable22", False),
        # Or where several names of the family's own words have one.
        ("main stable21 stable22", "v1.5.0@main", "stable22", True),
        ("main 21 22", "v1.5.0@main", "22", True),
        ("main app21 app22", "v1.5.0@main", "app22", False),
        ("main gold21 gold22", "v1.5.0@main", "gold22", False),
        ("main APP-1-stable", "", "APP-1-stable", True),
        ("main REL-14", "", "REL-14", True),
        # Numbers behind the version tell of something else, unless releases of the version are there.
        ("main release/1.2-3", "", "release/1.2-3", False),
        ("main release/1.2-3", "v1.2.0@release/1.2-3", "release/1.2-3", True),
        # A word that nothing else carries, unless releases of the version are there, or siblings.
        ("gold-8.4 release/8.3", "", "gold-8.4", False),
        ("gold-8.4 release/8.3", "v8.4.0@gold-8.4", "gold-8.4", True),
        ("gold-8.4 release/8.3", "v8.3.0@gold-8.4", "gold-8.4", False),
        ("gold-8.4 gold-8.5", "v8.5.0@gold-8.5", "gold-8.4", True),
        ("gold-8.4 gold-8.5", "", "gold-8.4", True),
        ("gold-8.4 release/8.3", "gold-8.1.0@main", "gold-8.4", True),
    ],
)
def test_whether_a_name_is_a_line(branches: str, tags: str, name: str, line: bool) -> None:  # noqa: FBT001 - a column of the table
    found = infer(branches, tags)
    assert (name in found.lines) is line
    assert (name in found.topics) is not line


def test_the_default_branch_is_a_line_whatever_its_words() -> None:
    assert "gold-8.4" in infer("gold-8.4 release/8.3", default="gold-8.4").lines


@pytest.mark.parametrize(
    ("name", "tags", "admitted", "line"),
    [
        ("feature/8.4", "", frozenset(), False),
        ("feature/8.4", "", frozenset({"feature/8.4"}), True),
        ("feature/8.4", "v8.4.0@feature/8.4", frozenset(), True),
        ("feature/8.4", "v8.3.0@feature/8.4", frozenset(), False),
    ],
)
def test_a_work_branch_is_a_line_if_it_carries_its_releases_or_is_admitted(
    name: str,
    tags: str,
    admitted: frozenset[str],
    line: bool,  # noqa: FBT001 - a column of the table
) -> None:
    record = Record(map(tag, tags.split()), own_words("acme/app"))
    found = infer_conventions(tell_work(["main", name]), record=record, default="main", admitted=admitted)
    assert (name in found.lines) is line
    assert (name in found.work) is not line


def test_a_work_branch_that_is_spelled_as_the_version_is_read_and_is_no_line() -> None:
    record = Record((), own_words("acme/app"))
    names_ = tell_work(["main", "hotfix/8.4.1", "hotfix/8.4.2"])
    found = infer_conventions(names_, record=record, default="main", spelled=["8.4.1"])
    assert set(found.readings) == {"hotfix/8.4.1"}
    assert not found.lines


def test_the_words_that_are_asked_for_make_a_line_plain() -> None:
    record = Record((), own_words("acme/app"))
    asked = infer_conventions(tell_work(["widget-1.2"]), record=record, default=None, named=frozenset({"widget"}))
    assert "widget-1.2" in asked.lines
    assert "widget-1.2" not in infer("widget-1.2").lines


def test_of_two_templates_with_as_many_members_the_shorter_is_the_convention() -> None:
    assert infer("release/2.0 release/2.1 1.0 1.1").dominant == "{major}.{minor}"


def test_a_version_with_too_few_numbers_has_no_name_under_a_template() -> None:
    assert name_under("{major}.{minor}.{patch}", Version((9, 5))) is None
    assert name_under("v/{major}.{minor}.{patch}.{build}", Version((1, 2, 3, 4))) == "v/1.2.3.4"


@pytest.mark.parametrize(
    ("branches", "version", "name"),
    [
        ("main 24.04 24.10 25.04", (26, 4), "26.04"),
        ("main v1.1 v1.2", (1, 3, 5), "v1.3"),
        ("main rel/01.1 rel/02.1", (3, 1), "rel/03.1"),
        ("main release/1.1.0 release/1.2.0", (1, 3), None),
        ("main release/1.1", (1, 2), None),
    ],
)
def test_the_name_of_a_missing_branch_is_as_wide_as_its_siblings(
    branches: str, version: tuple[int, ...], name: str | None
) -> None:
    assert infer(branches).name_for(Version(version)) == name
