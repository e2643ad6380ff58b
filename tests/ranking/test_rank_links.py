"""What links give: pull requests, release items, parents by their distance, and what a foreign thing may not."""

from __future__ import annotations

from typing import Literal

import pytest
from msgspec.structs import replace

from ranking.facts import Issue, IssueLink, IssueVersion, Ranking
from ranking.ranker import rank
from tests.ranking.facts_builder import answer, details, facts, names, outcome, parent, pull, versions, wants

BRANCHES = "main release/1.1 release/1.2"
MISSING = "no branch exists for it yet (it would be"
NOTHING = "no branch and no release tag here belongs to the line of"


def ask(issue: Issue) -> Ranking:
    """Rank the same two lines for an issue."""
    return rank(facts(BRANCHES, issue=issue))


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (pull("release/1.2"), "linked-release release/1.2"),
        (pull("release/1.2", state="merged"), "linked-release release/1.2"),
        (pull("release/1.2", state=None), "linked-release release/1.2"),
        (pull("main"), "linked-release main"),
        (pull("release/1.2", state="closed"), "default main"),
        (pull("release/1.2", repository="acme/other"), "default main"),
        (pull("release/9.9"), "default main"),
        (parent("1.2.3"), "linked-release release/1.2"),
        (parent("1.2.3", kind="epic"), "linked-release release/1.2"),
        (parent("1.2.3", depth=2), "linked-release release/1.2"),
        (parent("1.3.0"), "default main"),
        (parent("Backlog"), "default main"),
        (parent("Backlog", kind="epic"), "default main"),
        (IssueLink(kind="release", key="1.2.4"), "linked-release release/1.2"),
        (IssueLink(kind="release", key="REL-7", versions=versions("1.2", "fix")), "linked-release release/1.2"),
        (IssueLink(kind="release", key="REL-1"), "default main"),
        (IssueLink(kind="release", key="1"), "default main"),
        (IssueLink(kind="release", key="1.1", versions=versions("1.2", "fix")), "linked-release release/1.2"),
        (IssueLink(kind="parent", key="1.2.4"), "default main"),
        (IssueLink(kind="clones", key="APP-2", versions=versions("1.2", "fix")), "default main"),
        (IssueLink(kind="blocks", key="APP-2", versions=versions("1.2", "fix")), "default main"),
        (IssueLink(kind="relates", key="APP-2", versions=versions("1.2", "fix")), "default main"),
        (IssueLink(kind="other", key="APP-2", base_branch="release/1.2"), "default main"),
        (IssueLink(kind="parent", key="APP-2", versions=versions("1.2", "affected")), "default main"),
        (IssueLink(kind="parent", key="APP-2", versions=versions("1.2", "label")), "default main"),
        (IssueLink(kind="parent", key="APP-2", read="failed"), "default main"),
    ],
)
def test_one_link(link: IssueLink, expected: str) -> None:
    assert outcome(ask(wants(links=(link,)))) == expected


