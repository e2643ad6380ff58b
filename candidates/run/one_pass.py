"""One pass of a run: from what this clone and the remote say of refs now to facts, ranking and resolution.

Lineage and dates are read from this clone, as far as the ranking may hang on them. Nobody is asked, nothing fetched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from datetime import datetime
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace as altered

from candidates.resolver import Resolution, resolve
from candidates.run.issue import IssueAnswer
from candidates.run.names import listed_name
from candidates.run.work import choices_for
from collectors.git.local_refs import LocalRefs
from collectors.git.objects import Lineage, read_creator_dates, read_dates, read_lineage
from collectors.git.refs import DefaultAnswer, RemoteAnswer, RemoteChoice, build_listing
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
from ranking.listing import hangs_on_dates
from ranking.names import BranchName, Oid
from ranking.rank import View, rank, read_asked
from ranking.targets import read_targets
from ranking.words import DEVELOPMENT


class Asked(Struct, frozen=True, kw_only=True):
    """What was learnt once, before the passes. `default` None: the remote was not asked for its default branch.

    `name`: the repository's; `settings`: those of this run.
    """

    now: datetime
    name: str
    settings: Settings
    checkout: Checkout
    config: Config
    choice: RemoteChoice | None
    answer: RemoteAnswer | Failure | None
    default: DefaultAnswer | Failure | None
    issue: IssueAnswer
    remembered: Remembered
    backtest: Backtest | None
    milliseconds: int = 0


class Looked(Struct, frozen=True, kw_only=True):
    """What one pass gave. `view`: what the ranking read of the facts' refs."""

    facts: Facts
    view: View
    ranking: Ranking
    resolution: Resolution


def look(git: Git, asked: Asked, local: LocalRefs, log: list[str]) -> Looked:
    """One pass: from what the refs say now to a ranking and a resolution; what could not be read goes to the log."""
    issue = asked.issue.issue
    listing = _with_protection(build_listing(local, asked.answer), asked)
    if asked.choice is None:
        listing = altered(listing, failure=Failure(kind="no-remote", detail="this repository has no remote"))
    repository = _repository(asked, local)
    if _wants_lineage(issue):
        listing = _with_lineage(git, asked.checkout, local, listing, repository, log)
    choices, for_other_work = choices_for(asked.remembered, issue)
    facts = Facts(
        schema="base-branch/bundle@1",
        now=asked.now,
        repository=repository,
        refs=listing,
        issue=issue,
        recent=_recent(asked, listing, choices),
        backtest=asked.backtest,
        settings=asked.settings,
    )
    # Dates of all refs would be dear in a large repository: those of the branches that come into question do.
    view = read_asked(facts)
    ranking = rank(facts, view)
    shown = {c.branch for c in ranking.candidates} | {*DEVELOPMENT, repository.default_branch}
    dated = _read_dates(git, asked.checkout, listing, shown)
    branches = tuple(dated.get(b.name, b) for b in listing.branches)
    facts = altered(facts, refs=altered(listing, branches=branches))
    if hangs_on_dates(view.listed):
        named = {name: dated.get(name, b) for name, b in view.listed.branches.items()}
        view = read_asked(facts, altered(view, listed=altered(view.listed, branches=named)))
        ranking = rank(facts, view)
    return Looked(
        facts=facts,
        view=view,
        ranking=ranking,
        resolution=resolve(
            facts,
            ranking,
            None if asked.remembered.state == "answered" else asked.remembered.detail,
            evidence_off=asked.remembered.evidence is False,
            for_other_work=for_other_work,
            view=unasked(facts, view),
        ),
    )


