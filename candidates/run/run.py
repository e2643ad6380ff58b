"""One run over one repository or several: configuration, collecting side by side, deciding."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import UNNAMED, Decision, Decisions, Question, Sibling, log_line
from candidates.exit_codes import ExitCode
from candidates.run.collect import Collected, RemoteUndecided, Request, collect, locate
from candidates.run.decide import Policy, asks_on_issue, decide, is_silent, undecided_remote
from candidates.run.issue import GivenIssue, IssueInput, IssueReader
from candidates.run.issue_comment import ask_on_issue
from collectors.config.configuration import Configuration, read_configuration
from collectors.errors import SetupError
from collectors.git.repository import open_repository, read_config
from collectors.git.submodules import read_submodules
from collectors.process import Git
from collectors.remote_url import redact
from collectors.signals import awaited
from collectors.stores.preferences import Remembered, preferences_path, read_recent
from ranking.facts import Facts, Issue, IssueVersion
from ranking.names import name_problem
from ranking.versions import read_label

# Questions are asked kind by kind, the earliest first; of several repositories the gravest outcome counts.
_KINDS = ("remote", "fetch-failed", "base-branch")
_GRAVEST = (ExitCode.REMOTE_SILENT, ExitCode.SOURCE_FAILED, ExitCode.ASK, ExitCode.ANSWERED)
_AT_ONCE = 8


Keep = Callable[[Git, Facts], None]


class Run(Struct, frozen=True, kw_only=True):
    """Everything that one repository's run is made of."""

    git: Git
    top: Path | None
    configuration: Configuration
    request: Request
    policy: Policy
    keep: tuple[Keep, ...] = ()
    """What is done with the facts beside deciding on them: a bundle is saved, the run is kept."""

    @property
    def root(self) -> Path:
        """The work tree's top, else the repository's folder."""
        return self.top or self.git.folder.resolve()


def prepare(
    git: Git,
    flags: Mapping[str, object],
    given: IssueInput,
    now: datetime,
    *,
    base: str | None = None,
) -> Run:
    """Read the configuration for one repository. SetupError, InvalidInput as they come."""
    checkout = open_repository(git)
    top = checkout.top
    asked = flags.get("--remote")
    if isinstance(asked, str) and name_problem(asked):
        # What can be no remote's name is none of this repository's remotes; as wrong here as any other name.
        message = f"there is no remote named {redact(asked)!r}"
        raise SetupError(message, code="no-such-remote", hint="git remote -v")
    configuration = read_configuration(flags, git.environ, top)
    git = replace(git, most_refs=configuration.max_refs)
    policy = Policy(
        autonomy=configuration.autonomy,
        on_fetch_failure=configuration.on_fetch_failure,
        issue_optional=configuration.issue_optional,
        unusable_versions=tuple(name for name in given.versions if read_label(name) is None),
        ask_on_issue=configuration.ask_on_issue if configuration.is_set("askOnIssue") else None,
        base=base,
    )
    named = given.text is not None or bool(given.versions)
    request = Request(
        git=git,
        checkout=checkout,
        now=now,
        seconds=configuration.timeout,
        remote=configuration.remote,
        prepare_issue=partial(prepare_issue, given, git, configuration) if named else None,
        project_key=configuration.project_key,
        base=base,
        refresh=configuration.refresh,
        settings=configuration.settings,
        branch_ttl_days=configuration.branch_ttl_days,
    )
    return Run(git=git, top=top, configuration=configuration, request=request, policy=policy)


def prepare_issue(
    given: IssueInput, git: Git, configuration: Configuration, repository: str | None, host: str | None
) -> IssueReader:
    """Parse the reference now, before anything is asked; the reader reads the issue later.

    InvalidInput for what is no reference, and for a file that is not right; SetupError where Jira is named and
    none is configured.
    """
    named = tuple(IssueVersion(name=name, field="fixVersions", role="fix") for name in given.versions)
    if given.text is None:
        return GivenIssue(Issue(key=UNNAMED, read="answered", versions=named) if named else None)
    from candidates.run.trackers import find_reader  # noqa: PLC0415 - only where an issue is named

    return find_reader(given.text, given.stdin, named, git, configuration, repository=repository, host=host)


def advance(run: Run) -> tuple[Run, str | None]:
    """The run with the remote that guided autonomy takes by itself, and that remote's name (None: none was taken).

    Only where the branch is asked for afterwards: with a base that is given nobody would see which remote it was.
    """
    if run.policy.autonomy != "guided" or run.policy.base is not None:
        return run, None
    try:
        locate(run.git, run.request.remote, run.request.checkout)
    except RemoteUndecided as error:
        names = error.question.names
        # Most often the one that was cloned from; the first by name would be anybody's.
        urls = list(read_config(run.git).values)
        name = min(names, key=lambda name: urls.index(f"remote.{name}.url"))
        reason = (
            f"of {len(names)} that nothing tells apart the one configured first: guided, and the branch is asked for"
        )
        return replace(run, request=replace(run.request, remote=name, remote_reason=reason)), name
    return run, None


