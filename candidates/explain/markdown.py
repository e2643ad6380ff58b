"""The answer for pasting into an issue or a pull request: Markdown and Mermaid.

Pure. Whatever came from outside stands inside a code span, in which Markdown, mentions and references mean nothing, or
as numbered entities in a Mermaid label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from candidates.contract import UNNAMED
from candidates.evidence import split_detail, tied_names
from candidates.explain.counterfactuals import deciding_changes
from candidates.explain.records import Recorded
from candidates.explain.text import newest_releases
from candidates.styled import and_more
from ranking.claims import DECISIVE
from ranking.facts import Candidate
from ranking.names import printable
from ranking.targets import role_of

_MOST_SHOWN = 10
_MOST_IN_A_PICTURE = 6
_TICKS = re.compile("`+")
_PLAIN = re.compile("[A-Za-z0-9 ./-]")
_FENCE = "```"


def span(text: str) -> str:
    """Text from outside as one code span, whatever is in it.

    >>> span("release/8.4.0"), span("a`b"), span("`"), span("")
    ('`release/8.4.0`', '``a`b``', '`` ` ``', '` `')
    """
    safe = printable(text) or " "
    ticks = "`" * (max((len(run) for run in _TICKS.findall(safe)), default=0) + 1)
    # A span that would begin or end with a tick takes a blank at both ends (CommonMark 0.31, 6.1); one of blanks alone
    # keeps them.
    padded = f" {safe} " if safe.strip() and (safe[0] in "` " or safe[-1] in "` ") else safe
    return f"{ticks}{padded}{ticks}"


def label(text: str) -> str:
    """Text from outside inside a quoted Mermaid label, after a word of ours: what could mean anything as entities.

    >>> label('v1"]; click')
    'v1#34;#93;#59; click'
    """
    return "".join(c if _PLAIN.match(c) else f"#{ord(c)};" for c in printable(text))


# --- Markdown ---


def markdown(record: Recorded) -> str:
    """The answer, the candidates with their evidence, the trail, what would decide it, the notes."""
    return "\n".join(_markdown(record)) + "\n"


def _markdown(record: Recorded) -> Iterator[str]:
    yield f"**Base branch:** {_answer(record)}"
    yield ""
    yield from _about(record)
    yield ""
    yield "### Candidates"
    yield ""
    yield from _candidates(record)
    if record.trail:
        yield ""
        yield "### Rules"
        yield ""
        for entry in record.trail:
            yield f"* {entry.rule} {'**fired**' if entry.fired else 'passed'}: {span(entry.reason)}"
    yield from _deciding(record)
    notes = [*record.ranking.notes, *record.log]
    if notes:
        yield ""
        yield "### Notes"
        yield ""
        yield from (f"* {span(note)}" for note in notes)
    if record.unknown:
        yield ""
        yield f"### What this {record.kind} cannot tell"
        yield ""
        yield from (f"* {what}" for what in record.unknown)


def _answer(record: Recorded) -> str:
    if record.ranking.ambiguous:
        tied = f"{and_more(tied_names(record.ranking), _MOST_SHOWN, span)} tie"
        return f"{tied}; taken: {span(record.branch)}" if record.branch is not None else f"{tied}; undecided"
    if record.branch is None:
        return "undecided"
    return f"{span(record.branch)} ({record.source or 'no source'})" if _known_source(record) else span(record.branch)


def _known_source(record: Recorded) -> bool:
    """A state file is anyone's: its source is shown only where it is a word of the contract."""
    return record.source in ("asked", "input", "remembered", "derived", "default")


def _about(record: Recorded) -> Iterator[str]:
    if record.name is not None:
        yield f"* repository: {span(record.name)}"
    if record.collected is not None:
        facts = record.collected.facts
        yield f"* as of: {facts.now:%Y-%m-%d %H:%M:%S} UTC"
        if facts.issue is not None:
            named = ", ".join(span(f"{v.field} {v.name}") for v in facts.issue.versions)
            key = "" if facts.issue.key == UNNAMED else f"{span(facts.issue.key)} "
            yield f"* issue: {key}({facts.issue.read}); it names {named or 'no version'}"
    by = "the remote itself" if record.ranking.ref_provenance == "remote" else "a clone, not by the remote in that run"
    yield f"* branches listed by: {by}"
    convention = record.ranking.convention
    if convention is not None:
        yield f"* convention: {span(convention.template)}, {convention.members} members"


