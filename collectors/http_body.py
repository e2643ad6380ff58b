"""How much of a server's answer is read: one without an end fills no memory. Knows no product.

A hook of the `requests` library, under both clients: called with each response before anybody has read its body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Protocol

from collectors.process import Deadline

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


def reader_until(deadline: Deadline) -> Callable[..., Response]:
    """Make the hook that reads a body and keeps it where the library keeps it.

    EndlessAnswerError where it is too much; TimeoutError at the deadline, so that nothing left behind reads on.
    """

    def read(response: Response, *_: object, **__: object) -> Response:
        kept = bytearray()
        for piece in response.iter_content(_PIECE):
            kept += piece
            if len(kept) > LARGEST_ANSWER or not deadline.remaining():
                response.close()
                if len(kept) > LARGEST_ANSWER:
                    raise EndlessAnswerError(f"more than {LARGEST_ANSWER // 1024**2} MiB")
                raise TimeoutError
        response._content = bytes(kept)  # noqa: SLF001 - it has no setter
        return response

    return read
