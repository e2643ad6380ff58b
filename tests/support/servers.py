"""Real git servers and misbehaving listeners on loopback, each a context manager that leaves nothing behind.

No port is chosen beforehand: each listens before it is handed out, so nothing waits for readiness.
"""

from __future__ import annotations

import base64
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST: Final = "127.0.0.1"


class _Server(socketserver.ThreadingTCPServer):
    """One thread a connection; closing waits for all of them."""

    allow_reuse_address = True
    daemon_threads = False
    block_on_close = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that was ended in the middle is what some tests are about."""


@contextmanager
def _serving(server: socketserver.TCPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# --- git http-backend ---


@dataclass(slots=True)
class HttpSite:
    """A served folder of repositories, and what was asked of it."""

    port: int
    scheme: str = "http"
    requests: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def url(self, path: str, *, userinfo: str = "") -> str:
        """The URL of a repository on this site."""
        return f"{self.scheme}://{userinfo}{'@' if userinfo else ''}{HOST}:{self.port}/{path}"


class _HttpServer(_Server):
    def __init__(self, handler: type[BaseHTTPRequestHandler], site: HttpSite) -> None:
        super().__init__((HOST, 0), handler)
        self.site = site
        site.port = self.server_address[1]


class _Backend(BaseHTTPRequestHandler):
    """One request to `git http-backend` as CGI (RFC 3875), with basic authentication in front."""

    root: Path
    credentials: tuple[str, str] | None = None
    dies: bool = False
    """Whether only half is sent of an answer that holds objects."""

    def do_GET(self) -> None:
        """Serve the advertisement."""
        self._serve()

    def do_POST(self) -> None:
        """Serve a service call."""
        self._serve()

    def _serve(self) -> None:
        path, _, query = self.path.partition("?")
        body = self._body()
        site = cast("_HttpServer", self.server).site
        site.requests.append(f"{self.command} {self.path}")
        site.bodies.append(body)
        if self.credentials is not None:
            pair = base64.b64encode(":".join(self.credentials).encode()).decode()
            if self.headers.get("Authorization") != f"Basic {pair}":
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
        protocol = self.headers.get("Git-Protocol", "")
        environ = dict(os.environ) | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": protocol,
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": HOST,
        }
        ran = subprocess.run(["git", "http-backend"], input=body, env=environ, capture_output=True, check=False)
        head, _, content = ran.stdout.partition(b"\r\n\r\n")
        fields = [line.partition(":") for line in head.decode().splitlines()]
        status = next((value.split()[0] for name, _, value in fields if name == "Status"), "200")
        self.send_response(int(status))
        for name, _, value in fields:
            if name and name != "Status":
                self.send_header(name, value.strip())
        # Over TLS, an end by mere hanging up would be a fault.
        self.send_header("Content-Length", str(len(content)))
        if self.dies and b"packfile\n" in content:
            content = content[: len(content) // 2]
        self.end_headers()
        self.wfile.write(content)

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            chunks = []
            while size := int(self.rfile.readline(), 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length", "0")))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keep quiet."""


