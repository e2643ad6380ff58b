"""Where the user's own files of this program are: the XDG base directories, or what the system has in their place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

_NAME = "base-branch"


def config_folder(environ: Mapping[str, str]) -> Path:
    """The folder of the user's configuration and of what is remembered."""
    # Each run asks, and on Linux the answer is one line of the XDG specification: the library takes 13 ms to load.
    if sys.platform == "linux":
        named = environ.get("XDG_CONFIG_HOME", "")
        base = Path(named) if named.startswith("/") else Path(environ.get("HOME") or "~") / ".config"
    else:
        from platformdirs import user_config_path  # noqa: PLC0415 - see above

        return user_config_path(_NAME, appauthor=False)
    try:
        return base.expanduser() / _NAME
    except RuntimeError:  # no HOME and no entry for this user: the path says so, and nothing reads or writes it
        return base / _NAME
