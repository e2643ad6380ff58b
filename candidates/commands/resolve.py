"""`resolve`: one repository or several, decided, recorded and printed."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from candidates.commands.session import advanced, asking_for_the_remote, git_at, given_issue, keeping, now, warn
from candidates.contract import AnyDecision, Decision
from candidates.exit_codes import ExitCode
from candidates.questions.presentation import Presentation, read_presentation
from candidates.run.decide import Policy
from candidates.run.issue_comment import is_waiting, waits
from candidates.run.run import Run, decide_all, find_siblings, prepare, remembered_of, settle, sibling_runs
from candidates.runs.journal import journal
from candidates.state_file import read_state, target_asked
from candidates.terminal import has_terminal, notice, print_record
from collectors.errors import InvalidInput
from ranking.facts import Facts
from ranking.names import printable

if TYPE_CHECKING:
    from candidates.run.factory import Factory
    from candidates.state_file import Refused

FACTORY_VARIABLE = "ORC_FACTORY"

_Settled = tuple[AnyDecision, list[Run], ExitCode, Facts | None]
"""The answer, the runs that it took, the exit code; and the facts that confirm what a person answered, if one did."""


class ResolveOptions(Struct, frozen=True, kw_only=True):
    """The options of `resolve` that are not configuration, by the names of the command line."""

    paths: list[Path] | None
    issue: str | None = None
    issue_version: list[str] | None = None
    base: str | None = None
    state: Path | None = None
    state_patch: bool = False
    save_bundle: Path | None = None
    siblings: bool = False
    interactive: bool = False
    picker: str | None = None
    language: str | None = None
    page: int | None = None
    step: str | None = None
    preview_dir: Path | None = None
    factory: bool = False
    stage: Path | None = None
    result: Path | None = None
    decision: list[str] | None = None
    answers: str | None = None


def resolve(options: ResolveOptions, flags: Mapping[str, object]) -> ExitCode:
    """Decide, record where a state is named, print. Nothing is printed where the state cannot be read or written.

    `flags`: the options that are configuration.
    """
    paths, given = options.paths or [Path()], given_issue(options.issue, options.issue_version)
    if options.state_patch and any(path.is_file() for path in paths):
        raise InvalidInput("--state-patch takes no value", hint="name the state with --state FILE")
    # The journal is closed last: what becomes of the result file is part of how the run ended.
    with journal("resolve", datetime.now(UTC), notice) as taken, ExitStack() as stack:
        moment = now()
        plan = _in_factory(stack, options)
        presentation = read_presentation(
            options.picker, options.language, options.page, options.step, options.preview_dir
        )
        base, interactive = options.base, options.interactive
        if plan is not None:
            flags, base = plan.over(flags, base, notice)
            presentation, interactive = Presentation(step=options.step), False
        if options.save_bundle is not None and (options.siblings or len(paths) > 1):
            raise InvalidInput(
                "the facts of one repository make a bundle, and there are several",
                where="--save-bundle",
                hint="base-branch resolve PATH --save-bundle FILE, for each by itself",
            )
        runs = [prepare(git_at(path), flags, given, moment, base=base) for path in paths]
        runs = [keeping(one, options.save_bundle) for one in runs]
        runs = [replace(one, policy=_policy(one, presentation, in_factory=plan is not None)) for one in runs]
        warn(runs)
        runs = taken.watch(runs)
        if interactive and has_terminal() and not _factory_is_set():
            answer, runs, code, to_keep = _interactive(runs, presentation, siblings=options.siblings)
        else:
            answer, runs, code, to_keep = _decide(runs, presentation, options)
        refused = None
        if code == ExitCode.ANSWERED or waits(answer) or (code == ExitCode.ASK and options.siblings):
            answer, refused = _recorded(answer, runs, options)
        taken.note(answer, runs, code)
        if plan is not None:
            plan.report(answer, code)
        print_record(presentation.present(answer))
        if refused is not None:
            raise refused
        remember_answer(runs[0], to_keep, answer)
    return code


def resume(options: ResolveOptions, flags: Mapping[str, object]) -> ExitCode:
    """Go on with a run that waits for the answer to its question. Raises InvalidInput if the state's run does not."""
    assert options.state is not None  # noqa: S101 - the command requires it
    state = read_state(options.state)
    if not is_waiting(state):
        raise InvalidInput(
            f"the run of {options.state} does not wait for an answer on its issue",
            where="circuitBreaker",
            hint="base-branch resolve --autopilot --state FILE",
        )
    if options.issue is None and not options.issue_version:
        options = replace(options, issue=target_asked(state))
    return resolve(options, flags)


def replay_bundle(bundle: str, flags: Mapping[str, object], base: str | None) -> ExitCode:
    """Decide from a saved bundle. InvalidInput for every flag that has no say in it."""
    from candidates.run.replay import Replay, replay  # noqa: PLC0415 - only for --bundle

    flags = dict(flags) | {"--factory": flags.get("--factory") or _factory_is_set()}
    decision, code = replay(
        Replay(source=bundle, stdin=sys.stdin.buffer, flags=flags, environ=dict(os.environ), base=base)
    )
    print_record(decision)
    return code


