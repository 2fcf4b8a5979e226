"""Service level objectives: the share of events that must be good.

Events are counted per minute over the last six hours. The burn rate is how fast the error budget,
the allowed share of bad events, is used up: a rate of 1 uses it up exactly.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum

import msgspec

SLICE_S = 60.0
KEPT_S = 6 * 3600.0


class Objective(StrEnum):
    """The objectives."""

    MORNING = "morning_sets"
    OFFERS = "offers_duration"
    MATCHES = "match_wait"
    VOTES = "vote_latency"
    SPINS = "spin_availability"


class Goal(msgspec.Struct, frozen=True):
    """The share of events that must be good, and the time within which an event is good."""

    target: float
    limit_s: float


class EventCounts(msgspec.Struct, frozen=True):
    """The number of good and bad events in a period."""

    good: int = 0
    bad: int = 0

    @property
    def ratio(self) -> float | None:
        """The share of good events; None if there are none."""
        total = self.good + self.bad
        return self.good / total if total else None

    def burn(self, target: float) -> float:
        """The burn rate of the error budget; 0 if there are no events."""
        total = self.good + self.bad
        return self.bad / total / (1.0 - target) if total else 0.0


class _Slice:
    __slots__ = ("bad", "ends_s", "good")

    def __init__(self, ends_s: float) -> None:
        self.ends_s = ends_s
        self.good = 0
        self.bad = 0


class Tally:
    """The events of one objective."""

    def __init__(self) -> None:
        self._slices: deque[_Slice] = deque()

    def count(self, good: int, bad: int, now_s: float) -> None:
        """Count events now, by a monotonic clock."""
        if not self._slices or self._slices[-1].ends_s <= now_s:
            self._slices.append(_Slice(now_s + SLICE_S))
            while self._slices[0].ends_s <= now_s - KEPT_S:
                self._slices.popleft()
        self._slices[-1].good += good
        self._slices[-1].bad += bad

    def since(self, window_s: float, now_s: float) -> EventCounts:
        """The events of a window, to the minute, of at most six hours."""
        found = [one for one in self._slices if one.ends_s > now_s - window_s]
        return EventCounts(sum(one.good for one in found), sum(one.bad for one in found))
