"""What the server says over the socket: replies, and events with their sequence numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Any, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from yoked_actor.domain import notices as told
from yoked_actor.domain.ballot import Outcome
from yoked_actor.domain.instants import Instant, to_datetime
from yoked_actor.domain.lifecycle import State
from yoked_actor.domain.people import Card
from yoked_actor.domain.records import CancelReason
from yoked_actor.domain.tiers import Tier

IceServers = tuple[dict[str, Any], ...]
UNITS_PER_POINT = 10_000


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


class Snapshot(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that a client needs to show where its user is."""

    state: State
    credit: int
    waiting_since: datetime | None = None
    tier: Tier | None = None
    match: MatchPart | None = None
    date: DatePart | None = None
    last_outcome: Outcome | None = None
    last_match_id: str | None = None


class OfferPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """Somebody for whom you may care. `score` is 0 to 100, from what is in both profiles alone."""

    offer_id: str
    candidate: Card
    score: float
    reasons: tuple[str, ...]
    expires_at: datetime
    answer: Literal["accept", "decline"] | None = None


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    """Something the user is told. `seq` counts 1, 2, 3... within the session."""

    seq: int
    at: datetime


class Welcome(Event, frozen=True, kw_only=True, tag="welcome"):
    """The answer to `hello`. `seq` is that of the last event before it; it has none of its own."""

    re: str
    session: str
    resumed: bool
    snapshot: Snapshot
    heartbeat_every_s: float


class Waiting(Event, frozen=True, kw_only=True, tag="waiting"):
    """You are in line, since then."""

    since: datetime
    reason: told.WaitReason


class TierEvent(Event, frozen=True, kw_only=True, tag="tier"):
    """Your own limits have opened further: tier 2, 3 or 99 (anybody)."""

    tier: Tier


class Nudge(Event, frozen=True, kw_only=True, tag="nudge"):
    """Somebody who would suit you waits: spin, if you like."""

    expires_at: datetime


class Idle(Event, frozen=True, kw_only=True, tag="idle"):
    """You are out of line."""

    reason: told.IdleReason


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
    """The ballot is decided."""

    match_id: str
    outcome: Outcome
    next: State
    credit: int
    date_id: str | None = None


class MatchCancelled(Event, frozen=True, kw_only=True, tag="match_cancelled"):
    """The match came to nothing."""

    match_id: str
    reason: CancelReason
    next: State


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
    """The video date is over."""

    date_id: str
    reason: told.DateEnd


class OffersEvent(Event, frozen=True, kw_only=True, tag="offers"):
    """The offers of the day; the same ids whenever they are told."""

    date: date
    offers: tuple[OfferPart, ...]


class ConnectionEvent(Event, frozen=True, kw_only=True, tag="connection"):
    """You two have accepted each other."""

    connection_id: str
    partner: Card


class Draining(Event, frozen=True, kw_only=True, tag="draining"):
    """The server is about to stop: come back after a moment."""

    reconnect_after_s: float


EVENTS: tuple[type[Event], ...] = (
    Welcome,
    Waiting,
    TierEvent,
    Nudge,
    Idle,
    Matched,
    Voting,
    OutcomeEvent,
    MatchCancelled,
    DateStarted,
    Signal,
    DateEnded,
    OffersEvent,
    ConnectionEvent,
    Draining,
)


class Ok(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="ok"):
    """A command was carried out. Which fields it has depends on the command."""

    re: str
    at: datetime | None = None
    state: State | None = None
    match_id: str | None = None
    vote_by: datetime | None = None
    outcome: Outcome | None = None
    waiting_s: float | None = None
    tier: Tier | None = None
    next_tier_in_s: float | UnsetType | None = UNSET
    pool: int | None = None
    rejected_by: told.Rejections | None = None
    nearest: told.Relaxation | UnsetType | None = UNSET
    connection_id: str | None = None
    date_id: str | None = None


