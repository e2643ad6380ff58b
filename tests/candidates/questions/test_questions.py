"""The question as data: rows, order, the marked one, pages, breadcrumb, languages; what each option stands for."""

from __future__ import annotations

import string
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace as altered

from candidates.contract import BaseBranchSource, Decision, Question
from candidates.questions.languages import ENGLISH, Language, read_language
from candidates.questions.questions import (
    Answer,
    Asking,
    answers_of,
    base_branch_question,
    breadcrumb,
    fetch_failed_question,
    remote_question,
)
from candidates.resolver import resolve
from collectors.errors import InvalidInput
from ranking.facts import Failure, Settings
from ranking.ranker import rank
from tests.ranking.facts_builder import chose, facts, wants
from tests.support.states import decided

if TYPE_CHECKING:
    from ranking.facts import Facts

TURKISH = read_language("tr")


def ask(bundle: Facts, page: int = 1, language: Language = ENGLISH) -> Question:
    ranking = rank(bundle)
    return base_branch_question(bundle, ranking, resolve(bundle, ranking), Asking(language=language, page=page))


def labels(question: Question) -> list[str]:
    return [option.label for option in question.options]


def walk(bundle: Facts) -> list[list[str]]:
    """The branches of every page, as a person reaches them from the first."""
    first = ask(bundle)
    pages, question = [], first
    while True:
        answers = answers_of(question)
        pages.append([answer.name for answer in answers if answer.name is not None])
        following = answers[-1].page
        if following is None:
            return pages
        question = ask(bundle, following)
        if labels(question) == labels(first):
            return pages


# --- rows and their order ---


def test_every_row_carries_its_evidence_and_its_consequence() -> None:
    bundle = facts("main release/1.0 release/1.1", issue=wants("1.0"))
    question = ask(bundle)
    candidates = {candidate.branch: candidate for candidate in rank(bundle).candidates}
    assert question.question == "Which branch does the work for APP-1 in acme/app belong on?"
    assert (question.header, question.default, question.allow_free_text) == ("Base branch", 1, True)
    assert labels(question) == list(candidates)
    for option in question.options:
        evidence = candidates[option.label].evidence
        assert option.preview == "\n".join(
            [f"cut from {option.label}", *(f"{entry.kind}: {entry.detail}" for entry in evidence)]
        )
        reason = evidence[0].detail.partition(": ")[2]
        said = f"{reason} ({candidates[option.label].score} points). The work begins from it."
        marked = "recommended: " if option.label == "release/1.0" else ""
        assert option.description == marked + said


def test_what_autopilot_would_take_is_first_also_where_it_is_not_the_top_candidate() -> None:
    bundle = facts("main release/1.0 release/1.1", settings=Settings(default_order=("release/1.0",)))
    ranking = rank(bundle)
    assert resolve(bundle, ranking).branch == "release/1.0"
    question = ask(bundle)
    assert (labels(question)[0], question.default) == ("release/1.0", 1)


def test_remembered_ones_stand_before_the_rest_newest_first_and_five_at_most() -> None:
    names = [f"release/{n}.0" for n in range(1, 9)]
    recent = tuple(chose(name, days_ago=n) for n, name in enumerate(names[:7], 1))
    bundle = facts(["main", *names], issue=wants("8.0"), recent=recent)
    bundle = altered(bundle, settings=Settings(on_conflict="derived"))
    rows = [name for page in walk(bundle) for name in page]
    assert rows[:6] == ["release/8.0", *names[:5]]
    assert sorted(rows) == sorted(["main", *names])
    description = next(o.description for o in ask(bundle).options if o.label == "release/1.0")
    assert description.startswith("chosen on 2026-11-29, 1x; ")


def test_a_memory_that_is_too_old_or_gone_is_no_row_of_its_own() -> None:
    recent = (chose("release/9.9", days_ago=1), chose("main", days_ago=40))
    question = ask(facts("main release/1.0", issue=wants("1.0"), recent=recent))
    assert labels(question) == ["release/1.0", "main"]
    assert not any("chosen on" in option.description for option in question.options)


