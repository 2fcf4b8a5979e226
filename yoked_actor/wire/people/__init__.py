"""Profiles, blocks, reports and personal data over HTTP."""

from __future__ import annotations

from yoked_actor.wire.people import care, http
from yoked_actor.wire.people.care import Changed, Words
from yoked_actor.wire.people.care_calls import CARE_CALLS
from yoked_actor.wire.people.http import BlockBody

__all__ = [
    "CARE_CALLS",
    "BlockBody",
    "Changed",
    "Words",
    "care",
    "http",
]
