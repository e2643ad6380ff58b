"""`config`, `doctor`, `demo` and `schema`, as they are called."""

from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, flags_of, leave, to_a_shell

SCHEMAS = tuple("bundle ranking decision decisions state preferences gate recheck probe recent picker runs run".split())


@to_a_shell
def complete_schema(incomplete: str) -> list[str]:
    """The schemas by their names."""
    return [name for name in SCHEMAS if name.startswith(incomplete)]


def config_command(path: options.PathArgument = HERE, *, as_json: options.JsonFlag = False) -> None:
    """Show each value of the configuration with where it came from. Tokens are never shown."""
    from candidates.commands.setup import config  # noqa: PLC0415 - when it is to be done

    config(path, as_json=as_json)


def doctor_command(
    context: typer.Context,
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    timeout: options.TimeoutOption = None,
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Say what works: git, the remote, tokens, Jira, GitHub, preferences; and what to run where one does not.

    Exit 0: all that is configured works. Else the gravest: 5 set-up, 2 a wrong configuration, 4 the remote,
    6 Jira or GitHub, 3 a remote that a person must name. Standard output has the report at each of them.
    """
    from candidates.commands.doctor import doctor  # noqa: PLC0415 - when it is to be done

    leave(doctor(path, flags_of(context, *LOOKING), as_json=as_json))


def demo_command() -> None:
    """Build a small repository with a remote in a temporary folder, and walk through three decisions."""
    from candidates.commands.demo import demo  # noqa: PLC0415 - when it is to be done

    demo()


def schema_command(
    name: Annotated[
        str, typer.Argument(help=f"{', '.join(SCHEMAS[:-1])} or {SCHEMAS[-1]}.", autocompletion=complete_schema)
    ],
) -> None:
    """Print the JSON Schema of what the commands read and print."""
    from candidates.commands.setup import schema  # noqa: PLC0415 - when it is to be done

    schema(name)
