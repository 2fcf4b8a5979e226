"""The WebSocket handshake: a request head in, an answer out. No I/O.

`websockets` checks the rules of the RFC. Checked before: the path, the origin (a page of another
site must not act for its visitor), the subprotocol, and whether the server is draining.
"""

from __future__ import annotations

from collections.abc import Sequence

import h11
import msgspec
from websockets.datastructures import Headers
from websockets.exceptions import NegotiationError
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from yoked_actor.edge.net import WEBSOCKET_PATH, Origins, path_of
from yoked_actor.edge.ws.library import PROTOCOL_LOGGER, break_cycles

SUBPROTOCOL = Subprotocol("yoked.v1")
_OWN_PAGES = Origins()


class HandshakeAnswer(msgspec.Struct, frozen=True):
    """The response, and whether the connection is a WebSocket after it."""

    status: int
    data: bytes
    subprotocol: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether the handshake has succeeded."""
        return self.status == 101


def answer_handshake(
    request: h11.Request, *, origins: Origins = _OWN_PAGES, draining: bool = False
) -> HandshakeAnswer:
    """Accept or refuse a handshake."""
    protocol = ServerProtocol(select_subprotocol=_select_subprotocol, logger=PROTOCOL_LOGGER)
    try:
        return _check(protocol, request, origins, draining)
    finally:
        break_cycles(protocol)


def _check(
    protocol: ServerProtocol, request: h11.Request, origins: Origins, draining: bool
) -> HandshakeAnswer:
    if path_of(request) != WEBSOCKET_PATH:
        return _answer(protocol.reject(404, "No WebSocket here.\n"))
    if draining:
        response = protocol.reject(503, "Draining, come back soon.\n")
        response.headers["Retry-After"] = "1"
        return _answer(response)
    headers = Headers()
    for name, value in request.headers:
        headers[name.decode("ascii")] = value.decode("latin-1")
    hosts = headers.get_all("Host")
    if not origins.answer_to(hosts):
        return _answer(protocol.reject(403, "This host is not allowed.\n"))
    if not origins.take(headers.get_all("Origin"), hosts):
        return _answer(protocol.reject(403, "This origin is not allowed.\n"))
    response = protocol.accept(
        Request(
            path=request.target.decode("ascii"),
            headers=headers,
            method=request.method.decode("ascii"),
            protocol=f"HTTP/{request.http_version.decode('ascii')}",
        )
    )
    return _answer(response, protocol.subprotocol)


def _answer(response: Response, subprotocol: str | None = None) -> HandshakeAnswer:
    return HandshakeAnswer(response.status_code, response.serialize(), subprotocol)


def _select_subprotocol(
    protocol: ServerProtocol, offered: Sequence[Subprotocol]
) -> Subprotocol | None:
    if not offered:
        return None
    if SUBPROTOCOL in offered:
        return SUBPROTOCOL
    raise NegotiationError(f"this server speaks {SUBPROTOCOL}")
