"""The numbered events that the server sends over the socket, and their parts."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal

import msgspec

from yoked_actor.domain.lobby import CallEnd, Fit, Outcome, State, notices
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.people import Card

IceServers = tuple[dict[str, Any], ...]


class Ending(StrEnum):
    """How voting ended: an outcome of the ballot (R11), or `cancelled` for a user who left before
    the partner had voted."""

    BOTH_YES = "both_yes"
    YES_PASS = "yes_pass"
    PASS_PASS = "pass_pass"
    YES_IDLE = "yes_idle"
    PASS_IDLE = "pass_idle"
    IDLE_IDLE = "idle_idle"
    CANCELLED = "cancelled"


class EndReason(StrEnum):
    """Why a match came to nothing, as a user is told."""

    PARTNER_LEFT = "partner_left"
    PARTNER_LOST = "partner_lost"
    NOT_ACKNOWLEDGED = "not_acknowledged"
    BLOCKED = "blocked"
    SERVER_RESTART = "server_restart"
    YOU_LEFT = "you_left"


class MatchPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """The open match, as one side sees it."""

    match_id: str
    partner: Card
    acknowledged: bool
    voted: bool
    acknowledge_by: datetime | None = None
    vote_by: datetime | None = None


class DatePart(msgspec.Struct, frozen=True):
    """The open video date, as one side sees it."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: datetime
    ice_servers: IceServers


class CallPart(msgspec.Struct, frozen=True):
    """The call that rings, as one side sees it; `incoming` for the callee."""

    call_id: str
    partner: Card
    ring_until: datetime
    incoming: bool


class Snapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that a client needs to show where its user is."""

    state: State
    credit: int
    room: str
    waiting_since: datetime | None = None
    tier: Tier | None = None
    match: MatchPart | None = None
    date: DatePart | None = None
    call: CallPart | None = None
    last_outcome: Outcome | None = None
    last_match_id: str | None = None


class OfferPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody for whom you may care. `score` is 0 to 100, from what is in both profiles alone."""

    offer_id: str
    candidate: Card
    score: float
    reasons: tuple[str, ...]
    fit: Fit
    offered_at: datetime
    expires_at: datetime
    answer: Literal["accept", "decline"] | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Something the user is told. `seq` counts 1, 2, 3... within the session."""

    seq: int
    at: datetime


class Welcome(Event, frozen=True, kw_only=True, tag="welcome"):
    """The answer to `hello`. `seq` is that of the last event before it; it has none of its own.
    At `expires_at` the token ends, and the socket with it, unless it is renewed."""

    re: str
    session: str
    room: str
    resumed: bool
    snapshot: Snapshot
    heartbeat_every_s: float
    expires_at: datetime | None = None


class Waiting(Event, frozen=True, kw_only=True, tag="waiting"):
    """You are in line, since then."""

    since: datetime
    reason: notices.WaitReason


class TierEvent(Event, frozen=True, kw_only=True, tag="tier"):
    """Your own limits have opened further: tier 2, 3 or 99 (anybody)."""

    tier: Tier


class RoomClosing(Event, frozen=True, kw_only=True, tag="room_closing"):
    """The room that you are in closes soon: matches and dates run out after that."""

    room: str
    closes_at: datetime


class Nudge(Event, frozen=True, kw_only=True, tag="nudge"):
    """Somebody who would suit you waits: spin, if you like."""

    expires_at: datetime


class Idle(Event, frozen=True, kw_only=True, tag="idle"):
    """You are out of line."""

    reason: notices.IdleReason


class Matched(Event, frozen=True, kw_only=True, tag="matched"):
    """Here is somebody: acknowledge in time."""

    match_id: str
    partner: Card
    acknowledge_by: datetime


class Voting(Event, frozen=True, kw_only=True, tag="voting"):
    """Both are there: vote in time."""

    match_id: str
    vote_by: datetime


class OutcomeEvent(Event, frozen=True, kw_only=True, tag="outcome"):
    """Voting is over. With `reason` `you_left`: you left, and this is how it ended."""

    match_id: str
    outcome: Ending
    next: State
    credit: int
    date_id: str | None = None
    reason: Literal["you_left"] | None = None


class MatchCancelled(Event, frozen=True, kw_only=True, tag="match_cancelled"):
    """The match came to nothing."""

    match_id: str
    reason: EndReason
    next: State


class CallEvent(Event, frozen=True, kw_only=True, tag="call"):
    """A connection calls you, for a video date: accept or decline, in time."""

    call_id: str
    connection_id: str
    partner: Card
    ring_until: datetime


class CallEndedEvent(Event, frozen=True, kw_only=True, tag="call_ended"):
    """The call does not ring any more. After `accepted`, `date_started` follows."""

    call_id: str
    reason: CallEnd


class DateStarted(Event, frozen=True, kw_only=True, tag="date_started"):
    """The video date is open."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: datetime
    ice_servers: IceServers


class Signal(Event, frozen=True, kw_only=True, tag="signal"):
    """What your partner on the video date has sent you, as it was sent."""

    date_id: str
    data: msgspec.Raw


class DateEnded(Event, frozen=True, kw_only=True, tag="date_ended"):
    """The video date is over. Until `touch_until` you can say whether to stay in touch."""

    date_id: str
    reason: notices.DateEnd
    touch_until: datetime | None = None


class OffersEvent(Event, frozen=True, kw_only=True, tag="offers"):
    """The offers of the day; the same ids whenever they are told."""

    date: date
    offers: tuple[OfferPart, ...]


class ConnectionEvent(Event, frozen=True, kw_only=True, tag="connection"):
    """You two have accepted each other's offers, or both want to stay in touch after a date."""

    connection_id: str
    partner: Card
    source: notices.ConnectionSource


class SuspendedEvent(Event, frozen=True, kw_only=True, tag="suspended"):
    """You are suspended, until then or without an end; the socket is closed."""

    reason: str
    until: datetime | None


class WarningEvent(Event, frozen=True, kw_only=True, tag="warning"):
    """The operator's words for you. Told again after each hello until you say that you have seen
    it: `POST /api/warnings/{warning_id}/seen`."""

    warning_id: str
    text: str
    given_at: datetime


class Draining(Event, frozen=True, kw_only=True, tag="draining"):
    """The server is about to stop: come back after a moment."""

    reconnect_after_s: float


EVENTS: tuple[type[Event], ...] = (
    Welcome,
    Waiting,
    TierEvent,
    Nudge,
    RoomClosing,
    Idle,
    Matched,
    Voting,
    OutcomeEvent,
    MatchCancelled,
    CallEvent,
    CallEndedEvent,
    DateStarted,
    Signal,
    DateEnded,
    OffersEvent,
    ConnectionEvent,
    SuspendedEvent,
    WarningEvent,
    Draining,
)
