"""The state machine of a user (R5, R6).

# How it works

A user is in one of four states:

- IDLE: not in line. A user on a video date is idle, too.
- WAITING: in line for a partner, since their last spin or from their old place.
- MATCHED: has a partner; both have a few seconds to acknowledge the match.
- VOTING: both have acknowledged; both have a few seconds to vote.

A user moves for a `Cause`, and `TRANSITIONS` is the complete list: a pair (state, cause) that is
not in it raises `ImpossibleMove` and changes nothing. Causes have five sources:

- the user's own events: SPUN, LEFT, CALL_ACCEPTED;
- deadlines: LOST (no sign of life), ACKNOWLEDGE_TIMEOUT, PARTNER_SILENT;
- the search for partners, at the end of a step: PAIRED;
- the room: ROOM_CLOSED;
- what becomes of the match: BOTH_ACKNOWLEDGED, BLOCKED, OUTCOME_REQUEUES, OUTCOME_RESTS, and for
  the user who stays PARTNER_LEFT, PARTNER_LOST, SERVER_RESTART (the partner did not come back).

So one event can move two users, and the step that it causes can move more: a user who returns to
the line gets an attempt at once, which may pair them with somebody else.

Only the lobby moves users. One task, the matchmaker, calls it, so no two moves run at the same
time. It follows one rule: **commit before tell**. The moves of a round are made in memory, stored
in one transaction, and only then are replies and notices delivered. If the transaction fails, all
moves of the round are undone, and its events are handled again. So a client never knows a state
that a crash could revert.

# What surprises

- A video date is not a state. It is a row of its own and `Seat.date_id` refers to it; a user on a
  date is IDLE. `spin` must therefore check for a date besides the state.
- A call that rings is not a state and not stored. The caller is IDLE; the callee is IDLE or
  WAITING, and a match that the line brings ends the call.
- A cancelled match is not a state either. It is a status of the match; its users have moved on.
- SPUN is a cause in all four states. In WAITING it changes nothing: a client may repeat a spin. In
  MATCHED a user who has not acknowledged stays in the match, so the table allows a move that the
  handler does not always make.
- LEFT and SPUN of one user are PARTNER_LEFT for the other. The two entries must lead to states
  that fit together, and the table cannot say so. The auditor checks it: both users of an open match
  are in the same state.
- WAITING does not mean that the user can be paired. A user who has closed their socket, or is not
  back after a restart, is in line but not in the pool, until they return or are LOST.
- A restart moves nobody. Users keep their states and have a grace period to come back; windows open
  again when both are back. SERVER_RESTART is for the partner of a user who does not come back.

The diagram in `docs/lifecycle.md` is generated from the table.
"""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """The state of a user."""

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
    CALL_ACCEPTED = "call_accepted"
    ROOM_CLOSED = "room_closed"


TRANSITIONS: dict[tuple[State, Cause], State] = {
    (State.IDLE, Cause.SPUN): State.WAITING,
    (State.WAITING, Cause.SPUN): State.WAITING,
    (State.WAITING, Cause.LEFT): State.IDLE,
    (State.WAITING, Cause.LOST): State.IDLE,
    (State.WAITING, Cause.CALL_ACCEPTED): State.IDLE,
    (State.WAITING, Cause.ROOM_CLOSED): State.IDLE,
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
    """A cause that is not possible in this state: a defect of the server, never of a client."""

    def __init__(self, state: State, cause: Cause) -> None:
        super().__init__(f"a user who is {state} cannot move because of {cause}")
        self.state = state
        self.cause = cause
