"""What the server says: every notice and reply of the lobby has its form on the wire."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from yoked_actor.domain.lobby import (
    CallEnd,
    CancelReason,
    DateView,
    Fit,
    MatchView,
    OfferView,
    Outcome,
    State,
    notices,
    replies,
)
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost, Tier
from yoked_actor.domain.people import Card
from yoked_actor.domain.time import MICROSECONDS, to_datetime
from yoked_actor.wire.lobby import Error, encode, ok_reply, rendering
from yoked_actor.wire.lobby import events as wire

NOW = 1_767_254_400 * MICROSECONDS
LATER = NOW + 5_500_000
BEN = Card("ben", "Ben", 29, "man", ("film",), 4)
BEN_SEEN = {
    "user_id": "ben",
    "display_name": "Ben",
    "age": 29,
    "gender": "man",
    "interests": ["film"],
    "distance_km": 4,
}
OFFER = OfferView("o1", BEN, 613_333, ("4 km away",), Fit(2, ("jazz",), True), NOW, LATER)
ICE: wire.IceServers = ({"urls": ["stun:stun.example.org"]},)

NOTICES: list[tuple[notices.Notice, dict[str, Any]]] = [
    (
        notices.NowWaiting(NOW, notices.WaitReason.SPUN),
        {"type": "waiting", "since": "2026-01-01T08:00:00Z", "reason": "spun"},
    ),
    (notices.TierReached(Tier.FORCED), {"type": "tier", "tier": 99}),
    (notices.Nudge(LATER), {"type": "nudge", "expires_at": "2026-01-01T08:00:05.500000Z"}),
    (
        notices.RoomClosing("jazz", LATER),
        {"type": "room_closing", "room": "jazz", "closes_at": "2026-01-01T08:00:05.500000Z"},
    ),
    (notices.NowIdle(notices.IdleReason.LOST), {"type": "idle", "reason": "lost"}),
    (
        notices.Matched("m1", BEN, LATER),
        {
            "type": "matched",
            "match_id": "m1",
            "partner": BEN_SEEN,
            "acknowledge_by": "2026-01-01T08:00:05.500000Z",
        },
    ),
    (
        notices.VotingOpened("m1", LATER),
        {"type": "voting", "match_id": "m1", "vote_by": "2026-01-01T08:00:05.500000Z"},
    ),
    (
        notices.OutcomeReached("m1", Outcome.YES_PASS, State.WAITING, 10),
        {
            "type": "outcome",
            "match_id": "m1",
            "outcome": "yes_pass",
            "next": "waiting",
            "credit": 10,
        },
    ),
    (
        notices.OutcomeReached("m1", Outcome.BOTH_YES, State.IDLE, 0, "d2"),
        {
            "type": "outcome",
            "match_id": "m1",
            "outcome": "both_yes",
            "next": "idle",
            "credit": 0,
            "date_id": "d2",
        },
    ),
    (
        notices.MatchCancelled("m1", CancelReason.PARTNER_LEFT, State.WAITING),
        {"type": "match_cancelled", "match_id": "m1", "reason": "partner_left", "next": "waiting"},
    ),
    (
        notices.MatchLeft("m1", State.WAITING, 20, was_voting=False, outcome=None),
        {"type": "match_cancelled", "match_id": "m1", "reason": "you_left", "next": "waiting"},
    ),
    (
        notices.MatchLeft("m1", State.IDLE, 20, was_voting=True, outcome=Outcome.YES_IDLE),
        {
            "type": "outcome",
            "match_id": "m1",
            "outcome": "yes_idle",
            "next": "idle",
            "credit": 20,
            "reason": "you_left",
        },
    ),
    (
        notices.MatchLeft("m1", State.WAITING, 0, was_voting=True, outcome=None),
        {
            "type": "outcome",
            "match_id": "m1",
            "outcome": "cancelled",
            "next": "waiting",
            "credit": 0,
            "reason": "you_left",
        },
    ),
    (
        notices.Ringing("r1-2", "c3", BEN, LATER),
        {
            "type": "call",
            "call_id": "r1-2",
            "connection_id": "c3",
            "partner": BEN_SEEN,
            "ring_until": "2026-01-01T08:00:05.500000Z",
        },
    ),
    (
        notices.CallEnded("r1-2", CallEnd.BUSY),
        {"type": "call_ended", "call_id": "r1-2", "reason": "busy"},
    ),
    (
        notices.DateStarted("d2", BEN, True, LATER),
        {
            "type": "date_started",
            "date_id": "d2",
            "partner": BEN_SEEN,
            "initiator": True,
            "ends_at": "2026-01-01T08:00:05.500000Z",
            "ice_servers": list(ICE),
        },
    ),
    (
        notices.Signalled("d2", b'{"candidate":null}'),
        {"type": "signal", "date_id": "d2", "data": {"candidate": None}},
    ),
    (
        notices.DateEnded("d2", notices.DateEnd.TIME_UP),
        {"type": "date_ended", "date_id": "d2", "reason": "time_up"},
    ),
    (
        notices.DateEnded("d2", notices.DateEnd.ENDED, LATER),
        {
            "type": "date_ended",
            "date_id": "d2",
            "reason": "ended",
            "touch_until": "2026-01-01T08:00:05.500000Z",
        },
    ),
    (
        notices.OffersMade(
            date(2026, 1, 1),
            (OfferView("o1", BEN, 613_333, ("4 km away",), Fit(2, ("jazz",), True), NOW, LATER),),
        ),
        {
            "type": "offers",
            "date": "2026-01-01",
            "offers": [
                {
                    "offer_id": "o1",
                    "candidate": BEN_SEEN,
                    "score": 61.3333,
                    "reasons": ["4 km away"],
                    "fit": {"years_apart": 2, "shared": ["jazz"], "widened": True},
                    "offered_at": "2026-01-01T08:00:00Z",
                    "expires_at": "2026-01-01T08:00:05.500000Z",
                }
            ],
        },
    ),
    (
        notices.ConnectionOpened("c3", BEN, notices.ConnectionSource.DATE),
        {"type": "connection", "connection_id": "c3", "partner": BEN_SEEN, "source": "date"},
    ),
    (
        notices.Suspended("rude", None),
        {"type": "suspended", "reason": "rude", "until": None},
    ),
    (
        notices.Warned("w1", "be kind", 0),
        {
            "type": "warning",
            "warning_id": "w1",
            "text": "be kind",
            "given_at": "1970-01-01T00:00:00Z",
        },
    ),
]


def said(message: Any) -> Any:
    return json.loads(encode(message))


@pytest.mark.parametrize(("notice", "fields"), NOTICES)
def test_a_notice_becomes_a_numbered_event(notice: notices.Notice, fields: dict[str, Any]) -> None:
    event = rendering.event_of(notice, 7, to_datetime(NOW), ICE)
    assert said(event) == {**fields, "seq": 7, "at": "2026-01-01T08:00:00Z"}


def test_every_kind_of_notice_has_its_event() -> None:
    assert {type(notice) for notice, _ in NOTICES} == set(notices.Notice.__subclasses__())
    tags = {fields["type"] for _, fields in NOTICES}
    made_elsewhere = {"welcome", "draining"}
    assert tags | made_elsewhere == {str(kind.__struct_config__.tag) for kind in wire.EVENTS}


def test_something_that_is_no_notice_has_no_event() -> None:
    with pytest.raises(TypeError, match="no event"):
        rendering.event_of(notices.Notice(), 1, to_datetime(NOW), ICE)


@pytest.mark.parametrize(
    ("reply", "fields"),
    [
        (replies.Done(), {}),
        (replies.SpinReply(State.WAITING), {"state": "waiting"}),
        (replies.SpinReply(State.MATCHED, "m1"), {"state": "matched", "match_id": "m1"}),
        (replies.LeaveReply(State.IDLE), {"state": "idle"}),
        (replies.AcknowledgeReply(State.MATCHED), {}),
        (replies.AcknowledgeReply(State.VOTING, NOW), {"vote_by": "2026-01-01T08:00:00Z"}),
        (replies.OfferAnswered(), {}),
        (replies.OfferAnswered("c3"), {"connection_id": "c3"}),
        (replies.TouchAnswered(), {}),
        (replies.TouchAnswered("c3"), {"connection_id": "c3"}),
        (replies.DateOpened("d2"), {"date_id": "d2"}),
        (
            replies.CallPlaced("r1-2", NOW),
            {"call_id": "r1-2", "ring_until": "2026-01-01T08:00:00Z"},
        ),
        (replies.VoteReply(), {}),
        (replies.VoteReply(Outcome.PASS_PASS), {"outcome": "pass_pass"}),
    ],
)
def test_a_reply_carries_what_there_is_and_no_nulls(
    reply: replies.Reply, fields: dict[str, Any]
) -> None:
    assert said(ok_reply("c1", reply)) == {"type": "ok", "re": "c1", **fields}


def test_an_explanation_says_also_what_there_is_not() -> None:
    rejected = Rejections(1, 2, 3, 4)
    reply = replies.Explanation(10.5, Tier.FORCED, None, 10, rejected, None, StrictCost(5, 0))
    assert said(ok_reply("c1", reply)) == {
        "type": "ok",
        "re": "c1",
        "waiting_s": 10.5,
        "tier": 99,
        "next_tier_in_s": None,
        "pool": 10,
        "rejected_by": {"seeking": 1, "history": 2, "age": 3, "distance": 4},
        "nearest": None,
        "strict": {"age": 5, "distance": 0},
    }


def test_an_explanation_names_the_nearest_relaxation() -> None:
    nearest = Relaxation("age", 3, "years", 2)
    nobody = Rejections(0, 0, 0, 0)
    reply = replies.Explanation(0.5, Tier.EXACT, 1.5, 0, nobody, nearest, StrictCost(0, 0))
    part = said(ok_reply("c1", reply))
    assert part["nearest"] == {"constraint": "age", "by": 3, "unit": "years", "gives": 2}
    assert part["next_tier_in_s"] == 1.5


def test_a_refusal_becomes_an_error() -> None:
    reply = replies.Refusal(replies.Code.ON_A_DATE, "end it first")
    assert said(ok_reply("c1", reply)) == {
        "type": "error",
        "re": "c1",
        "code": "on_a_date",
        "message": "end it first",
    }


def test_an_error_without_a_command_says_so() -> None:
    error = Error(re=None, code=replies.Code.BAD_REQUEST, message="no id")
    assert said(error)["re"] is None


def test_a_snapshot_of_somebody_idle_is_short() -> None:
    snapshot = replies.Snapshot(State.IDLE, 0)
    assert said(rendering.snapshot_part(snapshot, ICE)) == {
        "state": "idle",
        "credit": 0,
        "room": "main",
    }


def test_a_snapshot_in_line_tells_since_when_and_in_which_tier() -> None:
    snapshot = replies.Snapshot(State.WAITING, 10, NOW, tier=Tier.WIDER)
    assert said(rendering.snapshot_part(snapshot, ICE)) == {
        "state": "waiting",
        "credit": 10,
        "room": "main",
        "waiting_since": "2026-01-01T08:00:00Z",
        "tier": 2,
    }


def test_a_snapshot_in_a_match_tells_of_the_open_window_only() -> None:
    view = MatchView("m1", BEN, True, False, None, LATER)
    part = said(rendering.snapshot_part(replies.Snapshot(State.VOTING, 0, match=view), ICE))
    assert part["match"] == {
        "match_id": "m1",
        "partner": BEN_SEEN,
        "acknowledged": True,
        "voted": False,
        "vote_by": "2026-01-01T08:00:05.500000Z",
    }


def test_a_snapshot_on_a_date_holds_all_that_the_call_needs() -> None:
    view = DateView("d2", BEN, False, LATER)
    snapshot = replies.Snapshot(
        State.IDLE, 0, date=view, last_outcome=Outcome.BOTH_YES, last_match_id="m1"
    )
    part = said(rendering.snapshot_part(snapshot, ICE))
    assert part["date"] == {
        "date_id": "d2",
        "partner": BEN_SEEN,
        "initiator": False,
        "ends_at": "2026-01-01T08:00:05.500000Z",
        "ice_servers": list(ICE),
    }
    assert (part["last_outcome"], part["last_match_id"]) == ("both_yes", "m1")


def test_every_outcome_and_every_reason_has_a_name_on_the_wire() -> None:
    assert {*wire.Ending} == {*Outcome, "cancelled"}
    assert {*wire.EndReason} == {*CancelReason, "you_left"}
