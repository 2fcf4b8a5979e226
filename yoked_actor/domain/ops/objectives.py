"""What the service promises: each objective is a share of events that have to be good.

Counted by the minute over the last six hours, so that it can be said how fast the share of bad
events that an objective allows, its budget, is being used up: a burn of 1 uses it exactly.
"""

from __future__ import annotations

from collections import deque
from enum import StrEnum

import msgspec

SLICE_S = 60.0
KEPT_S = 6 * 3600.0


class Objective(StrEnum):
    """What is promised."""

    MORNING = "morning_sets"
    OFFERS = "offers_duration"
    MATCHES = "match_wait"
    VOTES = "vote_latency"
    SPINS = "spin_availability"


class Goal(msgspec.Struct, frozen=True):
    """Which share of events has to be good, and within which time an event is."""

    target: float
    limit_s: float


class EventCounts(msgspec.Struct, frozen=True):
    """How many events were good and bad in some time."""

    good: int = 0
    bad: int = 0

    @property
    def ratio(self) -> float | None:
        """The share of good ones; None of none."""
        total = self.good + self.bad
        return self.good / total if total else None

    def burn(self, target: float) -> float:
        """How many times as fast as allowed the budget of bad ones is used up; 0 of none."""
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
        """Count events, now, on a clock that only goes on."""
        if not self._slices or self._slices[-1].ends_s <= now_s:
            self._slices.append(_Slice(now_s + SLICE_S))
            while self._slices[0].ends_s <= now_s - KEPT_S:
                self._slices.popleft()
        self._slices[-1].good += good
        self._slices[-1].bad += bad

    def since(self, window_s: float, now_s: float) -> EventCounts:
        """The events of the last while, to a minute, at most of the last six hours."""
        found = [one for one in self._slices if one.ends_s > now_s - window_s]
        return EventCounts(sum(one.good for one in found), sum(one.bad for one in found))
