"""Runs the collectors side by side into one `Facts`: list, rank, fetch what is needed, read again, rank.

The bundle that comes out is the last pass's, so that ranking it again gives the ranking that was acted on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace as altered

from candidates.contract import Source
from candidates.resolver import Resolution, resolve
from candidates.run.cache_notes import cache_notes
from candidates.run.issue import IssueAnswer, PostQuestion, ReadIssue
from candidates.run.names import listed_name
from candidates.run.one_pass import Asked, Looked, branch_in, look, unasked
from collectors.config.keys import Refresh
from collectors.errors import EvidenceError
from collectors.git.local_refs import LocalRefs, list_local_refs, without_aliases
from collectors.git.refs import (
    DefaultAnswer,
    RemoteAnswer,
    RemoteChoice,
    RemoteQuestion,
    ask_default_branch,
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
from ranking.facts import Branch, Facts, Failure, Issue, Ranking, Settings
from ranking.names import fault_of, shown
from ranking.rank import View, rank, read_asked
from ranking.unlooked import unlooked_lines
from ranking.words import DEVELOPMENT

# The lines whose releases nobody has seen, the chosen ref, the contenders that it depends on, and one more where what
# was read changed the choice.
_MOST_FETCHES = 4

_MOST_NAMED = 5

# Of lines that were never fetched and could carry the release that decides, so many are brought, in one fetch.
_MOST_LINES = 8


class RemoteUndecided(EvidenceError):  # noqa: N818 - a question, not a fault
    """Several remotes could be meant; a person must say which."""

    def __init__(self, repository: str, question: RemoteQuestion) -> None:
        """The names stand in `question`."""
        names = ", ".join(question.names)
        super().__init__(f"{question.reason}: {names}", code="remote-undecided", hint="give --remote NAME")
        self.repository = repository
        self.question = question


PrepareIssue = Callable[[str | None, str | None], ReadIssue]
"""Given the repository's owner/name and its host: how to read the issue."""


class Request(Struct, frozen=True, kw_only=True):
    """What to collect: where, from which remote, for which issue, by when.

    `remote_reason`: why that one, where it was not asked for. `issue`: one that is at hand already; `prepare_issue`:
    how to read one that is not. `base`: the branch that the caller has chosen already. `refresh`: `none` asks the
    remote nothing, `probe` asks and fetches nothing, `needed` fetches what the choice depends on, `all` every
    branch. `attended`: a person is there, so that the default branch could matter whatever the issue says.
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
    attended: bool = False
    settings: Settings = field(default_factory=Settings)
    ttl_is_set: bool = False
    """Whether somebody set the time to live for this run: then the memory's own does not count."""
    cancelled: threading.Event = field(default_factory=threading.Event)
    """What ends the questions of several requests at once."""


