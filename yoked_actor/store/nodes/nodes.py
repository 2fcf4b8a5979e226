"""Nodes and the leases of rooms.

Times are those of the database's clock, and are judged inside the statement that changes a row. So
the clocks of the nodes need not agree. An epoch is never used twice: a released lease keeps its
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from yoked_actor.domain.nodes import HeldLease, Node, RoomLease
from yoked_actor.store.engine import Database, StoreError, Turn, Tx, statement

T = TypeVar("T")

_REGISTER = statement("nodes/register")
_BEAT = statement("nodes/beat")
_LEAVE = statement("nodes/leave")
_NODES = statement("nodes/nodes")
_ACQUIRE = statement("nodes/acquire")
_RENEW = statement("nodes/renew")
_RELEASE = statement("nodes/release")
_LEASES = statement("nodes/leases")
_CHECK = statement("nodes/check")
_TELL = statement("nodes/tell")
_MOVE_USER = statement("nodes/move_user")


class RoomLeaseLost(StoreError):
    """Another node has taken the room: nothing was written, and no user may be told anything."""


class NodeIdTaken(StoreError):
    """Another server with this `node.id` was heard within the life of a lease."""


class Nodes:
    """The servers that share the database. What a write did is durable on return."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _write(self, apply: Callable[[Tx], T], *, atomic: bool = True) -> T:
        # Each statement decides by the row that it locks. `atomic`: there is only one.
        return await self._database.write(apply, atomic=atomic, turn=Turn.FREE)

    async def register(self, node: str, url: str, boot: int, lease_s: float) -> None:
        """Make this server known. Raises `NodeIdTaken`, and changes nothing then."""
        row = {"id": node, "url": url, "boot": boot, "lease_s": lease_s}
        if not await self._write(lambda tx: tx.execute(_REGISTER, row).rowcount):
            raise NodeIdTaken(
                f"another server runs as node {node}: node.id must be unique; give this one another"
            )

    async def leave(self, node: str, boot: int, leases: Iterable[RoomLease] = ()) -> None:
        """This server stops: the others need not wait for its silence, and may take its rooms."""
        row, held = {"id": node, "boot": boot}, _held(node, dict.fromkeys(leases, 0))

        def apply(tx: Tx) -> None:
            tx.execute(_LEAVE, row)
            tx.execute(_RELEASE, held)
            tx.execute(_TELL, {"node": node})

        await self._write(apply, atomic=False)

    async def nodes(self) -> list[Node]:
        """All servers that are registered, by name."""
        rows = await self._database.read(lambda tx: tx.execute(_NODES).fetchall())
        return [Node(node, url, boot, float(silent_s)) for node, url, boot, silent_s in rows]

    async def acquire(self, room: str, node: str, lease_s: float) -> RoomLease | None:
        """Take a room whose lease has expired; None when another node has it."""
        row = {"room": room, "node": node, "lease_s": lease_s}

        def apply(tx: Tx) -> int | None:
            found = tx.execute(_ACQUIRE, row).fetchone()
            if found is None:
                return None
            tx.execute(_TELL, {"node": node})
            epoch: int = found[0]
            return epoch

        epoch = await self._write(apply, atomic=False)
        return None if epoch is None else RoomLease(room, node, epoch)

    async def renew(
        self, node: str, boot: int, here: Mapping[RoomLease, int], lease_s: float
    ) -> tuple[bool, set[str]]:
        """Say that this server is live, and extend its leases, with the users in each room.

        Returns whether the server is still registered, and the rooms whose lease is still its own.
        A process that is paused has done both or neither: its rooms are never free while it counts
        as live.
        """
        row = {**_held(node, here), "lease_s": lease_s}

        def apply(tx: Tx) -> tuple[bool, set[str]]:
            is_registered = bool(tx.execute(_BEAT, {"id": node, "boot": boot}).rowcount)
            rows = tx.execute(_RENEW, row).fetchall() if here else []
            return is_registered, {room for (room,) in rows}

        return await self._write(apply, atomic=False)

    async def release(self, lease: RoomLease) -> None:
        """Let other nodes take a room at once. A lease that was lost stays as it is."""

        def apply(tx: Tx) -> None:
            tx.execute(_RELEASE, _held(lease.node, {lease: 0}))
            tx.execute(_TELL, {"node": lease.node})

        await self._write(apply, atomic=False)

    async def leases(self) -> list[HeldLease]:
        """The lease of each room that ever had one, by room."""
        rows = await self._database.read(lambda tx: tx.execute(_LEASES).fetchall())
        return [
            HeldLease(room, node, epoch, float(left_s), here)
            for room, node, epoch, left_s, here in rows
        ]

    async def move_user(self, user_id: str, room: str, lease: RoomLease) -> None:
        """Store that a user, who is idle in the room of the lease, is in another room.

        Raises `RoomLeaseLost`, and changes nothing then.
        """
        row = {**msgspec.structs.asdict(lease), "user": user_id, "target": room}
        if not await self._write(lambda tx: tx.execute(_MOVE_USER, row).rowcount):
            raise RoomLeaseLost(f"another node serves the room {lease.room}")

    async def check(self, lease: RoomLease) -> None:
        """Raise `RoomLeaseLost` unless the room is still this node's."""
        row = msgspec.structs.asdict(lease)
        if await self._database.read(lambda tx: tx.execute(_CHECK, row).fetchone()) is None:
            raise RoomLeaseLost(f"another node serves the room {lease.room}")


def _held(node: str, here: Mapping[RoomLease, int]) -> dict[str, str]:
    rows = [
        {"room": lease.room, "epoch": lease.epoch, "here": users} for lease, users in here.items()
    ]
    return {"node": node, "held": msgspec.json.encode(rows).decode()}
