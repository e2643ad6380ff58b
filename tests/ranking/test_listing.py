"""What the three tips of a branch tell, which lines nobody looked at, and the quick way through plain names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as altered

from ranking.facts import Branch, Facts, IssueLink, Tag
from ranking.listing import counted, hangs_on_dates, list_branches, tip_notes
from ranking.names import _FORBIDDEN, _UNSEEN, name_problem, printable
from ranking.ranker import rank, read_asked
from ranking.unlooked import unlooked_lines
from tests.ranking.facts_builder import NOW, facts, unhurried, wants

A, B, C = ("a" * 40, "b" * 40, "c" * 40)


def branch(name: str, tip: str | None, cached: str | None = None, local: str | None = None) -> Branch:
    return Branch(name=name, tip=tip, cached_tip=cached, local_tip=local)


def with_branches(*branches: Branch, provenance: str = "remote") -> Facts:
    base = facts("main")
    return altered(base, refs=altered(base.refs, branches=branches, provenance=provenance))


MOVED = "moved on the remote since the last fetch: 1: main"
BEHIND = "local branches behind the remote's: 1: main"
APART = "local branches not at the remote's commit (behind, ahead or both): 1: main"


@pytest.mark.parametrize(
    ("tip", "cached", "local", "said"),
    [
        (A, A, A, []),
        (A, None, None, []),
        (A, A, None, []),
        (A, B, None, [MOVED]),
        (A, B, B, [MOVED, BEHIND]),
        (A, B, A, [MOVED]),
        (A, B, C, [MOVED, APART]),
        (A, A, B, [APART]),
        (A, None, B, [APART]),
        (None, B, C, []),
    ],
)
def test_the_three_tips(tip: str | None, cached: str | None, local: str | None, said: list[str]) -> None:
    bundle = with_branches(branch("main", tip, cached, local))
    assert tip_notes(bundle, bundle.refs.branches) == said
    assert tip_notes(bundle, []) == []
    assert tip_notes(altered(bundle, refs=altered(bundle.refs, provenance="local")), bundle.refs.branches) == []


def test_only_candidates_are_spoken_of_and_five_are_named() -> None:
    lines = [branch(f"release/1.{n}", A, B) for n in range(7)]
    bundle = with_branches(branch("main", A, A), *lines, branch("feature/x", A, B))
    named = "release/1.0, release/1.1, release/1.2, release/1.3, release/1.4, ..."
    assert f"moved on the remote since the last fetch: 7: {named}" in rank(bundle).notes
    few = altered(bundle, settings=altered(bundle.settings, max_candidates=2))
    assert "moved on the remote since the last fetch: 1: release/1.6" in rank(few).notes


def test_names_are_counted_in_the_order_of_their_bytes_and_escaped() -> None:
    assert counted(["b", "\u202ea", "a"]) == "3: a, b, \\u202ea"
    assert counted([f"n{i}" for i in range(6)]) == "6: n0, n1, n2, n3, n4, ..."
    assert counted([f"n{i}" for i in range(5)]) == "5: n0, n1, n2, n3, n4"
    assert printable("a\u3164b") == "a\\u3164b"
    assert printable("\u00e9\n\u3164") == "\u00e9\\n\\u3164"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (branch("b", None, None, A), branch("b", A, None, A)),
        (branch("b", A), branch("b", B)),
        (branch("b", A, None, B), branch("b", A, C, B)),
        (branch("b", A, B, None), branch("b", A, B, C)),
        (branch("b", A), altered(branch("b", A), committed_at=NOW)),
    ],
)
def test_of_two_records_of_one_branch_the_same_one_counts(one: Branch, other: Branch) -> None:
    assert list_branches(with_branches(one, other)).branches == {"b": other}
    assert list_branches(with_branches(other, one)).branches == {"b": other}
    assert list_branches(with_branches(other, branch("a", B), one)).branches["b"] == other


def test_branches_are_listed_in_the_order_of_their_names() -> None:
    assert list(list_branches(facts("release/1.10 main release/1.9")).branches) == [
        "main",
        "release/1.10",
        "release/1.9",
    ]


def test_a_branch_that_one_record_has_gone_is_counted_once_by_the_record_that_counts() -> None:
    listed = list_branches(with_branches(branch("main", A), branch("old", None, A), branch("old", None, B)))
    assert (sorted(listed.branches), listed.notes[0]) == (
        ["main"],
        "known only from this clone, the remote does not have it: 1: old",
    )
    assert "old" in list_branches(with_branches(branch("main", A), branch("old", None, A), branch("old", B))).branches


def test_only_a_branch_named_for_development_hangs_on_dates() -> None:
    assert [
        hangs_on_dates(list_branches(facts(names))) for names in ("main release/1.0", "main develop", "main developer")
    ] == [
        False,
        True,
        False,
    ]


# --- lines that nobody looked at ---


def unseen(label: str, *tags: Tag, branches: str = "main stable/owl stable/elk feature/owl") -> tuple[str, ...]:
    base = facts(branches, issue=wants(fix=label))
    return unlooked_lines(altered(base, refs=altered(base.refs, tags=tags)))


def test_the_lines_that_could_carry_the_release_that_decides() -> None:
    assert unseen("3.1.2", Tag(name="v3.1.1", branches=None)) == ("main", "stable/elk", "stable/owl")


UNSEEN = Tag(name="v3.1.1", branches=None)


def test_lines_are_in_the_default_order_and_other_names_follow() -> None:
    branches = "main release/2.2 release/2.3 widget-2.0 bugfix/2.1"
    seen = Tag(name="v1.0.0", branches=("main",))
    for label in ("3.1.2", "widget 3.1.2"):
        found = unseen(label, seen, UNSEEN, branches=branches)
        assert found == ("main", "release/2.3", "release/2.2", "widget-2.0")


def test_a_release_item_of_this_repository_may_hang_on_a_look_too() -> None:
    link = IssueLink(kind="release", key="3.1.2", repository="acme/app")
    base = facts("main stable/owl", issue=wants(links=(link,)))
    assert unlooked_lines(altered(base, refs=altered(base.refs, tags=(UNSEEN,)))) == ("main", "stable/owl")


@pytest.mark.parametrize(
    ("label", "tags"),
    [
        ("3.1.2", (Tag(name="v3.1.1", branches=("stable/owl",)),)),
        ("3.1.2", (Tag(name="v3.1.1", branches=()),)),
        ("3.1.2", ()),
        ("4.0.0", (Tag(name="v3.1.1", branches=None),)),
        ("3.1.2", (Tag(name="v2.0.0", branches=None), Tag(name="v3.1.1", branches=("stable/owl",)))),
        ("Backlog", (Tag(name="v3.1.1", branches=None),)),
    ],
)
def test_nothing_is_to_be_looked_at_where_nothing_hangs_on_it(label: str, tags: tuple[Tag, ...]) -> None:
    assert unseen(label, *tags) == ()


def test_a_name_that_covers_the_version_needs_no_look() -> None:
    assert unseen("3.1.2", Tag(name="v3.1.1", branches=None), branches="main release/3.1 release/3.0") == ()


def test_a_branch_whose_tip_is_a_tagged_commit_comes_first() -> None:
    base = facts("main", issue=wants(fix="3.1.2"))
    branches = (branch("main", B), branch("stable/elk", C), branch("stable/owl", A))
    refs = altered(base.refs, branches=branches, tags=(Tag(name="v3.1.1", commit=A, branches=None),))
    assert unlooked_lines(altered(base, refs=refs)) == ("stable/owl", "main", "stable/elk")
    # Not where that tag was looked at, nor where no commit is known.
    tags = (Tag(name="v3.1.1", branches=None), Tag(name="v2.0.0", commit=A, branches=("main",)))
    branches = (branch("main", B), branch("stable/elk", None), branch("stable/owl", A))
    refs = altered(base.refs, branches=branches, tags=tags)
    assert unlooked_lines(altered(base, refs=refs)) == ("main", "stable/elk", "stable/owl")


# --- the quick way is the same way ---


@unhurried
@given(st.text(alphabet="aB9_-./+~^@{ \u202ehedlockHEAD", max_size=12))
def test_plain_names_have_no_fault_by_the_whole_check_either(name: str) -> None:
    faulty = (
        not name
        or name.startswith("-")
        or name == "HEAD"
        or bool(_FORBIDDEN.search(name))
        or not name.isprintable()
        or bool(_UNSEEN.search(name))
    )
    assert (name_problem(name) is not None) == faulty


@pytest.mark.parametrize("name", ["HEAD", "a.lock", "a.lock/b", "a..b", "a//b", "a/.b", "a.", "a/", ".a", "-a", "@"])
def test_faults_that_the_quick_way_must_not_miss(name: str) -> None:
    assert name_problem(name) is not None


def test_a_view_made_like_another_is_the_same_view() -> None:
    bundle = with_branches(branch("main", A), branch("gone", None, A), branch("-x", A), branch("release/1.0", A))
    other = altered(bundle, repository=altered(bundle.repository, default_branch=None))
    assert list_branches(other, list_branches(bundle)) == list_branches(other)
    assert rank(other, read_asked(other, read_asked(bundle))) == rank(other)
