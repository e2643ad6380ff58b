"""What would decide it: the smallest changes that give a branch, each verified by ranking and resolving again.

Pure: facts in, verified changes out. What could not be verified is not in the list.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import UNNAMED, BaseBranchSource
from candidates.evidence import tied_names
from candidates.resolver import Resolution, derived_branch, resolve
from ranking.facts import Facts, Issue, IssueVersion, Ranking, RecentChoice, Settings
from ranking.names import printable
from ranking.ranker import View, rank, read_asked, read_view
from ranking.targets import Target, read_targets, role_of

ChangeKind = Literal["fix-version", "milestone", "setting", "remember", "base"]

_MOST_BRANCHES = 3
_MOST_LABELS = 4

# Each change costs a ranking: 0.4 s for ten thousand lines.
_MANY_BRANCHES = 2_000
_FEW_BRANCHES = 2
_FEW_LABELS = 1


class Change(Struct, frozen=True, kw_only=True):
    """One change, what to do for it, and the branch and the rule that it was seen to give."""

    kind: ChangeKind
    do: str
    branch: str
    source: BaseBranchSource


def deciding_changes(facts: Facts, ranking: Ranking, resolution: Resolution, view: View) -> tuple[Change, ...]:
    """The changes that would settle an ambiguous or unexpected result; none where the evidence has settled it.

    `view`: what was made of these facts; of none that is tried are the refs others.
    """
    contenders = _contenders(facts, ranking, resolution)
    if not contenders:
        return ()
    most = _FEW_BRANCHES if len(facts.refs.branches) > _MANY_BRANCHES else _MOST_BRANCHES
    view = read_view(facts, like=view)
    found = [change for branch in contenders[:most] for change in _giving(facts, view, branch)]
    return (*found, *_settings(facts, view, resolution))


def changes_for(facts: Facts, resolution: Resolution, branch: str, view: View) -> tuple[Change, ...]:
    """The changes that would give this branch; none where it is the answer, or where nothing could make it so."""
    view = read_view(facts, like=view)
    if resolution.branch == branch or branch not in view.listed.branches:
        return ()
    settings = (change for change in _settings(facts, view, resolution) if change.branch == branch)
    return (*_giving(facts, view, branch), *settings)


def _contenders(facts: Facts, ranking: Ranking, resolution: Resolution) -> list[str]:
    """Between which branches it hangs; empty where it does not."""
    names = [c.branch for c in ranking.candidates]
    if ranking.ambiguous:
        return list(tied_names(ranking))
    derived = derived_branch(facts, ranking)
    if derived is not None:
        return [] if derived == resolution.branch else [derived]
    settled = resolution.source == "remembered" or (resolution.source == "default" and facts.issue is None)
    return [] if settled else names


def _giving(facts: Facts, view: View, branch: str) -> Iterator[Change]:
    """What would give this branch: one version on the issue, a remembered choice, a base given with the request."""
    yield from _version(facts, view, branch)
    choice = RecentChoice(branch=branch, last_used=facts.now)
    if _outcome(replace(facts, recent=(*facts.recent, choice)), view) == (branch, "remembered"):
        yield Change(
            kind="remember", do=f"base-branch remember {shlex.quote(branch)}", branch=branch, source="remembered"
        )
    if branch in view.listed.branches:
        yield Change(kind="base", do=f"base-branch resolve --base {shlex.quote(branch)}", branch=branch, source="input")


def _outcome(facts: Facts, like: View) -> tuple[str | None, BaseBranchSource | None]:
    resolution = resolve(facts, rank(facts, read_asked(facts, like)), view=read_view(facts, like=like))
    return resolution.branch, resolution.source


# --- one version on the issue ---


def _version(facts: Facts, view: View, branch: str) -> Iterator[Change]:
    """The first version that, alone on the issue, gives the branch."""
    issue = facts.issue
    if issue is not None and issue.read in ("failed", "not-found"):
        return  # what it names is not known, so nothing can be said of a change to it
    own = read_targets(issue, facts.repository.name).own
    most = _FEW_LABELS + len(own) if len(facts.refs.branches) > _MANY_BRANCHES else _MOST_LABELS + len(own)
    for label in list(dict.fromkeys((*(t.label for t in own), *_labels(view, branch))))[:most]:
        changed = _with_version(issue, label)
        if _outcome(replace(facts, issue=changed), view) == (branch, "derived"):
            kind: ChangeKind = "milestone" if issue is not None and issue.source == "github" else "fix-version"
            yield Change(kind=kind, do=_said(issue, own, label), branch=branch, source="derived")
            return


def _labels(view: View, branch: str) -> Iterator[str]:
    """Versions that could be this branch's: its name's, the first of its line, the one after its newest release."""
    line = view.repo.conventions.lines.get(branch)
    if line is not None:
        yield ".".join(map(str, line.reading.version.numbers))
        yield ".".join(map(str, (*line.reading.version.numbers, 0)))
        if line.words:
            yield f"{' '.join(sorted(line.words))} {'.'.join(map(str, line.reading.version.numbers))}"
    carried = [r for r in view.repo.record.releases() if branch in (r.branches or ())]
    if carried:
        *first, last = carried[-1].version.numbers
        yield ".".join(map(str, (*first, last + 1)))


def _with_version(issue: Issue | None, label: str) -> Issue:
    """The issue with this as the one version of its own that may decide."""
    github = issue is not None and issue.source == "github"
    only = (
        IssueVersion(name=label, field="milestone", role="milestone")
        if github
        else IssueVersion(name=label, field="fixVersions", role="fix")
    )
    if issue is None:
        return Issue(key=UNNAMED, read="answered", versions=(only,))
    kept = tuple(v for v in issue.versions if v.inherited_from is not None or role_of(v) in ("affected", "label"))
    return replace(issue, versions=(*kept, only))


def _said(issue: Issue | None, own: Sequence[Target], label: str) -> str:
    others = [printable(str(t)) for t in own if t.label != label]
    if issue is None or issue.key == UNNAMED:
        return f"--issue-version {shlex.quote(printable(label))}" + (" alone" if others else "")
    field = "milestone" if issue.source == "github" else "fixVersions"
    wanted = f"{field} {printable(label)} on {printable(issue.key)}"
    return f"{wanted}, without {', '.join(others)}" if others else wanted


# --- one setting ---


def _settings(facts: Facts, view: View, resolution: Resolution) -> Iterator[Change]:
    """One setting that makes the issue's evidence decide where it does not, or go before the memory."""
    for flag, settings in _tries(facts.settings):
        branch, source = _outcome(replace(facts, settings=settings), view)
        if source == "derived" and branch is not None and branch != resolution.branch:
            yield Change(kind="setting", do=flag, branch=branch, source="derived")


def _tries(settings: Settings) -> Iterator[tuple[str, Settings]]:
    if settings.multiple_versions == "ambiguous":
        yield "--multiple-versions lowest", replace(settings, multiple_versions="lowest")
        yield "--multiple-versions highest", replace(settings, multiple_versions="highest")
        yield "--multiple-versions development", replace(settings, multiple_versions="development")
    if settings.on_conflict != "derived":
        yield "--on-conflict derived", replace(settings, on_conflict="derived")
    if settings.derive_floor:
        yield "--derive-floor 0", replace(settings, derive_floor=0.0)
