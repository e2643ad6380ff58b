"""The command line: typer declarations and wiring. Thin: parse, collect, decide, render."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from candidates import cli_options
from candidates.ask_on_issue import waits
from candidates.boundary import DEBUG_VARIABLE
from candidates.cli_options import HERE
from candidates.collect import Collected, RemoteUndecided
from candidates.contract import SCHEMA_NAMES, Decision, Decisions
from candidates.decide import Policy, decide, undecided_remote
from candidates.exit_codes import ExitCode
from candidates.issue_sources import IssueInput
from candidates.presenting import Presentation, read_presentation
from candidates.rank_command import rank_stream
from candidates.run import Run, advance, decide_all, find_siblings, gather, prepare, remembered_of, settle, sibling_runs
from candidates.terminal import announce, notice, print_bytes, print_record, show, with_progress
from collectors.errors import InvalidInput
from collectors.process import Deadline, Git
from ranking.facts import Facts

if TYPE_CHECKING:
    from candidates.agent_state import Refused
    from candidates.factory import Factory
    from candidates.saved import Recorded

FACTORY_VARIABLE = "ORC_FACTORY"

app = typer.Typer(
    name="base-branch",
    help="Which branch does the work belong on, and how do we know?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command("resolve")
def resolve_command(
    paths: cli_options.PathsArgument = None,
    issue: cli_options.IssueOption = None,
    issue_version: cli_options.VersionOption = None,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    timeout: cli_options.TimeoutOption = None,
    derive_floor: cli_options.FloorOption = None,
    default_order: cli_options.OrderOption = None,
    multiple_versions: cli_options.SeveralOption = None,
    on_conflict: cli_options.ConflictOption = None,
    resolve_order: cli_options.RulesOption = None,
    branch_ttl_days: cli_options.TtlOption = None,
    max_candidates: cli_options.MostOption = None,
    work_prefixes: cli_options.PrefixesOption = None,
    refresh: cli_options.RefreshOption = None,
    on_fetch_failure: cli_options.FetchFailureOption = None,
    autonomy: Annotated[
        str | None, typer.Option("--autonomy", metavar="LEVEL", help="manual, guided or full; manual unless set.")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", metavar="BRANCH", help="The branch that is chosen already: checked, kept.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option("--state", metavar="FILE", help="Record the decision in a run's state file.")
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option("--bundle", metavar="FILE", help="Decide from a saved bundle (-: standard input); touch nothing."),
    ] = None,
    save_bundle: cli_options.SaveOption = None,
    picker: cli_options.PickerOption = None,
    language: cli_options.LanguageOption = None,
    page: cli_options.PageOption = None,
    step: cli_options.StepOption = None,
    preview_dir: cli_options.PreviewOption = None,
    stage: cli_options.StageOption = None,
    result: cli_options.ResultOption = None,
    decision: cli_options.DecisionOption = None,
    *,
    interactive: cli_options.InteractiveFlag = False,
    factory: cli_options.FactoryFlag = False,
    state_patch: Annotated[
        bool,
        typer.Option(
            "--state-patch",
            help="Write no state: the decision printed has the JSON merge patch of --state as its key statePatch.",
        ),
    ] = False,
    autopilot: cli_options.AutopilotFlag = False,
    issue_optional: Annotated[
        bool, typer.Option("--issue-optional", help="Go on where the issue cannot be read.")
    ] = False,
    ask_on_issue: cli_options.AskOnIssueFlag = False,
    siblings: Annotated[
        bool, typer.Option("--siblings", help="Also the submodules, and the repositories of the preferences.")
    ] = False,
) -> None:
    """Print the decision: the branch, where it stands in this clone, and every reason.

    Without --autopilot nothing is decided: the question is printed, and the exit code is 3. Standard output is one
    JSON document in every case, printed after the state was written.
    """
    flags = _looking(remote, project_key, timeout, refresh) | {
        "--derive-floor": derive_floor,
        "--default-order": default_order,
        "--multiple-versions": multiple_versions,
        "--on-conflict": on_conflict,
        "--resolve-order": resolve_order,
        "--branch-ttl-days": branch_ttl_days,
        "--max-candidates": max_candidates,
        "--work-prefixes": work_prefixes,
        "--on-fetch-failure": on_fetch_failure,
        "--autonomy": autonomy,
        "--autopilot": autopilot,
        "--issue-optional": issue_optional or None,
        "--ask-on-issue": ask_on_issue or None,
    }
    if bundle is not None:
        own = {
            "PATH": paths,
            "--issue": issue,
            "--issue-version": issue_version,
            "--siblings": siblings,
            "--save-bundle": save_bundle,
            "--picker": picker,
            "--language": language,
            "--page": page,
            "--step": step,
            "--interactive": interactive,
            "--preview-dir": preview_dir,
            "--factory": factory or os.environ.get(FACTORY_VARIABLE) == "1",
            "--stage": stage,
            "--result": result,
            "--decision": decision,
        }
        _replay(bundle, flags | own | {"--state": state, "--state-patch": state_patch}, base)
        return
    if state_patch and any(path.is_file() for path in paths or ()):
        raise InvalidInput("--state-patch takes no value", hint="name the state with --state FILE")
    with ExitStack() as stack:
        given, now = _given(issue, issue_version), _now()
        plan = _in_factory(stack, stage, result, decision, asked=factory)
        presentation = read_presentation(picker, language, page, step, preview_dir)
        if plan is not None:
            flags, base = plan.over(flags, base, notice)
            presentation, interactive = Presentation(step=step), False
        runs = [prepare(_git(path), flags, given, now, base=base) for path in paths or [HERE]]
        runs = _keeping(runs, save_bundle, siblings=siblings)
        runs = [replace(one, policy=_policy(one, presentation, in_factory=plan is not None)) for one in runs]
        _warn(runs)
        answer, runs, code, to_keep = (_interactive if interactive and _has_terminal() else _decide)(
            runs, siblings=siblings, presentation=presentation
        )
        refused = None
        if code == ExitCode.ANSWERED or waits(answer):
            # Before anything is printed: where the state cannot be read or written, standard output stays empty.
            answer, refused = _recorded(answer, runs, state, patch=state_patch)
        if plan is not None:
            plan.report(answer, code)
        print_record(presentation.present(answer))
        if refused is not None:
            raise refused
        _remember_answer(runs[0], to_keep, answer)
    _leave(code)


@app.command("choose")
def choose_command(
    state: cli_options.StateOption,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The branch that was chosen.")] = None,
    path: cli_options.PathArgument = HERE,
    issue: cli_options.IssueOption = None,
    issue_version: cli_options.VersionOption = None,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    timeout: cli_options.TimeoutOption = None,
    on_fetch_failure: cli_options.FetchFailureOption = None,
    step: cli_options.StepOption = None,
    *,
    cancelled: Annotated[
        bool, typer.Option("--cancelled", help="No answer was given: record nothing. [PATH] stands in NAME's place.")
    ] = False,
) -> None:
    """Record what a person answered to a host's picker: `asked`, remembered, with the evidence.

    The remote's own answer has to list the branch. Without an issue the evidence that the state holds is kept. Exit
    3 with --cancelled: the question stands.
    """
    from candidates.choose import cancelled as given_up  # noqa: PLC0415 - only here
    from candidates.choose import choose_base, keep, with_evidence_of  # noqa: PLC0415 - only here
    from candidates.record import record  # noqa: PLC0415 - only where a state is asked for

    if cancelled and name is not None:
        path, name = Path(name), None
    elif not cancelled and name is None:
        raise InvalidInput(
            "neither a branch nor --cancelled", where="NAME", hint="base-branch choose NAME --state FILE"
        )
    flags = _looking(remote, project_key, timeout, "needed") | {
        "--autonomy": "manual",
        "--on-fetch-failure": on_fetch_failure,
    }
    presentation = read_presentation(None, None, None, step, None)
    run = prepare(_git(path), flags, _given(issue, issue_version), _now(), base=name)
    _warn([run])
    with _asking_for_the_remote(run, as_json=True):
        if name is None:
            print_record(presentation.present(given_up(run)))
            _leave(ExitCode.ASK)
            return
        answer, code, facts = choose_base(run, name)
    refused = None
    if code == ExitCode.ANSWERED:
        if issue is None and not issue_version:
            answer = with_evidence_of(answer, state)
        refused = record(answer, [run.top or run.git.folder.resolve()], state, run.request.now)
    print_record(presentation.present(answer))
    if refused is not None:
        raise refused
    if code == ExitCode.ANSWERED:
        for line in keep(run, facts, name):
            notice(line)
    _leave(code)


@app.command("ask")
def ask_command(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked.")],
    options: Annotated[list[str], typer.Argument(metavar="OPTION...", help="The answers.", show_default=False)],
    language: cli_options.LanguageOption = None,
) -> None:
    """Ask a person on the terminal: a numbered menu on standard error, the chosen label alone on standard output.

    ASK_CHOICE_DEFAULT, a number or a label, is marked first. Without a terminal it is taken, or else the first
    option. Exit 3: the person gave up.
    """
    from candidates.menu import DEFAULT_VARIABLE, Menu, Row, choose, read_default  # noqa: PLC0415 - only here

    words = read_presentation(None, language, None, None, None).language
    at: int | None = read_default(os.environ.get(DEFAULT_VARIABLE), options) or 0
    if _has_terminal():
        menu = Menu(question=question, rows=tuple(Row(label=label) for label in options), at=at or 0)
        at = choose(menu, os.environ.get("TERM"), words)
    if at is None:
        notice("no answer was given")
        _leave(ExitCode.ASK)
        return
    print_bytes(os.fsencode(options[at]) + b"\n")


@app.command("collect")
def collect_command(
    path: cli_options.PathArgument = HERE,
    issue: cli_options.IssueOption = None,
    issue_version: cli_options.VersionOption = None,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    timeout: cli_options.TimeoutOption = None,
    derive_floor: cli_options.FloorOption = None,
    default_order: cli_options.OrderOption = None,
    multiple_versions: cli_options.SeveralOption = None,
    on_conflict: cli_options.ConflictOption = None,
    resolve_order: cli_options.RulesOption = None,
    branch_ttl_days: cli_options.TtlOption = None,
    max_candidates: cli_options.MostOption = None,
    work_prefixes: cli_options.PrefixesOption = None,
    refresh: cli_options.RefreshOption = None,
    save_bundle: cli_options.SaveOption = None,
) -> None:
    """Print the bundle: every fact that the ranking looks at, as `base-branch rank` reads it."""
    flags = _looking(remote, project_key, timeout, refresh) | {
        "--derive-floor": derive_floor,
        "--default-order": default_order,
        "--multiple-versions": multiple_versions,
        "--on-conflict": on_conflict,
        "--resolve-order": resolve_order,
        "--branch-ttl-days": branch_ttl_days,
        "--max-candidates": max_candidates,
        "--work-prefixes": work_prefixes,
    }
    run = prepare(_git(path), flags, _given(issue, issue_version), _now(), attended=False)
    run = _keeping([run], save_bundle)[0]
    _warn([run])
    with _asking_for_the_remote(run, as_json=True):
        print_record(gather(run).facts)


@app.command("rank")
def rank_command(
    *,
    ndjson: Annotated[bool, typer.Option("--ndjson", help="Read one bundle a line; print one ranking a line.")] = False,
) -> None:
    """Rank the bundle on standard input."""
    rank_stream(sys.stdin.buffer, sys.stdout.buffer, ndjson=ndjson)


@app.command("explain")
def explain_command(
    path: cli_options.PathArgument = HERE,
    issue: cli_options.IssueOption = None,
    issue_version: cli_options.VersionOption = None,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    timeout: cli_options.TimeoutOption = None,
    derive_floor: cli_options.FloorOption = None,
    default_order: cli_options.OrderOption = None,
    multiple_versions: cli_options.SeveralOption = None,
    on_conflict: cli_options.ConflictOption = None,
    resolve_order: cli_options.RulesOption = None,
    branch_ttl_days: cli_options.TtlOption = None,
    max_candidates: cli_options.MostOption = None,
    work_prefixes: cli_options.PrefixesOption = None,
    why: cli_options.WhyOption = None,
    why_not: cli_options.WhyNotOption = None,
    bundle: cli_options.SavedOption = None,
    *,
    markdown: cli_options.MarkdownFlag = False,
    mermaid: cli_options.MermaidFlag = False,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Show a person the candidates, their evidence, who answered, and what an unattended run would do.

    Nothing is fetched and nothing is decided. --json prints what `resolve` without --autopilot prints. With --bundle no
    repository is looked at, and what the file cannot tell is said.
    """
    from candidates.explain_command import View, explain_saved, lines_of, text_of  # noqa: PLC0415 - only here

    view = View(why=why, why_not=why_not, markdown=markdown, mermaid=mermaid, as_json=as_json)
    flags = _looking(remote, project_key, timeout) | {
        "--derive-floor": derive_floor,
        "--default-order": default_order,
        "--multiple-versions": multiple_versions,
        "--on-conflict": on_conflict,
        "--resolve-order": resolve_order,
        "--branch-ttl-days": branch_ttl_days,
        "--max-candidates": max_candidates,
        "--work-prefixes": work_prefixes,
    }
    if bundle is not None:
        own = {"PATH": path if path != HERE else None, "--issue": issue, "--issue-version": issue_version}
        found: Collected | Recorded = explain_saved(bundle, sys.stdin.buffer, flags | own, view)
    else:
        flags["--refresh"] = "probe"
        run = _advanced(prepare(_git(path), flags, _given(issue, issue_version), _now(), attended=True))
        _warn([run])
        with _asking_for_the_remote(run, as_json=as_json):
            found = gather(run)
        if as_json:
            print_record(decide(found, run.policy)[0])
            return
    if markdown or mermaid:
        print_bytes(text_of(found, view))
    else:
        show(lines_of(found, view))


