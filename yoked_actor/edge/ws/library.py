"""How the sans-I/O protocol of `websockets` is used here."""

from __future__ import annotations

import logging

from websockets.server import ServerProtocol

_MAX_REASON_BYTES = 123

# One logger for all connections, which saves an adapter for each. Its lines are of no use.
PROTOCOL_LOGGER = logging.getLogger("yoked_actor.edge.protocol")
PROTOCOL_LOGGER.setLevel(logging.WARNING)


def break_cycles(protocol: ServerProtocol) -> None:
    """Free a protocol that is no longer used by reference counting, without the cyclic collector.

    Its parser, its last error and its own method refer back to it.
    """
    protocol.parser.close()
    protocol.parser_exc = protocol.handshake_exc = None
    vars(protocol).pop("select_subprotocol", None)


def clip_reason(reason: str) -> str:
    """The part of a close reason that fits into a close frame: 125 bytes, with 2 for the code."""
    return reason.encode()[:_MAX_REASON_BYTES].decode(errors="ignore")
