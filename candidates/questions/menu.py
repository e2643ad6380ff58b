"""The numbered menu: on standard error, so that standard output holds the answer alone.

`press` and `draw` are pure. `choose` talks to a real terminal, the only place that changes its mode, and puts it back.
"""

from __future__ import annotations

import os
import termios
import tty
import unicodedata
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from candidates.contract import Question
from candidates.questions.languages import ENGLISH, Language
from candidates.questions.questions import Answer, answers_of
from collectors.errors import InvalidInput
from ranking.names import printable

DEFAULT_VARIABLE: Final = "ASK_CHOICE_DEFAULT"

_DUMB: Final = ("", "dumb")
_NARROWEST: Final = 8
_LINES_BELOW: Final = 2  # the keys, and the line that the cursor stands on
_LINES_AROUND: Final = _LINES_BELOW + 1  # and a row at least
_CUT: Final = "\u2026"
_DIGITS: Final = tuple(b"%d" % digit for digit in range(10))

Key = Literal["up", "down", "first", "last", "chosen", "cancelled", "erase", "other"] | int
Outcome = Literal["chosen", "cancelled"]

_KEYS: Final[dict[bytes, Key]] = {
    b"\x1b[A": "up",
    b"\x1bOA": "up",
    b"k": "up",
    b"\x1b[B": "down",
    b"\x1bOB": "down",
    b"j": "down",
    b"\x1b[H": "first",
    b"\x1b[F": "last",
    b"\r": "chosen",
    b"\n": "chosen",
    b"q": "cancelled",
    b"\x04": "cancelled",
    b"\x7f": "erase",
    b"\x08": "erase",
}


class Row(Struct, frozen=True, kw_only=True):
    """One option: what it is called, and what is said of it."""

    label: str
    description: str = ""


class Menu(Struct, frozen=True, kw_only=True):
    """A menu as it stands: `at` is the marked row, 0-based; `typed` the number that was begun."""

    question: str
    rows: tuple[Row, ...]
    at: int = 0
    typed: int = 0
    outcome: Outcome | None = None


