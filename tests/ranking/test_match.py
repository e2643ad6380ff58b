"""One version against one repository: which rule gave the branch, in its own words, and what each rule leaves alone."""

from __future__ import annotations

import pytest

from ranking.match import line_size, match
from ranking.rank import rank, read_asked
from ranking.versions import read_label
from tests.ranking.facts_builder import asks, details, facts, names, releases, wants

# Code names: what was released tells more than the names do.
LATER = "v20.0.0@stable/zed v21.0.0@main"
LINES = "main 6.x 7.x 8.0.x 8.1.x 8.2.x stable/owl"


@pytest.mark.parametrize(
    ("branches", "label", "tags", "branch", "reason"),
    [
        # By name: exactly, by its line, and what the branch carries beside.
        ("main 17.x 18.x", "widget 17.x", "", "17.x", "this branch's version"),
        ("main 1.2 1.3", "1.2.1", "v1.2.0@1.2", "1.2", "covered by this branch's 1.2, and it carries v1.2.0"),
        ("main 1.2 1.3", "1.2", "v1.2.0@1.2 v1.3.0@1.3", "1.2", "this branch's version, and it carries v1.2.0"),
        ("main 8.0-staging 8.1-staging", "8.0.1", "", "8.0-staging", "covered by this branch's 8.0"),
        ("main release/2-rc1", "2.0.0-rc1", "", "release/2-rc1", "this branch's version"),
        # A branch of a whole release takes the patch of that patch after the release, too.
        (
            "main 1.2.0 1.3.0",
            "1.2.0.1",
            "v1.2.0@1.2.0 v1.3.0@1.3.0",
            "1.2.0",
            "covered by this branch's 1.2.0, and it carries v1.2.0",
        ),
        ("main 1.2.0 1.2.x", "1.2.0", "v1.2.0@1.2.0", "1.2.x", "covered by this branch's 1.2.x"),
        # What is out with the tail that is asked for is out; then its releases tell, and not its name.
        (
            "main 4.8.0-HBase-1.2 4.9.0-HBase-1.2",
            "4.8.0-HBase-1.2",
            "v4.8.0-HBase-1.2@4.8.0-HBase-1.2",
            "4.8.0-HBase-1.2",
            "it carries v4.8.0-HBase-1.2, the newest release of the line of 4.8.0",
        ),
        # Where several names have a fourth number, the name with it says most.
        ("main 8.3.0 8.4.0 8.3.0.0 8.4.0.0", "8.4.0", "", "8.4.0.0", "this branch's version"),
        # A coarse name yields to the branch of the newest release; not to the trunk, nor where nobody looked.
        (
            LINES,
            "7.3.2",
            "v7.3.1@stable/owl",
            "stable/owl",
            "it carries v7.3.1, the newest release of the line of 7.3.2",
        ),
        (LINES, "7.3.2", "v7.3.1@main", "7.x", "covered by this branch's 7.x"),
        (LINES, "7.3.2", "v7.3.1", "7.x", "covered by this branch's 7.x"),
        (LINES, "8.0.2", "v8.0.1@stable/owl", "8.0.x", "covered by this branch's 8.0.x"),
        # A line lost its branch: a lone name is trusted unless another template is far commoner.
        ("main release-1.1 release-1.2 v1.0", "1.0.2", "v1.0.1@", "v1.0", "covered by this branch's 1.0"),
        (
            "main release-1.1 release-1.2 release-1.3 v1.0 stable/owl",
            "1.0.2",
            "v1.0.1@stable/owl",
            "v1.0",
            "covered by this branch's 1.0",
        ),
        # A coarse lone name is trusted with the line's newest release on it, or with the newest that it covers.
        (
            "main 1.x 1.6 2.1 2.2",
            "1.5.2",
            "v1.5.1@1.x v1.6.0@1.6",
            "1.x",
            "covered by this branch's 1.x, and it carries v1.5.1",
        ),
        ("main 1.x 2.1 2.2 2.3", "1.7.0", "v1.6.3@1.x v2.1.0@2.1", "1.x", "covered by this branch's 1.x"),
        ("main js-1.x js-2.1 js-2.2", "js 1.7.0", "js-v1.6.3@js-1.x", "js-1.x", "covered by this branch's 1.x"),
        # The next release of the line, where its branch carries a release of the line.
        (
            "main release-7.17.3 release-7.17.9 release-7.17.10 release-8.0.0",
            "7.17.x",
            "v7.17.3@release-7.17.3",
            "release-7.17.10",
            "it is the highest version in the line of 7.17.x that is not released yet",
        ),
        (
            "main 8.4.2 8.4.5 stable/owl",
            "8.4.3",
            "v8.4.2@stable/owl v8.4.1@8.4.5 v8.4.0",
            "8.4.5",
            "it is the highest version in the line of 8.4.3 that is not released yet",
        ),
        (
            "main 8.4.5 stable/owl",
            "8.4.3",
            "v8.4.2@stable/owl v8.3.9@8.4.5",
            "stable/owl",
            "it carries v8.4.2, the newest release of the line of 8.4.3",
        ),
        (
            "main 8.4.2 stable/owl",
            "8.4.3",
            "v8.4.1@stable/owl v8.4.0@8.4.2",
            "stable/owl",
            "it carries v8.4.1, the newest release of the line of 8.4.3",
        ),
        # Several carry the same release: a line goes before a code name, the last of a chain before those it came from.
        (
            "main stable/owl release/1.3",
            "1.2.3",
            "v1.2.2@stable/owl,release/1.3",
            "release/1.3",
            "it carries v1.2.2, the newest release of the line of 1.2.3",
        ),
        (
            "main release/1.3 release/1.4 v1.9",
            "1.2.3",
            "v1.2.2@release/1.3,v1.9",
            "release/1.3",
            "it carries v1.2.2, the newest release of the line of 1.2.3",
        ),
        # A line of versions of two numbers has one, and so it is with a tail.
        (
            "main stable/owl",
            "1.2",
            "v1.0@main v1.1@stable/owl",
            "stable/owl",
            "it carries v1.1, the newest release of the line of 1.2",
        ),
        (
            "main stable/owl",
            "4.9-HBase-1.2",
            "v4.8-HBase-1.2@stable/owl",
            "stable/owl",
            "it carries v4.8-HBase-1.2, the newest release of the line of 4.9",
        ),
        (
            "main branch-3.3 branch-3.4",
            "3.2.5",
            "v3.2.4@branch-3.3,branch-3.4",
            "branch-3.4",
            "it carries v3.2.4, the newest release of the line of 3.2.5",
        ),
        (
            "main app-stable",
            "1.2.4",
            "v1.2.3@app-stable v1.3.0@main",
            "app-stable",
            "it carries v1.2.3, the newest release of the line of 1.2.4",
        ),
        # A wider line than the names tell: only where its name says no other version, and the trunk has gone on.
        (
            "main stable/zed",
            "20.1.0",
            f"{LATER} v22.0.0@main",
            "stable/zed",
            "it carries v20.0.0, the newest release before 20.1.0; v21.0.0 was made elsewhere since",
        ),
        (
            "main stable/zed",
            "20.1.0",
            f"{LATER} v20.2.0@main",
            "stable/zed",
            "it carries v20.0.0, the newest release before 20.1.0; v20.2.0 was made elsewhere since",
        ),
        (
            "main stable/zed stable/owl",
            "20.2.0",
            f"{LATER} v20.1.0@stable/owl",
            "stable/owl",
            "it carries v20.1.0, the newest release before 20.2.0; v21.0.0 was made elsewhere since",
        ),
        (
            "main stable/2025.1",
            "26.1.0",
            "v26.0.0@stable/2025.1 v27.0.0@main",
            "stable/2025.1",
            "it carries v26.0.0, the newest release before 26.1.0; v27.0.0 was made elsewhere since",
        ),
    ],
)
def test_the_branch_and_the_rule_that_gave_it(branches: str, label: str, tags: str, branch: str, reason: str) -> None:
    ranking = rank(facts(branches, tags=tags, issue=wants(label)))
    assert ranking.chosen == branch
    claims = [d for d in details(ranking, branch) if f"fixVersions {label}" in d]
    assert claims == [f"issue-version +100: fixVersions {label}: {reason}"]


