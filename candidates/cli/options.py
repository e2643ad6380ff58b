"""The options that several commands share, each declared once; and what a command is handed of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

HERE = Path()

LOOKING = tuple("remote project_key timeout refresh".split())
"""The parameters that say where to look and how much."""

SETTINGS = tuple(
    """
    derive_floor derive_at default_order multiple_versions on_conflict resolve_order branch_ttl_days max_candidates
    work_prefixes
    """.split()
)
"""The parameters that say how it is ranked and resolved."""


def flags_of(context: typer.Context, *names: str) -> dict[str, object]:
    """What was given for these parameters, by the option's name (None: nothing), as far as the command has them."""
    given = {name: context.params[name] for name in names if name in context.params}
    return {f"--{name.replace('_', '-')}": None if value is False else value for name, value in given.items()}


def leave(code: int) -> None:
    """End the command with this exit code."""
    if code:
        raise typer.Exit(int(code))


# --- what a shell is offered ---

# How a shell asks: by `_BASE_BRANCH_COMPLETE`, or with the name of a link to the program in it.
_ASKED_BY_A_SHELL = any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ)


def to_a_shell(complete: Callable[..., list[str]]) -> Callable[..., list[str]] | None:
    """Nothing in any other run: typer would look at each."""
    return complete if _ASKED_BY_A_SHELL else None


@to_a_shell
def complete_branch(ctx: typer.Context, incomplete: str) -> list[str]:
    """Branches of the clone in the current folder: of a line that ends in an option [PATH] is not read yet."""
    from candidates.commands.completion import branch_names  # noqa: PLC0415 - only for a shell

    names = branch_names(HERE, os.environ, ctx.params.get("remote"))
    return [name for name in names if name.startswith(incomplete)]


@to_a_shell
def complete_remembered(incomplete: str) -> list[str]:
    """Branches that are remembered."""
    from candidates.commands.completion import remembered_names  # noqa: PLC0415 - only for a shell

    return [name for name in remembered_names(HERE, os.environ) if name.startswith(incomplete)]


@to_a_shell
def complete_run(incomplete: str) -> list[str]:
    """Kept runs."""
    from candidates.commands.completion import run_ids  # noqa: PLC0415 - only for a shell

    return [run_id for run_id in run_ids(os.environ) if run_id.startswith(incomplete)]


def one_of(key: str) -> Callable[..., list[str]] | None:
    """The words that a key of the configuration takes."""

    @to_a_shell
    def complete(incomplete: str) -> list[str]:
        from candidates.commands.completion import words_of  # noqa: PLC0415 - only for a shell

        return [word for word in words_of(key) if word.startswith(incomplete)]

    return complete


# --- the options ---


