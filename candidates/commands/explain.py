"""`explain`: a run of now, or a saved record, for a person."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from candidates.commands.explain_command import View, as_asked, read_record
from candidates.commands.session import advanced, asking_for_the_remote, git_at, now, warn
from candidates.run.decide import decide
from candidates.run.issue import IssueInput
from candidates.run.run import gather, prepare
from candidates.terminal import print_record, put


def explain(path: Path, flags: Mapping[str, object], given: IssueInput, view: View) -> None:
    """Look, fetch nothing, and show it."""
    run = advanced(prepare(git_at(path), dict(flags) | {"--refresh": "probe"}, given, now(), attended=True))
    warn([run])
    with asking_for_the_remote(run, as_json=view.as_json):
        found = gather(run)
    if view.as_json:
        print_record(decide(found, run.policy)[0])
    else:
        put(as_asked(found, view))


def explain_saved(source: str, flags: Mapping[str, object], view: View) -> None:
    """Show what a saved record tells."""
    put(as_asked(read_record(source, sys.stdin.buffer, flags, view), view))
