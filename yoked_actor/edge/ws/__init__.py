"""WebSockets: handshake, connection, hub, conversation with one client."""

from __future__ import annotations

from yoked_actor.edge.ws.connection import Awaited, MessageHandler, WebSocketConnection
from yoked_actor.edge.ws.conversation import Conversations
from yoked_actor.edge.ws.handshake import HandshakeAnswer, answer_handshake
from yoked_actor.edge.ws.hub import IS_SUPPORTED as HUB_IS_SUPPORTED
from yoked_actor.edge.ws.hub import Hub
from yoked_actor.edge.ws.stream_connection import StreamConnection

__all__ = [
    "HUB_IS_SUPPORTED",
    "Awaited",
    "Conversations",
    "HandshakeAnswer",
    "Hub",
    "MessageHandler",
    "StreamConnection",
    "WebSocketConnection",
    "answer_handshake",
]
