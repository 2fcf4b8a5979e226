"""Calls of two who have a connection: how they ring, and how they end (R24)."""

from __future__ import annotations

import pytest

from tests.domain.crowds import man, woman
from tests.domain.evening import Evening, only, refused_with
from yoked_actor.domain.lobby import CallEnd, DateEnd, DateEnded, Lobby, State
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import (
    CallEnded,
    DateStarted,
    IdleReason,
    Matched,
    Notice,
    NowIdle,
    NowWaiting,
    Ringing,
)
from yoked_actor.domain.lobby.replies import CallPlaced, DateOpened, Done
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after

ANA, BEN, CARL = woman("ana"), man("ben"), man("carl")


@pytest.fixture
def evening() -> Evening:
    evening = Evening()
    evening.enter(ANA, BEN)
    return evening


def _call(evening: Evening, caller: str = "ben", callee: str = "ana") -> CallPlaced:
    reply = evening.do(ev.StartDate(caller, callee, "c1"))
    assert isinstance(reply, CallPlaced), reply
    return reply


def _refused(evening: Evening, caller: str = "ben", callee: str = "ana") -> str:
    return refused_with(evening.do(ev.StartDate(caller, callee, "c1")))


def _ends(evening: Evening) -> list[CallEnd]:
    """How the call ended, for the caller and the callee; nothing rings any more."""
    ends = [only(evening.told(user_id), CallEnded).reason for user_id in ("ben", "ana")]
    assert [evening.snapshot(user_id).call for user_id in ("ben", "ana")] == [None, None]
    return ends


# How it rings


def test_a_call_rings_on_the_other_side_and_opens_nothing(evening: Evening) -> None:
    placed = _call(evening)
    assert placed.ring_until == after(evening.now, 15)
    ringing = only(evening.told("ana"), Ringing)
    assert (ringing.call_id, ringing.connection_id) == (placed.call_id, "c1")
    assert (ringing.partner.user_id, ringing.ring_until) == ("ben", placed.ring_until)
    assert evening.told("ben") == []
    assert evening.store.dates == {}


def test_a_call_is_in_the_snapshot_of_both(evening: Evening) -> None:
    placed = _call(evening)
    views = [evening.snapshot(user_id).call for user_id in ("ben", "ana")]
    assert [view and view.incoming for view in views] == [False, True]
    assert [view and view.partner.user_id for view in views] == ["ana", "ben"]
    assert {view and view.call_id for view in views} == {placed.call_id}
    assert {view and view.ring_until for view in views} == {placed.ring_until}


def test_an_accepted_call_opens_a_date_whose_initiator_is_the_caller(evening: Evening) -> None:
    placed = _call(evening)
    reply = evening.do(ev.AcceptCall("ana", placed.call_id))
    assert isinstance(reply, DateOpened)
    told = {user_id: evening.told(user_id) for user_id in ("ana", "ben")}
    for notices in told.values():
        ended, started = only(notices, CallEnded), only(notices, DateStarted)
        assert ended == CallEnded(placed.call_id, CallEnd.ACCEPTED)
        assert notices.index(ended) < notices.index(started)
        assert started.date_id == reply.date_id
    assert [only(told[u], DateStarted).initiator for u in ("ana", "ben")] == [False, True]
    stored = evening.store.dates[reply.date_id]
    assert (stored.a, stored.b, stored.ended_at) == ("ben", "ana", None)
    evening.advance(300)
    assert {only(evening.told(u), DateEnded).reason for u in ("ana", "ben")} == {DateEnd.TIME_UP}


def test_a_waiting_callee_who_accepts_leaves_the_line(evening: Evening) -> None:
    evening.spin("ana")
    evening.told("ana")
    placed = _call(evening)
    evening.do(ev.AcceptCall("ana", placed.call_id))
    kinds = [type(notice) for notice in evening.told("ana")]
    assert kinds == [Ringing, CallEnded, NowIdle, DateStarted]
    assert evening.state("ana") is State.IDLE
    assert "ana" not in evening.floor.pool


# How it ends


def test_a_declined_call_ends_for_both(evening: Evening) -> None:
    placed = _call(evening)
    assert evening.do(ev.DeclineCall("ana", placed.call_id)) == Done()
    assert _ends(evening) == [CallEnd.DECLINED, CallEnd.DECLINED]


