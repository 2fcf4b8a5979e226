"""What this node knows of the others, as of its last look into the database."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import trio

from yoked_actor.domain.nodes import (
    HeldLease,
    Node,
    doubted_after_s,
    orphaned_after_s,
    renew_every_s,
)

_AFTER_S = 0.02
"""What has just become so by our estimate may not be so yet by the clock of the database."""
_UNSERVED_LOOKS = 4
"""How much more often the database is read while a room has no node, or one that is late."""


class Directory:
    """The nodes, and which of them serves which room."""

    def __init__(self, me: str, lease_s: float) -> None:
        self.me = me
        self.lease_s = lease_s
        self.nodes: tuple[Node, ...] = ()
        self.leases: tuple[HeldLease, ...] = ()
        self.urls: set[str] = set()
        """The public base URLs of the other nodes. It is changed in place."""
        self.is_known = False
        """Whether the database was read since the start."""
        self.read_s = float("-inf")
        """When it was last read, on trio's clock."""
        self._changed = trio.Event()

    def update(self, nodes: Iterable[Node], leases: Iterable[HeldLease], now_s: float) -> None:
        """Keep what the database says."""
        self.nodes, self.leases = tuple(nodes), tuple(leases)
        self.is_known, self.read_s = True, now_s
        self.urls.clear()
        self.urls.update(one.url for one in self.nodes if one.node != self.me)
        self.wake()

    def wake(self) -> None:
        """Let the tasks that wait for a change look again."""
        self._changed.set()
        self._changed = trio.Event()

    async def change(self) -> None:
        """Wait until the database was read again, or a room was opened here."""
        await self._changed.wait()

    @property
    def live(self) -> set[str]:
        """The nodes that were heard within the life of a lease."""
        return {one.node for one in self.nodes if one.is_live(self.lease_s)}

    @property
    def prompt(self) -> set[str]:
        """The nodes that have renewed in time. A room is taken by one of these: a node that is
        late may be gone as well."""
        doubted_s = doubted_after_s(self.lease_s)
        return {one.node for one in self.nodes if one.node == self.me or one.silent_s < doubted_s}

    @property
    def owners(self) -> dict[str, str]:
        """The node of each room whose lease is valid."""
        return {lease.room: lease.node for lease in self.leases if lease.is_valid}

    @property
    def orphans(self) -> set[str]:
        """Rooms whose lease expired so long ago that any node should take them."""
        limit_s = -orphaned_after_s(self.lease_s)
        return {lease.room for lease in self.leases if lease.left_s <= limit_s}

    def url_of(self, room: str) -> str | None:
        """The public base URL of another node that serves a room; None if there is none.

        A node that did not renew its lease in time is not named: a client that is sent to a node
        that hangs would wait there.
        """
        doubted_s = self.lease_s - doubted_after_s(self.lease_s)
        for lease in self.leases:
            if lease.room == room and lease.node != self.me and lease.left_s > doubted_s:
                return next((one.url for one in self.nodes if one.node == lease.node), None)
        return None

    def here(self, room: str) -> int:
        """How many users are in a room of another node, as its node has last written."""
        return sum(one.here for one in self.leases if one.room == room and one.is_valid)

    def next_look_s(self, rooms: Collection[str]) -> float:
        """How long after the last look the database has to be read again; the rooms are those
        that some node has to serve.

        It is read at the moment when something changes if a node stays silent.
        """
        every_s = renew_every_s(self.lease_s)
        doubted_s = self.lease_s - doubted_after_s(self.lease_s)
        # Clients wait for the room of a node that is late: it may renew at any moment.
        sure = {one.room for one in self.leases if one.node == self.me or one.left_s > doubted_s}
        if not set(rooms) <= self.owners.keys() & sure:
            every_s /= _UNSERVED_LOOKS
        changes = [self.lease_s - one.silent_s for one in self.nodes if one.node != self.me]
        for lease in self.leases:
            if lease.room in rooms and lease.node != self.me:
                changes += [lease.left_s, lease.left_s - doubted_s]
        return min([every_s, *(one + _AFTER_S for one in changes if one > 0)])
