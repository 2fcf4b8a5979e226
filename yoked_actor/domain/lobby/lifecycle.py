"""The four states of a user, and every way from one to the next (R5, R6).

The table below is the whole truth: a (state, cause) that is not in it is an error that changes
nothing. The diagram in the documentation is drawn from it, and nothing else in the package assigns
a state. A cancelled match is a status of the match and a video date is a row of its own; neither is
a state of a user.
"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """Where a user stands."""

    IDLE = "idle"
    WAITING = "waiting"
    MATCHED = "matched"
    VOTING = "voting"


class Cause(StrEnum):
    """Why a user moves."""

    SPUN = "spun"
    LEFT = "left"
    LOST = "lost"
    PAIRED = "paired"
    BOTH_ACKNOWLEDGED = "both_acknowledged"
    PARTNER_LEFT = "partner_left"
    PARTNER_LOST = "partner_lost"
    PARTNER_SILENT = "partner_did_not_acknowledge"
    ACKNOWLEDGE_TIMEOUT = "acknowledge_timeout"
    BLOCKED = "blocked"
    SERVER_RESTART = "server_restart"
    OUTCOME_REQUEUES = "outcome_requeues"
    OUTCOME_RESTS = "outcome_rests"


TRANSITIONS: dict[tuple[State, Cause], State] = {
    (State.IDLE, Cause.SPUN): State.WAITING,
    (State.WAITING, Cause.SPUN): State.WAITING,
    (State.WAITING, Cause.LEFT): State.IDLE,
    (State.WAITING, Cause.LOST): State.IDLE,
    (State.WAITING, Cause.PAIRED): State.MATCHED,
    (State.MATCHED, Cause.BOTH_ACKNOWLEDGED): State.VOTING,
    (State.MATCHED, Cause.SPUN): State.WAITING,
    (State.MATCHED, Cause.LEFT): State.IDLE,
    (State.MATCHED, Cause.LOST): State.IDLE,
    (State.MATCHED, Cause.PARTNER_LEFT): State.WAITING,
    (State.MATCHED, Cause.PARTNER_LOST): State.WAITING,
    (State.MATCHED, Cause.PARTNER_SILENT): State.WAITING,
    (State.MATCHED, Cause.ACKNOWLEDGE_TIMEOUT): State.IDLE,
    (State.MATCHED, Cause.BLOCKED): State.WAITING,
    (State.MATCHED, Cause.SERVER_RESTART): State.WAITING,
    (State.VOTING, Cause.SPUN): State.WAITING,
    (State.VOTING, Cause.LEFT): State.IDLE,
    (State.VOTING, Cause.LOST): State.IDLE,
    (State.VOTING, Cause.PARTNER_LEFT): State.WAITING,
    (State.VOTING, Cause.PARTNER_LOST): State.WAITING,
    (State.VOTING, Cause.BLOCKED): State.WAITING,
    (State.VOTING, Cause.SERVER_RESTART): State.WAITING,
    (State.VOTING, Cause.OUTCOME_REQUEUES): State.WAITING,
    (State.VOTING, Cause.OUTCOME_RESTS): State.IDLE,
}


class ImpossibleMove(Exception):
    """A cause that has no meaning in this state: our own mistake, never a client's."""

    def __init__(self, state: State, cause: Cause) -> None:
        super().__init__(f"a user who is {state} cannot move because of {cause}")
        self.state = state
        self.cause = cause


def may_move(state: State, cause: Cause) -> bool:
    """Whether the table has a way out of `state` for `cause`."""
    return (state, cause) in TRANSITIONS


def move(state: State, cause: Cause) -> State:
    """The next state, or `ImpossibleMove`."""
    try:
        return TRANSITIONS[state, cause]
    except KeyError:
        raise ImpossibleMove(state, cause) from None
