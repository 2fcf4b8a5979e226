"""Calls that the server makes: the webhook, the key set."""

from __future__ import annotations

from yoked_actor.edge.outgoing.fetching import FetchFailed, fetch
from yoked_actor.edge.outgoing.webhook import Dial, Webhook, open_stream

__all__ = [
    "Dial",
    "FetchFailed",
    "Webhook",
    "fetch",
    "open_stream",
]
