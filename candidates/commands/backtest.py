"""`backtest`: this repository's own history, asked with a bar for a person."""

from __future__ import annotations

from pathlib import Path

from candidates.backtest.report import run_backtest
from candidates.commands.session import git_at, now
from candidates.terminal import notice, print_bytes, show, with_progress


def backtest(path: Path, remote: str | None, project_key: str | None, *, as_json: bool) -> None:
    """Ask, and say what was found; KeyboardInterrupt after what was found until then."""
    finished = run_backtest(git_at(path), remote, project_key, now(), lambda items: with_progress(items, "asking"))
    if as_json:
        print_bytes(finished.json)
    else:
        show(finished.lines)
    for warning in finished.warnings:
        notice(warning)
    if finished.interrupted:
        raise KeyboardInterrupt
