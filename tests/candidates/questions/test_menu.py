"""The menu: its keys and its lines, pure; and the real program in a real pseudo-terminal."""

from __future__ import annotations

import json
import os
import select
import subprocess
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from candidates.questions.menu import Key, Menu, Row, draw, fit, press, read_default, wrap
from collectors.errors import InvalidInput
from tests.ranking.facts_builder import unhurried
from tests.support.preferences import stored_entries
from tests.support.program import COMMAND, Done, base_branch, environment

if TYPE_CHECKING:
    from tests.support.repositories import MakeStand, Stand

PROMPT = b"q gives up"
UP, DOWN = b"\x1b[A", b"\x1b[B"


def menu(count: int = 3, at: int = 0) -> Menu:
    return Menu(question="Which?", rows=tuple(Row(label=f"b{n}") for n in range(1, count + 1)), at=at)


def pressed(start: Menu, *keys: Key) -> tuple[int, str | None]:
    for key in keys:
        start = press(start, key)
    return start.at, start.outcome


# --- keys ---


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        (("down",), (1, None)),
        (("up",), (2, None)),
        (("down", "down", "down"), (0, None)),
        (("last", "chosen"), (2, "chosen")),
        (("last", "first"), (0, None)),
        ((2,), (1, "chosen")),
        ((0,), (0, None)),
        ((4,), (0, None)),
        (("down", "cancelled"), (1, "cancelled")),
        (("other",), (0, None)),
    ],
)
def test_keys_of_a_short_menu(keys: tuple[Key, ...], expected: tuple[int, str | None]) -> None:
    assert pressed(menu(), *keys) == expected


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((1,), (0, None)),  # 10, 11 and 12 could begin with it
        ((1, 2), (11, "chosen")),
        ((1, "chosen"), (0, "chosen")),
        ((1, 3), (0, None)),
        ((1, "erase", 2), (1, "chosen")),
        ((1, "down", 2), (1, "chosen")),
    ],
)
def test_numbers_of_two_digits(keys: tuple[Key, ...], expected: tuple[int, str | None]) -> None:
    assert pressed(menu(12), *keys) == expected


# --- lines ---


def test_the_lines_of_a_menu() -> None:
    rows = (Row(label="main", description="the default"), Row(label="dev\x1b[2J"))
    assert draw(Menu(question="Which?", rows=rows, at=1), 80, 24) == [
        "Which?",
        "  1. main  the default",
        "> 2. dev\\x1b[2J",
        "Arrows or a number, Enter takes, q gives up",
    ]


def columns(line: str) -> int:
    return sum(2 if "\u4e00" <= c <= "\u9fff" else 1 for c in line)


@unhurried
@given(
    st.lists(st.text("ab\u4e2d/", min_size=1, max_size=60), min_size=1, max_size=40),
    st.integers(min_value=9, max_value=60),
    st.integers(min_value=4, max_value=20),
    st.integers(min_value=0, max_value=39),
)
def test_no_line_is_wider_than_the_window_and_the_marked_row_is_there(
    labels: list[str], width: int, height: int, at: int
) -> None:
    at = min(at, len(labels) - 1)
    rows = tuple(Row(label=label) for label in labels)
    lines = draw(Menu(question="Which one?", rows=rows, at=at), width, height)
    assert all(columns(line) < width for line in lines)
    assert len(lines) < max(height, 5)
    assert sum(line.startswith(">") for line in lines) == 1


def test_texts_are_fitted_by_columns() -> None:
    assert fit("\u4e2d\u4e2d\u4e2d", 6) == "\u4e2d\u4e2d\u4e2d"
    assert fit("\u4e2d\u4e2d\u4e2d", 5) == "\u4e2d\u4e2d\u2026"
    assert wrap("abcdef", 4) == ["abcd", "ef"]


# --- the default ---


@pytest.mark.parametrize(
    ("text", "place"), [(None, None), ("", None), ("2", 1), ("02", 1), ("main", 0), ("9", 2), ("4", None)]
)
def test_the_default_is_a_number_in_range_or_a_label(text: str | None, place: int | None) -> None:
    labels = ["main", "dev", "9"]
    if text == "4":
        with pytest.raises(InvalidInput, match="'4' is neither a number from 1 to 3 nor one of the options"):
            read_default(text, labels)
    else:
        assert read_default(text, labels) == place