@pytest.mark.parametrize(
    ("issue", "expected"),
    [
        # The own version goes first.
        (wants("1.1.0", links=(pull("release/1.2"),)), "issue-version release/1.1"),
        (wants("1.1.0", links=(parent("1.2.0"),)), "issue-version release/1.1"),
        (wants("1.1.0", inherited="1.2.0"), "issue-version release/1.1"),
        (wants("1.3.0", links=(pull("release/1.2"),)), "default main"),
        (wants("1.3.0", inherited="1.2.0"), "default main"),
        (wants("1.1.0", links=(pull("release/1.1"),)), "issue-version release/1.1"),
        # No version of its own: what it inherits, or where its pull request goes.
        (wants(inherited="1.2.3"), "linked-release release/1.2"),
        (wants("Backlog", inherited="1.2.3"), "linked-release release/1.2"),
        (wants("Backlog", links=(pull("release/1.2"),)), "linked-release release/1.2"),
        (wants(affected="1.1.0", links=(pull("release/1.2"),)), "linked-release release/1.2"),
        # The nearest ancestor that names a version.
        (wants(links=(parent("1.1.0"), parent("1.2.0", key="E-1", depth=2))), "linked-release release/1.1"),
        (wants(links=(parent("Backlog"), parent("1.2.0", key="E-1", depth=2))), "linked-release release/1.2"),
        # Equals tie.
        (wants(links=(pull("release/1.1"), pull("release/1.2", key="acme/app#8"))), "tied release/1.1 release/1.2"),
        (wants(links=(parent("1.1.0"), parent("1.2.0", key="E-1", kind="epic"))), "tied release/1.1 release/1.2"),
        (wants(links=(parent("1.1.0"), pull("release/1.2"))), "tied release/1.1 release/1.2"),
        (wants(inherited=("1.1.0", "1.2.0")), "tied release/1.1 release/1.2"),
        # Two that agree are one reason.
        (wants(links=(pull("release/1.2"), pull("release/1.2", key="acme/app#8"))), "linked-release release/1.2"),
        (wants(links=(parent("1.2.0"), pull("release/1.2"))), "linked-release release/1.2"),
    ],
)  # fmt: skip
def test_links_beside_versions(issue: Issue, expected: str) -> None:
    assert outcome(ask(issue)) == expected


def test_agreeing_links_do_not_add_up() -> None:
    one = ask(wants(links=(pull("release/1.2"),))).candidates[0]
    two = ask(wants(links=(pull("release/1.2"), pull("release/1.2", key="acme/app#8")))).candidates[0]
    assert (one.score, two.score) == (95, 95)
    assert [e.detail for e in two.evidence[:2]] == [
        "+90: pull request acme/app#7 targets it",
        "+0: pull request acme/app#8 targets it",
    ]


@pytest.mark.parametrize(("depth", "points"), [(1, 90), (2, 85), (3, 80), (4, 75), (10, 75), (100, 75)])
def test_an_inherited_version_weighs_less_from_further_up(depth: int, points: int) -> None:
    ranking = ask(wants(links=(parent("1.2.3", depth=depth),)))
    assert details(ranking, "release/1.2")[0] == (
        f"linked-release +{points}: inherited fixVersions 1.2.3 of APP-9: covered by this branch's 1.2"
    )


def test_a_version_that_the_tracker_passes_on_is_a_parents() -> None:
    assert details(ask(wants(inherited="1.2.3")), "release/1.2")[0] == (
        "linked-release +90: inherited fixVersions 1.2.3 of APP-9: covered by this branch's 1.2"
    )


def test_an_ancestor_behind_the_nearest_does_not_count() -> None:
    links = (parent("1.1.0"), parent("1.2.0", key="E-1", depth=2), parent("1.2.0", key="E-2", depth=3))
    ranking = ask(wants(links=links))
    assert ranking.chosen == "release/1.1"
    assert not any(d.startswith("linked-release") for d in details(ranking, "release/1.2"))
    assert ranking.notes == (
        "fixVersions 1.2.0 of E-1 is further up than 1 and does not count",
        "fixVersions 1.2.0 of E-2 is further up than 1 and does not count",
    )


@pytest.mark.parametrize(
    ("label", "default", "said"),
    [
        (
            "1.3.0",
            "main",
            [
                (
                    "version-convention +15: inherited fixVersions 1.3.0 of APP-9: "
                    "newer than release/1.2, the newest here; no branch exists for it yet (it would be release/1.3)"
                )
            ],
        ),
        ("0.9.1", "main", []),
        ("1.3.0", None, []),
    ],
)
def test_an_inherited_version_that_is_not_cut_waits_too(label: str, default: str | None, said: list[str]) -> None:
    ranking = rank(facts(BRANCHES, default=default, issue=wants(inherited=label)))
    assert [d for d in details(ranking, "main") if "inherited" in d] == said
    assert any(note.startswith(f"inherited fixVersions {label} of APP-9: ") for note in ranking.notes)


