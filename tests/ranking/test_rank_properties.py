"""What holds for every bundle: the order of the facts, what is listed, what adds up, and what may not weigh."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import permutations
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from ranking import weights
from ranking.facts import (
    Branch,
    Evidence,
    Facts,
    Failure,
    Issue,
    IssueField,
    IssueLink,
    IssueVersion,
    Ranking,
    RecentChoice,
    Settings,
    Tag,
)
from ranking.ranker import rank
from tests.ranking.facts_builder import NOW, OID, chose, facts, names, parent, pull, tag, unhurried, versions, wants

if TYPE_CHECKING:
    from collections.abc import Sequence

DECISIVE = ("issue-version", "linked-release")


# A small world, so that names, tags, labels and links meet.
NAMES = (
    "main",
    "master",
    "develop",
    "release/1.0",
    "release/1.1",
    "release/1.10",
    "release/1.2.0",
    "release/2.0-rc1",
    "v1.x",
    "1.1",
    "support/1.1",
    "stable/yoga",
    "js-1.1.x",
    "js-1.2.x",
    "1-1-stable",
    "stable11",
    "release-1.1-fix",
    "feature/1.1",
    "hotfix/1.1.1",
    "APP-1",
    "7",
    "release",
    "--evil",
    "HEAD",
    "release/1.1\u202e",
    "gone/1.1",
)
LABELS = ("1.0.1", "1.1", "1.1.x", "1.10.0", "1.2.0", "2.0.0", "2.0-rc1", "7", "9.9", "JS-1.1.0", "Next", "2+", "1.x")
TAGS = ("v1.0.0", "v1.1.0", "v1.1.1", "1.1.2", "v1.10.0", "v2.0.0-rc1", "js-1.1.0", "js-v1.2.0", "nightly-1.1.9", "x")

branch_names = st.lists(st.sampled_from(NAMES), unique=True, max_size=10)
labels = st.lists(st.sampled_from(LABELS), unique=True, max_size=3)


@st.composite
def issues(draw: st.DrawFn) -> Issue:
    """An issue with versions in every role and links of every kind that weighs."""
    links = draw(
        st.lists(
            st.one_of(
                st.builds(
                    lambda base, key, state, where: pull(base, key=f"acme/app#{key}", state=state, repository=where),
                    st.sampled_from(NAMES),
                    st.integers(1, 9),
                    st.sampled_from(("open", "merged", "closed", None)),
                    st.sampled_from(("acme/app", "acme/other", None)),
                ),
                st.builds(
                    lambda label, key, depth: parent(label, key=f"APP-{key}", depth=depth),
                    st.sampled_from(LABELS),
                    st.integers(1, 9),
                    st.integers(1, 3),
                ),
                st.builds(lambda key: IssueLink(kind="release", key=key), st.sampled_from(LABELS)),
            ),
            max_size=3,
            unique_by=lambda link: (link.kind, link.key),
        )
    )
    return wants(
        fix=tuple(draw(labels)),
        target=tuple(draw(labels)),
        label=tuple(draw(labels)),
        affected=tuple(draw(labels)),
        inherited=tuple(draw(labels)),
        links=tuple(links),
    )


@st.composite
def bundles(draw: st.DrawFn) -> Facts:
    """A whole bundle of that small world."""
    present = draw(branch_names)
    where = st.one_of(st.none(), st.lists(st.sampled_from(NAMES), max_size=2, unique=True).map(tuple))
    tagged = draw(st.lists(st.sampled_from(TAGS), unique=True, max_size=6))
    recent = draw(
        st.lists(
            st.builds(chose, st.sampled_from(NAMES), st.integers(0, 20), st.integers(1, 3)),
            max_size=3,
            unique_by=lambda choice: choice.branch,
        )
    )
    return facts(
        present,
        tags=[Tag(name=name, branches=draw(where)) for name in tagged],
        default=draw(st.sampled_from(("main", "master", "release/1.1", None))),
        dates={name: draw(st.integers(0, 60)) for name in present if draw(st.booleans())},
        only_here=draw(st.sampled_from(("", "gone/1.0", "gone/1.0 gone/2.0"))),
        issue=draw(st.one_of(st.none(), issues())),
        recent=tuple(recent),
        complete=draw(st.booleans()),
        provenance=draw(st.sampled_from(("remote", "local"))),
        settings=Settings(
            multiple_versions=draw(st.sampled_from(("ambiguous", "lowest", "highest", "development"))),
            default_order=draw(st.sampled_from((None, "seed", ("release/*", "x*", "main")))),
            max_candidates=draw(st.sampled_from((1, 3, 50))),
        ),
    )


def encoded(bundle: Facts) -> bytes:
    """The bytes of the answer."""
    return msgspec.json.encode(rank(bundle))


def listed(bundle: Facts) -> set[str]:
    """The names that the listing's answer has."""
    refs = bundle.refs
    if refs.provenance == "remote" and refs.complete:
        return {b.name for b in refs.branches if b.tip or not (b.cached_tip or b.local_tip)}
    return {b.name for b in refs.branches}


