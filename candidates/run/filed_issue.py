"""The issue of a file or of standard input: this program's record, or a tracker's answer as it was returned."""

from __future__ import annotations

from typing import BinaryIO

from collectors.input_file import read_input
from collectors.issue.file import decode_issue
from collectors.strict_json import loads_foreign
from ranking.facts import Issue


def read_filed_issue(source: str, stdin: BinaryIO) -> Issue:
    """Read the issue from a file, or from `stdin` if `source` is `-`.

    Raises InvalidInput, with the dotted path of the fault, for anything that is neither form.
    """
    data, what = read_input(source, stdin, "the issue")
    if b'"fields"' in data or b'"number"' in data:
        from candidates.run.raw_issue import raw_issue  # noqa: PLC0415 - only for what could be a tracker's own answer

        try:
            raw = raw_issue(loads_foreign(data))
        except (ValueError, RecursionError):  # no JSON: the strict reader says what is wrong
            raw = None
        if raw is not None:
            return raw
    return decode_issue(data, what)
