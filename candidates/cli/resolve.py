"""`resolve`, as it is called."""

from pathlib import Path
from typing import Annotated

import typer

from candidates.cli import options
from candidates.cli.options import HERE, LOOKING, SETTINGS, flags_of, leave

POLICY = tuple("on_fetch_failure autonomy autopilot issue_optional ask_on_issue".split())
"""The parameters that say what is done where the answer is not plain."""


def resolve_command(
    context: typer.Context,
    paths: options.PathsArgument = None,
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
    on_fetch_failure: options.FetchFailureOption = None,
    autonomy: Annotated[
        str | None,
        typer.Option(
            "--autonomy",
            metavar="LEVEL",
            help="Who decides: manual, guided or full; manual unless set.",
            autocompletion=options.one_of("autonomy"),
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="BRANCH",
            help="The branch that is chosen already: checked, kept.",
            autocompletion=options.complete_branch,
        ),
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="Record the decision in a run's state file.")
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option("--bundle", metavar="FILE", help="Decide from a saved bundle (-: standard input); touch nothing."),
    ] = None,
    save_bundle: options.SaveOption = None,
    picker: options.PickerOption = None,
    language: options.LanguageOption = None,
    page: options.PageOption = None,
    step: options.StepOption = None,
    preview_dir: options.PreviewOption = None,
    answers: Annotated[
        str | None,
        typer.Option(
            "--answers",
            metavar="FILE",
            help="What a person answered, by repository: {ROOT: {remote, fetch-failed, base-branch}}.",
        ),
    ] = None,
    stage: options.StageOption = None,
    result: options.ResultOption = None,
    decision: options.DecisionOption = None,
    *,
    interactive: options.InteractiveFlag = False,
    factory: options.FactoryFlag = False,
    state_patch: Annotated[
        bool,
        typer.Option(
            "--state-patch",
            help="Write no state: the decision printed has the JSON merge patch of --state as its key statePatch.",
        ),
    ] = False,
    autopilot: options.AutopilotFlag = False,
    issue_optional: Annotated[
        bool, typer.Option("--issue-optional", help="Go on where the issue cannot be read.")
    ] = False,
    ask_on_issue: options.AskOnIssueFlag = False,
    siblings: Annotated[
        bool, typer.Option("--siblings", help="Also the submodules, and the repositories of the preferences.")
    ] = False,
) -> None:
    """Print the decision: the branch, where it stands in this clone, and every reason.

    Without --autopilot nothing is decided: the question is printed, and the exit code is 3. Standard output is one
    JSON document in every case, printed after the state was written.
    """
    from candidates.commands.resolve import (  # noqa: PLC0415 - when it is to be done
        ResolveOptions,
        replay_bundle,
        resolve,
    )
    from candidates.commands.session import options_of  # noqa: PLC0415 - when it is to be done

    flags = flags_of(context, *LOOKING, *SETTINGS, *POLICY)
    if bundle is not None:
        rest = set(context.params) - {"paths", "bundle", "base"}
        leave(replay_bundle(bundle, flags | flags_of(context, *rest) | {"PATH": paths}, base))
    else:
        leave(resolve(options_of(ResolveOptions, context.params), flags))


def resume_command(
    context: typer.Context,
    state: options.StateOption,
    path: options.PathArgument = HERE,
    issue: options.IssueOption = None,
    issue_version: options.VersionOption = None,
    remote: options.RemoteOption = None,
    project_key: options.KeyOption = None,
    timeout: options.TimeoutOption = None,
    refresh: options.RefreshOption = None,
    on_fetch_failure: options.FetchFailureOption = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="BRANCH", help="The branch that was answered.", autocompletion=options.complete_branch
        ),
    ] = None,
) -> None:
    """Go on with an unattended run that asked on its issue and waits: look again, and decide or wait on.

    The state's circuit breaker says that it waits; it is reset with the decision, and its counters stay. Without
    --issue the issue is read on which the run asked. Exit 3: the branches still tie, and nothing is asked twice.
    """
    from candidates.commands.resolve import ResolveOptions, resume  # noqa: PLC0415 - when it is to be done

    flags = flags_of(context, *LOOKING, "on_fetch_failure") | {"--autopilot": True, "--ask-on-issue": True}
    options_given = ResolveOptions(paths=[path], issue=issue, issue_version=issue_version, base=base, state=state)
    leave(resume(options_given, flags))
