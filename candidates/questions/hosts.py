"""The same questions as each host wants them: Claude Code's AskUserQuestion, the Pi questionnaire, orc's gates, JSON.

Pure. What a host cannot show is cut, never refused by it: a long name in the middle, and then the whole of it opens
the description. Every call carries `answers`: what each option stands for, by its place.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import Option, Question
from candidates.questions.languages import ENGLISH, Language
from candidates.questions.questions import Answer, answers_of
from collectors.errors import InvalidInput
from ranking.facts import Record
from ranking.names import printable

HostName = Literal["claude", "pi", "orc", "json"]
HOSTS: Final[tuple[str, ...]] = get_args(HostName)

MOST_PREVIEW_LINES: Final = 60
"""A longer preview keeps its head; the whole goes to a file where one may be written."""

_MOST_QUESTIONS: Final = 4
_CUT: Final = "\u2026"
_SUFFIX: Final = " (Recommended)"
_CLASSES: Final[dict[str, Literal["soft-inward", "escalation-only"]]] = {
    "remote": "soft-inward",
    "fetch-failed": "escalation-only",
    "base-branch": "soft-inward",
}
_CHIPS: Final = {"remote": "REMOTE", "fetch-failed": "FETCH", "base-branch": "BASE"}


class Gate(Record, frozen=True, kw_only=True, rename={"gate_class": "class", "allow_free_text": "allowFreeText"}):
    """One gate of orc: its class, which option is recommended (1-based), and whether free text is an answer."""

    id: str
    gate_class: Literal["hard-outward", "soft-inward", "escalation-only"]
    default: int | None
    allow_free_text: bool


class Call(Record, frozen=True, kw_only=True):
    """One call of the host's picker: its input, and for each question what each option stands for."""

    input: dict[str, Any]
    answers: tuple[tuple[Answer, ...], ...]
    gate: Gate | None = None
    """For orc: what the call gates, beside the input that goes to the host as it is."""


class Picker(Record, frozen=True, kw_only=True):
    """The questions of one run for one host, in as many calls as it takes."""

    schema: Literal["base-branch/picker@1"] = "base-branch/picker@1"
    host: HostName
    calls: tuple[Call, ...]
    breadcrumb: str | None = None


KeepPreview = Callable[[str, str], str | None]
"""Keeps a long preview under a name that is given; the file's path, None where none may be written."""


class _Host(Struct, frozen=True, kw_only=True):
    """A host's rules and its spelling. `longest_label` None: it sets no limit."""

    spell: Callable[[Sequence[Question]], dict[str, Any]]
    longest_header: int | None = None
    longest_label: int | None = None
    previews: bool = True
    marks: bool = True
    """Whether the label of the recommended option says so."""
    most_questions: int = _MOST_QUESTIONS
    gates: bool = False


def host_named(name: str) -> HostName:
    """A host by its name; InvalidInput for one that is unknown."""
    for host in get_args(HostName):
        if name == host:
            return host  # type: ignore[no-any-return]
    raise InvalidInput(f"there is no picker {printable(name)!r}", where="--picker", hint=f"--picker {'|'.join(HOSTS)}")


def render(
    questions: Sequence[Question],
    host: HostName,
    *,
    language: Language = ENGLISH,
    keep: KeepPreview = lambda name, text: None,  # noqa: ARG005 - the port's shape
    breadcrumb: str | None = None,
) -> Picker:
    """The questions as one host takes them, at most four a call."""
    rules = _RULES[host]
    fitted = [_fit(question, rules, language, keep, number) for number, question in enumerate(questions, 1)]
    most = rules.most_questions
    batches = [range(at, min(at + most, len(fitted))) for at in range(0, len(fitted), most)]
    calls = tuple(
        Call(
            input=rules.spell(_told_apart([fitted[i] for i in batch])),
            answers=tuple(answers_of(questions[i]) for i in batch),
            gate=_gate(questions[batch[0]], batch[0] + 1) if rules.gates else None,
        )
        for batch in batches
    )
    return Picker(host=host, calls=calls, breadcrumb=breadcrumb)


def _gate(question: Question, number: int) -> Gate:
    return Gate(
        id=f"{number}-{question.id}",
        gate_class=_CLASSES[question.kind],
        default=question.default,
        allow_free_text=question.allow_free_text,
    )


