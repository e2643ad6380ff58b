"""What every command's work begins with: git, the time, the issue that was given, a prepared run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from candidates.questions.presentation import Presentation
from candidates.run.collect import RemoteUndecided
from candidates.run.decide import undecided_remote
from candidates.run.issue import IssueInput
from candidates.run.run import Run, advance, prepare
from candidates.terminal import announce, notice, print_record
from collectors.process import Git
from collectors.strict_json import json_text

T = TypeVar("T", bound=Struct)


def git_at(path: Path) -> Git:
    """Run git in this folder with the caller's environment.

    The current folder's repository is the one that GIT_DIR names, as it is to git; a path names its own.
    """
    here = Git(folder=Path(), environ=dict(os.environ))
    return here if path == Path() else here.at(path)


def now() -> datetime:
    """The time of the run, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


def given_issue(issue: str | None, versions: list[str] | None) -> IssueInput:
    """What `--issue` and `--issue-version` say."""
    return IssueInput(text=issue, versions=tuple(map(json_text, versions or ())), stdin=sys.stdin.buffer)


def options_of(record: type[T], params: Mapping[str, object]) -> T:
    """Return a command's parameters as a record of its own, which names those that it uses.

    typer makes paths of texts only when it calls the command: its context still has the texts.
    """
    given = {name: params[name] for name in record.__struct_fields__}
    return msgspec.convert(given, record, dec_hook=lambda kind, value: kind(value))


def plain_run(path: Path, flags: Mapping[str, object], *, base: str | None = None) -> Run:
    """A run that no issue has a part in."""
    return prepare(git_at(path), flags, IssueInput(), now(), base=base)


def warn(runs: Iterable[Run]) -> None:
    """Say once what is wrong with the runs' configuration."""
    for warning in dict.fromkeys(w for one in runs for w in one.configuration.warnings):
        notice(warning)


@contextmanager
def asking_for_the_remote(run: Run, *, as_json: bool, presentation: Presentation | None = None) -> Iterator[None]:
    """Where a person must name the remote: the question on standard output too, if that holds JSON."""
    try:
        yield
    except RemoteUndecided as error:
        if as_json:
            undecided = undecided_remote(error, run.policy.autonomy, run.policy.asking)
            print_record((presentation or Presentation()).present(undecided))
        raise


def keeping(run: Run, file: Path | None) -> Run:
    """The run with its facts saved as well, where a file is named for them."""
    if file is None:
        return run
    from candidates.explain.records import save_bundle  # noqa: PLC0415 - only where a bundle is saved

    return replace(run, keep=(lambda _, facts: save_bundle(file, facts),))


def advanced(run: Run) -> Run:
    """The run as guided autonomy lets it go on; what was taken unasked is printed."""
    run, taken = advance(run)
    if taken is not None:
        announce(f"auto: {taken} - guided")
    return run
