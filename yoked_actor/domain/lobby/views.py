"""One user's view of an offer, a match and a date: parts of notices and replies."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.people import Card
from yoked_actor.domain.time import Instant


class Fit(msgspec.Struct, frozen=True, omit_defaults=True):
    """What speaks for an offer, besides the distance on its card: for pages in any language."""

    years_apart: int
    shared: tuple[str, ...] = ()
    """The interests of both."""
    widened: bool = False
    """Whether the candidate is a little outside the receiver's limits."""


class OfferView(msgspec.Struct, frozen=True):
    """An offer, as its receiver sees it."""

    offer_id: str
    candidate: Card
    units: int
    """The points of content alone, in millionths of 100: they do not reveal popularity."""
    reasons: tuple[str, ...]
    fit: Fit
    offered_at: Instant
    """When its run was due."""
    expires_at: Instant
    answer: str | None = None


class MatchView(msgspec.Struct, frozen=True):
    """One side's view of an open match."""

    match_id: str
    partner: Card
    acknowledged: bool
    voted: bool
    acknowledge_by: Instant | None = None
    vote_by: Instant | None = None


class CallView(msgspec.Struct, frozen=True):
    """One side's view of a call that rings."""

    call_id: str
    partner: Card
    ring_until: Instant
    incoming: bool


class DateView(msgspec.Struct, frozen=True):
    """One side's view of an open date."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: Instant
