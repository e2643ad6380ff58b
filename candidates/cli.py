"""The command line: typer declarations and wiring. Thin: parse, collect, decide, render."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from msgspec.structs import replace as altered

from candidates import __version__
from candidates.boundary import guarded
from candidates.collect import RemoteUndecided, Request, collect
from candidates.contract import SCHEMA_NAMES, encode_pretty, json_schema
from candidates.decide import decide, undecided_remote
from candidates.exit_codes import ExitCode
from candidates.explain import Line, explain
from candidates.rank_command import rank_stream
from collectors.errors import InvalidInput
from collectors.issue_file import read_issue
from collectors.process import Git
from ranking.facts import Issue, IssueVersion, Settings

app = typer.Typer(
    name="base-branch",
    help="Which branch does the work belong on, and how do we know?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

PathArgument = Annotated[Path, typer.Argument(metavar="[PATH]", help="A folder of the repository.", show_default=False)]
IssueOption = Annotated[
    str | None,
    typer.Option("--issue", metavar="FILE|-", help="The issue's facts: a JSON file, or - for standard input."),
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
    float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long the network may take.")
]
FloorOption = Annotated[
    float | None,
    typer.Option("--derive-floor", metavar="SHARE", min=0, max=1, help="Derive nothing where the backtest is below."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
HERE = Path()
SECONDS = 20.0


@app.command("resolve")
def resolve_command(
    path: PathArgument = HERE,
    issue: IssueOption = None,
    issue_version: VersionOption = None,
    remote: RemoteOption = None,
    project_key: KeyOption = None,
    timeout: TimeoutOption = SECONDS,
    derive_floor: FloorOption = None,
    *,
    autopilot: Annotated[bool, typer.Option("--autopilot", help="Decide without a person.")] = False,
    issue_optional: Annotated[
        bool, typer.Option("--issue-optional", help="Go on where the issue cannot be read.")
    ] = False,
) -> None:
    """Print the decision: the branch, where it stands in this clone, and every reason.

    Without --autopilot nothing is decided: the question is printed, and the exit code is 3.
    """
    request = _request(path, issue, issue_version, remote, project_key, timeout, derive_floor)
    try:
        collected = collect(request)
    except RemoteUndecided as fault:
        _print(encode_pretty(undecided_remote(fault, autopilot=autopilot)))
        raise
    decision, code = decide(collected, autopilot=autopilot, issue_optional=issue_optional)
    _print(encode_pretty(decision))
    if code != ExitCode.ANSWERED:
        raise typer.Exit(int(code))


@app.command("collect")
def collect_command(
    path: PathArgument = HERE,
    issue: IssueOption = None,
    issue_version: VersionOption = None,
    remote: RemoteOption = None,
    project_key: KeyOption = None,
    timeout: TimeoutOption = SECONDS,
    derive_floor: FloorOption = None,
) -> None:
    """Print the bundle: every fact that the ranking looks at, as `base-branch rank` reads it."""
    request = _request(path, issue, issue_version, remote, project_key, timeout, derive_floor)
    _print(encode_pretty(collect(request).facts))


@app.command("rank")
def rank_command(
    *,
    ndjson: Annotated[bool, typer.Option("--ndjson", help="Read one bundle a line; print one ranking a line.")] = False,
) -> None:
    """Rank the bundle on standard input."""
    rank_stream(sys.stdin.buffer, sys.stdout.buffer, ndjson=ndjson)


@app.command("explain")
def explain_command(
    path: PathArgument = HERE,
    issue: IssueOption = None,
    issue_version: VersionOption = None,
    remote: RemoteOption = None,
    project_key: KeyOption = None,
    timeout: TimeoutOption = SECONDS,
    derive_floor: FloorOption = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Show a person the candidates, their evidence, who answered, and what an unattended run would do.

    Nothing is fetched and nothing is decided. --json prints what `resolve` without --autopilot prints.
    """
    request = _request(path, issue, issue_version, remote, project_key, timeout, derive_floor, bring=False)
    collected = collect(request)
    if as_json:
        _print(encode_pretty(decide(collected, autopilot=False)[0]))
    else:
        _show(explain(collected))


@app.command("backtest")
def backtest_command(
    path: PathArgument = HERE,
    remote: RemoteOption = None,
    project_key: KeyOption = None,
    *,
    as_json: JsonFlag = False,
) -> None:
    """Ask this repository's own history whether the ranker would have named each release tag's branch.

    Each question is asked as of the moment before the tag was made. The figure is kept: `resolve` puts it into
    its evidence. Reads this clone alone, and writes nothing but that figure.
    """
    from candidates.backtest_command import run_backtest  # noqa: PLC0415 - only here

    finished = run_backtest(_git(path), remote, project_key, _now())
    if as_json:
        _print(finished.json)
    else:
        _show(finished.lines)
    for warning in finished.warnings:
        typer.echo(f"base-branch: {warning}", err=True)
    if finished.interrupted:
        raise KeyboardInterrupt


@app.command("demo")
def demo_command() -> None:
    """Build a small repository with a remote in a temporary folder, and walk through three decisions."""
    from candidates.demo import run_demo  # noqa: PLC0415 - only here

    for lines in run_demo(os.environ):
        _show(lines)


@app.command("schema")
def schema_command(name: Annotated[str, typer.Argument(help="bundle, ranking or decision.")]) -> None:
    """Print the JSON Schema of what the commands read and print."""
    if name not in SCHEMA_NAMES:
        raise InvalidInput(f"there is no schema {name!r}", hint=f"base-branch schema {'|'.join(SCHEMA_NAMES)}")
    _print(json.dumps(json_schema(name), indent=2).encode() + b"\n")


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        typer.echo(f"base-branch {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def run() -> NoReturn:
    """Run the command line and leave the process."""
    guarded(app)


def _request(
    path: Path,
    issue: str | None,
    versions: list[str] | None,
    remote: str | None,
    project_key: str | None,
    timeout: float,
    derive_floor: float | None,
    *,
    bring: bool = True,
) -> Request:
    return Request(
        git=_git(path),
        now=_now(),
        seconds=timeout,
        remote=remote,
        issue=_issue(issue, versions or []),
        project_key=project_key,
        bring=bring,
        settings=Settings(derive_floor=derive_floor),
    )


def _git(path: Path) -> Git:
    return Git(folder=path, environ=dict(os.environ))


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _issue(source: str | None, versions: list[str]) -> Issue | None:
    """The issue of the file, with the versions that were named beside it."""
    named = tuple(IssueVersion(name=name, field="fixVersions", role="fix") for name in versions)
    if source is None:
        return Issue(key="unnamed", read="answered", versions=named) if named else None
    issue = read_issue(source, sys.stdin.buffer)
    return altered(issue, versions=(*issue.versions, *named)) if named else issue


def _print(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _show(lines: Iterable[Line]) -> None:
    """Put styled lines on the screen: colours on a terminal, plain text elsewhere or with NO_COLOR."""
    from rich.console import Console  # noqa: PLC0415 - only for people
    from rich.text import Text  # noqa: PLC0415 - only for people

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text.assemble(*((text, style) for style, text in line)))
