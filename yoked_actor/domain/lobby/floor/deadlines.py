"""Every deadline of the lobby, in order (R6).

A deadline names what it times. The code that runs it checks whether it still applies, and does
nothing if not. Deadlines of one instant run in the order of `Due`, then by user id.

Most deadlines share their instant with others: the windows of all matches that one round has made
close together. So the heap holds instants, and each instant has a list, which becomes a heap when
its first deadline is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from heapq import heapify, heappop, heappush
from typing import Final

from mypy_extensions import mypyc_attr

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
    BIRTHDAYS = 8


# A constant is read faster than a member of an enumeration.
_TIER: Final = Due.TIER

Deadline = tuple[Instant, Due, str, str]
"""When, what for, the user (the first of a pair), and the id of what it times."""


# A test derives from it.
@mypyc_attr(allow_interpreted_subclasses=True)
class Deadlines:
    """Deadlines by instant; those that no longer apply stay until they come due."""

    __slots__ = ("_by_instant", "_instants", "_open_at")

    def __init__(self) -> None:
        self._instants: list[Instant] = []
        """A heap."""
        self._by_instant: dict[Instant, list[tuple[Due, str, str]]] = {}
        """At least one deadline for each instant of the heap."""
        self._open_at: Instant | None = None
        """The instant whose list is a heap, because its deadlines are being run."""

    def __len__(self) -> int:
        return sum(map(len, self._by_instant.values()))

    def add(self, at: Instant, due: Due, user_id: str, subject: str = "") -> None:
        """Add a deadline."""
        found = self._by_instant.get(at)
        if found is None:
            self._by_instant[at] = [(due, user_id, subject)]
            heappush(self._instants, at)
        elif at == self._open_at:
            heappush(found, (due, user_id, subject))
        else:
            found.append((due, user_id, subject))

    def shift(self, by: int) -> None:
        """Move every deadline by so many microseconds; their order stays."""
        self._instants = [at + by for at in self._instants]
        self._by_instant = {at + by: found for at, found in self._by_instant.items()}
        self._open_at = None

    def next_at(self, edges_from: Instant = 0) -> Instant | None:
        """When the next deadline is due; a tier edge before `edges_from` counts as due then."""
        if not self._instants:
            return None
        first = self._instants[0]
        if first >= edges_from:
            return first
        instants, places, found = self._instants, [0], edges_from
        while places:
            place = places.pop()
            if place < len(instants) and (at := instants[place]) < found:
                for due, _, _ in self._by_instant[at]:
                    if due is not _TIER:
                        found = at
                        break
                places += (2 * place + 1, 2 * place + 2)
        return found

    def first(self) -> Deadline | None:
        """The next deadline."""
        if not self._instants:
            return None
        at = self._instants[0]
        found = self._by_instant[at]
        due, user_id, subject = found[0] if at == self._open_at else min(found)
        return at, due, user_id, subject

    def due_by(self, now: Instant) -> Iterator[Deadline]:
        """The deadlines that are due by now, in no order; none may change meanwhile."""
        instants, places = self._instants, [0]
        while places:
            place = places.pop()
            if place < len(instants) and (at := instants[place]) <= now:
                for due, user_id, subject in self._by_instant[at]:
                    yield at, due, user_id, subject
                # In a heap, what is below a later instant is later too.
                places += (2 * place + 1, 2 * place + 2)

    def pop_due(self, now: Instant) -> Deadline | None:
        """Remove and return the next deadline that is due by now."""
        if not self._instants or self._instants[0] > now:
            return None
        at = self._instants[0]
        found = self._by_instant[at]
        if at != self._open_at:
            heapify(found)
            self._open_at = at
        due, user_id, subject = heappop(found)
        if not found:
            heappop(self._instants)
            del self._by_instant[at]
            self._open_at = None
        return at, due, user_id, subject