def test_a_conflict_is_said() -> None:
    ranking = ask(wants("1.1.0", links=(pull("release/1.2"),)))
    assert details(ranking, "release/1.2")[0] == (
        "version-convention +3: pull request acme/app#7 targets it, against the issue's own version"
    )
    assert ranking.notes == (
        "release/1.2: pull request acme/app#7 targets it, but the issue's own version points to release/1.1",
    )
    assert ask(wants("1.1.0", inherited="1.2.3")).notes == (
        "inherited fixVersions 1.2.3 of APP-9 points to release/1.2; the issue's own version goes before it",
    )
    twins = rank(facts("main 1.1 1.2 v1.2", issue=wants("1.1.0", inherited="1.2.3")))
    assert twins.notes == (
        "inherited fixVersions 1.2.3 of APP-9 points to 1.2, v1.2; the issue's own version goes before it",
    )


@pytest.mark.parametrize(
    "issue",
    [
        wants("1.1.0", inherited="1.1.2"),
        wants("1.1.0", inherited="0.9.1"),
        wants("0.9.1", inherited="1.2.3"),
        wants("0.9.1", inherited="0.8.1"),
    ],
)
def test_what_agrees_or_points_nowhere_is_no_conflict(issue: Issue) -> None:
    assert not any("goes before it" in note for note in ask(issue).notes)


def test_a_link_against_several_versions_names_five_of_their_branches() -> None:
    lines = [f"1.{n}" for n in range(1, 7)]
    issue = wants(tuple(f"{line}.3" for line in lines), links=(pull("1.9"),))
    assert (
        "1.9: pull request acme/app#7 targets it, but the issue's own version points to 1.1, 1.2, 1.3, 1.4, 1.5, ..."
    ) in rank(facts(["main", "1.9", *lines], issue=issue)).notes


def test_what_is_said_of_each_branch_that_takes_a_linked_release_is_said_in_their_order() -> None:
    owls = [f"stable/owl{c}" for c in "fdbace"]
    link = IssueLink(kind="release", key="1.0.1")
    bundle = facts(["main", "2.0", *owls], tags=f"v1.0.0@{','.join(owls)}", issue=wants("2.0.1", links=(link,)))
    said = "linked release 1.0.1: it carries v1.0.0, the newest release of the line of 1.0.1"
    against = "but the issue's own version points to 2.0"
    assert rank(bundle).notes == tuple(f"{owl}: {said}, {against}" for owl in sorted(owls))


def test_a_link_against_a_version_that_waits_nobody_knows_where() -> None:
    ranking = rank(facts("trunk 1.1", default=None, issue=wants("5.0.0", links=(pull("1.1"),))))
    assert (
        "1.1: pull request acme/app#7 targets it, but the issue's own version points to no branch that is cut"
    ) in ranking.notes


@pytest.mark.parametrize(
    ("issue", "branch", "said"),
    [
        (
            wants("1.1.0", links=(IssueLink(kind="release", key="1.2.4"),)),
            "release/1.2",
            (
                "version-convention +3: linked release 1.2.4: "
                "covered by this branch's 1.2, against the issue's own version"
            ),
        ),
        (
            wants("1.1.0", links=(IssueLink(kind="release", key="1.1.4"),)),
            "release/1.1",
            "linked-release +0: linked release 1.1.4: covered by this branch's 1.1",
        ),
        (
            wants(links=(IssueLink(kind="release", key="1.2.4"),)),
            "release/1.2",
            "linked-release +90: linked release 1.2.4: covered by this branch's 1.2",
        ),
        (
            wants("1.1.0", links=(pull("release/1.1"),)),
            "release/1.1",
            "linked-release +0: pull request acme/app#7 targets it",
        ),
        (wants("1.3.0", links=(pull("main"),)), "main", "linked-release +90: pull request acme/app#7 targets it"),
        (wants(links=(pull("release/1.1"),)), "release/1.1", "linked-release +90: pull request acme/app#7 targets it"),
    ],
)
def test_what_a_link_says_beside_the_own_version(issue: Issue, branch: str, said: str) -> None:
    ranking = ask(issue)
    assert [d for d in details(ranking, branch) if "linked" in d or "pull request" in d] == [said]
    assert not any(note.startswith("linked ") for note in ranking.notes)
    assert any("but the issue's own" in note for note in ranking.notes) == ("against" in said)


