"""The sending side of a WebSocket connection: frames, the closing handshake, slow readers.

Text messages and pings are written here. Everything else goes through the sans-I/O protocol of
`websockets`, which exists only while it is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

import structlog
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from yoked_actor.edge.net import Keepalive
from yoked_actor.edge.ws.frames import EMPTY_PING, text_frame
from yoked_actor.edge.ws.library import PROTOCOL_LOGGER, clip_reason
from yoked_actor.wire.close_codes import CloseCode

_MAX_QUEUED_FRAMES: Final = 256
# A slow reader may have sent many commands, within the rate, before it was disconnected.
_SLOW_READERS_SEND: Final = 16

_log = structlog.get_logger()


class ConnectionOutput(ABC):
    """The sending side of a WebSocket, and what both sides share."""

    __slots__ = (
        "_corked",
        "_discardable",
        "_hung_up",
        "_keepalive",
        "_out",
        "_protocol",
        "_rest",
        "busy",
        "has_received",
        "peer",
        "pinged_at",
        "silent_since",
        "subprotocol",
    )

    def __init__(self, keepalive: Keepalive, peer: str, subprotocol: str | None) -> None:
        self._keepalive = keepalive
        self.peer = peer
        self.subprotocol = subprotocol
        self._protocol: ServerProtocol | None = None
        self._rest = b""
        """Bytes that are not handled yet: part of a frame, or what came while `busy`."""
        self._out: list[bytes] | None = None
        self._corked = False
        """Whether received frames are being handled: all that is sent meanwhile goes together."""
        self._hung_up = False
        self._discardable = keepalive.limits.max_buffered_bytes
        self.busy = False
        """Whether a message is being awaited; nothing is read meanwhile."""
        self.has_received = True
        self.pinged_at: float | None = None
        self.silent_since = 0.0

    # By the kind of connection

    @property
    @abstractmethod
    def is_dead(self) -> bool:
        """Whether the connection is closed in both directions."""

    @abstractmethod
    def abort(self) -> None:
        """Close at once, without a close frame."""

    @abstractmethod
    def catch_up(self) -> None:
        """Handle what has arrived, if that can be read without waiting."""

    @abstractmethod
    def _push(self, frames: list[bytes]) -> None:
        """Send whole frames, in order."""

    @abstractmethod
    def _push_eof(self, close: bool) -> None:
        """Half-close, or close, after all frames are sent."""

    @abstractmethod
    def _finish_with(self, frame: bytes) -> None:
        """Drop all frames that have not begun, send this one, half-close."""

    # Sending

    @property
    def is_open(self) -> bool:
        """Whether messages can still be sent."""
        return (self._protocol is None or self._protocol.state is OPEN) and not self.is_dead

    @property
    def close_code(self) -> int | None:
        """The code that ended or is ending this connection: ours if we sent it first."""
        protocol = self._protocol
        if protocol is not None:
            if protocol.close_sent is not None and not protocol.close_rcvd_then_sent:
                return int(protocol.close_sent.code)
            if protocol.close_rcvd is not None:
                return int(protocol.close_rcvd.code)
        return int(CloseCode.ABNORMAL_CLOSURE) if self.is_dead else None

    def send(self, text: bytes) -> None:
        """Queue one text message (UTF-8 bytes); dropped when the connection is closing."""
        if self._protocol is None or self._protocol.state is OPEN:
            self._queue(text_frame(text))

    def flush(self) -> None:
        """Send all queued frames in one write."""
        if not self._corked:
            self._write()

    def close(self, code: int, reason: str) -> None:
        """Begin the closing handshake; frames that are queued are sent first."""
        if self.is_dead:
            return
        protocol = self._the_protocol()
        if protocol.state is not OPEN:
            return
        self._hung_up = True
        protocol.send_close(code, clip_reason(reason))
        self.flush()
        self._keepalive.expire(self, self._keepalive.limits.close_timeout_s)

    def ping(self) -> None:
        """Send a ping."""
        if self._protocol is None or self._protocol.state is OPEN:
            self._queue(EMPTY_PING)
            self.flush()

    def on_slow_reader(self) -> None:
        """The client does not read: send a close frame if that is still possible, and close."""
        self._keepalive.observer.slow_reader()
        _log.debug("slow_reader", peer=self.peer)
        self._hung_up = True
        protocol = self._the_protocol()
        if protocol.state is not OPEN:
            self.abort()
            return
        self._out = None
        protocol.writes.clear()
        self._rest = b""
        # Input is read for a while and dropped: the kernel resets a socket that is closed with
        # unread bytes, or receives some later, and the peer then never sees the reason.
        protocol.fail(CloseCode.SLOW_READER, "slow reader")
        self._discardable *= _SLOW_READERS_SEND
        self._finish_with(protocol.data_to_send()[0])
        self._keepalive.expire(self, self._keepalive.limits.stall_timeout_s)

    def _queue(self, frame: bytes) -> None:
        out = self._out
        if out is None:
            self._out = [frame]
            return
        out.append(frame)
        if len(out) >= _MAX_QUEUED_FRAMES:
            self._write()

    def _write(self) -> None:
        out, self._out = self._out, None
        if out is not None:
            self._push(out)
        protocol = self._protocol
        if protocol is None or not protocol.writes:
            return
        frames = protocol.data_to_send()
        if frames[-1]:
            self._push(frames)
            return
        # An empty one means that nothing more will be sent, and that the peer should close now.
        frames.pop()
        if frames:
            self._push(frames)
        # After both close frames the server closes first. A peer that has not sent one may still be
        # sending, and a full close would then reset the stream before the peer reads our reason.
        self._push_eof(protocol.close_rcvd is not None)
        self._keepalive.expire(self, self._keepalive.limits.last_words_s)

    def _the_protocol(self) -> ServerProtocol:
        protocol = self._protocol
        if protocol is None:
            # The limit of `websockets` for messages would also count a ping between two fragments,
            # so it bounds single frames only, and `Fragments` bounds the message.
            protocol = self._protocol = ServerProtocol(
                state=OPEN,
                max_size=(None, self._keepalive.limits.max_message_bytes),
                logger=PROTOCOL_LOGGER,
            )
        return protocol