@pytest.mark.parametrize(
    ("branches", "label", "tags", "why"),
    [
        ("main 17 18", "big widget 17", "", "a bare number beside big widget, which nothing here carries"),
        ("main", "1.0.0", "", "nothing here has a version; no branch is cut for it"),
        (
            "main",
            "5.0.0-HBase-1.2",
            "v4.8.0-HBase-1.2@main",
            "newer than v4.8.0-HBase-1.2, the newest here; no branch is cut for it",
        ),
        # It is not the next release of its line once it is out, and a bare number names no line to complete.
        (
            "main 7.17.3 8.0.0",
            "7.17.x",
            "v7.17.3@main",
            "v7.17.3, the newest release of the line of 7.17.x, was made on main",
        ),
        ("main 8.4.0 8.4.1", "8", "", "no branch and no release tag here belongs to the line of 8"),
        # What is out already, or says too little, takes nothing.
        (
            "main 6.x 7.x 8.0.x 8.1.x 8.2.x",
            "7.3.2",
            "v7.3.1@",
            "v7.3.1, the newest release of the line of 7.3.2, sits on no listed branch",
        ),
        (
            "main release-1.1 release-1.2 release-1.3 v1.0",
            "1.0.2",
            "v1.0.1@",
            "v1.0.1, the newest release of the line of 1.0.2, sits on no listed branch",
        ),
        (
            "main 1.x 2.1 2.2 2.3",
            "1.7.0",
            "v1.6.3@main v2.1.0@2.1",
            "no branch and no release tag here belongs to the line of 1.7.0",
        ),
        (
            "main 1.x 2.1 2.2 2.3",
            "1.7.0",
            "v1.6.3 v2.1.0@2.1",
            "no branch and no release tag here belongs to the line of 1.7.0",
        ),
        # It is coarse beside the finest names that go together, whatever coarser ones do.
        (
            "main 1.x stable8 stable9 v2.1 v2.2",
            "1.7.0",
            "",
            "no branch and no release tag here belongs to the line of 1.7.0",
        ),
        # A number that is no version of this repository covers none.
        (
            "main stable21 stable22",
            "22.0.1",
            "v1.5.0@stable22",
            "newer than stable22, the newest here; no branch stable22 is cut for it",
        ),
        (
            "main stable21 stable22",
            "22",
            "v1.5.0@stable22",
            "no branch and no release tag here belongs to the line of 22",
        ),
        # A module that counts by itself has no branch among the versions of the whole.
        (
            "main 2.0 2.1",
            "client 2.0.6",
            "v2.0.0@2.0 v7.0.0@main v8.0.0@main v9.0.0@main v10.0.0@main client/v2.0.5@main",
            "client/v2.0.5, the newest release of the line of 2.0.6, was made on main",
        ),
        # Carriers that are no lines by their names: five are named.
        (
            "main gold amber beryl coral ebony fawn",
            "17.2.7",
            "v17.2.6@gold,amber,beryl,coral,ebony,fawn v18.0.0@main",
            "v17.2.6 sits only on amber, beryl, coral, ebony, fawn, no release line by its name",
        ),
        (
            "main stable-patch",
            "1.2.4",
            "v1.2.3@stable-patch",
            "v1.2.3 sits only on stable-patch, no release line by its name",
        ),
        (
            "main stable/old/owl",
            "1.2.4",
            "v1.2.3@stable/old/owl",
            "v1.2.3 sits only on stable/old/owl, no release line by its name",
        ),
        # No wider line: nothing later, a line that is asked for, nobody looked, several, the trunk, another version.
        (
            "main stable/zed",
            "20.1.0",
            "v20.0.0@stable/zed",
            "newer than v20.0.0, the newest here; no branch is cut for it",
        ),
        ("main stable/zed", "20.1.x", LATER, "no branch and no release tag here belongs to the line of 20.1.x"),
        ("main", "20.1.0", "v20.0.0 v21.0.0@main", "no branch and no release tag here belongs to the line of 20.1.0"),
        (
            "main stable/zed stable/owl",
            "20.1.0",
            "v20.0.0@stable/zed,stable/owl v21.0.0@main",
            "no branch and no release tag here belongs to the line of 20.1.0",
        ),
        (
            "main stable/zed",
            "20.1.0",
            "v20.0.0@stable/zed,main v21.0.0@main",
            "no branch and no release tag here belongs to the line of 20.1.0",
        ),
        (
            "main 27.9",
            "26.1.0",
            "v26.0.0@27.9 v27.0.0@main",
            "no branch and no release tag here belongs to the line of 26.1.0",
        ),
        (
            "main stable/gold-2025.1 stable/gold-2025.2",
            "26.1.0",
            "v26.0.0@stable/gold-2025.1 v27.0.0@main",
            "no branch and no release tag here belongs to the line of 26.1.0",
        ),
        # A release beyond the newest branch: an older version is not "not cut yet".
        ("main 1.0", "2.0.0", "v3.0.0@main", "no branch and no release tag here belongs to the line of 2.0.0"),
        ("main stable/owl", "3.1.2", "v3.1.1", "nobody looked which branches carry v3.1.1"),
    ],
)
def test_nothing_takes_it_and_why(branches: str, label: str, tags: str, why: str) -> None:
    ranking = rank(facts(branches, tags=tags, issue=wants(label)))
    assert ranking.chosen == "main"
    assert f"fixVersions {label}: {why}" in ranking.notes
    kinds = {d.split()[0] for name in names(ranking) for d in details(ranking, name)}
    assert "issue-version" not in kinds


