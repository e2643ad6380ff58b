"""`remember`, `forget` and `recent`: the memory of this repository's project."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from candidates.commands.memory_commands import forget_choice, recent_choices, remember_choice
from candidates.commands.session import asking_for_the_remote, plain_run
from candidates.terminal import notice, print_record, show


def remember(path: Path, flags: Mapping[str, object], branch: str) -> None:
    """Remember a choice that the remote lists."""
    run = plain_run(path, dict(flags) | {"--refresh": "probe"}, base=branch)
    for line in remember_choice(run, branch):
        notice(line)


def forget(path: Path, flags: Mapping[str, object], branch: str | None) -> None:
    """Forget one choice, or all."""
    for line in forget_choice(plain_run(path, flags), branch):
        notice(line)


def recent(path: Path, flags: Mapping[str, object], *, as_json: bool) -> None:
    """Show the choices, newest first."""
    run = plain_run(path, flags)
    with asking_for_the_remote(run, as_json=as_json):
        found = recent_choices(run)
    if as_json:
        print_record(found)
    else:
        show([[("bold", f"{c.branch}"), ("", f"  {c.count}x, last on {c.last_used:%Y-%m-%d}")] for c in found.choices])
    if found.detail is not None:
        notice(found.detail)
