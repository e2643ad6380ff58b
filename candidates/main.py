"""The entry point: answers the machine's commonest call without loading what only people need."""

from __future__ import annotations

import sys

from candidates.boundary import guarded

_RANK_FLAGS = frozenset(("--ndjson", "--confidence"))


def main() -> None:
    """Run the command line; the exit code is one of docs/contract.md."""
    # Loading the rest takes most of a short run: whoever ends it there is answered as later on.
    guarded(_run)


def _run() -> None:
    command, flags = sys.argv[1:2], sys.argv[2:]
    if command == ["rank"] and len(set(flags)) == len(flags) and _RANK_FLAGS.issuperset(flags):
        from candidates.commands.rank import rank_stream  # noqa: PLC0415 - wiring

        wanted = {"ndjson": "--ndjson" in flags, "confidence": "--confidence" in flags}
        rank_stream(sys.stdin.buffer, sys.stdout.buffer, **wanted)
    else:
        from candidates.cli.app import app  # noqa: PLC0415 - wiring

        app()