def place(ranking: Ranking, branch: str) -> int:
    """How many candidates are strictly better; all of them where the branch is none."""
    own = next((c.score for c in ranking.candidates if c.branch == branch), None)
    return sum(own is None or c.score > own for c in ranking.candidates)


# --- order ---


@unhurried
@given(bundles(), st.randoms(use_true_random=False))
def test_branches_tags_and_choices_in_any_order(bundle: Facts, random: object) -> None:
    shuffle = getattr(random, "shuffle")  # noqa: B009 - hypothesis gives no type for it
    branches, tags, recent = [*bundle.refs.branches], [*bundle.refs.tags], [*bundle.recent]
    for part in (branches, tags, recent):
        shuffle(part)
    refs = replace(bundle.refs, branches=tuple(branches), tags=tuple(tags))
    assert encoded(replace(bundle, refs=refs, recent=tuple(recent))) == encoded(bundle)


@unhurried
@given(bundles(), issues(), st.randoms(use_true_random=False))
def test_versions_and_links_in_any_order_decide_alike(bundle: Facts, issue: Issue, random: object) -> None:
    shuffle = getattr(random, "shuffle")  # noqa: B009 - hypothesis gives no type for it
    named, links = [*issue.versions], [*issue.links]
    shuffle(named)
    shuffle(links)
    first = rank(replace(bundle, issue=issue))
    second = rank(replace(bundle, issue=replace(issue, versions=tuple(named), links=tuple(links))))
    # The order of the notes has tests of its own below.
    assert replace(first, notes=()) == replace(second, notes=())
    assert sorted(first.notes) == sorted(second.notes)


def same_in_any_order(*issues: Issue) -> bool:
    """Whether two spellings of one issue give the same bytes."""
    return len({encoded(facts("main release/1.1 release/1.2", issue=issue)) for issue in issues}) == 1


@pytest.mark.parametrize("label", [("Next", "Backlog"), ("0.1", "Backlog")])
def test_versions_in_any_order(label: tuple[str, ...]) -> None:
    assert same_in_any_order(*(wants(order) for order in permutations((*label, "1.1", "2+"))))


def test_released_versions_in_any_order() -> None:
    both = tuple(IssueVersion(name=n, field="fixVersions", released=True) for n in ("1.1.0", "1.2.0"))
    assert same_in_any_order(wants(more=both), wants(more=both[::-1]))


def test_fields_in_any_order() -> None:
    fields = tuple(IssueField(name=n, role="fix", state="empty") for n in "ab")
    assert same_in_any_order(wants(fields=fields), wants(fields=fields[::-1]))


def test_links_of_one_key_in_any_order() -> None:
    links = tuple(IssueLink(kind="other", key="APP-2", label=label, versions=versions("1.1", "fix")) for label in "xy")
    assert same_in_any_order(wants(links=links), wants(links=links[::-1]))


def test_equal_choices_in_any_order() -> None:
    choices = (chose("release/1.1", 1, 2), chose("release/1.1", 1, 3), chose("main", 1, 2), chose("main", 2, 9))
    answers = {encoded(facts("main release/1.1", recent=order)) for order in permutations(choices)}
    assert len(answers) == 1


def test_one_branch_twice_in_any_order() -> None:
    bundle = facts("main", dates={"main": 1})
    twice = [
        Branch(name="develop", tip=OID, committed_at=NOW),
        Branch(name="develop", tip=OID, committed_at=NOW.replace(year=2020)),
    ]
    answers = {
        encoded(replace(bundle, refs=replace(bundle.refs, branches=(*bundle.refs.branches, *order))))
        for order in permutations(twice)
    }
    assert len(answers) == 1


def test_one_tag_twice_in_any_order() -> None:
    twice = [tag("v1.0.0@stable/a"), tag("v1.0.0@stable/b")]
    answers = {
        encoded(facts("main stable/a stable/b", tags=order, issue=wants("1.0.1"))) for order in permutations(twice)
    }
    assert len(answers) == 1


