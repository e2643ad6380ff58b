"""The errors that cross module borders. Only `candidates.boundary` turns them into words and exit codes.

EvidenceError
├── InvalidInput (also ValueError)     exit 2: what was given is wrong; `where` is its dotted path
├── SetupError                         exit 5: nothing can be asked here
└── SourceError                        a source that was asked gave no answer: a `Failure`
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ranking.facts import Failure


class EvidenceError(Exception):
    """Root: a message that says what failed on what, a stable slug, and the next command to run."""

    def __init__(self, message: str, *, code: str, hint: str | None = None) -> None:
        """Keep the parts apart, so that the boundary can print them each in its place."""
        super().__init__(message)
        self.code = code
        self.hint = hint


class InvalidInput(EvidenceError, ValueError):  # noqa: N818 - it says what it is
    """What the caller gave is not what the contract says; `where` is the dotted path of the fault."""

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        """`where`: `refs.branches[3].name`, or None where the whole is at fault."""
        super().__init__(f"{where}: {message}" if where else message, code="invalid-input", hint=hint)
        self.where = where


class SetupError(EvidenceError):
    """No repository, no git, no such remote, unreadable preferences: nothing can be asked here."""


class SourceError(EvidenceError):
    """A source that was asked gave no answer; what is known of it stands in `failure`."""

    def __init__(self, message: str, *, failure: Failure, hint: str | None = None) -> None:
        """The slug is the failure's kind."""
        super().__init__(message, code=failure.kind, hint=hint)
        self.failure = failure
