"""One WebSocket connection, after its handshake.

Framing, masking, control frames and the closing handshake are those of the sans-I/O protocol of
`websockets`; this module moves bytes between it and a transport, puts fragments together and
enforces what our contract adds: text only (1003), valid UTF-8 (1007), 16 KiB a message (1009),
a rate of frames of any kind (4009), slow readers hung up on (4008).

A connection owns no timer and no task but the one that runs it: its deadlines are the keepalive's.
"""

from __future__ import annotations

import codecs
import logging
from collections.abc import Awaitable, Callable
from typing import Protocol

import structlog
import trio
from websockets.frames import BINARY, CONT, PING, TEXT, Frame
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from yoked_actor.edge.net import Keepalive, Transport
from yoked_actor.wire.close_codes import CloseCode

_MAX_QUEUED_FRAMES = 256
_MAX_REASON_BYTES = 123
# The library parses, and answers, all that it is given at once. In so many bytes there are 42
# frames at most, so a flood is noticed before much of it has been parsed.
_PARSED_BYTES = 256
# A slow reader is within the rate of frames, and may have asked for much before it was cut off.
_SLOW_READERS_SEND = 16

# Shared by every connection, so that none pays for an adapter; its per-connection lines are noise.
PROTOCOL_LOGGER = logging.getLogger("yoked_actor.edge.protocol")
PROTOCOL_LOGGER.setLevel(logging.WARNING)

_log = structlog.get_logger()
_utf8_decoder = codecs.getincrementaldecoder("utf-8")


class _Fragments:
    """A text message that comes in pieces."""

    __slots__ = ("decoder", "parts", "size")

    def __init__(self) -> None:
        self.decoder = _utf8_decoder()
        self.parts: list[bytes] = []
        self.size = 0


class FrameObserver(Protocol):
    """Is asked about every frame that comes, before it is looked at. Must not block or raise."""

    def admits_frame(self) -> bool:
        """Whether one more frame is within the rate; if so, it is counted."""

    def on_ping(self) -> None:
        """The client has sent a ping, which has been answered."""


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
        "heard",
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
        # The library's limit for whole messages would count a ping that comes between two
        # fragments as well, so it bounds single frames only and `_join` bounds the message.
        self._protocol = ServerProtocol(
            state=OPEN,
            max_size=(None, keepalive.limits.max_message_bytes),
            logger=PROTOCOL_LOGGER,
        )
        self._fragments: _Fragments | None = None
        self._hung_up = False
        self.heard = True
        self.busy = False
        """Whether a message is being handled; what comes meanwhile is not read."""
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
        # The library's mark that nothing more will be sent, and that the peer should close now.
        frames.pop()
        if frames:
            self._transport.push(frames)
        # When both have said goodbye the server is the one to close. A peer that has not may still
        # be sending, and a full close would then reset the stream before our reason is read.
        self._transport.push_eof(close=self._protocol.close_rcvd is not None)
        self._keepalive.expire(self, self._limits.last_words_s)

    def close(self, code: int, reason: str) -> None:
        """Begin the closing handshake; what was queued before goes out first."""
        if self._protocol.state is not OPEN:
            return
        self._hung_up = True
        self._protocol.send_close(code, _clip(reason))
        self.flush()
        self._keepalive.expire(self, self._limits.close_timeout_s)

    def ping(self) -> None:
        """Ask the peer for a sign of life."""
        if self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self.flush()

    def abort(self) -> None:
        """Hang up without a word."""
        self._transport.abort()

    def on_slow_reader(self) -> None:
        """The transport's report: say why, as far as it can still be said, and hang up."""
        self._keepalive.observer.slow_reader()
        _log.debug("slow_reader", peer=self.peer)
        self._hung_up = True
        protocol = self._protocol
        if protocol.state is not OPEN:
            self._transport.abort()
            return
        protocol.writes.clear()
        self._unparsed = b""
        # Nothing more is looked at, but it is read for a while: a socket that is closed with unread
        # bytes, or gets some later, is reset by the kernel, and the reason is lost with it.
        protocol.fail(CloseCode.SLOW_READER, "slow reader")
        self._discardable *= _SLOW_READERS_SEND
        self._transport.finish_with(protocol.data_to_send()[0])
        self._keepalive.expire(self, self._limits.stall_timeout_s)

    async def run(self, on_message: Callable[[bytes], Awaitable[None]]) -> None:
        """Read until the end; each text message goes to `on_message`, one at a time."""
        protocol = self._protocol
        receive = self._transport.receive
        self._keepalive.watch(self)
        try:
            while True:
                # No frame, message or chunk in a local here: it would live as long as the
                # connection idles.
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
            forget_parser(protocol)

    def _feed(self, data: bytes) -> bool:
        if not data:
            self._protocol.receive_eof()
            return False
        if self._protocol.eof_sent:
            # The reason was sent, and nothing that comes now is looked at. A little is still read,
            # because a reset could overtake the reason; a flood is not.
            self._discardable -= len(data)
            if self._discardable < 0:
                self._transport.abort()
                return False
        self.heard = True
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
        opcode = frame.opcode
        if opcode is TEXT:
            data = bytes(frame.data)
            if not frame.fin:
                self._fragments = _Fragments()
                return self._join(self._fragments, data, last=False)
            if self._hung_up:
                return None
            if not data.isascii():
                try:
                    data.decode()
                except UnicodeDecodeError as error:
                    self._fail(CloseCode.INVALID_DATA, error.reason)
                    return None
            return data
        if opcode is CONT:
            if self._fragments is None:
                return None
            return self._join(self._fragments, bytes(frame.data), last=frame.fin)
        if opcode is BINARY:
            self._fail(CloseCode.UNSUPPORTED_DATA, "text only")
        return None

    def _join(self, fragments: _Fragments, data: bytes, *, last: bool) -> bytes | None:
        fragments.size += len(data)
        if fragments.size > self._limits.max_message_bytes:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "message too big")
            return None
        try:
            fragments.decoder.decode(data, last)
        except UnicodeDecodeError as error:
            self._fail(CloseCode.INVALID_DATA, error.reason)
            return None
        # Empty fragments are legal and without end; keeping them would not be bounded.
        if data:
            fragments.parts.append(data)
        if not last:
            return None
        self._fragments = None
        return None if self._hung_up else b"".join(fragments.parts)

    def _cut_flood(self) -> None:
        """Hang up, and look at nothing more of what comes."""
        self._unparsed = b""
        self._fail(CloseCode.RATE_LIMITED, "too many frames")

    def _fail(self, code: int, reason: str) -> None:
        self._hung_up = True
        self._fragments = None
        if not self._protocol.eof_sent:
            self._protocol.fail(code, _clip(reason))


def forget_parser(protocol: ServerProtocol) -> None:
    """Let a protocol that is over be freed at once.

    Its parser, the error that ended it and its own method refer back to it, and the garbage
    collector looks rarely.
    """
    protocol.parser.close()
    protocol.parser_exc = protocol.handshake_exc = None
    vars(protocol).pop("select_subprotocol", None)


def _clip(reason: str) -> str:
    # A close frame is a control frame: 125 bytes, two of them for the code.
    return reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
