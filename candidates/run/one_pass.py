"""One pass of a run: from what this clone and the remote say of refs now to facts, ranking and resolution.

Lineage and dates are read from this clone, as far as the ranking may hang on them. Nobody is asked, nothing fetched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from candidates.resolver import Resolution, resolve
from candidates.run.issue import IssueAnswer
from candidates.run.names import listed_name
from candidates.run.work import choices_for
from collectors.git.local_refs import LocalRefs
from collectors.git.objects import Lineage, read_creator_dates, read_dates, read_lineage
from collectors.git.refs import RemoteAnswer, RemoteChoice, build_listing
from collectors.git.repository import Checkout, Config
from collectors.process import Git
from collectors.remote_url import remote_type
from collectors.stores.preferences import Remembered
from collectors.stores.recent_entries import newest_first
from ranking.facts import (
    Backtest,
    Branch,
    Facts,
    Failure,
    Issue,
    Ranking,
    RecentChoice,
    RefListing,
    Repository,
    Settings,
    Tag,
)
from ranking.listing import development_names, hangs_on_dates
from ranking.names import BranchName, Oid
from ranking.ranker import View, rank_surely, read_asked
from ranking.targets import read_targets


class RunInputs(Struct, frozen=True, kw_only=True):
    """What was learnt once, before the passes.

    `name`: the repository's; `settings`: those of this run.
    """

    now: datetime
    name: str
    settings: Settings
    checkout: Checkout
    config: Config
    choice: RemoteChoice | None
    answer: RemoteAnswer | Failure | None
    issue: IssueAnswer
    remembered: Remembered
    backtest: Backtest | None
    milliseconds: int = 0


class Pass(Struct, frozen=True, kw_only=True):
    """What one pass gave.

    `view`: what the ranking read of the facts' refs. `confidence`: in its first candidate. `log`: what could not be
    read.
    """

    facts: Facts
    view: View
    ranking: Ranking
    confidence: float | None
    resolution: Resolution
    log: tuple[str, ...] = ()


def look(git: Git, inputs: RunInputs, local: LocalRefs) -> Pass:
    """One pass: from what the refs say now to a ranking and a resolution."""
    issue = inputs.issue.issue
    listing = _with_protection(build_listing(local, inputs.answer), inputs)
    if inputs.choice is None:
        listing = replace(listing, failure=Failure(kind="no-remote", detail="this repository has no remote"))
    repository = _repository(inputs, local)
    log: tuple[str, ...] = ()
    if _wants_lineage(issue):
        listing, log = _with_lineage(git, inputs.checkout, local, listing, repository)
    choices, for_other_work = choices_for(inputs.remembered, issue)
    facts = Facts(
        schema="base-branch/bundle@1",
        now=inputs.now,
        repository=repository,
        refs=listing,
        issue=issue,
        recent=_recent(inputs, listing, choices),
        backtest=inputs.backtest,
        settings=inputs.settings,
    )
    # Dates of all refs would be dear in a large repository: those of the branches that come into question do.
    view = read_asked(facts)
    ranked = rank_surely(facts, view)
    ranking = ranked.ranking
    shown = {c.branch for c in ranking.candidates} | {
        *development_names(view.listed.default),
        repository.default_branch,
    }
    dated = _read_dates(git, inputs.checkout, listing, shown)
    branches = tuple(dated.get(b.name, b) for b in listing.branches)
    facts = replace(facts, refs=replace(listing, branches=branches))
    if hangs_on_dates(view.listed):
        named = {name: dated.get(name, b) for name, b in view.listed.branches.items()}
        view = read_asked(facts, replace(view, listed=replace(view.listed, branches=named)))
        ranked = rank_surely(facts, view)
        ranking = ranked.ranking
    return Pass(
        facts=facts,
        view=view,
        ranking=ranking,
        confidence=ranked.confidence,
        resolution=resolve(
            facts,
            ranking,
            None if inputs.remembered.state == "answered" else inputs.remembered.detail,
            evidence_off=inputs.remembered.evidence is False,
            for_other_work=for_other_work,
            view=unasked(facts, view),
        ),
        log=log,
    )


def _recent(inputs: RunInputs, listing: RefListing, choices: Iterable[RecentChoice]) -> tuple[RecentChoice, ...]:
    """The stored choices that apply to this work, each under the name that the listing has for it."""
    remote = inputs.choice.name if inputs.choice else None
    return newest_first(
        replace(choice, branch=listed_name(choice.branch, remote, lambda name: branch_in(listing, name) is not None))
        for choice in choices
    )


def unasked(facts: Facts, view: View) -> View | None:
    """The view in which no version is asked for, where it is the one at hand: reading 100,000 names takes its time."""
    return None if read_targets(facts.issue, facts.repository.name).words() else view


def branch_in(listing: RefListing, name: str | None) -> Branch | None:
    """One branch of a listing as `build_listing` makes it: in the order of the names."""
    if name is None:
        return None
    at = bisect_left(listing.branches, name, key=attrgetter("name"))
    found = listing.branches[at : at + 1]
    return found[0] if found and found[0].name == name else None


def _repository(inputs: RunInputs, local: LocalRefs) -> Repository:
    url = inputs.choice.url if inputs.choice else None
    repository = Repository(
        name=inputs.name,
        remote=inputs.choice.name if inputs.choice else None,
        remote_reason=inputs.choice.reason if inputs.choice else None,
        url=url,
        remote_type=remote_type(url) if url else None,
    )
    match inputs.answer:
        case RemoteAnswer(default=None):
            return _by_host(inputs, repository) or replace(repository, default_branch_state="none")
        case RemoteAnswer(default=str(name)):
            return replace(repository, default_branch=name, default_branch_state="remote")
        case _ if (told := _by_host(inputs, repository)) is not None:
            return told
        case _ if local.cached_default is not None and inputs.choice is not None:
            return replace(repository, default_branch=local.cached_default, default_branch_state="cached")
        case Failure():
            return replace(repository, default_branch_state="failed")
        case _:
            return repository


def _by_host(inputs: RunInputs, repository: Repository) -> Repository | None:
    """The default branch by the host's own interface, where that told it of this very repository."""
    told = inputs.issue.branches
    if told is None or told.default_branch is None or told.repository.lower() != repository.name.lower():
        return None
    return replace(repository, default_branch=told.default_branch, default_branch_state="host-api")


