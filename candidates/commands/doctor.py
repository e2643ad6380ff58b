"""`doctor`: everything looked at once, which loads every client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from candidates.commands.session import git_at
from candidates.setup.doctor import examine, health_lines
from candidates.terminal import print_record, show


def doctor(path: Path, flags: Mapping[str, object], *, as_json: bool) -> int:
    """Examine, and print the report whatever it says."""
    health = examine(git_at(path), flags)
    if as_json:
        print_record(health)
    else:
        show(health_lines(health))
    return health.exit_code
