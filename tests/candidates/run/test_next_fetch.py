"""What is fetched next, pure: from what was seen and fetched so far to the next fetch."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace as altered

from candidates.resolver import resolve
from candidates.run.issue import IssueAnswer
from candidates.run.next_fetch import Fetch, FetchResult, next_fetch
from candidates.run.one_pass import Pass, RunInputs
from collectors.git.refs import RemoteAnswer, RemoteChoice
from collectors.git.repository import Checkout, Config
from collectors.stores.preferences import Remembered
from ranking.facts import Facts, Failure, Settings
from ranking.ranker import rank, read_asked
from tests.ranking.facts_builder import NOW, OID, facts, wants

REMOTE = RemoteChoice(name="origin", url=None, reason="the only remote")
SILENT = Failure(kind="timed-out", detail="no answer within 20 s")
OLD = "b" * 40


def inputs(answer: RemoteAnswer | Failure | None) -> RunInputs:
    git_dir = Path("/app/.git")
    return RunInputs(
        now=NOW,
        name="acme/app",
        settings=Settings(),
        checkout=Checkout(
            top=Path("/app"),
            git_dir=git_dir,
            common_dir=git_dir,
            bare=False,
            shallow=False,
            object_format="sha1",
            git_version=(2, 40),
            head=None,
        ),
        config=Config(values={}),
        choice=REMOTE,
        answer=answer,
        issue=IssueAnswer(issue=None),
        remembered=Remembered(),
        backtest=None,
    )


ANSWERED = inputs(RemoteAnswer(branches={}, tags={}, default=None))


def seen(bundle: Facts, here: str) -> Pass:
    """The pass over these facts; `here` names the branches whose advertised tip is in this clone."""
    branches = tuple(
        altered(b, tip=OID, cached_tip=OID if b.name in here.split() else OLD) for b in bundle.refs.branches
    )
    known = altered(bundle, refs=altered(bundle.refs, branches=branches))
    view = read_asked(known)
    ranking = rank(known, view)
    return Pass(facts=known, view=view, ranking=ranking, confidence=None, resolution=resolve(known, ranking))


def fetched(*names: str, failure: Failure | None = None, whole: bool = False) -> FetchResult:
    return FetchResult(fetch=Fetch(remote=REMOTE, names=names, whole=whole), failure=failure)


BUNDLE = facts("main release/1.0 release/1.1", issue=wants(fix="1.1"))
BEHIND = seen(BUNDLE, "")


def test_the_chosen_branch_is_fetched_once() -> None:
    first = next_fetch(ANSWERED, BEHIND, (), base=None, refresh="needed")
    assert first == Fetch(remote=REMOTE, names=("release/1.1",))
    assert next_fetch(ANSWERED, BEHIND, (fetched("release/1.1"),), base=None, refresh="needed") is None


def test_what_is_here_is_not_fetched() -> None:
    assert next_fetch(ANSWERED, seen(BUNDLE, "release/1.1"), (), base=None, refresh="needed") is None


def test_the_branch_of_the_request_is_fetched_instead_of_the_chosen_one() -> None:
    found = next_fetch(ANSWERED, BEHIND, (), base="release/1.0", refresh="needed")
    assert found is not None
    assert found.names == ("release/1.0",)


def test_all_branches_come_at_once() -> None:
    found = next_fetch(ANSWERED, BEHIND, (), base=None, refresh="all")
    assert found == Fetch(remote=REMOTE, names=("main", "release/1.0", "release/1.1"), whole=True)
    done = fetched(*found.names, whole=True)
    assert next_fetch(ANSWERED, BEHIND, (done,), base=None, refresh="all") is None


def test_after_a_failure_the_chosen_branch_is_fetched_alone() -> None:
    failed = fetched("main", "release/1.1", failure=SILENT, whole=True)
    again = next_fetch(ANSWERED, BEHIND, (failed,), base=None, refresh="all")
    assert again == Fetch(remote=REMOTE, names=("release/1.1",))
    alone = fetched("release/1.1", failure=SILENT)
    assert next_fetch(ANSWERED, BEHIND, (failed, alone), base=None, refresh="all") is None


@pytest.mark.parametrize("answer", [SILENT, None])
def test_without_an_answer_of_the_remote_nothing_is_fetched(answer: Failure | None) -> None:
    assert next_fetch(inputs(answer), BEHIND, (), base=None, refresh="needed") is None


def test_a_probe_fetches_nothing() -> None:
    assert next_fetch(ANSWERED, BEHIND, (), base=None, refresh="probe") is None


def test_the_fetches_end() -> None:
    others = tuple(fetched(f"other/{number}") for number in range(4))
    assert next_fetch(ANSWERED, BEHIND, others[:3], base=None, refresh="needed") is not None
    assert next_fetch(ANSWERED, BEHIND, others, base=None, refresh="needed") is None
