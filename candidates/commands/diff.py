"""`diff`: what changed between two saved records."""

from __future__ import annotations

import sys

from candidates.explain.diff import differ, difference_lines
from candidates.explain.records import read_saved
from candidates.terminal import print_record, show
from collectors.errors import InvalidInput


def diff(before: str, after: str, *, as_json: bool) -> None:
    """Compare them."""
    if before == after == "-":
        raise InvalidInput("standard input is one record, and two are compared", hint="base-branch diff FILE -")
    found = differ(read_saved(before, sys.stdin.buffer), read_saved(after, sys.stdin.buffer))
    if as_json:
        print_record(found)
    else:
        show(difference_lines(found))
