"""A WebSocket connection on a plain socket that the hub reads and writes.

The socket, its unsent frames and the state of the WebSocket are one object, and an idle connection
has no task, no buffer and no cancel scope. Writing never blocks: what the kernel does not take
waits in a bounded queue, which keeps the boundaries of frames.
"""

from __future__ import annotations

import socket
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import Final, Protocol

import trio

from yoked_actor.edge.net import RECEIVE_BYTES, Keepalive
from yoked_actor.edge.ws.connection import Awaited, MessageHandler, WebSocketConnection

_FRAMES_PER_WRITE: Final = 64
_RECEIVE_BYTES: Final = RECEIVE_BYTES


class SocketOwner(Protocol):
    """The hub, as a connection sees it."""

    def let_go(self, connection: HubConnection) -> None:
        """The socket is about to be closed. The end of the connection is told later."""

    def await_room(self, connection: HubConnection) -> None:
        """Report when the kernel has room for more, or that it has none for too long."""

    def has_room(self, connection: HubConnection) -> None:
        """Everything is sent."""

    def run_awaited(self, connection: HubConnection, awaited: Awaited) -> None:
        """Run a coroutine; the socket is not read before it ends."""


class HubConnection(WebSocketConnection):
    """A WebSocket of the hub."""

    __slots__ = (
        "_begun",
        "_close_after",
        "_dead",
        "_eof",
        "_hub",
        "_pending",
        "_pending_bytes",
        "_sock",
        "events",
        "fd",
    )

    def __init__(
        self,
        hub: SocketOwner,
        sock: socket.socket,
        keepalive: Keepalive,
        peer: str,
        subprotocol: str | None,
    ) -> None:
        super().__init__(keepalive, peer, subprotocol)
        self._hub = hub
        self._sock = sock
        self.fd = sock.fileno()
        self.events = 0
        """The events of the socket that the hub has asked the kernel for."""
        self._dead = False
        # None instead of an empty deque, which takes 700 bytes.
        self._pending: deque[bytes] | None = None
        self._pending_bytes = 0
        self._begun = False
        self._eof = False
        self._close_after = False

    @property
    def is_dead(self) -> bool:
        """Whether the socket is closed."""
        return self._dead

    @property
    def is_stalled(self) -> bool:
        """Whether frames wait for room in the kernel."""
        return self._pending is not None

    def begin(self, handler: MessageHandler, received: bytes, now_s: float) -> None:
        """Pass what is received to `handler` from now on; `received` came with the handshake."""
        self._handler = handler
        if received:
            self.take_in(received, now_s)

    def end(self) -> None:
        """The connection has ended: tell its handler."""
        self._release()

    def abort(self) -> None:
        """Close at once, without a close frame."""
        if self._dead:
            return
        self._dead = self._hung_up = True
        self._pending = self._out = None
        self._hub.let_go(self)
        self._sock.close()

    # Reading

    def on_readable(self, now_s: float) -> int:
        """Read once, and handle it; returns the number of bytes."""
        try:
            data = self._sock.recv(_RECEIVE_BYTES)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError:
            data = b""
        if not data:
            self.abort()
            return 0
        self.take_in(data, now_s)
        return len(data)

    def catch_up(self) -> None:
        """Handle what is in the socket: after a stall of the process its turn may come late."""
        if not (self._dead or self.busy):
            self.on_readable(trio.current_time())

    def resume(self, now_s: float) -> None:
        """What was awaited has ended: handle what has come meanwhile."""
        self._resume(now_s)

    def crash(self) -> None:
        """What was awaited has failed; the exception is being handled."""
        self._crash()

    def _await(self, awaited: Awaited) -> None:
        self._hub.run_awaited(self, awaited)

    # Writing

    def on_writable(self) -> None:
        """The kernel has room, or the socket is broken."""
        pending = self._pending
        if pending is None:
            return
        try:
            sent = self._sock.sendmsg(list(islice(pending, _FRAMES_PER_WRITE)))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.abort()
            return
        self._consume(sent)
        if self._pending is None:
            self._hub.has_room(self)
        else:
            self._hub.await_room(self)

    def on_stalled(self) -> None:
        """The kernel has had no room for too long."""
        if self._eof:
            self.abort()
        else:
            self.on_slow_reader()

    def _push(self, frames: list[bytes]) -> None:
        if self._dead or self._eof:
            return
        if self._pending is not None:
            self._pending.extend(frames)
            self._pending_bytes += sum(map(len, frames))
        elif not self._send_now(frames):
            return
        if self._pending_bytes > self._keepalive.limits.max_buffered_bytes:
            self.on_slow_reader()

    def _send_now(self, frames: list[bytes]) -> bool:
        """Send what the kernel takes; whether frames are left."""
        data = frames[0] if len(frames) == 1 else b"".join(frames)
        try:
            sent = self._sock.send(data)
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self.abort()
            return False
        if sent == len(data):
            return False
        self._pending = deque(frames)
        self._pending_bytes = len(data)
        self._consume(sent)
        self._hub.await_room(self)
        return True

    def _push_eof(self, close: bool) -> None:
        self._eof = True
        self._close_after = self._close_after or close
        if self._pending is None:
            self._end_writing()

    def _finish_with(self, frame: bytes) -> None:
        if self._dead or self._eof:
            return
        pending = self._pending
        begun = pending[0] if pending and self._begun else b""
        self._pending = deque((begun, frame) if begun else (frame,))
        self._pending_bytes = len(begun) + len(frame)
        self._eof = True
        self._make_room()
        self._hub.await_room(self)
        self.on_writable()

    def _make_room(self) -> None:
        # The kernel's send buffer is full. Setting it to the size that it reports doubles it
        # (Linux), so the last frame fits, and the kernel sends it after the socket is closed.
        with suppress(OSError):
            size = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            size = max(size, self._pending_bytes)
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def _consume(self, sent: int) -> None:
        pending = self._pending
        assert pending is not None
        self._pending_bytes -= sent
        while sent:
            size = len(pending[0])
            if sent < size:
                pending[0] = pending[0][sent:]
                self._begun = True
                return
            pending.popleft()
            self._begun = False
            sent -= size
        if not pending:
            self._pending = None
            if self._eof:
                self._end_writing()

    def _end_writing(self) -> None:
        if self._dead:
            return
        if self._close_after:
            self.abort()
        else:
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)
