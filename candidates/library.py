"""The program for Python: collect the facts of a repository, and resolve its base branch.

docs/library.md shows how to use it. Both functions ask the remote and the tracker and read the configuration, as
the commands of the same names do; nothing is printed, posted, remembered or kept. The errors are those of
`collectors.errors`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from candidates.contract import Decision
from candidates.run.decide import decide
from candidates.run.issue import IssueInput
from candidates.run.run import Run, gather, prepare
from collectors.process import Git
from ranking.facts import Facts

__all__ = ("collect", "resolve")


def collect(
    path: str | Path,
    *,
    issue: str | None = None,
    versions: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
) -> Facts:
    """Collect the facts of the repository at a path, as `base-branch collect` does.

    `issue` is what `--issue` takes, `versions` what `--issue-version` takes, and `flags` names other options with
    their values: `{"--timeout": 5.0}`. Raises EvidenceError as the command does.
    """
    return gather(_prepare(path, issue, versions, flags)).facts


def resolve(
    path: str | Path,
    *,
    issue: str | None = None,
    versions: Sequence[str] = (),
    flags: Mapping[str, object] | None = None,
) -> Decision:
    """Decide on the base branch as `base-branch resolve --autopilot` does; the parameters are those of `collect`.

    A decision without `base_branch` has the question that a person must answer, or says in `log` why it stopped. With
    `flags={"--autonomy": "manual"}` nothing is decided, and the question is always there.
    """
    run = _prepare(path, issue, versions, {"--autonomy": "full"} | dict(flags or {}))
    decision, _ = decide(gather(run), run.policy)
    return decision


def _prepare(path: str | Path, issue: str | None, versions: Sequence[str], flags: Mapping[str, object] | None) -> Run:
    git = Git(folder=Path(path), environ=dict(os.environ))
    given = IssueInput(text=issue, versions=tuple(versions))
    return prepare(git, flags or {}, given, datetime.now(UTC).replace(microsecond=0))
