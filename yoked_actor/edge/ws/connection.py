"""One WebSocket connection, after its handshake.

Whole text messages, pings and pongs are parsed and written here. All else (fragments, close frames,
breaches of the protocol, the closing handshake) goes frame by frame through the sans-I/O protocol
of `websockets`, which exists only meanwhile. This module joins fragments, and enforces what this
protocol adds: text only (1003), valid UTF-8 (1007), 16 KiB a message (1009), a rate of frames of
any kind (4009), and no slow readers (4008).

How bytes get in and out is left to the two kinds of connections: `HubConnection` for plain sockets,
`StreamConnection` for TLS and memory. A connection owns no timer: `Keepalive` holds its deadlines.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from typing import Any, Protocol

import structlog
from websockets.frames import BINARY, CONT, PING, TEXT, Frame
from websockets.protocol import OPEN

from yoked_actor.edge.net import Keepalive
from yoked_actor.edge.ws.connection_output import ConnectionOutput
from yoked_actor.edge.ws.fragments import BadMessage, Fragments
from yoked_actor.edge.ws.frames import (
    INCOMPLETE,
    MALFORMED,
    PING_FRAME,
    PONG_FRAME,
    TEXT_FRAME,
    frame_end,
    payload_of,
    pong_frame,
)
from yoked_actor.edge.ws.library import break_cycles, clip_reason
from yoked_actor.wire.close_codes import CloseCode

_log = structlog.get_logger()

Awaited = Coroutine[Any, Any, None]
"""The part of handling a message that has to be awaited."""


class MessageHandler(Protocol):
    """Handles what a client sends. Methods do not block; `now_s` is on trio's clock."""

    def admits_frame(self, now_s: float) -> bool:
        """Whether one more frame is within the rate; if so, it is counted."""

    def on_ping(self, now_s: float) -> None:
        """The client has sent a ping; the pong is being sent."""

    def receive(self, text: bytes, now_s: float) -> Awaited | None:
        """Handle one message. Nothing more is read until the returned coroutine has ended."""

    def end(self) -> None:
        """The connection has ended."""


