"""`base-branch rank`: bundles in, rankings out, and nothing heavier than msgspec loaded for it."""

from __future__ import annotations

from typing import BinaryIO

from candidates.contract import decode_bundle, encode_line, encode_pretty
from ranking.rank import rank


def rank_stream(stdin: BinaryIO, stdout: BinaryIO, *, ndjson: bool) -> None:
    """Rank the bundle on `stdin`, or with `ndjson` one a line, each answered before the next is read.

    InvalidInput for what is no bundle; the answers that were given before it stand.
    """
    if not ndjson:
        stdout.write(encode_pretty(rank(decode_bundle(stdin.read()))))
        stdout.flush()
        return
    for number, line in enumerate(iter(stdin.readline, b""), start=1):
        if line.strip():
            stdout.write(encode_line(rank(decode_bundle(line, f"the bundle on line {number}"))) + b"\n")
            stdout.flush()
