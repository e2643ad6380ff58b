"""Commands timed side by side: run in turns, so that whatever else the machine does falls on all of them alike."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHON = [sys.executable, "-c"]
PROGRAM = [*PYTHON, "from candidates.main import main; main()"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One command: where it runs, what it reads, what is done before each run of it, and its exit code."""

    argv: Sequence[str]
    cwd: Path = ROOT
    stdin: Path | None = None
    before: Callable[[], None] | None = None
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class Taken:
    """The median of a command's whole time in seconds, and the highest peak of its own memory in MiB."""

    seconds: float
    mebibytes: float


def race(cases: Mapping[str, Case], repeats: int) -> dict[str, Taken]:
    """Run all cases in turns, the first round unmeasured, and print each with its median time and peak memory."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    peaks = dict.fromkeys(cases, 0.0)
    for turn in range(repeats + 1):
        for name, case in cases.items():
            took, peak = _run(case)
            if turn:
                seconds[name].append(took)
                peaks[name] = max(peaks[name], peak)
    taken = {name: Taken(seconds=statistics.median(seconds[name]), mebibytes=peaks[name]) for name in cases}
    for name, one in taken.items():
        print(f"{name:<66} {one.seconds * 1000:>8.0f} ms {one.mebibytes:>6.0f} MiB")
    return taken


def apart(build: Callable[..., None], *arguments: object) -> None:
    """Build in a process of its own: a child's peak memory counts from what its parent held when it was started."""
    builder = get_context("fork").Process(target=build, args=arguments)
    builder.start()
    builder.join()
    if builder.exitcode:
        raise SystemExit(f"{build.__name__} failed")


def ratio(what: str, value: float, target: str) -> None:
    """Print a ratio beside what it ought to be."""
    print(f"  -> {what:<60} {value:>8.2f}   ({target})")


def settle_in(folder: Path) -> None:
    """An own home for all that is run from now on, and nothing of the caller's git or of their settings."""
    for name in tuple(os.environ):
        if name.startswith(("GIT_", "XDG_", "SSH_", "BASE_BRANCH_", "PYTHON")):
            del os.environ[name]
    os.environ |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "PYTHONPATH": str(ROOT)}
    (folder / ".gitconfig").write_text(
        "[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n"
    )


def _run(case: Case) -> tuple[float, float]:
    if case.before is not None:
        case.before()
    with open(case.stdin or os.devnull, "rb") as stdin:  # noqa: PTH123 - the null device too
        began = time.perf_counter()
        child = subprocess.Popen(
            case.argv, cwd=case.cwd, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(child.pid, 0)
        took = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) != case.code:
        raise SystemExit(f"{' '.join(case.argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return took, usage.ru_maxrss / 1024
