"""Two records side by side: every kind of change by its name, the evidence that followed, and the proven cause."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as altered

from candidates.contract import encode_pretty
from candidates.explain.diff import differ, difference_lines, fact_changes
from candidates.explain.records import Recorded, parse_saved, recorded
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from ranking.facts import Backtest, Failure, IssueField, IssueVersion, Settings
from tests.ranking.facts_builder import NOW, chose, facts, pull, wants
from tests.support.fitted import unfitted
from tests.support.program import base_branch

if TYPE_CHECKING:
    from pathlib import Path

    from ranking.facts import Facts, Issue

BEFORE = facts("main release/8.3.0", issue=wants("8.4.0"))
AFTER = facts("main release/8.3.0 release/8.4.0", issue=wants("8.4.0"))
CUT = "release/8.4.0: 012345678901"


def of(bundle: Facts) -> Recorded:
    return recorded(recollected(bundle), "bundle")


def changes(old: Facts, new: Facts) -> list[str]:
    return [f"{c.kind} {c.what}: {c.before} -> {c.after}" for c in fact_changes(old, new)]


def why(old: Facts, new: Facts) -> tuple[str, ...]:
    return differ(of(old), of(new)).why


# --- facts ---


def test_nothing_changed() -> None:
    assert changes(AFTER, AFTER) == []


def test_a_branch_is_cut_or_gone_only_by_a_complete_list() -> None:
    assert changes(BEFORE, AFTER) == ["branch-cut release/8.4.0: None -> 012345678901"]
    assert changes(AFTER, BEFORE) == ["branch-gone release/8.4.0: 012345678901 -> None"]
    partly = altered(BEFORE, refs=altered(BEFORE.refs, complete=False))
    assert changes(partly, AFTER) == [
        "remote-answer branches: remote, incomplete -> remote, complete",
        "branch-known release/8.4.0: None -> 012345678901",
    ]
    assert changes(AFTER, partly)[1] == "branch-unknown release/8.4.0: 012345678901 -> None"


def test_a_branch_that_only_this_clone_still_has_is_gone() -> None:
    after = facts("main release/8.3.0", only_here="release/8.4.0", issue=wants("8.4.0"))
    assert changes(AFTER, after) == ["branch-gone release/8.4.0: 012345678901 -> None"]


def test_a_branch_moved() -> None:
    main, *rest = AFTER.refs.branches
    moved = altered(AFTER, refs=altered(AFTER.refs, branches=(altered(main, tip="f" * 40), *rest)))
    assert changes(AFTER, moved) == ["branch-moved main: 012345678901 -> ffffffffffff"]


def test_a_remote_that_did_not_answer() -> None:
    silent = facts(
        "main release/8.3.0 release/8.4.0",
        provenance="local",
        complete=False,
        failure=Failure(kind="timed-out", detail="20 s"),
        issue=wants("8.4.0"),
    )
    assert changes(AFTER, silent) == ["remote-answer branches: remote, complete -> local, no answer (timed-out)"]


def test_tags() -> None:
    old = facts("main 1.x", tags="v1.0@main v1.1@1.x v1.2")
    new = facts("main 1.x", tags="v1.1@main v1.2@ v1.3@1.x")
    assert changes(old, new) == [
        "tag-gone v1.0: on main -> None",
        "tag-carriers v1.1: on 1.x -> on main",
        "tag-carriers v1.2: not known on which branches -> on no branch",
        "tag-made v1.3: None -> on 1.x",
    ]
    taken = altered(new.refs.tags[1], merged_into=("1.x", "main"))
    assert changes(new, altered(new, refs=altered(new.refs, tags=(new.refs.tags[0], taken, *new.refs.tags[2:])))) == [
        "tag-carriers v1.2: on no branch -> merged into 1.x, main"
    ]
    first = altered(old, refs=altered(old.refs, tags=(altered(old.refs.tags[0], commit="a" * 40),)))
    second = altered(old, refs=altered(old.refs, tags=(altered(old.refs.tags[0], commit="b" * 40),)))
    assert changes(first, second) == ["tag-moved v1.0: aaaaaaaaaaaa -> bbbbbbbbbbbb"]


def test_the_default_branch_was_renamed() -> None:
    assert changes(facts("main trunk"), facts("main trunk", default="trunk", default_state="cached")) == [
        "default-branch name: main -> trunk",
        "default-branch told by: remote -> cached",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (None, wants(), ["issue key: None -> APP-1", "issue read: None -> answered", "issue links: None -> answered"]),
        (
            wants("8.3.0"),
            wants("8.4.0"),
            [
                "version-removed fixVersions 8.3.0: fix -> None",
                "version-added fixVersions 8.4.0: None -> fix",
            ],
        ),
        (
            wants(more=(IssueVersion(name="8.3", field="fixVersions"),)),
            wants(more=(IssueVersion(name="8.3", field="fixVersions", released=True, release_date="2026-11-01"),)),
            ["version-edited fixVersions 8.3: fix -> fix, released, on 2026-11-01"],
        ),
        (wants(), wants(read="failed"), ["issue read: answered -> failed"]),
        (
            wants(fields=(IssueField(name="Target Version", role="target", state="empty"),)),
            wants(fields=(IssueField(name="Target Version", role="target", state="not-visible"),)),
            ["issue field Target Version: empty -> not-visible"],
        ),
        (
            wants(links=(pull("main"),)),
            wants(links=(pull("main", state="merged"), pull("1.x", key="acme/app#8"))),
            [
                "link-edited pull-request acme/app#7: open, targets main -> merged, targets main",
                "link-added pull-request acme/app#8: None -> open, targets 1.x",
            ],
        ),
        (wants(links=(pull("main"),)), wants(), ["link-removed pull-request acme/app#7: open, targets main -> None"]),
    ],
)
def test_the_issue(old: Issue | None, new: Issue | None, said: list[str]) -> None:
    assert changes(facts("main", issue=old), facts("main", issue=new)) == said


def test_the_memory() -> None:
    old = facts("main a b c", recent=(chose("a", 14), chose("b", 3), chose("c", 5)))
    new = altered(old, now=NOW + timedelta(days=2), recent=(chose("a", 14), chose("b", 1, 2), chose("main", 0)))
    assert changes(old, new) == [
        "memory-expired a: 1x, last on 2026-11-16 -> 1x, last on 2026-11-16",
        "memory-used b: 1x, last on 2026-11-27 -> 2x, last on 2026-11-29",
        "memory-forgotten c: 1x, last on 2026-11-25 -> None",
        "memory-new main: None -> 1x, last on 2026-11-30",
    ]


def test_settings_and_the_backtest() -> None:
    old = facts("main", settings=Settings(default_order=("main",)))
    figure = Backtest(asked=4, right=3, wrong=1, held=0, at=NOW)
    new = facts("main", settings=Settings(multiple_versions="lowest", default_order="seed"), backtest=figure)
    assert changes(old, new) == [
        "setting multipleVersions: ambiguous -> lowest",
        "setting defaultOrder: main -> seed",
        "backtest figure: None -> 3 of 4 right",
    ]


# --- evidence ---


def test_the_evidence_that_followed() -> None:
    found = differ(of(BEFORE), of(AFTER)).candidates
    first, *others = found
    assert (first.branch, first.before) == ("release/8.4.0", None)
    assert [(c.branch, c.before, c.after) for c in others] == [("main", 58, 43), ("release/8.3.0", 12, 13)]
    assert unfitted(first.gained[0]) == unfitted("issue-version +100: fixVersions 8.4.0: this branch's version")
    assert found[1].gained == ()
    assert [line.partition(":")[0] for line in found[1].lost] == ["version-convention +15"]


def test_a_candidate_that_went() -> None:
    assert [(c.branch, c.after) for c in differ(of(AFTER), of(BEFORE)).candidates][-1] == ("release/8.4.0", None)


# --- why ---


def test_a_branch_was_cut() -> None:
    assert why(BEFORE, AFTER)[:2] == (
        "The answer was main (default); it is release/8.4.0 (derived).",
        "Alone enough for it: the list of branches, put into the earlier facts.",
    )


def test_the_rules_that_did_something_else() -> None:
    said = why(facts("main", issue=wants()), facts("main", issue=wants(), recent=(chose("main"),)))
    assert said == (
        "The answer was main (default); it is main (remembered).",
        "Alone enough for it: the memory, put into the earlier facts.",
        (
            "The rule remembered passed (nothing is remembered for this project); "
            "now it fired (main, chosen on 2026-11-29)."
        ),
        (
            "The rule default fired (the server's default branch); "
            "now it passed (not needed, remembered came first: the server's default branch)."
        ),
    )


def test_two_changes_of_which_neither_is_enough() -> None:
    old = facts("main release/8.3.0", issue=wants("8.3.0"))
    assert why(old, AFTER)[1] == (
        "No one change is enough for it; none of these can be left out: the list of branches; the issue."
    )


def test_a_memory_that_ran_out() -> None:
    old = facts("main 1.x", recent=(chose("1.x", 14),))
    new = altered(old, now=NOW + timedelta(days=2))
    assert why(old, new)[:2] == (
        "The answer was 1.x (remembered); it is main (default).",
        "Alone enough for it: the date, put into the earlier facts.",
    )


def test_the_answer_is_the_same() -> None:
    assert why(AFTER, AFTER) == ("The answer is the same: release/8.4.0 (derived).",)
    tied = facts("main 1.x 2.x", issue=wants(("1.1", "2.1")))
    assert why(tied, tied) == ("The answer is the same: main (default; the evidence ties 2.x, 1.x).",)
    other = facts("main 1.x 2.x 3.x", issue=wants(("1.1", "3.1")))
    assert why(tied, other)[0] == (
        "The answer was main (default; the evidence ties 2.x, 1.x); it is main (default; the evidence ties 3.x, 1.x)."
    )


def test_records_of_different_work_say_so() -> None:
    other = altered(facts("main", name="acme/web", issue=altered(wants(), key="WEB-2")))
    assert why(AFTER, other)[:2] == (
        "These are of different repositories: acme/app and acme/web.",
        "These are of different issues: APP-1 and WEB-2.",
    )


# --- records without facts ---


def decision(bundle: Facts) -> Recorded:
    policy = Policy(autonomy="manual", replay=True)
    return parse_saved(encode_pretty(decide(recollected(bundle), policy)[0]), "it", {})


def test_two_decisions_have_no_facts_to_compare() -> None:
    found = differ(decision(BEFORE), decision(AFTER))
    assert found.facts is None
    assert found.unknown == (
        "which facts changed: the first is a decision, which has none",
        "which facts changed: the second is a decision, which has none",
    )
    assert next((c.branch, c.before) for c in found.candidates) == ("release/8.4.0", None)
    assert found.why[0] == "The first is a decision without an answer: none was taken, or a person had to choose."


def test_the_whole_for_a_person() -> None:
    said = ["".join(text for _, text in line) for line in difference_lines(differ(of(BEFORE), of(AFTER)))]
    assert said[0] == "The answer was main (default); it is release/8.4.0 (derived)."
    start = said.index("Facts")
    whole = """  branch-cut        release/8.4.0: 012345678901

