"""Instants and durations.

An instant is an integer: microseconds since the Unix epoch, in UTC. Integers compare exactly, so a
deadline is the same after a round trip through the database. Durations are in seconds, as in the
settings.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

Instant = int
"""Microseconds since 1970-01-01T00:00:00Z."""

MICROSECONDS: Final = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400 * MICROSECONDS


def microseconds(seconds: float) -> int:
    """A duration in whole microseconds."""
    return round(seconds * MICROSECONDS)


def after(at: Instant, seconds: float) -> Instant:
    """The instant `seconds` after `at` (before it, when negative)."""
    return at + round(seconds * MICROSECONDS)


def seconds_between(earlier: Instant, later: Instant) -> float:
    """The seconds between two instants."""
    return (later - earlier) / MICROSECONDS


# The notices of one round contain few different instants: now, and the ends of windows.
@lru_cache(maxsize=16)
def to_datetime(at: Instant) -> datetime:
    """The instant as an aware UTC datetime."""
    return _EPOCH + timedelta(microseconds=at)


def from_datetime(moment: datetime) -> Instant:
    """The instant of an aware datetime."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


@lru_cache(maxsize=16)
def utc_date(at: Instant) -> date:
    """The UTC date of an instant."""
    return date.fromordinal(719_163 + at // _DAY)