def _recent(asked: Asked, listing: RefListing, choices: Iterable[RecentChoice]) -> tuple[RecentChoice, ...]:
    """The stored choices that apply to this work, each under the name that the listing has for it."""
    remote = asked.choice.name if asked.choice else None
    return newest_first(
        altered(choice, branch=listed_name(choice.branch, remote, lambda name: branch_in(listing, name) is not None))
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


def _repository(asked: Asked, local: LocalRefs) -> Repository:
    url = asked.choice.url if asked.choice else None
    repository = Repository(
        name=asked.name,
        remote=asked.choice.name if asked.choice else None,
        remote_reason=asked.choice.reason if asked.choice else None,
        url=url,
        remote_type=remote_type(url) if url else None,
    )
    match asked.default:
        case DefaultAnswer(branch=None):
            return _by_host(asked, repository) or altered(repository, default_branch_state="none")
        case DefaultAnswer(branch=str(name)):
            return altered(repository, default_branch=name, default_branch_state="remote")
        case _ if (told := _by_host(asked, repository)) is not None:
            return told
        case _ if local.cached_default is not None and asked.choice is not None:
            return altered(repository, default_branch=local.cached_default, default_branch_state="cached")
        case _ if isinstance(asked.answer, Failure) or isinstance(asked.default, Failure):
            return altered(repository, default_branch_state="failed")
        case _:
            return repository


def _by_host(asked: Asked, repository: Repository) -> Repository | None:
    """The default branch by the host's own interface, where that told it of this very repository."""
    told = asked.issue.branches
    if told is None or told.default_branch is None or told.repository.lower() != repository.name.lower():
        return None
    return altered(repository, default_branch=told.default_branch, default_branch_state="host-api")


def _with_protection(listing: RefListing, asked: Asked) -> RefListing:
    """The listing with the host's word on protected branches, where all of them were told."""
    told = asked.issue.branches
    if told is None or told.protected_read != "answered" or told.repository.lower() != asked.name.lower():
        return listing
    protected = frozenset(told.protected)
    return altered(listing, branches=tuple(altered(b, protected=b.name in protected) for b in listing.branches))


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
    commits = {t.name: Oid(t.commit) for t in listing.tags if t.commit}
    if not commits:
        return listing
    # An advertised tip may not be here; the cached one of the same branch is the newest that is.
    tips = {BranchName(b.name): Oid(oid) for b in listing.branches if (oid := b.cached_tip or b.tip or b.local_tip)}
    if listing.provenance == "remote":
        listed = {b.name for b in listing.branches if b.tip}
        tips = {name: oid for name, oid in tips.items() if name in listed}
    default = BranchName(repository.default_branch) if repository.default_branch else None
    lineage = read_lineage(git, checkout.git_dir, tips, commits, default, shallow=checkout.shallow)
    if lineage.state != "read":
        log.append(f"which branches carry which tags is not known: {lineage.detail}")
    # This clone's date is the remote's tag's where both stand for the same commit.
    dates = {name: date for name, date in read_creator_dates(git).items() if local.tags.get(name) == commits.get(name)}
    return altered(listing, tags=tuple(_tag(tag, lineage, dates) for tag in listing.tags))


def _tag(tag: Tag, lineage: Lineage, dates: Mapping[str, datetime]) -> Tag:
    return altered(tag, branches=lineage.tags.get(tag.name), created_at=dates.get(tag.name))


def _read_dates(git: Git, checkout: Checkout, listing: RefListing, names: Iterable[str | None]) -> dict[str, Branch]:
    """These branches with the committer dates of their tips, by name."""
    branches = (b for name in names if (b := branch_in(listing, name)) is not None)
    tips = [(b, Oid(oid)) for b in branches if (oid := b.tip or b.cached_tip or b.local_tip)]
    dates = read_dates(git, checkout.git_dir, {oid for _, oid in tips})
    return {b.name: _dated(b, oid, dates) for b, oid in tips}


def _dated(branch: Branch, oid: Oid, dates: Mapping[Oid, datetime | None]) -> Branch:
    if oid not in dates:
        return altered(branch, date_state="failed")
    moment = dates[oid]
    return altered(branch, committed_at=moment, date_state="object-missing" if moment is None else "read")
