"""The decision, pure: every autonomy, policy and kind of facts, the fields that come of it, and the exit code."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args

import jsonschema
import pytest
from msgspec.structs import replace as altered

from candidates.contract import Decision, encode_line, json_schema
from candidates.exit_codes import ExitCode
from candidates.questions.questions import answers_of
from candidates.resolver import resolve
from candidates.run.collect import Collected, RemoteUndecided
from candidates.run.decide import Policy, decide, is_silent, undecided_remote
from collectors.config.keys import Autonomy, OnFetchFailure
from collectors.errors import InvalidInput
from collectors.git.refs import RemoteChoice, RemoteQuestion
from ranking.facts import Failure, RecentChoice, Settings
from ranking.ranker import rank, read_asked
from tests.ranking.facts_builder import OID, chose, facts, wants

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ranking.facts import Facts, Issue

BRANCHES = "main release/1.0 release/1.1"
SILENCE = Failure(kind="timed-out", detail="no answer within 20 s", host="git.example.com")
OLD = "b" * 40
LOCAL = "c" * 40
DATED = re.compile(r"2026-11-30T09:00:00Z \S")

AUTONOMIES: tuple[Autonomy, ...] = get_args(Autonomy)
POLICIES: tuple[OnFetchFailure | None, ...] = (None, *get_args(OnFetchFailure))
UNATTENDED_SOURCES = {"remembered", "derived", "default"}

Base = tuple[str | None, str | None, str | None, str | None, str | None]
Recent = tuple[RecentChoice, ...]


def here(bundle: Facts, *, cached: str | None = OID, local: str | None = None) -> Facts:
    """The same with what this clone holds of every branch."""
    branches = tuple(altered(b, cached_tip=cached, local_tip=local) for b in bundle.refs.branches)
    return altered(bundle, refs=altered(bundle.refs, branches=branches))


def reached(**more: Any) -> Facts:  # noqa: ANN401 - handed on
    return here(facts(BRANCHES, **more))


def silent(*, cached: str | None = OLD, local: str | None = LOCAL, **more: Any) -> Facts:  # noqa: ANN401 - likewise
    bundle = facts(BRANCHES, provenance="local", complete=False, failure=SILENCE, **more)
    return here(bundle, cached=cached, local=local)


def collected(bundle: Facts, log: tuple[str, ...] = ()) -> Collected:
    view, remote = read_asked(bundle), bundle.repository.remote
    ranking = rank(bundle, view)
    return Collected(
        facts=bundle,
        view=view,
        ranking=ranking,
        resolution=resolve(bundle, ranking),
        choice=RemoteChoice(name=remote, url=None, reason="the only remote") if remote else None,
        sources=(),
        log=log,
    )


def decided(bundle: Facts, autonomy: Autonomy = "full", **policy: Any) -> tuple[Decision, ExitCode]:  # noqa: ANN401
    return decide(collected(bundle), Policy(autonomy=autonomy, **policy))


def base(decision: Decision) -> Base:
    return (
        decision.base_branch,
        decision.base_ref,
        decision.base_commit,
        decision.base_branch_source,
        decision.base_fetch_status,
    )


def asked(decision: Decision) -> list[str]:
    return [question.kind for question in decision.questions]


NOTHING = (None, None, None, None)
CACHED = "refs/remotes/origin/release/1.0"
HEAD = "refs/heads/release/1.0"


# --- who may decide ---


def test_a_full_run_takes_what_was_derived() -> None:
    decision, code = decided(reached(issue=wants("1.0")))
    assert (base(decision), code) == (("release/1.0", CACHED, OID, "derived", "fresh"), ExitCode.ANSWERED)
    assert (asked(decision), decision.log) == ([], ())


@pytest.mark.parametrize("autonomy", ["manual", "guided"])
@pytest.mark.parametrize("recent", [(), (chose("release/1.0"),)], ids=["nothing", "a memory"])
def test_a_run_with_a_person_decides_nothing_however_clear_it_is(autonomy: Autonomy, recent: Recent) -> None:
    decision, code = decided(reached(issue=wants("1.0"), recent=recent), autonomy)
    assert (base(decision), code) == ((*NOTHING, None), ExitCode.ASK)
    (question,) = decision.questions
    assert (question.kind, question.default, question.options[0].label) == ("base-branch", 1, "release/1.0")


@pytest.mark.parametrize(
    ("autonomy", "settings", "first"),
    [
        ("manual", Settings(), "release/1.0"),  # what the issue says
        ("guided", Settings(), "release/1.0"),
        ("guided", Settings(resolve_order=("remembered", "default")), "release/1.1"),
        ("guided", Settings(derive_floor=0.9), "release/1.1"),
    ],
)
def test_the_derived_answer_is_first_also_before_a_memory(autonomy: Autonomy, settings: Settings, first: str) -> None:
    bundle = reached(issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings)
    (question,) = decided(bundle, autonomy)[0].questions
    assert (question.default, question.options[0].label) == (1, first)
    assert [o.label for o in question.options if o.description.startswith("recommended: ")] == [first]


@pytest.mark.parametrize("autonomy", ["manual", "guided"])
def test_of_a_tie_nothing_is_recommended(autonomy: Autonomy) -> None:
    (question,) = decided(reached(issue=wants(("1.0", "1.1"))), autonomy)[0].questions
    assert question.default is None
    assert not any(o.description.startswith("recommended") for o in question.options)


def test_a_tie_is_taken_to_the_default_and_said() -> None:
    decision, code = decided(reached(issue=wants(("1.0", "1.1"))))
    assert (decision.base_branch, decision.base_branch_source, code) == ("main", "default", ExitCode.ANSWERED)
    assert decision.base_branch_evidence is not None
    assert decision.base_branch_evidence.ambiguous


@pytest.mark.parametrize(
    "settings",
    [Settings(resolve_order=()), Settings(default_order=("nothing",), resolve_order=("default",))],
    ids=["no rules", "no such branch"],
)
def test_a_full_run_to_which_no_rule_gives_a_branch_asks(settings: Settings) -> None:
    decision, code = decided(reached(settings=settings))
    assert (base(decision), asked(decision), code) == ((*NOTHING, None), ["base-branch"], ExitCode.ASK)


def test_a_conflict_that_is_for_a_person_is_asked_of_one() -> None:
    settings = Settings(on_conflict="ask")
    decision, code = decided(reached(issue=wants("1.0"), recent=(chose("release/1.1"),), settings=settings))
    assert (base(decision), asked(decision), code) == ((*NOTHING, None), ["base-branch"], ExitCode.ASK)
    assert decision.questions[0].default is None


# --- the remote did not answer ---

FROM_CACHE = ("release/1.0", CACHED, OLD, "derived", "cached-stale")
FROM_HEAD = ("release/1.0", HEAD, LOCAL, "derived", "local-branch")
STOPPED = (*NOTHING, "aborted")
UNSETTLED = (*NOTHING, None)


@pytest.mark.parametrize(
    ("autonomy", "policy", "expected", "questions", "code"),
    [
        ("manual", None, UNSETTLED, ["fetch-failed"], 3),
        ("guided", None, UNSETTLED, ["fetch-failed"], 3),
        ("full", None, FROM_CACHE, [], 0),
        ("manual", "ask", UNSETTLED, ["fetch-failed"], 3),
        ("guided", "ask", UNSETTLED, ["fetch-failed"], 3),
        ("full", "ask", UNSETTLED, ["fetch-failed"], 3),
        ("manual", "abort", STOPPED, [], 4),
        ("guided", "abort", STOPPED, [], 4),
        ("full", "abort", STOPPED, [], 4),
        ("manual", "cached", UNSETTLED, ["base-branch"], 3),
        ("guided", "cached", UNSETTLED, ["base-branch"], 3),
        ("full", "cached", FROM_CACHE, [], 0),
        ("manual", "local", UNSETTLED, ["base-branch"], 3),
        ("guided", "local", UNSETTLED, ["base-branch"], 3),
        ("full", "local", FROM_HEAD, [], 0),
        ("manual", "retry", UNSETTLED, ["fetch-failed"], 3),
        ("guided", "retry", UNSETTLED, ["fetch-failed"], 3),
        ("full", "retry", FROM_CACHE, [], 0),
    ],
)
def test_what_a_silent_remote_leads_to(
    autonomy: Autonomy,
    policy: OnFetchFailure | None,
    expected: Base,
    questions: list[str],
    code: int,
) -> None:
    decision, left = decided(silent(issue=wants("1.0")), autonomy, on_fetch_failure=policy)
    assert (base(decision), asked(decision), left) == (expected, questions, code)


@pytest.mark.parametrize(
    ("policy", "cached", "local", "expected", "code"),
    [
        (None, None, LOCAL, FROM_HEAD, 0),
        (None, None, None, STOPPED, 4),
        ("cached", None, LOCAL, STOPPED, 4),
        ("cached", OLD, None, FROM_CACHE, 0),
        ("local", OLD, None, STOPPED, 4),
        ("local", None, LOCAL, FROM_HEAD, 0),
    ],
)
def test_a_policy_is_kept_to_where_what_it_names_is_not_here(
    policy: OnFetchFailure | None,
    cached: str | None,
    local: str | None,
    expected: Base,
    code: int,
) -> None:
    decision, left = decided(silent(issue=wants("1.0"), cached=cached, local=local), on_fetch_failure=policy)
    assert (base(decision), left) == (expected, code)
    kind = f" {policy}" if policy else ""
    if code:
        said = f"release/1.0 was chosen, but no{kind} ref of this clone holds it and it could not be fetched"
        assert decision.log == (f"2026-11-30T09:00:00Z {said}",)


def test_staleness_names_the_ref_the_commit_and_why() -> None:
    (said,) = decided(silent(issue=wants("1.0")))[0].log
    assert said == (
        f"2026-11-30T09:00:00Z release/1.0: cached-stale: {CACHED} serves at {OLD}; "
        "origin did not answer (timed-out: no answer within 20 s)"
    )


def test_an_advertised_commit_that_was_not_brought_here_is_not_fresh() -> None:
    decision, code = decided(here(facts(BRANCHES, issue=wants("1.0")), cached=OLD))
    assert (base(decision), code) == (("release/1.0", CACHED, OLD, "derived", "cached-stale"), ExitCode.ANSWERED)
    assert decision.log[0].endswith("; the advertised commit was not brought here")


def test_a_remote_that_was_not_asked_is_not_said_to_be_silent() -> None:
    decision, _ = decided(here(facts(BRANCHES, provenance="local", complete=False)))
    assert decision.base_fetch_status == "cached-stale"
    assert decision.log[0].endswith("; origin was not asked")


# --- the branch that came with the request ---


@pytest.mark.parametrize("autonomy", AUTONOMIES)
def test_a_base_that_is_listed_is_input_whatever_else_is_known(autonomy: Autonomy) -> None:
    bundle = reached(issue=wants("1.0"), recent=(chose("main"),))
    decision, code = decided(bundle, autonomy, base="release/1.1")
    expected = ("release/1.1", "refs/remotes/origin/release/1.1", OID, "input", "fresh")
    assert (base(decision), asked(decision), code) == (expected, [], ExitCode.ANSWERED)


@pytest.mark.parametrize("autonomy", AUTONOMIES)
@pytest.mark.parametrize("name", ["release/1.9", "--orphan", "HEAD", "", "refs/heads/release/1.9", "origin/nope"])
def test_a_base_that_an_answered_listing_lacks_is_refused_and_never_replaced(autonomy: Autonomy, name: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        decided(reached(issue=wants("1.0")), autonomy, base=name)
    assert str(refused.value) == f"--base: origin of acme/app has no branch {name}"


def test_near_names_are_offered() -> None:
    with pytest.raises(InvalidInput) as refused:
        decided(reached(), base="release/1.2")
    assert refused.value.hint == "near names: release/1.1, release/1.0"
    with pytest.raises(InvalidInput) as refused:
        decided(reached(), base="zzz")
    assert refused.value.hint == "base-branch explain"


@pytest.mark.parametrize(
    ("bundle", "why"),
    [
        (silent(), "origin did not answer (timed-out)"),
        (here(facts(BRANCHES, provenance="local", complete=False)), "origin was not asked"),
        (here(facts(BRANCHES, complete=False)), "the list of origin is incomplete"),
    ],
    ids=["silent", "not asked", "incomplete"],
)
def test_a_base_is_not_said_to_be_absent_where_nobody_could_tell(bundle: Facts, why: str) -> None:
    decision, code = decided(bundle, base="release/1.9")
    assert (base(decision), code) == (STOPPED, ExitCode.REMOTE_SILENT)
    said = f"release/1.9 is not known here, and {why}: whether it exists cannot be told"
    assert decision.log == (f"2026-11-30T09:00:00Z {said}",)


def test_without_a_remote_this_repository_can_tell() -> None:
    bundle = here(facts(BRANCHES, provenance="local", complete=False), cached=None, local=LOCAL)
    alone = altered(bundle, repository=altered(bundle.repository, remote=None))
    with pytest.raises(InvalidInput, match=r"acme/app has no branch release/1\.9"):
        decided(alone, base="release/1.9")
    decision, _ = decided(alone, base="release/1.0")
    assert base(decision) == ("release/1.0", HEAD, LOCAL, "input", "local-branch")
    assert decision.log[0].endswith("; this repository has no remote")


# --- the issue ---


@pytest.mark.parametrize("read", ["failed", "not-found"])
@pytest.mark.parametrize(
    ("autonomy", "optional", "code"),
    [("manual", False, 3), ("guided", False, 3), ("full", False, 6), ("full", True, 0), ("manual", True, 3)],
)
def test_an_issue_that_could_not_be_read_stops_an_unattended_run_alone(
    read: Literal["failed", "not-found"],
    autonomy: Autonomy,
    code: int,
    *,
    optional: bool,
) -> None:
    issue = wants("1.0", read=read)
    decision, left = decided(reached(issue=issue), autonomy, issue_optional=optional)
    assert left == code
    assert (decision.base_fetch_status == "aborted") is (code == 6)


def test_it_stops_a_run_whose_base_was_given_too() -> None:
    decision, code = decided(reached(issue=wants(read="failed")), base="main")
    assert (base(decision), code) == (STOPPED, ExitCode.SOURCE_FAILED)


# --- a replay ---


def test_a_replay_is_never_fresh_and_says_of_when_its_facts_are() -> None:
    decision, code = decided(reached(issue=wants("1.0")), replay=True)
    assert (base(decision), code) == (("release/1.0", CACHED, OID, "derived", "cached-stale"), ExitCode.ANSWERED)
    assert decision.log[0].endswith("; replayed from facts of 2026-11-30T09:00:00Z")


def test_a_replay_does_not_say_that_a_fetch_failed() -> None:
    decision, code = decided(facts(BRANCHES, issue=wants("1.0")), replay=True)
    assert (base(decision), code) == (STOPPED, ExitCode.REMOTE_SILENT)
    assert decision.log[0].endswith("no ref of this clone holds it and nothing is fetched in a replay")


@pytest.mark.parametrize(("how", "held"), [("local", "release/1.0"), ("cached", "release/1.1")])
def test_only_branches_that_can_serve_are_offered(how: Literal["local", "cached"], held: str) -> None:
    bundle = silent(cached=None, local=None, issue=wants("1.1"))
    tip = "local_tip" if how == "local" else "cached_tip"
    branches = [altered(b, **{tip: OID}) if b.name == held else b for b in bundle.refs.branches]
    bundle = altered(bundle, refs=altered(bundle.refs, branches=tuple(branches)))
    (question,) = decided(bundle, "manual", on_fetch_failure=how)[0].questions
    assert [a.name for a in answers_of(question) if a.kind == "branch"] == [held]
    assert question.default == (1 if held == "release/1.1" else None)


# --- which remote ---


@pytest.mark.parametrize("autonomy", AUTONOMIES)
def test_a_remote_that_a_person_must_name_is_a_question_without_a_default(autonomy: Autonomy) -> None:
    question = RemoteQuestion(names=("left", "right"), reason="2 remotes, and nothing says which holds the lines")
    decision = undecided_remote(RemoteUndecided("app", question), autonomy)
    assert (base(decision), asked(decision), decision.questions[0].default) == ((*NOTHING, None), ["remote"], None)
    assert (decision.autonomy, decision.remote, decision.listing_complete) == (autonomy, None, False)


# --- what holds for all of them ---


def bundles() -> Iterator[Facts]:
    issues: tuple[Issue | None, ...] = (
        None,
        wants("1.0"),
        wants(("1.0", "1.1")),
        wants("2.0"),
        wants("1.0", read="failed"),
        wants("1.0", read="partial"),
    )
    memories: tuple[Recent, ...] = ((), (chose("release/1.1"),), (chose("release/1.1", 99),))
    for issue, recent in product(issues, memories):
        yield reached(issue=issue, recent=recent)
        yield facts(BRANCHES, issue=issue, recent=recent)  # listed, and nothing was fetched
        yield here(facts(BRANCHES, issue=issue, recent=recent), cached=OLD)
        yield facts("", issue=issue, recent=recent)
        for cached, local in ((OLD, LOCAL), (None, LOCAL), (None, None)):
            yield silent(cached=cached, local=local, issue=issue, recent=recent)


def policies() -> Iterator[Policy]:
    for autonomy, policy, name, flag in product(AUTONOMIES, POLICIES, (None, "release/1.0", "nope"), (False, True)):
        yield Policy(autonomy=autonomy, on_fetch_failure=policy, base=name, replay=flag, issue_optional=flag)


def assert_kept(decision: Decision, code: ExitCode, seen: Collected, policy: Policy) -> None:
    """The rules of a decision in docs/contract.md."""
    case = (seen.facts, policy)
    branch, _, commit, source, status = base(decision)
    assert len({half is None for half in base(decision)[:4]}) == 1, case
    assert (code == ExitCode.ANSWERED) is (branch is not None), case
    assert (code == ExitCode.ASK) is (len(decision.questions) == 1), case
    assert (code in (ExitCode.REMOTE_SILENT, ExitCode.SOURCE_FAILED)) is (status == "aborted"), case
    assert policy.unattended or source not in UNATTENDED_SOURCES, case
    assert (source == "input") is (policy.base is not None and code == ExitCode.ANSWERED), case
    assert decision.base_branch_evidence is not None, case
    assert not (source == "derived" and decision.base_branch_evidence.ambiguous), case
    assert all(map(DATED.match, decision.log)), case
    assert status in (None, "fresh") or decision.log, case
    if status == "fresh":
        assert not policy.replay, case
        assert not is_silent(seen), case
        assert [b.tip for b in seen.facts.refs.branches if b.name == branch] == [commit], case


def test_every_decision_keeps_the_contract() -> None:
    validator = jsonschema.Draft202012Validator(json_schema("decision"))
    codes, sources = set(), set()
    for seen in map(collected, bundles()):
        lines = set()
        for policy in policies():
            try:
                decision, code = decide(seen, policy)
            except InvalidInput:
                listed = {b.name for b in seen.facts.refs.branches}
                assert seen.facts.refs.complete
                assert policy.base is not None
                assert policy.base not in listed
                continue
            assert_kept(decision, code, seen, policy)
            codes.add(code)
            sources.add(decision.base_branch_source)
            lines.add(encode_line(decision))
        validator.validate(json.loads(min(lines)))
        validator.validate(json.loads(max(lines)))
    assert codes == {0, 3, 4, 6}
    assert sources == {None, "input", "remembered", "derived", "default"}


def test_a_line_of_the_log_is_dated_by_the_facts() -> None:
    decision, _ = decide(collected(reached(), log=("something was said",)), Policy(autonomy="manual"))
    assert decision.log == ("2026-11-30T09:00:00Z something was said",)
