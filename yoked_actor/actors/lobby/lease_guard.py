"""Whether this node still has a room, asked before users are told something.

A commit names the lease, so that the database refuses it when another node has the room. A round
that stores nothing could still tell users what is no longer so, after a pause of the process. Such
a round asks the database first, unless the lease was renewed within its life.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from yoked_actor.domain.nodes import RoomLease

Check = Callable[[RoomLease], Awaitable[None]]
"""Raises `RoomLeaseLost` unless the room is still this node's."""


class LeaseGuard:
    """The lease of one room, and until when it is certainly valid."""

    def __init__(self, lease: RoomLease, check: Check, fresh_until_s: float) -> None:
        """`fresh_until_s` is on trio's clock."""
        self.lease = lease
        self._check = check
        self._fresh_until_s = fresh_until_s

    def refresh(self, until_s: float) -> None:
        """The lease was renewed."""
        self._fresh_until_s = until_s

    async def confirm(self) -> None:
        """Raise `RoomLeaseLost` if another node has the room. Checkpoints if that may be so."""
        if trio.current_time() >= self._fresh_until_s:
            await self._check(self.lease)
