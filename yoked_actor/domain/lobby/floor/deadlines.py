"""The one heap of deadlines (R6).

A deadline names what it times; whoever fires it looks whether that is still so, and does nothing
when it is over. Deadlines of one instant run in the order vote, acknowledge, date, tier edges and
bars, liveness; then by user id.
"""

from __future__ import annotations

from enum import IntEnum
from heapq import heappop, heappush

from yoked_actor.domain.time import Instant


class Due(IntEnum):
    """What a deadline is about; the number is its turn among those of one instant."""

    VOTE = 0
    ACKNOWLEDGE = 1
    DATE = 2
    TIER = 3
    BAR = 4
    LIVENESS = 5


Deadline = tuple[Instant, Due, str, str]
"""When, what, the user it goes by (the first of a pair), and the id of what it times."""


class Deadlines:
    """A heap in which stale entries are let be until they surface."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[Deadline] = []

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, at: Instant, due: Due, user_id: str, subject: str = "") -> None:
        """Time something."""
        heappush(self._heap, (at, due, user_id, subject))

    def shift(self, by: int) -> None:
        """Move every deadline by so many microseconds; their order stays."""
        self._heap = [(at + by, due, user_id, subject) for at, due, user_id, subject in self._heap]

    def next_at(self) -> Instant | None:
        """When the next deadline is due."""
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now: Instant) -> Deadline | None:
        """The next deadline that is due by now, taken out."""
        if self._heap and self._heap[0][0] <= now:
            return heappop(self._heap)
        return None
