"""How long a remembered choice counts. By its age, never by the moment at which it ends: that may be no date at all."""

from __future__ import annotations

from datetime import datetime, timedelta

from ranking.facts import RecentChoice


def is_expired(choice: RecentChoice, now: datetime, days: int) -> bool:
    """Whether a choice is past its time to live, of however many days."""
    return now - choice.last_used > timedelta(days=min(days, timedelta.max.days))
