"""The entry point: answers the machine's commonest call without loading what only people need."""

from __future__ import annotations

import sys

from candidates.boundary import guarded

_RANK_CALLS = (("rank",), ("rank", "--ndjson"))


def main() -> None:
    """Run the command line; the exit code is DESIGN.md's."""
    # Loading the rest takes most of a short run: whoever ends it there is answered as later on.
    guarded(_run)


def _run() -> None:
    if tuple(sys.argv[1:]) in _RANK_CALLS:
        from candidates.commands.rank import rank_stream  # noqa: PLC0415 - wiring

        rank_stream(sys.stdin.buffer, sys.stdout.buffer, ndjson="--ndjson" in sys.argv)
    else:
        from candidates.cli.app import app  # noqa: PLC0415 - wiring

        app()
