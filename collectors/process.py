"""Every child process of this program: argv, environment, deadline, process group, decoding.

git is started here and nowhere else. What a run printed is returned, never interpreted.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

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

# GIT_ASKPASS and core.askPass stay: such a program is how some CI systems hand git a token, and without it git
# would list where we cannot. The same setting may name a program that opens a window. So it runs, and has nobody
# to ask: no terminal (a session of its own), no standard input, no display, no socket of an editor that would
# show the question. SSH_ASKPASS, git's last resort, is a desktop's window and nothing else: it is emptied below.
_WAYS_TO_A_PERSON = frozenset({"DISPLAY", "WAYLAND_DISPLAY", "VSCODE_GIT_IPC_HANDLE"})

# Set over whatever the caller has. Messages in one language, because failures are told apart by their words;
# no prompt of any kind; no lazy fetch of a partial clone behind our back; no lock taken for a mere look.
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
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ADVICE": "0",
    # Without it git writes each line of a long list by itself as soon as the output is a pipe.
    "GIT_FLUSH": "0",
}

_WHERE = "base-branch explain PATH, with the folder of a repository"

_LOG = logging.getLogger(__name__)

_GRACE_SECONDS = 1.0
_SLICE_SECONDS = 0.2


class ProcessResult(Struct, frozen=True, kw_only=True):
    """What a finished child left: its exit code (None: it was ended at the deadline), bytes and text."""

    argv: tuple[str, ...]
    code: int | None
    stdout: bytes
    stderr: str
    milliseconds: int

    @property
    def timed_out(self) -> bool:
        """Whether the deadline ended it."""
        return self.code is None

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

    def run(
        self,
        *arguments: str,
        timeout: float = 60.0,
        deadline: Deadline | None = None,
        stdin: bytes = b"",
        packets: bool = False,
    ) -> ProcessResult:
        """Run git in the folder; never raises for its exit code. SetupError where there is no git.

        `deadline`: the one that several runs share, else this run's own `timeout` in seconds.

        `packets`: what git hears and says in its own protocol is written to standard error as well.
        """
        environ = git_environment(self.environ) | ({"GIT_TRACE_PACKET": "1"} if packets else {})
        argv = (self.executable, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", *arguments)
        return run(argv, cwd=self.folder, environ=environ, deadline=deadline or Deadline(timeout), stdin=stdin)

    def at(self, folder: Path) -> Git:
        """The same git at another folder."""
        return Git(folder=folder, environ=self.environ, executable=self.executable)


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The child's environment: the caller's, less the git variables that change answers, plus the pinned."""
    kept = {k: v for k, v in environ.items() if not k.startswith("GIT_") or _KEPT_GIT_VARIABLES.fullmatch(k)}
    for name in _WAYS_TO_A_PERSON:
        kept.pop(name, None)
    return kept | _PINNED


def run(
    argv: Sequence[str], *, cwd: Path, environ: Mapping[str, str], deadline: Deadline, stdin: bytes = b""
) -> ProcessResult:
    """Run a child in a process group of its own; at the deadline the whole group is ended.

    Ending the child alone would leave git's helper (git-remote-http, ssh) alive and the pipe open.
    """
    began = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    code: int | None
    try:
        with signals_held():  # while a child is there that nobody knows yet, nobody would end it
            child = subprocess.Popen(  # noqa: S603 - no shell; argv is made by this program
                list(argv),
                cwd=cwd,
                env=dict(environ),
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        code, out, err = _wait(child, stdin, deadline)
    except NotADirectoryError as fault:
        raise SetupError(f"{cwd} is not a folder", code="not-a-folder", hint=_WHERE) from fault
    except FileNotFoundError as fault:
        if not cwd.exists():
            message = f"{cwd} does not exist"
            raise SetupError(message, code="no-such-folder", hint=_WHERE) from fault
        message = f"{argv[0]} was not found on PATH"
        raise SetupError(message, code="git-missing", hint="install git 2.30 or newer, then: git --version") from fault
    except BaseException:
        if child is not None:
            end_group(child)
        raise
    milliseconds = round((time.monotonic() - began) * 1000)
    became = "ended at the deadline" if code is None else f"exit {code}"
    _LOG.debug("%s: %s, %d ms", shlex.join(argv), became, milliseconds)
    said = err.decode("utf-8", "backslashreplace")
    if code is not None and code < 0:
        said += f"\nfatal: {argv[0]} was ended by {_signal_name(-code)}\n"  # of which it says nothing itself
    return ProcessResult(argv=tuple(argv), code=code, stdout=out, stderr=said, milliseconds=milliseconds)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"


def _wait(child: subprocess.Popen[bytes], stdin: bytes, deadline: Deadline) -> tuple[int | None, bytes, bytes]:
    """Exit code (None: ended at the deadline) and output. In slices, so that a cancelled deadline is seen."""
    pending: bytes | None = stdin or None
    while True:
        try:
            out, err = child.communicate(pending, timeout=min(_SLICE_SECONDS, deadline.remaining()))
        except subprocess.TimeoutExpired:
            pending = None  # what is left of it is kept by the child's object
            if deadline.remaining():
                continue
            end_group(child)
            out, err = child.communicate()
            return None, out, err
        return child.returncode, out, err


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a child and all that it started: asked first, then made to."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, sign)
        if sign is signal.SIGTERM:
            with suppress(subprocess.TimeoutExpired):
                child.wait(_GRACE_SECONDS)
