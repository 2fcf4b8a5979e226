"""Going for other reasons than one's own wish: taken out by the operator, or erased.

To the others it is as if the user had left (R12): who is left in a match waits again in the old
place, or gets the outcome that their own vote gives; a date ends as if the user had ended it. The
one who goes is told nothing here; whoever caused it closes their socket.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.dates import hang_up
from yoked_actor.domain.lobby.machine.matches import go
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import Done, IdleReason, Reply
from yoked_actor.domain.lobby.records import Erasure, Presence


def expel(step: Step, event: ev.Expel) -> Reply:
    """Take a user out of line, out of their match and off their date."""
    _take_out(step, event.user_id)
    # Not online from now on, however long the socket takes to close: nobody may call them.
    step.floor.put_presence(event.user_id, Presence())
    return Done()


def erase(step: Step, event: ev.Erase) -> Reply:
    """Take a user out, and note that nothing of them is to remain once that is stored."""
    _take_out(step, event.user_id)
    step.floor.erased[event.user_id] = Erasure(event.user_id, event.tombstone, step.now)
    return Done()


def _take_out(step: Step, user_id: str) -> None:
    floor = step.floor
    date = floor.open_date(user_id)
    if date is not None:
        hang_up(step, date, user_id)
    if floor.seat(user_id).state is not State.IDLE:
        go(step, user_id, Cause.LEFT, IdleReason.LEFT)
    floor.put_presence(user_id, replace(floor.presence(user_id), called=False))
    step.notices = [told for told in step.notices if told[0] != user_id]
