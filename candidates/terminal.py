"""What a command shows: JSON bytes on standard output, styled lines for a person, notices on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from candidates.contract import encode_pretty
from candidates.output import written_out
from candidates.styled import Line, Shown
from ranking.facts import Record
from ranking.names import printable

T = TypeVar("T")


def print_bytes(data: bytes) -> None:
    """Standard output's one document."""
    print_pieces((data,))


def print_pieces(pieces: Iterable[bytes]) -> None:
    """The same, as its pieces come."""
    with written_out():
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()


def print_record(record: Record) -> None:
    """One record as indented JSON."""
    print_bytes(encode_pretty(record))


def show(lines: Iterable[Line]) -> None:
    """Put styled lines on the screen: colours on a terminal, plain text elsewhere or with NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - only for people
    from rich.text import Text  # noqa: PLC0415 - only for people

    console = Console(highlight=False, soft_wrap=True)
    with written_out():
        for line in lines:
            console.print(Text.assemble(*((text, style) for style, text in line)))


def put(view: Shown) -> None:
    """What a view gives: its bytes, its lines, its notices."""
    if view.data is not None:
        print_bytes(view.data)
    if view.lines:
        show(view.lines)
    for line in view.notices:
        notice(line)


def has_terminal() -> bool:
    """Whether somebody can be asked here and now."""
    return os.isatty(0) and os.isatty(2)


def notice(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"base-branch: {printable(text)}\n")


def announce(line: str) -> None:
    """One line on standard error, as it is: what a caller may look for."""
    sys.stderr.write(f"{printable(line)}\n")


def with_progress(items: Sequence[T], what: str) -> Iterator[T]:
    """The items one by one, with a bar on standard error where that is a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console  # noqa: PLC0415 - only for people
    from rich.progress import track  # noqa: PLC0415 - only for people

    yield from track(items, description=what, console=Console(stderr=True), transient=True)
