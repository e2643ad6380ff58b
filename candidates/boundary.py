"""The one error boundary: an error becomes a message on standard error and an exit code, and nothing else."""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from candidates.exit_codes import ExitCode, exit_code_of
from collectors.errors import EvidenceError
from ranking.names import printable

DEBUG_VARIABLE = "BASE_BRANCH_DEBUG"

# Left to themselves the last two end this process alone: git's children, in groups of their own, would stay.
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_GARBAGE_THRESHOLD = 50_000


def guarded(call: Callable[[], int | None]) -> NoReturn:
    """Run `call` and leave the process with its exit code, or with that of the error it raised."""
    # A run is short and makes hardly any cycles, and may hold a record for each of 100,000 branches: at its usual
    # pace the collector would walk them again and again, a tenth of the run.
    gc.set_threshold(_GARBAGE_THRESHOLD, 50, 50)
    _prepare_streams()
    try:
        code = _outcome(call)
    except KeyboardInterrupt as late:  # while another end was being told
        code = ExitCode.INTERRUPTED
        _say(late, code)
    finally:
        _end_hearing()
    _drop_what_cannot_be_written()
    raise SystemExit(int(code))


def _outcome(call: Callable[[], int | None]) -> int:
    try:
        _on_endings(_interrupt)
        code = call() or ExitCode.ANSWERED
        sys.stdout.flush()
    except BrokenPipeError:
        code = ExitCode.ANSWERED  # the reader (`| head`) has what it wanted
    except SystemExit as leaving:
        # typer makes an exit with 1 of a broken pipe, and a wordless one of an interruption.
        if isinstance(leaving.__context__, BrokenPipeError):
            code = ExitCode.ANSWERED
        elif leaving.code == ExitCode.INTERRUPTED:
            code = ExitCode.INTERRUPTED
            _say(KeyboardInterrupt(), code)
        else:
            raise
    except BaseException as error:  # noqa: BLE001 - the boundary
        code = exit_code_of(error)
        _say(error, code)
    return code


def _prepare_streams() -> None:
    """Put the null device where the caller closed a stream (Python has None there); write what cannot be encoded."""
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for the whole run
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - likewise
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _Notices(sys.stderr.buffer, sys.stderr.encoding, sys.stderr.errors, line_buffering=True)
    # print(file=None) would write a message to standard output.
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - likewise
    if isinstance(sys.stdout, io.TextIOWrapper):  # a name outside the terminal's encoding is shown as `\xNN`
        sys.stdout.reconfigure(errors="backslashreplace")


class _Notices(io.TextIOWrapper):
    """Standard error. What a full disk or a reader that left does not take is lost, and changes no exit code."""

    def write(self, text: str) -> int:
        """Write as far as that can be."""
        with suppress(OSError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Likewise."""
        with suppress(OSError):
            super().flush()


def _on_endings(handler: Callable[[int, FrameType | None], None] | signal.Handlers) -> None:
    for ending in _ENDINGS:
        if signal.getsignal(ending) is not signal.SIG_IGN:  # nohup's, or a background job's
            signal.signal(ending, handler)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Once: a second signal must not break off the cleaning up, which takes a second or two."""
    del number, frame
    _on_endings(_pass_over)
    raise KeyboardInterrupt


def _pass_over(number: int, frame: FrameType | None) -> None:
    """Not SIG_IGN, which a child would inherit."""
    del number, frame


def _end_hearing() -> None:
    """All is said, and no child comes any more. Python gives up handlers before it is gone, but not what is ignored."""
    with suppress(KeyboardInterrupt):  # one may come meanwhile, and no second
        _on_endings(signal.SIG_IGN)
    _on_endings(signal.SIG_IGN)


def _drop_what_cannot_be_written() -> None:
    """Forget what the reader or the disk did not take: at its exit Python would complain, and leave with 120."""
    try:
        if sys.__stdout__ is not None:
            sys.__stdout__.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _say(error: BaseException, code: ExitCode) -> None:
    if os.environ.get(DEBUG_VARIABLE):
        traceback.print_exc()
    if code == ExitCode.INTERRUPTED:
        print("base-branch: interrupted", file=sys.stderr)
    elif isinstance(error, EvidenceError):
        print(f"base-branch: {printable(str(error))}", file=sys.stderr)
        if error.hint:
            print(f"  try: {printable(error.hint)}", file=sys.stderr)
    else:
        kind = type(error).__name__
        print(f"base-branch: unforeseen {kind}: {printable(str(error))}", file=sys.stderr)
        print(f"  try: the same with {DEBUG_VARIABLE}=1, which prints where it came from", file=sys.stderr)
