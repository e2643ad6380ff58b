"""The options that several commands share, each declared once; and what a command is handed of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

HERE = Path()

LOOKING = tuple("remote project_key timeout refresh".split())
"""The parameters that say where to look and how much."""

SETTINGS = tuple(
    """
    derive_floor default_order multiple_versions on_conflict resolve_order branch_ttl_days max_candidates work_prefixes
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
    typer.Option("--derive-floor", metavar="SHARE", help="Derive nothing where the kept backtest is below."),
]
OrderOption = Annotated[
    str | None,
    typer.Option("--default-order", metavar="PATTERNS", help="Branches of the default rule, comma separated, or seed."),
]
SeveralOption = Annotated[
    str | None,
    typer.Option("--multiple-versions", metavar="POLICY", help="ambiguous, lowest, highest or development."),
]
ConflictOption = Annotated[
    str | None,
    typer.Option("--on-conflict", metavar="POLICY", help="Memory against evidence: remembered, derived or ask."),
]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--resolve-order",
        metavar="RULES",
        help="remembered, derived, default, comma separated: which and in which order.",
    ),
]
TtlOption = Annotated[
    int | None, typer.Option("--branch-ttl-days", metavar="DAYS", help="How long a remembered choice counts; 15.")
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
    str | None, typer.Option("--refresh", metavar="HOW", help="probe, needed, all or none; needed unless set.")
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
        help="Explain a saved bundle, a decision or a state file (-: standard input) instead.",
    ),
]
SaveOption = Annotated[
    Path | None, typer.Option("--save-bundle", metavar="FILE", help="Also write the facts, for explain, rank and diff.")
]
WhyOption = Annotated[
    str | None, typer.Option("--why", metavar="BRANCH", help="Say in a few sentences why this branch is where it is.")
]
WhyNotOption = Annotated[
    str | None,
    typer.Option("--why-not", metavar="BRANCH", help="Say why this branch is not the answer, and what would."),
]
MarkdownFlag = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for an issue or a pull request.")]
MermaidFlag = Annotated[bool, typer.Option("--mermaid", help="Print a Mermaid picture, likewise.")]
HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html", metavar="FILE", help="Write one self-contained page, with a picture of the lines over time."
    ),
]
FetchFailureOption = Annotated[
    str | None, typer.Option("--on-fetch-failure", metavar="POLICY", help="ask, retry, cached, local or abort.")
]
PickerOption = Annotated[
    str | None,
    typer.Option("--picker", metavar="HOST", help="Print questions as a host asks them: claude, pi, orc or json."),
]
LanguageOption = Annotated[
    str | None, typer.Option("--language", metavar="LANGUAGE", help="en, tr, or a FILE.toml with a language of yours.")
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
    Path | None, typer.Option("--stage", metavar="FILE", help="Factory mode: what was decided; /in/stage.json.")
]
ResultOption = Annotated[
    Path | None, typer.Option("--result", metavar="FILE", help="Factory mode: the outcome; /out/result.json.")
]
DecisionOption = Annotated[
    list[str] | None,
    typer.Option("--decision", metavar="KEY=VALUE", help="Factory mode: base-branch, remote or fetch-failed."),
]
