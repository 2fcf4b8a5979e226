"""The notices of the lobby: what it says to users who did not ask."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.ballot import Outcome
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import CallEnd, CancelReason
from yoked_actor.domain.lobby.views import OfferView
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.people import Card
from yoked_actor.domain.time import Instant


class WaitReason(StrEnum):
    """Why a user waits."""

    SPUN = "spun"
    REQUEUED = "requeued"
    PARTNER_LEFT = "partner_left"
    PARTNER_LOST = "partner_lost"
    NOT_ACKNOWLEDGED = "not_acknowledged"
    RESUMED = "resumed"


class IdleReason(StrEnum):
    """Why a user no longer waits."""

    LEFT = "left"
    LOST = "lost"
    NOT_ACKNOWLEDGED = "not_acknowledged"
    IDLE_VOTE = "idle_vote"
    DATE = "date"
    ROOM_CLOSED = "room_closed"


class DateEnd(StrEnum):
    """Why a date ended, as its users are notified."""

    ENDED = "ended"
    PARTNER_ENDED = "partner_ended"
    PARTNER_LOST = "partner_lost"
    TIME_UP = "time_up"


class ConnectionSource(StrEnum):
    """What a connection came from."""

    OFFERS = "offers"
    DATE = "date"


class Notice(msgspec.Struct, frozen=True, gc=False):
    """Something that a user is notified of."""


class NowWaiting(Notice, frozen=True):
    """The user is in line."""

    since: Instant
    reason: WaitReason


class TierReached(Notice, frozen=True):
    """The user's limits are wider now."""

    tier: Tier


class Nudge(Notice, frozen=True):
    """A user who would suit this idle user is waiting."""

    expires_at: Instant


class NowIdle(Notice, frozen=True):
    """The user is not in line any more."""

    reason: IdleReason


class RoomClosing(Notice, frozen=True):
    """The room that the user is in closes soon."""

    room: str
    closes_at: Instant


class Matched(Notice, frozen=True):
    """The user has a partner."""

    match_id: str
    partner: Card
    acknowledge_by: Instant


class VotingOpened(Notice, frozen=True):
    """Both have acknowledged, and can vote."""

    match_id: str
    vote_by: Instant


class OutcomeReached(Notice, frozen=True):
    """The ballot is decided."""

    match_id: str
    outcome: Outcome
    next: State
    credit: int
    date_id: str | None = None


class MatchCancelled(Notice, frozen=True):
    """The match was cancelled."""

    match_id: str
    reason: CancelReason
    next: State


class MatchLeft(Notice, frozen=True):
    """How the match ended that the user left; without an outcome it was cancelled."""

    match_id: str
    next: State
    credit: int
    was_voting: bool
    outcome: Outcome | None


class Ringing(Notice, frozen=True):
    """A connected user calls, for a video date."""

    call_id: str
    connection_id: str
    partner: Card
    ring_until: Instant


class CallEnded(Notice, frozen=True):
    """The call does not ring any more; after `accepted` the video date is open."""

    call_id: str
    reason: CallEnd


class DateStarted(Notice, frozen=True):
    """The video date is open."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: Instant


class Signalled(Notice, frozen=True):
    """A signal of the partner on the video date: JSON, which the server does not read."""

    date_id: str
    data: bytes


class DateEnded(Notice, frozen=True):
    """The video date is over."""

    date_id: str
    reason: DateEnd
    touch_until: Instant | None = None
    """Until when both can say whether to stay in touch; None after a short date."""


class OffersMade(Notice, frozen=True):
    """The offers of a day."""

    day: date
    offers: tuple[OfferView, ...]


class ConnectionOpened(Notice, frozen=True):
    """Two users have accepted each other's offers, or both want to stay in touch after a date."""

    connection_id: str
    partner: Card
    source: ConnectionSource


class Suspended(Notice, frozen=True):
    """The user is suspended, until then or without an end."""

    reason: str
    until: Instant | None


class Warned(Notice, frozen=True):
    """An operator has warned the user."""

    warning_id: str
    text: str
    given_at: Instant
