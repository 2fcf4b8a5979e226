"""Transports: a byte pipe whose writing side never blocks and is bounded.

`push` hands frames to the pipe at once. What the kernel does not take waits in a bounded queue
that one flusher task empties, and the queue keeps frame borders: a reader that is too slow can
then be told so, because frames that have not begun can be dropped and replaced by a close frame
without breaking the framing.

`SocketTransport` works on the raw non-blocking socket and is the fast path; an idle one owns no
task, no buffer and no cancel scope. `StreamTransport` is the same on any trio stream (TLS, memory).
"""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections import deque
from typing import Protocol

import trio

from yoked_actor.edge.limits import EdgeLimits

RECEIVE_BYTES = 16 * 1024
_FRAMES_PER_WRITE = 64
_STREAM_CHUNK_BYTES = 16 * 1024


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


class SocketTransport:
    """A transport on a connected, non-blocking stdlib socket."""

    __slots__ = (
        "_begun",
        "_close_after",
        "_eof",
        "_flushing",
        "_limits",
        "_nursery",
        "_pending",
        "_pending_bytes",
        "_sock",
        "dead",
        "listener",
    )

    def __init__(self, sock: socket.socket, nursery: trio.Nursery, limits: EdgeLimits) -> None:
        self._sock = sock
        self._nursery = nursery
        self._limits = limits
        # None, not empty, while there is nothing to wait for: a deque costs 700 bytes.
        self._pending: deque[bytes] | None = None
        self._pending_bytes = 0
        self._begun = False
        self._flushing = False
        self._eof = False
        self._close_after = False
        self.dead = False
        self.listener: SlowReaderListener | None = None

    async def receive(self) -> bytes:
        """The next bytes; empty at the end, however it came."""
        while not self.dead:
            try:
                await trio.lowlevel.wait_readable(self._sock)
                return self._sock.recv(RECEIVE_BYTES)
            except (BlockingIOError, InterruptedError):
                continue
            except (OSError, ValueError, trio.ClosedResourceError):
                break
        return b""

    def push(self, frames: list[bytes]) -> None:
        """Send whole frames, in order; never blocks, never raises."""
        if self.dead or self._eof:
            return
        if self._pending is None:
            data = frames[0] if len(frames) == 1 else b"".join(frames)
            try:
                sent = self._sock.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError:
                self.abort()
                return
            if sent == len(data):
                return
            self._pending = deque(frames)
            self._pending_bytes = len(data)
            self._consume(sent)
        else:
            self._pending.extend(frames)
            self._pending_bytes += sum(map(len, frames))
        if self._pending_bytes > self._limits.max_buffered_bytes:
            self._report_slow_reader()
        else:
            self._ensure_flusher()

    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close, once all that was pushed is out; later pushes are dropped."""
        self._eof = True
        self._close_after = self._close_after or close
        if self._pending is None:
            self._end_writing()

    def finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""
        if self.dead or self._eof:
            return
        pending = self._pending
        begun = pending[0] if pending and self._begun else b""
        self._pending = deque((begun, frame) if begun else (frame,))
        self._pending_bytes = len(begun) + len(frame)
        self._eof = True
        self._make_room()
        self._write_some()
        self._ensure_flusher()

    def abort(self) -> None:
        """Close at once; what is not in the kernel yet is lost."""
        if self.dead:
            return
        self._release()
        trio.lowlevel.notify_closing(self._sock)
        self._sock.close()

    def detach(self) -> trio.abc.Stream:
        """Give the pipe away as a plain stream; the transport is dead afterwards."""
        self._release()
        return trio.SocketStream(trio.socket.from_stdlib_socket(self._sock))

    def _release(self) -> None:
        self.dead = True
        self.listener = None
        self._pending = None
        self._pending_bytes = 0

    def _make_room(self) -> None:
        # The kernel's buffer is full, which is why we are here. Setting the size it reports
        # doubles it (Linux), so that the last frame fits and outlives our closing the socket.
        with contextlib.suppress(OSError):
            size = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            size = max(size, self._pending_bytes)
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def _report_slow_reader(self) -> None:
        if self.listener is None or self._eof:
            self.abort()
        else:
            self.listener.on_slow_reader()

    def _ensure_flusher(self) -> None:
        if self._pending is not None and not self._flushing:
            self._flushing = True
            self._nursery.start_soon(self._flush)

    async def _flush(self) -> None:
        try:
            while self._pending is not None:
                with trio.move_on_after(self._limits.stall_timeout_s) as patience:
                    await trio.lowlevel.wait_writable(self._sock)
                if patience.cancelled_caught:
                    self._report_slow_reader()
                else:
                    self._write_some()
        except (OSError, ValueError, trio.ClosedResourceError):
            self.abort()
        finally:
            self._flushing = False

    def _write_some(self) -> None:
        if self._pending is None:
            return
        try:
            sent = self._sock.sendmsg(list(itertools.islice(self._pending, _FRAMES_PER_WRITE)))
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            self.abort()
            return
        self._consume(sent)

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
        if self._close_after:
            self.abort()
        else:
            with contextlib.suppress(OSError):
                self._sock.shutdown(socket.SHUT_WR)


class StreamTransport:
    """A transport on any trio stream; its flusher starts with the first push and then stays."""

    __slots__ = (
        "_close_after",
        "_eof",
        "_flushing",
        "_limits",
        "_nursery",
        "_pending",
        "_pending_bytes",
        "_sending",
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
        # Counts what is in flight too: it is not out before `send_all` returns.
        self._pending_bytes = 0
        self._sending: trio.CancelScope | None = None
        self._wakeup = trio.lowlevel.ParkingLot()
        self._flushing = False
        self._eof = False
        self._close_after = False
        self.dead = False
        self.listener: SlowReaderListener | None = None

    async def receive(self) -> bytes:
        """The next bytes; empty at the end, however it came."""
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
        """Half-close, or close, once all that was pushed is out; later pushes are dropped."""
        if not self.dead:
            self._eof = True
            self._close_after = self._close_after or close
            self._wake_flusher()

    def finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""
        if self.dead or self._eof:
            return
        self._pending.clear()
        self._pending.append(frame)
        self._eof = True
        if self._sending is not None:
            last_at = trio.current_time() + self._limits.last_words_s
            self._sending.deadline = min(self._sending.deadline, last_at)
        self._wake_flusher()

    def abort(self) -> None:
        """Close at once; what is not in the stream yet is lost."""
        if self.dead:
            return
        self._release()
        if self._sending is not None:
            self._sending.cancel()
        # Closing needs a task; the flusher does it on its way out.
        self._wake_flusher()

    def detach(self) -> trio.abc.Stream:
        """Give the pipe away as a plain stream; the transport is dead afterwards."""
        assert not self._flushing, "a transport that has sent cannot be given away"
        self._release()
        return self._stream

    def _release(self) -> None:
        self.dead = True
        self.listener = None
        self._pending.clear()

    def _report_slow_reader(self) -> None:
        if self.listener is None or self._eof:
            self.abort()
        else:
            self.listener.on_slow_reader()

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
                    await self._send_chunk()
                elif self._close_after:
                    await self._close_politely()
                elif self._eof and not half_closed:
                    half_closed = True
                    await self._half_close()
                else:
                    await self._wakeup.park()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            # Reached only when nobody wants the stream any more.
            self._release()
            await trio.aclose_forcefully(self._stream)

    async def _send_chunk(self) -> None:
        chunk = [self._pending.popleft()]
        size = len(chunk[0])
        while self._pending and size + len(self._pending[0]) <= _STREAM_CHUNK_BYTES:
            chunk.append(self._pending.popleft())
            size += len(chunk[-1])
        patience_s = self._limits.last_words_s if self._eof else self._limits.stall_timeout_s
        with trio.move_on_after(patience_s) as self._sending:
            await self._stream.send_all(b"".join(chunk))
        stalled = self._sending.cancelled_caught
        self._sending = None
        self._pending_bytes -= size
        if stalled and not self.dead:
            # A frame was cut in two, so no close frame can follow: count it, then close hard.
            listener = self.listener
            self.abort()
            if listener is not None and not self._eof:
                listener.on_slow_reader()

    async def _half_close(self) -> None:
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            with trio.move_on_after(self._limits.last_words_s):
                await self._stream.send_eof()
        else:
            # TLS has no half-close: the goodbye is a whole one.
            await self._close_politely()

    async def _close_politely(self) -> None:
        with trio.move_on_after(self._limits.last_words_s):
            await self._stream.aclose()
        self._release()
