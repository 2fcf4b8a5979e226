"""Instants and durations.

An instant is a whole number of microseconds since the Unix epoch, in UTC. Whole numbers compare
exactly, so a deadline that was computed is the deadline that fires, on any clock and after any
round trip through the database. Durations are seconds, as people write them in settings.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

Instant = int
"""Microseconds since 1970-01-01T00:00:00Z."""

MICROSECONDS = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400 * MICROSECONDS


def after(at: Instant, seconds: float) -> Instant:
    """The instant `seconds` after `at` (before it, when negative)."""
    return at + round(seconds * MICROSECONDS)


def seconds_between(earlier: Instant, later: Instant) -> float:
    """How many seconds lie between two instants."""
    return (later - earlier) / MICROSECONDS


# All that is said in one round is said of a few instants: now, and when a window closes.
@lru_cache(maxsize=16)
def to_datetime(at: Instant) -> datetime:
    """The instant as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=at)


def from_datetime(moment: datetime) -> Instant:
    """The instant of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=16)
def utc_date(at: Instant) -> date:
    """The calendar day, in UTC, that an instant lies in."""
    return date.fromordinal(719_163 + at // _DAY)
