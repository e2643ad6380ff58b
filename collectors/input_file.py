"""The bytes of an input that the caller names: a file, or `-` for standard input. Never more than one may have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from collectors.errors import InvalidInput
from ranking.names import printable

if TYPE_CHECKING:
    from typing import BinaryIO

STANDARD_INPUT = "-"

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of one input: six times what a bundle of 100,000 branches has."""

TOO_LARGE: Final = f"it is larger than {LARGEST // 1024**2} MiB"


class TooLargeError(OSError):
    """It holds more than any input may: a device without an end, or a file that is none of ours."""


def read_input(source: str, stdin: BinaryIO, what: str) -> tuple[bytes, str]:
    """Read all of it, and its name for messages ("the issue file x.json"); InvalidInput for what cannot be read."""
    name = f"{what} on standard input" if source == STANDARD_INPUT else f"{what} file {source}"
    try:
        return bounded(stdin) if source == STANDARD_INPUT else read_whole(Path(source)), name
    except OSError as error:
        why = (error.strerror or str(error)).lower() if error.errno else str(error)
        raise InvalidInput(f"{printable(name)} cannot be read: {why}") from error
    except ValueError as error:  # a NUL in the name
        raise InvalidInput(f"{printable(name)} cannot be read: {error}") from error


def read_whole(path: Path) -> bytes:
    """All that a file or a pipe holds; OSError where it cannot be read, or holds too much."""
    # A pipe that nobody writes to would keep us at opening; so it is an empty one.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        os.set_blocking(descriptor, True)
        return bounded(stream)


def bounded(stream: BinaryIO) -> bytes:
    """What is left of a stream; TooLargeError once it is more than an input may have."""
    data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise TooLargeError(TOO_LARGE)
    return data
