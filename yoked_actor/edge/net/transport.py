"""Transports: a byte pipe whose writing side never blocks and is bounded.

`push` hands frames to the pipe at once. What the kernel does not take waits in a bounded queue
that one flusher task empties, and the queue keeps frame borders: a reader that is too slow can
then be told so, because frames that have not begun can be dropped and replaced by a close frame
without breaking the framing.

`SocketTransport` works on the raw non-blocking socket and is the fast path; an idle one owns no
task, no buffer and no cancel scope. `StreamTransport` is the same on any trio stream (TLS, memory).
"""

from __future__ import annotations

from typing import Protocol

import trio

RECEIVE_BYTES = 16 * 1024


class SlowReaderListener(Protocol):
    """Who is told when the peer does not read what it is sent."""

    def on_slow_reader(self) -> None:
        """Say the last words with `finish_with`, or abort."""


class Transport(Protocol):
    """What the WebSocket layer needs of a byte pipe."""

    dead: bool
    listener: SlowReaderListener | None

    async def receive(self) -> bytes:
        """The next bytes; empty at the end, however it came."""

    def push(self, frames: list[bytes]) -> None:
        """Send whole frames, in order; never blocks, never raises."""

    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close, once all that was pushed is out; later pushes are dropped."""

    def finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""

    def abort(self) -> None:
        """Close at once; what is not in the kernel yet is lost."""

    def detach(self) -> trio.abc.Stream:
        """Give the pipe away as a plain stream; the transport is dead afterwards."""
