"""`explain`: a run of now, or a saved record, for a person."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from candidates.actions.wiring import advanced, asking_for_the_remote, git_at, now, warn
from candidates.collect import Collected
from candidates.decide import decide
from candidates.explain_command import View, lines_of, read_record, text_of, write_page
from candidates.issue_sources import IssueInput
from candidates.run import gather, prepare
from candidates.saved import Recorded
from candidates.terminal import notice, print_bytes, print_record, show


def explain(path: Path, flags: Mapping[str, object], given: IssueInput, view: View) -> None:
    """Look, fetch nothing, and show it."""
    run = advanced(prepare(git_at(path), dict(flags) | {"--refresh": "probe"}, given, now(), attended=True))
    warn([run])
    with asking_for_the_remote(run, as_json=view.as_json):
        found = gather(run)
    if view.as_json:
        print_record(decide(found, run.policy)[0])
    else:
        _show(found, view)


def explain_saved(source: str, flags: Mapping[str, object], view: View) -> None:
    """Show what a saved record tells."""
    _show(read_record(source, sys.stdin.buffer, flags, view), view)


def _show(found: Collected | Recorded, view: View) -> None:
    if view.html is not None:
        write_page(found, view.html)
        notice(f"the page is {view.html}")
    elif view.markdown or view.mermaid:
        print_bytes(text_of(found, view))
    else:
        show(lines_of(found, view))