@pytest.mark.parametrize(
    ("remembered", "order"),
    [
        ("main", ["release/1.1", "release/1.0", "main"]),
        ("release/1.0", ["release/1.0", "release/1.1", "main"]),
    ],
)
def test_of_a_tie_nothing_is_marked_and_a_remembered_one_outside_it_is_last(remembered: str, order: list[str]) -> None:
    bundle = facts("main release/1.0 release/1.1", issue=wants(("1.0", "1.1")))
    question = ask(altered(bundle, recent=(chose(remembered, days_ago=2),)))
    assert (labels(question)[:3], question.default) == (order, None)
    assert not any(option.description.startswith("recommended") for option in question.options)


def test_one_candidate_gets_a_second_option_that_opens_the_whole_list() -> None:
    bundle = facts("main feature/a feature/b bugfix/c")
    assert [candidate.branch for candidate in rank(bundle).candidates] == ["main"]
    question = ask(bundle)
    assert labels(question) == ["main", "Pick another branch"]
    assert question.options[1].description == "shows the next of all 4 branches (--page 2)"
    assert answers_of(question) == (Answer(kind="branch", name="main"), Answer(kind="page", page=2))
    assert labels(ask(bundle, 2)) == ["bugfix/c", "feature/a", "feature/b", "Pick another branch"]
    assert ask(bundle, 2).options[0].description == "left out of the ranking. The work begins from it."
    assert ask(bundle, 2).default is None


def test_the_only_branch_of_all_and_none_at_all_are_questions_with_two_answers() -> None:
    assert labels(ask(facts("main"))) == ["main", "Pick another branch"]
    nothing = ask(facts("", default=None))
    assert labels(nothing) == ["Pick another branch", "Stop"]
    assert answers_of(nothing) == (Answer(kind="page", page=2), Answer(kind="stop"))


# --- pages ---


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 9])
def test_pages_of_two_to_four_options_hold_every_branch_once(count: int) -> None:
    names = [f"release/{n}.0" for n in range(1, count + 1)]
    bundle = facts(names, default=None)
    pages = walk(bundle)
    assert sorted(name for page in pages for name in page) == sorted(names)
    for page in range(1, len(pages) + 1):
        question = ask(bundle, page)
        assert 2 <= len(question.options) <= 4
        assert question.id == ("base-branch" if page == 1 else f"base-branch:{page}")
    assert labels(ask(bundle, len(pages) + 1)) == labels(ask(bundle))


def test_ten_thousand_branches_are_a_question_of_four_options() -> None:
    bundle = facts([f"release/{n}.0" for n in range(10_000)], default=None)
    assert len(rank(bundle).candidates) == 50
    question = ask(bundle)
    assert len(question.options) == 4
    assert question.options[3].description == "shows the next of all 10000 branches (--page 2)"
    assert labels(ask(bundle, 18))[0] == "release/0.0"  # the first that the ranking does not list


def test_a_page_below_one_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^--page: there is no page 0$"):
        ask(facts("main"), 0)


def test_many_remotes_are_pages_too() -> None:
    names = ["a", "b", "c", "d", "e"]
    first, second = remote_question("acme/app", names), remote_question("acme/app", names, Asking(page=2))
    assert (labels(first), labels(second)) == (
        ["a", "b", "c", "Pick another remote"],
        ["d", "e", "Pick another remote"],
    )
    assert answers_of(second)[:2] == (Answer(kind="remote", name="d"), Answer(kind="remote", name="e"))
    assert answers_of(first)[3] == Answer(kind="page", page=2)


# --- what an option stands for ---


def test_a_branch_that_is_called_like_another_option_is_still_a_branch() -> None:
    bundle = facts(["main", "Stop", "feature/x"], default="Stop")
    question = ask(bundle)
    assert labels(question)[0] == "Stop"
    assert answers_of(question)[0] == Answer(kind="branch", name="Stop")


def test_how_to_go_on_is_told_by_its_place_in_every_language() -> None:
    failure = Failure(kind="host-not-found", detail="no such host", host="git.example.com")
    bundle = facts("main", provenance="local", complete=False, failure=failure)
    for language in (ENGLISH, TURKISH):
        question = fetch_failed_question(bundle, Asking(language=language))
        assert [answer.name for answer in answers_of(question)] == ["retry", "cached", "local", "abort"]
        assert question.header == "No answer"
        assert "VPN" in question.question
        assert "origin (git.example.com)" in question.question


# --- what was written by anyone ---


