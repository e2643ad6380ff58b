"""Where the user's own files of this program are: the XDG base directories, or what the system has in their place."""

from __future__ import annotations

import os
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
    return (Path(named) if named.startswith("/") else _home(environ) / usual) / _NAME


def _home(environ: Mapping[str, str]) -> Path:
    """HOME; where that is no absolute path, as in some containers, what the system holds of this user."""
    named = environ.get("HOME", os.environ.get("HOME", ""))
    if named.startswith("/"):
        return Path(named)
    from pwd import getpwuid  # noqa: PLC0415 - hardly ever, and Windows has none

    try:
        return Path(getpwuid(os.getuid()).pw_dir)
    except KeyError:  # no entry either: the path says so, and nothing reads or writes it
        return Path("~")
