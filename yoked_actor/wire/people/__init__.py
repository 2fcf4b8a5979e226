"""Profiles, blocks, reports, personal data and moderation over HTTP."""

from __future__ import annotations

from yoked_actor.wire.people import http, moderation
from yoked_actor.wire.people.calls import (
    MODERATION_CALLS,
    PLACE_CALLS,
    PRIVACY_CALLS,
    PROFILE_CALLS,
    SAFETY_CALLS,
    WARNING_CALLS,
)
from yoked_actor.wire.people.examples import PROFILE, REPORTS
from yoked_actor.wire.people.http import BlockBody

__all__ = [
    "MODERATION_CALLS",
    "PLACE_CALLS",
    "PRIVACY_CALLS",
    "PROFILE",
    "PROFILE_CALLS",
    "REPORTS",
    "SAFETY_CALLS",
    "WARNING_CALLS",
    "BlockBody",
    "http",
    "moderation",
]
