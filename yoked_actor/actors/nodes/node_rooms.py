"""The rooms of a node: opened with a lease, handed over, dropped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import structlog
import trio

from yoked_actor.actors.lobby import LeaseGuard, RoomMoved, Sessions
from yoked_actor.actors.nodes.directory import Directory
from yoked_actor.actors.rooms import OpenRoom, Registry
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.settings import ServerSettings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()
_POLL_S = 0.05
_PATIENCE_S = 5.0
"""How long a client that came waits for a node to take its room. Clients give up after 8 seconds
without a message."""


class NodeRooms:
    """Lets the keeper of the leases open and close the rooms of this process."""

    def __init__(
        self,
        registry: Registry,
        sessions: Sessions,
        store: Store,
        settings: ServerSettings,
        directory: Directory,
        metrics: Metrics,
        *,
        look: Callable[[], Awaitable[None]],
    ) -> None:
        """`look` reads the directory again."""
        self._registry = registry
        self._sessions = sessions
        self._store = store
        self._settings = settings
        self._directory = directory
        self._metrics = metrics.nodes
        self._look = look
        self._guards: dict[str, LeaseGuard] = {}
        self._dropping: set[str] = set()

    def elsewhere(self, room: str) -> RoomMoved:
        """What to tell a client whose room is not served here."""
        self._metrics.moved.inc()
        return RoomMoved(room, self._directory.url_of(room))

    async def served(self, room: str) -> bool:
        """Wait until this node or one that can be named serves a room; False if there is none.

        Always checkpoints.
        """
        await trio.lowlevel.checkpoint()
        with trio.move_on_after(_PATIENCE_S):
            # Users of a room that is being dropped are still in memory.
            while room in self._dropping or not self._is_served(room):
                await self._directory.change()
            return True
        return False

    def _is_served(self, room: str) -> bool:
        return room in self._registry.rooms or self._directory.url_of(room) is not None

    def lease_of(self, room: str) -> RoomLease | None:
        """The lease of a room of this node."""
        guard = self._guards.get(room)
        return None if guard is None else guard.lease

    async def open_room(self, room: str, lease: RoomLease, fresh_until_s: float) -> None:
        """Recover a room from the store, and serve it."""
        guard = LeaseGuard(lease, self._store.nodes.check, fresh_until_s)
        self._guards[room] = guard
        await self._registry.open_leased(room, guard)
        self._directory.wake()

    def here(self, room: str) -> int:
        """How many users are in a room."""
        return self._registry.here(room)

    def refresh(self, room: str, fresh_until_s: float) -> None:
        """The lease of a room is valid until then, on trio's clock."""
        if room in self._guards:
            self._guards[room].refresh(fresh_until_s)

    async def hand_over(self, room: str) -> None:
        """Make no more matches in a room, wait for votes, then send its users away.

        They are told when to come back; until then another node has the room.
        """
        opened = self._registry.rooms.get(room)
        if opened is None:
            return
        opened.lobby.stop_pairing()
        opened.matchmaker.wake()
        with trio.move_on_after(self._settings.drain_votes_s):
            while True:
                if not self._has_votes(opened):
                    break
                await trio.sleep(_POLL_S)
        users = [one.user_id for one in self._sessions.in_room(opened.link)]
        self._sessions.say_draining(users, self._settings.reconnect_after_s)
        self._registry.stop(room)
        self._sessions.send_away(opened.link, None)

    async def drop_room(self, room: str) -> None:
        """Forget a room that another node has, and send its users there."""
        opened = self._registry.rooms.get(room)
        self._guards.pop(room, None)
        if opened is None:
            return
        self._registry.stop(room)
        self._dropping.add(room)
        try:
            await self._look()
        except StoreUnavailable as error:
            _log.warning("new_owner_not_known", room=room, error=str(error))
        finally:
            self._dropping.discard(room)
        self._sessions.send_away(opened.link, self.elsewhere(room))
        self._directory.wake()

    def stop_all(self) -> None:
        """Stop to decide about any room: the server stops."""
        for room in self._registry.owned():
            self._registry.stop(room)

    def _has_votes(self, opened: OpenRoom) -> bool:
        matches = opened.lobby.floor.matches.rows.values()
        return any(match.ended_at is None and match.closes_at is not None for match in matches)
