"""The person's view: the answer first, then who said what, the candidates with their evidence, and what fired.

Pure: a list of lines, each a list of (style, text) parts; `terminal` puts them on a screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from candidates.contract import UNNAMED, Remote, Source, TrailEntry
from candidates.evidence import split_detail, tied_names
from candidates.explain.counterfactuals import deciding_changes
from candidates.run.collect import Collected
from candidates.styled import Line, Part, and_more
from ranking.facts import Branch, Candidate, Convention, Facts, Ranking
from ranking.names import printable
from ranking.order import newest_first
from ranking.ranker import View

_SURE = 0.95
_FAIR = 0.75
_MOST_SHOWN = 10
_MOST_MEMBERS = 5

NO_CONVENTION = "no two branches share a template with a version"


def explain(collected: Collected) -> Iterator[Line]:
    """What a person wants to know of one run."""
    yield from answer(collected)
    yield []
    yield from _sources(collected)
    yield []
    branches = {b.name: b for b in collected.facts.refs.branches}
    yield from candidate_lines(collected.ranking, branches, newest_releases(collected.view))
    yield []
    yield from trail_lines(collected.resolution.trail)
    yield from _deciding(collected)
    notes = [*collected.ranking.notes, *collected.log]
    if notes:
        yield []
        yield [("bold", "Notes")]
        yield from ([("", f"  {printable(note)}")] for note in notes)


def _deciding(collected: Collected) -> Iterator[Line]:
    """What would settle a result that the evidence leaves open, or that goes against it."""
    changes = deciding_changes(collected.facts, collected.ranking, collected.resolution, collected.view)
    if not changes:
        return
    yield []
    yield [("bold", "What would decide it"), ("dim", " (each seen to, by ranking again with that one change)")]
    width = max(len(printable(change.branch)) for change in changes)
    for change in changes:
        yield [("cyan", f"  {printable(change.branch):<{width}}"), ("dim", f"  {change.source:<10}  "), ("", change.do)]


def answer(collected: Collected) -> Iterator[Line]:
    """One sentence, or two where the evidence does not decide."""
    facts, ranking, resolution = collected.facts, collected.ranking, collected.resolution
    about = _about(facts)
    reason = printable(resolution.reason)
    if ranking.ambiguous:
        names = and_more(tied_names(ranking), _MOST_SHOWN)
        yield [("bold yellow", f"The evidence does not decide where {about} belongs: {names} tie.")]
    unread = facts.issue is not None and facts.issue.read in ("not-found", "failed")
    if unread and facts.issue is not None:
        yield [
            ("bold yellow", f"Issue {printable(facts.issue.key)} could not be read ({facts.issue.read}): "),
            ("bold yellow", "an unattended run stops here; with --issue-optional:"),
        ]
    if resolution.branch is None:
        yield [("bold yellow", f"No rule gives a branch for {about}: a person has to choose.")]
    elif resolution.source == "default":
        said = "" if ranking.ambiguous or unread else f"Nothing names a branch for {about}. "
        yield [
            ("", f"{said}An unattended run would take "),
            ("bold green", printable(resolution.branch)),
            ("", f" by default: {reason}."),
        ]
    else:
        yield [
            ("bold", f"{about[0].upper()}{about[1:]} belongs on "),
            ("bold green", printable(resolution.branch)),
        ]
        yield [("", f"  {resolution.source}: {reason}")]
    yield from ([("dim", f"  {said}")] for said in confidence_text(collected.confidence, ambiguous=ranking.ambiguous))


def confidence_text(confidence: float | None, *, ambiguous: bool) -> Iterator[str]:
    """How sure the first candidate is, in words; nothing if no version was asked for."""
    if confidence is None or ambiguous:
        return
    sure = "high" if confidence >= _SURE else "moderate" if confidence >= _FAIR else "low"
    yield f"confidence: {sure} ({confidence:.0%}); measured on other repositories, see README"


def _about(facts: Facts) -> str:
    """What the work is called."""
    if facts.issue is None:
        return "new work"
    if facts.issue.key == UNNAMED:
        return f"work for {', '.join(printable(version.name) for version in facts.issue.versions)}"
    return f"work on {printable(facts.issue.key)}"


def _sources(collected: Collected) -> Iterator[Line]:
    yield [("bold", f"{printable(collected.facts.repository.name)}"), ("", f", {asked_at(collected.facts)}")]
    yield from source_lines(collected.sources, remote_of(collected.facts))
    yield from ([("", f"  {name:<12}{said}")] for name, said in listing_rows(collected.facts))
    convention = collected.ranking.convention
    named = (
        f"{printable(convention.template)}, {convention.members} members: {_members(collected.view, convention)}"
        if convention
        else NO_CONVENTION
    )
    yield [("", f"  {'convention':<12}{named}")]


def asked_at(facts: Facts) -> str:
    """When the facts were gathered, and whether anybody was asked."""
    return f"{'asked' if facts.repository.remote else 'read'} at {facts.now:%Y-%m-%d %H:%M:%S} UTC"


def listing_rows(facts: Facts) -> Iterator[tuple[str, str]]:
    """The default branch with who told it, and how much is listed."""
    refs, default = facts.refs, facts.repository.default_branch
    said = {
        "remote": "the remote's word",
        "host-api": "the host's word",
        "cached": "this clone's last knowledge, not the remote's word",
        "none": "the remote has none",
        "failed": "the remote did not tell",
        "not-asked": "nobody was asked",
    }[facts.repository.default_branch_state]
    yield "default", f"{printable(default or 'not known')} ({said})"
    yield (
        "refs",
        f"{len(refs.branches)} branches, {len(refs.tags)} tags{'' if refs.complete else '; the list is incomplete'}",
    )


def members(view: View, convention: Convention) -> list[str]:
    """The branches that stand under the convention's template, newest version first."""
    under = [line for line in view.repo.conventions.lines.values() if line.template == convention.template]
    return newest_first(sorted(under, key=lambda line: line.name))


