"""Replies and notices of the lobby, as messages of the protocol."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, cast

import msgspec

from yoked_actor.domain.lobby import OfferView, notices
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.wire.lobby.events import (
    CallEndedEvent,
    CallEvent,
    CallPart,
    ConnectionEvent,
    DateEnded,
    DatePart,
    DateStarted,
    Ending,
    EndReason,
    Error,
    Event,
    IceServers,
    Idle,
    MatchCancelled,
    Matched,
    MatchPart,
    Nudge,
    OfferPart,
    OffersEvent,
    Ok,
    OutcomeEvent,
    Signal,
    Snapshot,
    SuspendedEvent,
    TierEvent,
    Voting,
    Waiting,
)

_UNITS_PER_POINT = 10_000


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else to_datetime(at)


def snapshot_part(snapshot: notices.Snapshot, ice_servers: IceServers) -> Snapshot:
    """The wire form of a snapshot."""
    match, date, call = snapshot.match, snapshot.date, snapshot.call
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
        call=None
        if call is None
        else CallPart(call.call_id, call.partner, to_datetime(call.ring_until), call.incoming),
        last_outcome=snapshot.last_outcome,
        last_match_id=snapshot.last_match_id,
    )


def offer_parts(offers: tuple[OfferView, ...]) -> tuple[OfferPart, ...]:
    """The wire form of offers."""
    return tuple(
        OfferPart(
            one.offer_id,
            one.candidate,
            one.units / _UNITS_PER_POINT,
            one.reasons,
            to_datetime(one.offered_at),
            to_datetime(one.expires_at),
            cast("Literal['accept', 'decline'] | None", one.answer),
        )
        for one in offers
    )


def ok_reply(re: str, reply: notices.Reply) -> Ok | Error:
    """The wire form of the lobby's reply to a command."""
    match reply:
        case notices.Refusal(code, message):
            return Error(re=re, code=code, message=message)
        case notices.SpinReply(state, match_id):
            return Ok(re=re, state=state, match_id=match_id)
        case notices.LeaveReply(state):
            return Ok(re=re, state=state)
        case notices.AcknowledgeReply(_, vote_by):
            return Ok(re=re, vote_by=_moment(vote_by))
        case notices.VoteReply(outcome):
            return Ok(re=re, outcome=outcome)
        case notices.OfferAnswered(connection_id) | notices.TouchAnswered(connection_id):
            return Ok(re=re, connection_id=connection_id)
        case notices.CallPlaced(call_id, ring_until):
            return Ok(re=re, call_id=call_id, ring_until=to_datetime(ring_until))
        case notices.DateOpened(date_id):
            return Ok(re=re, date_id=date_id)
        case notices.Renewed(expires_at):
            return Ok(re=re, expires_at=to_datetime(expires_at))
        case notices.Explanation():
            return Ok(
                re=re,
                waiting_s=reply.waiting_s,
                tier=reply.tier,
                next_tier_in_s=reply.next_tier_in_s,
                pool=reply.pool,
                rejected_by=reply.rejected_by,
                nearest=reply.nearest,
                strict=reply.strict,
            )
        case _:
            return Ok(re=re)


def suspended_error(re: str, message: str, reason: str, until: Instant | None) -> Error:
    """The refusal of a hello of a suspended user."""
    code = notices.Code.SUSPENDED
    return Error(re=re, code=code, message=message, reason=reason, until=_moment(until))


def event_of(notice: notices.Notice, seq: int, at: datetime, ice_servers: IceServers) -> Event:
    """The wire form of a notice to a user."""
    match notice:
        case notices.Matched(match_id, partner, by):
            return Matched(
                seq=seq, at=at, match_id=match_id, partner=partner, acknowledge_by=to_datetime(by)
            )
        case notices.VotingOpened(match_id, by):
            return Voting(seq=seq, at=at, match_id=match_id, vote_by=to_datetime(by))
        case notices.OutcomeReached(match_id, outcome, following, credit, date_id):
            return OutcomeEvent(
                seq=seq,
                at=at,
                match_id=match_id,
                outcome=Ending(outcome),
                next=following,
                credit=credit,
                date_id=date_id,
            )
        case notices.MatchLeft():
            return _match_left(notice, seq, at)
        case notices.NowWaiting(since, reason):
            return Waiting(seq=seq, at=at, since=to_datetime(since), reason=reason)
        case notices.TierReached(tier):
            return TierEvent(seq=seq, at=at, tier=tier)
        case notices.Nudge(expires_at):
            return Nudge(seq=seq, at=at, expires_at=to_datetime(expires_at))
        case notices.NowIdle(reason):
            return Idle(seq=seq, at=at, reason=reason)
        case notices.MatchCancelled(match_id, why, following):
            return MatchCancelled(
                seq=seq, at=at, match_id=match_id, reason=EndReason(why), next=following
            )
        case notices.Ringing():
            return CallEvent(
                seq=seq,
                at=at,
                call_id=notice.call_id,
                connection_id=notice.connection_id,
                partner=notice.partner,
                ring_until=to_datetime(notice.ring_until),
            )
        case notices.CallEnded(call_id, why_ended):
            return CallEndedEvent(seq=seq, at=at, call_id=call_id, reason=why_ended)
        case notices.DateStarted(date_id, partner, initiator, ends_at):
            return DateStarted(
                seq=seq,
                at=at,
                date_id=date_id,
                partner=partner,
                initiator=initiator,
                ends_at=to_datetime(ends_at),
                ice_servers=ice_servers,
            )
        case notices.Signalled(date_id, data):
            return Signal(seq=seq, at=at, date_id=date_id, data=msgspec.Raw(data))
        case notices.DateEnded(date_id, ending, touch_until):
            return DateEnded(
                seq=seq, at=at, date_id=date_id, reason=ending, touch_until=_moment(touch_until)
            )
        case notices.OffersMade(day, offers):
            return OffersEvent(seq=seq, at=at, date=day, offers=offer_parts(offers))
        case notices.ConnectionOpened(connection_id, partner, source):
            return ConnectionEvent(
                seq=seq, at=at, connection_id=connection_id, partner=partner, source=source
            )
        case notices.Suspended(reason, until):
            return SuspendedEvent(seq=seq, at=at, reason=reason, until=_moment(until))
    raise TypeError(f"no event for {notice!r}")


def _match_left(notice: notices.MatchLeft, seq: int, at: datetime) -> Event:
    """The event for a match that the user left: `outcome` if voting was open."""
    if not notice.was_voting:
        return MatchCancelled(
            seq=seq,
            at=at,
            match_id=notice.match_id,
            reason=EndReason.YOU_LEFT,
            next=notice.next,
        )
    return OutcomeEvent(
        seq=seq,
        at=at,
        match_id=notice.match_id,
        outcome=Ending.CANCELLED if notice.outcome is None else Ending(notice.outcome),
        next=notice.next,
        credit=notice.credit,
        reason="you_left",
    )
