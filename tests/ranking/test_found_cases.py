"""Cases that an earlier matcher got wrong, each with relatives of the same kind: only the outcome counts."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ranking.facts import Branch, Facts
from ranking.ranker import rank
from tests.ranking.facts_builder import answer, asks, candidate, details, facts, names, releases, wants
from tests.support.program import resolve, settled
from tests.support.repositories import Repo, Workshop


def each(lines: str, prefix: str = "") -> str:
    """One tag on each branch, named for the version in the branch's name."""
    versions = (
        (line, "".join(c for c in line.rpartition("/")[2] if c.isdigit() or c == ".")) for line in lines.split()
    )
    return " ".join(f"{prefix}{version}@{line}" for line, version in versions)


# --- the next line of two numbers, where tags have as many ---


@pytest.mark.parametrize(
    ("lines", "label", "missing"),
    [
        ("release/1.3 release/1.4 release/1.5", "1.6", "release/1.6"),
        ("release/2026.01 release/2026.02 release/2026.03", "2026.04", "release/2026.04"),
        ("rel/24.03 rel/24.06 rel/24.09", "24.12", "rel/24.12"),
        ("series/7 series/8", "9", "series/9"),
    ],
)
def test_the_next_line_is_no_later_release_of_the_one_before(lines: str, label: str, missing: str) -> None:
    bundle = facts(f"main {lines}", tags=each(lines), issue=wants(label))
    assert answer(bundle) == "default main"
    assert rank(bundle).notes[0].endswith(f"no branch exists for it yet (it would be {missing})")


@pytest.mark.parametrize("label", ["5.2", "5.2.x", "6.0"])
def test_the_next_release_of_a_trunk_that_carries_them_all_is_made_on_the_development_branch(label: str) -> None:
    tags = releases("master", "4.9 5.0 5.1", "")
    assert asks("master develop", label, tags, default="develop") == "default develop"


# --- several products ---


@pytest.mark.parametrize(
    ("branches", "label", "tags", "tied"),
    [
        (
            "main release/a/1.2 release/b/1.2",
            "1.2.1",
            "a-v1.2.0@release/a/1.2 b-v1.2.0@release/b/1.2",
            "release/a/1.2 release/b/1.2",
        ),
        (
            "main client/3.0 server/3.0",
            "3.0.1",
            "client-3.0.0@client/3.0 server-3.0.0@server/3.0",
            "client/3.0 server/3.0",
        ),
        (
            "main x/2.4 x/2.5 y/2.4 y/2.5",
            "2.5.1",
            "x-v2.4.0@x/2.4 x-v2.5.0@x/2.5 y-v2.4.0@y/2.4 y-v2.5.0@y/2.5",
            "x/2.5 y/2.5",
        ),
        # Without tags, also where one product has more lines than the other.
        (
            "main releases/api/v1.1 releases/api/v1.2 releases/cli/v1.2",
            "1.2.4",
            "",
            "releases/api/v1.2 releases/cli/v1.2",
        ),
        ("main android/4.0 android/4.1 ios/4.1", "4.1.3", "", "android/4.1 ios/4.1"),
        ("main win/8.1 win/8.2 mac/8.2", "8.2.1", "", "mac/8.2 win/8.2"),
        ("main core/1.47 core/1.48 core/1.49 cloud/1.48 cloud/1.49", "1.49.2", "", "cloud/1.49 core/1.49"),
    ],
)
def test_two_products_with_that_line_tie(branches: str, label: str, tags: str, tied: str) -> None:
    assert asks(branches, label, tags) == f"tied {tied}"


@pytest.mark.parametrize(
    ("branches", "label", "near"),
    [
        (
            "main release-2.9 release-2.10 release-sdk-2.9 release-sdk-2.10 release-sdk-2.11",
            "2.11.1",
            "release-sdk-2.11",
        ),
        (
            "main release-1.4 release-1.5 release-plugin-1.4 release-plugin-1.5 release-plugin-1.6",
            "1.6.0",
            "release-plugin-1.6",
        ),
        ("main v5.0 v5.1 tools-v5.0 tools-v5.1 tools-v5.2", "5.2.0", "tools-v5.2"),
    ],
)
def test_a_line_that_only_another_product_has_comes_near(branches: str, label: str, near: str) -> None:
    ranking = rank(facts(branches, issue=wants(label)))
    assert ranking.chosen == "main"
    assert details(ranking, near)[0].startswith(f"version-convention +6: fixVersions {label}: ")
    assert not any(f"it would be {near}" in note for note in ranking.notes)


