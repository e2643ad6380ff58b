"""`base-branch rank`: bundles in, rankings out, and nothing heavier than msgspec loaded for it."""

from __future__ import annotations

from typing import BinaryIO

from candidates.contract import decode_bundle, encode_line, encode_pretty
from candidates.output import written_out
from collectors.errors import InvalidInput
from collectors.input_file import LARGEST, STANDARD_INPUT, TOO_LARGE, read_input
from ranking.rank import rank


def rank_stream(stdin: BinaryIO, stdout: BinaryIO, *, ndjson: bool) -> None:
    """Rank the bundle on `stdin`, or with `ndjson` one a line, each answered before the next is read.

    InvalidInput for what is no bundle, or larger than one may be; the answers that were given before it stand.
    """
    if not ndjson:
        data, _ = read_input(STANDARD_INPUT, stdin, "the bundle")
        _answer(stdout, encode_pretty(rank(decode_bundle(data))))
        return
    for number, line in enumerate(iter(lambda: stdin.readline(LARGEST + 1), b""), start=1):
        what = f"the bundle on line {number}"
        if len(line) > LARGEST:
            raise InvalidInput(f"{what} cannot be read: {TOO_LARGE}")
        if line.strip():
            _answer(stdout, encode_line(rank(decode_bundle(line, what))) + b"\n")


def _answer(stdout: BinaryIO, data: bytes) -> None:
    with written_out():
        stdout.write(data)
        stdout.flush()
