"""A plain TCP connection until its first request is answered: the raw, non-blocking socket.

A WebSocket then belongs to the hub, and HTTP to Hypercorn.
"""

from __future__ import annotations

import contextlib
import socket

import trio

from yoked_actor.edge.net.transport import RECEIVE_BYTES


class IncomingSocket:
    """A `Transport` on a connected, non-blocking socket to which little is sent."""

    __slots__ = ("_dead", "_sock")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._dead = False

    async def receive(self) -> bytes:
        """The next bytes; empty at the end of the connection, also when it has broken."""
        while not self._dead:
            try:
                await trio.lowlevel.wait_readable(self._sock)
                return self._sock.recv(RECEIVE_BYTES)
            except (BlockingIOError, InterruptedError):
                continue
            except (OSError, ValueError, trio.ClosedResourceError):
                break
        return b""

    def push(self, frames: list[bytes]) -> None:
        """Send an answer. The kernel's buffer is empty, so it takes all of it or is broken."""
        if self._dead:
            return
        data = b"".join(frames)
        try:
            sent = self._sock.send(data)
        except OSError:
            sent = 0
        if sent < len(data):
            self.abort()

    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close."""
        if close:
            self.abort()
        elif not self._dead:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)

    def abort(self) -> None:
        """Close at once. Does nothing when the socket was handed over."""
        if not self._dead:
            self._dead = True
            trio.lowlevel.notify_closing(self._sock)
            self._sock.close()

    def detach(self) -> trio.abc.Stream:
        """Hand the socket over as a stream."""
        return trio.SocketStream(trio.socket.from_stdlib_socket(self.release()))

    def release(self) -> socket.socket:
        """Hand the socket over."""
        self._dead = True
        return self._sock
