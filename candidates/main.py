"""The entry point: answers the machine's commonest call without loading what only people need.

First it takes the current folder off the path of modules: nothing that a repository holds is imported after that.
"""

import os
import sys


def _trust_installed_modules_alone() -> None:
    """Drop what an empty or relative element of PYTHONPATH, or `python -m`, put there; not where this program lies."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - no pathlib yet
    relative = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(part)]  # noqa: PTH117
    try:
        doubtful = {"", *(os.path.abspath(part) for part in ("", *relative))}  # noqa: PTH100 - likewise
    except FileNotFoundError:  # the current folder is gone
        doubtful = {""}
    sys.path[:] = [part for part in sys.path if part == own or part not in doubtful]


_trust_installed_modules_alone()

from candidates.boundary import guarded  # noqa: E402 - only now

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
