"""Calls between two users who have a connection: they ring before a video date opens (R24).

A user is in one call at a time. A call ends when the callee accepts or declines it, the caller
cancels it or spins, its time is up, the callee is paired, or one of the two is lost or removed.
Both are told the same reason, and a block is never among the reasons.
"""

from __future__ import annotations

from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.dates import announce_date, open_date
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import CallEnded, IdleReason, Ringing
from yoked_actor.domain.lobby.records import Call, CallEnd
from yoked_actor.domain.lobby.replies import CallPlaced, Code, DateOpened, Done, Refusal, Reply
from yoked_actor.domain.time import after


def start_call(
    step: Step, user_id: str, partner: str, connection_id: str, *, in_other_room: bool = False
) -> Reply:
    """One of two connected users calls the other.

    If the other one is calling at this moment, their call is accepted. `in_other_room`: the other
    one is online, but not in this room.
    """
    refusal = _refusal_of_caller(step, user_id, partner)
    if refusal is not None:
        return refusal
    floor = step.floor
    current = floor.calls.of(user_id)
    if current is not None and current.partner_of(user_id) == partner:
        if user_id == current.callee:
            _open(step, current)
        return CallPlaced(current.call_id, current.ring_until)
    if floor.seat(user_id).state is not State.IDLE:
        return Refusal(Code.WRONG_STATE, "get out of line first")
    if current is not None:
        return Refusal(Code.WRONG_STATE, "you are in another call")
    if partner not in floor.people.rows or not floor.is_online(partner, step.now):
        if in_other_room:
            message = "your partner is in another room; a call reaches only users of your room"
            return Refusal(Code.WRONG_STATE, message)
        return Refusal(Code.WRONG_STATE, "your partner is not online")
    rules = floor.rules
    if floor.calls.count(user_id, partner) >= rules.calls_per_pair:
        message = f"you have called {rules.calls_per_pair} times within {rules.calls_within_s:g} s"
        return Refusal(Code.RATE_LIMITED, f"{message}; try again later")
    return _ring(step, user_id, partner, connection_id)


def accept_call(step: Step, user_id: str, call_id: str) -> Reply:
    """The callee accepts: the date opens."""
    call = step.floor.calls.of(user_id)
    if call is None or call.call_id != call_id:
        return _no_such_call(call_id)
    if user_id == call.caller:
        return Refusal(Code.WRONG_STATE, "you are the caller: only your partner can accept")
    return DateOpened(_open(step, call))


def decline_call(step: Step, user_id: str, call_id: str) -> Reply:
    """The callee declines."""
    call = step.floor.calls.of(user_id)
    if call is None or call.call_id != call_id:
        return _no_such_call(call_id)
    if user_id == call.caller:
        return Refusal(Code.WRONG_STATE, "you are the caller: cancel the call")
    end_call(step, call, CallEnd.DECLINED)
    return Done()


def cancel_call(step: Step, user_id: str, call_id: str) -> Reply:
    """The caller cancels."""
    call = step.floor.calls.of(user_id)
    if call is None or call.call_id != call_id:
        return _no_such_call(call_id)
    if user_id == call.callee:
        return Refusal(Code.WRONG_STATE, "you are called: decline the call")
    end_call(step, call, CallEnd.CANCELLED)
    return Done()


def hang_up_call(step: Step, user_id: str) -> None:
    """End the call that a user is in, if any, as if by the user's own wish."""
    call = step.floor.calls.of(user_id)
    if call is not None:
        why = CallEnd.CANCELLED if user_id == call.caller else CallEnd.DECLINED
        end_call(step, call, why)


def stop_call(step: Step, user_id: str, why: CallEnd) -> None:
    """End the call that a user is in, if any."""
    call = step.floor.calls.of(user_id)
    if call is not None:
        end_call(step, call, why)


def end_call(step: Step, call: Call, why: CallEnd) -> None:
    """End a call, and notify both."""
    step.floor.calls.end(call, why)
    for user_id in (call.caller, call.callee):
        step.tell(user_id, CallEnded(call.call_id, why))


def _refusal_of_caller(step: Step, user_id: str, partner: str) -> Refusal | None:
    floor = step.floor
    if user_id not in floor.people.rows:
        return Refusal(Code.PROFILE_INCOMPLETE, "complete your profile first")
    if floor.seat(user_id).date_id is not None:
        return Refusal(Code.ON_A_DATE, "end your video date first")
    if partner == user_id or floor.acquaintance.is_blocked(user_id, partner):
        return Refusal(Code.NOT_FOUND, "you have no such connection any more")
    return None


def _ring(step: Step, caller: str, callee: str, connection_id: str) -> CallPlaced:
    floor = step.floor
    ring_until = after(step.now, floor.rules.ring_s)
    call = Call(floor.new_call_id(), connection_id, caller, callee, ring_until)
    seat = floor.seat(callee)
    if (
        seat.state in (State.MATCHED, State.VOTING)
        or seat.date_id is not None
        or floor.calls.of(callee) is not None
    ):
        floor.count_call(caller, callee, step.now)
        end_call(step, call, CallEnd.BUSY)
    else:
        floor.begin_call(call, step.now)
        people = floor.people.rows
        card = floor.places.card(people[caller], people[callee], step.now)
        step.tell(callee, Ringing(call.call_id, connection_id, card, ring_until))
    return CallPlaced(call.call_id, ring_until)


def _open(step: Step, call: Call) -> str:
    """The callee accepts: end the call and open the date; its id."""
    floor = step.floor
    end_call(step, call, CallEnd.ACCEPTED)
    floor.calls.stop_counting(call.caller, call.callee)
    if floor.seat(call.callee).state is State.WAITING:
        step.rest(call.callee, Cause.CALL_ACCEPTED, IdleReason.DATE)
    date = open_date(step, call.caller, call.callee)
    announce_date(step, date)
    return date.date_id


def _no_such_call(call_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"{call_id!r} does not ring, or is not your call")
