"""The drain: how a server takes its leave of people, each at the right moment.

Nobody new is paired, and whoever is not in a match is told at once that the server is about to go
and when to come back. Whoever is in a match is told so when it is over: votes in flight are counted
and both learn the outcome, within a bound. Then all are hung up on together: who waits has nothing
to gain from being without a server for longer, and ten thousand who come back too early would only
be turned away. Everybody keeps their place, and what is still open, matches and dates, is taken up
by the next process (R18).
"""

from __future__ import annotations

import structlog
import trio

from yoked_actor.actors.lobby.matchmaker import Matchmaker
from yoked_actor.actors.lobby.sessions import Sessions
from yoked_actor.domain.lobby import Lobby, SettledView
from yoked_actor.settings import ServerSettings

_log = structlog.get_logger()


class Drain:
    """Begun once; `finish` returns when everybody has been told and hung up on."""

    def __init__(
        self, lobby: Lobby, matchmaker: Matchmaker, sessions: Sessions, settings: ServerSettings
    ) -> None:
        self._lobby = lobby
        self._matchmaker = matchmaker
        self._sessions = sessions
        self._settings = settings
        self._began_at: float | None = None
        self._voting: set[str] | None = None
        self._over = trio.Event()

    @property
    def has_begun(self) -> bool:
        """Whether it was begun."""
        return self._began_at is not None

    def begin(self) -> None:
        """Pair nobody any more, and tell all who have nothing to wait for."""
        if self.has_begun:
            return
        self._began_at = trio.current_time()
        self._sessions.context.draining = True
        self._lobby.stop_pairing()
        # Between two rounds: what was decided in one that is under way has to be told first.
        self._sessions.after_round = self._tell
        self._matchmaker.wake()

    def hurry(self) -> None:
        """Wait for no vote any more."""
        self._over.set()

    async def finish(self) -> None:
        """Wait for the votes in flight, within the bound; then nobody is left."""
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

    def _tell(self) -> None:
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
        """Those who are in a match whose window is open: not one that awaits somebody's return."""
        matches = SettledView(self._lobby.floor).open_matches()
        running = [one for one in matches if one.closes_at is not None]
        return {user_id for match in running for user_id in match.users}
