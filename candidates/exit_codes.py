"""The exit codes of docs/contract.md, and the one place that maps errors to them."""

from __future__ import annotations

from enum import IntEnum

from collectors.errors import EvidenceError, InvalidInput, SetupError, SourceError


class ExitCode(IntEnum):
    """Stable: a pipeline branches on them."""

    ANSWERED = 0
    UNFORESEEN = 1
    USAGE = 2
    ASK = 3
    REMOTE_SILENT = 4
    SETUP = 5
    SOURCE_FAILED = 6
    REFUSED = 7
    INTERRUPTED = 130


# Errors that are neither input's, set-up's nor a source's, by their slugs.
_BY_SLUG = {
    "remote-undecided": ExitCode.ASK,
    "remote-silent": ExitCode.REMOTE_SILENT,
    "refused": ExitCode.REFUSED,
}


def exit_code_of(error: BaseException) -> ExitCode:
    """The exit code of an error that reached the boundary."""
    match error:
        case InvalidInput():
            return ExitCode.USAGE
        case SetupError():
            return ExitCode.SETUP
        case SourceError():
            return ExitCode.SOURCE_FAILED
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case EvidenceError():
            return _BY_SLUG.get(error.code, ExitCode.UNFORESEEN)
        case _:
            return ExitCode.UNFORESEEN
