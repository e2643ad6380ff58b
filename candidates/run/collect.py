"""Runs the collectors side by side into one `Facts`: list, rank, fetch what is needed, read again, rank.

The bundle that comes out is the last pass's, so that ranking it again gives the ranking that was acted on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from candidates.contract import Source
from candidates.resolver import Resolution
from candidates.run.cache_notes import cache_notes
from candidates.run.issue import GivenIssue, IssueReader, PostQuestion
from candidates.run.next_fetch import Fetch, FetchResult, all_behind, chosen, next_fetch
from candidates.run.one_pass import Pass, RunInputs, look
from candidates.styled import and_more
from collectors.config.keys import Refresh
from collectors.errors import EvidenceError
from collectors.git.local_refs import LocalRefs, list_local_refs, without_aliases
from collectors.git.refs import (
    RemoteAnswer,
    RemoteChoice,
    RemoteQuestion,
    ask_remote,
    choose_remote,
    fetch_all_branches,
    fetch_branches,
    find_symrefs,
)
from collectors.git.repository import Checkout, Config, open_repository, read_config
from collectors.process import Deadline, Git
from collectors.remote_url import owner_and_name, project_key
from collectors.signals import awaited
from collectors.stores.backtests import read_backtest
from collectors.stores.preferences import Remembered, preferences_path, read_recent
from collectors.strict_json import json_text
from ranking.facts import Facts, Failure, Issue, Ranking, Settings
from ranking.names import printable
from ranking.ranker import View

_MOST_NAMED = 5

# So many branches that did not come are asked whether they are symrefs.
_MOST_SYMREFS = 8


class RemoteUndecided(EvidenceError):  # noqa: N818 - a question, not a fault
    """Several remotes could be meant; a person must say which."""

    def __init__(self, repository: str, question: RemoteQuestion) -> None:
        """The names stand in `question`."""
        names = ", ".join(question.names)
        super().__init__(f"{question.reason}: {names}", code="remote-undecided", hint="give --remote NAME")
        self.repository = repository
        self.question = question


PrepareIssue = Callable[[str | None, str | None], IssueReader]
"""Given the repository's owner/name and its host: how to read the issue."""


class Request(Struct, frozen=True, kw_only=True):
    """What to collect: where, from which remote, for which issue, by when.

    `remote_reason`: why that one, where it was not asked for. `issue`: one that is at hand already; `prepare_issue`:
    how to read one that is not. `base`: the branch that the caller has chosen already. `refresh`: `none` asks the
    remote nothing, `probe` asks and fetches nothing, `needed` fetches what the choice depends on, `all` every
    branch.
    """

    git: Git
    now: datetime
    seconds: float
    checkout: Checkout | None = None
    """The repository at git's folder, where it was opened already."""
    remote: str | None = None
    remote_reason: str | None = None
    issue: Issue | None = None
    prepare_issue: PrepareIssue | None = None
    project_key: str | None = None
    base: str | None = None
    refresh: Refresh = "needed"
    settings: Settings = field(default_factory=Settings)
    branch_ttl_days: int | None = None
    """How many days a choice counts, if somebody set it for this run; None if the store's own number counts."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """What ends the questions of several requests at once."""


class Collected(Struct, frozen=True, kw_only=True):
    """The last pass: the bundle, its ranking, what the rules make of it, and what became of each source.

    `view`: what the ranking read of the facts' refs; `confidence`: in the ranking's first candidate, from 0 to 1, None
    if no version was asked for.

    `post`: how to ask on the issue; `asks_on_issue`: whether the user's preferences want that.
    """

    facts: Facts
    ranking: Ranking
    resolution: Resolution
    choice: RemoteChoice | None
    sources: tuple[Source, ...]
    view: View
    log: tuple[str, ...] = ()
    post: PostQuestion | None = None
    asks_on_issue: bool = False
    confidence: float | None = None


class Located(Struct, frozen=True, kw_only=True):
    """Which repository, which of its remotes, and the name that both give: owner/name, else the folder's."""

    checkout: Checkout
    config: Config
    choice: RemoteChoice | None
    name: str
    """What people call it: owner/name, else the folder's name. Two repositories may share it."""
    key: str
    """Its key in the preferences: host and whole path, which no other repository has."""

    @property
    def host(self) -> str | None:
        """The remote's host."""
        return self.choice.host if self.choice else None