def test_two_modules_of_the_same_initials_in_any_order() -> None:
    tags = [tag("virtual-pager-api-0.6.0"), tag("very-plain-agent-0.7.0"), tag("v1.0.0@main"), tag("v1.1.0@main")]
    answers = {
        encoded(facts("main vpa-0.6 vpa-0.7", tags=order, issue=wants("very-plain-agent-0.7.1")))
        for order in permutations(tags)
    }
    assert len(answers) == 1


HASH_SCRIPT = """
import sys, msgspec
from ranking.facts import Facts
from ranking.ranker import rank
for line in sys.stdin.buffer:
    sys.stdout.buffer.write(msgspec.json.encode(rank(msgspec.json.decode(line, type=Facts))) + b"\\n")
"""


def hard_cases() -> list[Facts]:
    """Bundles that send the ranker through its sets: products, tails, ties, several conventions."""
    tags = " ".join(
        f"{prefix}1.{minor}.0@{branch}"
        for prefix, branch in (
            ("v", "release/1.1"),
            ("js-", "js-1.1.x"),
            ("py-lib-", "main"),
            ("x-y-", "release/1.1,1.1"),
        )
        for minor in range(4)
    )
    everything = [n for n in NAMES if n != "gone/1.1"]
    return [
        facts(
            everything,
            tags=tags,
            issue=wants(
                (label, "1.10.0"), inherited="1.0.1", links=(pull("1.1"), pull("release/1.0", key="acme/app#8"))
            ),
            recent=(chose("1.1"), chose("release/1.1")),
        )
        for label in (*LABELS, "py-lib 1.2.1", "JS x y 1.1.0")
    ]


