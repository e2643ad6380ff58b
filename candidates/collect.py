"""Runs the collectors side by side into one `Facts`: list, rank, fetch what is needed, read again, rank.

The bundle that comes out is the last pass's, so that ranking it again gives the ranking that was acted on.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime

from msgspec.structs import replace as altered

from candidates.contract import Source
from candidates.resolver import Resolution, resolve
from collectors.backtest_store import read_backtest
from collectors.errors import EvidenceError
from collectors.git_objects import Lineage, read_creator_dates, read_dates, read_lineage
from collectors.preferences import Remembered, preferences_path, read_recent
from collectors.process import Deadline, Git
from collectors.refs import (
    DefaultAnswer,
    LocalRefs,
    RemoteAnswer,
    RemoteChoice,
    RemoteQuestion,
    ask_default_branch,
    ask_remote,
    build_listing,
    choose_remote,
    fetch_branches,
    read_local_refs,
)
from collectors.remote_url import host_of, owner_and_name, remote_type
from collectors.repository import Checkout, Config, open_repository, read_config
from ranking.facts import Backtest, Branch, Facts, Failure, Issue, Ranking, RefListing, Repository, Settings, Tag
from ranking.names import BranchName, Oid
from ranking.rank import rank
from ranking.words import DEVELOPMENT

# The chosen ref, the contenders that it depends on, and one more where what was read changed the choice.
_MOST_FETCHES = 3


class RemoteUndecided(EvidenceError):  # noqa: N818 - a question, not a fault
    """Several remotes could be meant; a person must say which."""

    def __init__(self, repository: str, question: RemoteQuestion) -> None:
        """The names stand in `question`."""
        names = ", ".join(question.names)
        super().__init__(f"{question.reason}: {names}", code="remote-undecided", hint="give --remote NAME")
        self.repository = repository
        self.question = question


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What to collect: where, from which remote, for which issue, by when; `bring`: whether to fetch."""

    git: Git
    now: datetime
    seconds: float
    remote: str | None = None
    issue: Issue | None = None
    project_key: str | None = None
    bring: bool = True
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, kw_only=True, slots=True)
class Collected:
    """The last pass: the bundle, its ranking, what the rules make of it, and what became of each source."""

    facts: Facts
    ranking: Ranking
    resolution: Resolution
    choice: RemoteChoice | None
    sources: tuple[Source, ...]
    log: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What was learnt once, before the passes."""

    checkout: Checkout
    config: Config
    choice: RemoteChoice | None
    answer: RemoteAnswer | Failure | None
    default: DefaultAnswer | Failure | None
    remembered: Remembered
    backtest: Backtest | None
    milliseconds: int = 0


def collect(request: Request) -> Collected:
    """Gather the facts. SetupError where nothing can be asked here; RemoteUndecided where a person must say what."""
    # One for the questions and the fetches together: the whole run keeps to what was asked for.
    deadline = Deadline(request.seconds)
    asked, local = _ask(request, deadline)
    log: list[str] = []
    seen = _look(request, asked, local, log)
    for _ in range(_MOST_FETCHES):
        needed = _needed(seen) if request.bring and asked.choice is not None else []
        if not needed or not isinstance(asked.answer, RemoteAnswer):
            break
        failure = _fetch(request, asked, needed, deadline)
        if failure is not None:
            log.append(f"{', '.join(needed)} could not be fetched: {failure.kind}: {failure.detail}")
        # After a failure too: of several refs some may have come, or another run brought them meanwhile.
        seen = _look(request, asked, _read_local(request, asked), log)
        if failure is not None:
            break
    return replace(seen, log=tuple(dict.fromkeys(log)))


def _ask(request: Request, deadline: Deadline) -> tuple[_Asked, LocalRefs]:
    """Ask the remote while this clone is read."""
    git = request.git
    checkout, config = open_repository(git), read_config(git)
    choice = choose_remote(config, request.remote)
    if isinstance(choice, RemoteQuestion):
        raise RemoteUndecided(_folder_name(checkout), choice)
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=2) as pool:
        try:
            heads: Future[RemoteAnswer | Failure] | None = None
            head: Future[DefaultAnswer | Failure] | None = None
            if choice is not None:
                host = host_of(choice.url or "")
                heads = pool.submit(ask_remote, git, choice.name, deadline, host=host)
                head = pool.submit(ask_default_branch, git, choice.name, deadline, host=host)
            local = read_local_refs(git, choice.name if choice else None, config)
            key = request.project_key or _name(choice, checkout)
            store = preferences_path(git.environ)
            remembered, kept = read_recent(store, key), read_backtest(store, key)
            answer, default = heads.result() if heads else None, head.result() if head else None
        except BaseException:
            deadline.cancel()
            raise
    asked = _Asked(
        checkout=checkout,
        config=config,
        choice=choice,
        answer=answer,
        default=default,
        remembered=remembered,
        backtest=kept.figure if kept else None,
        milliseconds=round((time.monotonic() - began) * 1000) if choice else 0,
    )
    return asked, local


def _read_local(request: Request, asked: _Asked) -> LocalRefs:
    return read_local_refs(request.git, asked.choice.name if asked.choice else None, asked.config)


def _fetch(request: Request, asked: _Asked, names: list[str], deadline: Deadline) -> Failure | None:
    assert asked.choice is not None  # noqa: S101 - nothing is needed without a remote
    host = host_of(asked.choice.url or "")
    return fetch_branches(request.git, asked.choice.name, names, deadline, host=host)


def _needed(seen: Collected) -> list[str]:
    """The branches whose tip has to be here: the chosen one, and a development branch that may not be alive."""
    branches = {b.name: b for b in seen.facts.refs.branches}
    default = seen.facts.repository.default_branch
    contenders = [n for n in DEVELOPMENT if n in branches and n != default][:1]
    wanted = [seen.resolution.branch]
    if contenders and default in branches:
        pair = (*contenders, default)
        wanted += [n for n in pair if branches[n].date_state == "object-missing"]
    return sorted({n for n in wanted if n is not None and _behind(branches[n])})


def _behind(branch: Branch) -> bool:
    return branch.tip is not None and branch.tip != branch.cached_tip


def _look(request: Request, asked: _Asked, local: LocalRefs, log: list[str]) -> Collected:
    """One pass: from what the refs say now to a ranking and a resolution."""
    issue = None if asked.remembered.evidence is False else request.issue
    listing = build_listing(local, asked.answer)
    if asked.choice is None:
        listing = altered(listing, failure=Failure(kind="no-remote", detail="this repository has no remote"))
    repository = _repository(asked, local)
    if _wants_lineage(issue):
        listing = _with_lineage(request.git, asked.checkout, local, listing, repository, log)
    days = asked.remembered.branch_ttl_days
    settings = request.settings if days is None else altered(request.settings, branch_ttl_days=days)
    facts = Facts(
        schema="base-branch/bundle@1",
        now=request.now,
        repository=repository,
        refs=listing,
        issue=issue,
        recent=asked.remembered.choices,
        backtest=asked.backtest,
        settings=settings,
    )
    # Dates of all refs would be dear in a large repository: those of the branches that come into question do.
    shown = {c.branch for c in rank(facts).candidates} | {*DEVELOPMENT, repository.default_branch}
    facts = altered(facts, refs=_with_dates(request.git, asked.checkout, listing, shown))
    ranking = rank(facts)
    return Collected(
        facts=facts,
        ranking=ranking,
        resolution=resolve(facts, ranking, None if asked.remembered.state == "answered" else asked.remembered.detail),
        choice=asked.choice,
        sources=_sources(asked),
    )


def _repository(asked: _Asked, local: LocalRefs) -> Repository:
    url = asked.choice.url if asked.choice else None
    repository = Repository(
        name=_name(asked.choice, asked.checkout),
        remote=asked.choice.name if asked.choice else None,
        remote_reason=asked.choice.reason if asked.choice else None,
        url=url,
        remote_type=remote_type(url) if url else None,
    )
    match asked.default:
        case DefaultAnswer(branch=None):
            return altered(repository, default_branch_state="none")
        case DefaultAnswer(branch=str(name)):
            return altered(repository, default_branch=name, default_branch_state="remote")
        case Failure() if local.cached_default is None:
            return altered(repository, default_branch_state="failed")
        case Failure():
            return altered(repository, default_branch=local.cached_default, default_branch_state="cached")
        case _:
            return repository


def _name(choice: RemoteChoice | None, checkout: Checkout) -> str:
    """The remote's owner/name, else the folder's name."""
    from_url = owner_and_name(choice.url) if choice and choice.url else None
    return from_url or _folder_name(checkout)


def _folder_name(checkout: Checkout) -> str:
    r"""The name of the repository's folder; bytes that are no UTF-8, and so no JSON, stand as `\xNN`."""
    return os.fsencode((checkout.top or checkout.common_dir).name).decode("utf-8", "backslashreplace")


