"""What a shell is offered while somebody types: names from this clone and this machine. Nothing is asked of a network.

Whoever can push to a repository names its branches, and a shell may read a name again after it has put it on its line:
so only names of plain characters are offered. Where anything cannot be read, nothing is offered, and nothing said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from candidates.commands.memory import recent_choices
from candidates.run.issue import IssueInput
from candidates.run.run import prepare
from collectors.config.keys import KEYS
from collectors.errors import EvidenceError
from collectors.git.local_refs import read_local_refs
from collectors.git.refs import RemoteQuestion, choose_remote
from collectors.git.repository import read_config
from collectors.process import Git
from collectors.stores.runs import list_kept, runs_folder

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+@%-]*")


def branch_names(folder: Path, environ: Mapping[str, str], remote: str | None = None) -> list[str]:
    """The branches that this clone knows of: its own, and those of the remote that would be asked, in byte order."""
    return _quietly(lambda: _branches(Git(folder=folder, environ=environ), remote))


def remembered_names(folder: Path, environ: Mapping[str, str]) -> list[str]:
    """The branches that are remembered for this project, newest first."""

    def remembered() -> list[str]:
        run = prepare(Git(folder=folder, environ=environ), {}, IssueInput(), datetime.now(UTC))
        return [choice.branch for choice in recent_choices(run).choices]

    return _quietly(remembered)


def run_ids(environ: Mapping[str, str]) -> list[str]:
    """The kept runs, newest first."""
    return _quietly(lambda: [file.id for file in list_kept(runs_folder(environ))])


def words_of(key: str) -> tuple[str, ...]:
    """The words that a key of the configuration takes.

    >>> words_of("autonomy"), words_of("onConflict")
    (('manual', 'guided', 'full'), ('remembered', 'derived', 'ask'))
    """
    parts = (KEYS[key].type, *get_args(KEYS[key].type))
    return next((get_args(part) for part in parts if get_args(part) and all(map(_is_word, get_args(part)))), ())


def _is_word(argument: object) -> bool:
    return isinstance(argument, str)


def _branches(git: Git, remote: str | None) -> list[str]:
    config = read_config(git)
    choice = choose_remote(config, remote)
    remotes = choice.names if isinstance(choice, RemoteQuestion) else (choice.name if choice is not None else None,)
    names: set[str] = set()
    for name in remotes:
        local = read_local_refs(git, name, config)
        names |= local.heads.keys() | local.newest.keys()
    return sorted(names)


def _quietly(names: Callable[[], Iterable[str]]) -> list[str]:
    try:
        return [name for name in names() if _PLAIN.fullmatch(name)]
    except EvidenceError:
        return []