def press(menu: Menu, key: Key) -> Menu:
    """The menu after one key. A number that no longer one could begin with is taken at once.

    >>> press(Menu(question="?", rows=(Row(label="a"), Row(label="b"))), 2).outcome
    'chosen'
    """
    count = len(menu.rows)
    match key:
        case "up" | "down":
            menu = replace(menu, at=(menu.at + (1 if key == "down" else -1)) % count, typed=0)
        case "first" | "last":
            menu = replace(menu, at=0 if key == "first" else count - 1, typed=0)
        case "chosen" | "cancelled":
            menu = replace(menu, outcome=key)
        case "erase":
            menu = replace(menu, typed=menu.typed // 10, at=max(menu.typed // 10, 1) - 1)
        case int() if 1 <= (number := menu.typed * 10 + key) <= count:
            final = number * 10 > count
            menu = replace(menu, at=number - 1, typed=number, outcome="chosen" if final else None)
        case _:
            pass
    return menu


def draw(menu: Menu, width: int, height: int, language: Language = ENGLISH) -> list[str]:
    """The lines of a menu, none wider than the window and no more than it holds; the marked row is always there."""
    columns = max(width, _NARROWEST) - 1
    question = wrap(printable(menu.question), columns)[: max(height - _LINES_AROUND, 1)]
    room = max(height - _LINES_BELOW - len(question), 1)
    count = len(menu.rows)
    start = min(max(menu.at - room // 2, 0), max(count - room, 0))
    digits = len(str(count))
    rows = [
        f"{'>' if place == menu.at else ' '} {place + 1:>{digits}}. {printable(row.label)}"
        + (f"  {printable(row.description)}" if row.description else "")
        for place, row in enumerate(menu.rows[start : start + room], start)
    ]
    return [*question, *(fit(line, columns) for line in (*rows, language.say("menu_keys")))]


def numbered(menu: Menu) -> list[str]:
    """The same for a terminal that cannot move its cursor."""
    return [printable(menu.question), *(f"  {n}. {printable(row.label)}" for n, row in enumerate(menu.rows, 1))]


def fit(text: str, columns: int) -> str:
    """A text in so many columns; wide characters take two, combining ones none.

    >>> fit("release/8.4.0", 8)
    'release…'
    """
    if sum(map(_columns, text)) <= columns:
        return text
    taken, used = [], 0
    for character in text:
        used += _columns(character)
        if used > columns - 1:
            break
        taken.append(character)
    return "".join(taken) + _CUT


def wrap(text: str, columns: int) -> list[str]:
    """A text in lines of so many columns.

    >>> wrap("Which branch?", 8)
    ['Which br', 'anch?']
    """
    lines, used = [""], 0
    for character in text:
        used += _columns(character)
        if used > columns:
            lines.append("")
            used = _columns(character)
        lines[-1] += character
    return lines


def _number(text: str, most: int) -> int | None:
    """A number from 1 to `most`, None for anything else."""
    digits = text.lstrip("0")
    if not (text.isascii() and text.isdigit() and 0 < len(digits) <= len(str(most))):
        return None
    return int(digits) if int(digits) <= most else None


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def read_default(text: str | None, labels: Sequence[str]) -> int | None:
    """The 0-based place that `ASK_CHOICE_DEFAULT` names: a number in range, else a label; None where it is not set.

    InvalidInput for what is neither.
    """
    if not text:
        return None
    number = _number(text, len(labels))
    if number is not None:
        return number - 1
    if text in labels:
        return labels.index(text)
    message = f"{printable(text)!r} is neither a number from 1 to {len(labels)} nor one of the options"
    raise InvalidInput(message, where=DEFAULT_VARIABLE, hint=f"unset {DEFAULT_VARIABLE}")


def choose(menu: Menu, term: str | None, language: Language = ENGLISH) -> int | None:
    """Ask on the terminal; the 0-based place that was chosen, None where the person gave up.

    KeyboardInterrupt as it comes. `term`: the kind of terminal; a dumb one is asked by lines.
    """
    if (term or "") in _DUMB:
        return _choose_by_line(menu, language)
    before = termios.tcgetattr(0)
    try:
        tty.setcbreak(0, termios.TCSADRAIN)
        menu = _run(menu, language)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
    return menu.at if menu.outcome == "chosen" else None


def pick(question: Question, term: str | None, language: Language = ENGLISH) -> Answer | None:
    """Put one question to the person at the terminal; None where no answer was given."""
    rows = tuple(Row(label=option.label, description=option.description) for option in question.options)
    menu = Menu(question=question.question, rows=rows, at=(question.default or 1) - 1)
    chosen = choose(menu, term, language)
    return None if chosen is None else answers_of(question)[chosen]


def _run(menu: Menu, language: Language) -> Menu:
    drawn = 0
    while menu.outcome is None:
        size = _size()
        lines = draw(menu, size.columns, size.lines, language)
        _write(_erased(drawn) + "".join(f"{line}\n" for line in lines))
        drawn = len(lines)
        menu = press(menu, _read_key())
    _write(_erased(drawn))
    said = printable(menu.rows[menu.at].label) if menu.outcome == "chosen" else "-"
    _write(
        "".join(
            f"{line}\n" for line in wrap(f"{printable(menu.question)} {said}", max(_size().columns, _NARROWEST) - 1)
        )
    )
    return menu


def _erased(lines: int) -> str:
    """Back to the first of so many lines, and nothing below."""
    return f"\x1b[{lines}A\r\x1b[J" if lines else ""


def _read_key() -> Key:
    data = os.read(0, 1)
    if not data:
        return "cancelled"
    if data == b"\x1b":  # what a terminal sends for one key is written at once
        data += os.read(0, 1)
        if data not in (b"\x1b[", b"\x1bO"):
            data = data[1:]  # a lone escape before another key
        else:
            data += os.read(0, 1)
            while data[-1:].isdigit() or data[-1:] == b";":
                data += os.read(0, 1)
    return int(data) if data in _DIGITS else _KEYS.get(data, "other")


def _choose_by_line(menu: Menu, language: Language) -> int | None:
    _write("".join(f"{line}\n" for line in numbered(menu)))
    while True:
        _write(language.say("menu_line", default=menu.at + 1))
        line = b""
        while not line.endswith(b"\n"):
            more = os.read(0, 1)
            if not more:
                return None
            line += more
        answer = line.decode("utf-8", "replace").strip()
        if not answer:
            return menu.at
        if answer == "q":
            return None
        number = _number(answer, len(menu.rows))
        if number is not None:
            return number - 1


def _size() -> os.terminal_size:
    try:
        return os.get_terminal_size(2)
    except OSError:
        return os.terminal_size((80, 24))


def _write(text: str) -> None:
    data = text.encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(2, data) :]
