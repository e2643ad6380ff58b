"""How long a client may wait for a server, and before it asks again. The one port that sleeps and reads the clock.

What it decides is pure (`parse_retry_after`, `next_wait`); what it does is `pause` and `within`, and both end
with the deadline. Knows no client library and no product.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from msgspec import Struct

from collectors.process import Deadline

MOST_RETRIES: Final = 2
"""A server that asks to wait a third time is busy for longer than a base branch is worth."""

FIRST_WAIT: Final = 1.0
"""Seconds before the first retry where the server names none; each further one is twice as long."""

LEAST_LEFT: Final = 0.5
"""Seconds that have to be left after the wait: less than this is no time to ask in."""

_LONGEST: Final = 10 * 365 * 86400.0
_SLICE: Final = 0.2
_SECONDS: Final = re.compile(r"\d+(?:\.\d+)?", re.ASCII)

_T = TypeVar("_T")

_LOG: Final = logging.getLogger(__name__)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Clock(Struct, frozen=True, kw_only=True):
    """The wall clock and the sleep; a test hands in its own."""

    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = _utc_now


CLOCK: Final = Clock()


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a `Retry-After` header: a number or an HTTP date (RFC 9110, 10.2.3); None for neither.

    >>> parse_retry_after("7", datetime(2026, 1, 1, tzinfo=UTC))
    7.0
    >>> parse_retry_after("Thu, 01 Jan 2026 00:00:09 GMT", datetime(2026, 1, 1, tzinfo=UTC))
    9.0
    """
    text = (value or "").strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), _LONGEST)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if moment.tzinfo is None:  # `-0000`: a time in UTC that says nothing of where it was written
        moment = moment.replace(tzinfo=UTC)
    return min(max(0.0, (moment - now).total_seconds()), _LONGEST)


def next_wait(retries: int, asked: float | None, remaining: float) -> float | None:
    """Seconds to wait before the next try, or None where no further one is worth it.

    `retries`: how many there were; `asked`: what the server asked for, 0 included, or None; `remaining`: what
    the deadline leaves. A wait is never cut short: asking earlier than told is refused again.

    >>> next_wait(0, None, 20), next_wait(1, None, 20), next_wait(2, 0, 20), next_wait(0, 30, 20)
    (1.0, 2.0, None, None)
    """
    wait = FIRST_WAIT * 2**retries if asked is None else asked
    return None if retries >= MOST_RETRIES or wait + LEAST_LEFT > remaining else wait


def until(asked: float | None, now: datetime) -> str:
    """Until when a server refuses, in words.

    >>> until(90, datetime(2026, 1, 1, 9, 30, tzinfo=UTC))
    'until 09:31 UTC'
    """
    if asked is None:
        return "without saying until when"
    moment = now.astimezone(UTC) + timedelta(seconds=asked)
    day = "" if moment.date() == now.astimezone(UTC).date() else f"{moment:%Y-%m-%d} "
    return f"until {day}{moment:%H:%M} UTC"


def pause(seconds: float, deadline: Deadline, clock: Clock = CLOCK) -> None:
    """Sleep, in slices, so that a cancelled deadline is seen."""
    left = seconds
    while left > 0 and deadline.remaining():
        clock.sleep(min(left, _SLICE))
        left -= _SLICE


def within(deadline: Deadline, ask: Callable[[], _T], *, saying: str) -> _T:
    """What `ask` returns or raises, or TimeoutError once the deadline is over or cancelled.

    In a thread of its own, because no client's time-out is a limit on the whole: a name look-up has none at all,
    and a server that sends a byte now and then satisfies any limit on a single read. What is still running at
    the deadline is left behind: it ends with its own read time-out, and holds up no exit.

    `saying`: the request in words, for the log of what was asked and how long it took.
    """
    began = time.monotonic()
    became = "no answer in time"
    try:
        found = _within(deadline, ask)
        became = "answered"
    except TimeoutError:
        raise
    except BaseException as error:
        became = f"failed with {type(error).__name__}"
        raise
    finally:
        _LOG.debug("%s: %s, %d ms", saying, became, round((time.monotonic() - began) * 1000))
    return found


def _within(deadline: Deadline, ask: Callable[[], _T]) -> _T:
    if not deadline.remaining():
        raise TimeoutError
    future: Future[_T] = Future()

    def work() -> None:
        try:
            future.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name="ask").start()
    while not future.done():
        left = deadline.remaining()
        if not left:
            raise TimeoutError
        wait_for([future], timeout=min(_SLICE, left))
    return future.result()
