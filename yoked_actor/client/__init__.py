"""The Python client of the public protocol: it reconnects and resumes automatically.

async with open_client("http://127.0.0.1:8080", token) as ana:
    await ana.spin()
    matched = await ana.wait_for("matched")
    await ana.acknowledge(matched.match_id)
    await ana.wait_for("voting")
    await ana.vote(matched.match_id, "yes")
"""

from __future__ import annotations

from yoked_actor.client.commands import (
    CommandRefused,
    ConnectionLost,
    Event,
    RoomRefused,
    Suspended,
)
from yoked_actor.client.dialing import Address, Dial, DialTo
from yoked_actor.client.http import Api, CallRefused
from yoked_actor.client.live import Client
from yoked_actor.client.opening import open_client
from yoked_actor.client.reconnects import UNREACHABLE
from yoked_actor.client.tokens import TokenProvider

__all__ = [
    "UNREACHABLE",
    "Address",
    "Api",
    "CallRefused",
    "Client",
    "CommandRefused",
    "ConnectionLost",
    "Dial",
    "DialTo",
    "Event",
    "RoomRefused",
    "Suspended",
    "TokenProvider",
    "open_client",
]