class Collected(Struct, frozen=True, kw_only=True):
    """The last pass: the bundle, its ranking, what the rules make of it, and what became of each source.

    `view`: what the ranking read of the facts' refs.

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
    asked, local = _ask(request, deadline)
    log: list[str] = []
    seen = look(request.git, asked, local, log)
    if _default_may_matter(asked, seen):
        asked = altered(asked, default=_ask_default(request, asked, deadline))
        seen = look(request.git, asked, local, log)
    looked = False
    fetched: list[_Fetched] = []
    for _ in range(_MOST_FETCHES):
        if asked.choice is None or not isinstance(asked.answer, RemoteAnswer):
            break
        failed = any(each.failure for each in fetched)
        # Once is enough: what moved on the remote meanwhile is not what it listed, however often it is fetched.
        lines = [] if looked or failed else _unsettled(_unlooked(request, asked, seen), fetched)
        looked = looked or bool(lines)
        needed = lines or _unsettled(_chosen(request, seen) if failed else _needed(request, seen), fetched)
        if not needed or (failed and not deadline.remaining()):
            break
        whole = request.refresh == "all" and not failed
        failure = _fetch(request, asked.choice, needed, deadline, whole=whole)
        fetched.append(_Fetched(names=frozenset(needed), failure=failure, whole=whole))
        # After a failure too: of several refs some may have come, or another run brought them meanwhile. And all of
        # them: a symref here moves with what it leads to.
        local = _read_local(request, asked)
        seen = look(request.git, asked, local, log)
    if asked.choice is not None:
        log += _left(request, seen, asked.choice.name, fetched)
    log += _cache_notes(asked, local)
    return Collected(
        facts=seen.facts,
        view=seen.view,
        ranking=seen.ranking,
        resolution=seen.resolution,
        choice=asked.choice,
        sources=_sources(asked),
        log=tuple(dict.fromkeys(log)),
        post=asked.issue.post,
        asks_on_issue=asked.remembered.autopilot_asks_on_issue,
    )


def _ask(request: Request, deadline: Deadline) -> tuple[Asked, LocalRefs]:
    """Ask the remote and the tracker, side by side, while this clone is read."""
    git, here = request.git, locate(request.git, request.remote, request.checkout)
    choice, name, host = here.choice, here.name, here.host
    if choice is not None and request.remote_reason is not None:
        choice = altered(choice, reason=request.remote_reason)
    store = preferences_path(git.environ)
    key, old_key = (request.project_key, None) if request.project_key else (here.key, name)
    # The expired ones too: the resolver passes them over, and says so.
    remembered = read_recent(store, key, old_key=old_key)
    kept = read_backtest(store, request.project_key or name)
    read_issue = _how_to_read(request, remembered, name if choice else None, host)
    # The default branch costs the server all its refs (FACTS: 2.4): left out where the issue or the memory may
    # settle the answer without it, and asked after all where they do not.
    at_once = request.attended or (request.issue is None and request.prepare_issue is None and not remembered.choices)
    began = time.monotonic()
    with ThreadPoolExecutor(max_workers=3) as pool:
        try:
            heads: Future[RemoteAnswer | Failure] | None = None
            head: Future[DefaultAnswer | Failure] | None = None
            if choice is not None and request.refresh != "none":
                heads = pool.submit(ask_remote, git, choice.name, deadline, host=host)
                if at_once:
                    head = pool.submit(ask_default_branch, git, choice.name, deadline, host=host)
            issue = pool.submit(read_issue, deadline)
            local = list_local_refs(git, choice.name if choice else None, here.config)
            answer, default = awaited(heads) if heads else None, awaited(head) if head else None
            took = round((time.monotonic() - began) * 1000) if heads else 0
            told = awaited(issue)
        except BaseException:
            deadline.cancel()
            raise
    local = without_aliases(git, choice.name if choice else None, local, _listed_by(answer))
    days = None if request.ttl_is_set else remembered.branch_ttl_days
    asked = Asked(
        now=request.now,
        name=name,
        settings=request.settings if days is None else altered(request.settings, branch_ttl_days=days),
        checkout=here.checkout,
        config=here.config,
        choice=choice,
        answer=answer,
        default=default,
        issue=told,
        remembered=remembered,
        backtest=kept.figure if kept else None,
        milliseconds=took,
    )
    return asked, local


def _how_to_read(request: Request, remembered: Remembered, repository: str | None, host: str | None) -> ReadIssue:
    """How the issue is read; not at all where the preferences switch the evidence off."""
    ready = IssueAnswer(issue=request.issue)
    if remembered.evidence is False:
        return lambda _: IssueAnswer(issue=None)
    if request.prepare_issue is not None:
        return request.prepare_issue(repository, host)
    return lambda _: ready


def _ask_default(request: Request, asked: Asked, deadline: Deadline) -> DefaultAnswer | Failure | None:
    if asked.choice is None:
        return None
    return ask_default_branch(request.git, asked.choice.name, deadline, host=asked.choice.host)


def _default_may_matter(asked: Asked, seen: Looked) -> bool:
    """Whether the answer hangs on the default branch that the remote was not asked for yet.

    It does not where a derived or remembered branch stands whether the cached default is right or unknown.
    """
    if asked.default is not None or not isinstance(asked.answer, RemoteAnswer):
        return False
    if seen.resolution.source not in ("derived", "remembered"):
        return True
    unknown = altered(seen.facts.repository, default_branch=None, default_branch_state="not-asked")
    facts = altered(seen.facts, repository=unknown)
    view = read_asked(facts, seen.view)
    without = resolve(facts, rank(facts, view), view=unasked(facts, view))
    return (without.branch, without.source) != (seen.resolution.branch, seen.resolution.source)


def _cache_notes(asked: Asked, local: LocalRefs) -> list[str]:
    """What is to be said of this clone's idea of the remote."""
    if asked.choice is None:
        return []
    told = asked.default.branch if isinstance(asked.default, DefaultAnswer) else None
    return cache_notes(local, asked.choice.name, answered=isinstance(asked.answer, RemoteAnswer), default=told)


def _read_local(request: Request, asked: Asked) -> LocalRefs:
    git, remote = request.git, asked.choice.name if asked.choice else None
    return without_aliases(git, remote, list_local_refs(git, remote, asked.config), _listed_by(asked.answer))


def _listed_by(answer: RemoteAnswer | Failure | None) -> Mapping[str, str]:
    return answer.branches if isinstance(answer, RemoteAnswer) else {}


class _Fetched(Struct, frozen=True, kw_only=True):
    """What was to be fetched at once, `whole` with every other branch, and why some of it may not have come."""

    names: frozenset[str]
    failure: Failure | None
    whole: bool

    def settles(self, name: str) -> bool:
        """Whether to fetch that branch again would be the same again; of several that failed it may come alone."""
        if self.failure is None:
            return self.whole or name in self.names
        return self.names == {name} and not self.whole


def _unsettled(names: list[str], fetched: list[_Fetched]) -> list[str]:
    return [name for name in names if not any(each.settles(name) for each in fetched)]


