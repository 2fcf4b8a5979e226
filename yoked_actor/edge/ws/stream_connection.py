"""A WebSocket connection on a stream (TLS, memory), with a task of its own."""

from __future__ import annotations

import trio

from yoked_actor.edge.net import Keepalive, StreamTransport
from yoked_actor.edge.ws.connection import Awaited, MessageHandler, WebSocketConnection


class StreamConnection(WebSocketConnection):
    """A WebSocket that `run` serves."""

    __slots__ = ("_awaited", "_transport")

    def __init__(
        self,
        transport: StreamTransport,
        keepalive: Keepalive,
        *,
        peer: str = "",
        subprotocol: str | None = None,
        received: bytes = b"",
    ) -> None:
        """`received` came with the request of the handshake."""
        super().__init__(keepalive, peer, subprotocol)
        self._transport = transport
        self._awaited: Awaited | None = None
        self._rest = received
        transport.listener = self

    async def run(self, handler: MessageHandler) -> None:
        """Pass what is received to `handler`, until the connection ends.

        If cancelled, the connection is closed at once.
        """
        self._handler = handler
        self._keepalive.watch(self)
        try:
            self._resume(trio.current_time())
            while True:
                # No message or chunk is kept in a local: it would stay in memory while the
                # connection idles.
                if self._awaited is not None:
                    await self._finish_awaited()
                elif not self._feed(await self._transport.receive()):
                    return
        finally:
            self._keepalive.forget(self)
            self.abort()
            self._release()

    @property
    def is_dead(self) -> bool:
        """Whether the connection is closed in both directions."""
        return self._transport.dead

    def abort(self) -> None:
        """Close at once, without a close frame."""
        self._hung_up = True
        self._transport.abort()

    def catch_up(self) -> None:
        """Does nothing: what has arrived is read by the task of the connection."""

    def _feed(self, data: bytes) -> bool:
        if data:
            self.take_in(data, trio.current_time())
        return bool(data)

    async def _finish_awaited(self) -> None:
        awaited, self._awaited = self._awaited, None
        assert awaited is not None
        try:
            await awaited
        except Exception:
            self._crash()
        self._resume(trio.current_time())

    def _await(self, awaited: Awaited) -> None:
        self._awaited = awaited

    def _push(self, frames: list[bytes]) -> None:
        self._transport.push(frames)

    def _push_eof(self, close: bool) -> None:
        self._transport.push_eof(close=close)

    def _finish_with(self, frame: bytes) -> None:
        self._transport.finish_with(frame)
