"""Offers over HTTP."""

from __future__ import annotations

from yoked_actor.wire.offers import http
from yoked_actor.wire.offers.calls import OFFER_CALLS

__all__ = [
    "OFFER_CALLS",
    "http",
]
