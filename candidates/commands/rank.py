"""`base-branch rank`: bundles in, rankings out, and nothing heavier than msgspec loaded for it."""

from __future__ import annotations

from typing import BinaryIO

from candidates.contract import decode_bundle, encode_line, encode_pretty
from candidates.output import written_out
from collectors.errors import InvalidInput
from collectors.input_file import LARGEST, STANDARD_INPUT, TOO_LARGE, read_input
from ranking.facts import Facts, Ranking, SureRanking
from ranking.ranker import rank_surely


def rank_stream(stdin: BinaryIO, stdout: BinaryIO, *, ndjson: bool, confidence: bool = False) -> None:
    """Rank the bundle on `stdin`, or with `ndjson` one a line, each answered before the next is read.

    `confidence`: whether to add it to each ranking. Raises InvalidInput if the input is not a bundle or is too large;
    the answers before it stand.
    """
    if not ndjson:
        data, _ = read_input(STANDARD_INPUT, stdin, "the bundle")
        _answer(stdout, encode_pretty(_rank(decode_bundle(data), confidence=confidence)))
        return
    for number, line in enumerate(iter(lambda: stdin.readline(LARGEST + 1), b""), start=1):
        what = f"the bundle on line {number}"
        if len(line) > LARGEST:
            raise InvalidInput(f"{what} cannot be read: {TOO_LARGE}")
        if line.strip():
            _answer(stdout, encode_line(_rank(decode_bundle(line, what), confidence=confidence)) + b"\n")


def _rank(facts: Facts, *, confidence: bool) -> Ranking:
    ranked = rank_surely(facts)
    if not confidence:
        return ranked.ranking
    # Two digits more than a person reads: the same facts give the same bytes on every machine.
    sure = None if ranked.confidence is None else round(ranked.confidence, 4)
    return SureRanking(**{name: getattr(ranked.ranking, name) for name in Ranking.__struct_fields__}, confidence=sure)


def _answer(stdout: BinaryIO, data: bytes) -> None:
    with written_out():
        stdout.write(data)
        stdout.flush()
