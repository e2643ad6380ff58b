"""The person's view: the answer first, then who said what, the candidates with their evidence, and what fired.

Pure: a list of lines, each a list of (style, text) parts; `cli` puts them on a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from candidates.collect import Collected
from candidates.contract import UNNAMED, Source, TrailEntry
from candidates.counterfactuals import deciding_changes
from ranking.facts import Branch, Candidate, Convention, Facts, Ranking
from ranking.names import shown
from ranking.order import newest_first
from ranking.rank import read_view

Part = tuple[str, str]
Line = list[Part]

_MOST_SHOWN = 10
_MOST_MEMBERS = 5


def explain(collected: Collected) -> Iterator[Line]:
    """What a person wants to know of one run."""
    yield from _answer(collected)
    yield []
    yield from _sources(collected)
    yield []
    branches = {b.name: b for b in collected.facts.refs.branches}
    yield from candidate_lines(collected.ranking, branches, newest_releases(collected.facts))
    yield []
    yield from trail_lines(collected.resolution.trail)
    yield from _deciding(collected)
    notes = [*collected.ranking.notes, *collected.log]
    if notes:
        yield []
        yield [("bold", "Notes")]
        yield from ([("", f"  {shown(note)}")] for note in notes)


def _deciding(collected: Collected) -> Iterator[Line]:
    """What would settle a result that the evidence leaves open, or that goes against it."""
    changes = deciding_changes(collected.facts, collected.ranking, collected.resolution)
    if not changes:
        return
    yield []
    yield [("bold", "What would decide it"), ("dim", " (each seen to, by ranking again with that one change)")]
    width = max(len(shown(change.branch)) for change in changes)
    for change in changes:
        yield [("cyan", f"  {shown(change.branch):<{width}}"), ("dim", f"  {change.source:<10}  "), ("", change.do)]


def _answer(collected: Collected) -> Iterator[Line]:
    """One sentence, or two where the evidence does not decide."""
    facts, ranking, resolution = collected.facts, collected.ranking, collected.resolution
    about = _about(facts)
    reason = shown(next((entry.reason for entry in resolution.trail if entry.fired), ""))
    if ranking.ambiguous:
        tied = [c.branch for c in ranking.candidates if c.score == ranking.candidates[0].score]
        names = ", ".join(shown(name) for name in tied[:_MOST_SHOWN])
        yield [("bold yellow", f"The evidence does not decide where {about} belongs: {names} tie.")]
    unread = facts.issue is not None and facts.issue.read in ("not-found", "failed")
    if unread and facts.issue is not None:
        yield [
            ("bold yellow", f"Issue {shown(facts.issue.key)} could not be read ({facts.issue.read}): "),
            ("bold yellow", "an unattended run stops here; with --issue-optional:"),
        ]
    if resolution.branch is None:
        yield [("bold yellow", f"No rule gives a branch for {about}: a person has to choose.")]
    elif resolution.source == "default":
        said = "" if ranking.ambiguous or unread else f"Nothing names a branch for {about}. "
        yield [
            ("", f"{said}An unattended run would take "),
            ("bold green", shown(resolution.branch)),
            ("", f" by default: {reason}."),
        ]
    else:
        yield [
            ("bold", f"{about[0].upper()}{about[1:]} belongs on "),
            ("bold green", shown(resolution.branch)),
        ]
        yield [("", f"  {resolution.source}: {reason}")]


def _about(facts: Facts) -> str:
    """What the work is called."""
    if facts.issue is None:
        return "new work"
    if facts.issue.key == UNNAMED:
        return f"work for {', '.join(shown(version.name) for version in facts.issue.versions)}"
    return f"work on {shown(facts.issue.key)}"


def _sources(collected: Collected) -> Iterator[Line]:
    facts, refs = collected.facts, collected.facts.refs
    when = f"{'asked' if facts.repository.remote else 'read'} at {facts.now:%Y-%m-%d %H:%M:%S} UTC"
    yield [("bold", f"{shown(facts.repository.name)}"), ("", f", {when}")]
    for source in collected.sources:
        if source.name in ("jira", "github") and source.state == "not-asked":
            continue
        yield [("", f"  {source.name:<12}"), *_state(collected, source)]
    default = facts.repository.default_branch
    said = {
        "remote": "the remote's word",
        "host-api": "the host's word",
        "cached": "this clone's last knowledge, not the remote's word",
        "none": "the remote has none",
        "failed": "the remote did not tell",
        "not-asked": "nobody was asked",
    }[facts.repository.default_branch_state]
    yield [("", f"  {'default':<12}{shown(default or 'not known')} ({said})")]
    yield [
        ("", f"  {'refs':<12}{len(refs.branches)} branches, {len(refs.tags)} tags"),
        ("", "" if refs.complete else "; the list is incomplete"),
    ]
    convention = collected.ranking.convention
    named = (
        f"{shown(convention.template)}, {convention.members} members: {_members(facts, convention)}"
        if convention
        else "no two branches share a template with a version"
    )
    yield [("", f"  {'convention':<12}{named}")]


def _members(facts: Facts, convention: Convention) -> str:
    """The newest branches that stand under the convention's template; the rest counted."""
    lines = read_view(facts).repo.conventions.lines.values()
    names = newest_first(line for line in lines if line.template == convention.template)
    more = f", and {len(names) - _MOST_MEMBERS} more" if len(names) > _MOST_MEMBERS else ""
    return f"{', '.join(map(shown, names[:_MOST_MEMBERS]))}{more}"


