"""The command line: its commands, each declared in `candidates.cli`, and the options before them.

Only the command that is called is loaded: for all of them typer needs longer than for the work itself.
"""

import os
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from candidates.boundary import DEBUG_VARIABLE
from candidates.cli.help import EXIT_CODES, GROUPS, epilog_of

NAMES = tuple(name for group in GROUPS.values() for name in group)


def declarations_of(name: str) -> ModuleType:
    """The module in which a command of `NAMES` is declared, as a function of its own name."""
    match name:
        case "resolve" | "resume":
            from candidates.cli import resolve  # noqa: PLC0415 - one group at a time

            return resolve
        case "choose" | "ask":
            from candidates.cli import choose  # noqa: PLC0415 - likewise

            return choose
        case "remember" | "forget" | "recent":
            from candidates.cli import memory  # noqa: PLC0415 - likewise

            return memory
        case "probe" | "gate" | "recheck":
            from candidates.cli import checks  # noqa: PLC0415 - likewise

            return checks
        case "config" | "doctor" | "demo" | "schema":
            from candidates.cli import setup  # noqa: PLC0415 - likewise

            return setup
        case _:
            from candidates.cli import explain  # noqa: PLC0415 - likewise

            return explain


class Commands(TyperGroup):
    """The commands, each loaded and built when it is asked for."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - whatever typer hands over
        """With the names alone, from which typer lists the commands and proposes near ones."""
        super().__init__(**attributes | {"commands": dict.fromkeys(NAMES)})

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401 - click's types have no public name in typer
        """The one that is called; None where there is none of this name."""
        del ctx
        if cmd_name not in NAMES:
            return None
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
        declared: Callable[..., None] = vars(declarations_of(cmd_name))[f"{cmd_name}_command"]
        one.command(cmd_name, epilog=epilog_of(cmd_name))(declared)
        return typer.main.get_command(one)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:  # type: ignore[override]  # noqa: ANN401 - likewise
        """Their lines in the help, for which none has to be built."""
        del ctx
        width = max(map(len, NAMES))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{width}}", line) for name, line in commands.items()])


app = typer.Typer(
    cls=Commands,
    name="base-branch",
    help="Which branch does the work belong on, and how do we know?",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        from candidates.commands.versions import versions  # noqa: PLC0415 - only here

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
        bool,
        typer.Option("-v", "--verbose", help="Print every git command and request, with its time, on standard error."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"As --verbose, and where an error came from, as {DEBUG_VARIABLE}=1 does.")
    ] = False,
) -> None:
    del version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"
    if verbose or debug:
        from candidates.cli.tracing import trace  # noqa: PLC0415 - only where it is asked for

        trace()