def test_the_hash_seed_changes_nothing() -> None:
    lines = b"".join(msgspec.json.encode(bundle) + b"\n" for bundle in hard_cases())
    answers = {
        subprocess.run(
            [sys.executable, "-c", HASH_SCRIPT],
            input=lines,
            capture_output=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for seed in ("0", "1", "2", "3", "1234567")
    }
    assert answers == {b"".join(encoded(bundle) + b"\n" for bundle in hard_cases())}


# --- what is listed, what adds up ---


@unhurried
@given(bundles())
def test_only_what_is_listed_is_named(bundle: Facts) -> None:
    ranking = rank(bundle)
    assert set(names(ranking)) <= listed(bundle) - {"--evil", "HEAD", "release/1.1\u202e"}
    assert len(set(names(ranking))) == len(ranking.candidates) <= bundle.settings.max_candidates


@unhurried
@given(bundles())
def test_points_add_up_to_the_score(bundle: Facts) -> None:
    for each in rank(bundle).candidates:
        points = []
        for evidence in each.evidence:
            found = re.match(r"^([+-]\d+): \S", evidence.detail)
            assert found, evidence.detail
            points.append(int(found[1]))
        assert sum(points) == each.score


@unhurried
@given(bundles())
def test_candidates_are_sorted_by_score(bundle: Facts) -> None:
    scores = [c.score for c in rank(bundle).candidates]
    assert scores == sorted(scores, reverse=True)


@unhurried
@given(bundles())
def test_chosen_is_left_out_exactly_where_nothing_is_chosen(bundle: Facts) -> None:
    ranking = rank(bundle)
    assert (ranking.chosen is UNSET) == (ranking.ambiguous or not ranking.candidates)
    full = rank(replace(bundle, settings=replace(bundle.settings, max_candidates=1000)))
    top = [c.branch for c in full.candidates if c.score == full.candidates[0].score]
    assert ranking.ambiguous == (len(top) > 1)
    assert ranking.chosen is UNSET or [ranking.chosen] == top


@unhurried
@given(bundles())
def test_the_answer_is_the_record_of_the_wire(bundle: Facts) -> None:
    ranking = rank(bundle)
    assert msgspec.json.decode(msgspec.json.encode(ranking), type=Ranking) == ranking
    assert msgspec.json.decode(msgspec.json.encode(bundle), type=Facts) == bundle


@unhurried
@given(bundles())
def test_an_issue_without_versions_and_links_derives_nothing(bundle: Facts) -> None:
    kinds = {e.kind for c in rank(replace(bundle, issue=None)).candidates for e in c.evidence}
    assert not kinds & set(DECISIVE)


@unhurried
@given(bundles(), st.lists(st.sampled_from(LABELS), min_size=1, max_size=3).map(tuple))
def test_an_affected_version_alone_derives_nothing(bundle: Facts, affected: tuple[str, ...]) -> None:
    kinds = {e.kind for c in rank(replace(bundle, issue=wants(affected=affected))).candidates for e in c.evidence}
    assert not kinds & set(DECISIVE)


@unhurried
@given(bundles())
def test_what_carries_decisive_evidence_leads(bundle: Facts) -> None:
    """A branch without any never stands before one with some, nor is chosen beside one."""
    ranking = rank(bundle)
    decided = [c for c in ranking.candidates if any(e.kind in DECISIVE for e in c.evidence)]
    others = [c for c in ranking.candidates if not any(e.kind in DECISIVE for e in c.evidence)]
    waiting = [c for c in others if any("+100: " in e.detail for e in c.evidence)]
    assert all(d.score > o.score for d in decided for o in others if o not in waiting)


# --- weights ---


def lesser_weights() -> int:
    """The most that a branch without decisive evidence can have, beside what the listing gives to all."""
    claims = (weights.NOT_CUT_YET, weights.RUNNER_UP, weights.WEAK_MATCH, weights.AFFECTED, weights.MENTIONED)
    default = max(weights.REPO_DEFAULT, weights.SERVER_DEFAULT)
    return max(claims) + default + weights.RECENT + weights.SORT_ORDER + weights.CONVENTION


def test_lesser_weights_together_stay_below_the_least_decisive() -> None:
    assert lesser_weights() < weights.INHERITED_LEAST <= weights.LINKED_RELEASE < weights.ISSUE_VERSION


def test_a_version_from_far_up_still_leads() -> None:
    issue = wants(links=(parent("1.2.0", depth=10),))
    assert rank(facts("main 1.2 1.3", issue=issue, recent=(chose("main"),))).chosen == "1.2"


def test_the_order_of_the_weights() -> None:
    assert weights.ISSUE_VERSION > weights.LINKED_RELEASE > weights.INHERITED_LEAST > 0
    assert weights.ALSO_WANTED == weights.ISSUE_VERSION
    assert weights.RUNNER_UP > weights.WEAK_MATCH > weights.AFFECTED > weights.MENTIONED > 0
    assert weights.REPO_DEFAULT > weights.SERVER_DEFAULT > weights.NOT_CUT_YET
    assert weights.LISTED > weights.CACHED > 0
    tables = {"FORESEEN", "TIED", "PRIORS", "SENTENCES"}
    assert all(type(v) is int for n, v in vars(weights).items() if n.isupper() and n not in tables)
    assert 0 < weights.TIED < weights.FORESEEN < 1 < weights.RIVAL
    assert all(type(points) is int for points in weights.PRIORS.values())


# --- free text ---

free = st.text(alphabet=st.characters(codec="utf-8"), max_size=30)


@unhurried
@given(bundles(), issues(), free, free)
def test_free_text_gives_no_points(bundle: Facts, issue: Issue, text: str, other: str) -> None:
    """The issue's key, a link's label, and a failure's detail may add notes, never points."""
    quiet = rank(replace(bundle, issue=issue))
    links = tuple(replace(link, label=text) for link in issue.links)
    failure = Failure(kind="unknown", detail=other)
    loud = rank(
        replace(
            bundle,
            refs=replace(bundle.refs, failure=failure),
            issue=replace(issue, key=text, failure=failure, links=links),
        )
    )
    assert quiet.candidates == loud.candidates
    assert (quiet.chosen, quiet.ambiguous) == (loud.chosen, loud.ambiguous)


@unhurried
@given(bundles(), free)
def test_the_key_of_a_link_gives_no_points(bundle: Facts, key: str) -> None:
    def scores(link: IssueLink) -> dict[str, int]:
        return {c.branch: c.score for c in rank(replace(bundle, issue=wants(links=(link,)))).candidates}

    for link in (pull("release/1.1"), parent("1.1.0"), IssueLink(kind="relates", key="APP-2")):
        assert scores(replace(link, key=key)) == scores(link)


@unhurried
@given(bundles(), st.sampled_from(("clones", "blocks", "relates", "other")), st.sampled_from(LABELS))
def test_a_mere_mention_gives_no_points(bundle: Facts, kind: str, label: str) -> None:
    link = msgspec.convert(
        {
            "kind": kind,
            "key": label,
            "versions": [{"name": label, "field": "fixVersions"}],
            "baseBranch": "release/1.1",
        },
        type=IssueLink,
    )
    assert (
        rank(replace(bundle, issue=wants(links=(link,)))).candidates == rank(replace(bundle, issue=wants())).candidates
    )


# --- more support never lowers ---


def supported(bundle: Facts, issue: Issue | None = None, recent: Sequence[RecentChoice] = ()) -> Facts:
    """Add to a bundle."""
    return replace(bundle, issue=issue or bundle.issue, recent=(*bundle.recent, *recent))


@unhurried
@given(bundles())
def test_a_linked_pull_request_lowers_nothing_that_it_targets(bundle: Facts) -> None:
    bundle = replace(bundle, settings=replace(bundle.settings, max_candidates=1000))
    before, issue = rank(bundle), bundle.issue or wants()
    for branch in names(before):
        link = pull(branch, key="acme/app#99")
        after = rank(supported(bundle, replace(issue, links=(*issue.links, link))))
        assert place(after, branch) <= place(before, branch)


@unhurried
@given(bundles())
def test_a_recent_choice_lowers_nothing_that_it_chose(bundle: Facts) -> None:
    bundle = replace(bundle, settings=replace(bundle.settings, max_candidates=1000))
    before = rank(bundle)
    for branch in names(before):
        after = rank(supported(bundle, recent=[chose(branch, 0, 5)]))
        assert place(after, branch) <= place(before, branch)


@unhurried
@given(bundles())
def test_a_version_lowers_nothing_that_it_names(bundle: Facts) -> None:
    """`release/1.1` stands where it stood, or better, once the only fix version is 1.1.1.

    Without its twins, and without tags: of several that a version names, the others may be better supported. The
    default branch has a case of its own below.
    """
    alone = tuple(b for b in bundle.refs.branches if b.name not in {"1.1", "support/1.1", "1-1-stable", "stable11"})
    bundle = replace(
        bundle,
        issue=None,
        repository=replace(bundle.repository, default_branch="main"),
        refs=replace(bundle.refs, branches=alone, tags=()),
        settings=replace(bundle.settings, max_candidates=1000, multiple_versions="ambiguous"),
    )
    before = rank(bundle)
    for branch, label in (("release/1.1", "1.1.1"), ("release/1.10", "1.10.2"), ("release/1.0", "1.0.4")):
        if branch in names(before):
            after = rank(replace(bundle, issue=wants(label)))
            assert place(after, branch) <= place(before, branch)


def test_a_version_lowers_no_default_branch_that_is_named_for_its_line() -> None:
    bundle = facts("v1.x release/1.1", tags="v1.1.0@release/1.1", default="release/1.1", issue=wants("1.1.1"))
    assert rank(bundle).chosen == "release/1.1"


@unhurried
@given(bundles())
def test_agreement_lowers_nothing(bundle: Facts) -> None:
    """A pull request and a parent that agree with the chosen branch leave it chosen."""
    bundle = replace(bundle, issue=wants("1.1.1"))
    before = rank(bundle)
    if before.chosen is not UNSET:
        issue = wants("1.1.1", inherited="1.1.1", links=(pull(before.chosen), parent("1.1.2")))
        assert rank(replace(bundle, issue=issue)).chosen == before.chosen


def test_evidence_begins_with_its_points() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"kind": "recent", "detail": "12: no sign"}, type=Evidence)


