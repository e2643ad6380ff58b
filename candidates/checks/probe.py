"""Does a branch of this name exist: here, and on the remote. "Absent" and "nobody could tell" are never folded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from candidates.run.collect import locate
from collectors.errors import InvalidInput
from collectors.git.failures import relevant_line
from collectors.git.refs import ask_remote
from collectors.process import Deadline, Git
from ranking.facts import Failure, OidText, Record
from ranking.names import local_head, name_problem, printable

State = Literal["exists", "absent", "failed", "not-asked"]
Verdict = Literal["exists", "absent", "failed"]

EXIT_CODES: Mapping[Verdict, int] = {"exists": 0, "absent": 10, "failed": 11}
"""The exit codes of `probe`, as in docs/contract.md."""


class Sight(Record, frozen=True, kw_only=True):
    """What one place says; `remote`: its name, null for this clone. `not-asked`: there is no remote to ask."""

    state: State
    remote: str | None = None
    tip: OidText | None = None
    failure: Failure | None = None


class Probed(Record, frozen=True, kw_only=True):
    """Whether a branch exists, here and on the remote."""

    schema: Literal["base-branch/probe@1"] = "base-branch/probe@1"
    name: str
    local: Sight
    remote: Sight

    @property
    def verdict(self) -> Verdict:
        """Of both together: one that has it is enough to exist; to be absent every one that there is must say so."""
        states = {self.local.state, self.remote.state}
        if "exists" in states:
            return "exists"
        return "failed" if "failed" in states else "absent"

    @property
    def exit_code(self) -> int:
        """The exit code of docs/contract.md: 0 exists, 10 absent, 11 the probe failed."""
        return EXIT_CODES[self.verdict]


def probe(git: Git, name: str, remote: str | None, deadline: Deadline) -> Probed:
    """Look for a branch in this clone and on the remote (None: the one that holds the lines).

    InvalidInput for a name that can be no branch's; RemoteUndecided where a person must say which remote.
    """
    if problem := name_problem(name):
        raise InvalidInput(f"{printable(name)!r} can be no branch: {problem}")
    choice = locate(git, remote).choice
    there = Sight(state="not-asked") if choice is None else _on_remote(git, name, choice.name, deadline, choice.host)
    return Probed(name=name, local=_here(git, name), remote=there)


def sentence(probed: Probed) -> str:
    """The answer as one sentence for a person."""
    far = probed.remote
    there = "there is no remote" if far.remote is None else f"{printable(far.remote)}: {_said(far)}"
    return f"{printable(probed.name)}: {probed.verdict}; here: {_said(probed.local)}; {there}."


def _said(sight: Sight) -> str:
    return f"failed ({sight.failure.kind}: {printable(sight.failure.detail)})" if sight.failure else sight.state


def _on_remote(git: Git, name: str, remote: str, deadline: Deadline, host: str | None) -> Sight:
    answer = ask_remote(git, remote, deadline, host=host)
    if isinstance(answer, Failure):
        return Sight(state="failed", remote=remote, failure=answer)
    tip = answer.branches.get(name)
    return Sight(state="absent" if tip is None else "exists", remote=remote, tip=tip)


def _here(git: Git, name: str) -> Sight:
    """Look for the local head. A broken ref (an empty file after a crash, a dangling symref) is no absence."""
    refname = local_head(name)
    ran = git.run("for-each-ref", "--format=%(objectname) %(refname)", refname)
    for oid, _, found in (line.partition(" ") for line in ran.lines):
        if found == refname:  # the pattern also takes all that stands under the name as a folder
            return Sight(state="exists", tip=oid)
    if ran.code != 0 or ran.stderr.strip():
        said = "git gave no answer in time" if ran.timed_out else relevant_line(ran.stderr)
        return Sight(state="failed", failure=Failure(kind="unknown", detail=said))
    # A symref to nothing is passed over without a word, and yet the name is taken.
    target = "\n".join(git.run("symbolic-ref", "--quiet", refname).lines)
    if target:
        return Sight(state="failed", failure=Failure(kind="unknown", detail=f"{refname} is a symref to {target}"))
    return Sight(state="absent")