def _with_protection(listing: RefListing, inputs: RunInputs) -> RefListing:
    """The listing with the host's word on protected branches, where all of them were told."""
    told = inputs.issue.branches
    if told is None or told.protected_read != "answered" or told.repository.lower() != inputs.name.lower():
        return listing
    protected = frozenset(told.protected)
    return replace(listing, branches=tuple(replace(b, protected=b.name in protected) for b in listing.branches))


def _wants_lineage(issue: Issue | None) -> bool:
    """Whether some version is asked for: without one, no walk of the history can matter."""
    return issue is not None and bool(
        issue.versions or any(link.versions or link.kind == "release" for link in issue.links)
    )


def _with_lineage(
    git: Git, checkout: Checkout, local: LocalRefs, listing: RefListing, repository: Repository
) -> tuple[RefListing, tuple[str, ...]]:
    """The listing with each tag's date and branches, as far as this clone's objects tell; and why not further."""
    commits = {t.name: Oid(t.commit) for t in listing.tags if t.commit}
    if not commits:
        return listing, ()
    # An advertised tip may not be here; the cached one of the same branch is the newest that is.
    tips = {BranchName(b.name): Oid(oid) for b in listing.branches if (oid := b.cached_tip or b.tip or b.local_tip)}
    if listing.provenance == "remote":
        listed = {b.name for b in listing.branches if b.tip}
        tips = {name: oid for name, oid in tips.items() if name in listed}
    default = BranchName(repository.default_branch) if repository.default_branch else None
    lineage = read_lineage(git, checkout.git_dir, tips, commits, default, shallow=checkout.shallow)
    read = lineage.state == "read"
    log = () if read else (f"which branches carry which tags is not known: {lineage.detail}",)
    # This clone's date is the remote's tag's where both stand for the same commit.
    dates = {name: date for name, date in read_creator_dates(git).items() if local.tags.get(name) == commits.get(name)}
    return replace(listing, tags=tuple(_tag(tag, lineage, dates) for tag in listing.tags)), log


def _tag(tag: Tag, lineage: Lineage, dates: Mapping[str, datetime]) -> Tag:
    merged = lineage.merged.get(tag.name)
    return replace(
        tag,
        branches=lineage.tags.get(tag.name),
        merged_into=merged.branches if merged else None,
        created_at=dates.get(tag.name),
    )


def _read_dates(git: Git, checkout: Checkout, listing: RefListing, names: Iterable[str | None]) -> dict[str, Branch]:
    """These branches with the committer dates of their tips, by name."""
    branches = (b for name in names if (b := branch_in(listing, name)) is not None)
    tips = [(b, Oid(oid)) for b in branches if (oid := b.tip or b.cached_tip or b.local_tip)]
    dates = read_dates(git, checkout.git_dir, {oid for _, oid in tips})
    return {b.name: _dated(b, oid, dates) for b, oid in tips}


def _dated(branch: Branch, oid: Oid, dates: Mapping[Oid, datetime | None]) -> Branch:
    if oid not in dates:
        return replace(branch, date_state="failed")
    moment = dates[oid]
    return replace(branch, committed_at=moment, date_state="object-missing" if moment is None else "read")
