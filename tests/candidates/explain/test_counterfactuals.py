"""What would decide it: the changes are the right ones, and each really gives the branch that it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace as altered

from candidates.explain.counterfactuals import Change, changes_for, deciding_changes
from candidates.explain.text import explain
from candidates.resolver import resolve
from candidates.run.replay import recollected
from ranking.facts import Settings
from ranking.ranker import rank, read_asked
from tests.ranking.facts_builder import chose, facts, wants

if TYPE_CHECKING:
    from ranking.facts import Facts

LINES = "main release/8.4.0 release/8.5.0"
TIED = facts(LINES, issue=wants(("8.4.0", "8.5.0")))


def told(bundle: Facts) -> list[str]:
    ranking = rank(bundle)
    return lines(deciding_changes(bundle, ranking, resolve(bundle, ranking), read_asked(bundle)))


def told_for(bundle: Facts, branch: str) -> list[str]:
    return lines(changes_for(bundle, resolve(bundle, rank(bundle)), branch, read_asked(bundle)))


def lines(changes: tuple[Change, ...]) -> list[str]:
    return [f"{c.branch} {c.source}: {c.do}" for c in changes]


def test_two_versions_on_two_lines() -> None:
    assert told(TIED) == [
        "release/8.5.0 derived: fixVersions 8.5.0 on APP-1, without fixVersions 8.4.0",
        "release/8.5.0 remembered: base-branch remember release/8.5.0",
        "release/8.5.0 input: base-branch resolve --base release/8.5.0",
        "release/8.4.0 derived: fixVersions 8.4.0 on APP-1, without fixVersions 8.5.0",
        "release/8.4.0 remembered: base-branch remember release/8.4.0",
        "release/8.4.0 input: base-branch resolve --base release/8.4.0",
        "release/8.4.0 derived: --multiple-versions lowest",
        "release/8.5.0 derived: --multiple-versions highest",
    ]


def test_a_setting_that_is_promised_does_it() -> None:
    lowest = altered(TIED, settings=Settings(multiple_versions="lowest"))
    resolution = resolve(lowest, rank(lowest))
    assert (resolution.branch, resolution.source) == ("release/8.4.0", "derived")
    assert told(lowest) == []


def test_an_issue_of_github_gets_a_milestone() -> None:
    issue = altered(wants(), key="acme/app#1", source="github")
    assert told_for(facts(LINES, issue=issue), "release/8.4.0") == [
        "release/8.4.0 derived: milestone 8.4.0 on acme/app#1",
        "release/8.4.0 remembered: base-branch remember release/8.4.0",
        "release/8.4.0 input: base-branch resolve --base release/8.4.0",
    ]


def test_a_line_without_a_version_in_its_name_by_its_next_release() -> None:
    bundle = facts("main stable", tags="v3.1.0@main v2.4.7@stable", issue=wants())
    assert told_for(bundle, "stable")[0] == "stable derived: fixVersions 2.4.8 on APP-1"


def test_without_an_issue_the_version_is_a_flag() -> None:
    assert told_for(facts(LINES), "release/8.4.0")[0] == "release/8.4.0 derived: --issue-version 8.4.0"


def test_no_version_is_promised_that_would_not_give_the_branch() -> None:
    assert told_for(facts("main dev-tools", issue=wants()), "dev-tools") == [
        "dev-tools remembered: base-branch remember dev-tools",
        "dev-tools input: base-branch resolve --base dev-tools",
    ]


def test_nothing_is_said_of_versions_that_could_not_be_read() -> None:
    bundle = facts(LINES, issue=wants(read="failed"))
    assert told_for(bundle, "release/8.4.0") == [
        "release/8.4.0 remembered: base-branch remember release/8.4.0",
        "release/8.4.0 input: base-branch resolve --base release/8.4.0",
    ]


def test_where_the_evidence_has_decided_nothing_is_to_be_changed() -> None:
    assert told(facts(LINES, issue=wants("8.4.0"))) == []
    assert told(facts(LINES)) == []
    assert told(facts(LINES, recent=(chose("release/8.4.0"),))) == []


def test_a_memory_against_the_evidence() -> None:
    bundle = facts(LINES, issue=wants("8.4.0"), recent=(chose("release/8.5.0"),))
    assert told(bundle) == [
        "release/8.4.0 remembered: base-branch remember release/8.4.0",
        "release/8.4.0 input: base-branch resolve --base release/8.4.0",
        "release/8.4.0 derived: --on-conflict derived",
    ]


def test_a_choice_of_the_future_is_not_promised_to_be_overruled() -> None:
    bundle = facts(LINES, recent=(chose("release/8.5.0", days_ago=-1),))
    changes = changes_for(bundle, resolve(bundle, rank(bundle)), "release/8.4.0", read_asked(bundle))
    assert "remembered" not in {c.source for c in changes}


def test_a_floor_that_forbids_to_derive_without_any_backtest_is_no_matter_of_its_height() -> None:
    bundle = facts(LINES, issue=wants("8.4.0"), settings=Settings(derive_floor=0.9))
    assert [line for line in told(bundle) if "--derive-floor" in line] == []


def test_a_name_made_for_a_shell_is_quoted() -> None:
    name = "release/8.4.0;$(touch${IFS}x)"
    bundle = facts(("main", name), issue=wants())
    assert f"{name} input: base-branch resolve --base '{name}'" in told_for(bundle, name)


def test_nothing_gives_a_branch_that_is_not_listed_or_that_is_the_answer() -> None:
    assert told_for(TIED, "release/9.0.0") == []
    assert told_for(TIED, "main") == []


def test_explain_shows_them() -> None:
    said = ["".join(text for _, text in line) for line in explain(recollected(TIED))]
    start = said.index("What would decide it (each seen to, by ranking again with that one change)")
    assert said[start + 1] == ("  release/8.5.0  derived     fixVersions 8.5.0 on APP-1, without fixVersions 8.4.0")
    assert said[start + 8] == "  release/8.5.0  derived     --multiple-versions highest"
    assert said[start + 9] == ""
