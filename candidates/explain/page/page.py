"""`explain --html`: one self-contained page that says what `explain` says on a terminal, with a picture of the lines.

Pure: a record in, the page's text out. No script, nothing loaded; text from outside passes through `escape` alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from candidates.contract import UNNAMED
from candidates.evidence import split_detail, tied_names
from candidates.explain.counterfactuals import deciding_changes
from candidates.explain.page.escape import code, codes, line, text
from candidates.explain.page.lanes import figure, in_words
from candidates.explain.page.style import STYLE, policy
from candidates.explain.page.timeline import read_timeline
from candidates.explain.records import Recorded
from candidates.explain.text import (
    NO_CONVENTION,
    answer,
    answer_lines,
    asked_at,
    listing_rows,
    members,
    source_detail,
    source_state,
    source_took,
    spoken,
)
from candidates.run.collect import Collected
from candidates.styled import Line
from ranking.facts import Candidate

_AT_FIRST = 10
_MOST_CANDIDATES = 100
_MOST_EVIDENCE = 20
_MOST_MEMBERS = 40
_MOST_CARRIED = 4
_MOST_NOTES = 200
_TITLE_CHARACTERS = 120

_COLUMNS = ("#", "Branch", "Score", "Evidence, with points", "Last commit", "Line and releases")
_NUMBERS = dict.fromkeys(("#", "Score", "Took"), ' class="number"')
_BADGES = {
    "derived": "answer",
    "remembered": "remembered",
    "default": "by default",
    "asked": "chosen",
    "input": "given",
}


def page(record: Recorded) -> str:
    """The whole page."""
    sections = list(_sections(record))
    body = "\n".join(
        f'<section aria-labelledby="{key}"{f" class={key}" if key == "unknown" else ""}>\n'
        f'<h2 id="{key}">{title}</h2>\n{content}\n</section>'
        for key, title, content in sections
    )
    links = "".join(f'<li><a href="#{key}">{title}</a></li>' for key, title, _ in sections)
    first, *more = _answer(record)
    said = "\n".join(f'<p class="answer-more">{line(each)}</p>' for each in more if each)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(STYLE)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{_title(record)}</title>
<style>{STYLE}</style>
</head>
<body>
<header>
<p class="about">{_about(record)}</p>
<h1>{line(first)}</h1>
{said}
<nav aria-label="On this page"><ul>{links}</ul></nav>
</header>
<main>
{body}
</main>
<footer>Written by base-branch explain --html. This page loads nothing and runs no script.</footer>
</body>
</html>
"""


def _sections(record: Recorded) -> Iterator[tuple[str, str, str]]:
    """Id, title and content of each part that the record has."""
    deciding = _deciding(record)
    if deciding:
        yield "deciding", "What would decide it", deciding
    yield "candidates", "Candidates", _candidates(record)
    yield "lines", "Release lines over time", _lines(record)
    if record.trail:
        yield "rules", "What an unattended run does", _rules(record)
    yield "sources", "Who answered", _sources(record)
    yield "convention", "The convention", _convention(record)
    notes = [*record.ranking.notes, *record.log]
    if notes:
        yield "notes", "Notes", _list([text(note) for note in notes], _MOST_NOTES)
    if record.unknown:
        yield "unknown", f"What this {record.kind} cannot tell", _list([text(what) for what in record.unknown])


# --- the answer ---


def _answer(record: Recorded) -> list[Line]:
    if record.collected is not None:
        return list(answer(record.collected))
    return list(answer_lines(record.branch, record.source, record.trail, record.ranking))


def _title(record: Recorded) -> str:
    if record.branch is not None and not record.ranking.ambiguous:
        said = text(record.branch, _TITLE_CHARACTERS)
    else:
        said = "tie" if record.ranking.ambiguous else "undecided"
    return f"{said}: {text(record.name or record.kind, _TITLE_CHARACTERS)}, base branch"


def _about(record: Recorded) -> str:
    """What the page is about: repository, issue with what it names, and when that was."""
    parts = [code(record.name) if record.name is not None else "a repository that the record does not name"]
    if record.collected is None:
        return f"{parts[0]}, from a {record.kind}"
    facts = record.collected.facts
    if facts.issue is not None:
        named = ", ".join(code(f"{v.field} {v.name}") for v in facts.issue.versions[:_MOST_MEMBERS]) or "no version"
        key = "the issue" if facts.issue.key == UNNAMED else f"{code(facts.issue.key)} ({facts.issue.read})"
        parts.append(f"{key} names {named}")
    parts.append(asked_at(facts))
    return " · ".join(parts)


