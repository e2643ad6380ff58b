"""What every test stands on: an own home, no git variables of the caller, fixed dates, a network trap.

The trap watches this process alone; servers that children may talk to are in `tests.support.servers`, on loopback.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from candidates.setup.recipes import ObjectFormat, build, load_recipe
from tests.support.repositories import MakeStand, Repo, Stand, Workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# How long an example takes says how busy the machine is, and nothing else.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

DAY = "2026-01-02T03:04:05+00:00"

# What a caller may have set and what would reach git, curl or a client library in the tests.
_STRIPPED = ("GIT_", "XDG_", "SSL_CERT_", "SSH_", "LC_")
_STRIPPED_WHOLE = ("LANGUAGE", "EMAIL", "NO_COLOR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")

_GIT_CONFIG = """\
[init]
	defaultBranch = main
[protocol "file"]
	allow = always
[advice]
	nestedTag = false
	detachedHead = false
"""


# --- the network trap ---


class NetworkTouchedError(Exception):
    """A test reached for the network beyond loopback."""


class NetworkTrap:
    """Refuses every address that is not loopback, and remembers it: swallowing the error does not help."""

    def __init__(self) -> None:
        """Nothing is caught yet."""
        self.caught: list[str] = []

    def watch(self, event: str, arguments: tuple[object, ...]) -> None:
        """Judge one audit event of the interpreter."""
        if event in {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"}:
            address = arguments[1]
            host = address[0] if isinstance(address, tuple) else None  # else a local (AF_UNIX) one
        elif event in {"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"}:
            host = arguments[0]
        else:
            return
        if host is not None and not is_loopback(host):
            self.caught.append(f"{event} {host!r}")
            raise NetworkTouchedError(self.caught[-1])

    def settle(self) -> None:
        """Fail if anything was caught; forget it."""
        caught, self.caught = self.caught, []
        if caught:
            pytest.fail(f"the network was touched: {', '.join(caught)}")


def is_loopback(host: object) -> bool:
    """Whether a host is this machine's loopback, by address or as `localhost`."""
    text = host.decode() if isinstance(host, bytes) else str(host)
    if text == "localhost":
        return True
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


# A shell ignores SIGINT in what it starts in the background, children inherit that, and a test that interrupts one
# would wait for it for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)

_TRAP = NetworkTrap()
# An audit hook sees every socket of the interpreter, whoever imported it how; it cannot be taken away again.
sys.addaudithook(_TRAP.watch)


@pytest.fixture(autouse=True)
def network_trap() -> Iterator[NetworkTrap]:
    """Let a test fail that touched the network, whatever it made of the error."""
    yield _TRAP
    _TRAP.settle()


# --- the environment ---


@pytest.fixture(scope="session", autouse=True)
def _own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take the caller's settings away for the whole run, session-wide fixtures included."""
    with pytest.MonkeyPatch.context() as patch:
        for name in tuple(os.environ):
            proxy = name.lower().endswith("_proxy")
            if name.startswith(_STRIPPED) or name in _STRIPPED_WHOLE or proxy:
                patch.delenv(name)
        _settle_in(patch, tmp_path_factory.mktemp("home"))
        patch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path_factory.getbasetemp()))
        for role in ("AUTHOR", "COMMITTER"):
            patch.setenv(f"GIT_{role}_NAME", "Ada")
            patch.setenv(f"GIT_{role}_EMAIL", "ada@example.invalid")
            patch.setenv(f"GIT_{role}_DATE", DAY)
        patch.setenv("LC_ALL", "C.UTF-8")
        patch.setenv("TZ", "UTC")
        yield


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test an empty home with a git configuration of its own, and return it."""
    path = tmp_path_factory.mktemp("home")
    _settle_in(monkeypatch, path)
    return path


def _settle_in(patch: pytest.MonkeyPatch, path: Path) -> None:
    config = path / "gitconfig"
    config.write_text(_GIT_CONFIG, encoding="utf-8")
    patch.setenv("HOME", str(path))
    patch.setenv("GIT_CONFIG_GLOBAL", str(config))
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for kind in ("CONFIG", "CACHE", "DATA", "STATE", "RUNTIME"):
        patch.setenv(f"XDG_{kind}_{'DIR' if kind == 'RUNTIME' else 'HOME'}", str(path / kind.lower()))


# --- repositories ---


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    """Make repositories under the test's temporary folder."""
    return Workshop(tmp_path)


@pytest.fixture(scope="session")
def _masters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, ObjectFormat], Path]:
    made: dict[tuple[str, str], Path] = {}

    def master(recipe: str, object_format: ObjectFormat) -> Path:
        if (recipe, object_format) not in made:
            folder = tmp_path_factory.mktemp(recipe)
            build(load_recipe(recipe), folder, dict(os.environ), object_format=object_format)
            made[recipe, object_format] = folder
        return made[recipe, object_format]

    return master


@pytest.fixture
def stand(tmp_path: Path, _masters: Callable[[str, ObjectFormat], Path]) -> MakeStand:
    """Make a stand from a recipe: `acme/app.git`, and a clone of it beside; `recipe:sha256` for SHA-256."""

    def make(recipe: str) -> Stand:
        name, _, form = recipe.partition(":")
        master = _masters(name, "sha256" if form == "sha256" else "sha1")
        remote, clone = tmp_path / "acme" / "app.git", tmp_path / "clone"
        shutil.copytree(master / "remote.git", remote)
        shutil.copytree(master / "clone", clone)
        made = Stand(Repo(remote), Repo(clone))
        made.serve_as(str(remote))
        return made

    return make
