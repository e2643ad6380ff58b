"""The resolver, pure: what fires in which order, what is passed over and with which words; what serves as a base."""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Literal

import pytest
from msgspec.structs import replace as altered

from candidates.resolver import Base, base_of, derived_branch, resolve
from ranking.facts import Branch, Candidate, Evidence, Facts, RecentChoice, Settings
from ranking.ranker import rank
from tests.ranking.facts_builder import NOW, OID, chose, facts, pull, wants

if TYPE_CHECKING:
    from candidates.resolver import Resolution, Serving
    from ranking.facts import Rule

BRANCHES = "main release/1.0 release/1.1"
OTHER = "f" * 40


def resolved(bundle: Facts, memory_fault: str | None = None) -> Resolution:
    return resolve(bundle, rank(bundle), memory_fault)


def outcome(bundle: Facts) -> tuple[str | None, str | None]:
    found = resolved(bundle)
    return found.source, found.branch


def trail(bundle: Facts, memory_fault: str | None = None) -> dict[str, str]:
    """Each rule's reason, with `!` before that of the one that fired."""
    return {e.rule: ("!" if e.fired else "") + e.reason for e in resolved(bundle, memory_fault).trail}


# --- each rule alone ---


@pytest.mark.parametrize(("days", "said"), [(1, ""), (2, "2026-12-02")])
def test_a_choice_of_a_day_that_is_yet_to_come_is_said_to_be_one(days: int, said: str) -> None:
    bundle = facts(BRANCHES, recent=(chose("release/1.1", days_ago=-days), chose("release/1.0", days_ago=0)))
    told = trail(bundle)["remembered"]
    assert told.startswith(f"!release/1.1, chosen on {said or '2026-12-01'}")
    assert ("(yet to come: some clock was wrong, and no later choice goes before it)" in told) is bool(said)


def test_default_where_nothing_is_said() -> None:
    bundle = facts(BRANCHES)
    assert outcome(bundle) == ("default", "main")
    assert trail(bundle) == {
        "remembered": "nothing is remembered for this project",
        "derived": "no issue was given",
        "default": "!the server's default branch",
    }


def test_derived_where_the_issue_says_it() -> None:
    bundle = facts(BRANCHES, issue=wants("1.0"))
    assert outcome(bundle) == ("derived", "release/1.0")
    said = trail(bundle)
    assert re.match(r"!\+\d+: fixVersions 1\.0: ", said["derived"])
    assert said["default"] == "not needed, derived came first: the server's default branch"


def test_remembered_before_everything() -> None:
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),))
    assert outcome(bundle) == ("remembered", "release/1.1")
    said = trail(bundle)
    assert said["remembered"] == (
        "!release/1.1, chosen on 2026-11-29; outdated: release/1.0 is named for the issue's own version; "
        "the issue's evidence says release/1.0, the memory release/1.1; "
        "onConflict: remembered"
    )
    assert re.match(r"not needed, remembered came first: \+\d+: ", said["derived"])
    assert said["default"] == "not needed, remembered came first: the server's default branch"


# --- in every order ---

WINNERS = {"remembered": "release/1.1", "derived": "release/1.0", "default": "main"}
ORDERS = [order for length in (1, 2, 3) for order in permutations(WINNERS, length)]


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_the_first_rule_of_the_order_that_gives_a_branch_wins(order: tuple[Rule, ...]) -> None:
    settings = Settings(resolve_order=order)
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    assert outcome(bundle) == (order[0], WINNERS[order[0]])
    entries = resolved(bundle).trail
    assert [entry.rule for entry in entries] == list(order)
    assert [entry.fired for entry in entries] == [True] + [False] * (len(order) - 1)
    assert all(entry.reason.startswith(f"not needed, {order[0]} came first: ") for entry in entries[1:])


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
def test_a_rule_that_gives_nothing_is_passed_in_every_order(order: tuple[Rule, ...]) -> None:
    bundle = facts(BRANCHES, settings=Settings(resolve_order=order))
    expected = ("default", "main") if "default" in order else (None, None)
    assert outcome(bundle) == expected