def test_right_to_left_names_are_verbatim_and_control_characters_never_reach_a_label() -> None:
    bundle = facts(["main", "release/\u05d2\u05e8\u05e1\u05d4-1.0", "release/\u202e0.1", "release/\x1b[31m"])
    names = [name for page in walk(bundle) for name in page]
    assert sorted(names) == ["main", "release/\u05d2\u05e8\u05e1\u05d4-1.0"]


def test_an_issue_key_and_a_failure_are_escaped_and_cut() -> None:
    issue = altered(wants("1.0"), key="APP\x1b[2J" + "9" * 400)
    question = ask(facts("main", issue=issue)).question
    assert question.isprintable()
    assert "APP\\x1b[2J999" in question
    assert len(question) < 400
    failure = Failure(kind="timed-out", detail="a\nb" * 300)
    silent = fetch_failed_question(facts("main", provenance="local", complete=False, failure=failure)).question
    assert silent.isprintable()
    assert len(silent) < 400


# --- breadcrumb ---


@pytest.mark.parametrize(
    ("step", "auto", "expected"),
    [
        ("3/5", None, "Step 3/5: base branch"),
        ("3", None, "Step 3: base branch"),
        ("3/5", "main", "Step 3/5: base branch (auto: main)"),
        ("5/5", "main", "Step 5/5: base branch (auto: main)"),
    ],
)
def test_the_breadcrumb(step: str, auto: str | None, expected: str) -> None:
    decision = Decision(repository="acme/app", autonomy="full", remote=None, listing_complete=True)
    if auto is not None:
        decision = altered(decision, base_branch=auto, base_branch_source="derived")
    assert breadcrumb(step, decision) == expected
    asked = altered(decision, base_branch="main", base_branch_source="asked")
    assert "auto" not in breadcrumb(step, asked)


@pytest.mark.parametrize("step", ["", "0/5", "6/5", "3/", "/5", "3/5/7", "a", "3 / 5", "\u0663/5", "3/5\n"])
def test_what_is_no_step_is_refused(step: str) -> None:
    decision = Decision(repository="acme/app", autonomy="full", remote=None, listing_complete=True)
    with pytest.raises(InvalidInput, match=r"^--step: .* is no step$"):
        breadcrumb(step, decision)


# --- languages ---


def test_both_languages_are_complete_and_differ() -> None:
    folder = Path(read_language.__code__.co_filename).with_name("texts")
    english = tomllib.loads((folder / "en.toml").read_text(encoding="utf-8"))
    turkish = tomllib.loads((folder / "tr.toml").read_text(encoding="utf-8"))
    assert english.keys() == turkish.keys()
    for key, text in english.items():
        fields = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        assert {name for _, name, _, _ in string.Formatter().parse(turkish[key]) if name} == fields
        assert turkish[key] != text


def test_names_and_headers_stay_and_the_rest_is_translated() -> None:
    bundle = facts("main release/1.0 feature/x", issue=wants("1.0"))
    english, turkish = ask(bundle), ask(bundle, language=TURKISH)
    assert turkish.question == "acme/app deposundaki APP-1 i\u015fi hangi dala ait?"
    assert (turkish.header, turkish.default, turkish.id) == (english.header, english.default, english.id)
    assert labels(turkish) == ["release/1.0", "main", "Ba\u015fka bir dal se\u00e7"]
    assert answers_of(turkish) == answers_of(english)
    assert turkish.options[0].description.startswith("\u00f6nerilen: ")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InvalidInput) as raised:
        read_language("de")
    assert str(raised.value) == "--language: unknown language 'de'"


@pytest.mark.parametrize(
    ("source", "language", "said"),
    [
        ("asked", "en", "Step 2/5: base branch"),
        ("input", "en", "Step 2/5: base branch (given: main)"),
        ("derived", "en", "Step 2/5: base branch (auto: main)"),
        ("derived", "tr", "Adım 2/5: taban dal (otomatik: main)"),  # noqa: RUF001 - Turkish
    ],
)
def test_a_breadcrumb_names_the_resolution_in_the_language(source: BaseBranchSource, language: str, said: str) -> None:
    assert breadcrumb("2/5", decided("main", source), read_language(language)) == said
    several = breadcrumb("2/5", decided("main", source), of_several=True)
    assert several.startswith("Step 2/5: base branch of acme/app")
