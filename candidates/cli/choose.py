"""`choose` and `ask`, as they are called."""

from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, flags_of, leave


def choose_command(
    context: typer.Context,
    state: options.StateOption,
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The branch that was chosen.", autocompletion=options.complete_branch),
    ] = None,
    path: options.PathArgument = HERE,
    issue: options.IssueOption = None,
    issue_version: options.VersionOption = None,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    timeout: options.TimeoutOption = None,
    on_fetch_failure: options.FetchFailureOption = None,
    step: options.StepOption = None,
    *,
    cancelled: Annotated[
        bool, typer.Option("--cancelled", help="No answer was given: record nothing. [PATH] stands in NAME's place.")
    ] = False,
) -> None:
    """Record what a person answered to a host's picker: `asked`, remembered, with the evidence.

    The remote's own answer has to list the branch. Without an issue the evidence that the state holds is kept. Exit
    3 with --cancelled: the question stands.
    """
    from candidates.commands.choose import ChooseOptions, choose  # noqa: PLC0415 - when it is to be done
    from candidates.commands.session import options_of  # noqa: PLC0415 - when it is to be done

    flags = flags_of(context, *LOOKING, "on_fetch_failure")
    leave(choose(options_of(ChooseOptions, context.params), flags))


def ask_command(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked.")],
    answers: Annotated[list[str], typer.Argument(metavar="OPTION...", help="The answers.", show_default=False)],
    language: options.LanguageOption = None,
) -> None:
    """Ask a person on the terminal: a numbered menu on standard error, the chosen label alone on standard output.

    ASK_CHOICE_DEFAULT, a number or a label, is taken without asking. Without a terminal the first option is. Exit 3:
    the person gave up.
    """
    from candidates.commands.choose import ask  # noqa: PLC0415 - when it is to be done

    leave(ask(question, answers, language))
