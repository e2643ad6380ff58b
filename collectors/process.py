"""Every child process of this program: argv, environment, deadline, process group, decoding.

git is started here and nowhere else. What a run printed is returned, never interpreted.
"""

from __future__ import annotations

import logging
import os
import re
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from collectors.errors import SetupError
from collectors.signals import signals_held

# Of the caller's GIT_* variables only these reach git: they say where the repository is, which configuration
# counts and how the network is reached. The rest (GIT_INDEX_FILE, GIT_TRACE, ... of a hook that runs us, say)
# would change what git answers or prints.
_KEPT_GIT_VARIABLES = re.compile(
    r"GIT_(DIR|WORK_TREE|COMMON_DIR|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|OBJECT_DIRECTORY"
    r"|ALTERNATE_OBJECT_DIRECTORIES|EXEC_PATH|CONFIG_\w+|SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|HTTP_\w+"
    r"|PROXY_\w+|PROTOCOL_FROM_USER|ALLOW_PROTOCOL|ASKPASS)"
)

# What a hook sets, and what is about that one repository alone.
_NAMES_THE_REPOSITORY = frozenset(
    """
    GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
    """.split()
)

# GIT_ASKPASS and core.askPass stay: such a program is how some CI systems hand git a token, and without it git
# would list where we cannot. The same setting may name a program that opens a window. So it runs, and has nobody
# to ask: no terminal (a session of its own), no standard input, no display, no socket of an editor that would
# show the question. SSH_ASKPASS, git's last resort, is a desktop's window and nothing else: it is emptied below.
_WAYS_TO_A_PERSON = frozenset({"DISPLAY", "WAYLAND_DISPLAY", "VSCODE_GIT_IPC_HANDLE"})

# Set over whatever the caller has. Messages in one language, because failures are told apart by their words;
# no prompt of any kind; no lock taken for a mere look.
# No lazy fetch of a partial clone behind our back: the variable is of git 2.45 (2.39.4 in its line), and for an older
# git `run` allows no transport where none is needed.
# `.git/info/grafts` and `refs/replace` are one clone's own view of history; every answer is about the commits that
# all clones share.
#
# ssh: what `-o BatchMode=yes` would give, without an ssh command of ours. GIT_SSH_COMMAND replaces the user's own
# core.sshCommand (git-config(1)), and which ssh that is, putty's or a script, cannot be known. Without a
# controlling terminal and with SSH_ASKPASS_REQUIRE=never ssh has no way to ask for a passphrase or about a host
# key, and fails at once, whatever command the user has set.
_PINNED = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ADVICE": "0",
    # Without it git writes each line of a long list by itself as soon as the output is a pipe.
    "GIT_FLUSH": "0",
}

_WHERE = "base-branch explain PATH, with the folder of a repository"

_LOG = logging.getLogger(__name__)

_GRACE_SECONDS = 1.0
_SLICE_SECONDS = 0.2
_CHUNK_BYTES = 1 << 16
# A line of a ref is an object id and a name: what is longer on the average is no list of refs.
_LINE_BYTES = 512

# Somewhat more than the 100,000 branches that the program is measured with.
MOST_REFS = 120_000


class ProcessResult(Struct, frozen=True, kw_only=True):
    """What a finished child left: its exit code (None: this program ended it), bytes and text.

    `too_many`: it was ended because it printed more lines than were wanted.
    """

    argv: tuple[str, ...]
    code: int | None
    stdout: bytes
    stderr: str
    milliseconds: int
    too_many: bool = False

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        return self.code is None and not self.too_many

    @property
    def lines(self) -> list[str]:
        r"""Standard output's lines; bytes that are no UTF-8 stand as `\xNN`, which no refname can hold.

        Not splitlines(): it splits at U+0085 and U+2028 too, which a refname can hold.
        """
        text = self.stdout.decode("utf-8", "backslashreplace").removesuffix("\n")
        return text.split("\n") if text else []


