"""The entry point: answers the machine's commonest call without loading what only people need."""

from __future__ import annotations

import sys

_RANK_CALLS = (("rank",), ("rank", "--ndjson"))


def main() -> None:
    """Run the command line; the exit code is DESIGN.md's."""
    if tuple(sys.argv[1:]) in _RANK_CALLS:
        from candidates.boundary import guarded  # noqa: PLC0415 - wiring
        from candidates.rank_command import rank_stream  # noqa: PLC0415 - wiring

        ndjson = "--ndjson" in sys.argv
        guarded(lambda: rank_stream(sys.stdin.buffer, sys.stdout.buffer, ndjson=ndjson))
    from candidates.cli import run  # noqa: PLC0415 - wiring

    run()
