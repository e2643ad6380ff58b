"""`choose` and `ask`: what a person answered to a host's picker, and the menu for scripts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from candidates.actions.resolve import FACTORY_VARIABLE
from candidates.actions.wiring import asking_for_the_remote, git_at, now, warn
from candidates.choose import cancelled as given_up
from candidates.choose import choose_base, keep, with_evidence_of
from candidates.exit_codes import ExitCode
from candidates.issue_sources import IssueInput
from candidates.menu import DEFAULT_VARIABLE, Menu, Row, read_default
from candidates.menu import choose as choose_row
from candidates.presenting import read_presentation
from candidates.record import record
from candidates.run import prepare
from candidates.terminal import has_terminal, notice, print_bytes, print_record
from collectors.errors import InvalidInput


def choose(
    name: str | None,
    path: Path,
    flags: Mapping[str, object],
    given: IssueInput,
    state: Path,
    step: str | None,
    *,
    cancelled: bool,
) -> ExitCode:
    """Record the branch in the state, or say that the question stands; then remember it."""
    if cancelled and name is not None:
        path, name = Path(name), None
    elif not cancelled and name is None:
        raise InvalidInput(
            "neither a branch nor --cancelled", where="NAME", hint="base-branch choose NAME --state FILE"
        )
    presentation = read_presentation(None, None, None, step, None)
    flags = dict(flags) | {"--refresh": "needed", "--autonomy": "manual"}
    run = prepare(git_at(path), flags, given, now(), base=name)
    warn([run])
    with asking_for_the_remote(run, as_json=True):
        if name is None:
            print_record(presentation.present(given_up(run)))
            return ExitCode.ASK
        answer, code, facts = choose_base(run, name)
    refused = None
    if code == ExitCode.ANSWERED:
        if given.text is None and not given.versions:
            answer = with_evidence_of(answer, state)
        refused = record(answer, [run.root], state, run.request.now)
    print_record(presentation.present(answer))
    if refused is not None:
        raise refused
    if code == ExitCode.ANSWERED:
        for line in keep(run, facts, name):
            notice(line)
    return code


def ask(question: str, options: Sequence[str], language: str | None) -> ExitCode:
    """The menu on the terminal, or the default without one; the chosen label alone on standard output."""
    words = read_presentation(None, language, None, None, None).language
    at: int | None = read_default(os.environ.get(DEFAULT_VARIABLE), options) or 0
    if has_terminal() and os.environ.get(FACTORY_VARIABLE) != "1":
        menu = Menu(question=question, rows=tuple(Row(label=label) for label in options), at=at or 0)
        at = choose_row(menu, os.environ.get("TERM"), words)
    if at is None:
        notice("no answer was given")
        return ExitCode.ASK
    print_bytes(os.fsencode(options[at]) + b"\n")
    return ExitCode.ANSWERED