def _badges(record: Recorded) -> dict[str, str]:
    """What is said beside a branch's name: that it ties, that it is taken and by which rule."""
    badges = dict.fromkeys(tied_names(record.ranking), "tie")
    if record.branch is not None:
        taken = _BADGES.get(record.source or "", "answer")
        badges[record.branch] = f"tie, {taken}" if record.branch in badges else taken
    return badges


# --- the candidates ---


def _candidates(record: Recorded) -> str:
    every = record.ranking.candidates
    if not every:
        return "<p>No branch could be a base: nothing is listed.</p>"
    rows = list(_candidate_rows(record, every[:_MOST_CANDIDATES]))
    said = _table(_COLUMNS, rows[:_AT_FIRST], "Candidates, best first", kind="candidates")
    if len(rows) > _AT_FIRST:
        more = _table(_COLUMNS, rows[_AT_FIRST:], "More candidates", kind="candidates")
        said += f"\n<details><summary>{len(rows) - _AT_FIRST} more candidates</summary>\n{more}\n</details>"
    if len(every) > len(rows):
        said += f"\n<p>and {len(every) - len(rows)} more candidates below; the JSON has all of them</p>"
    return said


def _candidate_rows(record: Recorded, candidates: Sequence[Candidate]) -> Iterator[str]:
    facts = record.collected.facts if record.collected is not None else None
    days = {b.name: b.committed_at for b in facts.refs.branches} if facts is not None else {}
    carried = _carried(record.collected, [c.branch for c in candidates])
    badges = _badges(record)
    for number, candidate in enumerate(candidates, start=1):
        name, day = candidate.branch, days.get(candidate.branch)
        taken = name == record.branch
        badge = f'<br><span class="badge{" answer" if taken else ""}">{badges[name]}</span>' if name in badges else ""
        yield (
            f'<tr class="{"answer" if taken else "other"}"><td class="number">{number}</td>'
            f'<th scope="row">{code(name)}{badge}</th><td class="number score">{candidate.score}</td>'
            f'<td><ul class="evidence">{"".join(_evidence(candidate))}</ul></td>'
            f'<td class="day">{f"{day:%Y-%m-%d}" if day else "not known"}</td>'
            f'<td class="carries">{carried.get(name, "not known")}</td></tr>'
        )


def _evidence(candidate: Candidate) -> Iterator[str]:
    for evidence in candidate.evidence[:_MOST_EVIDENCE]:
        points, reason = split_detail(evidence)
        weight = "some" if points else "none"
        yield (
            f'<li class="{weight}"><b>{points:+}</b>'
            f'<span><span class="kind">{evidence.kind}:</span> {text(reason)}</span></li>'
        )
    if len(candidate.evidence) > _MOST_EVIDENCE:
        yield f"<li><b></b><span>and {len(candidate.evidence) - _MOST_EVIDENCE} more reasons</span></li>"


def _carried(collected: Collected | None, names: Sequence[str]) -> dict[str, str]:
    """Each branch's line by its name, and the newest releases that it carries as far as somebody looked."""
    if collected is None:
        return {}
    facts, repo = collected.facts, collected.view.repo
    made = {tag.name: tag.created_at.timestamp() if tag.created_at else float("-inf") for tag in facts.refs.tags}
    placed = [(made[release.name], place, release) for place, release in enumerate(repo.record.releases())]
    tags: dict[str, list[str]] = {name: [] for name in names}
    # The newest first: by day where that is known, else by version.
    for _, _, release in sorted(placed, key=lambda p: p[:2], reverse=True):
        for branch in release.branches or ():
            if branch in tags:
                tags[branch].append(release.name)
    lines = repo.conventions.lines
    said = {name: [f"line {lines[name].reading.version}"] if name in lines else [] for name in names}
    unlooked = ["releases not known"] if any(release.branches is None for _, _, release in placed) else []
    for name, releases in tags.items():
        said[name] += [codes(releases, _MOST_CARRIED)] if releases else unlooked
    return {name: "<br>".join(parts) for name, parts in said.items()}