def test_a_foreign_pull_request_hides_no_own_one() -> None:
    foreign = pull("release/1.1", key="acme/aaa#1", repository="acme/aaa")
    assert outcome(ask(wants(links=(foreign, pull("release/1.2"))))) == "linked-release release/1.2"


def test_of_two_hints_the_stronger_keeps_its_points() -> None:
    ranking = ask(wants(affected="1.2.0", links=(pull("release/1.2", state="closed"),)))
    assert details(ranking, "release/1.2")[:2] == [
        "version-convention +4: versions 1.2.0: affected, a hint and no target",
        "version-convention +0: pull request acme/app#7, closed unmerged, targeted it",
    ]


def test_a_pull_request_to_where_the_version_waits_is_not_against_it() -> None:
    ranking = ask(wants("1.3.0", links=(pull("main"),)))
    assert ranking.chosen == "main"
    assert not any("against" in d for d in details(ranking, "main"))
    assert not any("points to no branch" in note for note in ranking.notes)


@pytest.mark.parametrize(
    ("link", "note"),
    [
        (pull("release/9.9"), "pull request acme/app#7 targets release/9.9, which is not listed"),
        (
            pull("main", key="acme/other#3", repository="acme/other"),
            "linked pull request acme/other#3 is of another repository, acme/other",
        ),
        (IssueLink(kind="parent", key="APP-2", read="failed"), "linked APP-2 could not be read"),
        (
            IssueLink(kind="clones", key="APP-2", label="is cloned by", versions=versions(("1.2", "1.1"), "fix")),
            "linked APP-2 (is cloned by) names 1.1, 1.2: no ground to act on",
        ),
        (
            parent("0.9.1"),
            "inherited fixVersions 0.9.1 of APP-9: no branch and no release tag here belongs to the line of 0.9.1",
        ),
        pytest.param(
            IssueLink(kind="release", key="9.9"),
            f"linked release 9.9: newer than release/1.2, the newest here; {MISSING} release/9.9)",
        ),
    ],
)
def test_a_link_that_decides_nothing_is_said(link: IssueLink, note: str) -> None:
    ranking = ask(wants(links=(link,)))
    assert ranking.chosen == "main"
    assert ranking.notes == (note,)


def test_a_closed_pull_request_is_a_hint() -> None:
    ranking = ask(wants(links=(pull("release/1.2", state="closed"),)))
    assert details(ranking, "release/1.2")[0] == (
        "version-convention +3: pull request acme/app#7, closed unmerged, targeted it"
    )


def test_a_link_from_nowhere_is_of_this_repository() -> None:
    """`repository` null: nobody said another one."""
    assert outcome(ask(wants(links=(pull("release/1.2", repository=None),)))) == "linked-release release/1.2"


def test_the_own_repository_in_other_letters() -> None:
    bundle = facts(BRANCHES, issue=wants(links=(pull("release/1.2", repository="Acme/App"),)))
    bundle = replace(bundle, repository=replace(bundle.repository, remote_type="github"))
    assert answer(bundle) == "linked-release release/1.2"


@pytest.mark.parametrize("way", ["link", "version"])
def test_a_closed_milestone_of_a_parent_is_weak(way: Literal["link", "version"]) -> None:
    closed = IssueVersion(name="1.2", field="milestone", closed=True)
    if way == "link":
        issue = wants(links=(IssueLink(kind="parent", key="APP-9", versions=(closed,)),))
    else:
        issue = wants(more=(replace(closed, inherited_from="APP-9"),))
    assert outcome(ask(issue)) == "default main"


