"""Recently met users and "stay in touch?" over HTTP."""

from __future__ import annotations

from yoked_actor.wire.contacts import http
from yoked_actor.wire.contacts.calls import CONTACT_CALLS

__all__ = ["CONTACT_CALLS", "http"]
