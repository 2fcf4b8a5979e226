"""A bounded mailbox that its reader drains in batches.

trio's memory channels deliver one item at a time, at the cost of a scheduling step each. The
matchmaker takes everything that is there, so that one commit carries it all.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class MailboxFull(Exception):
    """The mailbox has no room, and the caller does not wait for it."""


class Mailbox(Generic[T]):
    """A first-in first-out queue with many writers and one reader.

    Unlike trio's channels, an async method is a checkpoint only when it has to wait: when it need
    not wait, it neither lets other tasks run nor notices a cancellation.
    """

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
        """Add an item even beyond the capacity: for items whose number is bounded elsewhere."""
        self._items.append(item)
        # The reader waits only while there is no item.
        if len(self._items) == 1:
            self._filled.unpark()

    async def put(self, item: T) -> None:
        """Add an item, waiting for room.

        Checkpoints only if the mailbox is full. If cancelled, the item has not been added.
        """
        await self.wait_for_room()
        self.put_nowait(item)

    async def wait_for_room(self) -> None:
        """Wait until an item can be added; the caller has the room until its next checkpoint.

        Checkpoints only if the mailbox is full. Cancellation changes nothing.
        """
        while len(self._items) >= self._capacity:
            await self._emptied.park()

    async def wait(self) -> None:
        """Wait until there is an item.

        Checkpoints only if the mailbox is empty. Cancellation changes nothing.
        """
        while not self._items:
            await self._filled.park()

    def take_all(self) -> list[T]:
        """Remove and return all items, the oldest first, and let waiting writers add theirs."""
        items = list(self._items)
        self._items.clear()
        if self._emptied:
            self._emptied.unpark_all()
        return items
