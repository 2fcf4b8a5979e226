"""Nodes and the leases of rooms.

Times are those of the database's clock, and are judged inside the statement that changes a row. So
the clocks of the nodes need not agree. An epoch is never used twice: a released lease keeps its
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
_MOVE_USER = statement("nodes/move_user")


class RoomLeaseLost(StoreError):
    """Another node has taken the room: nothing was written, and no user may be told anything."""


class NodeIdTaken(StoreError):
    """Another server with this `node.id` was heard within the life of a lease."""


class Nodes:
    """The servers that share the database. What a write did is durable on return."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def _write(self, apply: Callable[[Tx], T]) -> T:
        # Each is one statement, and decides by the row that it locks.
        return await self._database.write(apply, atomic=True, turn=Turn.FREE)

    async def register(self, node: str, url: str, boot: int, lease_s: float) -> None:
        """Make this server known. Raises `NodeIdTaken`, and changes nothing then."""
        row = {"id": node, "url": url, "boot": boot, "lease_s": lease_s}
        if not await self._write(lambda tx: tx.execute(_REGISTER, row).rowcount):
            raise NodeIdTaken(f"another server runs as node {node}: node.id must be unique")

    async def beat(self, node: str, boot: int) -> bool:
        """Say that this server is live; False when it is not registered any more."""
        row = {"id": node, "boot": boot}
        return bool(await self._write(lambda tx: tx.execute(_BEAT, row).rowcount))

    async def leave(self, node: str, boot: int) -> None:
        """This server stops: the others need not wait for its silence."""
        row = {"id": node, "boot": boot}
        await self._write(lambda tx: tx.execute(_LEAVE, row).rowcount)

    async def nodes(self) -> list[Node]:
        """All servers that are registered, by name."""
        rows = await self._database.read(lambda tx: tx.execute(_NODES).fetchall())
        return [Node(node, url, boot, float(silent_s)) for node, url, boot, silent_s in rows]

    async def acquire(self, room: str, node: str, lease_s: float) -> RoomLease | None:
        """Take a room whose lease has expired; None when another node has it."""
        row = {"room": room, "node": node, "lease_s": lease_s}
        found = await self._write(lambda tx: tx.execute(_ACQUIRE, row).fetchone())
        return None if found is None else RoomLease(room, node, found[0])

    async def renew(self, node: str, leases: Iterable[RoomLease], lease_s: float) -> set[str]:
        """Extend leases; returns the rooms whose lease is still this node's."""
        held = [{"room": lease.room, "epoch": lease.epoch} for lease in leases]
        row = {"node": node, "held": msgspec.json.encode(held).decode(), "lease_s": lease_s}
        rows = await self._write(lambda tx: tx.execute(_RENEW, row).fetchall())
        return {room for (room,) in rows}

    async def release(self, lease: RoomLease) -> None:
        """Let other nodes take a room at once. A lease that was lost stays as it is."""
        row = msgspec.structs.asdict(lease)
        await self._write(lambda tx: tx.execute(_RELEASE, row).rowcount)

    async def leases(self) -> list[HeldLease]:
        """The lease of each room that ever had one, by room."""
        rows = await self._database.read(lambda tx: tx.execute(_LEASES).fetchall())
        return [HeldLease(room, node, epoch, float(left)) for room, node, epoch, left in rows]

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
