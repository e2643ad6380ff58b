"""`choose` and `ask`: what a person answered to a host's picker, and the menu for scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from candidates.commands.resolve import FACTORY_VARIABLE, remember_answer
from candidates.commands.session import asking_for_the_remote, git_at, given_issue, now, warn
from candidates.exit_codes import ExitCode
from candidates.questions.menu import DEFAULT_VARIABLE, Menu, Row, numbered, read_default
from candidates.questions.menu import choose as choose_row
from candidates.questions.presentation import read_presentation
from candidates.run.answers import cancelled as given_up
from candidates.run.answers import choose_base, with_evidence_of
from candidates.run.record import record
from candidates.run.run import prepare
from candidates.runs.journal import journal
from candidates.terminal import has_terminal, notice, print_bytes, print_record
from collectors.errors import InvalidInput


class ChooseOptions(Struct, frozen=True, kw_only=True):
    """The options of `choose` that are not configuration, by the names of the command line."""

    name: str | None
    path: Path
    issue: str | None
    issue_version: list[str] | None
    state: Path
    step: str | None
    cancelled: bool


def choose(options: ChooseOptions, flags: Mapping[str, object]) -> ExitCode:
    """Record the branch in the state, or say that the question stands; then remember it."""
    name, path = options.name, options.path
    if options.cancelled and name is not None:
        path, name = Path(name), None
    elif not options.cancelled and name is None:
        raise InvalidInput(
            "neither a branch nor --cancelled", where="NAME", hint="base-branch choose NAME --state FILE"
        )
    given = given_issue(options.issue, options.issue_version)
    presentation = read_presentation(None, None, None, options.step, None)
    flags = dict(flags) | {"--refresh": "needed", "--autonomy": "manual"}
    run = prepare(git_at(path), flags, given, now(), base=name)
    warn([run])
    with journal("choose", datetime.now(UTC), notice) as taken:
        run = taken.watch([run])[0]
        with asking_for_the_remote(run, as_json=True):
            if name is None:
                answer, code, facts = given_up(run), ExitCode.ASK, None
            else:
                answer, code, facts = choose_base(run, name)
        refused = None
        if code == ExitCode.ANSWERED:
            if given.text is None and not given.versions:
                answer = with_evidence_of(answer, options.state, run.root)
            refused = record(answer, [run.root], options.state, run.request.now)
        taken.note(answer, [run], code)
        print_record(presentation.present(answer))
        if refused is not None:
            raise refused
        if code == ExitCode.ANSWERED:
            remember_answer(run, facts, answer)
    return code


def ask(question: str, options: Sequence[str], language: str | None) -> ExitCode:
    """The menu on the terminal, or the default without one; the chosen label alone on standard output."""
    words = read_presentation(None, language, None, None, None).language
    given = read_default(os.environ.get(DEFAULT_VARIABLE), options)
    menu = Menu(question=question, rows=tuple(Row(label=label) for label in options))
    at: int | None = given or 0
    if given is None and has_terminal() and os.environ.get(FACTORY_VARIABLE) != "1":
        at = choose_row(menu, os.environ.get("TERM"), words)
    else:
        sys.stderr.write("".join(f"{line}\n" for line in numbered(menu)))
    if at is None:
        notice("no answer was given")
        return ExitCode.ASK
    print_bytes(os.fsencode(options[at]) + b"\n")
    return ExitCode.ANSWERED
