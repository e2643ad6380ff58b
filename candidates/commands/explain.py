"""`explain`: one record, of now or saved, in the view that was asked for."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from candidates.commands.session import advanced, asking_for_the_remote, git_at, now, warn
from candidates.explain.markdown import markdown, mermaid
from candidates.explain.page.page import page
from candidates.explain.records import (
    Recorded,
    read_saved,
    recorded,
    saved_lines,
    saved_why,
    unknown_lines,
    write_whole,
)
from candidates.explain.text import explain as explain_lines
from candidates.explain.why import why, why_not
from candidates.run.collect import Collected
from candidates.run.decide import decide
from candidates.run.issue import IssueInput
from candidates.run.replay import MAY_FOLLOW
from candidates.run.run import gather, prepare
from candidates.styled import Line, Shown
from candidates.terminal import print_record, put
from collectors.errors import InvalidInput
from collectors.input_file import STANDARD_INPUT


class View(Struct, frozen=True, kw_only=True):
    """What is asked: everything, why a branch is where it is, or why it is not the answer; and how it is written."""

    why: str | None = None
    why_not: str | None = None
    markdown: bool = False
    mermaid: bool = False
    html: Path | None = None
    as_json: bool = False

    def __post_init__(self) -> None:
        """InvalidInput for views that cannot be had at once."""
        given = self.given
        together = {"--why", "--why-not"}, {"--markdown", "--mermaid"}
        if len(given) > 1 and set(given) not in together:
            raise InvalidInput(f"{' and '.join(given)} cannot go together", hint=f"the same with {given[0]} alone")
        if self.html is not None and str(self.html) == STANDARD_INPUT:
            raise InvalidInput("a page is written to a file", where="--html", hint="the same with --html FILE")

    @property
    def given(self) -> list[str]:
        """The flags that ask for it."""
        asked = {
            "--why": self.why is not None,
            "--why-not": self.why_not is not None,
            "--markdown": self.markdown,
            "--mermaid": self.mermaid,
            "--html": self.html is not None,
            "--json": self.as_json,
        }
        return [flag for flag, value in asked.items() if value]


def explain(path: Path, flags: Mapping[str, object], given: IssueInput, view: View) -> None:
    """Look, fetch nothing, and show it."""
    run = advanced(prepare(git_at(path), dict(flags) | {"--refresh": "probe"}, given, now()))
    warn([run])
    with asking_for_the_remote(run, as_json=view.as_json):
        found = gather(run)
    if view.as_json:
        print_record(decide(found, run.policy)[0])
    else:
        put(as_asked(found, view))


def explain_saved(source: str, flags: Mapping[str, object], view: View) -> None:
    """Show what a saved record tells."""
    put(as_asked(read_record(source, sys.stdin.buffer, flags, view), view))


def as_asked(found: Collected | Recorded, view: View) -> Shown:
    """The record in that view; a page is written. InvalidInput where it cannot be."""
    if view.html is not None:
        write_page(found, view.html)
        return Shown(notices=(f"the page is {view.html}",))
    if view.markdown or view.mermaid:
        return Shown(data=text_of(found, view))
    return Shown(lines=tuple(lines_of(found, view)))


def _as_record(found: Collected | Recorded) -> Recorded:
    return recorded(found) if isinstance(found, Collected) else found


def text_of(collected: Collected | Recorded, view: View) -> bytes:
    """What is pasted elsewhere; empty where the view is for a screen."""
    record = _as_record(collected)
    parts = [*([markdown(record)] if view.markdown else ()), *([mermaid(record)] if view.mermaid else ())]
    return "\n".join(parts).encode()


def write_page(collected: Collected | Recorded, file: Path) -> None:
    """Write the page, whole or not at all. InvalidInput where it cannot be written."""
    record = _as_record(collected)
    write_whole(file, page(record).encode(), "--html")


def lines_of(collected: Collected | Recorded, view: View) -> Iterator[Line]:
    """What is shown on a screen."""
    record = _as_record(collected)
    if view.why is None and view.why_not is None:
        yield from explain_lines(record.collected) if record.collected is not None else saved_lines(record)
    if view.why is not None:
        said = why(record.collected, view.why) if record.collected is not None else saved_why(record, view.why)
        yield from ([("", sentence)] for sentence in said)
    if view.why_not is not None:
        other = view.why_not
        said = why_not(record.collected, other) if record.collected is not None else saved_why(record, other)
        yield from ([("", sentence)] for sentence in said)
    yield from unknown_lines(record)


def read_record(source: str, stdin: BinaryIO, flags: Mapping[str, object], view: View) -> Recorded:
    """Read the record that is to be explained. InvalidInput for it, and for a flag without a say."""
    given = {flag: value for flag, value in flags.items() if value not in (None, False, [], ())}
    strange = sorted(given.keys() - MAY_FOLLOW)
    if view.as_json:
        raise InvalidInput("--json cannot go with --bundle", hint="base-branch resolve --bundle FILE")
    if strange:
        message = f"{', '.join(strange)} cannot go with --bundle: what is known stands in the file"
        raise InvalidInput(message, hint="base-branch explain, without --bundle")
    return read_saved(source, stdin, given)