# --- one remote, one answer ---


@pytest.mark.parametrize(("default", "label"), [("master", "5.1.1"), ("trunk", "5.2.0")])
def test_one_remote_gives_one_answer(workshop: Workshop, default: str, label: str) -> None:
    remote = workshop.init("app.git", "--bare", "--initial-branch", default, commit=False)
    work = workshop.clone(remote, "work")
    work.commit()
    work.git("branch", "develop")
    for version in ("5.0.0", "5.1.0"):
        merge_a_release(work, version)
    work.git("push", "--quiet", "origin", f"HEAD:{default}", "develop", "--tags")
    clone = workshop.clone(remote, "clone")
    answers = []
    for pointer in (default, "develop", None):
        clone.git("remote", "set-head", "origin", *([pointer] if pointer else ["--delete"]))
        answers.append(settled(resolve(clone.path, "--issue-version", label))[::3])
    assert answers == [("develop", "default")] * 3


def merge_a_release(repo: Repo, version: str) -> None:
    """Make a release as gitflow does: on a branch from develop that is merged, tagged and deleted."""
    repo.git("checkout", "--quiet", "-b", f"release/{version}", "develop")
    repo.commit(version)
    repo.git("checkout", "--quiet", "-")
    repo.git("merge", "--quiet", "--no-ff", "--message", f"merge {version}", f"release/{version}")
    repo.git("tag", f"v{version}")
    repo.git("branch", "--quiet", "--force", "develop")
    repo.git("branch", "--quiet", "--delete", f"release/{version}")


# --- words before the number that are in no list ---


@pytest.mark.parametrize(
    ("branches", "label", "branch", "carrying"),
    [
        (
            "main stable/13 stable/14 releng/13.2 releng/14.0 releng/14.1",
            "14.1.0",
            "releng/14.1",
            "releng/13.2 releng/14.0",
        ),
        ("main stable/3 ship/3.1 ship/3.2 ship/3.3", "3.3.0", "ship/3.3", "ship/3.1 ship/3.2"),
        ("main 5.x relbr-5.3 relbr-5.4 relbr-5.5", "5.5.0", "relbr-5.5", "relbr-5.3 relbr-5.4"),
    ],
)
def test_the_finer_name_goes_first_whatever_its_word(branches: str, label: str, branch: str, carrying: str) -> None:
    assert asks(branches, label, each(carrying)) == f"issue-version {branch}"


@pytest.mark.parametrize("word", ["cut/", "rb_", "b", "rls-", "automation_release-", "releng/", "svn-", "kaefer/"])
def test_the_siblings_of_a_name_say_that_it_is_a_line(word: str) -> None:
    branches = [f"{word}{version}" for version in ("1.1", "1.2", "1.3")]
    tags = f"v1.1.0@{branches[0]} v1.2.0@{branches[1]}"
    assert asks(" ".join(["main", *branches]), "1.3.0", tags) == f"issue-version {word}1.3"
    assert asks(" ".join(["main", *branches]), "1.2.1", tags) == f"issue-version {word}1.2"


@pytest.mark.parametrize(
    ("branches", "label", "branch"),
    [
        ("release/1.0 release/1.1 rb/1.2 rb/1.3", "1.3.0", "rb/1.3"),
        ("v1.0 v1.1 cut-1.2 cut-1.3", "1.2.1", "cut-1.2"),
        ("8.1 8.2 line/8.3", "8.3.1", "line/8.3"),
    ],
)
def test_the_naming_may_change_in_time(branches: str, label: str, branch: str) -> None:
    assert asks(f"main {branches}", label) == f"issue-version {branch}"


