"""The program as its users run it: a child process, its exit code, its two streams."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, str(Path(sys.executable).with_name("base-branch")))

Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Done:
    """What a finished run left."""

    code: int
    out: bytes
    err: str

    def json(self) -> Answer:
        """The one JSON document on standard output; anything before or after it is an error of the program."""
        answer = json.loads(self.out)
        assert isinstance(answer, dict)
        return answer


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The test's own environment, with this source tree before whatever is installed.

    Without the caller's PYTHON* variables: PYTHONUNBUFFERED, say, would hide a missing flush.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PYTHONPATH": str(ROOT)} | dict(more or {})


def base_branch(
    *arguments: str | Path, stdin: bytes = b"", cwd: Path | None = None, environ: Mapping[str, str] | None = None
) -> Done:
    """Run the program to its end."""
    ran = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(environ),
        check=False,
    )
    return Done(ran.returncode, ran.stdout, ran.stderr.decode())


def start(
    *arguments: str | Path, environ: Mapping[str, str] | None = None, ignoring: signal.Signals | None = None
) -> subprocess.Popen[bytes]:
    """Start the program, all three streams piped; `ignoring`: a signal that its caller ignores, as nohup does."""
    own = [*COMMAND, *map(str, arguments)]
    return subprocess.Popen(
        own
        if ignoring is None
        else ["sh", "-c", f'trap "" {ignoring.name.removeprefix("SIG")}; exec "$@"', "sh", *own],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(environ),
    )


def resolve(path: Path, *arguments: str | Path, code: int = 0, **more: Any) -> Answer:  # noqa: ANN401 - handed on
    """Resolve without a person; the decision. The exit code has to be `code`."""
    done = base_branch("resolve", path, "--autopilot", *arguments, **more)
    assert done.code == code, (done.code, done.err, done.out)
    return done.json()


def settled(decision: Answer) -> tuple[str | None, str | None, str | None, str | None, str | None]:
    """What was decided: branch, ref, commit, source, fetch status."""
    keys = ("baseBranch", "baseRef", "baseCommit", "baseBranchSource", "baseFetchStatus")
    branch, ref, commit, source, status = (decision[key] for key in keys)
    return branch, ref, commit, source, status


def names(decision: Answer) -> list[str]:
    """The candidates' branches, in their order."""
    return [candidate["branch"] for candidate in decision["baseBranchEvidence"]["candidates"]]


def source(decision: Answer, name: str) -> Answer:
    """What became of one source."""
    return next(entry for entry in decision["sources"] if entry["name"] == name)


def children_that_mention(text: str) -> list[str]:
    """The command lines of all processes that hold a text, this process aside."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:  # it ended meanwhile
            continue
        if text in line and path.parent.name != str(os.getpid()):
            found.append(line)
    return found
