"""One WebSocket connection, after its handshake.

The sans-I/O protocol of `websockets` does the framing, masking, control frames and the closing
handshake. This module moves bytes between it and a transport, joins fragments, and enforces what
this protocol adds: text only (1003), valid UTF-8 (1007), 16 KiB a message (1009), a rate of frames
of any kind (4009), and no slow readers (4008).

A connection owns no timer, and no task but the one that runs it: `Keepalive` holds its deadlines.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog
import trio
from websockets.frames import BINARY, CONT, PING, TEXT, Frame
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from yoked_actor.edge.net import Keepalive, Transport
from yoked_actor.edge.ws.fragments import BadMessage, Fragments
from yoked_actor.edge.ws.library import PROTOCOL_LOGGER, break_cycles, clip_reason
from yoked_actor.wire.close_codes import CloseCode

_MAX_QUEUED_FRAMES = 256
# `websockets` parses, and answers, all bytes that it is given at once. This many hold 42 frames at
# most, so a flood is detected before much of it has been parsed.
_PARSED_BYTES = 256
# A slow reader may have sent many commands, within the rate, before it was disconnected.
_SLOW_READERS_SEND = 16

_log = structlog.get_logger()


class FrameObserver(Protocol):
    """Is called for every frame, before it is handled. Methods must not block or raise."""

    def admits_frame(self) -> bool:
        """Whether one more frame is within the rate; if so, it is counted."""

    def on_ping(self) -> None:
        """The client has sent a ping; the pong is sent already."""


class WebSocketConnection:
    """An open WebSocket: text messages in by `run`, out by `send` and `flush`."""

    __slots__ = (
        "_discardable",
        "_fragments",
        "_hung_up",
        "_keepalive",
        "_limits",
        "_protocol",
        "_transport",
        "_unparsed",
        "busy",
        "frames",
        "has_received",
        "peer",
        "pinged_at",
        "silent_since",
        "subprotocol",
    )

    def __init__(
        self,
        transport: Transport,
        keepalive: Keepalive,
        *,
        peer: str = "",
        subprotocol: str | None = None,
        received: bytes = b"",
    ) -> None:
        self._transport = transport
        self._keepalive = keepalive
        self._limits = keepalive.limits
        self.peer = peer
        self.subprotocol = subprotocol
        # The limit of `websockets` for messages would also count a ping between two fragments, so
        # it bounds single frames only, and `Fragments` bounds the message.
        self._protocol = ServerProtocol(
            state=OPEN,
            max_size=(None, keepalive.limits.max_message_bytes),
            logger=PROTOCOL_LOGGER,
        )
        self._fragments: Fragments | None = None
        self._hung_up = False
        self.has_received = True
        self.busy = False
        """Whether a message is being handled; nothing is read meanwhile."""
        self.pinged_at: float | None = None
        self.silent_since = 0.0
        self.frames: FrameObserver | None = None
        self._unparsed = received
        self._discardable = self._limits.max_buffered_bytes
        transport.listener = self

    @property
    def is_open(self) -> bool:
        """Whether messages can still be sent."""
        return self._protocol.state is OPEN and not self._transport.dead

    @property
    def close_code(self) -> int | None:
        """The code that ended or is ending this connection: ours if we sent it first."""
        protocol = self._protocol
        if protocol.close_sent is not None and not protocol.close_rcvd_then_sent:
            return int(protocol.close_sent.code)
        if protocol.close_rcvd is not None:
            return int(protocol.close_rcvd.code)
        return int(CloseCode.ABNORMAL_CLOSURE) if self._transport.dead else None

    def send(self, text: bytes) -> None:
        """Queue one text message (UTF-8 bytes); dropped when the connection is closing."""
        protocol = self._protocol
        if protocol.state is OPEN:
            protocol.send_text(text)
            if len(protocol.writes) >= _MAX_QUEUED_FRAMES:
                self.flush()

    def flush(self) -> None:
        """Hand all queued frames to the transport in one write."""
        frames = self._protocol.data_to_send()
        if not frames:
            return
        if frames[-1]:
            self._transport.push(frames)
            return
        # An empty one means that nothing more will be sent, and that the peer should close now.
        frames.pop()
        if frames:
            self._transport.push(frames)
        # After both close frames the server closes first. A peer that has not sent one may still be
        # sending, and a full close would then reset the stream before the peer reads our reason.
        self._transport.push_eof(close=self._protocol.close_rcvd is not None)
        self._keepalive.expire(self, self._limits.last_words_s)

    def close(self, code: int, reason: str) -> None:
        """Begin the closing handshake; frames that are queued are sent first."""
        if self._protocol.state is not OPEN:
            return
        self._hung_up = True
        self._protocol.send_close(code, clip_reason(reason))
        self.flush()
        self._keepalive.expire(self, self._limits.close_timeout_s)

    def ping(self) -> None:
        """Send a ping."""
        if self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self.flush()

    def abort(self) -> None:
        """Close at once, without a close frame."""
        self._transport.abort()

    def on_slow_reader(self) -> None:
        """Called by the transport: send a close frame if that is still possible, and close."""
        self._keepalive.observer.slow_reader()
        _log.debug("slow_reader", peer=self.peer)
        self._hung_up = True
        protocol = self._protocol
        if protocol.state is not OPEN:
            self._transport.abort()
            return
        protocol.writes.clear()
        self._unparsed = b""
        # Input is read for a while and dropped: the kernel resets a socket that is closed with
        # unread bytes, or receives some later, and the peer then never sees the reason.
        protocol.fail(CloseCode.SLOW_READER, "slow reader")
        self._discardable *= _SLOW_READERS_SEND
        self._transport.finish_with(protocol.data_to_send()[0])
        self._keepalive.expire(self, self._limits.stall_timeout_s)

    async def run(self, on_message: Callable[[bytes], Awaitable[None]]) -> None:
        """Read until the end; calls `on_message` with each text message, one at a time."""
        protocol = self._protocol
        receive = self._transport.receive
        self._keepalive.watch(self)
        try:
            while True:
                # No frame, message or chunk is kept in a local: it would stay in memory while
                # the connection idles.
                if protocol.events:
                    await self._deliver(on_message)
                if protocol.writes:
                    self.flush()
                if self._unparsed:
                    self._parse_some()
                elif not self._feed(await receive()):
                    return
        except Exception:
            self.close(CloseCode.INTERNAL_ERROR, "internal error")
            with trio.move_on_after(self._limits.last_words_s):
                while await receive():
                    pass
            raise
        finally:
            self._keepalive.forget(self)
            self._transport.abort()
            self.frames = None
            break_cycles(protocol)

    def _feed(self, data: bytes) -> bool:
        if not data:
            self._protocol.receive_eof()
            return False
        if self._protocol.eof_sent:
            # The close frame is sent, and input is dropped. Some of it is still read, because a
            # reset could overtake the close frame; a flood is not.
            self._discardable -= len(data)
            if self._discardable < 0:
                self._transport.abort()
                return False
        self.has_received = True
        self._unparsed = data
        self._parse_some()
        return True

    def _parse_some(self) -> None:
        data = self._unparsed
        self._unparsed = data[_PARSED_BYTES:]
        self._protocol.receive_data(data[:_PARSED_BYTES])

    async def _deliver(self, on_message: Callable[[bytes], Awaitable[None]]) -> None:
        observer = self.frames
        for event in self._protocol.events_received():
            if observer is not None and not observer.admits_frame():
                self._cut_flood()
                return
            if observer is not None and event.opcode is PING:  # type: ignore[union-attr]
                observer.on_ping()
            message = self._message_of(event)  # type: ignore[arg-type]
            if message is not None:
                self.busy = True
                await on_message(message)
                self.busy = False
                if self._hung_up:
                    break

    def _message_of(self, frame: Frame) -> bytes | None:
        """The text message that this frame completes, if any."""
        opcode = frame.opcode
        try:
            if opcode is TEXT:
                data = bytes(frame.data)
                if not frame.fin:
                    self._fragments = Fragments(self._limits.max_message_bytes)
                    return self._fragments.add(data, last=False)
                if self._hung_up:
                    return None
                if not data.isascii():
                    data.decode()
                return data
            if opcode is CONT and self._fragments is not None:
                message = self._fragments.add(bytes(frame.data), last=frame.fin)
                if frame.fin:
                    self._fragments = None
                return None if self._hung_up else message
            if opcode is BINARY:
                self._fail(CloseCode.UNSUPPORTED_DATA, "text only")
        except UnicodeDecodeError as error:
            self._fail(CloseCode.INVALID_DATA, error.reason)
        except BadMessage as bad:
            self._fail(bad.code, bad.reason)
        return None

    def _cut_flood(self) -> None:
        """Close the connection, and drop all input."""
        self._unparsed = b""
        self._fail(CloseCode.RATE_LIMITED, "too many frames")

    def _fail(self, code: int, reason: str) -> None:
        self._hung_up = True
        self._fragments = None
        if not self._protocol.eof_sent:
            self._protocol.fail(code, clip_reason(reason))