# --- the picture ---


def _lines(record: Recorded) -> str:
    if record.collected is None:
        return (
            f"<p>No picture: this {record.kind} names neither the tags nor the days of commits. A bundle does"
            " (<code>--save-bundle FILE</code>), and <code>explain --bundle FILE --html PAGE</code> draws it.</p>"
        )
    timeline = read_timeline(record.collected)
    if not timeline.lanes:
        return "<p>No picture: no branch is listed that could be a line.</p>"
    notes = _list([text(note) for note in timeline.notes], _MOST_NOTES) if timeline.notes else ""
    words = _table(
        ("Branch", "Last commit", "Forked", "Releases, newest first"),
        list(in_words(timeline)),
        "The release lines in words",
        kind="words",
    )
    return f"""{figure(timeline, record.branch, _badges(record))}
{notes}
<details><summary>The same in words</summary>
{words}
</details>"""


# --- what was asked, what is done, what is not known ---


def _deciding(record: Recorded) -> str:
    """What would settle a result that the evidence leaves open; empty where it has settled it."""
    collected = record.collected
    if collected is None:
        return ""
    changes = deciding_changes(collected.facts, collected.ranking, collected.resolution, collected.view)
    rows = [
        f'<tr><th scope="row">{code(change.branch)}</th><td>{change.source}</td><td>{code(change.do)}</td></tr>'
        for change in changes
    ]
    if not rows:
        return ""
    table = _table(("This branch", "By the rule", "With this change"), rows, "What would decide it", kind="deciding")
    return f"<p>Each was seen to, by ranking again with that one change.</p>\n{table}"


def _rules(record: Recorded) -> str:
    rows = [
        f'<tr><th scope="row">{entry.rule}</th>'
        f'<td class="{"taken" if entry.fired else "dim"}">{"fired" if entry.fired else "passed"}</td>'
        f"<td>{text(entry.reason)}</td></tr>"
        for entry in record.trail
    ]
    return _table(("Rule", "Outcome", "Reason"), rows, "Rules, in their order")


def _sources(record: Recorded) -> str:
    by = "the remote itself" if record.ranking.ref_provenance == "remote" else "a clone, not the remote in that run"
    rows = [f"<dt>branches listed by</dt><dd>{by}</dd>"]
    if record.collected is not None:
        rows += [f"<dt>{name}</dt><dd>{text(said)}</dd>" for name, said in listing_rows(record.collected.facts)]
    listing = f'<dl class="rows">{"".join(rows)}</dl>'
    if not record.sources:
        return f"<p>What each source answered is not recorded.</p>\n{listing}"
    asked = [
        f'<tr><th scope="row">{source.name}</th><td>{line([source_state(source)])}</td>'
        f'<td class="number">{source_took(source) or "-"}</td>'
        f"<td>{text(source_detail(source, record.remote))}</td></tr>"
        for source in spoken(record.sources)
    ]
    return f"{_table(('Source', 'Answer', 'Took', 'What it said'), asked, 'Sources')}\n{listing}"


def _convention(record: Recorded) -> str:
    convention = record.ranking.convention
    if convention is None:
        return f"<p>{NO_CONVENTION if record.collected is not None else 'None is recorded.'}</p>"
    said = f"<p>{code(convention.template)}, {convention.members} members"
    if record.collected is None:
        return f"{said}; which they are is not recorded.</p>"
    return f"{said}: {codes(members(record.collected.view, convention), _MOST_MEMBERS)}</p>"


def _table(heads: Sequence[str], rows: Sequence[str], label: str, kind: str = "plain") -> str:
    """A table that scrolls sideways where it has to, by the keyboard too."""
    columns = "".join(f'<th scope="col"{_NUMBERS.get(head, "")}>{head}</th>' for head in heads)
    body = "\n".join(rows)
    return f"""<div class="table" tabindex="0" role="region" aria-label="{label}">
<table class="{kind}">
<thead><tr>{columns}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>"""


def _list(items: Sequence[str], most: int | None = None) -> str:
    shown_ones = list(items[:most])
    if len(items) > len(shown_ones):
        shown_ones.append(f"and {len(items) - len(shown_ones)} more")
    return f'<ul class="list">{"".join(f"<li>{item}</li>" for item in shown_ones)}</ul>'
