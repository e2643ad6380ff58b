"""Bundles that somebody else made up: ranked, resolved, asked about and shown, the same in every order.

How to look longer: `tests.fuzz.hostile`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from candidates.commands.explain import View, lines_of
from candidates.contract import decode_bundle, encode_line
from candidates.explain.diff import differ, difference_lines
from candidates.explain.markdown import label, markdown, mermaid, span
from candidates.explain.records import parse_saved, recorded
from candidates.questions.hosts import HostName, render
from candidates.questions.menu import Menu, Row, numbered
from candidates.questions.questions import Asking, base_branch_question
from candidates.resolver import resolve
from candidates.run.decide import Policy, decide
from candidates.run.replay import recollected
from ranking.names import name_problem
from ranking.ranker import rank
from tests.fuzz.hostile import GOOD_BUNDLE, answered, as_bytes, bundles, bytes_like, damaged, faults_of, fuzzed, texts

if TYPE_CHECKING:
    from ranking.facts import Facts


@fuzzed
@given(bundles, st.randoms(use_true_random=False))
def test_a_ranking_stands_under_its_schema_and_depends_on_no_order(bundle: Facts, random: object) -> None:
    ranking = rank(bundle)
    assert faults_of("ranking", ranking) == []
    listed = {branch.name for branch in bundle.refs.branches}
    for candidate in ranking.candidates:
        assert candidate.branch in listed
        assert name_problem(candidate.branch) is None
        assert sum(int(evidence.detail.partition(":")[0]) for evidence in candidate.evidence) == candidate.score
        assert all(evidence.detail.isprintable() for evidence in candidate.evidence)
    assert all(note.isprintable() for note in ranking.notes)
    shuffle = getattr(random, "shuffle")  # noqa: B009 - hypothesis gives no type for it
    branches, tags, recent = [*bundle.refs.branches], [*bundle.refs.tags], [*bundle.recent]
    for part in (branches, tags, recent):
        shuffle(part)
    refs = replace(bundle.refs, branches=tuple(branches), tags=tuple(tags))
    assert encode_line(rank(replace(bundle, refs=refs, recent=tuple(recent)))) == encode_line(ranking)


@fuzzed
@given(bundles)
def test_a_bundle_comes_back_from_the_wire_as_it_was(bundle: Facts) -> None:
    assert faults_of("bundle", bundle) == []
    assert decode_bundle(encode_line(bundle)) == bundle


@fuzzed
@given(bundles, st.sampled_from(("manual", "guided", "full")))
def test_a_decision_stands_under_its_schema(bundle: Facts, autonomy: str) -> None:
    policy = Policy(autonomy=autonomy, on_fetch_failure=None, issue_optional=True, base=None, replay=True)  # type: ignore[arg-type]
    decision, code = decide(recollected(bundle), policy)
    assert faults_of("decision", decision) == []
    said = [*decision.log, *(entry.reason for entry in decision.trail), *(q.question for q in decision.questions)]
    assert all(line.isprintable() for line in said)
    assert int(code) in {0, 3, 4, 6}
    assert parse_saved(encode_line(decision), "it", {}).branch == decision.base_branch


@fuzzed
@given(bundles, bundles, texts)
def test_every_view_of_anything_is_text_that_can_be_printed(bundle: Facts, other: Facts, name: str) -> None:
    record = recorded(recollected(bundle))
    for view in (View(), View(why=name), View(why_not=name)):
        said = ["".join(text for _, text in line) for line in lines_of(record, view)]
        assert all(line.isprintable() for line in said)
    stays_inside(markdown(record))
    picture = mermaid(record).splitlines()
    assert all(line.isprintable() and line.count('"') in {0, 2} for line in picture[1:-1])
    difference = differ(record, recorded(recollected(other)))
    assert msgspec.json.encode(difference)
    assert all("".join(text for _, text in line).isprintable() for line in difference_lines(difference))


def stays_inside(text: str) -> None:
    """Nothing of Markdown outside the code spans but what this program writes."""
    for line in text.splitlines():
        assert line.isprintable()
        outside = re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line)
        assert re.fullmatch(r"[A-Za-z0-9 .,:;*()#+'-]*", outside), line


@fuzzed
@given(texts)
def test_a_span_and_a_label_hold_anything(text: str) -> None:
    stays_inside(span(text))
    assert re.fullmatch(r"[A-Za-z0-9 ./;#-]*", label(text))


@fuzzed
@given(bundles, st.integers(1, 5))
def test_a_question_about_anything_can_be_asked_everywhere(bundle: Facts, page: int) -> None:
    ranking = rank(bundle)
    question = base_branch_question(bundle, ranking, resolve(bundle, ranking), Asking(page=page))
    assert 2 <= len(question.options) <= 4
    rows = tuple(Row(label=o.label, description=o.description) for o in question.options)
    assert all(line.isprintable() for line in numbered(Menu(question=question.question, rows=rows)))
    hosts: tuple[HostName, ...] = ("claude", "pi", "orc", "json")
    for host in hosts:
        assert msgspec.json.encode(render((question,), host))


@fuzzed
@given(st.one_of(damaged(GOOD_BUNDLE).map(as_bytes), bytes_like(as_bytes(GOOD_BUNDLE))))
def test_a_damaged_bundle_is_refused_or_ranked(data: bytes) -> None:
    found = answered(lambda: decode_bundle(data))
    if not isinstance(found, Exception):
        assert faults_of("ranking", rank(found)) == []
    answered(lambda: parse_saved(data, "it", {}))
