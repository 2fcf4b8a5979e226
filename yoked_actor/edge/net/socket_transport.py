"""A transport on the raw socket: the fast path for connections without TLS."""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections import deque

import trio

from yoked_actor.edge.net.limits import EdgeLimits
from yoked_actor.edge.net.transport import RECEIVE_BYTES, Transport

_FRAMES_PER_WRITE = 64


class SocketTransport(Transport):
    """A transport on a connected, non-blocking stdlib socket."""

    __slots__ = ("_begun", "_pending", "_sock")

    def __init__(self, sock: socket.socket, nursery: trio.Nursery, limits: EdgeLimits) -> None:
        super().__init__(nursery, limits)
        self._sock = sock
        # None instead of an empty deque, which takes 700 bytes.
        self._pending: deque[bytes] | None = None
        self._begun = False

    async def receive(self) -> bytes:
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
        self._eof = True
        self._close_after = self._close_after or close
        if self._pending is None:
            self._end_writing()

    def finish_with(self, frame: bytes) -> None:
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
        if self.dead:
            return
        self._release()
        trio.lowlevel.notify_closing(self._sock)
        self._sock.close()

    def detach(self) -> trio.abc.Stream:
        self._release()
        return trio.SocketStream(trio.socket.from_stdlib_socket(self._sock))

    def _release(self) -> None:
        self.dead = True
        self.listener = None
        self._pending = None
        self._pending_bytes = 0

    def _make_room(self) -> None:
        # The kernel's send buffer is full. Setting it to the size that it reports doubles it
        # (Linux), so the last frame fits, and the kernel sends it after the socket is closed.
        with contextlib.suppress(OSError):
            size = self._sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
            size = max(size, self._pending_bytes)
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)

    def _ensure_flusher(self) -> None:
        if self._pending is not None and not self._flushing:
            self._flushing = True
            self._nursery.start_soon(self._flush)

    async def _flush(self) -> None:
        try:
            while self._pending is not None:
                with trio.move_on_after(self._limits.stall_timeout_s) as waiting:
                    await trio.lowlevel.wait_writable(self._sock)
                if waiting.cancelled_caught:
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
