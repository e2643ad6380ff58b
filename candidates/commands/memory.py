"""`remember`, `forget` and `recent`: the memory changed by a person's explicit word, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from candidates import memory
from candidates.commands.session import asking_for_the_remote, plain_run
from candidates.memory import Recent, forgotten, to_show
from candidates.run.collect import Located, locate
from candidates.run.names import listed_name
from candidates.run.run import Run
from candidates.suggest import near_hint
from candidates.terminal import notice, print_record, show
from collectors.errors import EvidenceError, InvalidInput, SetupError
from collectors.git.refs import RemoteAnswer, ask_remote
from collectors.process import Deadline
from collectors.stores.preferences import Remembered, preferences_path, read_recent
from ranking.names import printable


def remember(path: Path, flags: Mapping[str, object], branch: str) -> None:
    """Remember a choice that the remote lists."""
    run = plain_run(path, dict(flags) | {"--refresh": "probe"}, base=branch)
    for line in remember_choice(run, branch):
        notice(line)


def forget(path: Path, flags: Mapping[str, object], branch: str | None) -> None:
    """Forget one choice, or all."""
    for line in forget_choice(plain_run(path, flags), branch):
        notice(line)


def recent(path: Path, flags: Mapping[str, object], *, as_json: bool) -> None:
    """Show the choices, newest first."""
    run = plain_run(path, flags)
    with asking_for_the_remote(run, as_json=as_json):
        found = recent_choices(run)
    if as_json:
        print_record(found)
    else:
        show([[("bold", f"{c.branch}"), ("", f"  {c.count}x, last on {c.last_used:%Y-%m-%d}")] for c in found.choices])
    if found.detail is not None:
        notice(found.detail)


def remember_choice(run: Run, branch: str) -> tuple[str, ...]:
    """Record a choice that the remote's own answer lists; what has to be said of it.

    InvalidInput for a branch that the remote does not have; EvidenceError `remote-silent` where it did not answer.
    """
    here = locate(run.git, run.configuration.remote, run.request.checkout)
    branch = _check(run, here, branch)
    days = run.configuration.branch_ttl_days
    key, old_key = _keys(run, here)
    changed = memory.remember(
        preferences_path(run.git.environ), key, branch, run.request.now, old_key=old_key, branch_ttl_days=days
    )
    return (*changed.warnings, f"remembered for {key}: {branch}")


def forget_choice(run: Run, branch: str | None) -> tuple[str, ...]:
    """Forget one choice of this project, or all of them; what has to be said of it."""
    key, old_key = _keys(run, locate(run.git, run.configuration.remote, run.request.checkout))
    changed = memory.forget(preferences_path(run.git.environ), key, branch, run.request.now, old_key=old_key)
    gone = forgotten(changed)
    said = f"forgotten for {key}: {', '.join(map(printable, gone))}" if gone else f"nothing was remembered for {key}"
    return (*changed.warnings, said)


def recent_choices(run: Run) -> Recent:
    """The choices that count today, the newest first."""
    key, old_key = _keys(run, locate(run.git, run.configuration.remote, run.request.checkout))
    found = _read(run, key, old_key)
    return Recent(project_key=key, choices=to_show(found.choices), state=found.state, detail=found.detail)


def _read(run: Run, key: str, old_key: str | None) -> Remembered:
    days = run.configuration.branch_ttl_days
    path = preferences_path(run.git.environ)
    return read_recent(path, key, old_key=old_key, now=run.request.now, branch_ttl_days=days)


def _keys(run: Run, here: Located) -> tuple[str, str | None]:
    """The project's key, and the one that older files use; the latter only if the caller names none."""
    named = run.configuration.project_key
    return (named, None) if named is not None else (here.key, here.name)


def _check(run: Run, here: Located, branch: str) -> str:
    """The branch as the remote lists it. Raises InvalidInput if it does not."""
    if here.choice is None:
        message = "this repository has no remote to check the choice against"
        raise SetupError(message, code="no-remote", hint="git remote add origin URL")
    deadline = Deadline(run.configuration.timeout)
    answer = ask_remote(run.git, here.choice.name, deadline, host=here.host)
    if not isinstance(answer, RemoteAnswer):
        message = (
            f"{here.choice.name} did not answer ({answer.kind}: {answer.detail}): {printable(branch)} is not remembered"
        )
        raise EvidenceError(
            message, code="remote-silent", hint=f"base-branch remember {printable(branch)}, when it answers again"
        )
    branch = listed_name(branch, here.choice.name, answer.branches.__contains__)
    if branch not in answer.branches:
        message = f"{here.choice.name} has no branch {printable(branch)}"
        raise InvalidInput(message, hint=near_hint(branch, answer.branches))
    return branch
