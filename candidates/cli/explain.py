"""`explain`, `runs`, `collect`, `diff`, `rank` and `backtest`, as they are called."""

import sys
from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, SETTINGS, flags_of


def explain_command(
    context: typer.Context,
    path: options.PathArgument = HERE,
    issue: options.IssueOption = None,
    issue_version: options.VersionOption = None,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    timeout: options.TimeoutOption = None,
    derive_floor: options.FloorOption = None,
    derive_at: options.DeriveAtOption = None,
    default_order: options.OrderOption = None,
    multiple_versions: options.SeveralOption = None,
    on_conflict: options.ConflictOption = None,
    resolve_order: options.RulesOption = None,
    branch_ttl_days: options.TtlOption = None,
    max_candidates: options.MostOption = None,
    work_prefixes: options.PrefixesOption = None,
    why: options.WhyOption = None,
    why_not: options.WhyNotOption = None,
    bundle: options.SavedOption = None,
    html: options.HtmlOption = None,
    *,
    markdown: options.MarkdownFlag = False,
    mermaid: options.MermaidFlag = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show a person the candidates, their evidence, who answered, and what an unattended run would do.

    Nothing is fetched and nothing is decided. --json prints what `resolve` without --autopilot prints. With --bundle no
    repository is looked at, and what the file cannot tell is said.
    """
    from candidates.commands.explain import (  # noqa: PLC0415 - when it is to be done
        View,
        explain,
        explain_saved,
    )
    from candidates.commands.session import given_issue  # noqa: PLC0415 - when it is to be done

    flags = flags_of(context, *LOOKING, *SETTINGS)
    view = View(why=why, why_not=why_not, markdown=markdown, mermaid=mermaid, html=html, as_json=as_json)
    if bundle is None:
        explain(path, flags, given_issue(issue, issue_version), view)
    else:
        given = {"PATH": path if path != HERE else None} | flags_of(context, "issue", "issue_version")
        explain_saved(bundle, flags | given, view)


def collect_command(
    context: typer.Context,
    path: options.PathArgument = HERE,
    issue: options.IssueOption = None,
    issue_version: options.VersionOption = None,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    timeout: options.TimeoutOption = None,
    derive_floor: options.FloorOption = None,
    derive_at: options.DeriveAtOption = None,
    default_order: options.OrderOption = None,
    multiple_versions: options.SeveralOption = None,
    on_conflict: options.ConflictOption = None,
    resolve_order: options.RulesOption = None,
    branch_ttl_days: options.TtlOption = None,
    max_candidates: options.MostOption = None,
    work_prefixes: options.PrefixesOption = None,
    refresh: options.RefreshOption = None,
    save_bundle: options.SaveOption = None,
) -> None:
    """Print the bundle: every fact that the ranking looks at, as `base-branch rank` reads it."""
    from candidates.commands.collect import collect  # noqa: PLC0415 - when it is to be done
    from candidates.commands.session import given_issue  # noqa: PLC0415 - when it is to be done

    collect(path, flags_of(context, *LOOKING, *SETTINGS), given_issue(issue, issue_version), save_bundle)


def diff_command(
    before: Annotated[
        str, typer.Argument(help="A saved bundle, a decision, a state file or a ranking (-: standard input).")
    ],
    after: Annotated[str, typer.Argument(help="Another of these, of a later run.")],
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Say what changed between two runs: facts, evidence, and why the answer did. Exit 0, changed or not."""
    from candidates.commands.diff import diff  # noqa: PLC0415 - when it is to be done

    diff(before, after, as_json=as_json)


def rank_command(
    *,
    ndjson: Annotated[bool, typer.Option("--ndjson", help="Read one bundle a line; print one ranking a line.")] = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add how likely the first candidate is right, from 0 to 1.")
    ] = False,
) -> None:
    """Rank the bundle on standard input."""
    from candidates.commands.rank import rank_stream  # noqa: PLC0415 - when it is to be done

    rank_stream(sys.stdin.buffer, sys.stdout.buffer, ndjson=ndjson, confidence=confidence)


def candidates_command(
    issue: Annotated[
        str | None, typer.Option("--issue", metavar="FILE", help="The issue: our record, or Jira's or GitHub's JSON.")
    ] = None,
    issue_version: options.VersionOption = None,
    remote: Annotated[
        str, typer.Option("--remote", metavar="NAME", help="The remote whose name precedes the branches.")
    ] = "origin",
    provenance: Annotated[
        str,
        typer.Option("--provenance", metavar="WHOSE", help="Whose list: remote, or local after a failed fetch."),
    ] = "remote",
) -> None:
    """Rank a list of branches on standard input: lines of `git branch -r`, or a JSON list. Prints the evidence record.

    Pure: no repository, no remote, no store is read.
    """
    from candidates.commands.candidates import candidates  # noqa: PLC0415 - when it is to be done

    candidates(issue, issue_version or [], remote, provenance)


def backtest_command(
    path: options.PathArgument = HERE,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    *,
    as_json: options.JsonFlag = False,
) -> None:
    """Ask this repository's own history whether the ranker would have named each release tag's branch.

    Each question is asked as of the moment before the tag was made. The figure is kept: `resolve` puts it into
    its evidence. Reads this clone alone, and writes nothing but that figure.
    """
    from candidates.commands.backtest import backtest  # noqa: PLC0415 - when it is to be done

    backtest(path, remote, project_key, as_json=as_json)


def runs_command(
    run_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="The run to explain again.", autocompletion=options.complete_run),
    ] = None,
    why: options.WhyOption = None,
    why_not: options.WhyNotOption = None,
    save_bundle: options.SaveOption = None,
    html: options.HtmlOption = None,
    *,
    markdown: options.MarkdownFlag = False,
    mermaid: options.MermaidFlag = False,
    as_json: options.JsonFlag = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove every kept run.")] = False,
) -> None:
    """List the last runs of `resolve` and `choose`, newest first; with an ID, explain that run again.

    Each keeps its facts on this machine. Of an ID its beginning is enough, where no other run begins so.
    """
    from candidates.commands.explain import View  # noqa: PLC0415 - when it is to be done
    from candidates.commands.runs import runs  # noqa: PLC0415 - when it is to be done

    view = View(why=why, why_not=why_not, markdown=markdown, mermaid=mermaid, html=html, as_json=as_json)
    runs(run_id, view, save_bundle, clear=clear)