@contextmanager
def http_backend(
    root: Path, *, credentials: tuple[str, str] | None = None, authority: Authority | None = None
) -> Iterator[HttpSite]:
    """Serve the repositories under a folder over smart HTTP, to those who have the credentials.

    Over TLS where there is an authority that vouches for it.
    """
    handler = type("Backend", (_Backend,), {"root": root, "credentials": credentials})
    site = HttpSite(port=0, scheme="https" if authority else "http")
    server = _HttpServer(handler, site)
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(authority.certificate, authority.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with _serving(server):
        yield site


@dataclass(frozen=True, slots=True)
class Authority:
    """A private certificate authority, and what it signed for 127.0.0.1: paths of PEM files."""

    authority: Path
    certificate: Path
    key: Path


def make_authority(folder: Path) -> Authority:
    """Make an authority and a server's certificate, by openssl."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Authority(folder / "ca.pem", folder / "server.pem", folder / "server.key")
    own, wish = folder / "ca.key", folder / "server.csr"
    ec = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    _openssl(
        "req", "-x509", *ec, "-keyout", own, "-out", made.authority, "-days", "2", "-subj", "/CN=private authority"
    )
    _openssl("req", *ec, "-keyout", made.key, "-out", wish, "-subj", f"/CN={HOST}")
    names = folder / "names"
    names.write_text(f"subjectAltName=IP:{HOST}\n")
    signing = ["-CA", str(made.authority), "-CAkey", str(own), "-CAcreateserial", "-extfile", str(names)]
    _openssl("x509", "-req", "-in", wish, "-out", made.certificate, "-days", "2", *signing)
    return made


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@contextmanager
def dying_backend(root: Path) -> Iterator[HttpSite]:
    """Serve a folder over smart HTTP, and break off in the middle of whatever objects are sent."""
    site = HttpSite(port=0)
    with _serving(_HttpServer(type("Dying", (_Backend,), {"root": root, "dies": True}), site)):
        yield site


@contextmanager
def http_answering(status: int, body: str = "", *, content_type: str = "text/plain") -> Iterator[HttpSite]:
    """Answer every request with one status and body, as a proxy, a login page or a broken server would."""

    def answer(self: BaseHTTPRequestHandler) -> None:
        cast("_HttpServer", self.server).site.requests.append(f"{self.command} {self.path}")
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.end_headers()
        self.wfile.write(body.encode())

    handler = type("Answer", (_Backend,), {"do_GET": answer, "do_POST": answer, "do_CONNECT": answer})
    site = HttpSite(port=0)
    with _serving(_HttpServer(handler, site)):
        yield site


@contextmanager
def http_without_end(status: int, piece: bytes) -> Iterator[HttpSite]:
    """Answer every request with JSON that never ends: the same piece again and again until the client leaves."""

    def answer(self: BaseHTTPRequestHandler) -> None:
        cast("_HttpServer", self.server).site.requests.append(f"{self.command} {self.path}")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"message": "')
        with suppress(OSError):
            while True:
                self.wfile.write(piece)

    handler = type("Answer", (_Backend,), {"do_GET": answer, "do_POST": answer})
    site = HttpSite(port=0)
    with _serving(_HttpServer(handler, site)):
        yield site


# --- git daemon ---


@contextmanager
def git_daemon(root: Path) -> Iterator[int]:
    """Serve the repositories under a folder over git://; yields the port."""
    command = ["git", "daemon", "--inetd", "--export-all", "--log-destination=none"]
    command += [f"--base-path={root}", str(root)]

    class Connection(socketserver.BaseRequestHandler):
        """A daemon of its own for each connection, as inetd would start it."""

        def handle(self) -> None:
            """Hand the connection over and wait for the daemon's end."""
            line = self.request.fileno()
            subprocess.run(command, stdin=line, stdout=line, stderr=subprocess.DEVNULL, check=False)

    with _serving(_Server((HOST, 0), Connection)) as port:
        yield port


# --- sshd ---

SSHD: Final = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def why_no_sshd() -> str | None:
    """Why no ssh server can be started here; None: it can."""
    if SSHD is None or shutil.which("ssh-keygen") is None:
        return "openssh-server is not installed"
    if os.geteuid() == 0 and not Path("/run/sshd").is_dir():
        return "sshd wants /run/sshd: mkdir -p /run/sshd"
    return None


@dataclass(frozen=True, slots=True)
class SshSite:
    """An ssh server for the account that runs the tests, by one key; and the client's side of it."""

    port: int
    folder: Path

    def url(self, path: Path) -> str:
        """The URL of a repository on this machine."""
        return f"ssh://{HOST}:{self.port}{path}"

    def command(self, *, key: str = "key", hosts: str = "hosts") -> str:
        """The ssh command of a user who has this key and this list of known hosts, and nothing else."""
        options = {
            "IdentityFile": self.folder / key,
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "UserKnownHostsFile": self.folder / hosts,
            "GlobalKnownHostsFile": "/dev/null",
        }
        return " ".join(["ssh", "-F", "/dev/null", *(f"-o {name}={value}" for name, value in options.items())])


@contextmanager
def ssh_server(folder: Path) -> Iterator[SshSite]:
    """Serve this machine's repositories over ssh. Keys: `key` is let in, `stranger` is not, `locked` has a passphrase.

    `hosts` knows the server's own host key, `nobody` knows none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, passphrase in (("host", ""), ("key", ""), ("stranger", ""), ("locked", "s3cret")):
        make = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", name, "-f", str(folder / name)]
        subprocess.run(make, check=True, capture_output=True)
    let_in = (folder / "key.pub").read_text() + (folder / "locked.pub").read_text()
    (folder / "authorized").write_text(let_in)
    (folder / "nobody").write_text("")
    config = {
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "authorized",
        "StrictModes": "no",
        "UsePAM": "no",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "AcceptEnv": "GIT_PROTOCOL",
        "PidFile": "none",
        "LogLevel": "QUIET",
    }
    (folder / "config").write_text("".join(f"{name} {value}\n" for name, value in config.items()))
    command = [str(SSHD), "-i", "-e", "-f", str(folder / "config")]

    class Connection(socketserver.BaseRequestHandler):
        """A server of its own for each connection, as inetd would start it."""

        def handle(self) -> None:
            """Hand the connection over and wait for the server's end."""
            line = self.request.fileno()
            subprocess.run(command, stdin=line, stdout=line, stderr=subprocess.DEVNULL, check=False)

    with _serving(_Server((HOST, 0), Connection)) as port:
        kind, key = (folder / "host.pub").read_text().split()[:2]
        (folder / "hosts").write_text(f"[{HOST}]:{port} {kind} {key}\n")
        yield SshSite(port, folder)


# --- listeners that misbehave ---


@contextmanager
def silent_listener() -> Iterator[int]:
    """Take connections and never say a word; yields the port."""
    with socket.create_server((HOST, 0)) as listener:
        yield listener.getsockname()[1]


@contextmanager
def refusing_port() -> Iterator[int]:
    """Keep a port on which nobody listens, and that nobody else can take meanwhile."""
    with socket.socket() as held:
        held.bind((HOST, 0))
        yield held.getsockname()[1]


@contextmanager
def breaking_listener(words: bytes) -> Iterator[int]:
    """Say a few bytes to whoever comes, and hang up; yields the port."""

    class Connection(socketserver.BaseRequestHandler):
        """One caller."""

        def handle(self) -> None:
            """Hear the question, so that hanging up is no reset, and break off."""
            self.request.recv(65536)
            with suppress(OSError):
                self.request.sendall(words)

    with _serving(_Server((HOST, 0), Connection)) as port:
        yield port
