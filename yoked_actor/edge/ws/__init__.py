"""WebSockets: handshake, connection, conversation with one client."""

from __future__ import annotations

from yoked_actor.edge.ws.connection import WebSocketConnection
from yoked_actor.edge.ws.conversation import Conversations
from yoked_actor.edge.ws.handshake import answer_handshake

__all__ = [
    "Conversations",
    "WebSocketConnection",
    "answer_handshake",
]
