"""The lines of the log about matches."""

from __future__ import annotations

from yoked_actor.telemetry import InfoLine


class MatchMade(InfoLine, frozen=True, kw_only=True, gc=False, tag="match_made"):
    """A match was made."""

    match_id: str
    room: str
    policy: str
    tiers: list[int]
    waits_s: list[float]
    distance_km: float | None
    priority: float | None
    preference_match: float | None


class MatchEnded(InfoLine, frozen=True, kw_only=True, gc=False, tag="match_ended"):
    """A match has ended."""

    match_id: str
    room: str
    status: str
    outcome: str | None
    reason: str | None
