"""HTTP calls that the server makes: the webhook, the key set."""

from __future__ import annotations

from yoked_actor.edge.outgoing.fetching import FetchFailed, fetch
from yoked_actor.edge.outgoing.webhook import Webhook

__all__ = [
    "FetchFailed",
    "Webhook",
    "fetch",
]
