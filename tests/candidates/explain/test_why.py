"""Why a branch is where it is, and why another is not: true for every name that a person may type."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from candidates.explain.why import why, why_not
from candidates.run.replay import recollected
from ranking.facts import Failure, Settings
from tests.ranking.facts_builder import chose, facts, pull, wants
from tests.support.fitted import unfitted

if TYPE_CHECKING:
    from ranking.facts import Facts

LINES = "main release/8.3.0 release/8.4.0 feature/APP-12-login"
FOUND = facts(LINES, issue=wants("8.4.0"))


def asked(bundle: Facts, branch: str) -> list[str]:
    return why(recollected(bundle), branch)


def asked_not(bundle: Facts, branch: str) -> list[str]:
    return why_not(recollected(bundle), branch)


def reasons(said: list[str]) -> list[str]:
    """The lines without what the fit of the points decides."""
    return unfitted("\n".join(said)).split("\n")


# --- candidates ---


def test_why_the_answer() -> None:
    assert reasons(asked(FOUND, "release/8.4.0")) == reasons(
        [
            "release/8.4.0 is number 1 of 3 candidates, with 105 points.",
            "+100 issue-version: fixVersions 8.4.0: this branch's version.",
            "+5 ref-provenance: the remote listed it in this run.",
            "The rule derived takes it: +100: fixVersions 8.4.0: this branch's version.",
        ]
    )


def test_why_not_the_answer_says_that_it_is() -> None:
    said = asked_not(FOUND, "release/8.4.0")
    assert said[0] == "It is: release/8.4.0 is what an unattended run takes."
    assert said[1:] == asked(FOUND, "release/8.4.0")


def test_why_not_another_line() -> None:
    assert reasons(asked_not(FOUND, "release/8.3.0")) == reasons(
        [
            "release/8.3.0 is number 3 of 3 candidates, with 13 points.",
            "+2 version-convention: one of 2 named under release/{major}.{minor}.{patch}.",
            "+6 sort-order: number 3 of the default order.",
            "+5 ref-provenance: the remote listed it in this run.",
            "release/8.4.0 is taken instead, by the rule derived: +100: fixVersions 8.4.0: this branch's version.",
            "release/8.4.0 has 105 points, 92 more.",
            "It would be taken (derived) with: fixVersions 8.3.0 on APP-1, without fixVersions 8.4.0",
            "It would be taken (remembered) with: base-branch remember release/8.3.0",
            "It would be taken (input) with: base-branch resolve --base release/8.3.0",
        ]
    )


def test_why_not_one_of_two_that_tie() -> None:
    said = asked_not(facts(LINES, issue=wants(("8.3.0", "8.4.0"))), "release/8.3.0")
    assert said[0] == "release/8.3.0 is number 2 of 3 candidates, with 105 points, level with release/8.4.0."
    assert said[3:6] == [
        "main is taken instead, by the rule default: the server's default branch.",
        "main has 43 points, 62 fewer; but the rule that took it does not go by points.",
        "The rule derived passed: ambiguous: release/8.4.0, release/8.3.0 tie with 105 points.",
    ]


def test_a_remembered_branch_goes_before_more_points() -> None:
    said = reasons(asked_not(facts(LINES, issue=wants("8.4.0"), recent=(chose("release/8.3.0"),)), "release/8.4.0"))
    assert said[3:5] == [
        (
            "release/8.3.0 is taken instead, by the rule remembered: release/8.3.0, chosen on 2026-11-29; outdated: "
            "release/8.4.0 is named for the issue's own version; the issue's evidence says release/8.4.0, the memory "
            "release/8.3.0; onConflict: remembered."
        ),
        "release/8.3.0 has 25 points, S fewer; but the rule that took it does not go by points.",
    ]
    assert said[5].startswith("It would be taken")
    assert said[-1] == "It would be taken (derived) with: --on-conflict derived"


def test_a_candidate_after_the_end_of_the_list() -> None:
    bundle = facts(LINES, settings=Settings(max_candidates=1))
    said = asked(bundle, "release/8.3.0")
    assert said[0] == "release/8.3.0 is number 3 of 3 candidates, with 13 points."
    assert said[-1] == "The list ends after 1 (maxCandidates), so it is not shown there."


def test_a_version_beside_strange_words() -> None:
    said = asked(facts("main release/8.3.0 release/8.4.0 somebody-tries-8.4"), "somebody-tries-8.4")
    assert said == [
        "somebody-tries-8.4 is number 4 of 4 candidates, with 5 points.",
        "+5 ref-provenance: the remote listed it in this run.",
        "Its name has a version, and is no release line by it: its other words are not this repository's.",
    ]


def test_no_rule_gives_any_branch() -> None:
    bundle = facts("release/8.4.0", default=None, settings=Settings(resolve_order=("derived",)))
    said = asked_not(bundle, "release/8.4.0")
    assert "No rule gives any branch: a person has to choose." in said


# --- branches that are no candidates ---


def test_a_work_branch() -> None:
    assert asked(FOUND, "feature/APP-12-login") == [
        (
            "feature/APP-12-login is listed, and left out as a work branch: somebody's change on its way, by how "
            "its name begins."
        ),
        (
            "It would count if a pull request linked to the issue targeted it, if a person had chosen it before, or if "
            "releases had been made on it alone."
        ),
    ]


def test_a_branch_that_nothing_speaks_for() -> None:
    assert asked(facts("main login"), "login") == [
        (
            "login is listed, and no candidate: its name carries no version and is no family word, it is not the "
            "default, and neither the issue nor the memory names it."
        )
    ]


def test_a_branch_that_is_gone() -> None:
    bundle = facts("main", only_here="release/8.3.0", issue=wants("8.3.0"))
    assert asked(bundle, "release/8.3.0") == [
        (
            "release/8.3.0 is gone: origin answered with its whole list and without it; only "
            "refs/remotes/origin/release/8.3.0 of this clone still has it at 012345678901."
        )
    ]


def test_a_branch_that_is_not_listed() -> None:
    assert asked(FOUND, "release/8.4") == [
        "origin of acme/app has no branch release/8.4; a branch that is not listed is never an answer.",
        "Names near it: release/8.4.0, release/8.3.0.",
    ]


def test_a_branch_that_is_not_listed_and_named_by_the_memory_and_a_pull_request() -> None:
    bundle = facts("main", issue=wants(links=(pull("zzz"),)), recent=(chose("zzz"),))
    assert asked(bundle, "zzz")[1:] == ["It is named all the same, by the memory, pull request acme/app#7."]


@pytest.mark.parametrize(
    ("bundle", "because"),
    [
        (
            facts("main", provenance="local", complete=False, failure=Failure(kind="timed-out", detail="20 s")),
            "origin did not answer (timed-out)",
        ),
        (facts("main", provenance="local", complete=False), "origin was not asked"),
        (facts("main", complete=False), "the list of origin is incomplete"),
    ],
)
def test_nothing_is_said_to_be_missing_where_nobody_could_tell(bundle: Facts, because: str) -> None:
    assert asked(bundle, "zzz") == [f"zzz is not known here, and {because}: whether it exists cannot be told."]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("--orphan", "--orphan can never be an answer: it begins with a dash, which git would read as an option."),
        ("a b\x1b[31m", "a b\\x1b[31m can never be an answer: git does not allow such a name."),
        ("", "An empty name can never be an answer: it is empty."),
        ("re\u202elease", "re\\u202elease can never be an answer: it holds characters that do not show."),
    ],
)
def test_a_name_that_cannot_be_used(name: str, said: str) -> None:
    assert asked(facts(("main", name)), name) == [said]
    assert asked_not(facts("main"), name)[0] == said
    assert not [line for line in asked_not(facts("main"), name) if line.startswith("It would be taken")]
