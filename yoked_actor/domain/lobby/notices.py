"""The output of the lobby: a reply to the sender of an event, and notices to users."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.ballot import Outcome
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import MAIN, CallEnd, CancelReason, Known, Presence
from yoked_actor.domain.lobby.views import CallView, DateView, MatchView, OfferView
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost, Tier
from yoked_actor.domain.people import Card
from yoked_actor.domain.time import Instant


class Code(StrEnum):
    """Why a request was refused. The codes are part of the wire contract."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    SUSPENDED = "suspended"
    NOT_FOUND = "not_found"
    UNKNOWN_MATCH = "unknown_match"
    WRONG_STATE = "wrong_state"
    ON_A_DATE = "on_a_date"
    ALREADY_VOTED = "already_voted"
    ALREADY_ANSWERED = "already_answered"
    VOTE_CLOSED = "vote_closed"
    UNKNOWN_ROOM = "unknown_room"
    ROOM_CLOSED = "room_closed"
    ROOM_FULL = "room_full"
    WRONG_CODE = "wrong_code"
    PROFILE_INCOMPLETE = "profile_incomplete"
    TOO_LARGE = "too_large"
    UNDERAGE = "underage"
    RATE_LIMITED = "rate_limited"
    MOVED = "moved"
    DRAINING = "draining"
    INTERNAL = "internal"


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


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The reply to the sender of an event."""


class Done(Reply, frozen=True):
    """The event was handled."""


class Refusal(Reply, frozen=True):
    """The event was refused, and nothing has changed."""

    code: Code
    message: str


class SpinReply(Reply, frozen=True):
    """The state after a spin."""

    state: State
    match_id: str | None = None


class LeaveReply(Reply, frozen=True):
    """The state after leaving."""

    state: State


class AcknowledgeReply(Reply, frozen=True):
    """The state after an acknowledgement, and until when to vote if voting is open."""

    state: State
    vote_by: Instant | None = None


class VoteReply(Reply, frozen=True):
    """The outcome, if the vote decided the ballot."""

    outcome: Outcome | None = None


class OfferAnswered(Reply, frozen=True):
    """The answer is stored; the connection of the two, if both have accepted."""

    connection_id: str | None = None


class TouchAnswered(Reply, frozen=True):
    """The answer is stored; the connection of the two, if both want to stay in touch."""

    connection_id: str | None = None


class CallPlaced(Reply, frozen=True):
    """The call of the user, and until when it rings."""

    call_id: str
    ring_until: Instant


class DateOpened(Reply, frozen=True):
    """The video date that an accepted call has opened."""

    date_id: str


class Renewed(Reply, frozen=True):
    """The socket has a newer token."""

    expires_at: Instant


class BlockList(Reply, frozen=True):
    """The users that a user has blocked, and since when."""

    blocks: dict[str, Instant]


class Explanation(Reply, frozen=True):
    """Why a user still waits."""

    waiting_s: float
    tier: Tier
    next_tier_in_s: float | None
    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None
    strict: StrictCost


class Departed(Reply, frozen=True):
    """The user has left the lobby of a room, with all that the next one has to know."""

    known: Known
    presence: Presence


class RoomEntered(Reply, frozen=True):
    """The user is in this room now."""

    room: str


class Forgotten(Reply, frozen=True):
    """Whether the user has left memory."""

    gone: bool


class Snapshot(Reply, frozen=True):
    """What a client needs to show the state of its user."""

    state: State
    credit: int
    waiting_since: Instant | None = None
    match: MatchView | None = None
    date: DateView | None = None
    call: CallView | None = None
    tier: Tier | None = None
    last_outcome: Outcome | None = None
    last_match_id: str | None = None
    room: str = MAIN


class Effects(msgspec.Struct, gc=False):
    """What follows from one event: the reply, then the notices, in this order."""

    reply: Reply
    notices: list[tuple[str, Notice]]
