"""How long a client waits: by what the server asks for, and never past the deadline."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest

from collectors.http_waiting import FIRST_WAIT, LEAST_LEFT, Clock, next_wait, parse_retry_after, pause, until, within
from collectors.process import Deadline

NOW = datetime(2026, 11, 30, 9, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        (" 30 ", 30.0),
        ("1.5", 1.5),
        ("Mon, 30 Nov 2026 09:15:20 GMT", 20.0),
        ("Mon, 30 Nov 2026 09:15:20 -0000", 20.0),
        ("Mon, 30 Nov 2026 08:00:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 10:15:20 +0100", 20.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("٣", None),
        ("Mon, 99 Nov 2026 09:15:20 GMT", None),
    ],
)
def test_what_retry_after_says(value: str | None, seconds: float | None) -> None:
    assert parse_retry_after(value, NOW) == seconds


def test_a_number_beyond_all_measure_can_still_be_told() -> None:
    asked = parse_retry_after("9" * 400, NOW)
    assert asked is not None
    assert until(asked, NOW).startswith("until 2036-")


@pytest.mark.parametrize(
    ("retries", "asked", "remaining", "wait"),
    [
        (0, 0.0, 20.0, 0.0),
        (1, 0.0, 20.0, 0.0),
        (2, 0.0, 20.0, None),
        (0, 7.0, 20.0, 7.0),
        (0, 30.0, 20.0, None),
        (0, None, 20.0, FIRST_WAIT),
        (1, None, 20.0, 2 * FIRST_WAIT),
        (0, 19.5, 19.5 + LEAST_LEFT, 19.5),
        (0, 19.6, 19.5 + LEAST_LEFT, None),
        (0, 0.0, 0.0, None),
    ],
)
def test_whether_and_how_long_to_wait(retries: int, asked: float | None, remaining: float, wait: float | None) -> None:
    assert next_wait(retries, asked, remaining) == wait


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (1800.0, "until 09:45 UTC"),
        (20 * 3600.0, "until 2026-12-01 05:15 UTC"),
        (None, "without saying until when"),
    ],
)
def test_until_when_in_words(asked: float | None, words: str) -> None:
    assert until(asked, NOW) == words


def test_the_words_are_in_utc_wherever_the_clock_is() -> None:
    from_elsewhere = datetime.fromisoformat("2026-11-30T10:15:00+01:00")
    assert until(60, from_elsewhere) == "until 09:16 UTC"


def test_a_pause_is_slept_in_slices_that_add_up() -> None:
    slept: list[float] = []
    pause(0.5, Deadline(60), Clock(sleep=slept.append))
    assert sum(slept) == pytest.approx(0.5)
    assert len(slept) > 1


def test_a_cancelled_deadline_ends_a_pause() -> None:
    deadline, slept = Deadline(60), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        deadline.cancel()

    pause(30, deadline, Clock(sleep=sleep))
    assert len(slept) == 1


def test_within_gives_what_was_asked_for() -> None:
    assert within(Deadline(60), lambda: 7, saying="GET it") == 7


def test_within_raises_what_was_raised() -> None:
    def ask() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        within(Deadline(60), ask, saying="GET it")


def test_within_leaves_what_does_not_end_once_the_deadline_is_cancelled() -> None:
    deadline, freed = Deadline(60), threading.Event()

    def ask() -> None:
        deadline.cancel()
        freed.wait(30)

    try:
        with pytest.raises(TimeoutError):
            within(deadline, ask, saying="GET it")
    finally:
        freed.set()


def test_nothing_is_asked_after_the_deadline() -> None:
    asked: list[int] = []
    with pytest.raises(TimeoutError):
        within(Deadline(0), lambda: asked.append(1), saying="GET it")
    assert asked == []


def test_the_real_clock_is_in_utc() -> None:
    assert Clock().now().utcoffset() == timedelta(0)
