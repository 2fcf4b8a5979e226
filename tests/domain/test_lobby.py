"""The lobby: spins in each state (R7), attempts on each trigger (R9), presence (R14)."""

from __future__ import annotations

from datetime import date

import pytest
from msgspec.structs import replace

from tests.domain.crowds import EVERYONE, START, man, person, woman
from tests.domain.evening import Evening, only, refused_with
from yoked_actor.domain.lobby import (
    IdleReason,
    Known,
    Lobby,
    Notice,
    NowIdle,
    Outcome,
    SpinReply,
    State,
    Vote,
    WaitReason,
    audit_floor,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import (
    MatchCancelled,
    Matched,
    MatchLeft,
    NowWaiting,
    TierReached,
)
from yoked_actor.domain.lobby.replies import BlockList, Done, Snapshot
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after

ANA, BEN = woman("ana"), man("ben")
CLEO, DAN = woman("cleo"), man("dan")


@pytest.fixture
def evening() -> Evening:
    return Evening()


# R7: spin


def test_a_spin_from_idle_waits_since_now(evening: Evening) -> None:
    evening.enter(ANA)
    assert evening.spin("ana") == SpinReply(State.WAITING)
    assert evening.seat("ana").waiting_since == evening.now


def test_a_second_spin_while_waiting_keeps_the_place_and_says_nothing(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    since = evening.now
    evening.told("ana")
    evening.advance(1.999999)
    assert evening.spin("ana") == SpinReply(State.WAITING)
    assert evening.seat("ana").waiting_since == since
    assert evening.told("ana") == []


def test_a_spin_in_a_match_not_yet_acknowledged_is_answered_with_the_match(
    evening: Evening,
) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.acknowledge("ben")
    evening.told("ana"), evening.told("ben")
    assert evening.spin("ana") == SpinReply(State.MATCHED, match_id)
    assert evening.told("ana") == evening.told("ben") == []
    assert not evening.store.matches[match_id].a_acknowledged


def test_a_spin_in_an_acknowledged_match_leaves_it_and_rejoins(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    ben_since = evening.now
    evening.acknowledge("ana")
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    assert evening.spin("ana") == SpinReply(State.WAITING)
    assert evening.told("ana") == [
        MatchLeft(match_id, State.WAITING, 0, was_voting=False, outcome=None),
        NowWaiting(evening.now, WaitReason.SPUN),
    ]
    assert only(evening.told("ben"), NowWaiting) == NowWaiting(ben_since, WaitReason.PARTNER_LEFT)


def test_a_spin_out_of_a_match_may_lead_straight_into_the_next(evening: Evening) -> None:
    evening.enter(CLEO)
    evening.spin("cleo")
    evening.do(ev.Block("cleo", "ben"))
    evening.pair(ANA, BEN)
    evening.acknowledge("ben")
    evening.do(ev.Unblock("cleo", "ben"))
    evening.told("ben")
    reply = evening.spin("ben")
    assert reply == SpinReply(State.MATCHED, evening.match_id("cleo"))
    assert evening.partner_of("ben") == "cleo"
    assert [type(notice) for notice in evening.told("ben")] == [MatchLeft, Matched]


def test_a_spin_on_a_date_is_refused(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    before = evening.seat("ana")
    assert refused_with(evening.spin("ana")) == "on_a_date"
    assert evening.seat("ana") == before


def test_a_spin_without_a_profile_is_refused(evening: Evening) -> None:
    evening.attach("ana")
    assert refused_with(evening.spin("ana")) == "profile_incomplete"
    assert evening.state("ana") is State.IDLE
    evening.do(ev.ProfileChanged("ana", ANA))
    assert evening.spin("ana") == SpinReply(State.WAITING)


# R9: an attempt on each trigger, and only for those who may meet


def test_nobody_is_paired_with_whom_they_do_not_seek(evening: Evening) -> None:
    evening.enter(ANA, CLEO, person("kim", "nonbinary", EVERYONE))
    evening.spin("ana", "cleo", "kim")
    evening.advance(3600)
    assert {evening.state(user_id) for user_id in ("ana", "cleo", "kim")} == {State.WAITING}


def test_a_minor_whose_profile_got_into_the_store_is_never_paired(evening: Evening) -> None:
    evening.enter(woman("ana", birth_date=date(2008, 1, 2)), BEN)
    evening.spin("ben", "ana")
    assert evening.state("ana") is evening.state("ben") is State.WAITING


def test_a_profile_that_changes_while_waiting_is_tried_at_once(evening: Evening) -> None:
    evening.enter(ANA, CLEO)
    evening.spin("ana", "cleo")
    evening.do(ev.ProfileChanged("ana", replace(ANA, seeking=EVERYONE)))
    assert evening.state("ana") is State.WAITING, "cleo seeks men"
    evening.do(ev.ProfileChanged("cleo", replace(CLEO, seeking=EVERYONE)))
    assert evening.partner_of("ana") == "cleo"


def test_the_profile_that_counts_is_the_newest(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    evening.do(ev.ProfileChanged("ana", replace(ANA, seeking=frozenset({"woman"}))))
    evening.spin("ben")
    assert evening.state("ben") is State.WAITING


def test_a_changed_profile_is_saved_and_keeps_the_place(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    since = evening.now
    evening.advance(3)
    evening.do(ev.ProfileChanged("ana", replace(ANA, display_name="Anna")))
    assert evening.seat("ana").waiting_since == since
    assert evening.store.people["ana"].display_name == "Anna"


def test_a_block_takes_effect_at_once_and_both_ways(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.do(ev.Block("ben", "ana"))
    evening.spin("ana", "ben")
    assert evening.state("ana") is evening.state("ben") is State.WAITING


def test_a_block_that_is_lifted_pairs_at_once(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.do(ev.Block("ben", "ana"))
    evening.spin("ana", "ben")
    evening.do(ev.Unblock("ben", "ana"))
    assert evening.partner_of("ana") == "ben"


def test_each_of_two_blocks_stands_by_itself(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.do(ev.Block("ana", "ben"))
    evening.do(ev.Block("ben", "ana"))
    evening.spin("ana", "ben")
    evening.do(ev.Unblock("ben", "ana"))
    assert evening.state("ana") is State.WAITING
    evening.do(ev.Unblock("ana", "ben"))
    assert evening.partner_of("ana") == "ben"


def test_a_requeued_job_is_tried_at_once(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.enter(DAN)
    evening.spin("dan")
    evening.vote("ana", Vote.PASS)
    evening.vote("ben", Vote.PASS)
    assert evening.partner_of("ana") == "dan"
    assert evening.state("ben") is State.WAITING


def test_several_who_come_into_line_at_once_are_tried_in_the_order_of_the_policy(
    evening: Evening,
) -> None:
    bea, zoe, kim = (person(name, "woman", "woman") for name in ("bea", "zoe", "kim"))
    evening.open_voting(bea, zoe)
    evening.enter(kim)
    evening.spin("kim")
    evening.vote("bea", Vote.PASS)
    evening.vote("zoe", Vote.YES)
    assert evening.partner_of("kim") == "zoe", "the yes has credit and goes first"


def test_a_cancelled_partner_is_tried_at_once(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.enter(DAN)
    evening.spin("dan")
    evening.leave("ben")
    assert evening.partner_of("ana") == "dan"
    told = [type(notice) for notice in evening.told("ana")]
    assert told[-2:] == [MatchCancelled, Matched], "no word of waiting in between"


# R14: detaching, coming back, calling, being lost


def test_a_closed_socket_keeps_state_and_place(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    since = evening.now
    evening.advance(1)
    evening.detach("ana")
    evening.advance(5)
    assert (evening.state("ana"), evening.seat("ana").waiting_since) == (State.WAITING, since)


def test_a_detached_user_is_not_paired_until_they_come_back(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    evening.detach("ana")
    evening.spin("ben")
    assert evening.state("ben") is State.WAITING
    reply = evening.attach("ana")
    assert isinstance(reply, Snapshot)
    assert reply.state is State.MATCHED
    assert evening.partner_of("ana") == "ben"


def test_an_http_call_brings_a_detached_user_back_into_line(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    evening.detach("ana")
    evening.spin("ben")
    assert evening.do(ev.Called("ana")) == Done()
    assert evening.partner_of("ana") == "ben"


def test_a_user_who_comes_back_and_finds_nobody_is_told_that_they_wait(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    since = evening.now
    evening.advance(1)
    evening.detach("ana")
    evening.told("ana")
    evening.attach("ana")
    assert evening.told("ana") == [NowWaiting(since, WaitReason.RESUMED)]


def test_a_newer_socket_takes_over_without_a_word(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.told("ana")
    evening.attach("ana")
    assert evening.told("ana") == []


def test_the_end_of_an_older_socket_does_not_detach_the_newer(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    evening.attach("ana")
    evening.do(ev.Detached("ana", 1))
    evening.spin("ben")
    assert evening.partner_of("ana") == "ben"


def test_a_user_who_only_calls_is_served_like_everyone(evening: Evening) -> None:
    evening.enter(BEN)
    evening.store.people["ana"] = ANA
    evening.do(ev.Called("ana"))
    evening.spin("ana", "ben")
    assert evening.partner_of("ana") == "ben"


def test_a_caller_who_falls_silent_is_lost_and_no_longer_here(evening: Evening) -> None:
    evening.store.people["ana"] = ANA
    evening.do(ev.Called("ana"))
    evening.spin("ana")
    evening.advance(10)
    assert evening.state("ana") is State.IDLE
    assert not evening.floor.is_here("ana")


@pytest.mark.parametrize("detached", [False, True])
def test_a_silent_waiter_is_lost_after_ten_seconds(evening: Evening, detached: bool) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.silent.add("ana")
    if detached:
        evening.detach("ana")
    evening.advance(9.999999)
    assert evening.state("ana") is State.WAITING
    evening.told("ana")
    evening.advance(0.000001)
    assert evening.state("ana") is State.IDLE
    # The edge of the same instant comes first (R6).
    assert evening.told("ana") == [TierReached(Tier.FORCED), NowIdle(IdleReason.LOST)]


@pytest.mark.parametrize(
    "sign",
    [
        ev.SignOfLife("ana"),
        ev.Called("ana"),
        ev.AskSnapshot("ana"),
        ev.Spin("ana"),
        ev.ListBlocks("ana"),
        ev.Block("ana", "ben"),
        ev.Acknowledge("ana", "m999"),
        ev.Vote("ana", "m999", Vote.YES),
        ev.ProfileChanged("ana", ANA),
    ],
)
def test_any_command_even_a_refused_one_is_a_sign_of_life(evening: Evening, sign) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.silent.add("ana")
    evening.advance(9)
    evening.do(sign)
    evening.advance(9.999999)
    assert evening.state("ana") is State.WAITING
    evening.advance(0.000001)
    assert evening.state("ana") is State.IDLE


def test_a_closing_socket_is_no_sign_of_life(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.silent.add("ana")
    evening.advance(9)
    evening.detach("ana")
    evening.advance(1)
    assert evening.state("ana") is State.IDLE


def test_a_user_who_is_idle_need_not_beat(evening: Evening) -> None:
    evening.enter(ANA)
    evening.silent.add("ana")
    evening.advance(3600)
    assert evening.told("ana") == []
    assert evening.lobby.next_deadline() is None


def test_a_user_who_spins_after_a_lost_connection_on_a_date_is_timed_as_in_line(
    evening: Evening,
) -> None:
    """The longer timeout of a date must not apply in line."""
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    evening.detach("ana")
    evening.attach("ana")
    [date_id] = evening.store.dates
    evening.do(ev.EndDate("ana", date_id))
    evening.spin("ana")
    evening.silent.add("ana")
    evening.advance(10)
    assert evening.state("ana") is State.IDLE


# Blocks


def test_oneself_and_what_is_no_user_id_cannot_be_blocked(evening: Evening) -> None:
    evening.enter(ANA)
    assert refused_with(evening.do(ev.Block("ana", "ana"))) == "bad_request"
    assert refused_with(evening.do(ev.Block("ana", "no such id!"))) == "bad_request"
    assert evening.store.blocks == {}


def test_a_block_is_listed_once_with_its_first_instant(evening: Evening) -> None:
    evening.enter(ANA)
    evening.do(ev.Block("ana", "ben"))
    evening.advance(1)
    assert evening.do(ev.Block("ana", "ben")) == Done()
    assert evening.do(ev.ListBlocks("ana")) == BlockList({"ben": START})


def test_what_is_not_blocked_cannot_be_unblocked(evening: Evening) -> None:
    evening.enter(ANA)
    assert refused_with(evening.do(ev.Unblock("ana", "ben"))) == "not_found"
    evening.do(ev.Block("ana", "ben"))
    assert evening.do(ev.Unblock("ana", "ben")) == Done()
    assert evening.do(ev.ListBlocks("ana")) == BlockList({})
    assert refused_with(evening.do(ev.Unblock("ana", "ben"))) == "not_found"


def test_blocks_are_bounded() -> None:
    evening = Evening(Rules(max_blocks=2))
    evening.enter(ANA)
    evening.do(ev.Block("ana", "x1"))
    evening.do(ev.Block("ana", "x2"))
    assert refused_with(evening.do(ev.Block("ana", "x3"))) == "bad_request"
    assert evening.do(ev.Block("ana", "x2")) == Done()
    evening.do(ev.Unblock("ana", "x1"))
    assert evening.do(ev.Block("ana", "x3")) == Done()


# Looking


def test_a_snapshot_says_where_one_stands(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    assert evening.snapshot("ana") == Snapshot(State.IDLE, 0)
    evening.spin("ana")
    assert evening.snapshot("ana") == Snapshot(
        State.WAITING, 0, waiting_since=START, tier=Tier.EXACT
    )
    evening.spin("ben")
    snapshot = evening.snapshot("ana")
    assert (snapshot.state, snapshot.waiting_since) == (State.MATCHED, None)
    assert snapshot.tier is None
    assert snapshot.match is not None
    assert snapshot.match.partner.user_id == "ben"
    assert snapshot.match.acknowledge_by == after(START, 5)
    assert (snapshot.match.vote_by, snapshot.match.acknowledged) == (None, False)
    evening.acknowledge("ana", "ben")
    match = evening.snapshot("ana").match
    assert match is not None
    assert (match.acknowledge_by, match.vote_by) == (None, after(START, 10))
    assert (match.acknowledged, match.voted) == (True, False)


def test_a_snapshot_remembers_the_last_outcome(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.PASS)
    snapshot = evening.snapshot("ana")
    assert (snapshot.last_outcome, snapshot.last_match_id) == (Outcome.YES_PASS, match_id)
    assert snapshot.match is None
    assert snapshot.credit == 10


# Rounds


def test_an_undone_round_never_happened_and_can_be_handled_anew() -> None:
    lobby = Lobby(Rules())
    for device, who in enumerate((ANA, BEN), start=1):
        lobby.handle(ev.Entered(who.user_id, Known(who.user_id, who)), START)
        lobby.handle(ev.Attached(who.user_id, device), START)
    lobby.handle(ev.Spin("ana"), START)
    lobby.settle()
    ana = lobby.floor.seat("ana")
    first = lobby.handle(ev.Spin("ben"), START)
    lobby.undo()
    assert lobby.floor.seat("ana") == ana
    assert lobby.floor.seat("ben").state is State.IDLE
    assert not lobby.changes()
    assert audit_floor(lobby.floor, START) == []
    second = lobby.handle(ev.Spin("ben"), START)
    assert [type(notice) for _, notice in second.notices] == [
        type(notice) for _, notice in first.notices
    ]
    assert lobby.changes().matches[0].users == ("ana", "ben")


def test_an_undone_wake_is_due_again() -> None:
    lobby = Lobby(Rules())
    lobby.handle(ev.Entered("ana", Known("ana", ANA)), START)
    lobby.handle(ev.Attached("ana", 1), START)
    lobby.handle(ev.Spin("ana"), START)
    lobby.settle()
    told: list[tuple[float, list[Notice]]] = [
        (2.0, [TierReached(Tier.WIDER)]),
        (10.0, [TierReached(Tier.FORCED), NowIdle(IdleReason.LOST)]),
    ]
    for due_s, notices in told:
        due = lobby.next_deadline()
        assert due == after(START, due_s)
        first = lobby.wake(due)
        assert first == [("ana", notice) for notice in notices]
        lobby.undo()
        assert lobby.floor.seat("ana").state is State.WAITING
        assert lobby.next_deadline() == due
        assert lobby.wake(due) == first
        lobby.settle()


def test_a_date_whose_end_was_undone_goes_on_through_the_next_round(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    [date_id] = evening.store.dates
    evening.lobby.handle(ev.EndDate("ana", date_id), evening.now)
    evening.lobby.undo()
    evening.do(ev.SignOfLife("ana"))
    date = evening.snapshot("ana").date
    assert date is not None
    assert date.date_id == date_id
    evening.advance(300)
    assert evening.store.dates[date_id].ended_for == "time_up"


def test_to_enter_twice_changes_nothing(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.lobby.handle(ev.Entered("ana", Known("ana", BEN)), evening.now)
    assert evening.state("ana") is State.WAITING
    assert evening.floor.person("ana") == ANA


def test_a_user_who_is_busy_or_connected_is_not_forgotten(evening: Evening) -> None:
    evening.enter(ANA)
    assert not evening.lobby.forget("ana"), "a socket is open"
    evening.spin("ana")
    evening.detach("ana")
    assert not evening.lobby.forget("ana"), "she waits"
    evening.advance(10)
    assert evening.lobby.forget("ana")
    assert evening.lobby.forget("nobody")
    assert evening.floor.seats.rows == evening.floor.people.rows == {}
    assert evening.floor.heard_at == {}


def test_a_user_who_was_forgotten_comes_back_with_credit_history_and_last_match(
    evening: Evening,
) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.PASS)
    for user_id in ("ana", "ben"):
        evening.leave(user_id)
        evening.detach(user_id)
        assert evening.lobby.forget(user_id)
    assert evening.floor.matches.rows == {}
    assert evening.floor.acquaintance.met.rows == {}
    evening.attach("ana"), evening.attach("ben")
    snapshot = evening.snapshot("ana")
    assert (snapshot.credit, snapshot.last_match_id) == (10, match_id)
    assert refused_with(evening.vote("ana", Vote.PASS, match_id)) == "already_voted"
    evening.spin("ana", "ben")
    assert evening.state("ana") is State.WAITING, "they have met"
