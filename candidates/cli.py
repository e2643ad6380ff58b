"""The command line: its commands, each declared in `candidates.commands`, and the options before them.

Only the command that is called is loaded: for all of them typer needs longer than for the work itself.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from candidates.boundary import DEBUG_VARIABLE

SUMMARIES = {
    "resolve": "Print the decision: the branch, where it stands, every reason.",
    "choose": "Record what a person answered to a host's picker.",
    "ask": "Ask a person on the terminal; for scripts.",
    "collect": "Print the bundle: every fact that the ranking looks at.",
    "rank": "Rank the bundle on standard input.",
    "explain": "Show a person the candidates, and why.",
    "diff": "Say what changed between two runs, and why the answer did.",
    "backtest": "Ask this repository's history how often it would be right.",
    "config": "Show each value of the configuration with its source.",
    "doctor": "Say what works, and what to run where something does not.",
    "demo": "Walk through three decisions on a small repository.",
    "schema": "Print the JSON Schema of what the commands read and print.",
    "remember": "Remember a choice for this project.",
    "forget": "Forget a remembered choice of this project, or all of them.",
    "recent": "Show the remembered choices of this project.",
    "probe": "Say whether a branch exists, here and on the remote.",
    "gate": "Refuse a state file that is not ready, with every reason.",
    "recheck": "Before a push: ask the remote again about the base.",
}
"""Every command with its line in the help."""


def declarations_of(name: str) -> ModuleType:
    """The module in which a command of `SUMMARIES` is declared, as a function of its own name."""
    match name:
        case "resolve":
            from candidates.commands import resolve  # noqa: PLC0415 - one group at a time

            return resolve
        case "choose" | "ask":
            from candidates.commands import choose  # noqa: PLC0415 - likewise

            return choose
        case "remember" | "forget" | "recent":
            from candidates.commands import memory  # noqa: PLC0415 - likewise

            return memory
        case "probe" | "gate" | "recheck":
            from candidates.commands import pipeline  # noqa: PLC0415 - likewise

            return pipeline
        case "config" | "doctor" | "demo" | "schema":
            from candidates.commands import setup  # noqa: PLC0415 - likewise

            return setup
        case _:
            from candidates.commands import explain  # noqa: PLC0415 - likewise

            return explain


class Commands(TyperGroup):
    """The commands, each loaded and built when it is asked for."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - whatever typer hands over
        """With the names alone, from which typer lists the commands and proposes near ones."""
        super().__init__(**attributes | {"commands": dict.fromkeys(SUMMARIES)})

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401 - click's types have no public name in typer
        """The one that is called; None where there is none of this name."""
        del ctx
        if cmd_name not in SUMMARIES:
            return None
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        declared: Callable[..., None] = vars(declarations_of(cmd_name))[f"{cmd_name}_command"]
        one.command(cmd_name)(declared)
        return typer.main.get_command(one)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 - likewise
        """Their lines in the help, for which none has to be built."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(SUMMARIES.items()))


app = typer.Typer(
    cls=Commands,
    name="base-branch",
    help="Which branch does the work belong on, and how do we know?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        from candidates.versions import versions  # noqa: PLC0415 - only here

        for line in versions(dict(os.environ)):
            typer.echo(line)
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the versions of this, git, libgit2 and Python."
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print every git command and request, with its time.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Likewise, and where an error came from, as {DEBUG_VARIABLE}=1 does.")
    ] = False,
) -> None:
    del version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"
    if verbose or debug:
        from candidates.tracing import trace  # noqa: PLC0415 - only where it is asked for

        trace()