def test_a_rule_that_is_named_twice_is_tried_once() -> None:
    bundle = facts(BRANCHES, settings=Settings(resolve_order=("derived", "default", "derived")))
    assert [entry.rule for entry in resolved(bundle).trail] == ["derived", "default"]


def test_without_rules_a_person_must_choose() -> None:
    bundle = facts(BRANCHES, issue=wants("1.0"), settings=Settings(resolve_order=()))
    assert resolved(bundle).trail == ()
    assert outcome(bundle) == (None, None)


# --- what contradicts ---

OUTDATED = "outdated: release/1.0 is named for the issue's own version"


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("remembered", ("remembered", "release/1.1")), ("derived", ("derived", "release/1.0")), ("ask", (None, None))],
)
def test_a_contradiction_is_settled_by_on_conflict(
    setting: Literal["remembered", "derived", "ask"], expected: tuple[str | None, str | None]
) -> None:
    settings = Settings(on_conflict=setting)
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    assert outcome(bundle) == expected
    said = trail(bundle)
    conflict = "the issue's evidence says release/1.0, the memory release/1.1"
    assert said["remembered"].removeprefix("!") == (
        f"release/1.1, chosen on 2026-11-29; {OUTDATED}; {conflict}; onConflict: {setting}"
    )
    if setting == "ask":
        assert said["derived"] == f"{conflict}; onConflict: ask"
        assert said["default"] == "not looked at: a conflict is for a person to settle (onConflict: ask)"


@pytest.mark.parametrize("setting", ["remembered", "derived", "ask"])
def test_agreement_is_no_contradiction(setting: Literal["remembered", "derived", "ask"]) -> None:
    settings = Settings(on_conflict=setting)
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.0"),), settings=settings)
    assert outcome(bundle) == ("remembered", "release/1.0")
    assert "onConflict" not in "".join(trail(bundle).values())


@pytest.mark.parametrize("order", [("derived", "default"), ("remembered", "default"), ("default",)], ids=" ".join)
def test_a_rule_that_is_not_asked_contradicts_nothing(order: tuple[Rule, ...]) -> None:
    settings = Settings(resolve_order=order, on_conflict="ask")
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    assert outcome(bundle) == (order[0], WINNERS[order[0]])
    assert "onConflict" not in "".join(trail(bundle).values())


def test_a_linked_release_contradicts_a_memory_too() -> None:
    settings = Settings(on_conflict="derived", resolve_order=("remembered", "derived"))
    bundle = facts(
        BRANCHES, issue=wants(links=(pull("release/1.0"),)), recent=(chose("release/1.1"),), settings=settings
    )
    assert outcome(bundle) == ("derived", "release/1.0")


def test_a_branch_that_only_its_releases_tell_is_not_named_for_the_version() -> None:
    bundle = facts("main stable/owl", tags="v1.2.2@stable/owl", issue=wants("1.2.3"), recent=(chose("main"),))
    assert outcome(bundle) == ("remembered", "main")
    assert "outdated" not in trail(bundle)["remembered"]


def test_what_may_not_be_derived_outdates_nothing() -> None:
    settings = Settings(derive_floor=0.9, on_conflict="derived")
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    assert outcome(bundle) == ("remembered", "release/1.1")
    assert trail(bundle)["remembered"] == "!release/1.1, chosen on 2026-11-29"


def test_of_many_branches_that_contradict_five_are_named() -> None:
    versions = tuple(f"1.{minor}" for minor in range(1, 8))
    bundle = facts(["main", *versions, "1.9"], issue=wants(versions), recent=(chose("1.9"),))
    five = "1.7, 1.6, 1.5, 1.4, 1.3"
    assert trail(bundle)["remembered"] == (
        f"!1.9, chosen on 2026-11-29; outdated: {five} is named for the issue's own version; "
        f"the issue's evidence says {five}, the memory 1.9; onConflict: remembered"
    )