@pytest.mark.parametrize(
    ("kind", "weak"), [("parent", True), ("epic", True), ("release", True), ("clones", False), ("other", False)]
)
def test_a_closed_milestone_of_what_binds_is_a_hint(
    kind: Literal["parent", "epic", "release", "clones", "other"],
    weak: bool,  # noqa: FBT001 - a column of the table
) -> None:
    closed = IssueVersion(name="1.2", field="milestone", closed=True)
    ranking = ask(wants(links=(IssueLink(kind=kind, key="APP-9", versions=(closed,)),)))
    assert ("milestone 1.2 is closed: weak evidence" in ranking.notes) is weak
    said = "version-convention +4: milestone 1.2: closed, a hint and no target"
    assert (said in details(ranking, "release/1.2")) is weak


def test_an_affected_version_of_a_parent_is_not_inherited() -> None:
    affected = IssueVersion(name="1.2.0", field="versions", role="affected", inherited_from="APP-9")
    assert outcome(ask(wants(more=(affected,)))) == "default main"


def test_a_release_item_is_named_for_a_version_or_a_line_and_not_a_bare_number() -> None:
    def ask_for(key: str, branches: str) -> str:
        return answer(facts(branches, issue=wants(links=(IssueLink(kind="release", key=key),))))

    assert ask_for("7.x", "main 6.x 7.x") == "linked-release 7.x"
    assert ask_for("7", "main 6 7") == "default main"


def test_an_inherited_label_without_a_version_is_said() -> None:
    assert ask(wants(inherited="Backlog")).notes == ("fixVersions 'Backlog' names no version",)


def test_a_pull_request_without_a_base_says_nothing() -> None:
    assert ask(wants(links=(IssueLink(kind="pull-request", key="acme/app#9"),))).notes == ()


def test_a_release_item_without_a_version_is_said() -> None:
    link = IssueLink(kind="release", key="REL-7", versions=versions("Backlog", "fix"))
    assert ask(wants(links=(link,))).notes == ("fixVersions 'Backlog' names no version",)


@pytest.mark.parametrize("kind", ["blocks", "relates", "other"])
def test_a_mention_is_said_where_it_names_a_version(kind: Literal["blocks", "relates", "other"]) -> None:
    link = IssueLink(kind=kind, key="APP-2", repository="acme/other", versions=versions("1.2", "fix"))
    assert ask(wants(links=(link,))).notes == (f"linked APP-2 ({kind}) names 1.2: no ground to act on",)
    assert ask(wants(links=(replace(link, versions=()),))).notes == ()


def test_notes_on_links_do_not_depend_on_their_order() -> None:
    bases = [pull(f"gone/{n}", key=key) for key in ("acme/app#1", "acme/app#2") for n in range(3)]
    parents = [parent("0.9.1", key=f"APP-{n}") for n in range(1, 6)]
    expected = (
        *(f"inherited fixVersions 0.9.1 of APP-{n}: {NOTHING} 0.9.1" for n in range(1, 6)),
        *(f"pull request {p.key} targets {p.base_branch}, which is not listed" for p in bases),
    )
    assert ask(wants(links=(*bases, *parents))).notes == expected
    assert ask(wants(links=(*reversed(parents), *reversed(bases)))).notes == expected


def test_versions_are_spoken_of_in_their_order() -> None:
    labels = tuple(f"0.{n}.1" for n in (3, 1, 10, 2, 4))
    assert ask(wants(labels)).notes[1:] == tuple(f"fixVersions 0.{n}.1: {NOTHING} 0.{n}.1" for n in (1, 2, 3, 4, 10))


def test_a_work_branch_that_a_pull_request_targets() -> None:
    ranking = rank(facts("main feature/login feature/logout", issue=wants(links=(pull("feature/login"),))))
    assert outcome(ranking) == "linked-release feature/login"
    assert names(ranking) == ["feature/login", "main"]
    assert ranking.notes == ("left out as work branches: 1: feature/logout",)


def test_a_release_of_another_repository_decides_nothing() -> None:
    link = IssueLink(kind="release", key="1.2", repository="acme/other")
    ranking = rank(facts("main 1.2 1.3", issue=wants(links=(link,))))
    assert outcome(ranking) == "default main"
    assert ranking.notes == ("linked release 1.2 is of another repository, acme/other",)
