"""Erases users on request, in a running server and without one.

An erasure goes through the matchmaker: the user leaves their match or date, and the rows that name
them are erased in the same transaction, so that no user is ever half erased. Then the partner is
notified and the user's connection is closed. Last, the write-ahead log is truncated, so that the
old pages are gone from the disk too, and copies of rows in free space are overwritten.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Sessions
from yoked_actor.actors.people.removal import remove_user
from yoked_actor.domain.lobby import TOMBSTONE, Counter, Lobby
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.domain.time import Instant
from yoked_actor.settings import PrivacySettings, Settings
from yoked_actor.store import Privacy, Store, StoreError

_log = structlog.get_logger()
_BY_COMMAND = "command line"
"""Stands for a node in the lease of a room; no node can have this name."""
_LEASE_S = 30.0
_POLL_S = 0.1


class RoomInUse(StoreError):
    """A node has the room of a user who should be erased without a server."""


def new_tombstone() -> str:
    """What replaces the id of an erased user. It is random: it does not identify the user."""
    return f"{TOMBSTONE}{secrets.token_hex(16)}"


class Eraser:
    """Erases users of a running server."""

    def __init__(
        self,
        sessions: Sessions,
        store: Store,
        clock: Clock,
        settings: PrivacySettings,
        erased: Callable[[str], None] | None = None,
    ) -> None:
        """`erased` is called with the id of each erased user: other rooms may name them."""
        self._settings = settings
        self._erased = erased
        self._sessions = sessions
        self._store = store
        self._clock = clock

    async def erase(self, user_id: str) -> str:
        """Erase a user; returns their tombstone when the erasure is stored.

        Checkpoints. If cancelled, the user may or may not be erased.
        """
        privacy, tombstone = self._store.privacy, new_tombstone()
        await privacy.look_up(user_id, self._clock.now())
        await remove_user(self._sessions, ev.Erase(user_id, tombstone), "this account was erased")
        if self._erased is not None:
            self._erased(user_id)
        _log.info("user_erased", tombstone=tombstone)
        if not await privacy.wipe():
            _log.warning("log_not_cut", advice="a long read keeps old pages; tried again daily")
        await _clear_free_space(privacy, user_id, self._settings, tombstone)
        return tombstone


async def erase_offline(
    store: Store, settings: Settings, user_id: str, by: str, now: Instant, wait_s: float = 0.0
) -> None:
    """Erase a user while no server runs.

    A partner in a match that an earlier server left open waits again in the old place, as if the
    user had left while the server was down. On PostgreSQL a node may run that is cut off from the
    database: its lease is waited for, at most `wait_s`, and taken, so that it cannot write the user
    again. Raises `RoomInUse`.
    """
    if not store.is_shared:
        await _erase(store, settings, user_id, by, now, None)
        return
    room = (await store.load_user(user_id)).room
    lease = await _take(store, room, wait_s)
    try:
        await _erase(store, settings, user_id, by, now, lease)
    finally:
        with trio.CancelScope(shield=True):
            await store.nodes.release(lease)


async def _take(store: Store, room: str, wait_s: float) -> RoomLease:
    """Take the lease of a room when it has expired."""
    began_s = trio.current_time()
    while (lease := await store.nodes.acquire(room, _BY_COMMAND, _LEASE_S)) is None:
        held = next((one for one in await store.nodes.leases() if one.room == room), None)
        if trio.current_time() - began_s >= wait_s and held is not None and held.is_valid:
            raise RoomInUse(
                f"node {held.node} has the room {room} for another {held.left_s:.0f} s, and is not"
                " connected to the database; stop it, or try again then"
            )
        await trio.sleep(_POLL_S)
    return lease


async def _erase(
    store: Store,
    settings: Settings,
    user_id: str,
    by: str,
    now: Instant,
    lease: RoomLease | None,
) -> None:
    known = await store.load_user(user_id)
    if lease is not None and lease.room != known.room:
        raise RoomInUse(f"the user has just entered the room {known.room}; try again")
    recovered = await store.recover(known.room)
    counter = Counter(recovered.next_number)
    lobby = Lobby(settings.matching.rules(), counter, room=known.room)
    lobby.restore(recovered.users, recovered.matches, recovered.dates, now)
    lobby.handle(ev.Entered(user_id, known), now)
    tombstone = new_tombstone()
    lobby.handle(ev.Erase(user_id, tombstone), now)
    await store.privacy.look_up(user_id, now)
    await store.commit(lobby.changes(), lease)
    await store.audit.record(by, "erase", tombstone, "", now)
    await store.privacy.wipe()
    await _clear_free_space(store.privacy, user_id, settings.privacy, tombstone)


async def _clear_free_space(
    privacy: Privacy, user_id: str, settings: PrivacySettings, tombstone: str
) -> None:
    if not await privacy.clear_free_space(user_id, settings.rewrite_mb):
        advice = "the database is large: run VACUUM on it when the server is stopped"
        _log.warning("free_space_not_cleared", tombstone=tombstone, advice=advice)
