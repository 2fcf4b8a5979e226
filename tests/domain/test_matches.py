"""The life of a match, ruling by ruling: R11, R12, R15, R16, R20, and the order of R6."""

from __future__ import annotations

import pytest

from tests.domain.crowds import man, woman
from tests.domain.evening import Evening, only, refused_with
from yoked_actor.domain.lobby import (
    CancelReason,
    IdleReason,
    MatchStatus,
    NowIdle,
    Outcome,
    SpinReply,
    State,
    Vote,
    WaitReason,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import (
    DateStarted,
    MatchCancelled,
    Matched,
    MatchLeft,
    NowWaiting,
    OutcomeReached,
    VotingOpened,
)
from yoked_actor.domain.lobby.replies import AcknowledgeReply, Done, LeaveReply, VoteReply
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after

ANA, BEN = woman("ana"), man("ben")
CLEO, DAN = woman("cleo"), man("dan")


@pytest.fixture
def evening() -> Evening:
    return Evening()


def _wait_then_pair(evening: Evening, first_s: float = 4.0) -> tuple[int, int, str]:
    """Ana waits when Ben comes; since when both wait, and their match."""
    evening.enter(ANA, BEN)
    evening.spin("ana")
    ana_since = evening.now
    evening.advance(first_s)
    evening.spin("ben")
    evening.told("ana"), evening.told("ben")
    return ana_since, evening.now, evening.match_id("ana")


def _raise_credit(evening: Evening, times: int) -> None:
    """Give Ana some credit: each time a stranger passes on her yes."""
    evening.enter(ANA)
    for number in range(times):
        name = f"stranger{number}"
        evening.enter(man(name))
        evening.spin("ana", name)
        evening.acknowledge("ana", name)
        evening.vote("ana", Vote.YES)
        evening.vote(name, Vote.PASS)
        evening.leave(name)
        evening.leave("ana")
    evening.told("ana")


# Pairing


def test_two_who_spin_are_told_of_each_other_with_one_deadline(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana")
    assert evening.told("ana") == [NowWaiting(evening.now, WaitReason.SPUN)]
    reply = evening.spin("ben")
    match_id = evening.match_id("ana")
    assert reply == SpinReply(State.MATCHED, match_id)
    for one, other in (("ana", "ben"), ("ben", "ana")):
        notice = only(evening.told(one), Matched)
        assert (notice.match_id, notice.partner.user_id) == (match_id, other)
        assert notice.acknowledge_by == after(evening.now, 5)


def test_waiting_is_not_said_to_whom_the_same_step_pairs(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana", "ben")
    assert [type(notice) for notice in evening.told("ben")] == [Matched]


def test_the_longest_waiter_is_paired_first(evening: Evening) -> None:
    evening.enter(ANA, CLEO, BEN)
    evening.spin("cleo")
    evening.advance(1)
    evening.spin("ana")
    evening.advance(180)
    evening.spin("ben")
    assert evening.partner_of("ben") == "cleo"


# R15: acknowledgement


def test_voting_opens_when_both_have_acknowledged(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    assert evening.acknowledge("ana") == AcknowledgeReply(State.MATCHED, None)
    assert evening.state("ana") is evening.state("ben") is State.MATCHED
    evening.told("ana"), evening.told("ben")
    evening.advance(2)
    vote_by = after(evening.now, 10)
    assert evening.acknowledge("ben") == AcknowledgeReply(State.VOTING, vote_by)
    for user_id in ("ana", "ben"):
        assert evening.told(user_id) == [VotingOpened(match_id, vote_by)]
        assert evening.state(user_id) is State.VOTING


def test_a_repeated_acknowledgement_changes_nothing(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.told("ben")
    first = evening.acknowledge("ana")
    before = evening.floor.matches.get(match_id)
    assert evening.acknowledge("ana") == first
    assert evening.floor.matches.get(match_id) == before
    assert evening.told("ben") == []
    evening.acknowledge("ben")
    vote_by = after(evening.now, 10)
    evening.advance(1)
    assert evening.acknowledge("ana") == AcknowledgeReply(State.VOTING, vote_by)
    assert evening.floor.matches.get(match_id).closes_at == vote_by


def test_a_user_who_did_not_acknowledge_is_idle_and_the_other_keeps_the_place(
    evening: Evening,
) -> None:
    since, _, match_id = _wait_then_pair(evening)
    evening.acknowledge("ana")
    evening.advance(5)
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.NOT_ACKNOWLEDGED, State.WAITING),
        NowWaiting(since, WaitReason.NOT_ACKNOWLEDGED),
    ]
    assert evening.told("ben") == [
        MatchCancelled(match_id, CancelReason.NOT_ACKNOWLEDGED, State.IDLE),
        NowIdle(IdleReason.NOT_ACKNOWLEDGED),
    ]
    assert evening.seat("ana").waiting_since == since
    assert evening.state("ben") is State.IDLE


def test_when_neither_acknowledges_both_are_idle(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.advance(4.999999)
    assert evening.state("ana") is State.MATCHED
    evening.advance(0.000001)
    assert evening.state("ana") is evening.state("ben") is State.IDLE


def test_a_late_or_foreign_acknowledgement_is_an_unknown_match(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.enter(CLEO)
    for user_id, wrong in (("ana", "m999"), ("ana", ""), ("cleo", match_id)):
        assert refused_with(evening.do(ev.Acknowledge(user_id, wrong))) == "unknown_match"
    assert evening.floor.matches.get(match_id).a_acknowledged is False
    evening.advance(5)
    before = evening.seat("ana")
    assert refused_with(evening.do(ev.Acknowledge("ana", match_id))) == "unknown_match"
    assert evening.seat("ana") == before


# R16: the vote


def test_a_vote_is_sealed_until_the_outcome(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.told("ana"), evening.told("ben")
    before = evening.snapshot("ben")
    assert evening.vote("ana", Vote.YES) == VoteReply(None)
    assert evening.told("ben") == []
    assert evening.told("ana") == []
    assert evening.snapshot("ben") == before
    view = evening.snapshot("ana").match
    assert view is not None
    assert view.voted
    assert evening.vote("ben", Vote.PASS) == VoteReply(Outcome.YES_PASS)
    assert only(evening.told("ana"), OutcomeReached).match_id == match_id


def test_the_first_vote_is_final(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.PASS)
    assert evening.vote("ana", Vote.PASS) == VoteReply(None)
    assert refused_with(evening.vote("ana", Vote.YES)) == "already_voted"
    assert evening.floor.matches.get(match_id).a_vote is Vote.PASS
    assert evening.vote("ben", Vote.PASS) == VoteReply(Outcome.PASS_PASS)


def test_a_vote_repeated_after_the_outcome_is_answered_with_it(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.PASS)
    before = evening.seat("ana")
    assert evening.vote("ana", Vote.YES, match_id) == VoteReply(Outcome.YES_PASS)
    assert refused_with(evening.vote("ana", Vote.PASS, match_id)) == "already_voted"
    assert evening.seat("ana") == before


def test_a_late_vote_is_refused(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.advance(10)
    assert refused_with(evening.vote("ben", Vote.YES, match_id)) == "vote_closed"
    assert evening.state("ben") is State.IDLE
    assert evening.seat("ana").credit == 10


def test_a_vote_in_a_cancelled_ballot_is_closed(evening: Evening) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.leave("ben")
    assert refused_with(evening.vote("ana", Vote.YES, match_id)) == "vote_closed"
    assert refused_with(evening.vote("ben", Vote.YES, match_id)) == "vote_closed"


def test_a_vote_before_voting_opens_is_the_wrong_state(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.acknowledge("ana")
    assert refused_with(evening.vote("ana", Vote.YES)) == "wrong_state"


def test_a_vote_on_a_foreign_or_never_opened_match_is_an_unknown_match(evening: Evening) -> None:
    match_id = evening.pair(ANA, BEN)
    evening.enter(CLEO)
    assert refused_with(evening.vote("cleo", Vote.YES, match_id)) == "unknown_match"
    assert refused_with(evening.vote("ana", Vote.YES, "m999")) == "unknown_match"
    evening.leave("ben")
    assert refused_with(evening.vote("ana", Vote.YES, match_id)) == "unknown_match"


def test_voting_lasts_ten_seconds_from_its_opening(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.advance(3)
    evening.acknowledge("ana", "ben")
    evening.advance(9.999999)
    assert evening.state("ana") is State.VOTING
    evening.advance(0.000001)
    assert evening.state("ana") is State.IDLE


# R11: the six outcomes

OUTCOMES = [
    (Vote.YES, Vote.YES, Outcome.BOTH_YES, (State.IDLE, 0), (State.IDLE, 0)),
    (Vote.YES, Vote.PASS, Outcome.YES_PASS, (State.WAITING, 30), (State.WAITING, 0)),
    (Vote.PASS, Vote.YES, Outcome.YES_PASS, (State.WAITING, 20), (State.WAITING, 10)),
    (Vote.PASS, Vote.PASS, Outcome.PASS_PASS, (State.WAITING, 20), (State.WAITING, 0)),
    (Vote.YES, Vote.IDLE, Outcome.YES_IDLE, (State.WAITING, 30), (State.IDLE, 0)),
    (Vote.IDLE, Vote.YES, Outcome.YES_IDLE, (State.IDLE, 20), (State.WAITING, 10)),
    (Vote.PASS, Vote.IDLE, Outcome.PASS_IDLE, (State.WAITING, 20), (State.IDLE, 0)),
    (Vote.IDLE, Vote.PASS, Outcome.PASS_IDLE, (State.IDLE, 20), (State.WAITING, 0)),
    (Vote.IDLE, Vote.IDLE, Outcome.IDLE_IDLE, (State.IDLE, 20), (State.IDLE, 0)),
]


@pytest.mark.parametrize(("ana_vote", "ben_vote", "outcome", "ana_gets", "ben_gets"), OUTCOMES)
def test_each_outcome_leaves_states_credit_and_places_as_written(
    ana_vote, ben_vote, outcome, ana_gets, ben_gets
) -> None:
    evening = Evening()
    _raise_credit(evening, 2)
    _, _, match_id = _wait_then_pair(evening)
    evening.acknowledge("ana", "ben")
    evening.told("ana"), evening.told("ben")
    for user_id, vote in (("ana", ana_vote), ("ben", ben_vote)):
        if vote is not Vote.IDLE:
            evening.vote(user_id, vote)
    if Vote.IDLE in (ana_vote, ben_vote):
        evening.advance(10)
    match = evening.store.matches[match_id]
    assert (match.status, match.outcome) == (MatchStatus.COMPLETED, outcome)
    for user_id, vote, (state, credit) in (
        ("ana", ana_vote, ana_gets),
        ("ben", ben_vote, ben_gets),
    ):
        seat = evening.seat(user_id)
        assert (seat.state, seat.credit, seat.match_id) == (state, credit, None)
        told = evening.told(user_id)
        notice = only(told, OutcomeReached)
        assert (notice.outcome, notice.next, notice.credit) == (outcome, state, credit)
        assert told[0] is notice
        if state is State.WAITING:
            assert seat.waiting_since == evening.now, "a requeued user gets a fresh place"
            assert told[1:] == [NowWaiting(evening.now, WaitReason.REQUEUED)]
        elif outcome is Outcome.BOTH_YES:
            assert told[1] == NowIdle(IdleReason.DATE)
            assert only(told, DateStarted).date_id == notice.date_id == seat.date_id
        else:
            assert vote is Vote.IDLE
            assert told[1:] == [NowIdle(IdleReason.IDLE_VOTE)]


def test_credit_adds_up_to_fifty_and_no_further() -> None:
    evening = Evening()
    _raise_credit(evening, 6)
    assert evening.seat("ana").credit == 50


def test_two_yeses_take_all_credit_back() -> None:
    evening = Evening()
    _raise_credit(evening, 3)
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.vote("ben", Vote.YES)
    assert evening.seat("ana").credit == 0


# R12: leaving, being lost, spinning away, blocking


def test_a_user_who_waits_may_leave(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.told("ana")
    assert evening.leave("ana") == LeaveReply(State.IDLE)
    assert evening.told("ana") == [NowIdle(IdleReason.LEFT)]
    assert evening.seat("ana").waiting_since is None


def test_a_user_who_is_idle_cannot_leave(evening: Evening) -> None:
    evening.enter(ANA)
    assert refused_with(evening.leave("ana")) == "wrong_state"


@pytest.mark.parametrize("acknowledged", [(), ("ana",), ("ben",)])
def test_leaving_a_match_cancels_it_and_the_partner_keeps_place_and_credit(acknowledged) -> None:
    evening = Evening()
    _raise_credit(evening, 2)
    since, _, match_id = _wait_then_pair(evening)
    if acknowledged:
        evening.acknowledge(*acknowledged)
    evening.advance(1)
    evening.leave("ben")
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.PARTNER_LEFT, State.WAITING),
        NowWaiting(since, WaitReason.PARTNER_LEFT),
    ]
    assert evening.told("ben") == [
        MatchLeft(match_id, State.IDLE, 0, was_voting=False, outcome=None),
        NowIdle(IdleReason.LEFT),
    ]
    assert (evening.seat("ana").waiting_since, evening.seat("ana").credit) == (since, 20)
    match = evening.store.matches[match_id]
    assert (match.status, match.outcome) == (MatchStatus.CANCELLED, None)
    assert match.cancelled_for is CancelReason.PARTNER_LEFT


def test_a_lost_user_in_a_match_leaves_the_partner_in_the_old_place(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.silent.add("ben")
    evening.spin("ben")
    evening.advance(8)
    evening.spin("ana")
    match_id, since = evening.match_id("ana"), evening.now
    evening.acknowledge("ana")
    evening.told("ana"), evening.told("ben")
    evening.advance(2)
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.PARTNER_LOST, State.WAITING),
        NowWaiting(since, WaitReason.PARTNER_LOST),
    ]
    assert evening.told("ben") == [NowIdle(IdleReason.LOST)]


def _voting_with_ben_about_to_be_lost(evening: Evening) -> int:
    """Voting is open for three seconds longer than Ben's liveness; since when Ana waits."""
    evening.pair(ANA, BEN)
    evening.silent.add("ben")
    since = evening.now
    evening.acknowledge("ben")
    evening.advance(3)
    evening.acknowledge("ana")
    evening.told("ana"), evening.told("ben")
    return since


def test_lost_while_voting_before_the_partner_voted_cancels(evening: Evening) -> None:
    since = _voting_with_ben_about_to_be_lost(evening)
    match_id = evening.match_id("ana")
    evening.advance(7)
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.PARTNER_LOST, State.WAITING),
        NowWaiting(since, WaitReason.PARTNER_LOST),
    ]
    assert evening.store.matches[match_id].status is MatchStatus.CANCELLED


def test_lost_while_voting_after_the_partner_voted_counts_as_idle(evening: Evening) -> None:
    _voting_with_ben_about_to_be_lost(evening)
    evening.vote("ana", Vote.YES)
    evening.advance(7)
    notice = only(evening.told("ana"), OutcomeReached)
    assert (notice.outcome, notice.credit) == (Outcome.YES_IDLE, 10)
    assert evening.seat("ana").waiting_since == evening.now
    assert evening.told("ben") == [NowIdle(IdleReason.LOST)]


@pytest.mark.parametrize("own_vote", [None, Vote.YES, Vote.PASS])
def test_a_user_who_leaves_while_voting_before_the_partner_voted_cancels_the_match(
    own_vote,
) -> None:
    evening = Evening()
    since, _, match_id = _wait_then_pair(evening)
    evening.acknowledge("ana", "ben")
    if own_vote is not None:
        evening.vote("ben", own_vote)
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    evening.leave("ben")
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.PARTNER_LEFT, State.WAITING),
        NowWaiting(since, WaitReason.PARTNER_LEFT),
    ]
    assert evening.told("ben") == [
        MatchLeft(match_id, State.IDLE, 0, was_voting=True, outcome=None),
        NowIdle(IdleReason.LEFT),
    ]
    assert evening.store.matches[match_id].outcome is None
    assert evening.state("ben") is State.IDLE


@pytest.mark.parametrize(
    ("partner_vote", "outcome", "credit"),
    [(Vote.YES, Outcome.YES_IDLE, 10), (Vote.PASS, Outcome.PASS_IDLE, 0)],
)
def test_a_user_who_leaves_while_voting_after_the_partner_voted_counts_as_idle(
    evening: Evening, partner_vote, outcome, credit
) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", partner_vote)
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    evening.leave("ben")
    notice = only(evening.told("ana"), OutcomeReached)
    assert (notice.outcome, notice.next, notice.credit) == (outcome, State.WAITING, credit)
    assert evening.seat("ana").waiting_since == evening.now
    assert evening.told("ben") == [
        MatchLeft(match_id, State.IDLE, 0, was_voting=True, outcome=outcome),
        NowIdle(IdleReason.LEFT),
    ]
    assert evening.seat("ben").credit == 0


@pytest.mark.parametrize(
    ("partner_vote", "outcome", "credit"),
    [(Vote.YES, Outcome.YES_PASS, 10), (Vote.PASS, Outcome.PASS_PASS, 0)],
)
def test_a_user_who_spins_away_while_voting_counts_as_pass_when_the_partner_has_voted(
    evening: Evening, partner_vote, outcome, credit
) -> None:
    match_id = evening.open_voting(ANA, BEN)
    evening.vote("ana", partner_vote)
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    assert evening.spin("ben") == SpinReply(State.WAITING)
    notice = only(evening.told("ana"), OutcomeReached)
    assert (notice.outcome, notice.credit) == (outcome, credit)
    assert evening.told("ben") == [
        MatchLeft(match_id, State.WAITING, 0, was_voting=True, outcome=outcome),
        NowWaiting(evening.now, WaitReason.SPUN),
    ]
    assert evening.seat("ben").waiting_since == evening.now
    assert evening.seat("ben").credit == 0


def test_a_user_who_spins_away_while_voting_before_the_partner_voted_cancels(
    evening: Evening,
) -> None:
    since, _, match_id = _wait_then_pair(evening)
    evening.acknowledge("ana", "ben")
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    evening.spin("ben")
    assert only(evening.told("ana"), MatchCancelled).reason is CancelReason.PARTNER_LEFT
    assert evening.seat("ana").waiting_since == since
    assert evening.seat("ben").waiting_since == evening.now
    assert evening.store.matches[match_id].status is MatchStatus.CANCELLED


def test_a_yes_is_void_once_its_giver_has_spun_away(evening: Evening) -> None:
    """Otherwise the partner's yes would open a date with a user who left."""
    evening.enter(ANA, BEN)
    evening.spin("ana", "ben")
    match_id = evening.match_id("ana")
    evening.acknowledge("ana", "ben")
    evening.vote("ben", Vote.YES)
    evening.spin("ben")
    assert refused_with(evening.vote("ana", Vote.YES, match_id)) == "vote_closed"
    assert evening.seat("ana").date_id is None
    assert evening.store.dates == {}


@pytest.mark.parametrize("voting", [False, True])
def test_a_block_cancels_the_match_and_both_wait_in_their_old_places(voting: bool) -> None:
    evening = Evening()
    ana_since, ben_since, match_id = _wait_then_pair(evening)
    if voting:
        evening.acknowledge("ana", "ben")
        evening.vote("ben", Vote.YES)
    evening.told("ana"), evening.told("ben")
    evening.advance(1)
    assert evening.do(ev.Block("ana", "ben")) == Done()
    assert evening.told("ana") == [
        MatchCancelled(match_id, CancelReason.BLOCKED, State.WAITING),
        NowWaiting(ana_since, WaitReason.REQUEUED),
    ]
    assert evening.told("ben") == [
        MatchCancelled(match_id, CancelReason.PARTNER_LEFT, State.WAITING),
        NowWaiting(ben_since, WaitReason.PARTNER_LEFT),
    ]
    assert evening.seat("ana").waiting_since == ana_since
    assert evening.seat("ben").waiting_since == ben_since


def test_a_block_of_somebody_else_leaves_the_match_alone(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.do(ev.Block("ana", "dan"))
    assert evening.state("ana") is State.MATCHED


# R20: having met, and the bar


def test_two_have_met_once_voting_opened_and_never_meet_again(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    assert list(evening.store.met) == [("ana", "ben")]
    evening.vote("ana", Vote.PASS)
    evening.vote("ben", Vote.PASS)
    evening.advance(3600)
    assert evening.state("ana") is evening.state("ben") is State.WAITING


def test_two_may_meet_again_when_one_spins_after_the_days_that_are_set() -> None:
    """By the later spin: while both wait, nothing between them changes."""
    evening = Evening(Rules(rematch_after_days=100 / 86_400))
    first = evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.PASS)
    evening.vote("ben", Vote.PASS)
    evening.advance(99)
    evening.leave("ben")
    evening.spin("ben")
    evening.advance(10)
    assert evening.state("ana") is State.WAITING
    evening.leave("ben")
    evening.spin("ben")
    assert evening.partner_of("ana") == "ben"
    assert evening.match_id("ana") != first


def test_a_match_cancelled_before_voting_does_not_count_as_met(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.leave("ben")
    assert evening.store.met == {}


def test_a_cancelled_pair_is_barred_for_sixty_seconds_and_paired_when_they_end(
    evening: Evening,
) -> None:
    evening.pair(ANA, BEN)
    evening.acknowledge("ben")
    evening.spin("ben")
    assert evening.state("ana") is evening.state("ben") is State.WAITING
    evening.advance(59.999999)
    assert evening.state("ana") is State.WAITING
    evening.advance(0.000001)
    assert evening.partner_of("ana") == "ben"
    assert evening.store.bars == {}


def test_a_spin_within_the_bar_waits_for_its_end(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.leave("ben")
    evening.advance(30)
    evening.spin("ben")
    assert evening.state("ben") is State.WAITING
    evening.advance(30)
    assert evening.partner_of("ana") == "ben"


def test_a_bar_keeps_only_its_own_pair_apart(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.leave("ben")
    evening.enter(DAN)
    evening.spin("dan")
    assert evening.partner_of("ana") == "dan"


def test_a_match_cancelled_while_voting_leaves_no_bar_but_a_meeting(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.leave("ben")
    assert evening.store.bars == {}
    assert list(evening.store.met) == [("ana", "ben")]


def test_the_end_of_an_older_bar_does_not_lift_a_newer_one() -> None:
    evening = Evening(Rules(bar_s=7))
    evening.pair(ANA, BEN)
    evening.leave("ben")
    pair, first_until = ("ana", "ben"), after(evening.now, 7)
    evening.advance(1)
    evening.floor.bar("ana", "ben", after(evening.now, 7))
    evening.spin("ben")
    evening.advance(6)
    assert evening.now == first_until
    assert evening.floor.acquaintance.bars.get(pair) == after(first_until, 1)
    assert evening.state("ana") is State.WAITING
    evening.advance(1)
    assert evening.partner_of("ana") == "ben"


# R6: timers and their order


def test_the_timer_of_an_old_match_never_touches_a_newer_one(evening: Evening) -> None:
    first = evening.pair(ANA, BEN)
    evening.advance(1)
    evening.leave("ben")
    evening.enter(DAN)
    evening.spin("dan")
    second = evening.match_id("ana")
    assert second != first
    evening.advance(4)
    assert evening.match_id("ana") == second
    evening.advance(1)
    assert evening.state("ana") is State.IDLE


def test_the_timer_of_the_acknowledgement_never_touches_the_vote(evening: Evening) -> None:
    evening.pair(ANA, BEN)
    evening.advance(4)
    evening.acknowledge("ana", "ben")
    evening.advance(1)
    assert evening.state("ana") is State.VOTING


def test_a_vote_window_that_ends_with_the_old_acknowledge_window_is_decided_as_a_vote() -> None:
    evening = Evening(Rules(vote_window_s=2))
    match_id = evening.pair(ANA, BEN)
    evening.advance(3)
    evening.acknowledge("ana", "ben")
    evening.vote("ana", Vote.YES)
    evening.advance(2)
    assert evening.store.matches[match_id].outcome is Outcome.YES_IDLE


def test_a_vote_that_closes_in_the_instant_of_a_loss_is_decided_first(evening: Evening) -> None:
    evening.open_voting(ANA, BEN)
    evening.vote("ana", Vote.YES)
    evening.silent |= {"ana", "ben"}
    evening.told("ana"), evening.told("ben")
    evening.advance(10)
    assert [type(notice) for notice in evening.told("ana")] == [
        OutcomeReached,
        NowWaiting,
        NowIdle,
    ]
    assert evening.seat("ana").credit == 10
    assert only(evening.told("ben"), NowIdle).reason is IdleReason.IDLE_VOTE


def test_an_acknowledge_window_that_closes_in_the_instant_of_a_loss_goes_first(
    evening: Evening,
) -> None:
    evening.enter(ANA, BEN)
    evening.silent.add("ben")
    evening.spin("ben")
    evening.advance(5)
    evening.spin("ana")
    evening.acknowledge("ana")
    evening.told("ana")
    evening.advance(5)
    assert only(evening.told("ana"), MatchCancelled).reason is CancelReason.NOT_ACKNOWLEDGED


def test_a_late_wake_keeps_the_order_of_the_instants(evening: Evening) -> None:
    """Ben's liveness deadline is early in the heap, but he sent a sign of life after that."""
    evening.enter(ANA, BEN)
    evening.spin("ben")
    evening.now = after(evening.now, 4)
    evening.do(ev.SignOfLife("ben"))
    evening.spin("ana")
    evening.now = after(evening.now, 1)
    evening.acknowledge("ana")
    evening.told("ana")
    evening.now = after(evening.now, 60)
    evening.do(ev.SignOfLife("ana"))
    assert only(evening.told("ana"), MatchCancelled).reason is CancelReason.NOT_ACKNOWLEDGED