def _wants_lineage(issue: Issue | None) -> bool:
    """Whether some version is asked for: without one, no walk of the history can matter."""
    return issue is not None and bool(
        issue.versions or any(link.versions or link.kind == "release" for link in issue.links)
    )


def _with_lineage(
    git: Git,
    checkout: Checkout,
    local: LocalRefs,
    listing: RefListing,
    repository: Repository,
    log: list[str],
) -> RefListing:
    """The listing with each tag's date and branches, as far as this clone's objects tell."""
    # An advertised tip may not be here; the cached one of the same branch is the newest that is.
    tips = {BranchName(b.name): Oid(oid) for b in listing.branches if (oid := b.cached_tip or b.tip or b.local_tip)}
    if listing.provenance == "remote":
        listed = {b.name for b in listing.branches if b.tip}
        tips = {name: oid for name, oid in tips.items() if name in listed}
    commits = {t.name: Oid(t.commit) for t in listing.tags if t.commit}
    default = BranchName(repository.default_branch) if repository.default_branch else None
    lineage = read_lineage(git, checkout.git_dir, tips, commits, default)
    if lineage.state != "read":
        log.append(f"which branches carry which tags is not known: {lineage.detail}")
    # This clone's date is the remote's tag's where both stand for the same commit.
    dates = {name: date for name, date in read_creator_dates(git).items() if local.tags.get(name) == commits.get(name)}
    return altered(listing, tags=tuple(_tag(tag, lineage, dates) for tag in listing.tags))