class WebSocketConnection(ConnectionOutput):
    """An open WebSocket: text messages in by `take_in`, out by `send` and `flush`."""

    __slots__ = ("_fragments", "_handler")

    def __init__(self, keepalive: Keepalive, peer: str, subprotocol: str | None) -> None:
        super().__init__(keepalive, peer, subprotocol)
        self._handler: MessageHandler | None = None
        self._fragments: Fragments | None = None

    @abstractmethod
    def _await(self, awaited: Awaited) -> None:
        """Let a coroutine run; call `_resume` after it, or `_crash` first if it fails."""

    # Receiving

    def take_in(self, data: bytes, now_s: float) -> None:
        """Handle every whole frame; the rest is kept until more bytes come."""
        self.has_received = True
        if self._protocol is not None and self._protocol.eof_sent:
            # The close frame is sent, and input is dropped. Some of it is still read, because a
            # reset could overtake the close frame; a flood is not.
            self._discardable -= len(data)
            if self._discardable < 0:
                self.abort()
            return
        if self._rest:
            data = self._rest + data
            self._rest = b""
        self._corked = True
        try:
            self._parse(data, now_s)
        except Exception:
            self._crash()
        finally:
            self._corked = False
        if self._out is not None or self._protocol is not None:
            self._write()

    def _parse(self, data: bytes, now_s: float) -> None:
        handler = self._handler
        assert handler is not None
        max_bytes = self._keepalive.limits.max_message_bytes
        start, size = 0, len(data)
        while start < size and not self.busy:
            end = frame_end(data, start, max_bytes)
            if end == INCOMPLETE:
                break
            if not handler.admits_frame(now_s):
                self._fail(CloseCode.RATE_LIMITED, "too many frames")
                return
            if end == MALFORMED:
                self._refuse(data[start:])
                return
            first = data[start]
            if self._protocol is None and first == TEXT_FRAME:
                text = payload_of(data, start, end)
                if text.isascii() or self._is_utf8(text):
                    self._deliver(text, now_s)
            elif self._protocol is None and first == PING_FRAME and data[start + 1] < 0xFE:
                self._queue(pong_frame(payload_of(data, start, end)))
                handler.on_ping(now_s)
            elif self._protocol is None and first == PONG_FRAME and data[start + 1] < 0xFE:
                pass  # `has_received` is all that the keepalive needs
            elif not self._take_unusual(data[start:end], now_s):
                return
            start = end
        if start < size and not self.is_dead:
            self._rest = data[start:]

    def _deliver(self, text: bytes, now_s: float) -> None:
        if self._hung_up or self._handler is None:
            return
        awaited = self._handler.receive(text, now_s)
        if awaited is not None:
            self.busy = True
            self._await(awaited)

    def _resume(self, now_s: float) -> None:
        """What was awaited has ended: handle what has come meanwhile."""
        self.busy = False
        if self._rest:
            self.take_in(b"", now_s)

    def _crash(self) -> None:
        """Close the connection: its handler has failed, and the exception is being handled."""
        _log.exception("connection_crashed", peer=self.peer, kind="websocket")
        self.close(CloseCode.INTERNAL_ERROR, "internal error")

    def _release(self) -> None:
        """The connection has ended: free what refers to it."""
        handler, self._handler = self._handler, None
        self._out = self._fragments = None
        self._rest = b""
        if self._protocol is not None:
            break_cycles(self._protocol)
        if handler is not None:
            handler.end()

    # What is unusual

    def _take_unusual(self, frame: bytes, now_s: float) -> bool:
        """Let the library parse one whole frame; whether more of them are read."""
        protocol = self._the_protocol()
        protocol.receive_data(frame)
        for event in protocol.events_received():
            if event.opcode is PING and self._handler is not None:  # type: ignore[union-attr]
                self._handler.on_ping(now_s)
            message = self._message_of(event)  # type: ignore[arg-type]
            if message is not None:
                self._deliver(message, now_s)
        if protocol.state is OPEN:
            for written in protocol.data_to_send():
                self._queue(written)
            if self._fragments is None:
                break_cycles(protocol)
                self._protocol = None
        return not protocol.eof_sent

    def _refuse(self, data: bytes) -> None:
        """Let the library refuse a frame by its head."""
        self._hung_up = True
        self._the_protocol().receive_data(data)
        self._fail(CloseCode.PROTOCOL_ERROR, "malformed frame")

    def _message_of(self, frame: Frame) -> bytes | None:
        """The text message that this frame completes, if any."""
        opcode = frame.opcode
        try:
            if opcode is TEXT and frame.fin:
                data = bytes(frame.data)
                return data if data.isascii() or self._is_utf8(data) else None
            if opcode is TEXT:
                self._fragments = Fragments(self._keepalive.limits.max_message_bytes)
                return self._fragments.add(bytes(frame.data), last=False)
            if opcode is CONT and self._fragments is not None:
                message = self._fragments.add(bytes(frame.data), last=frame.fin)
                if frame.fin:
                    self._fragments = None
                return message
            if opcode is BINARY:
                self._fail(CloseCode.UNSUPPORTED_DATA, "text only")
        except BadMessage as bad:
            self._fail(bad.code, bad.reason)
        return None

    def _is_utf8(self, text: bytes) -> bool:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            self._fail(CloseCode.INVALID_DATA, error.reason)
            return False
        return True

    def _fail(self, code: int, reason: str) -> None:
        """Close without waiting for the peer's close frame, and drop all input."""
        self._hung_up = True
        self._fragments = None
        protocol = self._the_protocol()
        if not protocol.eof_sent:
            protocol.fail(code, clip_reason(reason))