def _state(collected: Collected, source: Source) -> Line:
    style = {"answered": "green", "partial": "yellow", "failed": "red", "not-asked": "dim"}[source.state]
    parts: Line = [(style, source.state if source.kind is None else f"{source.state} ({source.kind})")]
    repository = collected.facts.repository
    if source.state != "not-asked" and (source.name == "remote" or source.ms):
        parts.append(("", f" in {source.ms} ms"))
    if source.name == "remote" and repository.remote is not None:
        url = f" {shown(repository.url)}" if repository.url else ""
        reason = f" ({shown(repository.remote_reason)})" if repository.remote_reason else ""
        parts.append(("", f": {shown(repository.remote)}{url}{reason}"))
    if source.detail:
        parts.append(("", f": {shown(source.detail)}"))
    return parts


def trail_lines(trail: Iterable[TrailEntry]) -> Iterator[Line]:
    """What each rule of the resolver did."""
    yield [("bold", "What an unattended run does")]
    for entry in trail:
        mark = ("green", "  fired   ") if entry.fired else ("dim", "  passed  ")
        yield [mark, ("bold" if entry.fired else "", f"{entry.rule:<11}"), ("", shown(entry.reason))]


def answer_lines(
    branch: str | None, source: str | None, trail: Iterable[TrailEntry], ranking: Ranking
) -> Iterator[Line]:
    """The answer of a record that has no facts."""
    if ranking.ambiguous:
        tied = [c.branch for c in ranking.candidates if c.score == ranking.candidates[0].score]
        names = ", ".join(shown(name) for name in tied[:_MOST_SHOWN])
        yield [("bold yellow", f"The evidence does not decide: {names} tie.")]
    if branch is None:
        yield [("bold yellow", "No branch is recorded as the answer.")]
        return
    yield [
        ("bold", "The recorded answer is "),
        ("bold green", shown(branch)),
        ("", f" ({shown(source or 'no source')})"),
    ]
    yield from ([("", f"  {entry.rule}: {shown(entry.reason)}")] for entry in trail if entry.fired)


def candidate_lines(ranking: Ranking, branches: Mapping[str, Branch], carried: Mapping[str, str]) -> Iterator[Line]:
    """The table of candidates; what is known of the branches and of the releases that they carry stands beside."""
    if not ranking.candidates:
        yield [("", "No branch could be a base: nothing is listed.")]
        return
    shown_ones = ranking.candidates[:_MOST_SHOWN]
    width = max(6, *(len(shown(c.branch)) for c in shown_ones))
    yield [("bold", f"{'score':>5}  {'branch':<{width}}  {'last commit':<11}  carries")]
    for candidate in shown_ones:
        yield from _candidate(candidate, branches.get(candidate.branch), carried.get(candidate.branch, ""), width)
    if len(ranking.candidates) > _MOST_SHOWN:
        yield [("dim", f"       and {len(ranking.candidates) - _MOST_SHOWN} more candidates below")]


def _candidate(candidate: Candidate, branch: Branch | None, carried: str, width: int) -> Iterator[Line]:
    day = f"{branch.committed_at:%Y-%m-%d}" if branch and branch.committed_at else "not known"
    yield [
        ("bold", f"{candidate.score:>5}  "),
        ("cyan", f"{shown(candidate.branch):<{width}}"),
        ("", f"  {day:<11}  {shown(carried)}".rstrip()),
    ]
    for evidence in candidate.evidence:
        points, _, reason = evidence.detail.partition(": ")
        yield [("dim", f"{points:>11}  {evidence.kind:<18}  "), ("", shown(reason))]


def newest_releases(facts: Facts) -> dict[str, str]:
    """The newest release tag that each branch carries, as far as somebody looked."""
    newest: dict[str, str] = {}
    for release in read_view(facts).repo.lineage.releases():
        for branch in release.branches or ():
            newest[branch] = release.name
    return newest
