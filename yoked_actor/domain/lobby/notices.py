"""What the lobby says: replies to the one who asked, notices to whom it concerns."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.ballot import Outcome
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import CancelReason
from yoked_actor.domain.matching import Rejections, Relaxation, Tier
from yoked_actor.domain.people import Card
from yoked_actor.domain.time import Instant


class Code(StrEnum):
    """Why something was refused. The codes are part of the wire contract."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    SUSPENDED = "suspended"
    NOT_FOUND = "not_found"
    UNKNOWN_MATCH = "unknown_match"
    WRONG_STATE = "wrong_state"
    ON_A_DATE = "on_a_date"
    ALREADY_VOTED = "already_voted"
    VOTE_CLOSED = "vote_closed"
    PROFILE_INCOMPLETE = "profile_incomplete"
    TOO_LARGE = "too_large"
    UNDERAGE = "underage"
    RATE_LIMITED = "rate_limited"
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


class DateEnd(StrEnum):
    """Why a date is over, as its people are told."""

    ENDED = "ended"
    PARTNER_ENDED = "partner_ended"
    PARTNER_LOST = "partner_lost"
    TIME_UP = "time_up"


class Notice(msgspec.Struct, frozen=True, gc=False):
    """Something a user is told."""


class NowWaiting(Notice, frozen=True):
    """You are in line, since then."""

    since: Instant
    reason: WaitReason


class TierReached(Notice, frozen=True):
    """Your limits have opened further."""

    tier: Tier


class Nudge(Notice, frozen=True):
    """Somebody who would suit you is waiting."""

    expires_at: Instant


class NowIdle(Notice, frozen=True):
    """You are out of line."""

    reason: IdleReason


class Matched(Notice, frozen=True):
    """Here is somebody."""

    match_id: str
    partner: Card
    acknowledge_by: Instant


class VotingOpened(Notice, frozen=True):
    """Both are there: vote."""

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
    """The match came to nothing."""

    match_id: str
    reason: CancelReason
    next: State


class MatchLeft(Notice, frozen=True):
    """You left this match, and this is how it ended; without an outcome it is cancelled."""

    match_id: str
    next: State
    credit: int
    was_voting: bool
    outcome: Outcome | None


class DateStarted(Notice, frozen=True):
    """The video date is open."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: Instant


class Signalled(Notice, frozen=True):
    """The partner on the video date has sent this: JSON, which nobody here reads."""

    date_id: str
    data: bytes


class DateEnded(Notice, frozen=True):
    """The video date is over."""

    date_id: str
    reason: DateEnd


class OfferView(msgspec.Struct, frozen=True):
    """One offer, as the one who gets it sees it."""

    offer_id: str
    candidate: Card
    units: int
    """The points of content alone, in millionths of a hundred: nobody's popularity shows."""
    reasons: tuple[str, ...]
    offered_at: Instant
    """When its run was scheduled."""
    expires_at: Instant
    answer: str | None = None


class OffersMade(Notice, frozen=True):
    """Here are the offers of a day."""

    day: date
    offers: tuple[OfferView, ...]


class ConnectionOpened(Notice, frozen=True):
    """You two have accepted each other."""

    connection_id: str
    partner: Card


class Suspended(Notice, frozen=True):
    """You are suspended, until then or without an end."""

    reason: str
    until: Instant | None


class Reply(msgspec.Struct, frozen=True, gc=False):
    """The answer to the one who caused an event."""


class Done(Reply, frozen=True):
    """It is so."""


class Refusal(Reply, frozen=True):
    """It is not so, and nothing has changed."""

    code: Code
    message: str


class SpinReply(Reply, frozen=True):
    """Where a spin has led."""

    state: State
    match_id: str | None = None


class LeaveReply(Reply, frozen=True):
    """Where leaving has led."""

    state: State


class AcknowledgeReply(Reply, frozen=True):
    """Until when to vote, once voting is open."""

    state: State
    vote_by: Instant | None = None


class VoteReply(Reply, frozen=True):
    """The outcome, once there is one."""

    outcome: Outcome | None = None


class OfferAnswered(Reply, frozen=True):
    """The answer stands; the connection of the two, if both have accepted."""

    connection_id: str | None = None


class DateOpened(Reply, frozen=True):
    """The video date that was asked for."""

    date_id: str


class Renewed(Reply, frozen=True):
    """The socket lives on with a newer token."""

    expires_at: Instant


class BlockList(Reply, frozen=True):
    """Whom a user has blocked, and since when."""

    blocks: dict[str, Instant]


class Explanation(Reply, frozen=True):
    """Why a user still waits."""

    waiting_s: float
    tier: Tier
    next_tier_in_s: float | None
    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None


class Forgotten(Reply, frozen=True):
    """Whether the user has left memory."""

    gone: bool


class MatchView(msgspec.Struct, frozen=True):
    """One side's view of an open match."""

    match_id: str
    partner: Card
    acknowledged: bool
    voted: bool
    acknowledge_by: Instant | None = None
    vote_by: Instant | None = None


class DateView(msgspec.Struct, frozen=True):
    """One side's view of an open date."""

    date_id: str
    partner: Card
    initiator: bool
    ends_at: Instant


class Snapshot(Reply, frozen=True):
    """All that a client must know to show where its user is."""

    state: State
    credit: int
    waiting_since: Instant | None = None
    match: MatchView | None = None
    date: DateView | None = None
    tier: Tier | None = None
    last_outcome: Outcome | None = None
    last_match_id: str | None = None


class Effects(msgspec.Struct, gc=False):
    """What follows from one event: first the reply, then the notices, in this order."""

    reply: Reply
    notices: list[tuple[str, Notice]]
