"""What a test asks the machine: which processes live, and whether a command may be used here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")


def alive(marker: str) -> list[int]:
    """The processes that carry the marker in their environment; one that has ended shows none."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if marker.encode() in environment.split(b"\0"):
                found.append(int(entry.name))
    return found


needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def refused(*command: str) -> str | None:
    """Why a command cannot be used here; None where it can."""
    try:
        ran = subprocess.run(command, capture_output=True, check=False)
    except OSError as error:
        return str(error)
    return ran.stderr.decode() or f"it ended with {ran.returncode}" if ran.returncode else None
