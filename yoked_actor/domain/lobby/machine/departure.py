"""Users who are removed: expelled by the operator, or erased.

For others it is as if the user had left (R12): the partner in a match waits again in the old
place, or gets the outcome of their own vote; a date ends as if the user had ended it, and a call as
if the user had been lost. The removed user gets no notices, and their socket is closed.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.calls import stop_call
from yoked_actor.domain.lobby.machine.dates import hang_up
from yoked_actor.domain.lobby.machine.matches import go
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import IdleReason
from yoked_actor.domain.lobby.records import CallEnd, Erasure, Presence
from yoked_actor.domain.lobby.replies import Done, Reply


def expel(step: Step, event: ev.Expel) -> Reply:
    """Remove a user from the line, from their match and from their date."""
    _remove(step, event.user_id)
    # Offline at once, however long the socket takes to close: nobody may call this user.
    step.floor.put_presence(event.user_id, Presence())
    return Done()


def erase(step: Step, event: ev.Erase) -> Reply:
    """Remove a user, and record the erasure, to be stored with this round."""
    _remove(step, event.user_id)
    step.floor.erased[event.user_id] = Erasure(event.user_id, event.tombstone, step.now)
    return Done()


def _remove(step: Step, user_id: str) -> None:
    floor = step.floor
    stop_call(step, user_id, CallEnd.LOST)
    date = floor.open_date(user_id)
    if date is not None:
        hang_up(step, date, user_id)
    if floor.seat(user_id).state is not State.IDLE:
        go(step, user_id, Cause.LEFT, IdleReason.LEFT)
    floor.put_presence(user_id, replace(floor.presence(user_id), called=False))
    step.notices = [notice for notice in step.notices if notice[0] != user_id]
