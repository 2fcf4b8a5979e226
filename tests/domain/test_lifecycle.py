"""The table of states: complete by enumeration, and every state can be reached."""

from __future__ import annotations

from itertools import product

import pytest

from yoked_actor.domain.lobby import State
from yoked_actor.domain.lobby.lifecycle import TRANSITIONS, Cause, ImpossibleMove
from yoked_actor.domain.lobby.machine.moves import move

EVERY_PAIR = list(product(State, Cause))

ENDS_A_MATCH_FOR_THE_OTHER = (
    Cause.PARTNER_LEFT,
    Cause.PARTNER_LOST,
    Cause.BLOCKED,
    Cause.SERVER_RESTART,
)


@pytest.mark.parametrize(("state", "cause"), EVERY_PAIR)
def test_every_state_and_cause_is_decided_by_the_table_alone(state: State, cause: Cause) -> None:
    if (state, cause) in TRANSITIONS:
        assert move(state, cause) is TRANSITIONS[state, cause]
        return
    table = dict(TRANSITIONS)
    with pytest.raises(ImpossibleMove) as caught:
        move(state, cause)
    assert (caught.value.state, caught.value.cause) == (state, cause)
    assert table == TRANSITIONS


def test_there_are_four_states_and_cancelled_is_none_of_them() -> None:
    assert [str(state) for state in State] == ["idle", "waiting", "matched", "voting"]


def test_every_state_is_reached_from_idle_and_leads_back_to_idle() -> None:
    for start in State:
        reached = {start}
        while True:
            further = {then for (state, _), then in TRANSITIONS.items() if state in reached}
            if further <= reached:
                break
            reached |= further
        assert reached == set(State)


def test_every_cause_moves_somebody() -> None:
    assert {cause for _, cause in TRANSITIONS} == set(Cause)


def test_only_a_spin_leads_out_of_idle() -> None:
    assert {cause for state, cause in TRANSITIONS if state is State.IDLE} == {Cause.SPUN}


def test_a_match_is_entered_from_waiting_and_voting_from_a_match() -> None:
    assert [key for key, then in TRANSITIONS.items() if then is State.MATCHED] == [
        (State.WAITING, Cause.PAIRED)
    ]
    assert [key for key, then in TRANSITIONS.items() if then is State.VOTING] == [
        (State.MATCHED, Cause.BOTH_ACKNOWLEDGED)
    ]


@pytest.mark.parametrize("state", [State.WAITING, State.MATCHED, State.VOTING])
@pytest.mark.parametrize("cause", [Cause.LEFT, Cause.LOST])
def test_a_user_who_leaves_or_is_lost_becomes_idle_from_any_state(
    state: State, cause: Cause
) -> None:
    assert move(state, cause) is State.IDLE


@pytest.mark.parametrize("state", [State.MATCHED, State.VOTING])
@pytest.mark.parametrize("cause", ENDS_A_MATCH_FOR_THE_OTHER)
def test_a_user_who_is_left_behind_in_a_match_waits_again(state: State, cause: Cause) -> None:
    assert move(state, cause) is State.WAITING


@pytest.mark.parametrize("state", list(State))
def test_a_spin_leads_into_line_from_any_state(state: State) -> None:
    assert move(state, Cause.SPUN) is State.WAITING


def test_an_impossible_move_says_what_was_impossible() -> None:
    with pytest.raises(ImpossibleMove, match="idle cannot move because of paired"):
        move(State.IDLE, Cause.PAIRED)
