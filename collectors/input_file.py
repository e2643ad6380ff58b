"""The bytes of an input that the caller names: a file, or `-` for standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from collectors.errors import InvalidInput
from ranking.names import shown

if TYPE_CHECKING:
    from typing import BinaryIO

STANDARD_INPUT = "-"


def read_input(source: str, stdin: BinaryIO, what: str) -> tuple[bytes, str]:
    """Read all of it, and its name for messages ("the issue file x.json"); InvalidInput for what cannot be read."""
    if source == STANDARD_INPUT:
        return stdin.read(), f"{what} on standard input"
    name = f"{what} file {source}"
    try:
        return Path(source).read_bytes(), name
    except OSError as fault:
        why = (fault.strerror or str(fault)).lower()
        raise InvalidInput(f"{name} cannot be read: {why}") from fault
    except ValueError as fault:  # a NUL in the name
        raise InvalidInput(f"{shown(name)} cannot be read: {fault}") from fault
