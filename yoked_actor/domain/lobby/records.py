"""The values that the lobby decides about and the store keeps: seats, matches, video dates.

All are frozen: a change is a new value, so that a decision can be undone. `Known` is what the store
has of a user who comes into memory; `Changes` is what a round of decisions must store.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby.ballot import Outcome, Vote
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant

MAIN = "main"
"""The room that always exists. A user who names no room is in it."""

Pair = tuple[str, str]
"""Two user ids in ascending order."""


TOMBSTONE = "~erased-"
"""The prefix of tombstones. No user id contains `~`, and every user id sorts before it."""


class Counter:
    """Gives numbers, each greater than all before. A number is never given back."""

    __slots__ = ("next_number",)

    def __init__(self, next_number: int = 1) -> None:
        self.next_number = next_number

    def take(self) -> int:
        """The next number."""
        number = self.next_number
        self.next_number = number + 1
        return number


def pair_of(a: str, b: str) -> Pair:
    """The unordered pair of two users."""
    return (a, b) if a < b else (b, a)


class Seat(msgspec.Struct, frozen=True, gc=False):
    """The state of one user. A match keeps `waiting_since`, for a return to the old place.

    The stored state of a user in a match may be behind: the status of the match counts.
    """

    user_id: str
    state: State = State.IDLE
    waiting_since: Instant | None = None
    credit: int = 0
    match_id: str | None = None
    date_id: str | None = None
    last_match_id: str | None = None


class Presence(msgspec.Struct, frozen=True, gc=False):
    """How a user can be reached now. Not stored: after a restart no user is present."""

    device: int = 0
    called: bool = False

    @property
    def here(self) -> bool:
        """Whether the user can be paired: a socket is open, or the user called over HTTP."""
        return self.called or self.device != 0


class Line(msgspec.Struct, frozen=True):
    """The tier of a waiting user, and how often they were skipped. Not stored."""

    tier: Tier = Tier.EXACT
    skips: int = 0


class Quality(msgspec.Struct, frozen=True):
    """The quality of a match when it was made (R23). The sides are in the order of the match."""

    match_id: str
    policy: str
    priority: int
    preference_match: float
    distance_score: float
    distance_km: float
    a_tier: Tier
    b_tier: Tier
    a_wait_s: float
    b_wait_s: float
    a_group: str
    b_group: str
    paired_at: Instant
    shown_km: int | None = None
    """The distance that both were shown; None in matches from before it was stored."""


class MatchStatus(StrEnum):
    """The status of a match."""

    MATCHED = "matched"
    VOTING = "voting"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class CancelReason(StrEnum):
    """Why a match was cancelled, as its users are notified."""

    PARTNER_LEFT = "partner_left"
    PARTNER_LOST = "partner_lost"
    NOT_ACKNOWLEDGED = "not_acknowledged"
    BLOCKED = "blocked"
    SERVER_RESTART = "server_restart"


class Match(msgspec.Struct, frozen=True, gc=False):
    """A match of two users. `a` < `b`; `closes_at` is when the present window closes."""

    match_id: str
    a: str
    b: str
    status: MatchStatus
    paired_at: Instant
    closes_at: Instant | None
    a_acknowledged: bool = False
    b_acknowledged: bool = False
    voting_at: Instant | None = None
    a_vote: Vote | None = None
    b_vote: Vote | None = None
    outcome: Outcome | None = None
    cancelled_for: CancelReason | None = None
    ended_at: Instant | None = None
    awaiting: frozenset[str] = frozenset()
    """The users who are not back since a restart. While there are any, no window is open."""

    @property
    def users(self) -> Pair:
        """Both users."""
        return (self.a, self.b)

    @property
    def is_open(self) -> bool:
        """Whether the match is still going on."""
        return self.ended_at is None

    @property
    def both_acknowledged(self) -> bool:
        """Whether both users have acknowledged."""
        return self.a_acknowledged and self.b_acknowledged

    def partner_of(self, user_id: str) -> str:
        """The other user."""
        return self.b if user_id == self.a else self.a

    def acknowledged_by(self, user_id: str) -> bool:
        """Whether this user has acknowledged."""
        return self.a_acknowledged if user_id == self.a else self.b_acknowledged

    def vote_of(self, user_id: str) -> Vote | None:
        """This user's vote, if given."""
        return self.a_vote if user_id == self.a else self.b_vote


class VideoDate(msgspec.Struct, frozen=True, gc=False):
    """An open or ended video date. `a` is the initiator of the call."""

    date_id: str
    a: str
    b: str
    started_at: Instant
    ends_at: Instant
    ended_at: Instant | None = None
    ended_for: str | None = None
    match_id: str | None = None
    """The match that opened it; None after a call."""

    def partner_of(self, user_id: str) -> str:
        """The other user."""
        return self.b if user_id == self.a else self.a


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call that rings: one of two connected users asks the other for a video date. Not stored."""

    call_id: str
    connection_id: str
    caller: str
    callee: str
    ring_until: Instant

    def partner_of(self, user_id: str) -> str:
        """The other user."""
        return self.callee if user_id == self.caller else self.caller


class CallEnd(StrEnum):
    """Why a call stopped ringing, as both users are notified."""

    ACCEPTED = "accepted"
    DECLINED = "declined"
    MISSED = "missed"
    CANCELLED = "cancelled"
    BUSY = "busy"
    LOST = "lost"


class Known(msgspec.Struct, frozen=True, gc=False):
    """What the store has of a user who comes into memory."""

    user_id: str
    person: Person | None = None
    seat: Seat | None = None
    blocks: dict[str, Instant] = {}
    met: dict[str, Instant] = {}
    bars: dict[str, Instant] = {}
    last_match: Match | None = None
    room: str = MAIN
    """The room that the user was in."""


class Erasure(msgspec.Struct, frozen=True):
    """A user to erase, and the tombstone that replaces their id in the records of others."""

    user_id: str
    tombstone: str
    at: Instant


class Changes(msgspec.Struct):
    """What one round of decisions must store, in one transaction."""

    people: list[Person] = []
    seats: list[Seat] = []
    matches: list[Match] = []
    dates: list[VideoDate] = []
    met: list[tuple[Pair, Instant | None]] = []
    """Pairs that have met, and when; None removes the pair."""
    blocks: list[tuple[tuple[str, str], Instant | None]] = []
    """(blocker, blocked), and since when; None removes the block."""
    quality: list[Quality] = []
    bars: list[tuple[Pair, Instant | None]] = []
    """Pairs kept apart, and until when; None removes the bar."""
    erased: list[Erasure] = []
    """The users to erase, after everything else is stored."""
    room: str = MAIN
    """The room of the seats, matches, dates and qualities."""

    def __bool__(self) -> bool:
        return bool(
            self.seats
            or self.matches
            or self.quality
            or self.met
            or self.bars
            or self.people
            or self.blocks
            or self.dates
            or self.erased
        )