def locate(git: Git, remote: str | None, checkout: Checkout | None = None) -> Located:
    """Open the repository, unless it is, and choose the remote. SetupError; RemoteUndecided where a person must."""
    checkout, config = checkout or open_repository(git), read_config(git)
    choice = choose_remote(config, remote)
    if isinstance(choice, RemoteQuestion):
        raise RemoteUndecided(checkout.name, choice)
    key = key_of(choice.url if choice else None, checkout)
    return Located(checkout=checkout, config=config, choice=choice, name=_name(choice, checkout), key=key)


def key_of(url: str | None, checkout: Checkout) -> str:
    """A repository's key in the preferences: host and path of its remote, or its own folder if it has none."""
    folder = json_text(str(checkout.top or checkout.common_dir))
    return project_key(json_text(url), folder) if url else folder


def collect(request: Request) -> Collected:
    """Gather the facts. SetupError where nothing can be asked here; RemoteUndecided where a person must say what."""
    # One for the questions and the fetches together: the whole run keeps to what was asked for.
    deadline = Deadline(request.seconds, request.cancelled)
    inputs, local = _ask(request, deadline)
    seen = look(request.git, inputs, local)
    named = request.git.environ.get("GIT_DIR")
    log = [f"the repository is the one that GIT_DIR names: {printable(named)}"] if named else []
    log += seen.log
    others = inputs.config.subsections("remote", "url")
    results: list[FetchResult] = []
    while fetch := next_fetch(inputs, seen, results, base=request.base, refresh=request.refresh):
        if any(result.failure for result in results) and not deadline.remaining():
            break
        results.append(FetchResult(fetch=fetch, failure=_fetch(request.git, fetch, deadline, others)))
        # After a failure too: of several refs some may have come, or another run brought them meanwhile. And all of
        # them: a symref here moves with what it leads to.
        local = _read_local(request, inputs)
        seen = look(request.git, inputs, local)
        log += seen.log
    if inputs.choice is not None and results:
        log += _left(request, seen, inputs.choice.name, results)
    log += _cache_notes(inputs, local)
    return Collected(
        facts=seen.facts,
        view=seen.view,
        ranking=seen.ranking,
        resolution=seen.resolution,
        confidence=seen.confidence,
        choice=inputs.choice,
        sources=_sources(inputs),
        log=tuple(dict.fromkeys(log)),
        post=inputs.issue.post,
        asks_on_issue=inputs.remembered.autopilot_asks_on_issue,
    )


def _ask(request: Request, deadline: Deadline) -> tuple[RunInputs, LocalRefs]:
    """Ask the remote and the tracker, side by side, while this clone is read."""
    git, here = request.git, locate(request.git, request.remote, request.checkout)
    choice, name, host = here.choice, here.name, here.host
    if choice is not None and request.remote_reason is not None:
        choice = replace(choice, reason=request.remote_reason)
    store = preferences_path(git.environ)
    key, old_key = (request.project_key, None) if request.project_key else (here.key, name)
    # The expired ones too: the resolver passes them over, and says so.
    remembered = read_recent(store, key, old_key=old_key)
    kept = read_backtest(store, request.project_key or name)
    reader = _issue_reader(request, remembered, name if choice else None, host)
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        try:
            remote: Future[RemoteAnswer | Failure] | None = None
            if choice is not None and request.refresh != "none":
                remote = pool.submit(ask_remote, git, choice.name, deadline, host=host, with_default=True)
            issue = pool.submit(reader.read, deadline)
            local = list_local_refs(git, choice.name if choice else None, here.config)
            answer = awaited(remote) if remote else None
            took = round((time.monotonic() - began) * 1000) if remote else 0
            told = awaited(issue)
        except BaseException:
            deadline.cancel()
            raise
    local = without_aliases(git, choice.name if choice else None, local, _listed_by(answer))
    days = remembered.branch_ttl_days if request.branch_ttl_days is None else request.branch_ttl_days
    inputs = RunInputs(
        now=request.now,
        name=name,
        settings=request.settings if days is None else replace(request.settings, branch_ttl_days=days),
        checkout=here.checkout,
        config=here.config,
        choice=choice,
        answer=answer,
        issue=told,
        remembered=remembered,
        backtest=kept.figure if kept else None,
        milliseconds=took,
    )
    return inputs, local


