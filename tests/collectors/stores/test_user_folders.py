"""Where the user's files are, by the XDG base directory specification."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path

import pytest

from collectors.stores.user_folders import config_folder, state_folder

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the library says where")


@pytest.mark.parametrize(
    ("environ", "config", "state"),
    [
        ({"HOME": "/h"}, "/h/.config", "/h/.local/state"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c", "/s"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}, "/h/.config", "/h/.local/state"),
        # A relative path is none, by the specification.
        ({"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "s"}, "/h/.config", "/h/.local/state"),
    ],
)
def test_the_folders(environ: dict[str, str], config: str, state: str) -> None:
    assert config_folder(environ) == Path(config, "base-branch")
    assert state_folder(environ) == Path(state, "base-branch")


def test_without_a_home_it_is_this_users() -> None:
    assert config_folder({}) == Path(os.environ["HOME"], ".config", "base-branch")


@pytest.mark.parametrize("home", ["", "h", "~"])
def test_a_home_that_is_no_absolute_path_is_none(home: str) -> None:
    own = Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert config_folder({"HOME": home}) == own / ".config" / "base-branch"
    assert state_folder({"HOME": home}) == own / ".local" / "state" / "base-branch"
