"""Closes sockets whose token has expired: one task and one heap for all of them.

A socket that has ended, or has a newer token, leaves its old entry in the heap. Such entries are
dropped when they are due, and all at once when there are more of them than sockets.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import Protocol

import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.time import Instant

_MOST_STALE = 64


class Expiring(Protocol):
    """A socket whose token can expire."""

    def token_expired(self) -> None:
        """Close the socket. Must not block."""


class Expiries:
    """When each open socket has to end because of its token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ends_at: dict[Expiring, Instant] = {}
        self._heap: list[tuple[Instant, int, Expiring]] = []
        self._order = count()
        self._sooner = trio.Event()

    def __len__(self) -> int:
        return len(self._ends_at)

    def put(self, socket: Expiring, ends_at: Instant) -> None:
        """End a socket at this instant, in place of an earlier one."""
        self._ends_at[socket] = ends_at
        entry = (ends_at, next(self._order), socket)
        heappush(self._heap, entry)
        if self._heap[0] is entry:
            self._sooner.set()
        self._drop_stale()

    def forget(self, socket: Expiring) -> None:
        """A socket has ended."""
        self._ends_at.pop(socket, None)
        self._drop_stale()

    async def run(self) -> None:
        """End sockets until cancelled."""
        while True:
            now = self._clock.now()
            while self._heap and self._heap[0][0] <= now:
                ends_at, _, socket = heappop(self._heap)
                if self._ends_at.get(socket) == ends_at:
                    del self._ends_at[socket]
                    socket.token_expired()
            self._sooner = trio.Event()
            with self._clock.until(self._heap[0][0] if self._heap else None):
                await self._sooner.wait()

    def _drop_stale(self) -> None:
        if len(self._heap) > 2 * len(self._ends_at) + _MOST_STALE:
            self._heap = [(at, next(self._order), one) for one, at in self._ends_at.items()]
            heapify(self._heap)
