"""The table of votes: complete, with symmetric outcomes, and as R11 defines it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.domain.lobby import Outcome, State
from yoked_actor.domain.lobby.ballot import VERDICTS, CreditChange, Verdict, Vote, credit_after
from yoked_actor.domain.lobby.machine.moves import move

# R11, one line an outcome: (votes), outcome, (next states), (what becomes of the credit).
RULING = [
    (("yes", "yes"), "both_yes", ("idle", "idle"), ("reset", "reset")),
    (("yes", "pass"), "yes_pass", ("waiting", "waiting"), ("raise", "keep")),
    (("pass", "pass"), "pass_pass", ("waiting", "waiting"), ("keep", "keep")),
    (("yes", "idle"), "yes_idle", ("waiting", "idle"), ("raise", "keep")),
    (("pass", "idle"), "pass_idle", ("waiting", "idle"), ("keep", "keep")),
    (("idle", "idle"), "idle_idle", ("idle", "idle"), ("keep", "keep")),
]


def test_every_vote_against_every_vote_has_a_verdict_and_nothing_else_has() -> None:
    assert set(VERDICTS) == set(product(Vote, Vote))


def test_the_two_sides_of_a_ballot_agree_on_its_outcome() -> None:
    for mine, theirs in product(Vote, Vote):
        assert VERDICTS[mine, theirs].outcome is VERDICTS[theirs, mine].outcome


def test_there_are_six_outcomes_and_each_can_happen() -> None:
    assert len(Outcome) == 6
    assert {verdict.outcome for verdict in VERDICTS.values()} == set(Outcome)


@pytest.mark.parametrize(("votes", "outcome", "states", "credits"), RULING)
def test_both_sides_get_what_the_ruling_says(votes, outcome, states, credits) -> None:
    one, other = (Vote(vote) for vote in votes)
    for mine, theirs, state, credit in (
        (one, other, states[0], credits[0]),
        (other, one, states[1], credits[1]),
    ):
        verdict = VERDICTS[mine, theirs]
        assert isinstance(verdict, Verdict)
        assert verdict.outcome == outcome
        assert move(State.VOTING, verdict.cause) == state
        assert verdict.credit == credit


def test_a_user_who_did_not_vote_is_idle_and_the_other_waits_unless_both_said_yes() -> None:
    for (mine, theirs), verdict in VERDICTS.items():
        rests = mine is Vote.IDLE or mine is theirs is Vote.YES
        assert (move(State.VOTING, verdict.cause) is State.IDLE) == rests


@given(
    changes=st.lists(st.sampled_from(CreditChange), max_size=30),
    step=st.integers(1, 20),
    cap=st.integers(1, 100),
)
def test_credit_never_leaves_its_bounds(changes: list[CreditChange], step: int, cap: int) -> None:
    credit = 0
    for change in changes:
        before, credit = credit, credit_after(credit, change, step=step, cap=cap)
        assert 0 <= credit <= cap
        if change is CreditChange.RAISE:
            assert credit == before + step or credit == cap
        elif change is CreditChange.RESET:
            assert credit == 0
        else:
            assert credit == before


def test_six_rejected_yeses_give_the_credit_of_five() -> None:
    credit, seen = 0, []
    for _ in range(6):
        credit = credit_after(credit, CreditChange.RAISE, step=10, cap=50)
        seen.append(credit)
    assert seen == [10, 20, 30, 40, 50, 50]
    assert credit_after(credit, CreditChange.RESET, step=10, cap=50) == 0
