"""Notices of the lobby, as events of the protocol.

A table names the function that makes the event of each type of notice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Literal, cast

import msgspec

from yoked_actor.domain.lobby import OfferView, Outcome, notices, replies
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
    Event,
    IceServers,
    Idle,
    MatchCancelled,
    Matched,
    MatchPart,
    Nudge,
    OfferPart,
    OffersEvent,
    OutcomeEvent,
    RoomClosing,
    Signal,
    Snapshot,
    SuspendedEvent,
    TierEvent,
    Voting,
    Waiting,
    WarningEvent,
)

_UNITS_PER_POINT: Final = 10_000
_ENDINGS: Final = {outcome: Ending(outcome) for outcome in Outcome}


moment_of: Final = lru_cache(maxsize=64)(to_datetime)
"""`to_datetime`. The messages of one round have few different instants."""


def moment_or_none(at: Instant | None) -> datetime | None:
    """`moment_of`, or None."""
    return None if at is None else moment_of(at)


def snapshot_part(snapshot: replies.Snapshot, ice_servers: IceServers) -> Snapshot:
    """The wire form of a snapshot."""
    match, date, call = snapshot.match, snapshot.date, snapshot.call
    return Snapshot(
        state=snapshot.state,
        credit=snapshot.credit,
        room=snapshot.room,
        waiting_since=moment_or_none(snapshot.waiting_since),
        tier=snapshot.tier,
        match=None
        if match is None
        else MatchPart(
            match.match_id,
            match.partner,
            match.acknowledged,
            match.voted,
            moment_or_none(match.acknowledge_by),
            moment_or_none(match.vote_by),
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
            one.fit,
            to_datetime(one.offered_at),
            to_datetime(one.expires_at),
            cast("Literal['accept', 'decline'] | None", one.answer),
        )
        for one in offers
    )


def event_of(notice: notices.Notice, seq: int, at: datetime, ice_servers: IceServers) -> Event:
    """The wire form of a notice to a user; `ice_servers` are for a date that starts."""
    make = _EVENTS.get(type(notice))
    if make is None:
        if type(notice) is notices.DateStarted:
            return _date_started(notice, seq, at, ice_servers)
        raise TypeError(f"no event for {notice!r}")
    return make(notice, seq, at)


def _matched(notice: notices.Matched, seq: int, at: datetime) -> Event:
    return Matched(
        seq=seq,
        at=at,
        match_id=notice.match_id,
        partner=notice.partner,
        acknowledge_by=moment_of(notice.acknowledge_by),
    )


def _voting(notice: notices.VotingOpened, seq: int, at: datetime) -> Event:
    return Voting(seq=seq, at=at, match_id=notice.match_id, vote_by=moment_of(notice.vote_by))


def _outcome(notice: notices.OutcomeReached, seq: int, at: datetime) -> Event:
    return OutcomeEvent(
        seq=seq,
        at=at,
        match_id=notice.match_id,
        outcome=_ENDINGS[notice.outcome],
        next=notice.next,
        credit=notice.credit,
        date_id=notice.date_id,
    )


def _waiting(notice: notices.NowWaiting, seq: int, at: datetime) -> Event:
    return Waiting(seq=seq, at=at, since=moment_of(notice.since), reason=notice.reason)


def _tier(notice: notices.TierReached, seq: int, at: datetime) -> Event:
    return TierEvent(seq=seq, at=at, tier=notice.tier)


def _nudge(notice: notices.Nudge, seq: int, at: datetime) -> Event:
    return Nudge(seq=seq, at=at, expires_at=to_datetime(notice.expires_at))


def _room_closing(notice: notices.RoomClosing, seq: int, at: datetime) -> Event:
    closes_at = to_datetime(notice.closes_at)
    return RoomClosing(seq=seq, at=at, room=notice.room, closes_at=closes_at)


def _idle(notice: notices.NowIdle, seq: int, at: datetime) -> Event:
    return Idle(seq=seq, at=at, reason=notice.reason)


def _cancelled(notice: notices.MatchCancelled, seq: int, at: datetime) -> Event:
    reason = EndReason(notice.reason)
    return MatchCancelled(seq=seq, at=at, match_id=notice.match_id, reason=reason, next=notice.next)


def _ringing(notice: notices.Ringing, seq: int, at: datetime) -> Event:
    return CallEvent(
        seq=seq,
        at=at,
        call_id=notice.call_id,
        connection_id=notice.connection_id,
        partner=notice.partner,
        ring_until=to_datetime(notice.ring_until),
    )


def _call_ended(notice: notices.CallEnded, seq: int, at: datetime) -> Event:
    return CallEndedEvent(seq=seq, at=at, call_id=notice.call_id, reason=notice.reason)


def _date_started(
    notice: notices.DateStarted, seq: int, at: datetime, ice_servers: IceServers
) -> Event:
    return DateStarted(
        seq=seq,
        at=at,
        date_id=notice.date_id,
        partner=notice.partner,
        initiator=notice.initiator,
        ends_at=to_datetime(notice.ends_at),
        ice_servers=ice_servers,
    )


def _signalled(notice: notices.Signalled, seq: int, at: datetime) -> Event:
    return Signal(seq=seq, at=at, date_id=notice.date_id, data=msgspec.Raw(notice.data))


def _date_ended(notice: notices.DateEnded, seq: int, at: datetime) -> Event:
    until = notice.touch_until
    return DateEnded(
        seq=seq,
        at=at,
        date_id=notice.date_id,
        reason=notice.reason,
        touch_until=None if until is None else moment_of(until),
    )


def _offers_made(notice: notices.OffersMade, seq: int, at: datetime) -> Event:
    return OffersEvent(seq=seq, at=at, date=notice.day, offers=offer_parts(notice.offers))


def _connected(notice: notices.ConnectionOpened, seq: int, at: datetime) -> Event:
    return ConnectionEvent(
        seq=seq,
        at=at,
        connection_id=notice.connection_id,
        partner=notice.partner,
        source=notice.source,
    )


def _warned(notice: notices.Warned, seq: int, at: datetime) -> Event:
    return WarningEvent(
        seq=seq,
        at=at,
        warning_id=notice.warning_id,
        text=notice.text,
        given_at=to_datetime(notice.given_at),
    )


def _suspended(notice: notices.Suspended, seq: int, at: datetime) -> Event:
    return SuspendedEvent(seq=seq, at=at, reason=notice.reason, until=moment_or_none(notice.until))


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
        outcome=Ending.CANCELLED if notice.outcome is None else _ENDINGS[notice.outcome],
        next=notice.next,
        credit=notice.credit,
        reason="you_left",
    )


_EVENTS: Final[dict[type[notices.Notice], Callable[[Any, int, datetime], Event]]] = {
    notices.Matched: _matched,
    notices.VotingOpened: _voting,
    notices.OutcomeReached: _outcome,
    notices.MatchLeft: _match_left,
    notices.NowWaiting: _waiting,
    notices.TierReached: _tier,
    notices.Nudge: _nudge,
    notices.RoomClosing: _room_closing,
    notices.NowIdle: _idle,
    notices.MatchCancelled: _cancelled,
    notices.Ringing: _ringing,
    notices.CallEnded: _call_ended,
    notices.Signalled: _signalled,
    notices.DateEnded: _date_ended,
    notices.OffersMade: _offers_made,
    notices.ConnectionOpened: _connected,
    notices.Warned: _warned,
    notices.Suspended: _suspended,
}
