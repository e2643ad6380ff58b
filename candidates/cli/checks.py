"""`probe`, `gate` and `recheck`, as they are called."""

from pathlib import Path
from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, flags_of, leave


def probe_command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The branch's name.", autocompletion=options.complete_branch)],
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    timeout: options.TimeoutOption = None,
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Say whether a branch exists, here and on the remote. Exit 0: it does; 10: it does not; 11: nobody could tell."""
    from candidates.commands.checks import probe  # noqa: PLC0415 - when it is to be done

    leave(probe(path, flags_of(context, *LOOKING), name, as_json=as_json))


def gate_command(
    file: Annotated[Path, typer.Argument(help="The run's state file.")],
    rules: Annotated[
        str,
        typer.Option(
            "--rules",
            metavar="RULES",
            help="Which evidence is accepted: any of the pipeline's schema (seed), or this program's (strict).",
        ),
    ] = "seed",
    *,
    autopilot: options.AutopilotFlag = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Refuse a state file that is not ready, with every reason at once. Exit 7: refused."""
    from candidates.commands.gate import gate  # noqa: PLC0415 - when it is to be done

    leave(gate(file, autopilot=autopilot, rules=rules, as_json=as_json))


def recheck_command(
    context: typer.Context,
    state: options.StateOption,
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    timeout: options.TimeoutOption = None,
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Before a push: ask the remote again about the recorded base. Exit 0 fresh, 12 moved, 13 gone, 11 no answer."""
    from candidates.commands.checks import recheck  # noqa: PLC0415 - when it is to be done

    leave(recheck(path, flags_of(context, *LOOKING), state, as_json=as_json))