def _fetch(
    request: Request, choice: RemoteChoice, names: list[str], deadline: Deadline, *, whole: bool
) -> Failure | None:
    if whole:
        return fetch_all_branches(request.git, choice.name, deadline, host=choice.host)
    return fetch_branches(request.git, choice.name, names, deadline, host=choice.host)


def _chosen(request: Request, seen: Looked) -> list[str]:
    """The one branch that has to be here, where it is not."""
    listing = seen.facts.refs
    base = _given_base(request, seen) or branch_in(listing, seen.resolution.branch)
    return [base.name] if base is not None and _behind(base) else []


def _given_base(request: Request, seen: Looked) -> Branch | None:
    """The branch that came with the request, if the listing has it."""
    if request.base is None:
        return None
    listing, remote = seen.facts.refs, seen.facts.repository.remote
    return branch_in(listing, listed_name(request.base, remote, lambda name: branch_in(listing, name) is not None))


def _needed(request: Request, seen: Looked) -> list[str]:
    """The branches whose tip has to be here: the chosen one, and a development branch that may not be alive."""
    if request.refresh in ("none", "probe"):
        return []
    if request.refresh == "all":
        return _all_behind(seen)
    default, *development = (
        branch_in(seen.facts.refs, name) for name in (seen.facts.repository.default_branch, *DEVELOPMENT)
    )
    contenders = [b for b in development if b is not None and b != default][:1]
    pair = (*contenders, default) if contenders and default is not None else ()
    undated = [b.name for b in pair if b.date_state == "object-missing" and _behind(b)]
    return sorted({*_chosen(request, seen), *undated})


def _left(request: Request, seen: Looked, remote: str, fetched: list[_Fetched]) -> Iterator[str]:
    """What was fetched and is not here as it was listed, and why: first of all the branch that was chosen."""
    chosen = _chosen(request, seen)
    behind = dict.fromkeys([*chosen, *_all_behind(seen)]) if fetched else {}
    for each in reversed(fetched):
        left = [name for name in behind if name in each.names or (each.whole and each.failure is None)]
        symrefs = find_symrefs(request.git, remote, left[:_MOST_LINES])
        for name in left:
            del behind[name]
            if name in symrefs:
                yield f"{shown(name)} could not be fetched: {symrefs[name].kind}: {symrefs[name].detail}"
        rest = [shown(name) for name in left if name not in symrefs]
        if rest:
            more = f", and {len(rest) - _MOST_NAMED} more" if len(rest) > _MOST_NAMED else ""
            became = f"changed on {remote} after it was listed"
            if each.failure is not None:
                became = f"could not be fetched: {each.failure.kind}: {each.failure.detail}"
            yield f"{', '.join(rest[:_MOST_NAMED])}{more} {became}"


def _all_behind(seen: Looked) -> list[str]:
    return [b.name for b in seen.facts.refs.branches if _behind(b) and fault_of(b.name) is None]


def _unlooked(request: Request, asked: Asked, seen: Looked) -> list[str]:
    """The lines to bring because one of them may carry the release on which the answer hangs.

    Never where that could not change the answer, nor into a shallow clone, in which lineage is not read.
    """
    given = request.base is not None or (
        seen.resolution.source == "remembered" and request.settings.on_conflict == "remembered"
    )
    if given or asked.checkout.shallow or request.refresh in ("none", "probe"):
        return []
    unlooked = (branch_in(seen.facts.refs, name) for name in unlooked_lines(seen.facts, seen.view))
    lines = [b.name for b in unlooked if b is not None and _behind(b)][:_MOST_LINES]
    default = branch_in(seen.facts.refs, seen.facts.repository.default_branch)
    # A release sits on a line or on the default's: without the default's tip nobody can tell which.
    if lines and default is not None and default.cached_tip is None:
        lines.append(default.name)
    return sorted({name for name in lines if fault_of(name) is None})


def _behind(branch: Branch) -> bool:
    return branch.tip is not None and branch.tip != branch.cached_tip


def _name(choice: RemoteChoice | None, checkout: Checkout) -> str:
    """The remote's owner/name, else the folder's name."""
    from_url = owner_and_name(choice.url) if choice and choice.url else None
    return from_url or checkout.name


def _sources(asked: Asked) -> tuple[Source, ...]:
    remembered = asked.remembered
    preferences = Source(name="preferences", state=remembered.state, detail=remembered.detail)
    told = asked.issue.source
    trackers = [
        told if told is not None and told.name == name else Source(name=name, state="not-asked")
        for name in ("jira", "github")
    ]
    return (_remote_source(asked), *trackers, preferences)


def _remote_source(asked: Asked) -> Source:
    if asked.choice is None:
        return Source(name="remote", state="not-asked", kind="no-remote", detail="this repository has no remote")
    host = asked.choice.host
    if asked.answer is None:
        return Source(name="remote", state="not-asked", host=host, detail="by --refresh none")
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
