"""Reads the head of the first request of a connection, and answers bad ones."""

from __future__ import annotations

import h11
import msgspec

from yoked_actor.edge.net.transport import Transport

WEBSOCKET_PATH = b"/ws"
_REASONS = {
    400: "Bad Request",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    503: "Service Unavailable",
    505: "HTTP Version Not Supported",
}


class RequestHead(msgspec.Struct, frozen=True):
    """A request head: parsed, all bytes read so far, and the bytes after the request."""

    request: h11.Request
    raw: bytes
    trailing: bytes
    bodiless: bool


class MalformedRequest(Exception):
    """The request is not HTTP that this server supports; `status` is the answer."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


async def receive_head(transport: Transport, max_bytes: int) -> RequestHead | None:
    """Read one request head; None when the peer closes before it is complete."""
    parser = h11.Connection(h11.SERVER, max_incomplete_event_size=max_bytes)
    raw = b""
    try:
        while True:
            event = parser.next_event()
            if isinstance(event, h11.Request):
                break
            if event is not h11.NEED_DATA:
                return None
            data = await transport.receive()
            if not data:
                return None
            raw += data
            parser.receive_data(data)
    except h11.RemoteProtocolError as error:
        raise MalformedRequest(error.error_status_hint) from error
    if event.http_version not in (b"1.0", b"1.1"):
        raise MalformedRequest(505)
    if not wants_websocket(event):
        return RequestHead(event, raw, b"", True)
    try:
        bodiless = isinstance(parser.next_event(), h11.EndOfMessage)
    except h11.RemoteProtocolError:
        bodiless = False
    return RequestHead(event, raw, bytes(parser.trailing_data[0]), bodiless)


def plain_answer(status: int) -> bytes:
    """A complete response that holds only its status; the connection closes after it."""
    reason = _REASONS.get(status, "Refused")
    return (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(reason) + 1}\r\nConnection: close\r\n\r\n{reason}\n"
    ).encode("ascii")


def wants_websocket(request: h11.Request) -> bool:
    """Whether a request is for the WebSocket handler."""
    if path_of(request) == WEBSOCKET_PATH:
        return True
    return any(
        name == b"upgrade" and value.strip().lower() == b"websocket"
        for name, value in request.headers
    )


def path_of(request: h11.Request) -> bytes:
    """The path of a request, without its query, as the client sent it."""
    return request.target.partition(b"?")[0]
