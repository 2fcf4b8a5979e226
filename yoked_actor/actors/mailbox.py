"""A bounded mailbox that is emptied by the armful.

trio's memory channels hand over one item at a time, which costs a scheduling step each. The
matchmaker wants everything that is there, so that one commit carries it all.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class MailboxFull(Exception):
    """There is no room, and the caller did not want to wait for it."""


class Mailbox(Generic[T]):
    """Many may put, one takes. Order is kept."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._items: deque[T] = deque()
        self._filled = trio.lowlevel.ParkingLot()
        self._emptied = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        return len(self._items)

    def put_nowait(self, item: T) -> None:
        """Add an item, or raise `MailboxFull`."""
        if len(self._items) >= self._capacity:
            raise MailboxFull
        self.put_always(item)

    def put_always(self, item: T) -> None:
        """Add an item even beyond the capacity: for what must be heard and is bounded elsewhere."""
        self._items.append(item)
        if self._filled:
            self._filled.unpark()

    async def put(self, item: T) -> None:
        """Add an item, waiting for room if there is none. Does not yield when there is room."""
        await self.wait_for_room()
        self.put_nowait(item)

    async def wait_for_room(self) -> None:
        """Wait until an item can be added; until the next checkpoint nobody else takes the room."""
        while len(self._items) >= self._capacity:
            await self._emptied.park()

    async def wait(self) -> None:
        """Wait until something is there. Does not yield when something is."""
        while not self._items:
            await self._filled.park()

    def take_all(self) -> list[T]:
        """Everything that is there."""
        items = list(self._items)
        self._items.clear()
        if self._emptied:
            self._emptied.unpark_all()
        return items