def test_nothing_is_said_to_be_missing_from_a_list_that_is_not_complete() -> None:
    ranking = rank(facts("main 4.1.0 4.2.0", issue=wants("4.1.1"), complete=False))
    assert "fixVersions 4.1.1: no branch of 4.1.1 is known here, and the list is not complete" in ranking.notes
    assert details(ranking, "4.1.0")[0].startswith("version-convention +6: fixVersions 4.1.1: ")


@pytest.mark.parametrize(
    ("label", "tags", "waits"),
    [
        ("1.0.0", "", True),  # nothing here has a version
        ("2.0.0", "v1.0.0@main", True),  # newer than all
        ("1.0.1", "v1.0.0@main", True),  # made on the trunk so far
        ("1.0.1", "v1.0.0@", False),  # lost
        ("1.0.1", "v1.0.0@gold", False),  # on no line
        ("1.0.1", "v1.0.0", False),  # nobody looked
        ("0.9.0", "v1.0.0@main", False),  # of no line
        ("big widget 17", "", False),  # a number of something else
    ],
)
def test_when_the_development_branch_takes_it_for_now(label: str, tags: str, waits: bool) -> None:  # noqa: FBT001 - a column of the table
    said = details(rank(facts("main gold", tags=tags, issue=wants(label))), "main")
    assert any(d.startswith(f"version-convention +15: fixVersions {label}: ") for d in said) is waits


