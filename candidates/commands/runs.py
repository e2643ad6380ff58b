"""`runs`: the kept runs listed, one of them explained again, written out for `diff`, or all removed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from candidates import __version__
from candidates.commands.explain import View, as_asked
from candidates.contract import encode_pretty
from candidates.explain.records import Recorded, decided, recorded, save_bundle
from candidates.run.replay import recollected
from candidates.runs.kept import KeptRun, KeptRuns, Outcome, clear_runs, read_run, read_runs
from candidates.styled import Line, Shown
from candidates.terminal import put
from collectors.errors import InvalidInput
from ranking.names import printable

_COLUMNS = ("id", "time (UTC)", "repository", "issue", "branch", "source", "exit")
_WRITTEN = frozenset({"--html", "--markdown", "--mermaid"})
_TOO_MANY = "its facts were too many for the ring: the decision alone is kept"


class RunsRequest(Struct, frozen=True, kw_only=True):
    """What is asked of the ring."""

    run_id: str | None
    view: View
    save_bundle: Path | None = None
    clear: bool = False


def runs(run_id: str | None, view: View, save_bundle: Path | None, *, clear: bool) -> None:
    """Show what is asked of the ring."""
    put(list_or_explain(RunsRequest(run_id=run_id, view=view, save_bundle=save_bundle, clear=clear), os.environ))


def list_or_explain(asked: RunsRequest, environ: Mapping[str, str]) -> Shown:
    """The list, or the one run that is asked for. InvalidInput for what does not go together, and for no such run."""
    view = asked.view
    given = [flag for flag in view.given if flag != "--json"]
    given += ["--save-bundle"] if asked.save_bundle is not None else []
    if asked.clear:
        if given or asked.run_id is not None or view.as_json:
            raise InvalidInput("it goes with nothing else: every run is removed", where="--clear")
        return Shown(notices=(f"{clear_runs(environ)} kept runs were removed",))
    if asked.run_id is not None:
        return _one(read_run(environ, asked.run_id), asked)
    if given:
        raise InvalidInput(f"{', '.join(given)}: of which run?", where="ID", hint="base-branch runs")
    found = read_runs(environ)
    return Shown(data=encode_pretty(found)) if view.as_json else Shown(lines=_table(found), notices=_unread(found))


def _one(run: KeptRun, asked: RunsRequest) -> Shown:
    if asked.save_bundle is not None:
        if run.bundle is None:
            why = _TOO_MANY if run.outcome.facts == "too-many" else "it ended before it had any facts"
            raise InvalidInput(
                f"the run {run.outcome.id} has no bundle: {why}",
                where="--save-bundle",
                hint=f"base-branch runs {run.outcome.id} --json",
            )
        save_bundle(asked.save_bundle, run.bundle)
    if asked.view.as_json:
        return Shown(data=encode_pretty(run))
    record = _recorded(run)
    if record is None:
        flag = next((flag for flag in asked.view.given if flag in _WRITTEN), None)
        if flag is not None:  # whoever asked for a file or for a text to paste must not take this for one
            message = f"the run {run.outcome.id} has no evidence to write: it ended before anything was ranked"
            raise InvalidInput(message, where=flag, hint=f"base-branch runs {run.outcome.id}")
        return Shown(lines=[*_head(run.outcome), [], [("", "It ended before anything was ranked.")]])
    found = as_asked(record, asked.view)
    whole = found.lines and asked.view.why is None and asked.view.why_not is None
    return replace(found, lines=[*_head(run.outcome), [], *found.lines]) if whole else found


def _recorded(run: KeptRun) -> Recorded | None:
    """The run ranked again from its facts, with what each source answered then; None where nothing was ranked."""
    if run.bundle is not None:
        collected = recollected(run.bundle)
        if run.decision is not None:
            collected = replace(collected, sources=run.decision.sources, log=run.decision.log)
        return recorded(collected, "kept run")
    if run.decision is None or run.decision.base_branch_evidence is None:
        return None
    return decided(run.decision, f"the run {run.outcome.id}")


def _head(outcome: Outcome) -> Iterator[Line]:
    """What that run was, and how it ended."""
    issue = f" for {printable(outcome.issue)}" if outcome.issue is not None else ""
    yield [
        ("bold", f"{outcome.command} of {outcome.at:%Y-%m-%d %H:%M:%S} UTC"),
        ("", f"{issue} in {printable(outcome.folder)}: exit {outcome.exit_code}"),
    ]
    if outcome.branch is not None:
        said = f" ({outcome.source}, {outcome.fetch_status})"
        yield [("", "  answered  "), ("bold green", printable(outcome.branch)), ("", said)]
    if outcome.fault is not None:
        yield [("", "  failed    "), ("red", printable(outcome.fault))]
    if outcome.facts == "too-many":
        yield [("yellow", f"  {_TOO_MANY}")]
    if outcome.version != __version__:
        yield [("yellow", f"  by version {printable(outcome.version)}; ranked again below by {__version__}")]


def _table(found: KeptRuns) -> list[Line]:
    if not found.runs:
        folder = printable(found.folder)
        said = f"No run is kept in {folder}: none has ended since, or runs.keep is 0 (base-branch config)."
        return [[("", said)]]
    rows = [_COLUMNS, *(_row(outcome) for outcome in found.runs)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_COLUMNS))]
    return [
        [
            (_style(number, place), f"{cell:<{width}}  " if place < len(widths) - 1 else cell)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for number, row in enumerate(rows)
    ]


def _row(outcome: Outcome) -> tuple[str, ...]:
    return (
        outcome.id,
        f"{outcome.at:%Y-%m-%d %H:%M}",
        printable(outcome.repository),
        printable(outcome.issue or "-"),
        printable(outcome.branch or "-"),
        outcome.source or "-",
        f"{outcome.exit_code}" + (" (decision alone)" if outcome.facts == "too-many" else ""),
    )


def _style(row: int, column: int) -> str:
    return "bold" if row == 0 else "cyan" if column == 0 else ""


def _unread(found: KeptRuns) -> tuple[str, ...]:
    if not found.unreadable:
        return ()
    files = "1 file" if found.unreadable == 1 else f"{found.unreadable} files"
    said = f"no runs that version {__version__} can read, in {printable(found.folder)}: {files}"
    return (f"{said}; base-branch runs --clear removes them, and all runs",)
