"""The replies of the lobby: what it answers to the sender of an event."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.ballot import Outcome
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import MAIN, Known, Presence
from yoked_actor.domain.lobby.views import CallView, DateView, MatchView
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost, Tier
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
