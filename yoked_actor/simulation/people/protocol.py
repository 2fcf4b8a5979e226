"""The public protocol as a simulated person speaks it: WebSocket and HTTP on a line.

It is small, fast, and shares no code with the server or with the Python client.
"""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from yoked_actor.simulation.stage import Line

_UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: simulation\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: c2ltdWxhdGlvbiBzaW11bA==\r\n"
    b"Sec-WebSocket-Protocol: yoked.v1\r\n\r\n"
)
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_ANSWER_S = 60.0


class Gone(Exception):
    """The connection has ended; `code` is the close code, if there was one."""

    def __init__(self, code: int | None = None, reason: str = "") -> None:
        super().__init__(f"closed with {code} {reason}")
        self.code = code
        self.reason = reason


class Socket:
    """A WebSocket of one device."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._stream = line.persons_end
        self._buffer = bytearray()

    async def open(self) -> None:
        """Shake hands; raises `Gone` when the server refuses."""
        try:
            await self._stream.send_all(_UPGRADE)
            while b"\r\n\r\n" not in self._buffer:
                await self._fill()
        except trio.BrokenResourceError:
            raise Gone from None
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            raise Gone(None, head.split(b"\r\n")[0].decode())
        self._buffer = bytearray(rest)

    async def send(self, message: dict[str, Any]) -> None:
        """Send a message; raises `Gone` when the connection has ended."""
        try:
            await self._stream.send_all(_frame(_TEXT, msgspec.json.encode(message)))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            raise Gone from None

    async def receive(self) -> dict[str, Any]:
        """The next message; raises `Gone` at the end."""
        while True:
            try:
                opcode, payload = await self._next_frame()
                if opcode == _TEXT:
                    message: dict[str, Any] = msgspec.json.decode(payload)
                    return message
                if opcode == _PING:
                    await self._stream.send_all(_frame(_PONG, payload))
                elif opcode == _CLOSE:
                    code = int.from_bytes(payload[:2], "big") if payload else None
                    await self._stream.send_all(_frame(_CLOSE, payload[:2]))
                    raise Gone(code, payload[2:].decode())
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                raise Gone from None

    async def close(self) -> None:
        """Close with a close frame, as a page that is left does."""
        try:
            await self._stream.send_all(_frame(_CLOSE, (1000).to_bytes(2, "big")))
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        await self._stream.aclose()

    async def _next_frame(self) -> tuple[int, bytes]:
        while len(self._buffer) < 2:
            await self._fill()
        buffer = self._buffer
        length, start = buffer[1] & 0x7F, 2
        if length >= 126:
            start = 4 if length == 126 else 10
            while len(buffer) < start:
                await self._fill()
            length = int.from_bytes(buffer[2:start], "big")
        while len(buffer) < start + length:
            await self._fill()
        opcode, payload = buffer[0] & 0x0F, bytes(buffer[start : start + length])
        del buffer[: start + length]
        return opcode, payload

    async def _fill(self) -> None:
        data = await self._stream.receive_some(65536)
        if not data:
            raise Gone
        self._buffer += data


class Answer(msgspec.Struct, frozen=True):
    """The response of an HTTP call."""

    status: int
    body: Any

    @property
    def code(self) -> str:
        """The stable code of a problem; empty for a success."""
        return str(self.body.get("code", "")) if self.status >= 400 and self.body else ""


async def call(line: Line, token: str, method: str, path: str, body: Any = None) -> Answer:
    """Make an HTTP call on a line of its own; raises `Gone` without a complete response."""
    content = b"" if body is None else msgspec.json.encode(body)
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: simulation\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(content)}\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    stream = line.persons_end
    received = bytearray()
    try:
        with trio.fail_after(_ANSWER_S):
            await stream.send_all(head.encode() + content)
            while data := await stream.receive_some(65536):
                received += data
    except (trio.BrokenResourceError, trio.ClosedResourceError, trio.TooSlowError):
        raise Gone from None
    finally:
        line.cut()
    status, found = _parse(bytes(received))
    return Answer(status, found)


def _parse(received: bytes) -> tuple[int, Any]:
    head, _, body = received.partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    if not lines[0].startswith(b"http/1.1 "):
        raise Gone
    status = int(lines[0].split()[1])
    if b"transfer-encoding: chunked" in lines:
        body = _unchunk(body)
    for line in lines:
        if line.startswith(b"content-length:") and len(body) < int(line[15:]):
            raise Gone
    is_json = any(line.startswith(b"content-type:") and b"json" in line for line in lines)
    return status, msgspec.json.decode(body) if is_json and body else None


def _unchunk(body: bytes) -> bytes:
    parts: list[bytes] = []
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        if length == 0:
            return b"".join(parts)
        parts.append(body[:length])
        body = body[length + 2 :]
    raise Gone


def _frame(opcode: int, payload: bytes) -> bytes:
    """A frame of a client. The mask is zero, which leaves the payload as it is."""
    length = len(payload)
    if length < 126:
        head = bytes((0x80 | opcode, 0x80 | length))
    else:
        head = bytes((0x80 | opcode, 0x80 | 126)) + length.to_bytes(2, "big")
    return head + b"\x00\x00\x00\x00" + payload
