"""A closed room: matches and dates run out, nobody waits, and nothing new begins."""

from __future__ import annotations

from collections.abc import Iterable

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.calls import end_call
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import DateEnded, IdleReason, NowIdle
from yoked_actor.domain.lobby.records import CallEnd
from yoked_actor.domain.lobby.replies import Code, Refusal


def refusal_when_closed(floor: Floor, event: ev.Event) -> Refusal | None:
    """Why an event is refused in a closed room; None if it is not."""
    if type(event) is not ev.Spin and type(event) is not ev.StartDate:
        return None
    seat = floor.seats.rows.get(event.user_id)
    if seat is None or seat.state is not State.IDLE or seat.date_id is not None:
        return None
    return Refusal(Code.ROOM_CLOSED, f"the room {floor.room!r} is closed; enter another one")


def send_out(step: Step, user_ids: Iterable[str]) -> None:
    """Move waiting users out of line."""
    for user_id in list(user_ids):
        if step.floor.seat(user_id).state is State.WAITING:
            step.rest(user_id, Cause.ROOM_CLOSED, IdleReason.ROOM_CLOSED)
        else:
            step.attempts.pop(user_id, None)


def tell_after_dates(step: Step) -> None:
    """Tell the users whose date has ended in this step that the room is closed."""
    for user_id, notice in list(step.notices):
        if type(notice) is DateEnded:
            seat = step.floor.seats.rows.get(user_id)
            if seat is not None and seat.state is State.IDLE and seat.date_id is None:
                step.tell(user_id, NowIdle(IdleReason.ROOM_CLOSED))


def sweep(step: Step) -> None:
    """Close the room now: calls end, the line ends, and all others are told."""
    floor = step.floor
    for call in list(floor.calls.ringing.rows.values()):
        end_call(step, call, CallEnd.LOST)
    for user_id, seat in list(floor.seats.rows.items()):
        if seat.state is State.WAITING:
            step.rest(user_id, Cause.ROOM_CLOSED, IdleReason.ROOM_CLOSED)
        elif seat.state is State.IDLE and seat.date_id is None and floor.is_here(user_id):
            step.tell(user_id, NowIdle(IdleReason.ROOM_CLOSED))
