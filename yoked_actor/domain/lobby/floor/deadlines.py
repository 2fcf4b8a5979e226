"""The one heap of deadlines (R6).

A deadline names what it times. The code that runs it checks whether it still applies, and does
nothing if not. Deadlines of one instant run in the order of `Due`, then by user id.
"""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush

from yoked_actor.domain.time import Instant


class Due(IntEnum):
    """What a deadline is for; the number is its order among deadlines of one instant."""

    VOTE = 0
    ACKNOWLEDGE = 1
    DATE = 2
    RING = 3
    TIER = 4
    BAR = 5
    CALL_COUNT = 6
    LIVENESS = 7


Deadline = tuple[Instant, Due, str, str]
"""When, what for, the user (the first of a pair), and the id of what it times."""


class Deadlines:
    """A heap; entries that no longer apply stay in it until they come due."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[Deadline] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at: Instant, due: Due, user_id: str, subject: str = "") -> None:
        """Add a deadline."""
        heappush(self._heap, (at, due, user_id, subject))

    def shift(self, by: int) -> None:
        """Move every deadline by so many microseconds; their order stays."""
        self._heap = [(at + by, due, user_id, subject) for at, due, user_id, subject in self._heap]

    def next_at(self) -> Instant | None:
        """When the next deadline is due."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: Instant) -> Deadline | None:
        """Remove and return the next deadline that is due by now."""
        if self._heap and self._heap[0][0] <= now:
            return heappop(self._heap)
        return None
