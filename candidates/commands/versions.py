"""What `--version` says: this program, and the parts whose version decides what it can do."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path

from candidates import __version__
from collectors.errors import SetupError
from collectors.git.objects import libgit2_version
from collectors.git.repository import parse_git_version
from collectors.process import Git


def versions(environ: Mapping[str, str]) -> tuple[str, ...]:
    """A line each: the program, git, libgit2, Python. A git that cannot be run is said on its line."""
    git = Git(folder=Path(), environ=environ)
    try:
        found = ".".join(map(str, parse_git_version(git.run("version").stdout))) or "of unknown version"
    except SetupError as error:
        found = f"cannot be run: {error}"
    return (
        f"base-branch {__version__}",
        f"git {found}",
        f"libgit2 {libgit2_version()}",
        f"Python {platform.python_version()}",
    )
