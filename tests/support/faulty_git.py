"""A git on PATH that does something else first where its arguments hold a word; the real one otherwise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

REAL = shutil.which("git")

_SCRIPT = """#!/bin/sh
case " $* " in *" $FAULT_ON "*) eval "$FAULT" ;; esac
exec {real} "$@"
"""


def faulty_git(folder: Path, on: str, problem: str) -> dict[str, str]:
    """The environment in which git is this one; `$PPID` in the fault is the program."""
    script = folder / "faulty" / "git"
    if not script.exists():
        script.parent.mkdir()
        script.write_text(_SCRIPT.format(real=REAL), encoding="utf-8")
        script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "FAULT_ON": on, "FAULT": problem, "MARKER": str(folder)}
