"""The traps of the test run hold what they promise."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.servers import silent_listener

if TYPE_CHECKING:
    from tests.conftest import NetworkTrap
    from tests.support.repositories import Workshop


def test_a_foreign_address_is_refused_before_a_packet_leaves(network_trap: NetworkTrap) -> None:
    with socket.socket() as tried, pytest.raises(Exception, match=r"socket\.connect '192\.0\.2\.1'"):
        tried.connect(("192.0.2.1", 80))
    with socket.socket(type=socket.SOCK_DGRAM) as tried, pytest.raises(Exception, match=r"socket\.sendto"):
        tried.sendto(b"x", ("192.0.2.1", 53))
    with pytest.raises(Exception, match=r"socket\.getaddrinfo 'example\.invalid'"):
        socket.getaddrinfo("example.invalid", 80)
    with socket.socket() as tried, pytest.raises(Exception, match=r"socket\.bind '0\.0\.0\.0'"):
        tried.bind(("0.0.0.0", 0))  # noqa: S104 - refused, which is the point
    assert network_trap.caught == [
        "socket.connect '192.0.2.1'",
        "socket.sendto '192.0.2.1'",
        "socket.getaddrinfo 'example.invalid'",
        "socket.bind '0.0.0.0'",
    ]
    with pytest.raises(pytest.fail.Exception, match="the network was touched"):
        network_trap.settle()
    assert network_trap.caught == []


def test_loopback_and_local_sockets_pass(network_trap: NetworkTrap, tmp_path: Path) -> None:
    with silent_listener() as port, socket.create_connection(("127.0.0.1", port)) as line:
        assert line.getpeername() == ("127.0.0.1", port)
    with socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "s"))
    assert network_trap.caught == []
    network_trap.settle()


def test_home_and_git_configuration_are_the_tests_own(home: Path, workshop: Workshop) -> None:
    assert Path.home() == home
    assert home.is_relative_to(Path(os.environ["GIT_CEILING_DIRECTORIES"]))
    origins = workshop.init("r").git("config", "--list", "--show-origin", "--name-only").splitlines()
    assert {line.partition("\t")[0] for line in origins} == {f"file:{home}/gitconfig", "file:.git/config"}
    leaking = [name for name in os.environ if name.startswith(("GIT_SSL", "SSL_CERT")) or "proxy" in name]
    assert leaking == []
