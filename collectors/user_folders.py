"""Where the user's own files of this program are: the XDG base directories, or what the system has in their place."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

_NAME = "base-branch"


def config_folder(environ: Mapping[str, str]) -> Path:
    """What the user sets and chose: `~/.config/base-branch` on Linux, or below XDG_CONFIG_HOME."""
    # Each run asks, and on Linux the answer is one line of the XDG specification: the library takes 13 ms to load.
    if sys.platform == "linux":
        return _below(environ, "XDG_CONFIG_HOME", ".config")
    from platformdirs import user_config_path  # noqa: PLC0415 - see above

    return user_config_path(_NAME, appauthor=False)


def state_folder(environ: Mapping[str, str]) -> Path:
    """What may be lost: `~/.local/state/base-branch` on Linux, or below XDG_STATE_HOME."""
    if sys.platform == "linux":
        return _below(environ, "XDG_STATE_HOME", ".local/state")
    from platformdirs import user_state_path  # noqa: PLC0415 - see above

    return user_state_path(_NAME, appauthor=False)


def _below(environ: Mapping[str, str], variable: str, usual: str) -> Path:
    named = environ.get(variable, "")
    # The specification: a relative path is to be ignored.
    base = Path(named) if named.startswith("/") else Path(environ.get("HOME") or "~") / usual
    try:
        return base.expanduser() / _NAME
    except RuntimeError:  # no HOME and no entry for this user: the path says so, and nothing reads or writes it
        return base / _NAME
