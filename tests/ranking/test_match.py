"""One version against one repository: which outcome, which branch, in which words, and how surely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from ranking import weights
from ranking.facts import Declaration, Settings
from ranking.match import Match, match, strange_words
from ranking.points import POINTS
from ranking.ranker import read_asked
from ranking.versions import read_label
from tests.ranking.facts_builder import facts, releases, wants

if TYPE_CHECKING:
    from ranking.facts import Facts
    from ranking.match import Outcome


def found(branches: str, label: str, tags: str = "", *, default: str | None = "main", complete: bool = True) -> Match:
    """Hold one fix version against a repository."""
    return found_in(facts(branches, tags=tags, default=default, issue=wants(label), complete=complete), label)


def found_in(bundle: Facts, label: str) -> Match:
    """Hold one fix version against a bundle."""
    wanted = read_label(label)
    assert wanted is not None
    return match(wanted, read_asked(bundle).repo)


NEWEST = "the newest release of the line of"
TWO_LINES = releases("1.2", "1.2.0 1.2.1") + releases("1.3", "1.3.0")

NEW_NAMES = {
    "template|new|lacks": "no release shows yet what branches named {major}.{minor} are for",
    "habit|unknown": "no release has as many numbers",
}

# --- a branch takes it ---


@pytest.mark.parametrize(
    ("branches", "label", "tags", "branch", "text"),
    [
        # By its name: exactly, by its line, more widely; and where the newest release of the line is.
        ("main 17.x 18.x", "17.x", "", "17.x", "this branch's version"),
        ("main 1.2 1.3", "1.2", TWO_LINES, "1.2", "this branch's version, and it carries v1.2.0"),
        ("main 1.2 1.3", "1.2.x", TWO_LINES, "1.2", "this branch's version, and it carries v1.2.1"),
        ("main 1.2 1.3", "1.2.2", TWO_LINES, "1.2", "covered by this branch's 1.2, and it carries v1.2.1"),
        (
            "main 1.2 1.3",
            "1.2.2",
            releases("main", "1.2.0 1.2.1") + releases("1.3", "1.3.0"),
            "1.2",
            "covered by this branch's 1.2, and v1.2.1 was made on main",
        ),
        ("main 1.2 1.3", "1.2.1", "v1.2.0", "1.2", "covered by this branch's 1.2"),
        (
            "main v10 v11",
            "10.1.2",
            "v10.1.1@v10 v11.0.0@v11",
            "v10",
            "covered by this branch's 10, and it carries v10.1.1",
        ),
        ("main release/2-rc1", "2.0.0-rc1", "", "release/2-rc1", "this branch's version"),
        # By its releases alone, whatever it is called.
        (
            "main stable/owl",
            "7.3.2",
            releases("stable/owl", "7.3.0 7.3.1") + "v7.4.0@main",
            "stable/owl",
            "it carries v7.3.1, the newest release of the line of 7.3.2",
        ),
        # Its name says another version, and its releases are those of the line.
        (
            "main ovirt-4.1 4.18",
            "4.19.3",
            releases("ovirt-4.1", "4.19.0 4.19.1 4.19.2") + releases("4.18", "4.18.0 4.18.1") + "v4.20.0@main",
            "ovirt-4.1",
            f"named for 4.1, which its releases do not follow, and it carries v4.19.2, {NEWEST} 4.19.3",
        ),
        (
            "main 1.2 1.3",
            "1.4.0",
            TWO_LINES + "v1.4.0-rc1@1.3",
            "1.3",
            "named for 1.3, and it carries v1.4.0-rc1, the newest release of the line of 1.4.0",
        ),
        # A branch for one version of the line that carries the line.
        (
            "main 4.1.0 4.2.0",
            "4.1.1",
            "v4.1.0@4.1.0 v4.2.0@4.2.0",
            "4.1.0",
            f"named for 4.1.0, another version of the line than 4.1.1, and it carries v4.1.0, {NEWEST} 4.1.1",
        ),
    ],
)
def test_the_branch_that_takes_it_and_why(branches: str, label: str, tags: str, branch: str, text: str) -> None:
    taken = found(branches, label, tags)
    assert taken.outcome == "taken"
    assert list(taken.winners) == [branch]
    assert taken.winners[branch][0].text == text
    assert taken.why == ""
    assert taken.confidence > 0.75


def test_a_release_that_was_merged_into_a_line_counts_for_that_line() -> None:
    bundle = facts("main stable legacy", tags="v3.0.0@stable v3.2.0@main", issue=wants("3.1.9"))
    merged = replace(bundle.refs.tags[0], name="v3.1.8", branches=(), merged_into=("stable",))
    bundle = replace(bundle, refs=replace(bundle.refs, tags=(*bundle.refs.tags, merged)))
    taken = found_in(bundle, "3.1.9")
    assert list(taken.winners) == ["stable"]
    said = "v3.1.8, the newest release of the line of 3.1.9, was merged into it first"
    assert taken.winners["stable"][0].text == said


def test_the_points_of_a_branch_are_those_of_its_signals_above_the_next_best_answer() -> None:
    first, *others = found("main 1.2 1.3", "1.2.2", TWO_LINES).winners["1.2"]
    assert first.points > 0
    assert all(reason.points for reason in others)
    assert first.points + sum(r.points for r in others) > weights.ISSUE_VERSION
    assert [r.code.partition("|")[0] for r in (first, *others)] == ["line", "template", "habit"]


def test_the_signals_are_said_in_words() -> None:
    tags = TWO_LINES + "other-1.0.0@other-1.0"
    texts = [reason.text for reason in found("main 1.2 1.3 other-1.0", "1.2.2", tags).winners["1.2"]]
    assert texts == [
        "covered by this branch's 1.2, and it carries v1.2.1",
        "of 2 branches named {major}.{minor}, 2 carry the releases of their version",
        "most of the recent releases with as many numbers were made on branches named {major}.{minor}",
    ]


def test_a_signal_without_points_is_not_said() -> None:
    """Points are fitted, so any signal may have none: what is said is the first signal and those that weigh."""
    codes = {code: text for code, text in NEW_NAMES.items() if POINTS.get(code, (0, 0))[0]}
    first, *others = found("main 1.2 1.3", "1.2.0").winners["1.2"]
    assert first.text == "this branch's version"
    assert {reason.code: reason.text for reason in others} == codes


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("1.3.0-SNAPSHOT", "files at its tip declare this version"),
        ("1.3.7", "files at its tip declare a version of the line"),
    ],
)
def test_what_files_declare_is_said(declared: str, said: str) -> None:
    bundle = declaring(facts("main 1.2 1.3", tags=TWO_LINES, issue=wants("1.3.0")), "1.3", declared)
    assert said in [reason.text for reason in found_in(bundle, "1.3.0").winners["1.3"]]


def declaring(bundle: Facts, name: str, version: str) -> Facts:
    """Let a file at the tip of a branch declare a version."""
    declares = (Declaration(file="pom.xml", version=version),)
    branches = tuple(replace(b, declares=declares) if b.name == name else b for b in bundle.refs.branches)
    return replace(bundle, refs=replace(bundle.refs, branches=branches))


# --- several branches ---


@pytest.mark.parametrize(
    ("branches", "label", "tags", "tied"),
    [
        # Two products, each with a line of that number.
        (
            "main release/a/1.2 release/b/1.2",
            "1.2.1",
            "a-v1.2.0@release/a/1.2 b-v1.2.0@release/b/1.2",
            ["release/a/1.2", "release/b/1.2"],
        ),
        (
            "main releases/api/v1.1 releases/api/v1.2 releases/cli/v1.2",
            "1.2.4",
            "",
            ["releases/api/v1.2", "releases/cli/v1.2"],
        ),
        # Two spellings of one line.
        ("main 1.1 v1.1", "1.1.0", "", ["1.1", "v1.1"]),
        ("main v8.x v8.x-dev", "8.57.1", "v8.57.0@v8.x,v8.x-dev", ["v8.x", "v8.x-dev"]),
        # Code names that carry the same releases.
        ("main owl elk", "1.2.2", releases("owl,elk", "1.2.0 1.2.1") + "v1.3.0@main", ["elk", "owl"]),
    ],
)
def test_branches_that_fit_about_equally_well_tie(branches: str, label: str, tags: str, tied: list[str]) -> None:
    both = found(branches, label, tags)
    assert both.outcome == "taken"
    assert sorted(both.winners) == tied
    assert both.confidence <= weights.TIED
    assert not set(both.near) & set(tied)


def test_close_branches_weigh_the_same_whatever_their_signals() -> None:
    winners = found("main releases/api/v1.1 releases/api/v1.2 releases/cli/v1.2", "1.2.4").winners
    assert [[reason.points for reason in reasons] for reasons in winners.values()] in (
        [[weights.ISSUE_VERSION]] * 2,
        [[winner.points for winner in winners["releases/api/v1.2"]]] * 2,
    )


def test_the_release_decides_between_two_spellings() -> None:
    assert list(found("main 1.1 v1.1", "1.1.2", "v1.1.0@1.1 v1.1.1@1.1").winners) == ["1.1"]


# --- no branch takes it ---

NINES = "v9.3.0@9.3 v9.4.0@9.4"


@pytest.mark.parametrize(
    ("branches", "label", "tags", "outcome", "why"),
    [
        ("main", "1.0.0", "", "not-created", "nothing here has a version; no branch exists for it yet"),
        (
            "main 9.3 9.4",
            "9.5.0",
            NINES,
            "not-created",
            "newer than v9.4.0, the newest here; no branch exists for it yet (it would be 9.5)",
        ),
        (
            "main 9.4",
            "9.5.0",
            "v9.4.0@9.4",
            "not-created",
            "newer than v9.4.0, the newest here; no branch exists for it yet",
        ),
        (
            "main 9.4",
            "9.5.2",
            "v9.4.0@9.4 v9.5.0@main v9.5.1@main",
            "not-created",
            "v9.5.1, the newest release of the line of 9.5.2, was made on main",
        ),
        (
            "main 9.4 9.6",
            "9.5.2",
            "v9.4.0@9.4 v9.5.1@ v9.6.0@9.6",
            "lost",
            "v9.5.1, the newest release of the line of 9.5.2, is on no listed branch",
        ),
        # On branches that are not listed.
        (
            "main 9.4 9.6",
            "9.5.2",
            "v9.4.0@9.4 v9.5.1@gold v9.6.0@9.6",
            "lost",
            "v9.5.1, the newest release of the line of 9.5.2, is on no listed branch",
        ),
        ("main stable/owl", "3.1.2", "v3.1.1", "unread", "nobody looked which branches carry v3.1.1"),
        (
            "main release/1.8 release/1.10",
            "1.9.4",
            "v1.8.0@release/1.8 v1.10.0@release/1.10",
            "unknown",
            "no branch and no release tag here belongs to the line of 1.9.4",
        ),
        (
            "main 1.2 1.3",
            "widget 1.2.1",
            "",
            "unknown",
            "nothing here is called widget: it names another thing's version",
        ),
    ],
)
def test_why_no_branch_takes_it(branches: str, label: str, tags: str, outcome: Outcome, why: str) -> None:
    none = found(branches, label, tags)
    assert (none.outcome, none.why, none.winners) == (outcome, why, {})
    assert 0 <= none.confidence <= 1


def test_a_list_that_is_not_complete_misses_nothing() -> None:
    none = found("main 9.3 9.4", "9.5.0", NINES, complete=False)
    assert none.outcome == "unknown"
    assert none.why == "no branch of 9.5.0 is known here, and the list is not complete"


def test_the_release_that_nobody_looked_for_is_named() -> None:
    assert found("main stable/owl", "3.1.2", "v3.1.1").unread == "v3.1.1"
    assert found("main stable/owl", "3.1.2", "v3.1.1@stable/owl").unread is None


def test_a_listed_branch_is_never_said_to_be_missing() -> None:
    """The convention would name the branch `4.2`, which is there and carries other releases than its name says."""
    tags = releases("4.0", "4.0.0") + releases("4.1", "4.1.0") + releases("4.2", "7.0.0 7.1.0 7.2.0 7.3.0")
    for label in ("4.2.0", "7.9.0", "8.0.0", "9.9"):
        assert "it would be 4.2)" not in found("main 4.0 4.1 4.2", label, tags).why


def test_below_derive_at_the_best_branch_is_named_and_not_taken() -> None:
    bundle = facts("main 1.2 1.3", tags=TWO_LINES, issue=wants("1.2.2"), settings=Settings(derive_at=1.0))
    unsure = found_in(bundle, "1.2.2")
    assert (unsure.outcome, unsure.winners) == ("unsure", {})
    assert unsure.why.startswith("1.2 fits best, but only with confidence ")
    assert unsure.why.endswith(" (deriveAt 100%)")
    assert "1.2" in unsure.near


def test_a_lower_derive_at_takes_more() -> None:
    """The same branch, taken or not by the setting alone."""
    for derive_at, outcome in ((0.0, "taken"), (1.0, "unsure")):
        settings = Settings(derive_at=derive_at)
        bundle = facts("main 1.2 1.3", tags=TWO_LINES, issue=wants("1.2.2"), settings=settings)
        assert found_in(bundle, "1.2.2").outcome == outcome


@pytest.mark.parametrize(
    ("branches", "label", "tags"),
    [
        ("main 1.2 1.3", "1.2.2", TWO_LINES),
        ("main 9.3 9.4", "9.5.0", NINES),
        ("main 9.4 9.6", "9.5.2", "v9.4.0@9.4 v9.5.1@ v9.6.0@9.6"),
        ("main 1.1 v1.1", "1.1", ""),
    ],
)
def test_nothing_that_is_derived_or_held_is_certain(branches: str, label: str, tags: str) -> None:
    assert 0 < found(branches, label, tags).confidence <= weights.FORESEEN < 1


def test_more_releases_on_a_branch_make_its_line_no_less_sure() -> None:
    versions = [f"1.2.{n}" for n in range(6)]
    sure = [found("main owl", "1.2.9", releases("owl", " ".join(versions[:n]))).confidence for n in range(1, 7)]
    assert sure == sorted(sure)


# --- the default branch ---


@pytest.mark.parametrize(
    ("default", "label", "text"),
    [
        ("release/2.0", "2.0.1", "covered by this branch's 2.0"),
        ("release/2.0", "2.0", "this branch's version"),
        ("2.x", "2.1.0", "covered by this branch's 2.x"),
    ],
)
def test_a_default_branch_takes_the_versions_of_its_name(default: str, label: str, text: str) -> None:
    taken = found(f"{default} 1.0", label, f"v1.0.0@1.0 v2.0.0@{default}", default=default)
    assert [(b, r.text) for b, reasons in taken.winners.items() for r in reasons] == [(default, text)]


def test_a_default_branch_named_for_another_line_does_not_take_it_as_its_own() -> None:
    assert found("2.x 1.x", "3.0.0", "v1.0.0@1.x v2.0.0@2.x", default="2.x").outcome == "not-created"


@pytest.mark.parametrize(
    ("declared", "outcome"),
    [("9.0.0-dev", "taken"), ("9.0", "taken"), ("9.0.1", "not-created"), ("1.0", "not-created"), ("x", "not-created")],
)
def test_a_default_branch_takes_the_version_that_it_declares(declared: str, outcome: Outcome) -> None:
    bundle = declaring(facts("main 8.0 8.1", tags="v8.0.0@8.0 v8.1.0@8.1", issue=wants("9.0.0")), "main", declared)
    taken = found_in(bundle, "9.0.0")
    assert taken.outcome == outcome
    if outcome == "taken":
        (reason,) = taken.winners["main"]
        assert reason.text.startswith("files at its tip declare 9.0")


# --- words of a label ---


@pytest.mark.parametrize(
    ("label", "strange"),
    [
        ("1.2.1", []),
        ("v1.2.1", []),
        ("release 1.2.1", []),
        ("App 1.2.1", []),  # the repository's own name
        ("Acme 1.2.1", []),  # its owner's
        ("gold 1.2.1", []),  # a branch's word
        ("lib 1.2.1", []),  # a tag's word
        ("JS-0.4.0", ["js"]),  # other products are released here, and none of this name
        ("CNV v4.22", ["cnv"]),
        ("17-pool", []),  # a remark behind the number
        ("Python 3.11 support", ["python"]),
        ("Sprint 3.11", ["sprint"]),
        ("Requires Node 17.2", ["requires", "node"]),
        ("big widget 17", ["big", "widget"]),
        ("widget-17", ["widget"]),  # a bare number needs more than a joined word
        ("two-words-1.2", ["two", "words"]),
        ("(beta) widget (1.2)", ["widget"]),
    ],
)
def test_words_that_nothing_here_carries(label: str, strange: list[str]) -> None:
    bundle = facts("main 1.2 gold-1.2", tags="lib-1.0.0@main", issue=wants(label))
    wanted = read_label(label)
    assert wanted is not None
    assert strange_words(wanted, read_asked(bundle).repo) == strange


# --- what comes near ---


def test_branches_of_the_line_that_do_not_take_it_come_near() -> None:
    tags = releases("7.17", "7.17.0 7.17.3") + "v7.16.1@7.16"
    assert found("main 7.x 7.17 7.16", "7.17.4", tags).near == {
        "7.x": "covered by this branch's 7.x, and v7.17.3 is on 7.17"
    }
    assert found("main 4.1.0 4.1.0-rc1 4.2.0", "4.1.1", "v4.1.0@main").near == {
        "4.1.0": "named for 4.1.0, another version of the line than 4.1.1, and v4.1.0 was made on main",
        "4.1.0-rc1": "named for a pre-release of 4.1.0, not for 4.1.1, and v4.1.0 was made on main",
    }
    assert found("main owl elk", "1.4.0", releases("owl", "1.2.0") + releases("elk", "1.3.0")).near == {
        "elk": "it carries v1.3.0, the newest release before 1.4.0"
    }


def test_no_more_than_a_dozen_come_near() -> None:
    owls = [f"owl{chr(97 + n)}" for n in range(20)]
    both = found(" ".join(["main", *owls, "1.2"]), "1.2.2", releases(",".join(owls), "1.2.0") + "v1.2.1@1.2")
    assert list(both.winners) == ["1.2"]
    assert len(both.near) <= 12