Evidence
  release/8.4.0  none -> 105
    + issue-version +100: fixVersions 8.4.0: this branch's version"""
    assert unfitted("\n".join(said[start + 1 : start + 6])) == unfitted(whole)
    same = ["".join(text for _, text in line) for line in difference_lines(differ(of(AFTER), of(AFTER)))]
    assert same[1:] == ["", "Facts", "  the same", "", "Evidence", "  the same"]


def test_many_changes_are_counted_and_names_are_made_safe() -> None:
    new = facts(("main", *(f"1.{n}" for n in range(14)), "0\x1b[31m"))
    said = ["".join(text for _, text in line) for line in difference_lines(differ(of(facts("main")), of(new)))]
    assert "  branch-cut        0\\x1b[31m: 012345678901" in said
    assert "  branch-cut        and 5 more" in said
    assert "  and 4 more candidates" in said


def test_the_command(tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_bytes(encode_pretty(BEFORE))
    new.write_bytes(encode_pretty(AFTER))
    done = base_branch("diff", "--json", old, new)
    assert (done.code, done.err) == (0, "")
    answer = done.json()
    assert answer["schema"] == "base-branch/difference@1"
    assert answer["after"] == {
        "kind": "bundle",
        "branch": "release/8.4.0",
        "source": "derived",
        "ambiguous": False,
        "at": "2026-11-30T09:00:00Z",
    }
    assert answer["facts"] == [{"kind": "branch-cut", "what": "release/8.4.0", "before": None, "after": "012345678901"}]
    twice = base_branch("diff", "-", "-")
    assert (twice.code, twice.out) == (2, b"")