@pytest.mark.parametrize(
    ("label", "tags", "lost"),
    [
        ("1.0.1", "v1.0.0@", True),
        ("1.0.1", "v1.0.0@gold", True),
        ("1.0.1", "v1.0.0@main", False),
        ("1.0.1", "v1.0.0@stable/owl", False),
        ("1.0.1", "v1.0.0", False),
        ("2.0.0", "v1.0.0@", False),
    ],
)
def test_a_line_is_lost_where_no_branch_that_could_be_its_own_carries_its_newest_release(
    label: str,
    tags: str,
    lost: bool,  # noqa: FBT001 - a column of the table
) -> None:
    wanted = read_label(label)
    assert wanted is not None
    repo = read_asked(facts("main gold stable/owl", tags=tags, issue=wants(label))).repo
    assert match(wanted, repo).lost is lost


def test_all_that_carry_the_release_alike_are_told_in_their_order() -> None:
    owls = [f"stable/owl{c}" for c in "fdbace"]
    bundle = facts(["main", *owls], tags=f"v1.0.0@{','.join(owls)}", issue=wants("1.0.1"))
    assert rank(bundle).notes == (f"fixVersions 1.0.1: 6 branches take it alike: {', '.join(sorted(owls)[:5])}, ...",)
    tags = "v1.2.2@release/1.3,v1.9,stable/owl"
    assert asks("main release/1.3 v1.9 stable/owl", "1.2.3", tags) == "tied release/1.3 v1.9"


