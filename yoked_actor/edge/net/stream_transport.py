"""A transport on any trio stream (TLS, memory) whose writing side never blocks and is bounded.

`push` queues frames, and one flusher task sends them. The queue keeps the boundaries of frames, so
that frames that have not begun can be replaced by a close frame: that tells a slow reader why it is
disconnected.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import trio

from yoked_actor.edge.net.limits import EdgeLimits
from yoked_actor.edge.net.transport import RECEIVE_BYTES

_CHUNK_BYTES = 16 * 1024


class SlowReaderListener(Protocol):
    """Is called when the peer does not read what it is sent."""

    def on_slow_reader(self) -> None:
        """Send a last frame with `finish_with`, or abort."""


class StreamTransport:
    """A `Transport` on any trio stream. Its flusher runs from the first push to the end."""

    __slots__ = (
        "_close_after",
        "_eof",
        "_flushing",
        "_limits",
        "_nursery",
        "_pending",
        "_pending_bytes",
        "_sending",
        "_slow",
        "_stream",
        "_wakeup",
        "dead",
        "listener",
    )

    def __init__(self, stream: trio.abc.Stream, nursery: trio.Nursery, limits: EdgeLimits) -> None:
        self._stream = stream
        self._nursery = nursery
        self._limits = limits
        self._pending: deque[bytes] = deque()
        self._pending_bytes = 0
        """Also counts the chunk that `send_all` has not finished."""
        self._flushing = False
        self._eof = False
        self._close_after = False
        self.dead = False
        self.listener: SlowReaderListener | None = None
        self._sending: trio.CancelScope | None = None
        self._slow = False
        self._wakeup = trio.lowlevel.ParkingLot()

    async def receive(self) -> bytes:
        """The next bytes; empty at the end of the connection, also when it has broken."""
        if self.dead:
            return b""
        try:
            return bytes(await self._stream.receive_some(RECEIVE_BYTES))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return b""

    def push(self, frames: list[bytes]) -> None:
        """Send whole frames, in order; never blocks, never raises."""
        if self.dead or self._eof:
            return
        self._pending.extend(frames)
        self._pending_bytes += sum(map(len, frames))
        if self._pending_bytes > self._limits.max_buffered_bytes:
            self._report_slow_reader()
        else:
            self._wake_flusher()

    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close, after all frames are sent; later pushes are dropped."""
        if not self.dead:
            self._eof = True
            self._close_after = self._close_after or close
            self._wake_flusher()

    def finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""
        if self.dead or self._eof:
            return
        self._pending_bytes += len(frame) - sum(map(len, self._pending))
        self._pending.clear()
        self._pending.append(frame)
        self._eof = self._slow = True
        if self._sending is not None:
            self._sending.deadline = trio.current_time() + self._limits.stall_timeout_s
        self._wake_flusher()

    def abort(self) -> None:
        """Close at once; bytes that the stream has not taken yet are lost."""
        if self.dead:
            return
        self._release()
        if self._sending is not None:
            self._sending.cancel()
        # Closing a stream needs a task: the flusher does it when it ends.
        self._wake_flusher()

    def detach(self) -> trio.abc.Stream:
        """Hand the stream over; the transport is dead afterwards."""
        assert not self._flushing, "a transport that has sent cannot be detached"
        self._release()
        return self._stream

    def _report_slow_reader(self) -> None:
        if self.listener is None or self._eof:
            self.abort()
        else:
            self.listener.on_slow_reader()

    def _release(self) -> None:
        self.dead = True
        self.listener = None
        self._pending.clear()

    def _wake_flusher(self) -> None:
        if self._flushing:
            self._wakeup.unpark()
        else:
            self._flushing = True
            self._nursery.start_soon(self._flush)

    async def _flush(self) -> None:
        half_closed = False
        try:
            while not self.dead:
                if self._pending:
                    # Until a chunk is sent, a close frame can still replace it.
                    if await self._wait_for_room():
                        await self._send_chunk()
                elif self._close_after:
                    await self._close_stream()
                elif self._eof and not half_closed:
                    half_closed = True
                    if not self._slow or isinstance(self._stream, trio.abc.HalfCloseableStream):
                        await self._half_close()
                else:
                    await self._wakeup.park()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            # Reached only when the stream is no longer used.
            self._release()
            await trio.aclose_forcefully(self._stream)

    @property
    def _send_timeout_s(self) -> float:
        if self._eof and not self._slow:
            return self._limits.last_words_s
        return self._limits.stall_timeout_s

    async def _wait_for_room(self) -> bool:
        """Wait until a chunk can be sent; report a slow reader when that takes too long."""
        with trio.move_on_after(self._send_timeout_s) as self._sending:
            await self._stream.wait_send_all_might_not_block()
        stalled = self._sending.cancelled_caught
        self._sending = None
        if stalled and not self.dead:
            was_ending = self._eof
            if not was_ending:
                self._report_slow_reader()
            if was_ending or not self._eof:
                self.abort()
        return not stalled and bool(self._pending)

    async def _send_chunk(self) -> None:
        chunk = [self._pending.popleft()]
        size = len(chunk[0])
        while self._pending and size + len(self._pending[0]) <= _CHUNK_BYTES:
            chunk.append(self._pending.popleft())
            size += len(chunk[-1])
        with trio.move_on_after(self._send_timeout_s) as self._sending:
            await self._stream.send_all(b"".join(chunk))
        stalled = self._sending.cancelled_caught
        self._sending = None
        self._pending_bytes -= size
        if stalled and not self.dead:
            # A frame was sent in part, so no close frame can follow: report it, and abort.
            listener = self.listener
            self.abort()
            if listener is not None and not self._eof:
                listener.on_slow_reader()

    async def _half_close(self) -> None:
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            with trio.move_on_after(self._limits.last_words_s):
                await self._stream.send_eof()
        else:
            # TLS has no half-close: close both directions.
            await self._close_stream()

    async def _close_stream(self) -> None:
        with trio.move_on_after(self._limits.last_words_s):
            await self._stream.aclose()
        self._release()
