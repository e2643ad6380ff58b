"""The ring of kept runs: one small compressed file a run, the oldest removed; what stands in a file is the caller's.

A run makes a file of its own, under a name that says when it began, and changes no other's. So nothing has to be
locked: two runs at once both stand there, and what a killed one left half written has a name that nobody reads.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from collectors.errors import SetupError
from collectors.stores.store_file import reason_of, replace_bytes
from collectors.stores.user_folders import state_folder
from ranking.names import printable

RUNS_VARIABLE = "BASE_BRANCH_RUNS_FOLDER"

MOST_BYTES = 8 * 1024 * 1024
"""Of all files together: some hundred runs of a repository with a thousand refs, and nothing that a disk notices."""

LARGEST_LINE = 4 * 1024 * 1024
"""Of one part of a run before it is compressed: the facts of about 20,000 branches, a megabyte in the file. Four
times as much would push every other run out of the ring, and cost the run that keeps it 200 ms instead of 40."""

# gzip's own format, so that `zcat` shows a file; the lowest level takes half the time for a tenth more.
_GZIP, _LEVEL = 31, 1
_HEAD_BYTES = 64 * 1024
_MOST_LINES = 3
_NAMES = r"run-\d{8}T\d{12}Z-[0-9a-f]{6}\.gz"


class KeptFile(Struct, frozen=True, kw_only=True):
    """One kept run: how it is called, where it lies, and its size."""

    id: str
    path: Path
    size: int


def runs_folder(environ: Mapping[str, str]) -> Path:
    """Where the runs are: what BASE_BRANCH_RUNS_FOLDER names, else a folder in the user's state folder."""
    named = environ.get(RUNS_VARIABLE)
    return Path(named) if named else state_folder(environ) / "runs"


def new_id() -> str:
    """Six hexadecimal digits by which a run is called, whatever runs come after it."""
    return os.urandom(3).hex()


def keep_lines(folder: Path, run_id: str, begun: datetime, lines: Sequence[bytes], most: int) -> None:
    """Keep a run's lines, and of all runs the newest `most`. OSError, SetupError where that cannot be."""
    path = folder / f"run-{begun.astimezone(UTC):%Y%m%dT%H%M%S%f}Z-{run_id}.gz"
    replace_bytes(path, zlib.compress(b"\n".join(lines) + b"\n", _LEVEL, _GZIP), lasting=False, kin=_NAMES)
    _prune(folder, path, most)


def list_kept(folder: Path) -> list[KeptFile]:
    """Every kept run, the newest first; none where there is no such folder. SetupError where it cannot be read."""
    try:
        found = sorted(_entries(folder), key=lambda one: one[0], reverse=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        said = f"{printable(str(folder))} cannot be read: {reason_of(error)}"
        raise SetupError(said, code="runs-unreadable", hint=f"name another folder with {RUNS_VARIABLE}") from error
    return [
        KeptFile(id=name[-9:-3], path=folder / name, size=looked.st_size)
        for name, looked in found
        if stat.S_ISREG(looked.st_mode)
    ]


def read_head(file: KeptFile) -> bytes | None:
    """The first line alone; None for what is damaged, or gone."""
    lines = _read(file.path, _HEAD_BYTES)
    return lines[0] if lines else None


def read_lines(file: KeptFile) -> list[bytes] | None:
    """All lines of a kept run; None for what is damaged, or gone."""
    return _read(file.path, _MOST_LINES * (LARGEST_LINE + 1) + 1)


def remove(files: Sequence[KeptFile]) -> int:
    """Remove kept runs; how many there were. SetupError where one cannot be removed."""
    gone = 0
    for file in files:
        try:
            file.path.unlink()
        except FileNotFoundError:  # another run's room was made of it
            continue
        except OSError as error:
            said = f"{printable(str(file.path))} cannot be removed: {reason_of(error)}"
            raise SetupError(
                said, code="runs-unwritable", hint=f"rm {shlex.quote(printable(str(file.path)))}"
            ) from error
        gone += 1
    return gone


def _read(path: Path, most: int) -> list[bytes] | None:
    """The lines that stand within `most` bytes, the last perhaps cut; only where the file is whole to there."""
    inflate = zlib.decompressobj(_GZIP)
    try:
        with path.open("rb") as file:  # no more of it than can count: a file that is none of ours may be of any size
            text = inflate.decompress(file.read(most + most // 64 + 1024), most)
    except (OSError, zlib.error):
        return None
    whole = inflate.eof or len(text) == most
    return text.split(b"\n")[:-1] if whole else None


def _prune(folder: Path, own: Path, most: int) -> None:
    """Remove the oldest until the rest keep both bounds; never the run's own, which may be dated before others.

    What cannot be removed (another user's, or a folder) stays, and counts: the run is kept all the same.
    """
    room = MOST_BYTES - own.stat().st_size
    others = [file for file in list_kept(folder) if file.path != own]
    for place, file in enumerate(others, start=2):
        room -= file.size
        if place > most or room < 0:
            with suppress(OSError):
                file.path.unlink()


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """What lies in the folder under a run's name and is still there when it is looked at."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(_NAMES, entry.name):
                with suppress(FileNotFoundError):
                    yield entry.name, entry.stat(follow_symlinks=False)
