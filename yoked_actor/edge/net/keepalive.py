"""The timers of all WebSocket connections, in one task.

It pings silent clients, disconnects those that stay silent, and bounds closing handshakes. These
are timers of the transport and decide nothing about users, so they read trio's clock.
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
_CONNECTIONS_AT_ONCE = 256

_log = structlog.get_logger()


class EdgeObserver(Protocol):
    """Counts what happens at the edge."""

    def connection_opened(self, kind: str) -> None:
        """A connection was passed to `websocket` or `http`."""

    def connection_closed(self, kind: str) -> None:
        """Such a connection has ended."""

    def connection_refused(self, reason: str) -> None:
        """A client was refused: `rate`, `full`, `draining`, `malformed`, `handshake`."""

    def slow_reader(self) -> None:
        """A client was disconnected because it did not read."""

    def silent_peer(self) -> None:
        """A client was disconnected because it did not answer a ping."""


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
    """A connection, as the keepalive sees it."""

    peer: str
    has_received: bool
    busy: bool
    pinged_at: float | None
    silent_since: float

    @property
    def close_code(self) -> int | None:
        """The code that ended or is ending the connection, if any."""

    def catch_up(self) -> None:
        """Handle what has arrived, if that can be read without waiting."""

    def ping(self) -> None:
        """Send a ping."""

    def close(self, code: int, reason: str) -> None:
        """Begin the closing handshake."""

    def abort(self) -> None:
        """Close at once, without a close frame."""


class Keepalive:
    """The task that pings silent clients, disconnects dead ones and ends closing handshakes."""

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
        """Ping this connection when it is silent."""
        self._watched.add(connection)
        if self._next_sweep_at == math.inf:
            # Without connections there are no sweeps, so an idle mock clock can jump freely.
            self._next_sweep_at = trio.current_time() + self._sweep_every_s
            self._wake_by(self._next_sweep_at)

    def forget(self, connection: Watched) -> None:
        """Stop watching a connection."""
        self._watched.discard(connection)

    def expire(self, connection: Watched, after_s: float) -> None:
        """Abort a connection after that time, unless it has ended by then."""
        at = trio.current_time() + after_s
        heapq.heappush(self._expiring, (at, next(self._sequence), connection))
        self._wake_by(at)

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            deadline = self._next_sweep_at
            if self._expiring:
                deadline = min(deadline, self._expiring[0][0])
            with trio.CancelScope(deadline=deadline) as self._sleep:
                await trio.sleep_forever()
            self._sleep = None
            # After a stall of the process the deadlines have passed, but answers may be in the
            # sockets. One pass of the event loop lets every task read them first.
            await trio.lowlevel.checkpoint()
            now = trio.current_time()
            while self._expiring and self._expiring[0][0] <= now:
                self._abort(heapq.heappop(self._expiring)[2])
            if self._next_sweep_at <= now:
                await self._sweep(now)

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
        """Stop watching a connection that raises errors, so that the others get their turn."""
        _log.exception("connection_not_kept", peer=connection.peer)
        self._watched.discard(connection)

    def _wake_by(self, at: float) -> None:
        if self._sleep is not None and at < self._sleep.deadline:
            self._sleep.deadline = at

    async def _sweep(self, now: float) -> None:
        """Look at every connection. Checkpoints, so that other tasks run meanwhile."""
        for number, connection in enumerate(list(self._watched), 1):
            if connection in self._watched:
                self._look_at(connection, now)
            if number % _CONNECTIONS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
        self._next_sweep_at = now + self._sweep_every_s if self._watched else math.inf

    def _look_at(self, connection: Watched, now: float) -> None:
        # A flag costs the hot path less than reading the clock for every message. While a message
        # is handled nothing is read, so that is not silence.
        if connection.has_received or connection.busy:
            connection.has_received = False
            connection.pinged_at = None
            connection.silent_since = now
        elif connection.pinged_at is None:
            if now - connection.silent_since >= self.limits.ping_interval_s:
                connection.pinged_at = now
                self._ping(connection)
        elif now - connection.pinged_at >= self.limits.ping_timeout_s:
            self._drop(connection, now)

    def _drop(self, connection: Watched, now: float) -> None:
        """Disconnect a silent client, unless its answer has arrived and was not read yet."""
        connection.catch_up()
        if not connection.has_received:
            self.observer.silent_peer()
            silent_s = now - connection.silent_since
            _log.debug("silent_peer", peer=connection.peer, silent_s=silent_s)
            self._abort(connection)
