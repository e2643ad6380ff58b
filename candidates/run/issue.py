"""The issue of a run: what the caller gave, and what comes of reading it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from msgspec import Struct

from candidates.contract import Source
from collectors.process import Deadline
from ranking.facts import Issue

if TYPE_CHECKING:
    from collectors.github.rest import HostBranches

PostQuestion = Callable[[str, str], str]
"""Given a marker and a body that holds it: the URL of the one comment with that marker, posted if need be."""


class IssueAnswer(Struct, frozen=True, kw_only=True):
    """The issue as it was read, what became of its source, and what its host told of the repository's branches.

    `post`: how to ask on it, within the run's own deadline; None where it stands in no tracker.
    """

    issue: Issue | None
    source: Source | None = None
    branches: HostBranches | None = None
    post: PostQuestion | None = None


ReadIssue = Callable[[Deadline], IssueAnswer]


class IssueInput(Struct, frozen=True, kw_only=True):
    """What the caller named: a reference, versions beside it, and the standard input that `-` stands for."""

    text: str | None = None
    versions: tuple[str, ...] = ()
    stdin: BinaryIO | None = None
