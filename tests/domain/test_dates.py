"""Video dates: how they begin and end (R22)."""

from __future__ import annotations

import pytest

from tests.domain.crowds import man, woman
from tests.domain.evening import Evening, only, refused_with
from yoked_actor.domain.lobby import DateEnd, DateEnded, State, Vote
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import DateStarted, OutcomeReached, Signalled
from yoked_actor.domain.lobby.replies import Done
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after

ANA, BEN = woman("ana"), man("ben")


@pytest.fixture
def evening() -> Evening:
    return Evening()


def _open_date(evening: Evening) -> str:
    evening.open_voting(ANA, BEN)
    evening.told("ana"), evening.told("ben")
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    date_id = evening.seat("ana").date_id
    assert date_id is not None
    return date_id


def _endings(evening: Evening) -> list[DateEnd]:
    return [only(evening.told(user_id), DateEnded).reason for user_id in ("ana", "ben")]


def test_two_yeses_open_a_date_and_exactly_one_calls(evening: Evening) -> None:
    date_id = _open_date(evening)
    started = [only(evening.told(user_id), DateStarted) for user_id in ("ana", "ben")]
    assert {notice.date_id for notice in started} == {date_id}
    assert [notice.partner.user_id for notice in started] == ["ben", "ana"]
    assert sorted(notice.initiator for notice in started) == [False, True]
    assert {notice.ends_at for notice in started} == {after(evening.now, 300)}
    assert evening.state("ana") is evening.state("ben") is State.IDLE


def test_the_outcome_is_told_before_the_date(evening: Evening) -> None:
    _open_date(evening)
    told = evening.told("ana")
    assert told.index(only(told, OutcomeReached)) < told.index(only(told, DateStarted))


def test_a_date_is_shown_in_the_snapshot_of_both_until_it_ends(evening: Evening) -> None:
    date_id = _open_date(evening)
    views = [evening.snapshot(user_id).date for user_id in ("ana", "ben")]
    assert [view and view.date_id for view in views] == [date_id, date_id]
    assert [view and view.initiator for view in views] == [True, False]
    evening.do(ev.EndDate("ben", date_id))
    assert evening.snapshot("ana").date is None


