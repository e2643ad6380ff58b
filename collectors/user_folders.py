"""Where this program's own files lie: the user's folders, by the platform's custom. The only `platformdirs` import."""

from __future__ import annotations

from pathlib import Path

_PROGRAM = "base-branch"


def config_folder() -> Path:
    """What the user sets and chose: `~/.config/base-branch`, or what XDG_CONFIG_HOME says."""
    # In the function, against the rule: 13 ms that only a run without our own variables pays.
    from platformdirs import user_config_path  # noqa: PLC0415

    try:
        return user_config_path(_PROGRAM, appauthor=False)
    except RuntimeError:  # no HOME and no entry for this user: the path says so, and nothing reads or writes it
        return Path("~/.config") / _PROGRAM


def state_folder() -> Path:
    """What may be lost: `~/.local/state/base-branch`, or what XDG_STATE_HOME says."""
    from platformdirs import user_state_path  # noqa: PLC0415 - likewise

    try:
        return user_state_path(_PROGRAM, appauthor=False)
    except RuntimeError:  # likewise
        return Path("~/.local/state") / _PROGRAM
