"""The export of all data about one person.

Of others it contains what the person has seen: ids, outcomes, and distances rounded up. It never
contains a partner's vote or answer, nor who has blocked or reported the person.
"""

from __future__ import annotations

from datetime import date, datetime

import msgspec


class OwnProfile(msgspec.Struct, frozen=True):
    """The profile and the preferences."""

    display_name: str
    birth_date: date
    gender: str
    lat: float
    lon: float
    time_zone: str
    interests: list[str]
    seeking: list[str]
    min_age: int
    max_age: int
    max_distance_km: float
    strict: list[str]


class OwnSeat(msgspec.Struct, frozen=True):
    """The person's state in the lobby."""

    state: str
    credit: int
    waiting_since: datetime | None = None
    room: str = "main"


class Since(msgspec.Struct, frozen=True):
    """A user, and an instant."""

    user_id: str
    at: datetime


class OwnMatch(msgspec.Struct, frozen=True):
    """A match, as seen by the person."""

    match_id: str
    partner: str
    status: str
    paired_at: datetime
    acknowledged: bool
    voting_at: datetime | None = None
    vote: str | None = None
    outcome: str | None = None
    cancelled_for: str | None = None
    """As the person was notified."""
    ended_at: datetime | None = None
    tier: int | None = None
    waited_s: float | None = None
    distance_km: int | None = None


class OwnDate(msgspec.Struct, frozen=True):
    """A video date."""

    date_id: str
    partner: str
    started_at: datetime
    ended_at: datetime | None = None
    ended_for: str | None = None
    stay_in_touch: str | None = None
    """The person's own answer after it."""


class OwnReport(msgspec.Struct, frozen=True):
    """A report that the person made."""

    user_id: str
    reason: str
    at: datetime
    match_id: str | None = None
    resolved_at: datetime | None = None


class OwnAppeal(msgspec.Struct, frozen=True):
    """An appeal of the person against a suspension."""

    text: str
    at: datetime
    resolved_at: datetime | None = None


class OwnWarning(msgspec.Struct, frozen=True):
    """An operator's warning to the person."""

    text: str
    at: datetime
    seen_at: datetime | None = None


class OwnOffer(msgspec.Struct, frozen=True):
    """An offer, and the person's answer."""

    offer_id: str
    candidate: str
    score: int
    reasons: list[str]
    answer: str | None = None


class OwnOffers(msgspec.Struct, frozen=True):
    """The offers of a day."""

    date: str
    time_zone: str
    offered_at: datetime
    expires_at: datetime
    offers: list[OwnOffer]
    delivered_at: datetime | None = None


class OwnConnection(msgspec.Struct, frozen=True):
    """A connection: two users accepted each other's offers, or stay in touch after a date."""

    connection_id: str
    partner: str
    opened_at: datetime
    source: str = "offers"


class OwnSuspension(msgspec.Struct, frozen=True):
    """A suspension of the person by the operator."""

    at: datetime
    reason: str
    until: datetime | None = None


class PersonalData(msgspec.Struct, frozen=True):
    """All data about one person."""

    user_id: str
    exported_at: datetime
    profile: OwnProfile | None
    seat: OwnSeat | None
    suspended: OwnSuspension | None
    blocks: list[Since]
    met: list[Since]
    kept_apart_until: list[Since]
    """After a cancelled match."""
    matches: list[OwnMatch]
    dates: list[OwnDate]
    reports: list[OwnReport]
    offers: list[OwnOffers]
    connections: list[OwnConnection]
    appeals: list[OwnAppeal] = []
    warnings: list[OwnWarning] = []
    guest_in: list[str] = []
    """The rooms whose list of guests names the person."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no data about the person."""
        return not (
            self.profile
            or self.seat
            or self.suspended
            or self.guest_in
            or self.blocks
            or self.met
            or self.matches
            or self.dates
            or self.reports
            or self.offers
            or self.connections
            or self.appeals
            or self.warnings
        )
