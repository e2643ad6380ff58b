"""Standard output that cannot be written is an error with words of its own. Nothing heavy is loaded for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from collectors.errors import EvidenceError


@contextmanager
def written_out() -> Iterator[None]:
    """Around what writes standard output: EvidenceError where it cannot be written, but for a reader that left."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EvidenceError(f"standard output cannot be written: {reason}", code="output-unwritable") from error
