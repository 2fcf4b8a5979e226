"""The events that a client has received and its user has not read yet."""

from __future__ import annotations

from collections import deque

import trio

from yoked_actor.client.commands import Event

_MAX_EVENTS = 10_000


class EventQueue:
    """Events in the order of their arrival. When it is full, the oldest is dropped."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque(maxlen=_MAX_EVENTS)
        self._changed = trio.lowlevel.ParkingLot()
        self._error: Exception | None = None

    def put(self, event: Event) -> None:
        """Add an event."""
        self._events.append(event)
        self._changed.unpark_all()

    async def next(self) -> Event:
        """Take the first event; wait for one, or raise what `close` was given."""
        while not self._events:
            if self._error is not None:
                raise self._error
            await self._changed.park()
        return self._events.popleft()

    def take_all(self) -> list[Event]:
        """Take all events that are there."""
        events = list(self._events)
        self._events.clear()
        return events

    def close(self, error: Exception) -> None:
        """No more events will come: `next` raises `error` once the queue is empty."""
        self._error = error
        self._changed.unpark_all()