# --- without a terminal ---


@pytest.mark.parametrize(
    ("default", "done"),
    [
        (None, Done(0, b"--first\n", "Which?\n  1. --first\n  2. two\n")),
        ("two", Done(0, b"two\n", "Which?\n  1. --first\n  2. two\n")),
        (
            "three",
            Done(
                2,
                b"",
                "base-branch: ASK_CHOICE_DEFAULT: 'three' is neither a number from 1 to 2 nor one of the options\n"
                "  try: unset ASK_CHOICE_DEFAULT\n",
            ),
        ),
    ],
)
def test_without_a_terminal_the_default_or_the_first_is_taken(default: str | None, done: Done) -> None:
    environ = {} if default is None else {"ASK_CHOICE_DEFAULT": default}
    assert base_branch("ask", "Which?", "--", "--first", "two", environ=environ) == done


# --- in a real pseudo-terminal ---


class Terminal:
    """The program with a terminal of its own as standard input and standard error; standard output is a pipe."""

    def __init__(self, child: subprocess.Popen[bytes], master: int) -> None:
        """Nothing is read yet."""
        self.child, self.master, self.screen = child, master, b""

    def wait_for(self, text: bytes) -> None:
        """Read until the screen holds a text once more."""
        seen = self.screen.count(text)
        while self.screen.count(text) == seen:
            assert self._read(), self.screen

    def send(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def end(self) -> Done:
        """What the program left; the rest of the screen is read."""
        while self._read():
            pass
        out, _ = self.child.communicate()
        return Done(self.child.returncode, out, self.screen.decode())

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], 60)
        assert ready, f"nothing comes: {self.screen!r}"
        try:
            data = os.read(self.master, 4096)
        except OSError:  # EIO: the other side is closed
            return False
        self.screen += data
        return bool(data)


Begin = Callable[..., Terminal]


@pytest.fixture
def begin() -> Iterator[Begin]:
    with _terminals() as begin_one:
        yield begin_one


