"""The stream that Hypercorn reads: first the bytes that were read already. Writes are bounded."""

from __future__ import annotations

import trio

_CHUNK_BYTES = 64 * 1024


class ReplayingStream(trio.abc.HalfCloseableStream):
    """A stream that first yields bytes already read, and whose writes have a time-out."""

    def __init__(self, stream: trio.abc.Stream, replay: bytes, stall_timeout_s: float) -> None:
        self._stream = stream
        self._replay = replay
        self._stall_timeout_s = stall_timeout_s
        self._sending: trio.CancelScope | None = None
        self._cut_off = False
        self.received_bytes = 0

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The replayed bytes, then those of the stream."""
        if not self._replay:
            data = bytes(await self._stream.receive_some(max_bytes))
            self.received_bytes += len(data)
            return data
        await trio.lowlevel.checkpoint()
        size = len(self._replay) if max_bytes is None else max_bytes
        data, self._replay = self._replay[:size], self._replay[size:]
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send; closes the stream and raises when the peer does not read for too long."""
        view = memoryview(data)
        for start in range(0, len(view), _CHUNK_BYTES):
            with trio.move_on_after(self._stall_timeout_s) as self._sending:
                if self._cut_off:
                    self._sending.cancel()
                await self._stream.send_all(view[start : start + _CHUNK_BYTES])
            stalled = self._sending.cancelled_caught
            self._sending = None
            if stalled:
                await trio.aclose_forcefully(self._stream)
                raise trio.BrokenResourceError("the peer does not read")

    async def wait_send_all_might_not_block(self) -> None:
        """As in the wrapped stream."""
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """Half-close. Does nothing on TLS, which `aclose` closes in both directions."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            with trio.move_on_after(self._stall_timeout_s):
                await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close; after the time-out, forcefully."""
        with trio.move_on_after(self._stall_timeout_s) as self._sending:
            if self._cut_off:
                self._sending.cancel()
            await self._stream.aclose()
        self._sending = None

    def cut_off(self) -> None:
        """Cancel the write in progress, and every later one."""
        self._cut_off = True
        if self._sending is not None:
            self._sending.cancel()