# --- size: that it ends, and says the same as a small one ---


def test_a_name_of_a_hundred_kilobytes() -> None:
    for unit in ("a", "1.", "1-1.1_", "a1-", "1.0-rc", "é", "1.x-"):
        name = "release/1.2-" + unit * (100_000 // len(unit)) + "z"
        assert set(names(rank(facts(["main", name], issue=wants("1.2.3"))))) == {"main", name}
        ranking = rank(facts("main 1.2 1.3", issue=wants(name)))
        assert ranking.chosen in {"main", "1.2"}


def test_a_label_of_ten_thousand_digits() -> None:
    ranking = rank(facts("main 1.1 1.2", issue=wants(("1" * 10_000, "1.2"))))
    assert ranking.chosen == "1.2"


def test_twenty_thousand_branches_and_tags() -> None:
    branches = ["main", *(f"release/{i // 100}.{i % 100}" for i in range(20_000))]
    tags = [tag(f"v{i // 100}.{i % 100}.1@release/{i // 100}.{i % 100}") for i in range(20_000)]
    ranking = rank(facts(branches, tags=tags, issue=wants("77.7.2")))
    assert (ranking.chosen, len(ranking.candidates)) == ("release/77.7", 50)
    first = ", ".join(f"release/0.{minor}" for minor in (0, 1, 10, 11, 12))
    assert ranking.notes == (f"left out after the first 50 candidates: 19951: {first}, ...",)
