"""Counts of the last hour by the minute, for the charts of the operator's console.

They are counted always, so that a console that is opened shows the hour before. Minutes without
events are left out.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from yoked_actor.domain.lobby import CancelReason, Changes, MatchStatus, Outcome
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.time import MICROSECONDS, Instant

MINUTE: Final = 60 * MICROSECONDS
MINUTES: Final = 60
"""How many minutes are kept."""


# A constant is read faster than a member of an enumeration.
_COMPLETED: Final = MatchStatus.COMPLETED


class Minute:
    """The counts of one minute."""

    __slots__ = ("cancelled", "outcomes", "starts_at", "tiers", "wait_s", "waiting")

    def __init__(self, starts_at: Instant, waiting: int) -> None:
        self.starts_at = starts_at
        self.waiting = waiting
        """The most users who waited at once."""
        self.tiers: Counter[Tier] = Counter()
        """Matches, by the wider tier of the two."""
        self.outcomes: Counter[Outcome] = Counter()
        self.cancelled: Counter[CancelReason] = Counter()
        self.wait_s = 0.0
        """The sum of the waits of both sides of all matches."""

    @property
    def matches(self) -> int:
        """How many matches were made."""
        return self.tiers.total()


class RecentMinutes:
    """Counts by the minute, for an hour."""

    def __init__(self) -> None:
        self._minutes: deque[Minute] = deque(maxlen=MINUTES)
        self._waiting = 0

    def count(self, changes: Changes, waiting: int, now: Instant) -> None:
        """Count the decisions of a round, and how many users wait after it."""
        minute = self._at(now)
        self._waiting = waiting
        minute.waiting = max(minute.waiting, waiting)
        for quality in changes.quality:
            minute.tiers[max(quality.a_tier, quality.b_tier)] += 1
            minute.wait_s += quality.a_wait_s + quality.b_wait_s
        for match in changes.matches:
            if match.status is _COMPLETED and match.outcome is not None:
                minute.outcomes[match.outcome] += 1
            elif match.cancelled_for is not None:
                minute.cancelled[match.cancelled_for] += 1

    def shift(self, by: int) -> None:
        """Follow a step of the clock by so many microseconds."""
        for minute in self._minutes:
            minute.starts_at = (minute.starts_at + by) // MINUTE * MINUTE

    def since(self, now: Instant) -> list[Minute]:
        """The minutes of the last hour that had a round or a reader, the oldest first.

        The last one is the minute of `now`: users who only wait cause no round.
        """
        self._at(now)
        first = now // MINUTE - MINUTES + 1
        return [minute for minute in self._minutes if minute.starts_at // MINUTE >= first]

    def _at(self, now: Instant) -> Minute:
        starts_at = now // MINUTE * MINUTE
        if not self._minutes or self._minutes[-1].starts_at < starts_at:
            self._minutes.append(Minute(starts_at, self._waiting))
        return self._minutes[-1]
