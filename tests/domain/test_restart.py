"""After a restart (R18): the grace period, resumed matches, cancelled matches."""

from __future__ import annotations

import pytest

from tests.domain.crowds import man, woman
from tests.domain.evening import Evening, only, refused_with
from yoked_actor.domain.lobby import (
    CancelReason,
    DateEnd,
    DateEnded,
    IdleReason,
    NowIdle,
    Outcome,
    State,
    Vote,
    WaitReason,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import (
    MatchCancelled,
    Matched,
    NowWaiting,
    OutcomeReached,
    TierReached,
    VotingOpened,
)
from yoked_actor.domain.lobby.replies import Snapshot, VoteReply
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.time import after

ANA, BEN = woman("ana"), man("ben")


@pytest.fixture
def evening() -> Evening:
    return Evening()


def test_a_user_who_waits_and_comes_back_within_the_grace_keeps_place_and_credit(
    evening: Evening,
) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.PASS)
    since = evening.now
    evening.restart()
    evening.advance(59)
    assert evening.attach("ana") == Snapshot(
        State.WAITING,
        10,
        waiting_since=since,
        tier=Tier.FORCED,
        last_outcome=Outcome.YES_PASS,
        last_match_id=match_id,
    )
    tiers = [TierReached(Tier.WIDER), TierReached(Tier.FORCED)]
    assert evening.told("ana") == [*tiers, NowWaiting(since, WaitReason.RESUMED)]
    evening.advance(1)
    assert evening.state("ana") is State.WAITING
    assert evening.state("ben") is State.IDLE


