"""The hub: one task that reads and writes all plain WebSockets, on an epoll of its own.

A task for each socket costs a wake-up, a scheduling step and a new registration with trio's epoll
for each message. Here trio waits for one descriptor: the hub's epoll. A turn serves the sockets
that are ready, within bounds, so that other tasks run. The registrations stay (level-triggered), so
the kernel reports again what a turn has left.

A message that has to be awaited is awaited in a task, and its socket is not read meanwhile. The end
of a connection is told by a task too: a socket can break at any write, also in the middle of a
round of the matchmaker or of a loop over all connections.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Callable
from typing import Final

import structlog
import trio

from yoked_actor.edge.net import Keepalive
from yoked_actor.edge.ws.connection import Awaited, MessageHandler, WebSocketConnection
from yoked_actor.edge.ws.hub_connection import HubConnection

# Not final: tests change them.
_EVENTS_PER_TURN = 128
_BYTES_PER_TURN = 256 * 1024

_log = structlog.get_logger()

# Constants are read faster than names of a module. Not every platform has these.
_NOT_IN: Final = ~getattr(select, "EPOLLIN", 1)
_NOT_OUT: Final = ~getattr(select, "EPOLLOUT", 4)

IS_SUPPORTED: Final = hasattr(select, "epoll")
"""Whether this platform has epoll. Without it, sockets are served as streams."""


class Hub:
    """Owns the sockets of plain WebSockets after their handshake."""

    def __init__(
        self,
        keepalive: Keepalive,
        begin: Callable[[WebSocketConnection], MessageHandler],
        ended: Callable[[], None],
    ) -> None:
        """`begin` is called with each new connection, and `ended` after its end."""
        self._keepalive = keepalive
        self._begin = begin
        self._ended = ended
        self._epoll: select.epoll | None = None
        self._connections: dict[int, HubConnection] = {}
        self._gone: list[HubConnection] = []
        self._somebody_left = trio.lowlevel.ParkingLot()
        # By deadline: all have the same time-out, and a connection that makes progress moves to
        # the end.
        self._stalled: dict[HubConnection, float] = {}
        self._somebody_stalls = trio.lowlevel.ParkingLot()
        self._nursery: trio.Nursery | None = None

    def adopt(
        self, sock: socket.socket, *, peer: str, subprotocol: str | None, received: bytes
    ) -> None:
        """Serve a socket from now on; `received` came with the request of the handshake.

        An exception of `begin` is raised after the socket is closed.
        """
        connection = HubConnection(self, sock, self._keepalive, peer, subprotocol)
        self._connections[connection.fd] = connection
        self._keepalive.watch(connection)
        try:
            connection.begin(self._begin(connection), received, trio.current_time())
        except BaseException:
            connection.abort()
            raise
        if self._nursery is None:
            connection.abort()
            self._tell_ends()
        self._listen(connection)

    async def run(self) -> None:
        """Serve until cancelled; all connections are closed then."""
        with select.epoll() as epoll:
            self._epoll = epoll
            try:
                async with trio.open_nursery() as self._nursery:
                    self._nursery.start_soon(self._watch_ends)
                    self._nursery.start_soon(self._watch_stalls)
                    while True:
                        # What a turn leaves is reported again. This is always a checkpoint.
                        await trio.lowlevel.wait_readable(epoll.fileno())
                        self._turn(epoll)
            finally:
                self._nursery = None
                for connection in list(self._connections.values()):
                    connection.abort()
                self._epoll = None
                self._tell_ends()

    def _turn(self, epoll: select.epoll) -> None:
        """Serve the sockets that are ready, within the bounds of a turn."""
        now_s = trio.current_time()
        connections = self._connections
        remaining = _BYTES_PER_TURN
        for fd, events in epoll.poll(0, _EVENTS_PER_TURN):
            # A connection that was closed earlier in this turn is no longer in the table. Its
            # number cannot belong to a new one: connections are accepted by other tasks.
            connection = connections.get(fd)
            if connection is None:
                continue
            try:
                if events & _NOT_IN and connection.is_stalled:
                    connection.on_writable()
                if events & _NOT_OUT and not (connection.busy or connection.is_dead):
                    remaining -= connection.on_readable(now_s)
            except Exception:
                _log.exception("connection_crashed", peer=connection.peer, kind="websocket")
                connection.abort()
            if remaining <= 0:
                break

    # What a connection asks for

    def let_go(self, connection: HubConnection) -> None:
        """The socket is about to be closed. The end of the connection is told later."""
        self._connections.pop(connection.fd, None)
        self._stalled.pop(connection, None)
        if connection.events and self._epoll is not None:
            self._epoll.unregister(connection.fd)
            connection.events = 0
        self._gone.append(connection)
        self._somebody_left.unpark()

    def await_room(self, connection: HubConnection) -> None:
        """Write more when the kernel has room; disconnect a client that makes none for long."""
        self._stalled.pop(connection, None)
        stall_timeout_s = self._keepalive.limits.stall_timeout_s
        self._stalled[connection] = trio.current_time() + stall_timeout_s
        self._somebody_stalls.unpark()
        self._listen(connection)

    def has_room(self, connection: HubConnection) -> None:
        """Everything is sent."""
        self._stalled.pop(connection, None)
        self._listen(connection)

    def run_awaited(self, connection: HubConnection, awaited: Awaited) -> None:
        """Run a coroutine; the socket is not read before it ends."""
        self._listen(connection)
        if self._nursery is None:
            awaited.close()
            connection.abort()
        else:
            self._nursery.start_soon(self._run_awaited, connection, awaited)

    def _listen(self, connection: HubConnection) -> None:
        """Ask the kernel for the events that a connection waits for."""
        if connection.is_dead or self._epoll is None:
            return
        events = 0 if connection.busy else select.EPOLLIN
        if connection.is_stalled:
            events |= select.EPOLLOUT
        if events == connection.events:
            return
        if not events:
            # Registered for no event, the kernel would still report a hang-up, at every turn.
            self._epoll.unregister(connection.fd)
        elif connection.events:
            self._epoll.modify(connection.fd, events)
        else:
            self._epoll.register(connection.fd, events)
        connection.events = events

    # Tasks

    async def _run_awaited(self, connection: HubConnection, awaited: Awaited) -> None:
        try:
            await awaited
        except Exception:
            connection.crash()
        except BaseException:
            connection.abort()
            raise
        if not connection.is_dead:
            connection.resume(trio.current_time())
            self._listen(connection)

    async def _watch_stalls(self) -> None:
        while True:
            while not self._stalled:
                await self._somebody_stalls.park()
            connection, due_s = next(iter(self._stalled.items()))
            await trio.sleep_until(due_s)
            if self._stalled.get(connection) == due_s:
                del self._stalled[connection]
                connection.on_stalled()

    async def _watch_ends(self) -> None:
        while True:
            self._tell_ends()
            await self._somebody_left.park()

    def _tell_ends(self) -> None:
        # The end of one connection can close another one.
        while self._gone:
            connection = self._gone.pop()
            self._keepalive.forget(connection)
            try:
                connection.end()
            except Exception:
                _log.exception("connection_crashed", peer=connection.peer, kind="websocket")
            self._ended()
