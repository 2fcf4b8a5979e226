"""Frames of the WebSocket protocol, as bytes: whole client frames in, server frames out.

Only the parts that the common path needs. `websockets` parses and checks everything else.
"""

from __future__ import annotations

from typing import Final

try:
    from websockets.speedups import apply_mask
except ImportError:  # its C extension is optional
    from websockets.utils import apply_mask

TEXT_FRAME: Final = 0x81
"""The first byte of a whole text message."""
PING_FRAME: Final = 0x89
PONG_FRAME: Final = 0x8A
EMPTY_PING: Final = b"\x89\x00"

INCOMPLETE: Final = 0
MALFORMED: Final = -1
_OPCODES: Final = frozenset((0x0, 0x1, 0x2, 0x8, 0x9, 0xA))
_TEXT_HEADS: Final = [bytes((TEXT_FRAME, size)) for size in range(126)]


def text_frame(text: bytes) -> bytes:
    """A text message, as a server sends it: one frame, without a mask."""
    size = len(text)
    if size < 126:
        return _TEXT_HEADS[size] + text
    if size < 65536:
        return b"\x81\x7e" + size.to_bytes(2, "big") + text
    return b"\x81\x7f" + size.to_bytes(8, "big") + text


def pong_frame(payload: bytes) -> bytes:
    """The answer to a ping; its payload has at most 125 bytes."""
    return bytes((PONG_FRAME, len(payload))) + payload


def frame_end(data: bytes, start: int, max_bytes: int) -> int:
    """Where the client's frame at `start` ends; `INCOMPLETE` when part of it is missing.

    `MALFORMED` when its head has an unknown opcode, no mask or a size above `max_bytes`.
    """
    size = len(data) - start
    if size < 2:
        return INCOMPLETE
    second = data[start + 1]
    if second < 0x80 or data[start] & 0x0F not in _OPCODES:
        return MALFORMED
    length = second & 0x7F
    head = 6
    if length == 126:
        if size < 4:
            return INCOMPLETE
        length = int.from_bytes(data[start + 2 : start + 4], "big")
        head = 8
    elif length == 127:
        if size < 10:
            return INCOMPLETE
        length = int.from_bytes(data[start + 2 : start + 10], "big")
        head = 14
    if length > max_bytes:
        return MALFORMED
    end = start + head + length
    return end if end <= len(data) else INCOMPLETE


def payload_of(data: bytes, start: int, end: int) -> bytes:
    """The unmasked payload of the whole client frame between `start` and `end`."""
    length = data[start + 1] & 0x7F
    body = start + (6 if length < 126 else 8 if length == 126 else 14)
    return apply_mask(data[body:end], data[body - 4 : body])