class Deadline:
    """One moment by which everything that asks the network has to be done."""

    def __init__(self, seconds: float, cancelled: threading.Event | None = None) -> None:
        """`seconds` from now, by the monotonic clock; `cancelled`: what ends several deadlines at once."""
        self._end = time.monotonic() + seconds
        self._cancelled = cancelled or threading.Event()

    def remaining(self) -> float:
        """Seconds that are left, never below zero."""
        return 0.0 if self._cancelled.is_set() else max(0.0, self._end - time.monotonic())

    def cancel(self) -> None:
        """Let it be now: whatever runs under it is ended soon. Another thread may call this."""
        self._cancelled.set()


class Git(Struct, frozen=True, kw_only=True):
    """The git executable at one folder, with one environment captured once."""

    folder: Path
    environ: Mapping[str, str]
    executable: str = "git"
    most_refs: int = MOST_REFS
    """How many lines of refs a remote may list. A server can list without an end, and each is held and ranked."""

    def run(
        self,
        *arguments: str,
        timeout: float = 60.0,
        deadline: Deadline | None = None,
        stdin: bytes = b"",
        network: bool = False,
        packets: bool = False,
        most_lines: int | None = None,
    ) -> ProcessResult:
        """Run git in the folder; never raises for its exit code. SetupError where there is no git.

        `deadline`: the one that several runs share, else this run's own `timeout` in seconds.

        `network`: git is to reach a remote; all else has to come from this machine, of a partial clone too.

        `packets`: what git hears and says in its own protocol is written to standard error as well.

        `most_lines`: git is ended if it prints more, or lines that are much longer than those of refs.
        """
        environ = git_environment(self.environ)
        environ |= {} if network else {"GIT_ALLOW_PROTOCOL": "none"}
        environ |= {"GIT_TRACE_PACKET": "1"} if packets else {}
        argv = (self.executable, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments)
        return run(
            argv,
            cwd=self.folder,
            environ=environ,
            deadline=deadline or Deadline(timeout),
            stdin=stdin,
            most_lines=most_lines,
        )

    def at(self, folder: Path) -> Git:
        """The same git at another folder, and for the repository of that folder: none that the environment names."""
        environ = {name: value for name, value in self.environ.items() if name not in _NAMES_THE_REPOSITORY}
        return replace(self, folder=folder, environ=environ)


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The child's environment: the caller's, less the git variables that change answers, plus the pinned."""
    kept = {k: v for k, v in environ.items() if not k.startswith("GIT_") or _KEPT_GIT_VARIABLES.fullmatch(k)}
    for name in _WAYS_TO_A_PERSON:
        kept.pop(name, None)
    return kept | _PINNED


def absolute_path(environ: Mapping[str, str]) -> str:
    """PATH without its empty and relative elements: they would be looked up in the repository.

    >>> absolute_path({"PATH": ":/usr/bin:bin:."})
    '/usr/bin'
    """
    elements = environ.get("PATH", os.defpath).split(os.pathsep)
    # Never empty, which would stand for the current folder.
    return os.pathsep.join(filter(os.path.isabs, elements)) or os.devnull


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    environ: Mapping[str, str],
    deadline: Deadline,
    stdin: bytes = b"",
    most_lines: int | None = None,
) -> ProcessResult:
    """Run a child in a process group of its own; at the deadline the whole group is ended.

    Ending the child alone would leave git's helper (git-remote-http, ssh) alive and the pipe open.
    """
    began = time.monotonic()
    environ = dict(environ) | {"PATH": absolute_path(environ)}
    child: subprocess.Popen[bytes] | None = None
    code: int | None
    try:
        with signals_held():  # while a child is there that nobody knows yet, nobody would end it
            child = subprocess.Popen(  # noqa: S603 - no shell; argv is made by this program
                list(argv),
                cwd=cwd,
                env=environ,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        code, out, err, too_many = _wait(child, stdin, deadline, most_lines)
    except (FileNotFoundError, NotADirectoryError) as error:
        if cwd.exists() and not cwd.is_dir():
            raise SetupError(f"{cwd} is not a folder", code="not-a-folder", hint=_WHERE) from error
        if not cwd.exists():
            message = f"{cwd} does not exist"
            raise SetupError(message, code="no-such-folder", hint=_WHERE) from error
        message = f"{argv[0]} was not found on PATH"
        raise SetupError(message, code="git-missing", hint="install git 2.30 or newer, then: git --version") from error
    except BaseException:
        if child is not None:
            end_group(child)
        raise
    finally:
        for stream in (child.stdin, child.stdout, child.stderr) if child is not None else ():
            if stream is not None:
                stream.close()
    milliseconds = round((time.monotonic() - began) * 1000)
    ended = "ended for its many lines" if too_many else "ended at the deadline"
    became = ended if code is None else f"exit {code}"
    _LOG.debug("%s: %s, %d ms", shlex.join(argv), became, milliseconds)
    said = err.decode("utf-8", "backslashreplace")
    if code is not None and code < 0:
        said += f"\nfatal: {argv[0]} was ended by {_signal_name(-code)}\n"  # of which it says nothing itself
    return ProcessResult(
        argv=tuple(argv), code=code, stdout=out, stderr=said, milliseconds=milliseconds, too_many=too_many
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


def _wait(
    child: subprocess.Popen[bytes], stdin: bytes, deadline: Deadline, most_lines: int | None
) -> tuple[int | None, bytes, bytes, bool]:
    """Exit code (None: ended by us), output, errors, and whether the output has more lines than wanted.

    The child is waited for, not its pipes: a process that it leaves behind (ssh's ControlPersist, a credential daemon)
    may hold those for hours. Once the child has ended and nothing more comes for a moment, all that it said is read.
    """
    out: list[bytes] = []
    err: list[bytes] = []
    lines = size = 0
    whole = too_many = False
    with selectors.DefaultSelector() as pipes:
        for stream, chunks in ((child.stdout, out), (child.stderr, err)):
            if stream is not None:
                pipes.register(stream, selectors.EVENT_READ, chunks)
        if child.stdin is not None:
            os.set_blocking(child.stdin.fileno(), False)
            pipes.register(child.stdin, selectors.EVENT_WRITE, memoryview(stdin))
        while not whole:
            ended, left = child.poll() is not None, deadline.remaining()
            ready = pipes.select(min(_SLICE_SECONDS, left)) if pipes.get_map() else []
            for key, event in ready:
                if event == selectors.EVENT_WRITE and child.stdin is not None:
                    _feed(pipes, child.stdin, key.data)
                else:
                    chunk = _drain(pipes, key)
                    lines += chunk.count(b"\n") if key.data is out else 0
                    size += len(chunk) if key.data is out else 0
            too_many = most_lines is not None and (lines > most_lines or size > most_lines * _LINE_BYTES)
            whole = ended and not ready
            if too_many or not (left or whole):
                break
            if not ended and not pipes.get_map():
                with suppress(subprocess.TimeoutExpired):
                    child.wait(min(_SLICE_SECONDS, left))
        if not whole:
            end_group(child)
            _hear_out(pipes)
    return child.returncode if whole else None, b"".join(out), b"".join(err), too_many


def _hear_out(pipes: selectors.BaseSelector) -> None:
    """Read until all that held a pipe are gone: those of the group are within a moment, others are not waited for."""
    grace = Deadline(_GRACE_SECONDS)
    while pipes.get_map() and grace.remaining():
        for key, event in pipes.select(grace.remaining()):
            if event == selectors.EVENT_WRITE:
                pipes.unregister(key.fileobj)
            else:
                _drain(pipes, key)


def _drain(pipes: selectors.BaseSelector, key: selectors.SelectorKey) -> bytes:
    """Keep what the pipe holds; it is not looked at again after its end."""
    chunk = os.read(key.fd, _CHUNK_BYTES)
    if chunk:
        key.data.append(chunk)
    else:
        pipes.unregister(key.fileobj)
    return chunk


def _feed(pipes: selectors.BaseSelector, stream: IO[bytes], left: memoryview) -> None:
    """Write what the pipe takes; close it after the last byte, and if its reader is gone."""
    try:
        left = left[os.write(stream.fileno(), left[:_CHUNK_BYTES]) :]
    except BlockingIOError:
        return
    except BrokenPipeError:
        left = left[:0]
    if left:
        pipes.modify(stream, selectors.EVENT_WRITE, left)
    else:
        pipes.unregister(stream)
        stream.close()


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started: asked first, then made to."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_SECONDS)
