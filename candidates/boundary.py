"""The one error boundary: an error becomes a message on standard error and an exit code, and nothing else."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn

from candidates.exit_codes import ExitCode, exit_code_of
from candidates.text import shown
from collectors.errors import EvidenceError

DEBUG_VARIABLE = "BASE_BRANCH_DEBUG"


def guarded(call: Callable[[], int | None]) -> NoReturn:
    """Run `call` and leave the process with its exit code, or with that of the error it raised."""
    try:
        code = call() or ExitCode.ANSWERED
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (`| head`): nobody is left to tell. Python would complain at exit otherwise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = ExitCode.ANSWERED
    except SystemExit:
        raise
    except BaseException as fault:  # noqa: BLE001 - the boundary
        code = exit_code_of(fault)
        _say(fault, code)
    raise SystemExit(int(code))


def _say(fault: BaseException, code: ExitCode) -> None:
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exc()
    if code == ExitCode.INTERRUPTED:
        print("base-branch: interrupted", file=sys.stderr)
    elif isinstance(fault, EvidenceError):
        print(f"base-branch: {shown(str(fault))}", file=sys.stderr)
        if fault.hint:
            print(f"  try: {shown(fault.hint)}", file=sys.stderr)
    else:
        kind = type(fault).__name__
        print(f"base-branch: unforeseen {kind}: {shown(str(fault))}", file=sys.stderr)
        print(f"  try: the same with {DEBUG_VARIABLE}=1, which prints where it came from", file=sys.stderr)