@pytest.mark.parametrize(
    ("branches", "tags", "label", "branch"),
    [
        (
            "MK2_2.10 MK3_3.11 MK3_3.12",
            releases("MK3_3.11", "3.11.0") + releases("MK3_3.12", "3.12.0"),
            "3.12.1",
            "MK3_3.12",
        ),
        ("v10 v11", "v10.1.1@v10 v11.0.0@v11", "10.1.2", "v10"),
        ("stable-7", releases("stable-7", "7.0.0 7.1.0"), "7.2.0", "stable-7"),
        (
            "3.0-MAINT 3.2-MAINT",
            releases("3.0-MAINT", "3.001 3.002") + releases("3.2-MAINT", "3.203 3.204"),
            "3.205",
            "3.2-MAINT",
        ),
        (
            "ovirt-4.1 4.18",
            releases("ovirt-4.1", "4.19.0 4.19.1 4.19.2") + releases("4.18", "4.18.0 4.18.1") + "v4.20.0@main",
            "4.19.3",
            "ovirt-4.1",
        ),
        ("heron", releases("heron", "17.2.0 17.2.1 17.2.2") + "v18.0.0@main", "17.2.3", "heron"),
    ],
)
def test_a_branch_that_carries_the_line_takes_it_whatever_its_name(
    branches: str, tags: str, label: str, branch: str
) -> None:
    assert asks(f"main {branches}", label, tags) == f"issue-version {branch}"


@pytest.mark.parametrize(
    "name",
    [
        "rc/3.4.1",
        "release-3.4.1-rc",
        "rc-3.4",
        "release/3.4-beta",
        "milestone/3.4",
        "preview/3.4",
        "release-3.4.1-alpha",
        "snapshot-3.4",
    ],
)
def test_a_pre_release_word_in_a_branchs_name_is_no_bar(name: str) -> None:
    assert asks(f"main {name} {name.replace('3.4', '3.3')}", "3.4.1") == f"issue-version {name}"


@pytest.mark.parametrize("name", ["release/3.4-beta", "release/3.4-rc", "release/3.4-alpha"])
def test_a_plainer_branch_of_the_line_goes_before_one_with_a_pre_release_word(name: str) -> None:
    assert asks(f"main release/3.4 {name}", "3.4.1") == "issue-version release/3.4"


# --- work branches ---


@pytest.mark.parametrize(
    ("branch", "tags"),
    [
        ("hotfix/4.21.1", "4.20.0@master 4.21.0@master"),
        ("hotfix/8.0.12", "v8.0.10@master v8.0.11@master"),
        ("fix/2.3.1", "v2.2.0@master v2.3.0@master"),
    ],
)
def test_an_open_branch_of_exactly_that_version_takes_it_though_it_looks_like_work(branch: str, tags: str) -> None:
    label = branch.rpartition("/")[2]
    assert asks(f"master {branch}", label, tags, default="master") == f"issue-version {branch}"


# --- the server's default branch ---


@pytest.mark.parametrize(
    ("trunk", "lines", "label"),
    [
        ("master", "9.x 10.x 11.x", "12.0.0"),
        ("main", "v1 v2 v3", "4.0.0"),
        ("master", "release/2.0 release/2.1", "2.2.0"),
    ],
)
def test_a_release_line_as_default_branch_does_not_take_the_next_line(trunk: str, lines: str, label: str) -> None:
    default = lines.rpartition(" ")[2]
    tags = " ".join(f"v{line.strip('v.x').rpartition('/')[2]}.0@{line}" for line in lines.split())
    bundle = facts(f"{trunk} {lines}", tags=tags, default=default, dates={trunk: 0, default: 3}, issue=wants(label))
    assert answer(bundle) == f"default {trunk}"


@pytest.mark.parametrize(
    ("head", "why"),
    [
        ("feature/APP-1-build", "is named for the issue APP-1"),
        ("app-1", "is named for the issue APP-1"),
        ("bugfix/login", "is a work branch"),
        ("dependabot/npm/x", "is a work branch"),
    ],
)
def test_a_servers_head_on_a_work_branch_is_not_the_default(head: str, why: str) -> None:
    ranking = rank(facts(f"main {head}", tags="v1.0.0@main", default=head, issue=wants("2.0.0")))
    assert ranking.chosen == "main"
    assert f"the server's default branch {head} {why} and is not used; main stands for it" in ranking.notes


