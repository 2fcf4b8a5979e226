"""Moves users by the table of states, which `lifecycle` explains."""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.lobby.lifecycle import TRANSITIONS, Cause, ImpossibleMove, State

_TRANSITIONS: Final = TRANSITIONS


def move(state: State, cause: Cause) -> State:
    """The next state, or `ImpossibleMove`."""
    following = _TRANSITIONS.get((state, cause))
    if following is None:
        raise ImpossibleMove(state, cause)
    return following
