"""`remember`, `forget` and `recent`, as they are called."""

from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, flags_of


def remember_command(
    context: typer.Context,
    branch: Annotated[str, typer.Argument(help="The branch that was chosen.", autocompletion=options.complete_branch)],
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    timeout: options.TimeoutOption = None,
) -> None:
    """Remember a choice for this project; the remote must list the branch."""
    from candidates.commands.memory import remember  # noqa: PLC0415 - when it is to be done

    remember(path, flags_of(context, *LOOKING), branch)


def forget_command(
    context: typer.Context,
    branch: Annotated[
        str | None,
        typer.Argument(
            help="The branch to forget; without one, all of this project's.",
            autocompletion=options.complete_remembered,
        ),
    ] = None,
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
) -> None:
    """Forget a remembered choice of this project, or all of them."""
    from candidates.commands.memory import forget  # noqa: PLC0415 - when it is to be done

    forget(path, flags_of(context, *LOOKING), branch)


def recent_command(
    context: typer.Context,
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Show the remembered choices of this project, newest first."""
    from candidates.commands.memory import recent  # noqa: PLC0415 - when it is to be done

    recent(path, flags_of(context, *LOOKING), as_json=as_json)