def test_the_branch_of_the_issue_itself_does_not_come_near_its_version() -> None:
    ranking = rank(facts("main app-1-login", tags="v1.0.0@main", issue=wants("1.1.0")))
    assert not any("fixVersions" in detail for detail in details(ranking, "app-1-login"))


# --- names that are no versions, and versions of other things ---


@pytest.mark.parametrize(
    ("branches", "label", "branch"),
    [
        ("2024Q1 2024Q2", "2024Q2", "2024Q2"),
        ("2024Q1 2024Q2", "2024q2", "2024Q2"),
        ("release/Falcon release/Heron", "Heron", "release/Heron"),
        ("spring-release winter-release", "winter-release", "winter-release"),
    ],
)
def test_a_version_that_is_spelled_like_a_branch_is_that_branch(branches: str, label: str, branch: str) -> None:
    assert asks(f"main {branches}", label) == f"issue-version {branch}"


@pytest.mark.parametrize(
    "milestone",
    ["Python 3.11 support", "Sprint 3.11", "Requires Node 17.2", "Django 3.11", "Upgrade to Java 17.2"],
)
def test_a_milestone_about_something_else_names_no_version(milestone: str) -> None:
    bundle = facts("main release/3.10 release/3.11 release/17.2", issue=wants(milestone=milestone))
    ranking = rank(bundle)
    assert answer(bundle) == "default main"
    assert any(note.startswith(f"milestone {milestone}: nothing here is called ") for note in ranking.notes)


@pytest.mark.parametrize("word", ["entrypoint", "base", "start", "branchpoint"])
def test_a_marker_tag_is_no_release(word: str) -> None:
    tags = f"3.2.0-{word}@master 3.2.0@release/3.2 3.3.0-{word}@master"
    ranking = rank(facts("master release/3.2", tags=tags, default="master", issue=wants("3.3.0")))
    assert ranking.chosen == "master"
    assert not any("made already" in note for note in ranking.notes)


@pytest.mark.parametrize("label", ["backport 1.44.x", "backport-1.44", "backport/1.44", "app-v1.44.x", "needs-1.44"])
def test_a_label_that_names_a_line_among_other_words_is_reported(label: str) -> None:
    bundle = facts("main app-v1.42.x app-v1.44.x", issue=wants(label=label))
    assert answer(bundle) == "default main"
    assert f"label {label!r} names the line of app-v1.44.x and is not used" in rank(bundle).notes


@pytest.mark.parametrize("label", ["backport 9.9.x", "python 3.12"])
def test_a_label_that_names_no_line_here_is_not_reported(label: str) -> None:
    assert rank(facts("main app-v1.42.x app-v1.44.x", issue=wants(label=label))).notes == ()


# --- a listed branch is never missing ---


@pytest.mark.parametrize("word", ["cut/", "rb_", "team/", "jane/release-"])
@pytest.mark.parametrize("label", ["1.3.0", "1.3", "1.4.0", "1.1.7"])
def test_no_note_calls_a_listed_branch_missing(word: str, label: str) -> None:
    bundle = facts(f"main 1.1 1.2 {word}1.2 {word}1.3", tags="v1.1.0@1.1 v1.2.0@1.2", issue=wants(label))
    ranking = rank(bundle)
    assert not any(f"it would be {name})" in note for note in ranking.notes for name in listed(bundle))
    assert set(names(ranking)) <= listed(bundle)
    assert candidate(ranking, "main").branch == "main"


def listed(bundle: Facts) -> set[str]:
    """The names of the branches in a bundle."""
    return {branch.name for branch in bundle.refs.branches}


def test_a_branch_that_the_convention_would_name_is_not_missing_in_other_letters() -> None:
    bundle = facts("main release/1.1 release/1.2", issue=wants("1.3.0"))
    more = (*bundle.refs.branches, Branch(name="release/1.3", tip="0" * 40))
    assert "it would be release/1.3" in rank(bundle).notes[0]
    assert answer(replace(bundle, refs=replace(bundle.refs, branches=more))) == "issue-version release/1.3"
