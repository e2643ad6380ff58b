"""The issue's facts from a JSON file or standard input: the bundle's `issue` record, strictly decoded.

A file is its own answer, so `read` and `source` may be left out there. Knows no issue tracker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from collectors.input_file import read_input
from collectors.strict_json import decode_strict
from ranking.facts import Issue

if TYPE_CHECKING:
    from typing import BinaryIO


class _FiledIssue(Issue, frozen=True, kw_only=True):
    """The same record, answered unless it says otherwise."""

    read: Literal["answered", "partial", "not-found", "failed"] = "answered"


def read_issue(source: str, stdin: BinaryIO) -> Issue:
    """Read the issue record from a file, or from `stdin` where `source` is `-`.

    InvalidInput, with the dotted path of the fault (`versions[0].name`), for anything that is not that
    record, and for a file that cannot be read.
    """
    return decode_issue(*read_input(source, stdin, "the issue"))


def decode_issue(data: bytes, what: str) -> Issue:
    """Decode the issue record; InvalidInput as `read_issue`."""
    return Issue(**msgspec.structs.asdict(decode_strict(data, _FiledIssue, what)))
