"""The contract: the tables of messages and calls, and the two documents made from them.

The documents come from the tables in `calls` and `exchanges` and from the types that the server
validates with, so they cannot differ from what the server does. Limits come from the settings.
"""

from __future__ import annotations

from yoked_actor.wire.call import Call
from yoked_actor.wire.contract.asyncapi import SOCKET_PATH, SUBPROTOCOL, asyncapi
from yoked_actor.wire.contract.calls import CALLS, ERRORS
from yoked_actor.wire.contract.exchanges import EVENT_EXAMPLES, EXCHANGES, Exchange
from yoked_actor.wire.contract.openapi import openapi
from yoked_actor.wire.contract.schemas import Document

__all__ = [
    "CALLS",
    "ERRORS",
    "EVENT_EXAMPLES",
    "EXCHANGES",
    "SOCKET_PATH",
    "SUBPROTOCOL",
    "Call",
    "Document",
    "Exchange",
    "asyncapi",
    "openapi",
]
