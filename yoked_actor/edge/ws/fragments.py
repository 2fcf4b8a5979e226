"""A text message that arrives in several frames."""

from __future__ import annotations

import codecs

from yoked_actor.wire.close_codes import CloseCode

_utf8_decoder = codecs.getincrementaldecoder("utf-8")


class BadMessage(Exception):
    """The message ends the connection, with this code and reason."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Fragments:
    """Joins the fragments of one message."""

    __slots__ = ("_decoder", "_max_bytes", "_parts", "_size")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._decoder = _utf8_decoder()
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes, *, last: bool) -> bytes | None:
        """Add a fragment; returns the whole message after the last one. May raise `BadMessage`."""
        self._size += len(data)
        if self._size > self._max_bytes:
            raise BadMessage(CloseCode.MESSAGE_TOO_BIG, "message too big")
        try:
            self._decoder.decode(data, last)
        except UnicodeDecodeError as error:
            raise BadMessage(CloseCode.INVALID_DATA, error.reason) from None
        # Empty fragments are legal and their number has no bound: they are not kept.
        if data:
            self._parts.append(data)
        return b"".join(self._parts) if last else None
