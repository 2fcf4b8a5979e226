"""The first request of a connection: read within bounds, refused, or answered with an upgrade."""

from __future__ import annotations

import trio

from yoked_actor.edge.net import (
    EdgeLimits,
    EdgeObserver,
    MalformedRequest,
    Origins,
    RequestHead,
    Transport,
    plain_answer,
    receive_head,
)
from yoked_actor.edge.ws import HandshakeAnswer, answer_handshake


class FirstRequests:
    """Reads and answers the first request of each connection."""

    def __init__(self, limits: EdgeLimits, origins: Origins, observer: EdgeObserver) -> None:
        self._limits = limits
        self._origins = origins
        self._observer = observer

    async def read(self, transport: Transport) -> RequestHead | None:
        """The request head, or None when there is no request to serve."""
        try:
            with trio.move_on_after(self._limits.handshake_timeout_s):
                return await receive_head(transport, self._limits.max_head_bytes)
        except MalformedRequest as error:
            self._observer.connection_refused("malformed")
            await self.refuse(transport, plain_answer(error.status))
        return None

    async def upgrade(
        self, transport: Transport, head: RequestHead, *, draining: bool
    ) -> HandshakeAnswer | None:
        """Answer the handshake; None when it was refused."""
        if not head.bodiless:
            self._observer.connection_refused("malformed")
            await self.refuse(transport, plain_answer(400))
            return None
        answer = answer_handshake(head.request, origins=self._origins, draining=draining)
        if not answer.accepted:
            self._observer.connection_refused("draining" if answer.status == 503 else "handshake")
            await self.refuse(transport, answer.data)
            return None
        transport.push([answer.data])
        return answer

    async def refuse(self, transport: Transport, answer: bytes) -> None:
        """Answer and half-close; wait for the client to close, then abort."""
        try:
            transport.push([answer])
            transport.push_eof()
            with trio.move_on_after(self._limits.last_words_s):
                while await transport.receive():
                    pass
        finally:
            transport.abort()