def test_a_name_without_a_version_is_no_lower_than_that_of_another_versions_candidate() -> None:
    tags = "v3.2-rc1@release/8.8-rc1,staging"
    assert asks("main release/8.8-rc1 staging", "3.2", tags) == "tied release/8.8-rc1 staging"


def test_a_patch_of_a_patch_adds_no_branch_to_the_release_of_the_same_version() -> None:
    tags = "v8.3.0@main v8.4.0@stable/owl v8.4.0.0@stable/zed v8.5.0@main"
    assert asks("main stable/owl stable/zed", "8.4.1", tags) == "issue-version stable/owl"


ONE_VERSION = "a branch for one version of the line does not take"
ALONE = "but the name stands alone and carries no release of the line"


@pytest.mark.parametrize(
    ("branches", "label", "tags", "near"),
    [
        ("main 4.1.0 4.1.0-rc1 4.2.0", "4.1.1", "", {"4.1.0": f"+6: named for 4.1.0; {ONE_VERSION} 4.1.1"}),
        ("main release-5", "5.1.0", "", {"release-5": f"+6: 5 would cover 5.1.0, {ALONE}"}),
        ("main 1.2.0 1.3.0", "1.2.0", "v1.2.0@main", {"1.2.0": "+6: named for 1.2.0, which is released already"}),
        ("main 1.2.0 1.2.x", "1.2.0", "v1.2.0@1.2.0", {"1.2.0": "+12: named for 1.2.0, which is released already"}),
        ("main stable21 stable22", "22.0.1", "v1.5.0@stable22", {}),
        ("main 1.0", "1.2", "v1.0@1.0 v1.1@main", {"1.0": f"+6: named for 1.0; {ONE_VERSION} 1.2"}),
        ("main 3.1.0", "3.1.2", "v3.1.1", {"3.1.0": f"+6: named for 3.1.0; {ONE_VERSION} 3.1.2"}),
        ("main 3.1.0", "3.1.2", "v3.1.1@", {"3.1.0": f"+6: named for 3.1.0; {ONE_VERSION} 3.1.2"}),
        ("main 3.1.0 gold", "3.1.2", "v3.1.1@gold", {"3.1.0": f"+6: named for 3.1.0; {ONE_VERSION} 3.1.2"}),
        (
            "main stable/owl 8.4.2",
            "8.4.3",
            "v8.4.1@stable/owl",
            {"8.4.2": f"+12: named for 8.4.2; {ONE_VERSION} 8.4.3"},
        ),
        (
            "main 7.17.3 7.17.4",
            "7.17.x",
            "v7.17.3@7.17.3",
            {"7.17.3": f"+12: named for 7.17.3; {ONE_VERSION} 7.17.x"},
        ),
        ("main stable/zed 20", "20.1.0", LATER, {"20": f"+12: 20 would cover 20.1.0, {ALONE}"}),
    ],
)
def test_what_comes_near_is_said_and_nothing_else(branches: str, label: str, tags: str, near: dict[str, str]) -> None:
    ranking = rank(facts(branches, tags=tags, issue=wants(label)))
    said = {
        name: d.removeprefix("version-convention ").replace(f"fixVersions {label}: ", "")
        for name in names(ranking)
        for d in details(ranking, name)
        if f"fixVersions {label}" in d and name not in (ranking.chosen, "main")
    }
    assert said == near