def test_a_cancelled_call_ends_for_both(evening: Evening) -> None:
    placed = _call(evening)
    assert evening.do(ev.CancelCall("ben", placed.call_id)) == Done()
    assert _ends(evening) == [CallEnd.CANCELLED, CallEnd.CANCELLED]


def test_a_call_that_nobody_answers_is_missed_after_its_time(evening: Evening) -> None:
    placed = _call(evening)
    evening.advance(14.999999)
    assert evening.snapshot("ana").call is not None
    evening.advance(0.000001)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]
    assert refused_with(evening.do(ev.AcceptCall("ana", placed.call_id))) == "not_found"


def test_how_long_a_call_rings_is_a_rule() -> None:
    evening = Evening(Rules(ring_s=3.0))
    evening.enter(ANA, BEN)
    _call(evening)
    evening.advance(3)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]


def test_a_caller_who_spins_cancels_the_call(evening: Evening) -> None:
    evening.enter(woman("zoe"))
    evening.spin("zoe")
    _call(evening)
    evening.spin("ben")
    kinds = [type(notice) for notice in evening.told("ben")]
    assert kinds == [CallEnded, Matched]
    assert only(evening.told("ana"), CallEnded).reason is CallEnd.CANCELLED


def test_a_callee_who_spins_is_still_called_until_the_line_brings_a_match(evening: Evening) -> None:
    placed = _call(evening)
    evening.spin("ana")
    assert isinstance(evening.told("ana")[-1], NowWaiting)
    evening.enter(CARL)
    evening.spin("carl")
    kinds = [type(notice) for notice in evening.told("ana")]
    assert kinds == [CallEnded, Matched]
    assert only(evening.told("ben"), CallEnded) == CallEnded(placed.call_id, CallEnd.BUSY)
    assert refused_with(evening.do(ev.AcceptCall("ana", placed.call_id))) == "not_found"


def test_a_callee_in_a_match_is_busy_at_once(evening: Evening) -> None:
    evening.enter(CARL)
    evening.spin("ana", "carl")
    evening.told("ana")
    placed = _call(evening)
    assert evening.told("ben") == [CallEnded(placed.call_id, CallEnd.BUSY)]
    assert evening.told("ana") == [CallEnded(placed.call_id, CallEnd.BUSY)]
    assert evening.snapshot("ben").call is None


def test_a_callee_on_a_date_or_in_another_call_is_busy_at_once(evening: Evening) -> None:
    evening.enter(CARL)
    first = _call(evening)
    assert only(_after_call_of_carl(evening), CallEnded).reason is CallEnd.BUSY
    evening.do(ev.AcceptCall("ana", first.call_id))
    assert only(_after_call_of_carl(evening), CallEnded).reason is CallEnd.BUSY
    assert evening.snapshot("ana").date is not None


def _after_call_of_carl(evening: Evening) -> list[Notice]:
    _call(evening, "carl")
    return evening.told("carl")


@pytest.mark.parametrize(
    ("blocker", "blocked", "why"),
    [("ana", "ben", CallEnd.DECLINED), ("ben", "ana", CallEnd.CANCELLED)],
)
def test_a_block_ends_a_call_and_looks_like_a_decline_or_a_cancel(
    evening: Evening, blocker: str, blocked: str, why: CallEnd
) -> None:
    placed = _call(evening)
    evening.do(ev.Block(blocker, blocked))
    assert _ends(evening) == [why, why]
    assert refused_with(evening.do(ev.AcceptCall("ana", placed.call_id))) == "not_found"
    assert _refused(evening) == _refused(evening, "ana", "ben") == "not_found"


@pytest.mark.parametrize("removed", ["ana", "ben"])
@pytest.mark.parametrize("is_erased", [False, True])
def test_the_partner_of_a_removed_user_is_told_that_the_call_is_lost(
    evening: Evening, removed: str, is_erased: bool
) -> None:
    _call(evening)
    other = "ben" if removed == "ana" else "ana"
    evening.told(removed)
    evening.do(ev.Erase(removed, "~erased-1") if is_erased else ev.Expel(removed))
    assert only(evening.told(other), CallEnded).reason is CallEnd.LOST
    assert evening.told(removed) == []
    assert evening.floor.calls.ringing.rows == {}


# Presence


@pytest.mark.parametrize("gone", ["ana", "ben"])
def test_a_user_who_loses_the_socket_and_stays_away_is_lost(evening: Evening, gone: str) -> None:
    _call(evening)
    evening.advance(2)
    evening.detach(gone)
    evening.advance(9.999999)
    assert evening.floor.calls.of("ana") is not None
    evening.advance(0.000001)
    assert _ends(evening) == [CallEnd.LOST, CallEnd.LOST]


