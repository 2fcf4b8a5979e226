"""The drain: prepares users for the stop of the server.

No more matches are made. Users who are in no match are notified at once that the server is about to
stop and when to reconnect; users in a match are notified when it ends, so that votes are counted
and both get the outcome, within a time limit. Then all connections are closed together: clients
that reconnect before the next server starts would be refused. Users keep their places, and the next
process recovers open matches and dates (R18).
"""

from __future__ import annotations

from typing import Protocol

import structlog
import trio

from yoked_actor.actors.lobby.sessions.sessions import Sessions
from yoked_actor.domain.lobby import SettledView
from yoked_actor.settings import ServerSettings

_log = structlog.get_logger()


class Rooms(Protocol):
    """All rooms in use."""

    def stop_pairing(self) -> None:
        """Make no more matches."""

    def wake(self) -> None:
        """Play a round in each room soon."""


class Drain:
    """Starts once; `finish` returns when all connections are being closed."""

    def __init__(
        self, rooms: Rooms, view: SettledView, sessions: Sessions, settings: ServerSettings
    ) -> None:
        self._rooms = rooms
        self._view = view
        self._sessions = sessions
        self._settings = settings
        self._began_at: float | None = None
        self._voting: set[str] | None = None
        self._over = trio.Event()

    @property
    def has_begun(self) -> bool:
        """Whether the drain has started."""
        return self._began_at is not None

    def begin(self) -> None:
        """Make no more matches, and notify users who are in none. Does not block."""
        if self.has_begun:
            return
        self._began_at = trio.current_time()
        self._sessions.context.draining = True
        self._rooms.stop_pairing()
        # After a round: notices of a round in progress have to be sent first.
        self._sessions.after_round = self._notify
        self._rooms.wake()

    def hurry(self) -> None:
        """Stop waiting for votes."""
        self._over.set()

    async def finish(self) -> None:
        """Wait for votes, within the time limit; then close all connections.

        Checkpoints. If cancelled, no connection is closed.
        """
        self.begin()
        assert self._began_at is not None
        with trio.move_on_at(self._began_at + self._settings.drain_votes_s) as waiting:
            await self._over.wait()
        self._sessions.after_round = None
        self._sessions.say_draining(self._sessions.connected(), self._settings.reconnect_after_s)
        self._sessions.close_connections()
        _log.info(
            "drained",
            seconds=round(trio.current_time() - self._began_at, 3),
            matches_left=len(self._in_matches()) // 2,
            in_time=not waiting.cancelled_caught,
        )

    def _notify(self) -> None:
        reconnect_after_s = self._settings.reconnect_after_s
        in_matches = self._in_matches()
        if self._voting is None:
            _log.info("draining", matches=len(in_matches) // 2, sessions=len(self._sessions))
            free = [user for user in self._sessions.connected() if user not in in_matches]
        else:
            free = [user for user in self._voting if user not in in_matches]
        self._voting = in_matches
        self._sessions.say_draining(free, reconnect_after_s)
        if not in_matches:
            self._over.set()

    def _in_matches(self) -> set[str]:
        """The users in matches whose window is open, not those that wait for a reconnect."""
        matches = self._view.open_matches()
        running = [one for one in matches if one.closes_at is not None]
        return {user_id for match in running for user_id in match.users}
