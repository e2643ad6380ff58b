"""`base-branch backtest`: read the history, ask, keep the figure, and say it to a person or a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from candidates.backtest.backtest import REASONS, Answer, By, Outcome, Question, Report, ask, read_questions, report
from candidates.backtest.history import read_history
from candidates.styled import Line
from collectors.process import Git
from collectors.stores.backtests import KeptBacktest, keep_backtest
from collectors.stores.preferences import preferences_path
from ranking.names import printable

_MOST_FAILURES = 10


class Finished(Struct, frozen=True, kw_only=True):
    """What was found, as lines for a person and as JSON, and whether it was stopped before its end."""

    lines: list[Line]
    json: bytes
    warnings: list[str]
    interrupted: bool


Progress = Callable[[Sequence[Question]], Iterable[Question]]
"""Hands the questions on one by one, and may show how far it is."""


def run_backtest(git: Git, remote: str | None, project_key: str | None, now: datetime, progress: Progress) -> Finished:
    """Ask every question; an interrupt ends the asking, and what was answered so far is said but not kept."""
    history = read_history(git, remote)
    questions = read_questions(history)
    answers: list[Answer | None] = []
    interrupted = False
    try:
        answers.extend(ask(history, progress(questions.asked)))
    except KeyboardInterrupt:
        interrupted = True
    found = report(history, answers, questions)
    kept_at: str | None = None
    warnings: list[str] = []
    if not interrupted and found.answers:
        key = project_key or history.repository
        kept = KeptBacktest(project_key=key, tags=len(history.tags), figure=found.figure(now))
        try:
            kept_at = str(keep_backtest(preferences_path(git.environ), kept))
        except OSError as error:
            warnings.append(f"the figure could not be kept: {error}")
    return Finished(
        lines=list(_lines(found, kept_at)), json=_json(found, now), warnings=warnings, interrupted=interrupted
    )


def _lines(found: Report, kept_at: str | None) -> Iterator[Line]:
    total = len(found.answers)
    yield [("bold", printable(found.history.repository)), ("", f": {total} release tags asked, each as of its day")]
    for outcome, by, style, said in _SAID:
        n = found.count(outcome, by)
        share = f"{n / total:.1%}" if total else "-"
        yield [(style, f"  {outcome:<6}{n:>6}{share:>8}  "), ("dim", said)]
    for reason, n in found.unjudged.items():
        yield [("dim", f"  {n} more cannot be judged: {REASONS[reason]}")]
    if found.left:
        yield [("yellow", f"  interrupted: {found.left} were not asked, and no figure is kept")]
    yield []
    yield [("bold", "Conventions")]
    for convention in found.conventions[:_MOST_FAILURES]:
        yield [("", f"  {convention.members:>4}  {printable(convention.template)}")]
    if not found.conventions:
        yield [("", "  no two branches share a template with a version")]
    failures = sorted((a for a in found.answers if a.outcome != "right"), key=lambda a: a.outcome == "held")
    if failures:
        yield []
        yield [("bold", "Not right")]
        for answer in failures[:_MOST_FAILURES]:
            yield from _failure(answer)
        if len(failures) > _MOST_FAILURES:
            yield [("dim", f"  and {len(failures) - _MOST_FAILURES} more (--json has all)")]
    if kept_at is not None:
        yield []
        yield [("dim", f"kept in {printable(kept_at)}")]


_SAID: tuple[tuple[Outcome, By | None, str, str], ...] = (
    ("right", "derived", "green", "derived: the branch that the tag was made on"),
    ("wrong", "derived", "red", "derived: another branch, the costly outcome"),
    ("right", "default", "green", "nothing was derived; made on the default branch, which came first"),
    ("right", "tie", "green", "nothing was derived; only branches that the tag was made on tied"),
    ("held", None, "yellow", "nothing was derived, or several tied"),
)


def _failure(answer: Answer) -> Iterator[Line]:
    made = ", ".join(map(printable, answer.question.accepted[:3]))
    style = "red" if answer.outcome == "wrong" else "yellow"
    asked = f"{printable(answer.question.tag)} of {answer.question.at:%Y-%m-%d}, made on {made}"
    yield [(style, f"  {answer.outcome:<6}"), ("", f"{asked}; first was {printable(answer.top or 'none')}")]
    yield [("dim", f"        {printable(answer.why)}")]


def _json(found: Report, now: datetime) -> bytes:
    whole = {
        "repository": found.history.repository,
        "figure": found.figure(now),
        "unjudged": found.unjudged,
        "notAsked": found.left,
        "conventions": found.conventions,
        "answers": [
            {
                "tag": answer.question.tag,
                "at": answer.question.at,
                "accepted": answer.question.accepted,
                "outcome": answer.outcome,
                "by": answer.by,
                "derived": answer.derived,
                "first": answer.top,
                "why": answer.why,
            }
            for answer in found.answers
        ],
    }
    return msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n"