@pytest.mark.parametrize("gone", ["ana", "ben"])
def test_a_user_who_is_back_in_time_finds_the_call_in_the_snapshot(
    evening: Evening, gone: str
) -> None:
    placed = _call(evening)
    evening.advance(1)
    evening.detach(gone)
    evening.advance(9)
    evening.attach(gone)
    view = evening.snapshot(gone).call
    assert view is not None
    assert view.call_id == placed.call_id
    evening.advance(5)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]


def test_a_second_device_can_answer_and_the_end_of_the_first_changes_nothing(
    evening: Evening,
) -> None:
    placed = _call(evening)
    evening.attach("ana")
    evening.do(ev.Detached("ana", 1))
    evening.advance(12)
    assert isinstance(evening.do(ev.AcceptCall("ana", placed.call_id)), DateOpened)


def test_a_caller_without_a_socket_is_watched_by_calls_over_http(evening: Evening) -> None:
    evening.detach("ben")
    evening.silent.add("ben")
    evening.do(ev.Called("ben"))
    _call(evening)
    evening.advance(9)
    evening.do(ev.SignOfLife("ben"))
    evening.advance(5.9)
    assert evening.floor.calls.of("ben") is not None
    evening.told("ben"), evening.told("ana")
    evening.advance(0.1)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]
    _call(evening)
    evening.told("ben"), evening.told("ana")
    evening.advance(10)
    assert _ends(evening) == [CallEnd.LOST, CallEnd.LOST]


def test_a_callee_who_is_lost_from_the_line_is_lost_to_the_call(evening: Evening) -> None:
    evening.spin("ana")
    evening.silent.add("ana")
    _call(evening)
    evening.advance(10)
    told = evening.told("ana")
    assert only(told, CallEnded).reason is CallEnd.LOST
    assert only(told, NowIdle).reason is IdleReason.LOST
    assert only(evening.told("ben"), CallEnded).reason is CallEnd.LOST


def test_a_waiting_callee_who_loses_the_socket_is_lost_no_later_than_without_a_call(
    evening: Evening,
) -> None:
    evening.spin("ana")
    evening.silent.add("ana")
    evening.advance(8)
    _call(evening)
    evening.detach("ana")
    evening.advance(2)
    assert only(evening.told("ana"), NowIdle).reason is IdleReason.LOST


def test_nobody_can_be_called_who_is_away_or_unknown(evening: Evening) -> None:
    evening.detach("ana")
    assert _refused(evening) == "wrong_state"
    assert _refused(evening, callee="nobody") == "wrong_state"
    assert evening.snapshot("ben").call is None


def test_one_without_a_socket_can_be_called_for_a_while_after_a_word_over_http(
    evening: Evening,
) -> None:
    evening.detach("ana")
    evening.silent.add("ana")
    evening.do(ev.Called("ana"))
    evening.advance(10)
    assert _refused(evening) == "wrong_state"
    evening.do(ev.SignOfLife("ana"))
    evening.advance(9.999999)
    _call(evening)


def test_a_user_in_a_call_does_not_leave_memory(evening: Evening) -> None:
    evening.do(ev.Called("ben"))
    evening.detach("ben")
    evening.do(ev.Called("ben"))
    _call(evening)
    assert not evening.lobby.forget("ben")
    evening.advance(15)
    assert evening.lobby.forget("ben")


# Who may do what


def test_calls_that_cross_are_an_acceptance(evening: Evening) -> None:
    placed = _call(evening)
    crossing = _call(evening, "ana", "ben")
    assert crossing == placed
    assert only(evening.told("ben"), CallEnded).reason is CallEnd.ACCEPTED
    assert evening.seat("ana").date_id == evening.seat("ben").date_id is not None


def test_a_repeated_call_is_the_same_call(evening: Evening) -> None:
    placed = _call(evening)
    evening.advance(1)
    assert _call(evening) == placed
    assert len([n for n in evening.told("ana") if isinstance(n, Ringing)]) == 1


def test_a_user_is_in_one_call_at_a_time(evening: Evening) -> None:
    evening.enter(CARL)
    _call(evening)
    assert _refused(evening, "ben", "carl") == "wrong_state"
    assert _refused(evening, "ana", "carl") == "wrong_state"


