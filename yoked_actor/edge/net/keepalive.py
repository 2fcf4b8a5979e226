"""The timers of all WebSocket connections, in one task.

It pings who is silent, drops who stays silent, and ends closing handshakes that do not end.
These are transport-level timers: they decide nothing about people, so they read trio's clock.
"""

from __future__ import annotations

import heapq
import itertools
import math
from typing import Protocol

import structlog
import trio

from yoked_actor.edge.net.limits import EdgeLimits

_SWEEPS_PER_INTERVAL = 4

_log = structlog.get_logger()


class EdgeObserver(Protocol):
    """Who counts what happens at the edge."""

    def connection_opened(self, kind: str) -> None:
        """A connection was given to `websocket` or `http`."""

    def connection_closed(self, kind: str) -> None:
        """That connection is over."""

    def connection_refused(self, reason: str) -> None:
        """A client was turned away: `rate`, `full`, `draining`, `malformed`, `handshake`."""

    def slow_reader(self) -> None:
        """A client was hung up on because it did not read."""

    def silent_peer(self) -> None:
        """A client was hung up on because it answered no ping."""


class SilentObserver:
    """Counts nothing."""

    def connection_opened(self, kind: str) -> None:
        """Nothing."""

    def connection_closed(self, kind: str) -> None:
        """Nothing."""

    def connection_refused(self, reason: str) -> None:
        """Nothing."""

    def slow_reader(self) -> None:
        """Nothing."""

    def silent_peer(self) -> None:
        """Nothing."""


class Watched(Protocol):
    """What the keepalive needs of a connection."""

    peer: str
    heard: bool
    busy: bool
    pinged_at: float | None
    silent_since: float

    @property
    def close_code(self) -> int | None:
        """The code that ended or is ending it, if any."""

    def ping(self) -> None:
        """Ask for a sign of life."""

    def close(self, code: int, reason: str) -> None:
        """Begin the closing handshake."""

    def abort(self) -> None:
        """Hang up without a word."""


class Keepalive:
    """The one task that pings the silent, drops the dead and ends closings that do not end."""

    def __init__(self, limits: EdgeLimits, observer: EdgeObserver | None = None) -> None:
        self.limits = limits
        self.observer: EdgeObserver = SilentObserver() if observer is None else observer
        self._watched: set[Watched] = set()
        self._expiring: list[tuple[float, int, Watched]] = []
        self._sequence = itertools.count()
        self._sleep: trio.CancelScope | None = None
        self._next_sweep_at = math.inf

    @property
    def watched(self) -> frozenset[Watched]:
        """The connections whose `run` is running."""
        return frozenset(self._watched)

    def watch(self, connection: Watched) -> None:
        """Ping this connection when it falls silent."""
        self._watched.add(connection)
        if self._next_sweep_at == math.inf:
            # Nobody to watch means no sweeps at all: an idle mock clock can jump as it likes.
            self._next_sweep_at = trio.current_time() + self._sweep_every_s
            self._wake_by(self._next_sweep_at)

    def forget(self, connection: Watched) -> None:
        """Watch it no longer."""
        self._watched.discard(connection)

    def expire(self, connection: Watched, after_s: float) -> None:
        """Hang up on it after that time, unless it is gone by then."""
        at = trio.current_time() + after_s
        heapq.heappush(self._expiring, (at, next(self._sequence), connection))
        self._wake_by(at)

    async def run(self) -> None:
        """Run for ever."""
        while True:
            deadline = self._next_sweep_at
            if self._expiring:
                deadline = min(deadline, self._expiring[0][0])
            with trio.CancelScope(deadline=deadline) as self._sleep:
                await trio.sleep_forever()
            self._sleep = None
            # After a stall of the process the deadlines are over, and what the peers have sent is
            # there. One pass of the loop lets every task read first what it waited for.
            await trio.lowlevel.checkpoint()
            now = trio.current_time()
            while self._expiring and self._expiring[0][0] <= now:
                self._abort(heapq.heappop(self._expiring)[2])
            if self._next_sweep_at <= now:
                self._sweep(now)

    @property
    def _sweep_every_s(self) -> float:
        return self.limits.ping_interval_s / _SWEEPS_PER_INTERVAL

    def _ping(self, connection: Watched) -> None:
        try:
            connection.ping()
        except Exception:
            self._give_up(connection)

    def _abort(self, connection: Watched) -> None:
        try:
            connection.abort()
        except Exception:
            self._give_up(connection)

    def _give_up(self, connection: Watched) -> None:
        """Watch a broken connection no longer: it must not keep the others from their turn."""
        _log.exception("connection_not_kept", peer=connection.peer)
        self._watched.discard(connection)

    def _wake_by(self, at: float) -> None:
        if self._sleep is not None and at < self._sleep.deadline:
            self._sleep.deadline = at

    def _sweep(self, now: float) -> None:
        ping_after_s, drop_after_s = self.limits.ping_interval_s, self.limits.ping_timeout_s
        for connection in list(self._watched):
            # A flag costs the hot path less than reading the clock for every message would. What
            # the peer sends while we are busy with its last message is not read, so it is no
            # silence.
            if connection.heard or connection.busy:
                connection.heard = False
                connection.pinged_at = None
                connection.silent_since = now
            elif connection.pinged_at is None:
                if now - connection.silent_since >= ping_after_s:
                    connection.pinged_at = now
                    self._ping(connection)
            elif now - connection.pinged_at >= drop_after_s:
                self.observer.silent_peer()
                silent_s = now - connection.silent_since
                _log.debug("silent_peer", peer=connection.peer, silent_s=silent_s)
                self._abort(connection)
        self._next_sweep_at = now + self._sweep_every_s if self._watched else math.inf