def _members(view: View, convention: Convention) -> str:
    """The newest of them; the rest counted."""
    names = members(view, convention)
    return and_more(names, _MOST_MEMBERS)


def remote_of(facts: Facts) -> Remote | None:
    """The remote that was asked."""
    repository = facts.repository
    if repository.remote is None:
        return None
    return Remote(name=repository.remote, url=repository.url, reason=repository.remote_reason or "")


def spoken(sources: Iterable[Source]) -> list[Source]:
    """The sources less the trackers that nobody had a reason to ask."""
    return [s for s in sources if s.name not in ("jira", "github") or s.state != "not-asked"]


def source_lines(sources: Iterable[Source], remote: Remote | None) -> Iterator[Line]:
    """What became of each source, and how long it took."""
    for source in spoken(sources):
        took, detail = source_took(source), source_detail(source, remote)
        said = (f" in {took}" if took else "") + (f": {detail}" if detail else "")
        yield [("", f"  {source.name:<12}"), source_state(source), ("", said)]


def source_state(source: Source) -> Part:
    """Whether it answered, in the colour of that."""
    style = {"answered": "green", "partial": "yellow", "failed": "red", "not-asked": "dim"}[source.state]
    return style, source.state if source.kind is None else f"{source.state} ({source.kind})"


def source_took(source: Source) -> str:
    """How long it took; empty where nothing was waited for."""
    waited = source.state != "not-asked" and (source.name == "remote" or source.ms)
    return f"{source.ms} ms" if waited else ""


def source_detail(source: Source, remote: Remote | None) -> str:
    """Which remote, and what the source had to say."""
    parts = []
    if source.name == "remote" and remote is not None:
        url = f" {printable(remote.url)}" if remote.url else ""
        parts.append(f"{printable(remote.name)}{url}{f' ({printable(remote.reason)})' if remote.reason else ''}")
    if source.detail:
        parts.append(printable(source.detail))
    return ": ".join(parts)


def trail_lines(trail: Iterable[TrailEntry]) -> Iterator[Line]:
    """What each rule of the resolver did."""
    yield [("bold", "What an unattended run does")]
    for entry in trail:
        mark = ("green", "  fired   ") if entry.fired else ("dim", "  passed  ")
        yield [mark, ("bold" if entry.fired else "", f"{entry.rule:<11}"), ("", printable(entry.reason))]


def answer_lines(
    branch: str | None, source: str | None, trail: Iterable[TrailEntry], ranking: Ranking
) -> Iterator[Line]:
    """The answer of a record that has no facts."""
    if ranking.ambiguous:
        names = and_more(tied_names(ranking), _MOST_SHOWN)
        yield [("bold yellow", f"The evidence does not decide: {names} tie.")]
    if branch is None:
        yield [("bold yellow", "No branch is recorded as the answer.")]
        return
    yield [
        ("bold", "The recorded answer is "),
        ("bold green", printable(branch)),
        ("", f" ({printable(source or 'no source')})"),
    ]
    yield from ([("", f"  {entry.rule}: {printable(entry.reason)}")] for entry in trail if entry.fired)


def candidate_lines(ranking: Ranking, branches: Mapping[str, Branch], carried: Mapping[str, str]) -> Iterator[Line]:
    """The table of candidates; what is known of the branches and of the releases that they carry stands beside."""
    if not ranking.candidates:
        yield [("", "No branch could be a base: nothing is listed.")]
        return
    shown_ones = ranking.candidates[:_MOST_SHOWN]
    width = max(6, *(len(printable(c.branch)) for c in shown_ones))
    yield [("bold", f"{'score':>5}  {'branch':<{width}}  {'last commit':<11}  carries")]
    for candidate in shown_ones:
        yield from _candidate(candidate, branches.get(candidate.branch), carried.get(candidate.branch, ""), width)
    if len(ranking.candidates) > _MOST_SHOWN:
        yield [("dim", f"       and {len(ranking.candidates) - _MOST_SHOWN} more candidates below")]


def _candidate(candidate: Candidate, branch: Branch | None, carried: str, width: int) -> Iterator[Line]:
    day = f"{branch.committed_at:%Y-%m-%d}" if branch and branch.committed_at else "not known"
    yield [
        ("bold", f"{candidate.score:>5}  "),
        ("cyan", f"{printable(candidate.branch):<{width}}"),
        ("", f"  {day:<11}  {printable(carried)}".rstrip()),
    ]
    for evidence in candidate.evidence:
        points, reason = split_detail(evidence)
        yield [("dim", f"{points:>+11}  {evidence.kind:<18}  "), ("", printable(reason))]


def newest_releases(view: View) -> dict[str, str]:
    """The newest release tag that each branch carries, as far as somebody looked."""
    newest: dict[str, str] = {}
    for release in view.repo.record.releases():
        for branch in release.branches or ():
            newest[branch] = release.name
    return newest
