"""The program struck at every moment of its writing: killed, told to end, or refused by the disk. Run as a script.

`trap.py STRIKE COPIES -- ARGUMENTS`: the program is loaded once, and for n = 1, 2, ... a fork of it runs with the
arguments in a copy of COPIES/begin (named COPIES/n; `{place}` in an argument), until the n-th moment is never
reached. Prints as JSON what each left. A moment is right before a file is made, moved, synced, removed or unlocked;
what is between two of them cannot be seen from outside.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from candidates.main import main as program

if TYPE_CHECKING:
    from collections.abc import Callable

# What a run would load in the middle of its work.
for module in (
    "backtest.report",
    "cli.app",
    "commands.memory",
    "explain.records",
    "run.factory",
    "run.record",
    "state_file",
):
    import_module(f"candidates.{module}")

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
MAKING = ("open", "os.rename", "os.link", "os.mkdir", "os.fsync")


def strike(kind: str) -> None:
    match kind:
        case "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            os.kill(os.getpid(), signal.Signals[kind])


def set_trap(kind: str, moment: int, place: Path, say: Callable[[str], object]) -> None:
    """Strike at the n-th moment. From then on the disk stays full, as disks do."""
    seen = 0

    def at(event: str) -> None:
        nonlocal seen
        if kind == "full" and event not in MAKING:
            return
        seen += 1
        if seen == moment or (kind == "full" and seen > moment):
            say(event)
            strike(kind)

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "fcntl.flock":
            at(event)
        elif event in {"open", "os.rename", "os.link", "os.mkdir", "os.remove"}:
            path = arguments[0]
            beside = isinstance(path, str | os.PathLike) and Path(path).is_relative_to(place)
            if beside and (event != "open" or arguments[2] & WRITING):
                at(event)

    def fsync(descriptor: int) -> None:
        del descriptor  # what the kernel has been given outlives a killed process: the disk is not waited for
        at("os.fsync")

    sys.addaudithook(watch)
    os.fsync = fsync  # type: ignore[assignment]


def run(arguments: list[str], place: Path, kind: str | None, moment: int) -> dict[str, Any]:
    """One run in a fork, and what it left."""
    out, err, struck = (place.with_name(f"{place.name}.{name}") for name in ("out", "err", "struck"))
    struck.write_text("")
    child = os.fork()
    if child == 0:
        for number, file in ((1, out), (2, err)):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        if kind is not None:
            told = os.open(struck, os.O_WRONLY)
            set_trap(kind, moment, place, lambda event: os.write(told, f"{event} ".encode()))
        os.environ["BASE_BRANCH_PREFERENCES"] = str(place / "preferences.json")
        sys.argv = ["base-branch", *(text.format(place=place) for text in arguments)]
        code = 1
        try:
            program()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {
        "struck": struck.read_text().split(),
        "code": code,
        "out": out.read_text(),
        "err": err.read_text(),
        "files": {str(p.relative_to(place)): p.read_text() for p in sorted(place.rglob("*")) if p.is_file()},
        "locked": [str(p) for p in place.rglob("*.lock") if not is_free(p)],
    }


def is_free(lock: Path) -> bool:
    with lock.open("rb") as file, suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def main(kind: str, copies: Path, arguments: list[str]) -> None:
    seen: list[dict[str, Any]] = []
    lefts = set()
    while not seen or seen[-1]["struck"]:
        place = copies / str(len(seen) + 1)
        shutil.copytree(copies / "begin", place)
        done = run(arguments, place, kind, len(seen) + 1)
        # The next run after a kill, once for everything that kills leave.
        left = re.sub(r"\d+\.[0-9a-f]{8}", "N", str([(name, len(text)) for name, text in done["files"].items()]))
        if kind == "kill" and left not in lefts:
            lefts.add(left)
            done["next"] = run(arguments, place, None, 0)
        seen.append(done)
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[4:])
