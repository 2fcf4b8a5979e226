"""The messages of the socket, as tables: the AsyncAPI document is made from these rows.

A row holds an example. The server validates with the type of the example, so one row both declares
a message and shows it. A new command or event is one row here.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import msgspec

from yoked_actor.domain.lobby import (
    CallEnd,
    Code,
    ConnectionSource,
    DateEnd,
    IdleReason,
    Outcome,
    State,
    WaitReason,
)
from yoked_actor.domain.matching import Tier
from yoked_actor.wire.examples import (
    CALL,
    CARD,
    CONNECTION,
    DATE,
    MATCH,
    NEAREST,
    OFFER,
    REJECTED,
    STRICT,
    TOKEN,
    moment,
)
from yoked_actor.wire.lobby import Error, Ok, encode
from yoked_actor.wire.lobby import commands as cmd
from yoked_actor.wire.lobby import events as ev
from yoked_actor.wire.ops import STATUS


class Exchange(msgspec.Struct, frozen=True):
    """A command, and what its reply carries; a name that ends in `?` is not always there."""

    command: cmd.Command
    reply: Ok | ev.Welcome
    carries: tuple[str, ...] = ()
    refusals: tuple[Code, ...] = ()
    on_open_socket: Ok | None = None
    """The reply to a `hello` that renews the token of an open socket."""


_DATA = msgspec.Raw(b'{"description": {"type": "offer", "sdp": "v=0..."}}')
_SNAPSHOT = ev.Snapshot(State.IDLE, 0, "main")
_ICE: ev.IceServers = ({"urls": ["stun:stun.example.org"]},)
_WELCOME = ev.Welcome(
    seq=0,
    at=moment(0),
    re="c1",
    session="1-1",
    room="main",
    resumed=False,
    snapshot=_SNAPSHOT,
    heartbeat_every_s=3.0,
    expires_at=datetime(2026, 1, 2, 8, tzinfo=UTC),
)

EXCHANGES: tuple[Exchange, ...] = (
    Exchange(
        cmd.Hello(id="c1", token=TOKEN, resume=cmd.Resume("1-1", 12)),
        _WELCOME,
        ("expires_at",),
        (
            Code.WRONG_STATE,
            Code.UNKNOWN_ROOM,
            Code.ROOM_CLOSED,
            Code.ROOM_FULL,
            Code.WRONG_CODE,
        ),
        Ok(re="c15", expires_at=datetime(2026, 1, 2, 8, tzinfo=UTC)),
    ),
    Exchange(cmd.Heartbeat(id="c2"), Ok(re="c2", at=moment(3)), ("at",)),
    Exchange(
        cmd.Spin(id="c3"),
        Ok(re="c3", state=State.WAITING),
        ("state", "match_id?"),
        (Code.PROFILE_INCOMPLETE, Code.ON_A_DATE, Code.DRAINING),
    ),
    Exchange(
        cmd.Explain(id="c10"),
        Ok(
            re="c10",
            waiting_s=4.5,
            tier=Tier.WIDER,
            next_tier_in_s=5.5,
            pool=120,
            rejected_by=REJECTED,
            nearest=NEAREST,
            strict=STRICT,
        ),
        ("waiting_s", "tier", "next_tier_in_s", "pool", "rejected_by", "nearest", "strict"),
        (Code.WRONG_STATE,),
    ),
    Exchange(cmd.Leave(id="c4"), Ok(re="c4", state=State.IDLE), ("state",), (Code.WRONG_STATE,)),
    Exchange(
        cmd.Acknowledge(id="c5", match_id=MATCH),
        Ok(re="c5", vote_by=moment(13.5)),
        ("vote_by?",),
        (Code.UNKNOWN_MATCH,),
    ),
    Exchange(
        cmd.Vote(id="c6", match_id=MATCH, vote="yes"),
        Ok(re="c6", outcome=Outcome.BOTH_YES),
        ("outcome?",),
        (Code.UNKNOWN_MATCH, Code.WRONG_STATE, Code.ALREADY_VOTED, Code.VOTE_CLOSED),
    ),
    Exchange(cmd.EndDate(id="c7", date_id=DATE), Ok(re="c7"), (), (Code.NOT_FOUND,)),
    Exchange(
        cmd.AnswerOffer(id="c11", offer_id=OFFER.offer_id, answer="accept"),
        Ok(re="c11", connection_id=CONNECTION),
        ("connection_id?",),
        (Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Exchange(
        cmd.StartDate(id="c12", connection_id=CONNECTION),
        Ok(re="c12", call_id=CALL, ring_until=moment(15)),
        ("call_id", "ring_until"),
        (
            Code.NOT_FOUND,
            Code.WRONG_STATE,
            Code.ON_A_DATE,
            Code.PROFILE_INCOMPLETE,
            Code.DRAINING,
        ),
    ),
    Exchange(
        cmd.AcceptCall(id="c16", call_id=CALL),
        Ok(re="c16", date_id=DATE),
        ("date_id",),
        (Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Exchange(
        cmd.DeclineCall(id="c17", call_id=CALL),
        Ok(re="c17"),
        (),
        (Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Exchange(
        cmd.CancelCall(id="c18", call_id=CALL),
        Ok(re="c18"),
        (),
        (Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Exchange(
        cmd.Signal(id="c13", date_id=DATE, data=_DATA),
        Ok(re="c13"),
        (),
        (Code.NOT_FOUND, Code.TOO_LARGE),
    ),
    Exchange(
        cmd.StayInTouch(id="c19", date_id=DATE, answer="yes"),
        Ok(re="c19", connection_id=CONNECTION),
        ("connection_id?",),
        (Code.NOT_FOUND, Code.WRONG_STATE, Code.ALREADY_ANSWERED),
    ),
    Exchange(
        cmd.EnterRoom(id="c20", room="friday", code="come-in"),
        Ok(re="c20", room="friday"),
        ("room",),
        (
            Code.UNKNOWN_ROOM,
            Code.ROOM_CLOSED,
            Code.ROOM_FULL,
            Code.WRONG_CODE,
            Code.WRONG_STATE,
        ),
    ),
    Exchange(cmd.Block(id="c8", user_id="mallory"), Ok(re="c8")),
    Exchange(cmd.Report(id="c9", user_id="mallory", reason="rude", match_id=MATCH), Ok(re="c9")),
    Exchange(
        cmd.Watch(id="c14", token=TOKEN),
        Ok(re="c14", at=moment(0), expires_at=datetime(2026, 1, 2, 8, tzinfo=UTC)),
        ("at", "expires_at"),
        (Code.FORBIDDEN, Code.WRONG_STATE),
    ),
)
"""Every command with its reply, in the order in which a client first uses them."""

EVENT_EXAMPLES: tuple[ev.Event, ...] = (
    _WELCOME,
    ev.Waiting(seq=1, at=moment(1), since=moment(1), reason=WaitReason.SPUN),
    ev.TierEvent(seq=2, at=moment(3), tier=Tier.WIDER),
    ev.Matched(seq=2, at=moment(2), match_id=MATCH, partner=CARD, acknowledge_by=moment(7)),
    ev.Voting(seq=3, at=moment(3.5), match_id=MATCH, vote_by=moment(13.5)),
    ev.OutcomeEvent(
        seq=4,
        at=moment(9),
        match_id=MATCH,
        outcome=ev.Ending.BOTH_YES,
        next=State.IDLE,
        credit=0,
        date_id=DATE,
    ),
    ev.MatchCancelled(
        seq=4, at=moment(7), match_id=MATCH, reason=ev.EndReason.PARTNER_LEFT, next=State.WAITING
    ),
    ev.Idle(seq=5, at=moment(8), reason=IdleReason.LEFT),
    ev.CallEvent(
        seq=6,
        at=moment(8),
        call_id=CALL,
        connection_id=CONNECTION,
        partner=CARD,
        ring_until=moment(23),
    ),
    ev.CallEndedEvent(seq=7, at=moment(9), call_id=CALL, reason=CallEnd.ACCEPTED),
    ev.DateStarted(
        seq=6,
        at=moment(9),
        date_id=DATE,
        partner=CARD,
        initiator=True,
        ends_at=datetime(2026, 1, 1, 8, 5, 9, tzinfo=UTC),
        ice_servers=_ICE,
    ),
    ev.Signal(seq=7, at=moment(10), date_id=DATE, data=_DATA),
    ev.DateEnded(
        seq=8,
        at=moment(50),
        date_id=DATE,
        reason=DateEnd.PARTNER_ENDED,
        touch_until=datetime(2026, 1, 2, 8, 0, 50, tzinfo=UTC),
    ),
    ev.Nudge(seq=7, at=moment(52), expires_at=datetime(2026, 1, 1, 8, 1, 52, tzinfo=UTC)),
    ev.RoomClosing(
        seq=7,
        at=moment(52),
        room="friday",
        closes_at=datetime(2026, 1, 1, 8, 1, 52, tzinfo=UTC),
    ),
    ev.OffersEvent(seq=7, at=moment(53), date=date(2026, 1, 1), offers=(OFFER,)),
    ev.ConnectionEvent(
        seq=7,
        at=moment(54),
        connection_id=CONNECTION,
        partner=CARD,
        source=ConnectionSource.OFFERS,
    ),
    ev.SuspendedEvent(
        seq=8,
        at=moment(54),
        reason="rude to three people",
        until=datetime(2026, 1, 8, 8, tzinfo=UTC),
    ),
    ev.WarningEvent(
        seq=8, at=moment(54), warning_id="w3", text="Be kind to people.", given_at=moment(54)
    ),
    ev.Draining(seq=8, at=moment(55), reconnect_after_s=2.0),
    STATUS,
)
"""Every event, in the order in which a client first receives them."""

REFUSAL_EXAMPLE = Error(re="c5", code=Code.UNKNOWN_MATCH, message="'m7' is not your current match")


def example_of(value: Any) -> Any:
    """An example as plain JSON values, as it is sent."""
    return msgspec.json.decode(encode(value))
