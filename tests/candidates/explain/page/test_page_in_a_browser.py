"""The page in a real browser: it renders with its own style, text stays text, and nothing at all is fetched.

A proxy on loopback stands for the whole network: whatever a page asks for, on whatever host, comes to it. That it
sees what a page fetches is proved with a page that does.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from candidates.explain.page.page import page
from ranking.names import printable
from tests.candidates.explain.page.test_page import HOSTILE, TIED, hostile, of
from tests.support.html_reader import read_page
from tests.support.servers import _serving

if TYPE_CHECKING:
    from collections.abc import Iterator

# A whole Chromium asks its maker for updates, an account and the time: the shell asks only what the page asks.
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chrome-headless-shell"))), None)
DARK_GROUND = (0x14, 0x17, 0x1C)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="chromium-headless-shell is not installed")


@dataclass(frozen=True, slots=True)
class Shown:
    """What a browser made of a page: its elements, its console and log, its first pixel, what it asked the network."""

    dom: str
    log: str
    pixel: tuple[int, ...]
    asked: list[str]


@contextmanager
def network(asked: list[str]) -> Iterator[int]:
    """A proxy that keeps the address of every request, and answers none."""

    class Proxy(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            line = self.rfile.readline().decode("latin-1")
            asked.append(line.partition(" ")[2].rpartition(" ")[0])
            self.wfile.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.close_connection = True

    with _serving(ThreadingHTTPServer(("127.0.0.1", 0), Proxy)) as port:
        yield port


def opened(text: str, folder: Path) -> Shown:
    """The page as the browser shows it from a file, in the dark."""
    assert BROWSER is not None
    file, picture = folder / "page.html", folder / "page.png"
    file.write_bytes(text.encode())
    asked: list[str] = []
    with network(asked) as port:
        ran = subprocess.run(
            [
                BROWSER,
                *"--no-sandbox --disable-gpu --enable-logging=stderr --window-size=1000,700".split(),
                "--blink-settings=preferredColorScheme=0",
                f"--user-data-dir={folder / 'profile'}",
                f"--proxy-server=127.0.0.1:{port}",
                "--proxy-bypass-list=<-loopback>",  # not even loopback goes past the proxy
                f"--screenshot={picture}",
                "--dump-dom",
                file.as_uri(),
            ],
            capture_output=True,
            env=dict(os.environ),
            check=True,
            timeout=120,
        )
    log = ran.stderr.decode("utf-8", "replace")
    return Shown(ran.stdout.decode(), log, first_pixel(picture.read_bytes()), asked)


def first_pixel(png: bytes) -> tuple[int, ...]:
    """The colour of the upper left corner: no neighbour comes before it, so that no filter changes it."""
    data, at = b"", 8
    while at < len(png):
        size = int.from_bytes(png[at : at + 4])
        data += png[at + 8 : at + 8 + size] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    return tuple(zlib.decompress(data)[1:4])


def console(log: str) -> list[str]:
    """What the page's console says."""
    return [line for line in log.splitlines() if "CONSOLE" in line]


def test_a_hostile_page_renders_with_its_style_and_fetches_nothing(tmp_path: Path) -> None:
    # All of them at once: each start of the browser is a second.
    text = page(hostile("|".join(HOSTILE)))
    seen = opened(text, tmp_path)
    # The style sheet counts, so its hash is right; and the reader's preference for the dark does.
    assert seen.pixel == DARK_GROUND
    assert seen.asked == []
    assert console(seen.log) == []
    source, found = read_page(text), read_page(seen.dom)
    # The browser, whose parser mends what it can, sees the very elements that were written.
    assert found.tags() == source.tags()
    assert [e.attributes["title"] for e in found.all("li") if "title" in e.attributes] == [
        e.attributes["title"] for e in source.all("li") if "title" in e.attributes
    ]
    assert printable("|".join(HOSTILE)) in [e.said for e in found.all("code")]
    assert len(found.all("circle")) > len(HOSTILE[:3])


def test_what_a_page_would_fetch_is_seen_and_what_the_policy_forbids_is_not_fetched(tmp_path: Path) -> None:
    intruder = '<img src="http://evil.invalid/a.png"><script>document.body.id = "owned"</script></body>'
    guarded = page(of(TIED)).replace("</body>", intruder)
    open_to_all = guarded.replace("Content-Security-Policy", "nothing")
    folders = [tmp_path / name for name in ("open", "guarded")]
    for folder in folders:
        folder.mkdir()
    seen = opened(open_to_all, folders[0])
    assert seen.asked == ["http://evil.invalid/a.png"]
    assert read_page(seen.dom).one("body").attributes == {"id": "owned"}
    held = opened(guarded, folders[1])
    assert held.asked == []
    assert read_page(held.dom).one("body").attributes == {}
    assert sum("violates the following Content Security Policy directive" in line for line in console(held.log)) == 2