@contextmanager
def _terminals() -> Iterator[Begin]:
    opened: list[Terminal] = []

    def begin_one(*arguments: str, size: tuple[int, int] = (24, 80), ready: bytes = PROMPT, **environ: str) -> Terminal:
        master, slave = os.openpty()
        termios.tcsetwinsize(slave, size)
        # The shell leads a session: what it opens becomes its terminal, whose interrupt key then reaches the program.
        script = 'tty="$1"; shift; exec "$@" <"$tty" 2>"$tty"'
        child = subprocess.Popen(
            ["sh", "-c", script, "sh", os.ttyname(slave), *COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            env=environment({"TERM": "xterm"} | environ),
        )
        opened.append(Terminal(child, master))
        # Held open until the program has it: a terminal without a holder is hung up.
        opened[-1].wait_for(ready)
        os.close(slave)
        return opened[-1]

    yield begin_one
    for terminal in opened:
        if terminal.child.returncode is None:
            terminal.child.kill()
            terminal.child.communicate()
        os.close(terminal.master)


def test_arrow_keys_and_enter(begin: Begin) -> None:
    terminal = begin("ask", "Which?", "one", "two", "three")
    terminal.send(UP)
    terminal.wait_for(b"> 3. three")
    terminal.send(UP)
    terminal.wait_for(b"> 2. two")
    terminal.send(DOWN + UP + b"\r")
    done = terminal.end()
    assert (done.code, done.out) == (0, b"two\n")
    assert done.err.endswith("Which? two\r\n")


def test_a_default_is_taken_without_a_key_on_a_terminal_too(begin: Begin) -> None:
    done = begin("ask", "Which?", "one", "two", ASK_CHOICE_DEFAULT="two", ready=b"2. two").end()
    assert (done.code, done.out) == (0, b"two\n")


def test_a_number_key_in_a_narrow_window(begin: Begin) -> None:
    terminal = begin(
        "ask", "Which branch?", *(f"release/8.{n}.0-and-more" for n in range(9)), size=(6, 20), ready=b"Arrows"
    )
    terminal.send(b"j")
    terminal.wait_for(b"> 2.")
    terminal.send(b"7")
    done = terminal.end()
    assert (done.code, done.out) == (0, b"release/8.6.0-and-more\n")
    first, _, _ = done.err.partition("\x1b[")
    assert first.split("\r\n") == [
        "Which branch?",
        "> 1. release/8.0.0\u2026",
        "  2. release/8.1.0\u2026",
        "  3. release/8.2.0\u2026",
        "Arrows or a number\u2026"[:19],
        "",
    ]


def test_an_interrupt_leaves_nothing_and_the_terminal_as_it_was(begin: Begin) -> None:
    terminal = begin("ask", "Which?", "one", "two")
    terminal.send(b"\x03")
    done = terminal.end()
    assert (done.code, done.out) == (130, b"")
    assert done.err.endswith("base-branch: interrupted\r\n")
    assert termios.tcgetattr(terminal.master)[3] & (termios.ECHO | termios.ICANON) == termios.ECHO | termios.ICANON


def test_giving_up_on_a_dumb_terminal(begin: Begin) -> None:
    terminal = begin("ask", "Which?", "one", "two", TERM="dumb")
    terminal.send(b"7\nq\n")
    done = terminal.end()
    assert (done.code, done.out) == (3, b"")
    assert "\x1b" not in done.err
    assert done.err.startswith("Which?\r\n  1. one\r\n  2. two\r\nNumber of the answer, Enter takes 1, q gives up: ")


# --- resolve --interactive ---


@pytest.fixture
def shop(stand: MakeStand) -> Stand:
    return stand("demo")


def asking(shop: Stand, tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    state = str(tmp_path / "state.json")
    arguments = ["resolve", str(shop.clone.path), "--issue-version", "8.4.0", "--interactive", "--state", state]
    return arguments, {"BASE_BRANCH_PREFERENCES": str(tmp_path / "preferences.json")}


def test_an_answer_at_the_terminal_is_recorded_and_remembered(shop: Stand, tmp_path: Path, begin: Begin) -> None:
    arguments, environ = asking(shop, tmp_path)
    terminal = begin(*arguments, **environ)
    terminal.send(b"4")  # another branch: the next page
    terminal.wait_for(PROMPT)
    terminal.send(b"1")
    done = terminal.end()
    decision = done.json()
    assert (done.code, decision["baseBranchSource"], decision["autonomy"]) == (0, "asked", "manual")
    chosen = decision["baseBranch"]
    assert decision["baseCommit"] == shop.remote.oid(chosen)
    state = json.loads((tmp_path / "state.json").read_bytes())
    assert (state["baseBranch"], state["baseBranchSource"], state["baseFetchStatus"]) == (chosen, "asked", "fresh")
    assert state["baseBranchEvidence"]["chosen"] == "release/8.4.0"
    assert [entry["branch"] for entry in stored_entries(tmp_path / "preferences.json")] == [chosen]


def test_giving_up_records_nothing_and_leaves_the_question(shop: Stand, tmp_path: Path, begin: Begin) -> None:
    arguments, environ = asking(shop, tmp_path)
    terminal = begin(*arguments, **environ)
    terminal.send(b"q")
    done = terminal.end()
    decision = done.json()
    assert (done.code, decision["baseBranch"], decision["baseFetchStatus"]) == (3, None, "aborted")
    assert decision["questions"][0]["default"] == 1
    assert sorted(path.name for path in tmp_path.glob("*.json")) == []


def test_without_a_terminal_the_question_is_printed_whatever_the_default(shop: Stand, tmp_path: Path) -> None:
    arguments, environ = asking(shop, tmp_path)
    done = base_branch(*arguments, environ=environ | {"ASK_CHOICE_DEFAULT": "1"})
    assert (done.code, done.err) == (3, "")
    assert done.json()["questions"][0]["options"][0]["label"] == "release/8.4.0"
    assert sorted(path.name for path in tmp_path.glob("*.json")) == []