@app.command("diff")
def diff_command(
    before: Annotated[
        str, typer.Argument(help="A saved bundle, a decision, a state file or a ranking (-: standard input).")
    ],
    after: Annotated[str, typer.Argument(help="Another one, of a later run.")],
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Say what changed between two runs: facts, evidence, and why the answer did. Exit 0, changed or not."""
    from candidates.difference import differ, difference_lines  # noqa: PLC0415 - only here
    from candidates.saved import read_saved  # noqa: PLC0415 - only here

    if before == after == "-":
        raise InvalidInput("standard input is one record, and two are compared", hint="base-branch diff FILE -")
    found = differ(read_saved(before, sys.stdin.buffer), read_saved(after, sys.stdin.buffer))
    if as_json:
        print_record(found)
    else:
        show(difference_lines(found))


@app.command("backtest")
def backtest_command(
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Ask this repository's own history whether the ranker would have named each release tag's branch.

    Each question is asked as of the moment before the tag was made. The figure is kept: `resolve` puts it into
    its evidence. Reads this clone alone, and writes nothing but that figure.
    """
    from candidates.backtest_command import run_backtest  # noqa: PLC0415 - only here

    finished = run_backtest(_git(path), remote, project_key, _now(), lambda items: with_progress(items, "asking"))
    if as_json:
        print_bytes(finished.json)
    else:
        show(finished.lines)
    for warning in finished.warnings:
        notice(warning)
    if finished.interrupted:
        raise KeyboardInterrupt


@app.command("config")
def config_command(path: cli_options.PathArgument = HERE, *, as_json: cli_options.JsonFlag = False) -> None:
    """Show each value of the configuration with where it came from. Tokens are never shown."""
    from candidates.config_view import config_lines, view_configuration  # noqa: PLC0415 - only here

    configuration = prepare(_git(path), {}, IssueInput(), _now()).configuration
    if as_json:
        print_record(view_configuration(configuration))
    else:
        show(config_lines(configuration))


@app.command("doctor")
def doctor_command(
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    timeout: cli_options.TimeoutOption = None,
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Say what works: git, the remote, tokens, Jira, GitHub, preferences; and what to run where one does not.

    Exit 0: all that is configured works. Else the gravest: 5 set-up, 2 a wrong configuration, 4 the remote,
    6 Jira or GitHub, 3 a remote that a person must name. Standard output has the report at each of them.
    """
    from candidates.doctor import examine, health_lines  # noqa: PLC0415 - only here

    health = examine(_git(path), _looking(remote, None, timeout))
    if as_json:
        print_record(health)
    else:
        show(health_lines(health))
    _leave(health.exit_code)


@app.command("demo")
def demo_command() -> None:
    """Build a small repository with a remote in a temporary folder, and walk through three decisions."""
    from candidates.demo import run_demo  # noqa: PLC0415 - only here

    for lines in run_demo(os.environ):
        show(lines)


@app.command("schema")
def schema_command(
    name: Annotated[str, typer.Argument(help=f"{', '.join(SCHEMA_NAMES)}, state, gate, recheck, probe or recent.")],
) -> None:
    """Print the JSON Schema of what the commands read and print."""
    from candidates.schemas import schema_of  # noqa: PLC0415 - only here

    print_bytes(json.dumps(schema_of(name), indent=2).encode() + b"\n")


@app.command("remember")
def remember_command(
    branch: Annotated[str, typer.Argument(help="The branch that was chosen.")],
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    timeout: cli_options.TimeoutOption = None,
) -> None:
    """Remember a choice for this project; the remote must list the branch."""
    from candidates.memory_commands import remember_choice  # noqa: PLC0415 - only here

    run = prepare(_git(path), _looking(remote, project_key, timeout, "probe"), IssueInput(), _now(), base=branch)
    for line in remember_choice(run, branch):
        notice(line)


@app.command("forget")
def forget_command(
    branch: Annotated[str | None, typer.Argument(help="The branch; none for all of the project's.")] = None,
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
) -> None:
    """Forget a remembered choice of this project, or all of them."""
    from candidates.memory_commands import forget_choice  # noqa: PLC0415 - only here

    run = prepare(_git(path), _looking(remote, project_key), IssueInput(), _now())
    for line in forget_choice(run, branch):
        notice(line)


@app.command("recent")
def recent_command(
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    project_key: cli_options.KeyOption = None,
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Show the remembered choices of this project, newest first."""
    from candidates.memory_commands import recent_choices  # noqa: PLC0415 - only here

    run = prepare(_git(path), _looking(remote, project_key), IssueInput(), _now())
    with _asking_for_the_remote(run, as_json=as_json):
        found = recent_choices(run)
    if as_json:
        print_record(found)
    else:
        show([[("bold", f"{c.branch}"), ("", f"  {c.count}x, last on {c.last_used:%Y-%m-%d}")] for c in found.choices])
    if found.detail is not None:
        notice(found.detail)


@app.command("probe")
def probe_command(
    name: Annotated[str, typer.Argument(help="The branch's name.")],
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    timeout: cli_options.TimeoutOption = None,
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Say whether a branch exists, here and on the remote. Exit 0: it does; 10: it does not; 11: nobody could tell."""
    from candidates.probe import probe, sentence  # noqa: PLC0415 - only here

    run = prepare(_git(path), _looking(remote, None, timeout), IssueInput(), _now())
    with _asking_for_the_remote(run, as_json=as_json):
        found = probe(run.git, name, run.configuration.remote, Deadline(run.configuration.timeout))
    if as_json:
        print_record(found)
    else:
        show([[("", sentence(found))]])
    _leave(found.exit_code)


@app.command("gate")
def gate_command(
    file: Annotated[Path, typer.Argument(help="The run's state file.")],
    *,
    autopilot: cli_options.AutopilotFlag = False,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Refuse a state file that is not ready, with every reason at once. Exit 7: refused."""
    from candidates.gate import check_file  # noqa: PLC0415 - only here

    found = check_file(file, autopilot=autopilot)
    if as_json:
        print_record(found)
    else:
        show([[("green", "passed")]] if found.passed else [[("red", "refused: "), ("", r)] for r in found.reasons])
    _leave(found.exit_code)


@app.command("recheck")
def recheck_command(
    state: cli_options.StateOption,
    path: cli_options.PathArgument = HERE,
    remote: cli_options.RemoteOption = None,
    timeout: cli_options.TimeoutOption = None,
    *,
    as_json: cli_options.JsonFlag = False,
) -> None:
    """Before a push: ask the remote again about the recorded base. Exit 0 fresh, 12 moved, 13 gone, 11 no answer."""
    from candidates.agent_state import read_state, write_state  # noqa: PLC0415 - only here
    from candidates.recheck import recheck, recheck_changes, sentence  # noqa: PLC0415 - only here

    run, now = prepare(_git(path), _looking(remote, None, timeout), IssueInput(), _now()), _now()
    deadline = Deadline(run.configuration.timeout)
    with _asking_for_the_remote(run, as_json=as_json):
        found = recheck(run.git, read_state(state), deadline, now, remote=run.configuration.remote)
    if found.status == "fresh":
        write_state(state, lambda document: recheck_changes(document, found), now=now, create=False)
    if as_json:
        print_record(found)
    else:
        show([[("", sentence(found))]])
    _leave(found.exit_code)


def _version(value: bool) -> None:  # noqa: FBT001 - typer's callback
    if value:
        from candidates.versions import versions  # noqa: PLC0415 - only here

        for line in versions(_git(Path())):
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
        bool, typer.Option("-v", "--verbose", help="Print every git command and request, with its time.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help=f"Likewise, and where an error came from, as {DEBUG_VARIABLE}=1 does.")
    ] = False,
) -> None:
    del version
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"
    if verbose or debug:
        from candidates.tracing import trace  # noqa: PLC0415 - only where it is asked for

        trace()


def _looking(
    remote: str | None = None,
    project_key: str | None = None,
    timeout: float | None = None,
    refresh: str | None = None,
) -> dict[str, object]:
    """The flags that say where to look, by their names."""
    return {"--remote": remote, "--project-key": project_key, "--timeout": timeout, "--refresh": refresh}


def _given(issue: str | None, versions: list[str] | None) -> IssueInput:
    # Bytes that are no UTF-8 stand as `\\xNN`: a version that nothing has, and still JSON.
    plain = tuple(os.fsencode(name).decode("utf-8", "backslashreplace") for name in versions or ())
    return IssueInput(text=issue, versions=plain, stdin=sys.stdin.buffer)


def _git(path: Path) -> Git:
    return Git(folder=path, environ=dict(os.environ))


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _warn(runs: list[Run]) -> None:
    for warning in dict.fromkeys(w for one in runs for w in one.configuration.warnings):
        notice(warning)


@contextmanager
def _asking_for_the_remote(run: Run, *, as_json: bool, presentation: Presentation | None = None) -> Iterator[None]:
    """Where a person must name the remote: the question on standard output too, if that holds JSON."""
    try:
        yield
    except RemoteUndecided as fault:
        if as_json:
            undecided = undecided_remote(fault, run.policy.autonomy, run.policy.asking)
            print_record((presentation or Presentation()).present(undecided))
        raise


def _keeping(runs: list[Run], file: Path | None, *, siblings: bool = False) -> list[Run]:
    """The run with its facts saved as well; InvalidInput for several, which are no one bundle."""
    if file is None:
        return runs
    from candidates.saved import save_bundle  # noqa: PLC0415 - only where a bundle is saved

    if siblings or len(runs) > 1:
        raise InvalidInput("the facts of one repository make a bundle, and there are several", where="--save-bundle")
    return [replace(runs[0], keep=lambda facts: save_bundle(file, facts))]


def _decide(
    runs: list[Run], presentation: Presentation, *, siblings: bool
) -> tuple[Decision | Decisions, list[Run], ExitCode, Facts | None]:
    """The answer for one repository or for several, with the runs that it took; no facts: nobody was asked."""
    if len(runs) == 1 and not siblings:
        run = _advanced(runs[0])
        with _asking_for_the_remote(run, as_json=True, presentation=presentation):
            decision, code = settle(run)
        return decision, [run], code, None
    beside = find_siblings(runs[0], remembered_of(runs[0])) if siblings else ()
    runs = [_advanced(run) for run in (*runs, *sibling_runs(runs[0], beside))]
    several, code = decide_all(runs, beside)
    return several, runs, code, None


def _has_terminal() -> bool:
    """Whether somebody can be asked here and now; in factory mode nobody can."""
    return os.isatty(0) and os.isatty(2) and os.environ.get(FACTORY_VARIABLE) != "1"


def _policy(run: Run, presentation: Presentation, *, in_factory: bool) -> Policy:
    """The run's policy with how its questions are put; in factory mode a tie is held, and nothing is posted."""
    policy = replace(run.policy, asking=presentation.asking)
    return replace(policy, hold_ties=True, ask_on_issue=False) if in_factory else policy


def _interactive(
    runs: list[Run], presentation: Presentation, *, siblings: bool
) -> tuple[Decision | Decisions, list[Run], ExitCode, Facts | None]:
    """The answer of a person at this terminal, and the facts that confirm it (None: nobody answered)."""
    from candidates.choose import interact  # noqa: PLC0415 - only here
    from candidates.menu import pick  # noqa: PLC0415 - only here

    if siblings or len(runs) > 1:
        raise InvalidInput("one repository is asked about at a time", where="--interactive")
    if runs[0].policy.unattended:
        raise InvalidInput("an unattended run asks nobody", where="--interactive", hint="--autonomy manual")
    run = _advanced(runs[0])
    term, language = os.environ.get("TERM"), presentation.language
    decision, code, facts = interact(run, lambda question: pick(question, term, language))
    return decision, [run], code, facts


def _recorded(
    answer: Decision | Decisions, runs: list[Run], state: Path | None, *, patch: bool
) -> tuple[Decision | Decisions, Refused | None]:
    """The answer written into the state file, or with its merge patch; and why that was refused."""
    if state is None and not patch:
        return answer, None
    from candidates.record import record, with_patch  # noqa: PLC0415 - only where a state is asked for

    roots = [one.top or one.git.folder.resolve() for one in runs]
    if patch or state is None:
        return with_patch(answer, roots, state)
    return answer, record(answer, roots, state, runs[0].request.now)


def _remember_answer(run: Run, facts: Facts | None, answer: Decision | Decisions) -> None:
    """Remember what a person answered here; without facts that confirm it nobody did."""
    if facts is not None and isinstance(answer, Decision) and answer.base_branch is not None:
        from candidates.choose import keep  # noqa: PLC0415 - only where a person answered

        for line in keep(run, facts, answer.base_branch):
            notice(line)


def _in_factory(
    stack: ExitStack, stage: Path | None, result: Path | None, given: list[str] | None, *, asked: bool
) -> Factory | None:
    """Factory mode, whose result is written whatever comes; None in every other mode."""
    if not asked and os.environ.get(FACTORY_VARIABLE) != "1":
        if stage or result or given:
            raise InvalidInput("--stage, --result and --decision are factory mode's", hint="--factory")
        return None
    from candidates.factory import RESULT, STAGE, Factory, reported  # noqa: PLC0415 - only here

    plan = Factory(stage=stage or STAGE, result=result or RESULT, given=given or ())
    return stack.enter_context(reported(plan))


def _advanced(run: Run) -> Run:
    """The run as guided autonomy lets it go on; what was taken unasked is printed."""
    run, taken = advance(run)
    if taken is not None:
        announce(f"auto: {taken} - guided")
    return run


def _replay(bundle: str, flags: Mapping[str, object], base: str | None) -> None:
    from candidates.replay import Replay, replay  # noqa: PLC0415 - only here

    asked = Replay(source=bundle, stdin=sys.stdin.buffer, flags=flags, environ=dict(os.environ), base=base)
    decision, code = replay(asked)
    print_record(decision)
    _leave(code)


def _leave(code: int) -> None:
    if code:
        raise typer.Exit(int(code))
