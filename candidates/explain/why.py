"""Why a branch is where it is, or why it is nowhere: a few sentences from the evidence, for any name at all.

Pure: what was collected in, sentences out. Names from outside are made safe to show.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from candidates.evidence import split_detail
from candidates.explain.counterfactuals import changes_for
from candidates.listing_state import doubt, proves_absence
from candidates.run.collect import Collected
from candidates.styled import and_more
from candidates.suggest import near_names
from ranking.conventions import Conventions
from ranking.facts import Branch, Candidate, Facts, IssueLink, Ranking
from ranking.listing import refs_of
from ranking.names import name_problem, printable
from ranking.ranker import rank

_NEAR = 3
_DIGITS = 12


def why(collected: Collected, branch: str) -> list[str]:
    """What speaks for a branch and where that puts it."""
    return list(_place(collected, branch))


def why_not(collected: Collected, branch: str) -> list[str]:
    """Why a branch is not the answer, what goes before it, and what would change that."""
    if collected.resolution.branch == branch:
        return [f"It is: {printable(branch)} is what an unattended run takes.", *_place(collected, branch)]
    return [*_place(collected, branch), *_before(collected, branch), *_instead(collected, branch)]


def _place(collected: Collected, branch: str) -> Iterator[str]:
    facts, name = collected.facts, printable(branch)
    problem = name_problem(branch)
    if problem is not None:
        yield f"{name or 'An empty name'} can never be an answer: {problem}."
        return
    known = next((b for b in facts.refs.branches if b.name == branch), None)
    if known is None:
        yield from _unknown(collected, branch)
        return
    view = collected.view
    if branch not in view.listed.branches:
        yield _gone(facts, known)
        return
    every = rank(_unlimited(facts), view)
    places = {c.branch: number for number, c in enumerate(every.candidates, start=1)}
    if branch not in places:
        yield from _no_candidate(view.repo.conventions, branch)
        return
    yield from _candidate(collected, view.repo.conventions, every, places[branch])


def _unlimited(facts: Facts) -> Facts:
    """The facts with room for every candidate."""
    most = max(facts.settings.max_candidates, len(facts.refs.branches))
    return replace(facts, settings=replace(facts.settings, max_candidates=most))


def _unknown(collected: Collected, branch: str) -> Iterator[str]:
    """No ref of that name stands in the facts: whether that is evidence depends on who was asked."""
    facts = collected.facts
    remote, name = facts.repository.remote, printable(branch)
    whose = f"{remote} of {facts.repository.name}" if remote else facts.repository.name
    if proves_absence(facts):
        yield f"{printable(whose)} has no branch {name}; a branch that is not listed is never an answer."
    else:
        yield f"{name} is not known here, and {printable(doubt(facts))}: whether it exists cannot be told."
    near = near_names(branch, collected.view.listed.branches)
    if near:
        yield f"Names near it: {', '.join(map(printable, near))}."
    wanted = [printable(r.branch) for r in facts.recent if r.branch == branch]
    wanted += [f"pull request {printable(k.key)}" for k in _links(facts) if k.base_branch == branch]
    if wanted:
        yield f"It is named all the same, by {', '.join('the memory' if w == name else w for w in wanted)}."


def _links(facts: Facts) -> tuple[IssueLink, ...]:
    return facts.issue.links if facts.issue else ()


def _gone(facts: Facts, known: Branch) -> str:
    refs = refs_of(known, facts)
    oid = known.cached_tip or known.local_tip or ""
    held = f"{printable(' and '.join(refs))} of this clone still has it at {oid[:_DIGITS]}"
    remote = printable(facts.repository.remote or "the remote")
    return f"{printable(known.name)} is gone: {remote} answered with its whole list and without it; only {held}."


def _no_candidate(conventions: Conventions, branch: str) -> Iterator[str]:
    """It is listed, and yet no base."""
    name = printable(branch)
    if branch in conventions.work:
        yield f"{name} is listed, and left out as a work branch: somebody's change on its way, by how its name begins."
        yield (
            "It would count if a pull request linked to the issue targeted it, if a person had chosen it before, or if"
            " releases had been made on it alone."
        )
        return
    yield (
        f"{name} is listed, and no candidate: its name carries no version and is no family word, it is not the"
        " default, and neither the issue nor the memory names it."
    )


def _candidate(collected: Collected, conventions: Conventions, every: Ranking, number: int) -> Iterator[str]:
    """A candidate's place, its points, and which rule looked past it or took it."""
    facts, candidate = collected.facts, every.candidates[number - 1]
    name, count = printable(candidate.branch), len(every.candidates)
    tied = [c.branch for c in every.candidates if c.score == candidate.score and c.branch != candidate.branch]
    level = f", level with {and_more(tied, _NEAR)}" if tied else ""
    yield f"{name} is number {number} of {count} candidates, with {_points(candidate.score)}{level}."
    for evidence in candidate.evidence:
        points, reason = split_detail(evidence)
        if points:
            yield f"{points:+} {evidence.kind}: {printable(reason)}."
    if number > facts.settings.max_candidates:
        yield f"The list ends after {facts.settings.max_candidates} (maxCandidates), so it is not shown there."
    if candidate.branch in conventions.topics:
        yield "Its name has a version, and is no release line by it: its other words are not this repository's."
    if collected.resolution.branch == candidate.branch:
        yield f"The rule {collected.resolution.source} takes it: {printable(collected.resolution.reason)}."


def _points(score: int) -> str:
    return "1 point" if score == 1 else f"{score} points"


def _before(collected: Collected, branch: str) -> Iterator[str]:
    """What the answer has that this branch has not."""
    resolution = collected.resolution
    if resolution.branch is None:
        yield "No rule gives any branch: a person has to choose."
        return
    every = {c.branch: c for c in rank(_unlimited(collected.facts), collected.view).candidates}
    taken = f"{printable(resolution.branch)} is taken instead, by the rule {resolution.source}"
    yield f"{taken}: {printable(resolution.reason)}."
    mine, theirs = every.get(branch), every.get(resolution.branch)
    if mine is not None and theirs is not None:
        yield _compared(mine, theirs, by_points=resolution.source == "derived")
    passed = next((o for o in resolution.outcomes if o.rule == "derived" and o.state == "passed"), None)
    if passed is None:
        return
    if mine is not None and mine.score >= max(c.score for c in every.values()):
        yield f"The rule derived passed: {printable(passed.reason)}."


def _compared(mine: Candidate, theirs: Candidate, *, by_points: bool) -> str:
    name = printable(theirs.branch)
    apart = theirs.score - mine.score
    if apart > 0:
        return f"{name} has {_points(theirs.score)}, {apart} more."
    said = f"{name} has {_points(theirs.score)}"
    said += f", {-apart} fewer" if apart else ", as many"
    return f"{said}." if by_points else f"{said}; but the rule that took it does not go by points."


def _instead(collected: Collected, branch: str) -> Iterator[str]:
    changes = changes_for(collected.facts, collected.resolution, branch, collected.view)
    for change in changes:
        yield f"It would be taken ({change.source}) with: {change.do}"
