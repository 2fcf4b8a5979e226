"""Transports: byte pipes whose writing side never blocks and is bounded.

`push` writes frames at once. Bytes that the kernel does not accept wait in a bounded queue, which
one flusher task drains. The queue keeps the boundaries of frames, so that frames that have not
begun can be replaced by a close frame: that tells a slow reader why it is disconnected.

`SocketTransport` works on the raw non-blocking socket and is the fast path: an idle one owns no
task, no buffer and no cancel scope. `StreamTransport` works on any trio stream (TLS, memory).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol

import trio

from yoked_actor.edge.net.limits import EdgeLimits

RECEIVE_BYTES = 16 * 1024


class SlowReaderListener(Protocol):
    """Is called when the peer does not read what it is sent."""

    def on_slow_reader(self) -> None:
        """Send a last frame with `finish_with`, or abort."""


class Transport(ABC):
    """A byte pipe to one client."""

    __slots__ = (
        "_close_after",
        "_eof",
        "_flushing",
        "_limits",
        "_nursery",
        "_pending_bytes",
        "dead",
        "listener",
    )

    def __init__(self, nursery: trio.Nursery, limits: EdgeLimits) -> None:
        self._nursery = nursery
        self._limits = limits
        self._pending_bytes = 0
        self._flushing = False
        self._eof = False
        self._close_after = False
        self.dead = False
        self.listener: SlowReaderListener | None = None

    @abstractmethod
    async def receive(self) -> bytes:
        """The next bytes; empty at the end of the connection, also when it has broken."""

    @abstractmethod
    def push(self, frames: list[bytes]) -> None:
        """Send whole frames, in order; never blocks, never raises."""

    @abstractmethod
    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close, after all frames are sent; later pushes are dropped."""

    @abstractmethod
    def finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""

    @abstractmethod
    def abort(self) -> None:
        """Close at once; bytes that are not in the kernel or stream yet are lost."""

    @abstractmethod
    def detach(self) -> trio.abc.Stream:
        """Hand the pipe over as a plain stream; the transport is dead afterwards."""

    def _report_slow_reader(self) -> None:
        if self.listener is None or self._eof:
            self.abort()
        else:
            self.listener.on_slow_reader()