def _tag(tag: Tag, lineage: Lineage, dates: Mapping[str, datetime]) -> Tag:
    return altered(tag, branches=lineage.tags.get(tag.name), created_at=dates.get(tag.name))


def _with_dates(git: Git, checkout: Checkout, listing: RefListing, names: Iterable[str | None]) -> RefListing:
    """The listing with the committer dates of the tips of these branches."""
    wanted = frozenset(names)
    tips = {
        b.name: Oid(oid) for b in listing.branches if b.name in wanted and (oid := b.tip or b.cached_tip or b.local_tip)
    }
    dates = read_dates(git, checkout.git_dir, tips.values())
    return altered(listing, branches=tuple(_dated(b, tips, dates) for b in listing.branches))


def _dated(branch: Branch, tips: Mapping[str, Oid], dates: Mapping[Oid, datetime | None]) -> Branch:
    oid = tips.get(branch.name)
    if oid is None:
        return branch
    if oid not in dates:
        return altered(branch, date_state="failed")
    moment = dates[oid]
    return altered(branch, committed_at=moment, date_state="object-missing" if moment is None else "read")


def _sources(asked: _Asked) -> tuple[Source, ...]:
    remembered = asked.remembered
    preferences = Source(name="preferences", state=remembered.state, detail=remembered.detail)
    return (
        _remote_source(asked),
        Source(name="jira", state="not-asked"),
        Source(name="github", state="not-asked"),
        preferences,
    )


def _remote_source(asked: _Asked) -> Source:
    if asked.choice is None:
        return Source(name="remote", state="not-asked", kind="no-remote", detail="this repository has no remote")
    host = host_of(asked.choice.url or "")
    if isinstance(asked.answer, Failure):
        failed = asked.answer
        return Source(
            name="remote",
            state="failed",
            kind=failed.kind,
            host=failed.host,
            detail=failed.detail,
            ms=asked.milliseconds,
        )
    if isinstance(asked.default, Failure):
        detail = f"the default branch was not told: {asked.default.detail}"
        return Source(
            name="remote",
            state="partial",
            kind=asked.default.kind,
            host=host,
            detail=detail,
            ms=asked.milliseconds,
        )
    return Source(name="remote", state="answered", host=host, ms=asked.milliseconds)