def _issue_reader(request: Request, remembered: Remembered, repository: str | None, host: str | None) -> IssueReader:
    """How the issue is read; not at all if the preferences switch the evidence off."""
    if remembered.evidence is False:
        return GivenIssue(None)
    if request.prepare_issue is not None:
        return request.prepare_issue(repository, host)
    return GivenIssue(request.issue)


def _cache_notes(inputs: RunInputs, local: LocalRefs) -> list[str]:
    """What is to be said of this clone's idea of the remote."""
    if inputs.choice is None:
        return []
    answer = inputs.answer if isinstance(inputs.answer, RemoteAnswer) else None
    told = answer.default if answer else None
    return cache_notes(local, inputs.choice.name, answered=answer is not None, default=told)


def _read_local(request: Request, inputs: RunInputs) -> LocalRefs:
    git, remote = request.git, inputs.choice.name if inputs.choice else None
    return without_aliases(git, remote, list_local_refs(git, remote, inputs.config), _listed_by(inputs.answer))


def _listed_by(answer: RemoteAnswer | Failure | None) -> Mapping[str, str]:
    return answer.branches if isinstance(answer, RemoteAnswer) else {}


def _fetch(git: Git, fetch: Fetch, deadline: Deadline, others: Sequence[str]) -> Failure | None:
    remote = fetch.remote
    if fetch.whole:
        return fetch_all_branches(git, remote.name, deadline, host=remote.host, others=others)
    return fetch_branches(git, remote.name, fetch.names, deadline, host=remote.host, others=others)


def _left(request: Request, seen: Pass, remote: str, results: Sequence[FetchResult]) -> Iterator[str]:
    """What was fetched and is not here as it was listed, and why: first of all the branch that was chosen."""
    behind = dict.fromkeys([*chosen(seen, request.base), *all_behind(seen)])
    for each in reversed(results):
        whole = each.fetch.whole and each.failure is None
        left = [name for name in behind if whole or name in each.fetch.names]
        symrefs = find_symrefs(request.git, remote, left[:_MOST_SYMREFS])
        for name in left:
            del behind[name]
            if name in symrefs:
                yield f"{printable(name)} could not be fetched: {symrefs[name].kind}: {symrefs[name].detail}"
        rest = [name for name in left if name not in symrefs]
        if rest:
            became = f"changed on {remote} after it was listed"
            if each.failure is not None:
                became = f"could not be fetched: {each.failure.kind}: {each.failure.detail}"
            yield f"{and_more(rest, _MOST_NAMED)} {became}"


def _name(choice: RemoteChoice | None, checkout: Checkout) -> str:
    """The remote's owner/name, else the folder's name."""
    from_url = owner_and_name(choice.url) if choice and choice.url else None
    return from_url or checkout.name


def _sources(inputs: RunInputs) -> tuple[Source, ...]:
    remembered = inputs.remembered
    preferences = Source(name="preferences", state=remembered.state, detail=remembered.detail)
    told = inputs.issue.source
    trackers = [
        told if told is not None and told.name == name else Source(name=name, state="not-asked")
        for name in ("jira", "github")
    ]
    return (_remote_source(inputs), *trackers, preferences)


def _remote_source(inputs: RunInputs) -> Source:
    if inputs.choice is None:
        return Source(name="remote", state="not-asked", kind="no-remote", detail="this repository has no remote")
    host = inputs.choice.host
    if inputs.answer is None:
        return Source(name="remote", state="not-asked", host=host, detail="by --refresh none")
    if isinstance(inputs.answer, Failure):
        failed = inputs.answer
        return Source(
            name="remote",
            state="failed",
            kind=failed.kind,
            host=failed.host,
            detail=failed.detail,
            ms=inputs.milliseconds,
        )
    return Source(name="remote", state="answered", host=host, ms=inputs.milliseconds)
