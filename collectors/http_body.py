"""How much of a server's answer is read: one without an end fills no memory. Knows no product.

A hook of the `requests` library, under both clients: called with each response before anybody has read its body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar

LARGEST_ANSWER: Final = 32 * 1024 * 1024
"""Bytes of one answer, unpacked; a page of a hundred issues with all their fields has some hundred kilobytes."""

_PIECE: Final = 64 * 1024


class EndlessAnswerError(OSError):
    """The server sent more than an answer may have."""


class Response(Protocol):
    """What is needed of a response."""

    _content: object

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """The body, unpacked, piece by piece."""

    def close(self) -> None:
        """Read no further."""


R = TypeVar("R", bound=Response)


def read_bounded(response: R, *_: object, **__: object) -> R:
    """Read the body, and keep it where the library keeps it; EndlessAnswerError where it is too much."""
    kept = bytearray()
    for piece in response.iter_content(_PIECE):
        kept += piece
        if len(kept) > LARGEST_ANSWER:
            response.close()
            raise EndlessAnswerError(f"more than {LARGEST_ANSWER // 1024**2} MiB")
    response._content = bytes(kept)  # noqa: SLF001 - it has no setter
    return response