class Error(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """A command was refused, and nothing has changed."""

    re: str | None
    code: told.Code
    message: str


_encoder = msgspec.json.Encoder()
encode: Callable[[Any], bytes] = _encoder.encode
"""The bytes of a reply, an event or an HTTP body."""


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else to_datetime(at)


def snapshot_part(snapshot: told.Snapshot, ice_servers: IceServers) -> Snapshot:
    """The wire form of a snapshot."""
    match, date = snapshot.match, snapshot.date
    return Snapshot(
        state=snapshot.state,
        credit=snapshot.credit,
        waiting_since=_moment(snapshot.waiting_since),
        tier=snapshot.tier,
        match=None
        if match is None
        else MatchPart(
            match.match_id,
            match.partner,
            match.acknowledged,
            match.voted,
            _moment(match.acknowledge_by),
            _moment(match.vote_by),
        ),
        date=None
        if date is None
        else DatePart(
            date.date_id, date.partner, date.initiator, to_datetime(date.ends_at), ice_servers
        ),
        last_outcome=snapshot.last_outcome,
        last_match_id=snapshot.last_match_id,
    )


def offer_parts(offers: tuple[told.OfferView, ...]) -> tuple[OfferPart, ...]:
    """The wire form of offers."""
    return tuple(
        OfferPart(
            one.offer_id,
            one.candidate,
            one.units / UNITS_PER_POINT,
            one.reasons,
            to_datetime(one.expires_at),
            cast("Literal['accept', 'decline'] | None", one.answer),
        )
        for one in offers
    )


def ok_reply(re: str, reply: told.Reply) -> Ok | Error:
    """The wire form of what the lobby answered to a command."""
    match reply:
        case told.Refusal(code, message):
            return Error(re=re, code=code, message=message)
        case told.SpinReply(state, match_id):
            return Ok(re=re, state=state, match_id=match_id)
        case told.LeaveReply(state):
            return Ok(re=re, state=state)
        case told.AcknowledgeReply(_, vote_by):
            return Ok(re=re, vote_by=_moment(vote_by))
        case told.VoteReply(outcome):
            return Ok(re=re, outcome=outcome)
        case told.OfferAnswered(connection_id):
            return Ok(re=re, connection_id=connection_id)
        case told.DateOpened(date_id):
            return Ok(re=re, date_id=date_id)
        case told.Explanation():
            return Ok(
                re=re,
                waiting_s=reply.waiting_s,
                tier=reply.tier,
                next_tier_in_s=reply.next_tier_in_s,
                pool=reply.pool,
                rejected_by=reply.rejected_by,
                nearest=reply.nearest,
            )
        case _:
            return Ok(re=re)


def event_of(notice: told.Notice, seq: int, at: datetime, ice_servers: IceServers) -> Event:
    """The wire form of what the lobby says to a user."""
    match notice:
        case told.Matched(match_id, partner, by):
            return Matched(
                seq=seq, at=at, match_id=match_id, partner=partner, acknowledge_by=to_datetime(by)
            )
        case told.VotingOpened(match_id, by):
            return Voting(seq=seq, at=at, match_id=match_id, vote_by=to_datetime(by))
        case told.OutcomeReached(match_id, outcome, following, credit, date_id):
            return OutcomeEvent(
                seq=seq,
                at=at,
                match_id=match_id,
                outcome=outcome,
                next=following,
                credit=credit,
                date_id=date_id,
            )
        case told.NowWaiting(since, reason):
            return Waiting(seq=seq, at=at, since=to_datetime(since), reason=reason)
        case told.TierReached(tier):
            return TierEvent(seq=seq, at=at, tier=tier)
        case told.Nudge(expires_at):
            return Nudge(seq=seq, at=at, expires_at=to_datetime(expires_at))
        case told.NowIdle(reason):
            return Idle(seq=seq, at=at, reason=reason)
        case told.MatchCancelled(match_id, why, following):
            return MatchCancelled(seq=seq, at=at, match_id=match_id, reason=why, next=following)
        case told.DateStarted(date_id, partner, initiator, ends_at):
            return DateStarted(
                seq=seq,
                at=at,
                date_id=date_id,
                partner=partner,
                initiator=initiator,
                ends_at=to_datetime(ends_at),
                ice_servers=ice_servers,
            )
        case told.Signalled(date_id, data):
            return Signal(seq=seq, at=at, date_id=date_id, data=msgspec.Raw(data))
        case told.DateEnded(date_id, ending):
            return DateEnded(seq=seq, at=at, date_id=date_id, reason=ending)
        case told.OffersMade(day, offers):
            return OffersEvent(seq=seq, at=at, date=day, offers=offer_parts(offers))
        case told.ConnectionOpened(connection_id, partner):
            return ConnectionEvent(seq=seq, at=at, connection_id=connection_id, partner=partner)
    raise TypeError(f"no event for {notice!r}")
