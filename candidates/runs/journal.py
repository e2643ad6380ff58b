"""What a command's runs learn and answer, taken down while it runs, and kept in the ring when it ends.

However it ends: with an answer, an error or an interruption. That a run cannot be kept changes nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from candidates import __version__
from candidates.contract import UNNAMED, AnyDecision, Decision, decisions_of
from candidates.exit_codes import ExitCode, exit_code_of
from candidates.run.run import Run
from candidates.runs.kept import Command, KeptRun, Outcome, keep_run
from collectors.errors import EvidenceError
from collectors.process import Git
from collectors.remote_url import redact
from collectors.stores.runs import RUNS_VARIABLE
from collectors.stores.store_file import reason_of
from collectors.strict_json import json_text
from ranking.facts import Facts

_MOST_CHARACTERS = 1000
_MOST_OF_ISSUE = 120
_NOT_KEPT = f"set {RUNS_VARIABLE} to another folder, or BASE_BRANCH_RUNS_KEEP to 0"


class Journal(Struct, kw_only=True):
    """One command's runs: the facts of each by its folder, and the answer as soon as there is one."""

    command: Command
    begun: datetime
    facts: dict[Path, Facts] = field(default_factory=dict)
    runs: Sequence[Run] = ()
    answer: AnyDecision | None = None
    code: ExitCode = ExitCode.UNFORESEEN

    def watch(self, runs: Sequence[Run]) -> list[Run]:
        """The runs, whose facts are taken down from here on."""
        self.runs = [replace(run, keep=(*run.keep, self._learn)) for run in runs]
        return list(self.runs)

    def note(self, answer: AnyDecision, runs: Sequence[Run], code: ExitCode) -> None:
        """Take down what is answered, and for which runs: siblings are found on the way."""
        self.answer, self.runs, self.code = answer, runs, code

    def _learn(self, git: Git, facts: Facts) -> None:
        self.facts[git.folder] = facts


@contextmanager
def journal(command: Command, begun: datetime, warn: Callable[[str], None]) -> Iterator[Journal]:
    """Keep in the ring what is taken down inside; `warn` is called once at most, where that cannot be."""
    taken, said = Journal(command=command, begun=begun), None
    try:
        yield taken
    except BrokenPipeError:  # a reader that had enough: no fault, as the boundary sees it
        raise
    except (EvidenceError, KeyboardInterrupt) as error:
        taken.code, said = exit_code_of(error), str(error) or "interrupted"
        raise
    except Exception as error:
        taken.code, said = exit_code_of(error), f"unforeseen {type(error).__name__}: {error}"
        raise
    finally:
        _keep(taken, said, warn)


def _keep(taken: Journal, said: str | None, warn: Callable[[str], None]) -> None:
    most = taken.runs[0].configuration.keep_runs if taken.runs else 0
    if most == 0:
        return
    decisions = decisions_of(taken.answer) if taken.answer is not None else ()
    try:
        for place, run in enumerate(taken.runs):
            kept = _kept(taken, run, decisions[place] if place < len(decisions) else None, said)
            # The main repository's is listed first.
            keep_run(run.git.environ, kept, taken.begun - timedelta(microseconds=place), most)
    except OSError as error:
        warn(f"this run is not kept: {error.filename or 'its file'} cannot be written: {reason_of(error)}; {_NOT_KEPT}")
    except Exception as error:  # noqa: BLE001 - whatever it is, the run's answer must not hang on it
        warn(f"this run is not kept: {error}; {_NOT_KEPT}")


def _kept(taken: Journal, run: Run, decision: Decision | None, said: str | None) -> KeptRun:
    facts, folder = taken.facts.get(run.git.folder), run.root
    named = facts.repository.name if facts is not None else None
    outcome = Outcome(
        id="",
        at=taken.begun.replace(microsecond=0),
        command=taken.command,
        repository=decision.repository if decision is not None else named or json_text(folder.name),
        folder=redact(json_text(str(folder))),
        issue=_issue(facts),
        branch=decision.base_branch if decision is not None else None,
        source=decision.base_branch_source if decision is not None else None,
        fetch_status=decision.base_fetch_status if decision is not None else None,
        exit_code=int(taken.code),
        fault=redact(json_text(said))[:_MOST_CHARACTERS] if said is not None else None,
        version=__version__,
    )
    return KeptRun(outcome=outcome, decision=decision, bundle=facts)


def _issue(facts: Facts | None) -> str | None:
    """The issue's key; where only versions were given, these. A row of the list has to hold it."""
    if facts is None or facts.issue is None:
        return None
    key, versions = facts.issue.key, facts.issue.versions
    named = key if key != UNNAMED else ", ".join(version.name for version in versions)
    return f"{named[: _MOST_OF_ISSUE - 1]}…" if len(named) > _MOST_OF_ISSUE else named or None