def _candidates(record: Recorded) -> Iterator[str]:
    facts = record.collected.facts if record.collected is not None else None
    dates = {b.name: b.committed_at for b in facts.refs.branches} if facts is not None else {}
    carried = newest_releases(record.collected.view) if record.collected is not None else {}
    if not record.ranking.candidates:
        yield "none"
    for candidate in record.ranking.candidates[:_MOST_SHOWN]:
        day = dates.get(candidate.branch)
        last = f", last commit {day:%Y-%m-%d}" if day is not None else ""
        newest = f", carries {span(carried[candidate.branch])}" if candidate.branch in carried else ""
        yield f"* {span(candidate.branch)}: **{candidate.score}**{last}{newest}"
        for evidence in candidate.evidence:
            points, reason = split_detail(evidence)
            if points:
                yield f"  * {points:+} {evidence.kind}: {span(reason)}"
    if len(record.ranking.candidates) > _MOST_SHOWN:
        yield f"* and {len(record.ranking.candidates) - _MOST_SHOWN} more candidates below"


def _deciding(record: Recorded) -> Iterator[str]:
    if record.collected is None:
        return
    changes = deciding_changes(
        record.collected.facts, record.ranking, record.collected.resolution, record.collected.view
    )
    if changes:
        yield ""
        yield "### What would decide it"
        yield ""
        yield from (f"* {span(change.branch)} ({change.source}): {span(change.do)}" for change in changes)


# --- Mermaid ---


def mermaid(record: Recorded) -> str:
    """A picture in a fence: the issue's versions, the first candidates with their strongest evidence, the answer."""
    return "\n".join((f"{_FENCE}mermaid", "flowchart LR", *_picture(record), _FENCE)) + "\n"


def _picture(record: Recorded) -> Iterator[str]:
    yield f'  work["{_work(record)}"]'
    shown_ones = record.ranking.candidates[:_MOST_IN_A_PICTURE]
    for number, candidate in enumerate(shown_ones):
        yield f'  b{number}["branch {label(candidate.branch)}<br/>{candidate.score} points"]'
        line = "==>" if candidate.branch == record.branch else "-.->"
        yield f'  work {line}|"{_strongest(candidate)}"| b{number}'
    left = len(record.ranking.candidates) - len(shown_ones)
    if left:
        yield f'  more["and {left} more candidates"]'
        yield "  work -.-> more"
    places = {c.branch: number for number, c in enumerate(shown_ones)}
    if record.branch in places:
        yield f"  style b{places[record.branch]} stroke-width:4px"
    elif record.branch is not None:
        yield f'  answer["answer {label(record.branch)}"]'
        yield "  work ==> answer"
        yield "  style answer stroke-width:4px"


def _work(record: Recorded) -> str:
    issue = record.collected.facts.issue if record.collected is not None else None
    if issue is None:
        return "new work" if record.collected is not None else "work"
    named = "<br/>".join(
        f"names {label(v.field)} {label(v.name)}"
        for v in issue.versions[:_MOST_IN_A_PICTURE]
        if role_of(v) != "affected"
    )
    head = "work" if issue.key == UNNAMED else f"issue {label(issue.key)}"
    return f"{head}<br/>{named}" if named else head


def _strongest(candidate: Candidate) -> str:
    """The kind of evidence that weighs most, in the contract's own word."""
    decisive = next((e for e in candidate.evidence if e.kind in DECISIVE), None)
    strongest = decisive or max(candidate.evidence, key=lambda e: split_detail(e)[0], default=None)
    return strongest.kind if strongest is not None else ""