def gather(run: Run) -> Collected:
    """Collect; where the policy says so, a remote that did not answer is really asked again, once."""
    collected = collect(run.request)
    if is_silent(collected) and run.policy.on_fetch_failure == "retry":
        collected = collect(run.request)
    for keep in run.keep:
        keep(run.git, collected.facts)
    return collected


def settle(run: Run) -> tuple[Decision, ExitCode]:
    """One repository's decision, asked on its issue where the policy says so. RemoteUndecided."""
    collected = gather(run)
    decision, code = decide(collected, run.policy)
    if code == ExitCode.ASK and asks_on_issue(collected, run.policy):
        return ask_on_issue(collected, decision)
    return decision, code


def decide_one(run: Run) -> tuple[Collected | None, Decision, ExitCode]:
    """One repository's decision among several; a remote that a person must name is a question, not an error."""
    try:
        collected = gather(run)
    except RemoteUndecided as error:
        return None, undecided_remote(error, run.policy.autonomy, run.policy.asking), ExitCode.ASK
    return collected, *decide(collected, run.policy)


def decide_all(runs: Sequence[Run], siblings: Sequence[Sibling]) -> tuple[Decisions, ExitCode]:
    """Several repositories side by side, the first the main one. A stop in any stops all: nothing half decided.

    Of several that would ask on the issue the first does: one question at a time.
    """
    # One for all: whoever interrupts the run waits for none of them.
    cancelled = threading.Event()
    runs = [replace(run, request=replace(run.request, cancelled=cancelled)) for run in runs]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        try:
            asked = [pool.submit(decide_one, run) for run in runs]
            outcomes = [awaited(one) for one in asked]
        except BaseException:
            cancelled.set()
            raise
    decisions, codes = [decision for _, decision, _ in outcomes], [code for *_, code in outcomes]
    earliest = _earliest([q for decision in decisions for q in decision.questions])
    if _gravest(codes) == ExitCode.ASK and all(q.kind == "base-branch" for q in earliest):
        for index, (collected, decision, code) in enumerate(outcomes):
            if collected is not None and code == ExitCode.ASK and asks_on_issue(collected, runs[index].policy):
                decisions[index], codes[index] = ask_on_issue(collected, decision)
                break
    code = _gravest(codes)
    if code in (ExitCode.REMOTE_SILENT, ExitCode.SOURCE_FAILED):
        decisions = [_without_base(decision, runs[0].request.now) for decision in decisions]
    questions = _earliest([q for decision in decisions for q in decision.questions])
    return Decisions(decisions=tuple(decisions), siblings=tuple(siblings), questions=questions), code


def find_siblings(run: Run, remembered: Remembered) -> tuple[Sibling, ...]:
    """The submodules of the work tree, with their branch hints, and the repositories that the preferences list."""
    modules = read_submodules(run.git, run.top) if run.top is not None else ()
    found = [
        Sibling(
            path=str((run.top or run.git.folder) / module.path),
            kind="submodule",
            branch_hint=module.branch,
            present=module.present,
        )
        for module in modules
    ]
    found += [
        Sibling(path=repo.path, kind="web-repo", read_only=repo.read_only, present=Path(repo.path).is_dir())
        for repo in remembered.web_repos
    ]
    return tuple(found)


def remembered_of(run: Run) -> Remembered:
    """What the store says beside the choices: the repositories that it lists."""
    key, old_key = run.configuration.project_key, None
    if key is None:
        try:
            here = locate(run.git, run.request.remote, run.request.checkout)
            key, old_key = here.key, here.name
        except RemoteUndecided as error:
            key = error.repository
    return read_recent(preferences_path(run.git.environ), key, old_key=old_key)


def sibling_runs(main: Run, siblings: Sequence[Sibling]) -> list[Run]:
    """A run for every sibling that is here and may be written to; read-only ones are listed, not asked about.

    The branch and the remote that came with the request are the main repository's.
    """
    wanted = [s for s in siblings if s.present and not s.read_only]
    return [
        replace(
            main,
            git=main.git.at(Path(s.path)),
            top=Path(s.path),
            request=replace(
                main.request,
                git=main.git.at(Path(s.path)),
                checkout=None,
                remote=None,
                remote_reason=None,
                project_key=None,
                base=None,
            ),
            policy=replace(main.policy, base=None),
        )
        for s in wanted
    ]


def _gravest(codes: Sequence[ExitCode]) -> ExitCode:
    return next(grave for grave in _GRAVEST if grave in codes)


def _without_base(decision: Decision, now: datetime) -> Decision:
    """The decision of a run in which some repository stopped: no base, nothing to ask, and why."""
    if decision.base_fetch_status == "aborted":
        return decision
    why = "stopped with the others: a repository of this run could not be decided"
    return replace(
        decision,
        questions=(),
        log=(*decision.log, log_line(now, why)),
        base_branch=None,
        base_ref=None,
        base_commit=None,
        base_branch_source=None,
        base_fetch_status="aborted",
    )


def _earliest(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Those of the earliest kind that is not settled."""
    for kind in _KINDS:
        of_kind = tuple(q for q in questions if q.kind == kind)
        if of_kind:
            return of_kind
    return ()
