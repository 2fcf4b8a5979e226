"""Byte pipes in memory between a simulated person and the server.

They behave like TCP where it matters: bytes arrive in order, a reader that does not read makes the
writer wait, and a cut connection breaks for both sides at once. A pipe can be cut, stalled and
delayed, which memory streams of trio cannot.
"""

from __future__ import annotations

from collections import deque

import trio

CAPACITY = 64 * 1024
"""How many bytes may wait for the reader before the writer waits too."""


class Pipe:
    """One direction."""

    __slots__ = (
        "_arrived",
        "_changed",
        "_chunks",
        "_size",
        "delay_s",
        "ended",
        "is_cut",
        "stalled",
    )

    def __init__(self) -> None:
        self._chunks: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._arrived = trio.lowlevel.ParkingLot()
        self._changed = trio.lowlevel.ParkingLot()
        self.delay_s = 0.0
        """How long bytes travel."""
        self.stalled = False
        """Whether bytes stay where they are for now."""
        self.ended = False
        """Whether the writer has closed its side."""
        self.is_cut = False

    def cut(self, *, keep: bool = False) -> None:
        """Break the pipe for both sides. `keep`: what was sent before can still be read."""
        if not keep:
            self._chunks.clear()
            self._size = 0
        self.is_cut = True
        self.wake()

    def end(self) -> None:
        """The writer sends no more."""
        self.ended = True
        self.wake()

    def wake(self) -> None:
        """Let both sides look again."""
        self._arrived.unpark_all()
        self._changed.unpark_all()

    async def wait_for_room(self) -> None:
        """Wait until the writer can write."""
        await trio.lowlevel.checkpoint()
        while self._size >= CAPACITY and not self.is_cut:
            await self._changed.park()

    async def send(self, data: bytes) -> None:
        """Write all of it, waiting for room first."""
        await self.wait_for_room()
        if self.is_cut:
            raise trio.BrokenResourceError("the connection was cut")
        self._chunks.append((trio.current_time() + self.delay_s, data))
        self._size += len(data)
        self._arrived.unpark()

    async def receive(self, max_bytes: int | None) -> bytes:
        """The next bytes; empty at the end."""
        await trio.lowlevel.checkpoint()
        while True:
            if self._chunks and not self.stalled:
                ready_at, data = self._chunks[0]
                if ready_at > trio.current_time():
                    await trio.sleep_until(ready_at)
                    continue
                return self._take(data, max_bytes)
            if self.is_cut:
                raise trio.BrokenResourceError("the connection was cut")
            if self.ended and not self._chunks:
                return b""
            await self._arrived.park()

    def _take(self, data: bytes, max_bytes: int | None) -> bytes:
        if max_bytes is not None and len(data) > max_bytes:
            ready_at, _ = self._chunks[0]
            self._chunks[0] = (ready_at, data[max_bytes:])
            data = data[:max_bytes]
        else:
            self._chunks.popleft()
        self._size -= len(data)
        self._changed.unpark_all()
        return data


class End(trio.abc.HalfCloseableStream):
    """One end of a line: what one side reads from and writes to."""

    def __init__(self, incoming: Pipe, outgoing: Pipe) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._closed = False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of it."""
        if self._closed:
            raise trio.ClosedResourceError
        await self._outgoing.send(bytes(data))

    async def wait_send_all_might_not_block(self) -> None:
        """Wait for room."""
        if self._closed:
            raise trio.ClosedResourceError
        await self._outgoing.wait_for_room()

    async def send_eof(self) -> None:
        """Close the writing side."""
        await trio.lowlevel.checkpoint()
        self._outgoing.end()

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The next bytes; empty at the end."""
        if self._closed:
            raise trio.ClosedResourceError
        data = await self._incoming.receive(max_bytes)
        if self._closed:
            raise trio.ClosedResourceError
        return data

    async def aclose(self) -> None:
        """Close both directions; what was written can still be read by the other side."""
        if not self._closed:
            self._closed = True
            self._outgoing.end()
            # As a TCP socket that is closed: who writes to it gets a reset.
            self._incoming.cut()
        await trio.lowlevel.checkpoint()


class Line:
    """A connection: two pipes and their ends."""

    def __init__(self) -> None:
        self.up = Pipe()
        """From the person to the server."""
        self.down = Pipe()
        self.persons_end = End(self.down, self.up)
        self.servers_end = End(self.up, self.down)

    @property
    def is_over(self) -> bool:
        """Whether it was cut or closed."""
        return self.up.is_cut or self.down.is_cut

    def cut(self, *, keep: bool = False) -> None:
        """Cut both directions. `keep`: the person can still read what the server has sent."""
        self.up.cut()
        self.down.cut(keep=keep)

    def stall(self, stalled: bool) -> None:
        """Stop or resume the traffic in both directions."""
        for pipe in (self.up, self.down):
            pipe.stalled = stalled
            pipe.wake()

    def delay(self, seconds: float) -> None:
        """Let bytes travel for so long."""
        self.up.delay_s = self.down.delay_s = seconds