def cut_middle(text: str, longest: int) -> str:
    """The text's two ends around an ellipsis, never longer; a combining mark is not parted from its letter.

    >>> cut_middle("release/2026.11/very-long", 12)
    'releas\u2026-long'
    """
    if len(text) <= longest:
        return text
    end = longest // 2
    tail = text[len(text) - (longest - end - 1) :]
    while end and unicodedata.combining(text[end]):
        end -= 1
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return f"{text[:end]}{_CUT}{tail}"


# --- fitting ---


def _fit(question: Question, rules: _Host, language: Language, keep: KeepPreview, number: int) -> Question:
    names = [option.label for option in question.options]
    labels = _labels(names, rules.longest_label)
    mark = question.default if rules.marks else None
    if mark is not None and rules.longest_label is not None:
        labels[mark - 1] = cut_middle(labels[mark - 1], rules.longest_label - len(_SUFFIX))
    options = []
    for place, (option, label) in enumerate(zip(question.options, labels, strict=True), 1):
        whole = option.description if label == option.label else f"{option.label}: {option.description}"
        preview = option.preview
        if preview is not None and rules.previews:
            preview = _head(preview, f"preview-{number}-{place}.txt", language, keep)
        marked = label + _SUFFIX if place == mark else label
        options.append(Option(label=marked, description=whole, preview=preview))
    header = question.header if rules.longest_header is None else question.header[: rules.longest_header]
    return replace(question, options=tuple(options), header=header)


def _labels(labels: Sequence[str], longest: int | None) -> list[str]:
    """The labels within a limit; two that are cut to the same text are numbered."""
    if longest is None:
        return list(labels)
    cut = [cut_middle(label, longest) for label in labels]
    taken = {label for label, short in zip(labels, cut, strict=True) if label == short}
    found = []
    for place, (label, short) in enumerate(zip(labels, cut, strict=True), 1):
        one = short
        if short != label and (short in taken):
            end = f" ({place})"
            one = cut_middle(label, longest - len(end)) + end
        taken.add(one)
        found.append(one)
    return found


def _head(preview: str, name: str, language: Language, keep: KeepPreview) -> str:
    """A preview that fits: all of it, or its head and where the rest is."""
    lines = preview.split("\n")
    if len(lines) <= MOST_PREVIEW_LINES:
        return preview
    left = len(lines) - (MOST_PREVIEW_LINES - 1)
    file = keep(name, preview)
    if file is None:
        said = language.say("preview_cut", count=left)
    else:
        said = language.say("preview_cut_file", count=left, file=file)
    return "\n".join([*lines[: MOST_PREVIEW_LINES - 1], said])


def _told_apart(questions: Iterable[Question]) -> list[Question]:
    """The questions of one call, each with a text of its own: a host may answer by the text."""
    found: list[Question] = []
    for question in questions:
        same, text = 1, question.question
        while text in {other.question for other in found}:
            same += 1
            text = f"{question.question} ({same})"
        found.append(replace(question, question=text))
    return found


# --- spelling ---


def _claude(questions: Sequence[Question]) -> dict[str, Any]:
    return {
        "questions": [
            {"question": q.question, "header": q.header, "options": _options(q), "multiSelect": False}
            for q in questions
        ]
    }


def _pi(questions: Sequence[Question]) -> dict[str, Any]:
    return {
        "questions": [
            {"id": f"{number}-{q.id}", "question": q.question, "header": q.header, "options": _options(q)}
            for number, q in enumerate(questions, 1)
        ]
    }


def _orc(questions: Sequence[Question]) -> dict[str, Any]:
    """The same call as Claude Code's, with the chip of the gate as its header."""
    return _claude([replace(q, header=_CHIPS[q.kind]) for q in questions])


def _options(question: Question) -> list[dict[str, str]]:
    return [
        {"label": o.label, "description": o.description} | ({} if o.preview is None else {"preview": o.preview})
        for o in question.options
    ]


def _json(questions: Sequence[Question]) -> dict[str, Any]:
    return {"questions": [msgspec.to_builtins(q) for q in questions]}


_RULES: Final[dict[HostName, _Host]] = {
    "claude": _Host(spell=_claude, longest_header=12),
    "pi": _Host(spell=_pi, longest_header=16, longest_label=60),
    "orc": _Host(spell=_orc, longest_header=12, most_questions=1, gates=True),
    "json": _Host(spell=_json, previews=False, marks=False),
}