def test_a_date_ends_by_itself_after_its_length(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.advance(299.999999)
    assert evening.seat("ana").date_id == date_id
    evening.advance(0.000001)
    assert evening.seat("ana").date_id is evening.seat("ben").date_id is None
    assert _endings(evening) == [DateEnd.TIME_UP, DateEnd.TIME_UP]
    stored = evening.store.dates[date_id]
    assert (stored.ended_at, stored.ended_for) == (evening.now, "time_up")
    assert evening.floor.dates.rows == {}


def test_either_may_end_a_date_and_each_is_told_as_it_looks_to_them(evening: Evening) -> None:
    date_id = _open_date(evening)
    assert evening.do(ev.EndDate("ben", date_id)) == Done()
    assert _endings(evening) == [DateEnd.PARTNER_ENDED, DateEnd.ENDED]
    assert evening.store.dates[date_id].ended_for == "ended"
    evening.spin("ana")
    assert evening.state("ana") is State.WAITING


def test_a_date_that_is_over_or_foreign_cannot_be_ended(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.enter(woman("cleo"))
    assert refused_with(evening.do(ev.EndDate("cleo", date_id))) == "not_found"
    assert refused_with(evening.do(ev.EndDate("ana", "d999"))) == "not_found"
    assert evening.seat("ana").date_id == date_id
    evening.do(ev.EndDate("ana", date_id))
    assert refused_with(evening.do(ev.EndDate("ana", date_id))) == "not_found"


def test_a_block_on_a_date_ends_it_without_saying_why(evening: Evening) -> None:
    _open_date(evening)
    evening.do(ev.Block("ana", "ben"))
    assert _endings(evening) == [DateEnd.ENDED, DateEnd.PARTNER_ENDED]


def test_a_connected_partner_may_be_silent_for_the_whole_date(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.silent |= {"ana", "ben"}
    evening.advance(299)
    assert evening.seat("ana").date_id == date_id


@pytest.mark.parametrize("silent_s", [0.0, 100.0])
def test_a_partner_who_went_away_ends_the_date_after_the_grace(
    evening: Evening, silent_s: float
) -> None:
    """The grace period begins when the socket closes: a user on a date sends no heartbeats."""
    date_id = _open_date(evening)
    evening.silent.add("ben")
    evening.advance(silent_s)
    evening.detach("ben")
    evening.advance(59.999999)
    assert evening.seat("ana").date_id == date_id
    evening.advance(0.000001)
    assert evening.seat("ana").date_id is None
    assert _endings(evening) == [DateEnd.PARTNER_LOST, DateEnd.ENDED]
    assert evening.store.dates[date_id].ended_for == "partner_lost"


def test_a_partner_who_comes_back_within_the_grace_saves_the_date(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.detach("ben")
    evening.advance(50)
    evening.attach("ben")
    evening.advance(100)
    assert evening.seat("ana").date_id == date_id


def test_one_who_is_away_when_the_date_opens_is_waited_for_and_then_lost(
    evening: Evening,
) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ben", Vote.YES)
    evening.detach("ben")
    evening.vote("ana", Vote.YES)
    assert evening.seat("ana").date_id is not None
    evening.advance(60)
    assert only(evening.told("ana"), DateEnded).reason is DateEnd.PARTNER_LOST


def test_the_timer_of_an_ended_date_never_touches_a_newer_one() -> None:
    evening = Evening(Rules(rematch_after_days=0, date_length_s=100))
    first = _open_date(evening)
    evening.do(ev.EndDate("ana", first))
    evening.advance(1)
    second = _open_date(evening)
    evening.told("ana")
    evening.advance(99.5)
    assert evening.seat("ana").date_id == second
    evening.advance(0.5)
    assert evening.seat("ana").date_id is None


# Signals


def _signals(evening: Evening, user_id: str) -> list[bytes]:
    return [notice.data for notice in evening.told(user_id) if isinstance(notice, Signalled)]


def test_a_signal_goes_to_the_partner_and_changes_nothing_that_is_stored(
    evening: Evening,
) -> None:
    date_id = _open_date(evening)
    evening.enter(woman("cleo"))
    effects = evening.lobby.handle(ev.Signal("ana", date_id, b"1"), evening.now)
    assert effects.reply == Done()
    assert effects.notices == [("ben", Signalled(date_id, b"1"))]
    assert not evening.lobby.changes()


def test_a_signal_is_for_the_open_date_of_who_sends_it(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.enter(woman("cleo"))
    assert refused_with(evening.do(ev.Signal("cleo", date_id, b"1"))) == "not_found"
    assert refused_with(evening.do(ev.Signal("ana", "d999", b"1"))) == "not_found"
    evening.do(ev.EndDate("ana", date_id))
    assert refused_with(evening.do(ev.Signal("ana", date_id, b"1"))) == "not_found"
    assert _signals(evening, "ana") == _signals(evening, "ben") == []


def test_signals_count_as_activity(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.silent |= {"ana", "ben"}
    evening.advance(5)
    evening.do(ev.Signal("ana", date_id, b"1"))
    assert evening.floor.heard_at["ana"] == evening.now > evening.floor.heard_at["ben"]


def test_so_many_signals_wait_for_a_partner_who_is_away() -> None:
    evening = Evening(Rules(max_kept_signals=2))
    date_id = _open_date(evening)
    evening.detach("ben")
    for data in (b"1", b"2"):
        assert evening.do(ev.Signal("ana", date_id, data)) == Done()
    assert refused_with(evening.do(ev.Signal("ana", date_id, b"3"))) == "rate_limited"
    # Who is away may be told more only when they are back; the other way nothing is kept.
    assert evening.do(ev.Signal("ben", date_id, b"hello")) == Done()
    evening.attach("ben")
    for data in (b"4", b"5", b"6"):
        assert evening.do(ev.Signal("ana", date_id, data)) == Done()
    evening.detach("ben")
    assert evening.do(ev.Signal("ana", date_id, b"7")) == Done()
    assert _signals(evening, "ben") == [b"1", b"2", b"4", b"5", b"6", b"7"]


def test_what_waits_is_counted_anew_on_the_next_date() -> None:
    evening = Evening(Rules(rematch_after_days=0, max_kept_signals=1))
    first = _open_date(evening)
    evening.detach("ben")
    evening.do(ev.Signal("ana", first, b"1"))
    assert refused_with(evening.do(ev.Signal("ana", first, b"2"))) == "rate_limited"
    evening.do(ev.EndDate("ana", first))
    evening.attach("ben")
    evening.open_voting(ANA, BEN)
    evening.vote("ben", Vote.YES)
    evening.detach("ben")
    evening.vote("ana", Vote.YES)
    second = evening.seat("ana").date_id
    assert second is not None
    assert evening.do(ev.Signal("ana", second, b"3")) == Done()


def test_signals_of_a_round_that_could_not_be_stored_are_not_counted_twice() -> None:
    evening = Evening(Rules(max_kept_signals=1))
    date_id = _open_date(evening)
    evening.detach("ben")
    for _ in range(3):
        effects = evening.lobby.handle(ev.Signal("ana", date_id, b"1"), evening.now)
        assert effects.reply == Done()
        evening.lobby.undo()