def test_a_caller_is_neither_in_line_nor_in_a_match_nor_on_a_date(evening: Evening) -> None:
    evening.enter(CARL)
    evening.spin("ben")
    assert _refused(evening) == "wrong_state"
    evening.spin("ana")
    assert _refused(evening, "ben", "carl") == "wrong_state"
    evening.leave("ana")
    evening.leave("ben")
    evening.do(ev.AcceptCall("ana", _call(evening).call_id))
    assert _refused(evening) == _refused(evening, "ana", "ben") == "on_a_date"


def test_only_the_callee_answers_and_only_the_caller_cancels(evening: Evening) -> None:
    evening.enter(CARL)
    call_id = _call(evening).call_id
    for event in (
        ev.AcceptCall("ben", call_id),
        ev.DeclineCall("ben", call_id),
        ev.CancelCall("ana", call_id),
    ):
        assert refused_with(evening.do(event)) == "wrong_state"
    for kind in (ev.AcceptCall, ev.DeclineCall, ev.CancelCall):
        assert refused_with(evening.do(kind("carl", call_id))) == "not_found"
        assert refused_with(evening.do(kind("ana", "r404"))) == "not_found"
    assert evening.snapshot("ana").call is not None


def test_without_a_profile_nobody_calls_and_nobody_calls_themselves(evening: Evening) -> None:
    assert _refused(evening, "stranger", "ana") == "profile_incomplete"
    assert _refused(evening, "ana", "ana") == "not_found"


def test_one_user_calls_another_a_few_times_within_a_while() -> None:
    evening = Evening(Rules(calls_per_pair=2, calls_within_s=100.0))
    evening.enter(ANA, BEN, CARL)
    for _ in range(2):
        evening.do(ev.DeclineCall("ana", _call(evening).call_id))
        evening.advance(20)
    assert _refused(evening) == "rate_limited"
    _call(evening, "ben", "carl")
    evening.advance(20)
    _call(evening, "ana", "ben")
    evening.advance(39.999999)
    assert _refused(evening) == "rate_limited"
    evening.advance(0.000001)
    evening.do(ev.DeclineCall("ana", _call(evening).call_id))
    assert _refused(evening) == "rate_limited"


def test_an_accepted_call_starts_the_count_again() -> None:
    evening = Evening(Rules(calls_per_pair=1))
    evening.enter(ANA, BEN)
    for _ in range(3):
        opened = evening.do(ev.AcceptCall("ana", _call(evening).call_id))
        assert isinstance(opened, DateOpened)
        evening.do(ev.EndDate("ana", opened.date_id))


# Restart, stop, failed commits, clock


def test_a_restart_forgets_a_call_and_a_late_answer_meets_no_other_call(evening: Evening) -> None:
    old = _call(evening)
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    assert evening.snapshot("ana").call is None
    assert refused_with(evening.do(ev.AcceptCall("ana", old.call_id))) == "not_found"
    assert _call(evening).call_id != old.call_id
    assert refused_with(evening.do(ev.AcceptCall("ana", old.call_id))) == "not_found"


def test_calls_end_when_the_server_is_about_to_stop(evening: Evening) -> None:
    _call(evening)
    evening.lobby.stop_pairing()
    told = dict(evening.lobby.wake(evening.now))
    reasons = [told[user] for user in ("ana", "ben")]
    assert [isinstance(n, CallEnded) and n.reason for n in reasons] == [CallEnd.LOST] * 2
    assert evening.floor.calls.ringing.rows == {}


def test_an_undone_call_does_not_ring_and_an_undone_end_rings_on() -> None:
    evening = Evening()
    evening.enter(ANA, BEN)
    lobby: Lobby = evening.lobby
    lobby.handle(ev.StartDate("ben", "ana", "c1"), evening.now)
    lobby.undo()
    assert evening.floor.calls.of("ana") is None
    assert evening.floor.calls.count("ben", "ana") == 0
    call_id = _call(evening).call_id
    lobby.handle(ev.AcceptCall("ana", call_id), evening.now)
    lobby.undo()
    evening.advance(15)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]
    assert evening.store.dates == {}


def test_a_step_of_the_clock_changes_no_ring(evening: Evening) -> None:
    _call(evening)
    evening.advance(5)
    evening.now += 3_600_000_000
    evening.lobby.step_clock(3_600_000_000, evening.now)
    evening.advance(9.999999)
    assert evening.floor.calls.of("ana") is not None
    evening.advance(0.000001)
    assert _ends(evening) == [CallEnd.MISSED, CallEnd.MISSED]
