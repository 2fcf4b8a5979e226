"""The codes with which a WebSocket is closed (RFC 6455, section 7.4)."""

from __future__ import annotations

from enum import IntEnum


class CloseCode(IntEnum):
    """Why a WebSocket was closed. From 4000 on the codes are this protocol's own."""

    GOING_AWAY = 1001
    UNSUPPORTED_DATA = 1003
    ABNORMAL_CLOSURE = 1006
    """Never sent: the connection ended without a close frame."""
    INVALID_DATA = 1007
    MESSAGE_TOO_BIG = 1009
    INTERNAL_ERROR = 1011
    PROTOCOL_ERROR = 4000
    REPLACED = 4001
    UNAUTHORIZED = 4003
    SLOW_READER = 4008
    RATE_LIMITED = 4009
    DRAINING = 4010
    MOVED = 4011


CLOSE_CODES: dict[CloseCode, str] = {
    CloseCode.UNSUPPORTED_DATA: "Binary frame: messages are text.",
    CloseCode.INVALID_DATA: "Text that is not UTF-8.",
    CloseCode.MESSAGE_TOO_BIG: "Message too big.",
    CloseCode.INTERNAL_ERROR: ("The server had a fault, or could not reach its store: come back."),
    CloseCode.PROTOCOL_ERROR: "Protocol error: no hello in time, not JSON, or not an object.",
    CloseCode.REPLACED: "Replaced by a newer connection of the same user: do not reconnect.",
    CloseCode.UNAUTHORIZED: (
        "Bad or expired token: get a new one. Or you are suspended, as said before, or erased."
    ),
    CloseCode.SLOW_READER: "Slow reader.",
    CloseCode.RATE_LIMITED: "Rate limited.",
    CloseCode.DRAINING: "Draining: come back after the time that the event `draining` named.",
    CloseCode.MOVED: "Another node serves your room: connect to the `url` of the error `moved`.",
}
"""The meanings of the codes that the server sends, for the AsyncAPI document."""
