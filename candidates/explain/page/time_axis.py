"""Where a moment stands on a picture's time axis, and which days are written under it. Pure geometry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from msgspec import Struct

_DAY = 86_400.0
_SHORTEST_DAYS = 14
_MONTH_DAYS = 30.44
_DAY_STEPS = (1, 2, 7, 14)
_MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000, 12000)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_LAST_YEAR = 9999


class TimeAxis(Struct, frozen=True, kw_only=True):
    """A span of time on a span of the picture, both in their own numbers: seconds since 1970, and units of width."""

    start: float
    end: float
    left: float
    right: float

    def at(self, moment: datetime) -> float:
        """Where a moment stands; what is later than the end, at the end."""
        share = min((moment.timestamp() - self.start) / (self.end - self.start), 1.0)
        return round(self.left + share * (self.right - self.left), 1)

    def ticks(self, apart: float) -> Iterator[tuple[float, str]]:
        """Days with what is written at them, at least `apart` from one another.

        >>> start, end = (datetime(y, 1, 1, tzinfo=UTC).timestamp() for y in (2024, 2026))
        >>> axis = TimeAxis(start=start, end=end, left=0, right=731)
        >>> [text for _, text in axis.ticks(150)]
        ['2024', 'Jul 2024', '2025', 'Jul 2025', '2026']
        """
        days = apart / (self.right - self.left) * (self.end - self.start) / _DAY
        short = next((n for n in _DAY_STEPS if n >= days), None)
        yield from self._days(short) if short is not None else self._months(days)

    def _days(self, step: int) -> Iterator[tuple[float, str]]:
        number = -(-self.start // (_DAY * step)) * step  # the first multiple inside
        while number * _DAY <= self.end:
            day = _day(number * _DAY)
            yield self.at(day), f"{day.day} {_MONTHS[day.month - 1]}"
            number += step

    def _months(self, days: float) -> Iterator[tuple[float, str]]:
        step = next((n for n in _MONTH_STEPS if n * _MONTH_DAYS >= days), _MONTH_STEPS[-1])
        first = _day(self.start)
        number = -(-(first.year * 12 + first.month - 1) // step) * step
        while (year := number // 12) <= _LAST_YEAR:
            month = number % 12
            day = datetime(max(year, 1), month + 1, 1, tzinfo=UTC)
            if day.timestamp() > self.end:
                return
            if day.timestamp() >= self.start:
                yield self.at(day), f"{year}" if month == 0 else f"{_MONTHS[month]} {year}"
            number += step


def axis_over(moments: Sequence[datetime], left: float, right: float) -> TimeAxis:
    """The axis from the first moment to the last, of two weeks at least."""
    start, end = min(moments).timestamp(), max(moments).timestamp()
    return TimeAxis(start=min(start, end - _SHORTEST_DAYS * _DAY), end=end, left=left, right=right)


def _day(seconds: float) -> datetime:
    """The moment as a date, inside the years that dates have."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    least, most = datetime(1, 1, 1, tzinfo=UTC), datetime(_LAST_YEAR, 12, 31, tzinfo=UTC)
    return epoch + timedelta(seconds=min(max(seconds, (least - epoch).total_seconds()), (most - epoch).total_seconds()))