def _factory_is_set() -> bool:
    """Whether the environment says that nobody can be asked."""
    return os.environ.get(FACTORY_VARIABLE) == "1"


def _in_factory(stack: ExitStack, options: ResolveOptions) -> Factory | None:
    """Factory mode, whose result is written when the stack closes; None in every other mode."""
    if not options.factory and not _factory_is_set():
        if options.stage or options.result or options.decision:
            raise InvalidInput(
                "--stage, --result and --decision are factory mode's", hint="base-branch resolve --factory"
            )
        return None
    from candidates.run.factory import RESULT, STAGE, Factory, reported  # noqa: PLC0415 - only in factory mode

    plan = Factory(stage=options.stage or STAGE, result=options.result or RESULT, given=options.decision or ())
    return stack.enter_context(reported(plan))


def _policy(run: Run, presentation: Presentation, *, in_factory: bool) -> Policy:
    """The run's policy with how its questions are put; in factory mode a tie is held, and nothing is posted."""
    policy = replace(run.policy, asking=presentation.asking)
    return replace(policy, hold_ties=True, ask_on_issue=False) if in_factory else policy


def _told(runs: list[Run], options: ResolveOptions) -> list[Run]:
    """The runs with what a person said before: the answers of this call, then the bases that the state holds."""
    if options.answers is not None:
        from candidates.run.answers_file import read_answers, with_answers  # noqa: PLC0415 - only with --answers

        runs = with_answers(runs, read_answers(options.answers, sys.stdin.buffer))
    return _keeping_bases(runs, options.state) if options.state is not None else runs


def _keeping_bases(runs: list[Run], state: Path) -> list[Run]:
    """The runs with the bases that a person chose before, which no later run replaces."""
    from candidates.run.record import kept_bases  # noqa: PLC0415 - only where a state is named

    kept = []
    for run, held in zip(runs, kept_bases(state, [run.root for run in runs]), strict=True):
        if held is None or run.policy.base is not None:
            kept.append(run)
            continue
        branch, source = held
        notice(f"{printable(branch)} is kept as the base: the state has it as {source}")
        policy = replace(run.policy, base=branch, base_source=source)
        kept.append(replace(run, policy=policy, request=replace(run.request, base=branch)))
    return kept


def _decide(runs: list[Run], presentation: Presentation, options: ResolveOptions) -> _Settled:
    """What one repository's run gives, or several side by side; nobody is asked."""
    if len(runs) == 1 and not options.siblings:
        run = advanced(_told(runs, options)[0])
        with asking_for_the_remote(run, as_json=True, presentation=presentation):
            decision, code = settle(run)
        return decision, [run], code, None
    beside = find_siblings(runs[0], remembered_of(runs[0])) if options.siblings else ()
    runs = [advanced(run) for run in _told([*runs, *sibling_runs(runs[0], beside)], options)]
    several, code = decide_all(runs, beside)
    return several, runs, code, None


def _interactive(runs: list[Run], presentation: Presentation, *, siblings: bool) -> _Settled:
    """What a person at this terminal answers; no facts where nobody answered."""
    from candidates.questions.menu import pick  # noqa: PLC0415 - likewise
    from candidates.run.answers import interact  # noqa: PLC0415 - only where a person is asked here

    if siblings or len(runs) > 1:
        raise InvalidInput(
            "one repository is asked about at a time",
            where="--interactive",
            hint="base-branch resolve PATH --interactive, for each by itself",
        )
    if runs[0].policy.unattended:
        raise InvalidInput(
            "an unattended run asks nobody",
            where="--interactive",
            hint="base-branch resolve --interactive, without --autopilot",
        )
    run = advanced(runs[0])
    term, language = os.environ.get("TERM"), presentation.language
    decision, code, facts = interact(run, lambda question: pick(question, term, language))
    return decision, [run], code, facts


def _recorded(answer: AnyDecision, runs: list[Run], options: ResolveOptions) -> tuple[AnyDecision, Refused | None]:
    """The answer written into the state file, or with its merge patch; and why that was refused."""
    state, siblings = options.state, options.siblings
    if state is None and not options.state_patch:
        return answer, None
    from candidates.run.record import record, with_patch  # noqa: PLC0415 - only where a state is asked for

    roots = [one.root for one in runs]
    if options.state_patch or state is None:
        return with_patch(answer, roots, state, siblings=siblings)
    return answer, record(answer, roots, state, runs[0].request.now, siblings=siblings)


def remember_answer(run: Run, facts: Facts | None, answer: AnyDecision) -> None:
    """Remember what a person answered here; without facts that confirm it nobody did."""
    if facts is not None and isinstance(answer, Decision) and answer.base_branch is not None:
        from candidates.run.answers import keep  # noqa: PLC0415 - only where a person answered

        for line in keep(run, facts, answer.base_branch):
            notice(line)