def test_a_user_who_does_not_come_back_is_lost_when_the_grace_ends(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.restart()
    evening.advance(59.999999)
    assert evening.state("ana") is State.WAITING
    assert evening.told("ana") == [TierReached(Tier.WIDER), TierReached(Tier.FORCED)]
    evening.advance(0.000001)
    assert evening.state("ana") is State.IDLE
    assert evening.told("ana") == [NowIdle(IdleReason.LOST)]


def test_nobody_is_paired_before_they_are_back(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.restart()
    evening.enter(BEN)
    evening.spin("ben")
    assert evening.state("ben") is State.WAITING
    evening.attach("ana")
    assert evening.partner_of("ben") == "ana"


@pytest.mark.parametrize("coming_back", [ev.Attached("ana", 9), ev.Called("ana"), None])
def test_a_user_who_came_back_and_falls_silent_is_lost_after_ten_seconds_not_after_the_grace(
    evening: Evening, coming_back
) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.restart()
    evening.advance(1)
    evening.silent.add("ana")
    evening.do(coming_back or ev.SignOfLife("ana"))
    evening.advance(9.999999)
    assert evening.state("ana") is State.WAITING
    evening.advance(0.000001)
    assert evening.state("ana") is State.IDLE


# Matches


def test_the_acknowledge_window_starts_afresh_when_the_second_one_is_back(
    evening: Evening,
) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.advance(4)
    evening.restart()
    evening.advance(20)
    evening.attach("ana")
    assert evening.told("ana") == []
    view = evening.snapshot("ana").match
    assert view is not None
    assert (view.match_id, view.acknowledge_by) == (match_id, None)
    evening.advance(20)
    evening.attach("ben")
    for user_id in ("ana", "ben"):
        notice = only(evening.told(user_id), Matched)
        assert (notice.match_id, notice.acknowledge_by) == (match_id, after(evening.now, 5))
    evening.advance(4.9)
    evening.acknowledge("ana", "ben")
    assert evening.state("ana") is State.VOTING


def test_a_fresh_window_that_passes_cancels_as_ever(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    evening.acknowledge("ana")
    evening.advance(5)
    assert evening.store.matches[match_id].cancelled_for is CancelReason.NOT_ACKNOWLEDGED
    assert evening.store.bars == {("ana", "ben"): after(evening.now, 60)}


def test_an_acknowledgement_given_before_the_restart_stands(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.acknowledge("ana")
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    evening.told("ana")
    evening.acknowledge("ben")
    assert evening.told("ana") == [VotingOpened(match_id, after(evening.now, 10))]


def test_voting_opens_with_the_second_one_when_both_acknowledged_across_the_restart(
    evening: Evening,
) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.acknowledge("ben")
    evening.restart()
    evening.attach("ana")
    evening.acknowledge("ana")
    assert evening.state("ana") is State.MATCHED, "ben is not back"
    assert evening.store.met == {}
    evening.advance(10)
    evening.attach("ben")
    assert evening.told("ben") == [VotingOpened(match_id, after(evening.now, 10))]
    assert list(evening.store.met) == [("ana", "ben")]


def test_a_vote_given_before_the_restart_stands_and_the_window_starts_afresh(
    evening: Evening,
) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.advance(9)
    evening.restart()
    evening.advance(30)
    evening.attach("ana")
    assert refused_with(evening.vote("ana", Vote.PASS)) == "already_voted"
    evening.attach("ben")
    for user_id in ("ana", "ben"):
        assert only(evening.told(user_id), VotingOpened).vote_by == after(evening.now, 10)
    evening.advance(9)
    assert evening.vote("ben", Vote.PASS) == VoteReply(Outcome.YES_PASS)
    assert evening.store.matches[match_id].outcome is Outcome.YES_PASS


def test_the_meeting_is_recorded_once_across_a_restart(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    met = dict(evening.store.met)
    evening.advance(3)
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    assert evening.store.met == met


@pytest.mark.parametrize("voting", [False, True])
def test_a_match_whose_partner_stays_away_is_cancelled_as_the_servers_fault(
    evening: Evening, voting: bool
) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    since = evening.now
    evening.advance(2)
    evening.spin("ben")
    match_id = evening.match_id("ana")
    if voting:
        evening.acknowledge("ana", "ben")
        evening.vote("ben", Vote.YES)
    evening.restart()
    evening.advance(30)
    evening.attach("ana")
    evening.told("ana")
    evening.advance(30)
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.SERVER_RESTART, State.WAITING),
        NowWaiting(since, WaitReason.RESUMED),
    ]
    assert (evening.seat("ana").waiting_since, evening.seat("ana").credit) == (since, 0)
    assert evening.state("ben") is State.IDLE
    assert evening.store.met == evening.store.bars == {}
    evening.attach("ben")
    evening.spin("ben")
    assert evening.partner_of("ana") == "ben", "they have not met, and are not barred"


def test_when_neither_comes_back_the_match_is_the_servers_fault_too(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.restart()
    evening.advance(60)
    assert evening.store.matches[match_id].cancelled_for is CancelReason.SERVER_RESTART
    assert evening.state("ana") is evening.state("ben") is State.IDLE
    assert evening.seat("ana").credit == 0
    assert evening.store.met == {}


def test_one_who_is_back_may_leave_without_waiting_for_the_other(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    ben_since = evening.now
    evening.restart()
    evening.attach("ana")
    evening.leave("ana")
    assert evening.state("ana") is State.IDLE
    evening.advance(10)
    evening.attach("ben")
    assert evening.told("ben")[-1] == NowWaiting(ben_since, WaitReason.RESUMED)
    assert evening.store.bars == {}


def test_a_match_outlives_two_restarts(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.restart()
    evening.attach("ana")
    evening.restart()
    evening.attach("ben")
    assert evening.told("ben") == [], "ana is not back from the second restart"
    evening.attach("ana")
    assert only(evening.told("ben"), Matched).match_id == match_id


def test_a_new_match_never_takes_the_id_of_an_old_one(evening: Evening) -> None:
    first = evening.pair(ANA, BEN)
    evening.restart()
    assert evening.pair(woman("cleo"), man("dan")) != first


# The rest of what is remembered


def test_a_bar_survives_the_restart_and_ends_in_time(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.leave("ben")
    evening.advance(20)
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    evening.spin("ben")
    evening.advance(39.999999)
    assert evening.state("ana") is State.WAITING
    evening.advance(0.000001)
    assert evening.partner_of("ana") == "ben"


def test_history_and_blocks_survive_the_restart(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.PASS)
    evening.vote("ben", Vote.PASS)
    evening.do(ev.Block("ana", "dan"))
    evening.restart()
    evening.attach("ana"), evening.attach("ben")
    evening.enter(man("dan"))
    evening.spin("dan")
    assert {evening.state(user_id) for user_id in ("ana", "ben", "dan")} == {State.WAITING}


def test_an_outcome_given_before_the_restart_is_remembered(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.PASS)
    evening.restart()
    evening.attach("ana")
    assert evening.vote("ana", Vote.YES, match_id) == VoteReply(Outcome.YES_PASS)


def _open_date(evening: Evening) -> str:
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    date_id = evening.seat("ana").date_id
    assert date_id is not None
    return date_id


def test_a_date_goes_on_after_a_restart_and_ends_when_it_was_to_end(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.advance(100)
    evening.restart()
    evening.advance(30)
    evening.attach("ana"), evening.attach("ben")
    assert refused_with(evening.spin("ana")) == "on_a_date"
    evening.advance(169.999999)
    assert evening.seat("ana").date_id == date_id
    evening.advance(0.000001)
    assert only(evening.told("ana"), DateEnded).reason is DateEnd.TIME_UP


def test_a_date_whose_partner_stays_away_ends_with_the_grace(evening: Evening) -> None:
    _open_date(evening)
    evening.restart()
    evening.attach("ana")
    evening.advance(60)
    assert only(evening.told("ana"), DateEnded).reason is DateEnd.PARTNER_LOST
    assert evening.seat("ben").date_id is None


def test_a_date_that_ended_while_the_server_was_down_is_ended_at_once(evening: Evening) -> None:
    date_id = _open_date(evening)
    evening.now = after(evening.now, 1000)
    evening.restart()
    evening.attach("ana")
    assert evening.seat("ana").date_id is None
    assert evening.store.dates[date_id].ended_for == "time_up"


def test_a_date_opened_with_one_who_is_not_back_ends_with_the_grace(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ben", Vote.YES)
    evening.restart()
    evening.attach("ana")
    evening.vote("ana", Vote.YES)
    evening.told("ana")
    evening.advance(60)
    assert only(evening.told("ana"), DateEnded).reason is DateEnd.PARTNER_LOST


def test_what_was_decided_but_not_saved_is_gone(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    evening.lobby.handle(ev.Spin("ben"), evening.now)
    evening.restart()
    evening.attach("ana")
    assert evening.state("ana") is State.WAITING
    assert evening.store.matches == {}
    evening.attach("ben")
    evening.spin("ben")
    assert evening.partner_of("ana") == "ben"


def test_an_outcome_reached_while_one_is_still_away_is_told_to_the_other(
    evening: Evening,
) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ben", Vote.PASS)
    evening.restart()
    evening.attach("ana")
    evening.told("ana")
    evening.vote("ana", Vote.YES)
    assert only(evening.told("ana"), OutcomeReached).outcome is Outcome.YES_PASS


def test_when_voting_opens_only_the_match_is_stored_and_a_restart_still_votes(
    evening: Evening,
) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.acknowledge("ana")
    evening.lobby.handle(ev.Acknowledge("ben", match_id), evening.now)
    changes = evening.lobby.changes()
    assert changes.seats == []
    assert [match.match_id for match in changes.matches] == [match_id]
    evening.store.save(changes)
    evening.restart()
    assert evening.state("ana") is evening.state("ben") is State.VOTING
    evening.attach("ana")
    evening.attach("ben")
    evening.vote("ana", Vote.PASS)
    assert evening.vote("ben", Vote.PASS) == VoteReply(Outcome.PASS_PASS)