def test_a_configured_order_that_puts_derived_first_is_not_said_to_be_overruled() -> None:
    settings = Settings(resolve_order=("derived", "remembered", "default"))
    bundle = facts(BRANCHES, issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    assert trail(bundle)["remembered"] == (
        "not needed, derived came first: release/1.1, chosen on 2026-11-29; "
        "outdated: release/1.0 is named for the issue's own version; "
        "the issue's evidence says release/1.0, the memory release/1.1"
    )


@pytest.mark.parametrize(
    ("branches", "wanted", "remembered", "said"),
    [
        ("main release/1.0 release/1.1", "1.0", "release/1.1", True),
        ("main release/1.0 release/1.1", "1.0.0", "release/1.1", True),  # zero padding is no other version
        ("main release/1.0 release/1.1", "1.0.3", "release/1.1", False),  # covered, not named for
        ("main release/1.0 release/1.1", "1.0", "release/1.0", False),  # it is the exact branch
        ("main release/1.0 release/1.1", "1.2", "release/1.1", False),  # not cut yet
        ("main release/1.0 release/1.1", (), "release/1.1", False),
    ],
)
def test_a_choice_is_outdated_where_another_branch_is_named_for_the_version(
    branches: str,
    wanted: str | tuple[str, ...],
    remembered: str,
    said: bool,  # noqa: FBT001 - a column of the table
) -> None:
    bundle = facts(branches, issue=wants(wanted), recent=(chose(remembered),))
    assert outcome(bundle) == ("remembered", remembered)
    assert (OUTDATED in trail(bundle)["remembered"]) is said


@pytest.mark.parametrize(
    ("setting", "expected"),
    [("remembered", ("remembered", "release/1.2")), ("derived", ("default", "main")), ("ask", (None, None))],
)
def test_a_tie_of_exact_branches_outdates_a_memory_too(
    setting: Literal["remembered", "derived", "ask"], expected: tuple[str | None, str | None]
) -> None:
    settings = Settings(on_conflict=setting)
    branches = "main release/1.0 release/1.1 release/1.2"
    bundle = facts(branches, issue=wants(("1.0", "1.1")), recent=(chose("release/1.2"),), settings=settings)
    assert outcome(bundle) == expected
    said = trail(bundle)
    assert said["remembered"].endswith(
        "the issue's evidence says release/1.1, release/1.0, the memory release/1.2; onConflict: " + setting
    )
    assert said["derived"].startswith("ambiguous: release/1.1, release/1.0 tie with ")


@pytest.mark.parametrize("setting", ["remembered", "derived", "ask"])
def test_a_memory_that_is_one_of_a_tie_is_not_outdated(setting: Literal["remembered", "derived", "ask"]) -> None:
    settings = Settings(on_conflict=setting)
    bundle = facts(BRANCHES, issue=wants(("1.0", "1.1")), recent=(chose("release/1.1"),), settings=settings)
    assert outcome(bundle) == ("remembered", "release/1.1")
    assert trail(bundle)["remembered"] == "!release/1.1, chosen on 2026-11-29"


# --- the memory ---


def aged(seconds: int, days: int = 15) -> Facts:
    choice = RecentChoice(branch="release/1.1", last_used=NOW - timedelta(days=days, seconds=seconds))
    return facts(BRANCHES, recent=(choice,), settings=Settings(branch_ttl_days=days))


@pytest.mark.parametrize("days", [1, 15, 400])
def test_the_time_to_live_includes_its_last_moment(days: int) -> None:
    assert outcome(aged(0, days)) == ("remembered", "release/1.1")
    assert outcome(aged(1, days)) == ("default", "main")
    day = NOW - timedelta(days=days, seconds=1)
    assert trail(aged(1, days))["remembered"] == (f"release/1.1, chosen on {day:%Y-%m-%d}: older than {days} days")


def test_with_a_time_to_live_of_nothing_only_this_moment_counts() -> None:
    assert outcome(aged(0, 0)) == ("remembered", "release/1.1")
    assert outcome(aged(1, 0)) == ("default", "main")


def test_the_most_recent_choice_counts_whatever_the_order_or_the_counts() -> None:
    older, newer = chose("release/1.0", 2, count=99), chose("release/1.1", 1)
    for recent in ((older, newer), (newer, older)):
        assert outcome(facts(BRANCHES, recent=recent)) == ("remembered", "release/1.1")


def test_an_expired_newest_choice_gives_no_older_one() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/1.0", 17), chose("release/1.1", 16)))
    assert outcome(bundle) == ("default", "main")


def test_a_choice_that_the_remote_no_longer_has_is_passed_over_and_kept() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/0.9"),), only_here="release/0.9")
    assert outcome(bundle) == ("default", "main")
    assert trail(bundle)["remembered"] == (
        "release/0.9, chosen on 2026-11-29: not in the remote's answer; kept in the memory, passed over in this run"
    )


def test_a_choice_that_a_cache_does_not_know_is_passed_over_in_other_words() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/0.9"),), provenance="local", complete=False)
    assert outcome(bundle) == ("default", "main")
    assert trail(bundle)["remembered"] == (
        "release/0.9, chosen on 2026-11-29: not in the cache and the local heads; "
        "kept in the memory, passed over in this run"
    )


def test_a_choice_that_only_the_cache_knows_serves_where_the_remote_said_nothing() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/1.1"),), provenance="local", complete=False)
    assert outcome(bundle) == ("remembered", "release/1.1")


def test_an_incomplete_answer_does_not_make_a_remembered_branch_gone() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/0.9"),), only_here="release/0.9", complete=False)
    assert outcome(bundle) == ("remembered", "release/0.9")


def test_a_work_branch_that_a_person_chose_counts() -> None:
    bundle = facts("main feature/big", recent=(chose("feature/big"),))
    assert outcome(bundle) == ("remembered", "feature/big")


def test_a_memory_that_could_not_be_read_is_not_an_empty_one() -> None:
    bundle = facts(BRANCHES, issue=wants("1.0"))
    assert trail(bundle, "memory.json is no JSON")["remembered"] == (
        "what is remembered is not known: memory.json is no JSON"
    )
    assert resolved(bundle, "memory.json is no JSON").branch == "release/1.0"


def test_what_could_be_read_of_a_damaged_memory_serves() -> None:
    bundle = facts(BRANCHES, recent=(chose("release/1.1"),))
    assert trail(bundle, "entry 3 is odd")["remembered"] == "!release/1.1, chosen on 2026-11-29"


# --- what may be derived ---


def test_a_tie_is_never_derived() -> None:
    bundle = facts(BRANCHES, issue=wants(("1.0", "1.1")))
    assert rank(bundle).ambiguous
    assert outcome(bundle) == ("default", "main")
    assert trail(bundle)["derived"] == "ambiguous: release/1.1, release/1.0 tie with 105 points"


@pytest.mark.parametrize("order", [o for o in ORDERS if "derived" in o], ids=" ".join)
def test_a_tie_is_never_derived_in_any_order(order: tuple[Rule, ...]) -> None:
    bundle = facts(BRANCHES, issue=wants(("1.0", "1.1")), settings=Settings(resolve_order=order))
    assert outcome(bundle)[0] != "derived"


def test_a_tie_names_five_at_most() -> None:
    versions = tuple(f"1.{minor}" for minor in range(7))
    bundle = facts(" ".join(f"release/{v}" for v in ("main", *versions)), default=None, issue=wants(versions))
    said = trail(bundle)["derived"]
    assert said.startswith("ambiguous: ")
    assert said.count("release/1.") == 5


@pytest.mark.parametrize("kind", ["version-convention", "recent", "repo-default", "sort-order", "ref-provenance"])
def test_evidence_that_is_not_decisive_derives_nothing_however_many_points_it_has(
    kind: Literal["version-convention", "recent", "repo-default", "sort-order", "ref-provenance"],
) -> None:
    bundle = facts(BRANCHES, issue=wants("Backlog"))
    top = Candidate(
        branch="release/1.0", score=999, refs=(), evidence=(Evidence(kind=kind, detail="+999: a great deal"),)
    )
    ranking = altered(rank(bundle), candidates=(top,), chosen="release/1.0", ambiguous=False)
    found = resolve(bundle, ranking)
    assert (found.source, found.branch) == ("default", "main")
    assert found.trail[1].reason == (
        "release/1.0 is first, but neither the issue's version nor a linked release says so"
    )


@pytest.mark.parametrize("kind", ["issue-version", "linked-release"])
def test_decisive_evidence_derives(kind: Literal["issue-version", "linked-release"]) -> None:
    bundle = facts(BRANCHES, issue=wants("Backlog"))
    top = Candidate(branch="release/1.0", score=1, refs=(), evidence=(Evidence(kind=kind, detail="+1: it says so"),))
    found = resolve(bundle, altered(rank(bundle), candidates=(top,), chosen="release/1.0", ambiguous=False))
    assert (found.source, found.branch, found.trail[1].reason) == ("derived", "release/1.0", "+1: it says so")


@pytest.mark.parametrize(
    ("wanted", "order", "expected"),
    [
        ("1.0", ("remembered", "derived"), "release/1.0"),
        ("1.0", ("remembered", "default"), None),
        (("1.0", "1.1"), ("derived",), None),
        ((), ("derived",), None),
    ],
)
def test_what_the_evidence_gives_by_itself(
    wanted: str | tuple[str, ...], order: tuple[Rule, ...], expected: str | None
) -> None:
    settings = Settings(resolve_order=order)
    bundle = facts(BRANCHES, issue=wants(wanted), recent=(chose("main"),), settings=settings)
    assert derived_branch(bundle, rank(bundle)) == expected


def test_an_issue_that_the_preferences_switch_off_derives_nothing() -> None:
    bundle = facts(BRANCHES, issue=wants("1.0"))
    found = resolve(bundle, rank(bundle), evidence_off=True)
    assert (found.source, found.branch) == ("default", "main")
    assert found.trail[1].reason == "the preferences say global.baseBranchEvidence off: the issue was not read"


def test_a_version_that_is_not_cut_yet_is_a_default() -> None:
    bundle = facts(BRANCHES, issue=wants("2.0"))
    assert rank(bundle).chosen == "main"
    assert outcome(bundle) == ("default", "main")


def test_nothing_listed_gives_nothing() -> None:
    bundle = facts("", default=None, default_state="none", issue=wants("1.0"))
    assert outcome(bundle) == (None, None)
    assert trail(bundle) == {
        "remembered": "nothing is remembered for this project",
        "derived": "there is no candidate",
        "default": "no branch could be a default",
    }


# --- the default ---


@pytest.mark.parametrize(
    ("branches", "default", "order", "branch", "reason"),
    [
        ("main develop", "main", None, "main", "the server's default branch"),
        ("develop", None, None, "develop", "the development branch; the server's default is not known"),
        ("x main", None, None, "main", "first of the default order; the server's default is not known"),
        ("x 1.0 1.1", None, None, "1.1", "first of the default order; the server's default is not known"),
        ("main develop", "main", ("develop", "main"), "develop", "first of the configured defaultOrder"),
        ("main develop release/1.0", "main", "seed", "develop", "first of the configured defaultOrder"),
        ("main release/1.0 release/1.1", "main", "seed", "release/1.1", "first of the configured defaultOrder"),
        ("main", "main", ("nope", "main"), "main", "first of the configured defaultOrder"),
    ],
)
def test_the_default_and_its_reason(
    branches: str, default: str | None, order: tuple[str, ...] | Literal["seed"] | None, branch: str, reason: str
) -> None:
    # Without dates a name alone (develop) does not beat the server's word.
    bundle = facts(branches, default=default, settings=Settings(default_order=order))
    assert outcome(bundle) == ("default", branch)
    assert trail(bundle)["default"] == f"!{reason}"


def test_a_development_branch_that_is_alive_is_the_default() -> None:
    bundle = facts("main develop", dates={"main": 3, "develop": 1})
    assert outcome(bundle) == ("default", "develop")
    assert trail(bundle)["default"] == "!the development branch"


@pytest.mark.parametrize("order", [(), ("nope",), ("releases/*",)])
def test_a_default_order_to_which_nothing_answers_invents_nothing(order: tuple[str, ...]) -> None:
    bundle = facts(BRANCHES, settings=Settings(default_order=order))
    assert outcome(bundle) == (None, None)
    assert trail(bundle)["default"] == "no branch answers to defaultOrder"


# --- the base ---


@pytest.mark.parametrize(
    ("tip", "cached", "local", "expected"),
    [
        (OID, OID, None, ("refs/remotes/origin/b", OID, "fresh")),
        (OID, OID, OTHER, ("refs/remotes/origin/b", OID, "fresh")),
        (OID, OTHER, None, ("refs/remotes/origin/b", OTHER, "cached-stale")),
        (OID, None, OID, ("refs/heads/b", OID, "local-branch")),
        (None, OID, OTHER, ("refs/remotes/origin/b", OID, "cached-stale")),
        (None, None, OID, ("refs/heads/b", OID, "local-branch")),
        (OID, None, None, None),
        (None, None, None, None),
    ],
)
def test_what_serves_as_the_base(
    tip: str | None, cached: str | None, local: str | None, expected: tuple[str, str, str] | None
) -> None:
    branch = Branch(name="b", tip=tip, cached_tip=cached, local_tip=local)
    assert base_of(branch, facts("b")) == as_base(expected)


@pytest.mark.parametrize(
    ("serving", "expected"),
    [
        ("any", ("refs/remotes/origin/b", OID, "fresh")),
        ("cached", ("refs/remotes/origin/b", OID, "fresh")),
        ("local", ("refs/heads/b", OTHER, "local-branch")),
    ],
)
def test_which_refs_may_serve(serving: Serving, expected: tuple[str, str, str]) -> None:
    branch = Branch(name="b", tip=OID, cached_tip=OID, local_tip=OTHER)
    assert base_of(branch, facts("b"), serving) == as_base(expected)
    assert base_of(Branch(name="b", local_tip=OTHER), facts("b"), "cached") is None
    assert base_of(Branch(name="b", cached_tip=OID), facts("b"), "local") is None


def test_without_a_remote_only_a_local_branch_serves() -> None:
    bundle = facts("b")
    alone = altered(bundle, repository=altered(bundle.repository, remote=None))
    both = Branch(name="b", cached_tip=OID, local_tip=OTHER)
    assert base_of(both, alone) == as_base(("refs/heads/b", OTHER, "local-branch"))


def test_a_base_is_never_fresh_where_the_remote_did_not_answer() -> None:
    # A replayed bundle may say what was advertised when it was made.
    branch = Branch(name="b", tip=OID, cached_tip=OID)
    expected = as_base(("refs/remotes/origin/b", OID, "cached-stale"))
    assert base_of(branch, facts("b", provenance="local", complete=False)) == expected


def as_base(expected: tuple[str, str, str] | None) -> Base | None:
    if expected is None:
        return None
    ref, commit, status = expected
    assert status in {"fresh", "cached-stale", "local-branch"}
    return Base(ref=ref, commit=commit, status=status)  # type: ignore[arg-type] # one of the three
