"""Facts in a line or two: branches and tags from words, versions from labels, the answer as one line of text.

answer(facts("main 8.3 8.4", tags="v8.3.0@8.3", issue=wants(fix="8.4.1"))) == "issue-version 8.4"
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from msgspec import UNSET

from ranking.facts import (
    Backtest,
    Branch,
    Candidate,
    Facts,
    Failure,
    Issue,
    IssueField,
    IssueLink,
    IssueVersion,
    Provenance,
    Ranking,
    RecentChoice,
    RefListing,
    Repository,
    Settings,
    Tag,
)
from ranking.ranker import rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ranking.facts import Role

# The same examples in every run, and no clock: a busy machine fails no property.
unhurried = hypothesis_settings(
    deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow], database=None
)

NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
OID = "0123456789" * 4

Labels = str | tuple[str, ...]
DefaultState = Literal["remote", "host-api", "cached", "none", "failed", "not-asked"]

_FIELDS: Mapping[Role, str] = {
    "fix": "fixVersions",
    "target": "Target Version",
    "milestone": "milestone",
    "label": "labels",
    "affected": "versions",
}


def facts(
    branches: str | Iterable[str],
    *,
    tags: str | Iterable[Tag] = (),
    default: str | None = "main",
    default_state: DefaultState = "remote",
    issue: Issue | None = None,
    recent: tuple[RecentChoice, ...] = (),
    settings: Settings | None = None,
    provenance: Provenance = "remote",
    complete: bool = True,
    failure: Failure | None = None,
    dates: Mapping[str, int] | None = None,
    only_here: str = "",
    name: str = "acme/app",
    backtest: Backtest | None = None,
) -> Facts:
    """Build a bundle. `dates`: days before now of a branch's last commit; `only_here`: cached, not advertised."""
    ages = dates or {}
    listed = [
        Branch(
            name=branch,
            tip=OID if provenance == "remote" else None,
            cached_tip=None if provenance == "remote" else OID,
            committed_at=NOW - timedelta(days=ages[branch]) if branch in ages else None,
            date_state="read" if branch in ages else "not-asked",
        )
        for branch in (branches.split() if isinstance(branches, str) else branches)
    ]
    listed += [Branch(name=branch, cached_tip=OID) for branch in only_here.split()]
    return Facts(
        schema="base-branch/bundle@1",
        now=NOW,
        repository=Repository(name=name, remote="origin", default_branch=default, default_branch_state=default_state),
        refs=RefListing(
            provenance=provenance,
            complete=complete,
            branches=tuple(listed),
            tags=tuple(map(tag, tags.split())) if isinstance(tags, str) else tuple(tags),
            tags_complete=True,
            failure=failure,
        ),
        issue=issue,
        recent=recent,
        backtest=backtest,
        settings=settings or Settings(),
    )


def tag(text: str) -> Tag:
    """`v1.2@main,1.2`: on these branches; `v1.2@`: on none; `v1.2`: nobody looked."""
    name, at, branches = text.rpartition("@")
    if not at:
        return Tag(name=text)
    return Tag(name=name, branches=tuple(b for b in branches.split(",") if b))


def releases(branch: str, versions: str, prefix: str = "v") -> str:
    """Tags of several versions on one branch, as `facts` takes them."""
    return " ".join(f"{prefix}{version}@{branch}" for version in versions.split()) + " "


def versions(labels: Labels, role: Role, inherited_from: str | None = None) -> tuple[IssueVersion, ...]:
    """Version labels of one role, in the field that this role usually has."""
    names = (labels,) if isinstance(labels, str) else labels
    return tuple(IssueVersion(name=n, field=_FIELDS[role], role=role, inherited_from=inherited_from) for n in names)


def wants(
    fix: Labels = (),
    *,
    target: Labels = (),
    milestone: Labels = (),
    label: Labels = (),
    affected: Labels = (),
    inherited: Labels = (),
    more: tuple[IssueVersion, ...] = (),
    links: tuple[IssueLink, ...] = (),
    read: Literal["answered", "partial", "not-found", "failed"] = "answered",
    fields: tuple[IssueField, ...] = (),
) -> Issue:
    """Build an issue that names these versions."""
    return Issue(
        key="APP-1",
        read=read,
        fields=fields,
        versions=(
            *versions(fix, "fix"),
            *versions(target, "target"),
            *versions(milestone, "milestone"),
            *versions(label, "label"),
            *versions(affected, "affected"),
            *versions(inherited, "fix", "APP-9"),
            *more,
        ),
        links=links,
        links_read="answered",
    )


def pull(
    base: str,
    *,
    key: str = "acme/app#7",
    repository: str | None = "acme/app",
    state: Literal["open", "merged", "closed"] | None = "open",
) -> IssueLink:
    """Link a pull request that targets a branch."""
    return IssueLink(kind="pull-request", key=key, base_branch=base, repository=repository, state=state)


def parent(
    labels: Labels, *, key: str = "APP-9", depth: int = 1, kind: Literal["parent", "epic"] = "parent"
) -> IssueLink:
    """Link a parent that names fix versions."""
    return IssueLink(kind=kind, key=key, depth=depth, versions=versions(labels, "fix"))


def chose(branch: str, days_ago: float = 1, count: int = 1) -> RecentChoice:
    """Remember a person's choice."""
    return RecentChoice(branch=branch, last_used=NOW - timedelta(days=days_ago), count=count)


def answer(bundle: Facts) -> str:
    """Rank, and say the outcome in one line: `issue-version 8.4`, `default main`, `tied 8.3 8.4`, `nothing`."""
    return outcome(rank(bundle))


def outcome(ranking: Ranking) -> str:
    """The outcome of a ranking: the strongest kind of evidence of the chosen branch, and its name."""
    if ranking.ambiguous:
        assert ranking.chosen is UNSET
        top = sorted(c.branch for c in ranking.candidates if c.score == ranking.candidates[0].score)
        return " ".join(("tied", *top))
    if not ranking.candidates:
        assert ranking.chosen is UNSET
        return "nothing"
    first = ranking.candidates[0]
    assert ranking.chosen == first.branch
    kinds = {e.kind for e in first.evidence}
    decisive = [k for k in ("issue-version", "linked-release") if k in kinds]
    return f"{decisive[0] if decisive else 'default'} {first.branch}"


def asks(branches: str, label: str, tags: str = "", default: str | None = "main") -> str:
    """Answer to one fix version."""
    return answer(facts(branches, tags=tags, default=default, issue=wants(label)))


def details(ranking: Ranking, branch: str) -> list[str]:
    """The evidence of one candidate, `kind detail` each."""
    return [f"{e.kind} {e.detail}" for e in candidate(ranking, branch).evidence]


def candidate(ranking: Ranking, branch: str) -> Candidate:
    """The candidate of a name; an error of the test where there is none."""
    return next(c for c in ranking.candidates if c.branch == branch)


def names(ranking: Ranking) -> list[str]:
    """The candidates' names, in their order."""
    return [c.branch for c in ranking.candidates]
