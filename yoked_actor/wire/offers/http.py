"""Bodies and answers about daily offers and connections."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

import msgspec

from yoked_actor.domain.lobby import ConnectionSource
from yoked_actor.domain.people import Card
from yoked_actor.wire.lobby import OfferPart


class OffersAnswer(msgspec.Struct, frozen=True):
    """A user's offers of a day; no date when there are none."""

    date: date | None
    offers: tuple[OfferPart, ...]


class OfferAnswerBody(msgspec.Struct, frozen=True):
    """What a user says to an offer."""

    answer: Literal["accept", "decline"]


class OfferAnswered(msgspec.Struct, frozen=True, omit_defaults=True):
    """The connection, if both have accepted."""

    connection_id: str | None = None


class ConnectionEntry(msgspec.Struct, frozen=True):
    """A user with whom the acceptance is mutual, by offers or after a date (`source`)."""

    connection_id: str
    partner: Card
    opened_at: datetime
    online: bool
    """Whether the partner is online and can be called."""
    source: ConnectionSource = ConnectionSource.OFFERS


class ConnectionsAnswer(msgspec.Struct, frozen=True):
    """Everyone with whom the user has a connection, the oldest first."""

    connections: list[ConnectionEntry]


class CallAnswer(msgspec.Struct, frozen=True):
    """The call, and until when it rings."""

    call_id: str
    ring_until: datetime


class DateAnswer(msgspec.Struct, frozen=True):
    """The video date that the accepted call has opened."""

    date_id: str
