"""The keeper: renews the leases of this node, takes rooms over, and hands rooms over.

It looks into the database three times in the life of a lease, when the lease of another node
expires, and when another node takes or releases a room (NOTIFY). The database decides who has a
room. A room whose lease is lost is dropped without telling its users anything: another node has
recovered it, and knows better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import structlog
import trio

from yoked_actor.actors.nodes.directory import Directory
from yoked_actor.domain.nodes import RoomLease, moves_of, renew_every_s
from yoked_actor.settings import NodeSettings
from yoked_actor.store import NodeIdTaken, Nodes, StoreUnavailable
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()
_TAKEN_AGAIN_S = 0.2
_RETRIES = 4
"""How much more often the keeper looks while the database is unavailable."""


class RoomRegistry(Protocol):
    """The rooms that this process serves."""

    async def open_room(self, room: str, lease: RoomLease, fresh_until_s: float) -> None:
        """Recover a room from the store, and serve it until it is closed or dropped."""
        ...

    def here(self, room: str) -> int:
        """How many users are in a room."""
        ...

    def refresh(self, room: str, fresh_until_s: float) -> None:
        """The lease of a room is valid until then, on trio's clock."""
        ...

    async def hand_over(self, room: str) -> None:
        """Drain a room as at the stop of the server; returns when nothing of it is in memory."""
        ...

    async def drop_room(self, room: str) -> None:
        """Forget a room without telling its users anything, and send them away."""
        ...


class Keeper:
    """Runs in every node. `register` first, then `run`."""

    def __init__(
        self,
        nodes: Nodes,
        registry: RoomRegistry,
        settings: NodeSettings,
        metrics: Metrics,
        *,
        boot: int,
        rooms: Callable[[], Iterable[str]],
        directory: Directory | None = None,
    ) -> None:
        """`rooms` are those that some node has to serve now; `boot` numbers this start."""
        self._nodes = nodes
        self._registry = registry
        self._settings = settings
        self._metrics = metrics.nodes
        self._boot = boot
        self._rooms = rooms
        self._leases: dict[str, RoomLease] = {}
        self._leaving: set[str] = set()
        """Rooms that are being handed over, or dropped."""
        self._wakeup = trio.Event()
        self._is_stopping = False
        self.directory = directory or Directory(settings.id, settings.lease_s)

    @property
    def leases(self) -> dict[str, RoomLease]:
        """The leases of this node, by room."""
        return dict(self._leases)

    def wake(self) -> None:
        """Look into the database soon: rooms or leases have changed."""
        self._wakeup.set()

    async def register(self) -> None:
        """Make this server known. Raises `NodeIdTaken`.

        A server that was killed and is started again waits until its own silence is long enough.
        """
        mine = self._settings
        with trio.move_on_after(mine.lease_s + 1) as waiting:
            while True:
                try:
                    await self._nodes.register(mine.id, mine.url, self._boot, mine.lease_s)
                    return
                except NodeIdTaken:
                    _log.info("node_id_in_use", node=mine.id)
                await trio.sleep(_TAKEN_AGAIN_S)
        if waiting.cancelled_caught:
            await self._nodes.register(mine.id, mine.url, self._boot, mine.lease_s)

    async def run(self) -> None:
        """Keep leases until cancelled."""
        async with trio.open_nursery() as nursery:
            while True:
                self._wakeup = trio.Event()
                try:
                    await self._look(nursery)
                except StoreUnavailable as error:
                    _log.warning("leases_not_renewed", error=str(error))
                    pause_s = renew_every_s(self._settings.lease_s) / _RETRIES
                    due_s = trio.current_time() + pause_s
                else:
                    rooms = set(self._rooms())
                    due_s = self.directory.read_s + self.directory.next_look_s(rooms)
                with trio.move_on_at(due_s):
                    await self._wakeup.wait()

    async def stop(self) -> None:
        """Give all rooms back and leave: nothing of a room is in memory any more."""
        self._is_stopping = True
        try:
            await self._nodes.leave(self._settings.id, self._boot, self.leases.values())
        except StoreUnavailable as error:
            # The leases expire.
            _log.warning("leases_not_released", error=str(error))
        self._leases.clear()

    async def lost(self, room: str) -> None:
        """A commit was refused, because another node has the room: drop it, and look around.

        A renewal that was sent together with the commit may have dropped the room already.
        """
        self._metrics.count_refused_write(room)
        if room in self._leases:
            await self._drop(room)
        self.wake()

    async def _look(self, nursery: trio.Nursery) -> None:
        """Renew, read, then take and give rooms."""
        mine = self._settings
        if not await self._renew():
            await self._nodes.register(mine.id, mine.url, self._boot, mine.lease_s)
        asked_s = trio.current_time()
        self.directory.update(await self._nodes.nodes(), await self._nodes.leases(), asked_s)
        epochs = {lease.room: lease.epoch for lease in self._leases.values()}
        self._metrics.show(len(self.directory.live), epochs)
        if self._is_stopping:
            return
        seen = self.directory
        moves = moves_of(mine.id, self._rooms(), seen.prompt, seen.owners, seen.orphans)
        for room in moves.take:
            if room not in self._leases and room not in self._leaving:
                await self._take(room)
        for room in [*moves.give, *(set(self._leases) - set(self._rooms()))]:
            if room in self._leases and room not in self._leaving:
                self._leaving.add(room)
                nursery.start_soon(self._give, room)

    async def _renew(self) -> bool:
        """Renew the leases; False when this server is not registered any more."""
        mine, asked_s = self._settings, trio.current_time()
        held = {lease: self._registry.here(lease.room) for lease in self._leases.values()}
        is_registered, kept = await self._nodes.renew(mine.id, self._boot, held, mine.lease_s)
        for lease in held:
            if lease.room in kept:
                self._registry.refresh(lease.room, asked_s + mine.lease_s)
            elif self._leases.get(lease.room) is lease:
                await self._drop(lease.room)
        return is_registered

    async def _take(self, room: str) -> None:
        asked_s = trio.current_time()
        lease = await self._nodes.acquire(room, self._settings.id, self._settings.lease_s)
        if lease is None:
            return
        _log.info("room_taken", room=room, epoch=lease.epoch)
        self._metrics.taken.inc()
        self._leases[room] = lease
        try:
            await self._registry.open_room(room, lease, asked_s + self._settings.lease_s)
        except StoreUnavailable:
            del self._leases[room]
            await self._nodes.release(lease)
            raise
        took_s = trio.current_time() - asked_s
        _log.info("room_served", room=room, epoch=lease.epoch, seconds=round(took_s, 3))

    async def _give(self, room: str) -> None:
        """Hand a room over to another node."""
        try:
            lease = self._leases[room]
            _log.info("room_handed_over", room=room, epoch=lease.epoch)
            await self._registry.hand_over(room)
            self._metrics.given.inc()
            if self._leases.get(room) is lease:
                del self._leases[room]
                await self._nodes.release(lease)
        except StoreUnavailable as error:
            # The lease expires.
            _log.warning("lease_not_released", room=room, error=str(error))
        finally:
            self._leaving.discard(room)

    async def _drop(self, room: str) -> None:
        lease = self._leases.pop(room)
        _log.warning("lease_lost", room=room, epoch=lease.epoch)
        self._metrics.lost.inc()
        self._leaving.add(room)
        try:
            await self._registry.drop_room(room)
        finally:
            self._leaving.discard(room)