PathArgument = Annotated[Path, typer.Argument(metavar="[PATH]", help="A folder of the repository.", show_default=False)]
PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[PATH]...", help="Folders of repositories, the main one first.", show_default=False),
]
IssueOption = Annotated[
    str | None,
    typer.Option(
        "--issue", metavar="ISSUE", help="PROJ-123, owner/repo#12, #12, a Jira or GitHub URL, a JSON file, or -."
    ),
]
VersionOption = Annotated[
    list[str] | None,
    typer.Option("--issue-version", metavar="VERSION", help="A fix version of the issue; may be repeated."),
]
RemoteOption = Annotated[
    str | None, typer.Option("--remote", metavar="NAME", help="The remote that holds the release lines.")
]
KeyOption = Annotated[
    str | None,
    typer.Option("--project-key", metavar="KEY", help="Whose memory counts; else the remote's owner/name."),
]
TimeoutOption = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="How long the network may take; 20 unless set.")
]
FloorOption = Annotated[
    float | None,
    typer.Option(
        "--derive-floor", metavar="SHARE", help="Derive nothing where the kept backtest is below this share, 0 to 1."
    ),
]
DeriveAtOption = Annotated[
    float | None,
    typer.Option(
        "--derive-at", metavar="CONFIDENCE", help="Derive nothing with less confidence, 0 to 1; 0.75 unless set."
    ),
]
OrderOption = Annotated[
    str | None,
    typer.Option("--default-order", metavar="PATTERNS", help="Branches of the default rule, comma separated, or seed."),
]
SeveralOption = Annotated[
    str | None,
    typer.Option(
        "--multiple-versions",
        metavar="POLICY",
        help="What several fix versions mean: ambiguous, lowest, highest or development.",
        autocompletion=one_of("multipleVersions"),
    ),
]
ConflictOption = Annotated[
    str | None,
    typer.Option(
        "--on-conflict",
        metavar="POLICY",
        help="Memory against evidence: remembered, derived or ask.",
        autocompletion=one_of("onConflict"),
    ),
]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--resolve-order",
        metavar="RULES",
        help="The rules in their order, comma separated: remembered, derived, default.",
    ),
]
TtlOption = Annotated[
    int | None,
    typer.Option("--branch-ttl-days", metavar="DAYS", help="How many days a remembered choice counts; 15 unless set."),
]
MostOption = Annotated[
    int | None, typer.Option("--max-candidates", metavar="N", help="How many candidates are listed; 50 unless set.")
]
PrefixesOption = Annotated[
    str | None,
    typer.Option(
        "--work-prefixes", metavar="PREFIXES", help="Prefixes of work branches, comma separated, instead of the usual."
    ),
]
RefreshOption = Annotated[
    str | None,
    typer.Option(
        "--refresh",
        metavar="HOW",
        help="What is asked and fetched: needed (unless set), probe, all or none.",
        autocompletion=one_of("refresh"),
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AutopilotFlag = Annotated[bool, typer.Option("--autopilot", help="Decide without a person.")]
AskOnIssueFlag = Annotated[
    bool, typer.Option("--ask-on-issue", help="Where branches tie without a person: ask once on the issue, and wait.")
]
StateOption = Annotated[Path, typer.Option("--state", metavar="FILE", help="The run's state file.")]
SavedOption = Annotated[
    str | None,
    typer.Option(
        "--bundle",
        metavar="FILE",
        help="Explain a saved bundle, a decision, a state file or a ranking (-: standard input) instead.",
    ),
]
SaveOption = Annotated[
    Path | None, typer.Option("--save-bundle", metavar="FILE", help="Also write the facts, for explain, rank and diff.")
]
WhyOption = Annotated[
    str | None,
    typer.Option(
        "--why",
        metavar="BRANCH",
        help="Say in a few sentences why this branch is where it is.",
        autocompletion=complete_branch,
    ),
]
WhyNotOption = Annotated[
    str | None,
    typer.Option(
        "--why-not",
        metavar="BRANCH",
        help="Say why this branch is not the answer, and what would.",
        autocompletion=complete_branch,
    ),
]
MarkdownFlag = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for an issue or a pull request.")]
MermaidFlag = Annotated[
    bool, typer.Option("--mermaid", help="Print a Mermaid diagram, for an issue or a pull request.")
]
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write one self-contained page, with a picture of the lines over time."
    ),
]
FetchFailureOption = Annotated[
    str | None,
    typer.Option(
        "--on-fetch-failure",
        metavar="POLICY",
        help="Where the remote does not answer: ask, retry, cached, local or abort.",
        autocompletion=one_of("onFetchFailure"),
    ),
]
PickerOption = Annotated[
    str | None,
    typer.Option("--picker", metavar="HOST", help="Print questions as a host asks them: claude, pi, orc or json."),
]
LanguageOption = Annotated[
    str | None,
    typer.Option("--language", metavar="LANGUAGE", help="The language of questions: en or tr."),
]
PageOption = Annotated[
    int | None, typer.Option("--page", metavar="N", help="Which page of a question's options; the last leads to more.")
]
StepOption = Annotated[
    str | None, typer.Option("--step", metavar="N/M", help="Where the caller stands, for the breadcrumb: 3/5, or 3.")
]
PreviewOption = Annotated[
    Path | None, typer.Option("--preview-dir", metavar="FOLDER", help="Where previews of more than 60 lines go.")
]
InteractiveFlag = Annotated[
    bool, typer.Option("--interactive", help="Ask here, where there is a terminal; the answer is remembered.")
]
FactoryFlag = Annotated[
    bool, typer.Option("--factory", help="Nobody can be asked: the outcome goes to --result. Also ORC_FACTORY=1.")
]
StageOption = Annotated[
    Path | None,
    typer.Option("--stage", metavar="FILE", help="Factory mode: what was decided before; /in/stage.json unless set."),
]
ResultOption = Annotated[
    Path | None,
    typer.Option("--result", metavar="FILE", help="Factory mode: where the outcome goes; /out/result.json unless set."),
]
DecisionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--decision",
        metavar="KEY=VALUE",
        help="Factory mode: what was decided before, for base-branch, remote or fetch-failed.",
    ),
]