# --- how many components make a line ---

OLD_AND_NEW = releases("main", " ".join(f"1.{n}" for n in range(30))) + releases(
    "main", " ".join(f"2.{n}.0" for n in range(20))
)


@pytest.mark.parametrize(
    ("branches", "tags", "label", "size"),
    [
        ("main", "", "8.4.1", 2),
        ("main", "", "8", 1),
        ("main", "", "7.17.x", 2),
        ("main", "", "7.x", 1),
        ("main v1 v2", "v1.0.0@v1", "1.0.x", 2),
        ("main 7.1.1 7.1.2", "v7.1.1@7.1.1", "7.1.x", 2),
        ("main release/1.0 release/1.1", "v1.0.0@release/1.0", "1.0.1", 2),
        ("main v1 v2", "v1.0.0@v1", "1.0.1", 1),
        ("main v1.x v2.x 2.0.0", "v1.0.0@v1.x", "1.0.1", 1),
        ("main 1.0.0 1.0.1", "v1.0.0@1.0.0", "1.0.2", 2),
        ("main 1.0.0.1 1.0.0.2", "v1.0.0.1@1.0.0.1", "1.0.0.3", 3),
        # All that a release has is never a line.
        ("main", "v1@main v2@main", "3.0", 1),
        # The newest releases tell how versions are written now; pre-releases do not.
        ("main", OLD_AND_NEW, "2.20.0", 2),
        ("main", "v1.0.0@main v2.0-rc1@main v3.0-rc1@main", "3.0.1", 2),
        ("main", "v1.0.0@main v1.0.1@main v1.0.1.1@main", "1.0.1.2", 2),
        ("main", "v1.0.0@main v1.0.1.1@main", "1.0.1.2", 3),
        # Finer lines inside the same coarser one, of the same product.
        ("main stable8 stable9 stable8.1", "v8.0.0@main v9.0.0@main", "8.1.2", 2),
        ("main stable8 stable9 stable8.1", "v8.0.0@main v9.0.0@main", "9.1.2", 1),
        ("main stable8 stable9 stable8.1 stable8.1.2", "v8.0.0.0@main v9.0.0.0@main", "8.1.2.1", 3),
        ("main stable8 stable9 js-8.1", "v8.0.0@main v9.0.0@main js-8.1.0@js-8.1", "8.1.2", 1),
    ],
)
def test_how_many_components_make_a_line(branches: str, tags: str, label: str, size: int) -> None:
    wanted = read_label(label)
    assert wanted is not None
    repo = read_asked(facts(branches, tags=tags, issue=wants(label))).repo
    assert line_size(wanted.version, repo, frozenset(), ()) == size


# --- words that set a branch aside, and twins ---


@pytest.mark.parametrize(
    "word", ["alpha", "beta", "rc", "preview", "pre", "milestone", "staging", "integration", "next"]
)
def test_a_branch_set_aside_yields_to_the_line_itself(word: str) -> None:
    assert asks(f"main release/8.0 release/8.0-stable-{word} release/8.1", "8.0.1") == "issue-version release/8.0"


@pytest.mark.parametrize("word", ["-dev", "_devel", ".develop", "-development", "-DEV"])
def test_every_spelling_of_a_development_twin(word: str) -> None:
    assert asks(f"main v8.x v8.x{word}", "8.57.1", f"v8.57.0@v8.x,v8.x{word}") == f"issue-version v8.x{word}"


def test_a_folder_of_work_carries_no_line_though_its_words_are_a_lines() -> None:
    assert asks("main staging/release", "1.2.4", "v1.2.3@staging/release v1.3.0@main") == "default main"
