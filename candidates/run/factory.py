"""Factory mode: nobody can be asked. What was decided beforehand is honoured, and the outcome goes to a result file.

Owns the stage file's decisions and the shape of the result. Writes that one file, and posts nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import Struct

from candidates.contract import AnyDecision, Question, decisions_of, encode_pretty
from candidates.evidence import tied_names
from candidates.exit_codes import ExitCode
from candidates.questions.questions import answers_of
from candidates.run.collect import RemoteUndecided
from candidates.run.decide import undecided_remote
from collectors.errors import EvidenceError, InvalidInput, SetupError
from collectors.input_file import read_whole
from collectors.stores.store_file import Damage, parse_document, reason_of, replace_bytes
from ranking.facts import Record
from ranking.names import printable

STAGE: Final = Path("/in/stage.json")
RESULT: Final = Path("/out/result.json")

_MOST_NEEDED: Final = 3
_MOST_NAMED: Final = 5
_FETCH_ANSWERS: Final = ("retry", "cached", "local", "abort")
_KEYS: Final = {"base-branch": "--base", "remote": "--remote", "fetch-failed": "--on-fetch-failure"}


class NeedsInput(Record, frozen=True, kw_only=True):
    """What a person has to judge, and the answer that would be given; None where there is none to give."""

    question: str
    recommended: str | None


class Requested(Record, frozen=True, kw_only=True):
    """An outward action that somebody else is asked to take."""

    kind: Literal["tracker_write"]
    target: str
    payload: dict[str, str]


class Result(Record, frozen=True, kw_only=True):
    """What a run in factory mode leaves."""

    outcome: Literal["success", "needs_input", "fail"]
    summary: str
    error: str | None = None
    needs_input: tuple[NeedsInput, ...] = ()
    rate_limited: bool = False
    requested: tuple[Requested, ...] = ()
    decision: AnyDecision | None = None


class Factory(Struct, kw_only=True):
    """One run in factory mode: its two files, and what it has answered so far."""

    stage: Path = STAGE
    result: Path = RESULT
    given: Sequence[str] = ()
    answer: AnyDecision | None = None

    def over(
        self, flags: Mapping[str, object], base: str | None, notice: Callable[[str], None]
    ) -> tuple[dict[str, object], str | None]:
        """The flags and the base of the run, with what was decided before; a flag of the run goes first."""
        before, passed_over = decided_before(self.given, self.stage)
        for line in passed_over:
            notice(line)
        own = dict(flags) | {"--autopilot": True, "--autonomy": None, "--ask-on-issue": None}
        for flag in ("--remote", "--on-fetch-failure"):
            if own.get(flag) is None:
                own[flag] = before.get(flag)
        return own, base if base is not None else before.get("--base")

    def report(self, answer: AnyDecision, code: ExitCode) -> None:
        """Write the result of an answer, before that is printed: SetupError where it cannot be written."""
        self.answer = answer
        _write(self, result_of(answer, code))


def decided_before(given: Sequence[str], stage: Path) -> tuple[dict[str, str], tuple[str, ...]]:
    """What was decided before the run, by the flag that says the same: `--decision` first, then the stage file's.

    Beside it what was passed over: decisions that are other programs'.

    InvalidInput for a stage file that is missing or none, a decision that is none, and one of ours that cannot be.
    """
    found: dict[str, str] = {}
    passed_over: list[str] = []
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or key not in _KEYS:
            hint = f"base-branch resolve --factory --decision {'=...|'.join(_KEYS)}=..."
            raise InvalidInput(
                f"{printable(text)!r} is no decision that this program takes", where="--decision", hint=hint
            )
        found.setdefault(_KEYS[key], _checked(key, value, "--decision"))
    for place, entry in enumerate(_stage_decisions(stage)):
        where = f"decisions[{place}]"
        key, value = _entry(entry, where)
        if key not in _KEYS:
            passed_over.append(f"{where}: {printable(key)} is no decision that this program takes: passed over")
        else:
            found.setdefault(_KEYS[key], _checked(key, value, where))
    return found, tuple(passed_over)


@contextmanager
def reported(factory: Factory) -> Iterator[Factory]:
    """Write the result of an error that happens inside, which goes on. SetupError where it cannot be written."""
    try:
        yield factory
    except BrokenPipeError:  # the reader of standard output has what it wanted: no error
        raise
    except Exception as error:
        _write(factory, failed(error, factory.answer))
        raise


def result_of(answer: AnyDecision, code: ExitCode) -> Result:
    """The result of a run that came to an answer. Pure."""
    decisions = decisions_of(answer)
    limited = any(source.kind == "rate-limited" for one in decisions for source in one.sources)
    requested = tuple(
        Requested(kind="tracker_write", target=one.would_post.target, payload={"body": one.would_post.body})
        for one in decisions
        if one.would_post is not None
    )
    common: dict[str, Any] = {"rate_limited": limited, "requested": requested, "decision": answer}
    if code == ExitCode.ANSWERED:
        said = "; ".join(f"{one.repository}: {one.base_branch} ({one.base_branch_source})" for one in decisions)
        return Result(outcome="success", summary=said, **common)
    if code == ExitCode.ASK:
        needed = _needed(answer)
        more = f", the first {_MOST_NEEDED} of them here" if len(needed) > _MOST_NEEDED else ""
        said = f"a person must choose: {len(needed)} to answer{more}"
        return Result(outcome="needs_input", summary=said, needs_input=needed[:_MOST_NEEDED], **common)
    error = next((one.log[-1] for one in decisions if one.base_branch is None and one.log), code.name.lower())
    return Result(outcome="fail", summary="no base was decided", error=error, **common)


def failed(error: Exception, answer: AnyDecision | None = None) -> Result:
    """The result of a run that an error ended. Pure."""
    if isinstance(error, RemoteUndecided):
        return result_of(undecided_remote(error, "full"), ExitCode.ASK)
    if not isinstance(error, EvidenceError):
        return Result(
            outcome="fail", summary="an unforeseen error", error=printable(f"{type(error).__name__}: {error}")
        )
    hint = f"; try: {printable(error.hint)}" if error.hint else ""
    return Result(
        outcome="fail",
        summary=f"nothing was decided ({error.code}){hint}",
        error=printable(str(error)),
        rate_limited=error.code == "rate-limited",
        decision=answer,
    )


def _needed(answer: AnyDecision) -> tuple[NeedsInput, ...]:
    """What has to be answered; on a tie the first by order is recommended, and that is said."""
    rankings = {one.repository: one.base_branch_evidence for one in decisions_of(answer)}
    tied = {name: tied_names(ranking) for name, ranking in rankings.items() if ranking is not None}
    return tuple(_need(question, tied.get(question.repository, ())) for question in answer.questions)


def _need(question: Question, tied: Sequence[str]) -> NeedsInput:
    if question.kind == "base-branch" and tied:
        named = ", ".join(tied[:_MOST_NAMED])
        said = f"{question.question} {len(tied)} fit alike ({named}); the first by order is recommended."
        return NeedsInput(question=said, recommended=tied[0])
    names = [answer.name for answer in answers_of(question) if answer.name is not None]
    if not names:
        return NeedsInput(question=question.question, recommended=None)
    if question.default is not None:
        return NeedsInput(question=question.question, recommended=names[question.default - 1])
    return NeedsInput(question=f"{question.question} The first by order is recommended.", recommended=names[0])


def _stage_decisions(stage: Path) -> Sequence[object]:
    what = f"the stage file {printable(str(stage))}"
    try:
        data = read_whole(stage)
    except OSError as error:
        raise InvalidInput(
            f"{what} cannot be read: {reason_of(error)}", where="--stage", hint="--stage FILE"
        ) from error
    match parse_document(data):
        case Damage(why=why):
            raise InvalidInput(f"{what} {why}", where="--stage")
        case document:
            decisions = document.root.get("decisions")
    if decisions is None:
        return ()
    if not isinstance(decisions, list):
        raise InvalidInput(f"it is no array (in {what})", where="decisions")
    return decisions


def _entry(entry: object, where: str) -> tuple[str, str]:
    """The key and the value of one of the stage's decisions."""
    if not isinstance(entry, Mapping):
        raise InvalidInput("it is no object", where=where)
    key, value = entry.get("key"), entry.get("value")
    if not isinstance(key, str):
        raise InvalidInput("it is no text", where=f"{where}.key")
    if key in _KEYS and not isinstance(value, str):
        raise InvalidInput("it is no text", where=f"{where}.value")
    return key, value if isinstance(value, str) else ""


def _checked(key: str, value: str, where: str) -> str:
    if not value:
        raise InvalidInput(f"{key} is empty", where=where)
    if key == "fetch-failed" and value not in _FETCH_ANSWERS:
        raise InvalidInput(f"{key} is {printable(value)!r}, none of {', '.join(_FETCH_ANSWERS)}", where=where)
    return value


def _write(factory: Factory, result: Result) -> None:
    try:
        replace_bytes(factory.result, encode_pretty(result))
    except OSError as error:
        message = f"the result file {printable(str(factory.result))} cannot be written: {reason_of(error)}"
        raise SetupError(
            message, code="result-unwritable", hint="base-branch resolve --factory --result FILE"
        ) from error
    except msgspec.ValidationError as error:  # pragma: no cover - our own record
        raise SetupError(str(error), code="result-unwritable") from error
