"""What each event does: one function for each type of event.

A handler changes the floor through its step, and returns the reply. None stands for a reply that
is read from the floor when the step is over: the state that a spin led to, or a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.constants import WAITING
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.calls import (
    accept_call,
    cancel_call,
    decline_call,
    hang_up_call,
    start_call,
)
from yoked_actor.domain.lobby.machine.dates import end_date_by, hang_up, relay
from yoked_actor.domain.lobby.machine.departure import erase, expel
from yoked_actor.domain.lobby.machine.explain import explain
from yoked_actor.domain.lobby.machine.matches import (
    acknowledge,
    cancel_for_block,
    come_back,
    end_match_by_operator,
    go,
    leave_match,
    vote,
)
from yoked_actor.domain.lobby.machine.snapshot import snapshot_of
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import IdleReason, WaitReason
from yoked_actor.domain.lobby.records import Presence
from yoked_actor.domain.lobby.replies import (
    BlockList,
    Code,
    Done,
    LeaveReply,
    Refusal,
    Reply,
    SpinReply,
)
from yoked_actor.domain.people import is_user_id

# A constant is read faster than a member of an enumeration.
_SPIN: Final = ev.Spin
_SPUN: Final = Cause.SPUN
_FOR_SPUN: Final = WaitReason.SPUN


def _attached(step: Step, event: ev.Attached) -> Reply | None:
    step.floor.kept_signals.remove(event.user_id)
    _be_here(step, event.user_id, replace(step.floor.presence(event.user_id), device=event.device))
    return None


def _detached(step: Step, event: ev.Detached) -> Reply:
    floor, user_id = step.floor, event.user_id
    if floor.presence(user_id).device == event.device:
        seat = floor.seat(user_id)
        in_call = seat.date_id is not None or floor.calls.of(user_id) is not None
        if in_call and seat.state is State.IDLE:
            # An idle user sends no heartbeats: the grace begins when the socket is gone.
            floor.record_life(user_id, step.now)
        floor.put_presence(user_id, Presence())
    return Done()


def _called(step: Step, event: ev.Called) -> Reply:
    presence = step.floor.presence(event.user_id)
    if not presence.called:
        _be_here(step, event.user_id, replace(presence, called=True))
    return Done()


def _be_here(step: Step, user_id: str, presence: Presence) -> None:
    floor = step.floor
    was_here = floor.is_here(user_id)
    floor.put_presence(user_id, presence)
    if was_here:
        return
    match = floor.open_match(user_id)
    if match is not None and user_id in match.awaiting:
        come_back(step, match, user_id)
    elif floor.seat(user_id).state is WAITING:
        step.attempts[user_id] = WaitReason.RESUMED


def _sign_of_life(step: Step, event: ev.SignOfLife) -> Reply:
    return Done()


def _ask_snapshot(step: Step, event: ev.AskSnapshot) -> Reply | None:
    return None


def _explain(step: Step, event: ev.Explain) -> Reply:
    return explain(step.floor, event.user_id, step.now)


def _spin(step: Step, event: ev.Spin) -> Reply | None:
    floor, user_id = step.floor, event.user_id
    seat = floor.seat(user_id)
    if user_id not in floor.people.rows:
        return Refusal(Code.PROFILE_INCOMPLETE, "complete your profile first")
    if seat.date_id is not None:
        return Refusal(Code.ON_A_DATE, "end your video date first")
    if seat.state is WAITING:
        return None
    match = floor.open_match(user_id)
    if match is not None:
        if not match.acknowledged_by(user_id):
            return None
        leave_match(step, match, user_id, _SPUN)
    call = floor.calls.of(user_id)
    if call is not None and call.caller == user_id:
        hang_up_call(step, user_id)
    step.queue(user_id, _SPUN, _FOR_SPUN, fresh=True)
    return None


def _leave(step: Step, event: ev.Leave) -> Reply:
    if step.floor.seat(event.user_id).state is State.IDLE:
        return Refusal(Code.WRONG_STATE, "you are not in line")
    go(step, event.user_id, Cause.LEFT, IdleReason.LEFT)
    return LeaveReply(State.IDLE)


def _acknowledge(step: Step, event: ev.Acknowledge) -> Reply:
    return acknowledge(step, event.user_id, event.match_id)


def _vote(step: Step, event: ev.Vote) -> Reply:
    return vote(step, event.user_id, event.match_id, event.vote)


def _signal(step: Step, event: ev.Signal) -> Reply:
    return relay(step, event.user_id, event.date_id, event.data)


def _end_date(step: Step, event: ev.EndDate) -> Reply:
    return end_date_by(step, event.user_id, event.date_id)


def _start_date(step: Step, event: ev.StartDate) -> Reply:
    return start_call(
        step,
        event.user_id,
        event.partner,
        event.connection_id,
        in_other_room=event.is_online,
    )


def _accept_call(step: Step, event: ev.AcceptCall) -> Reply:
    return accept_call(step, event.user_id, event.call_id)


def _decline_call(step: Step, event: ev.DeclineCall) -> Reply:
    return decline_call(step, event.user_id, event.call_id)


def _cancel_call(step: Step, event: ev.CancelCall) -> Reply:
    return cancel_call(step, event.user_id, event.call_id)


def _block(step: Step, event: ev.Block) -> Reply:
    floor, user_id, other = step.floor, event.user_id, event.other
    if other == user_id:
        return Refusal(Code.BAD_REQUEST, "you cannot block yourself")
    if not is_user_id(other):
        return Refusal(Code.BAD_REQUEST, "user_id is not the id of a user")
    blocked = floor.acquaintance.blocked_by(user_id)
    if other in blocked:
        return Done()
    if len(blocked) >= floor.rules.max_blocks:
        return Refusal(
            Code.BAD_REQUEST, f"you have {len(blocked)} blocks, which is the most there can be"
        )
    floor.acquaintance.block(user_id, other, step.now)
    match = floor.open_match(user_id)
    if match is not None and match.partner_of(user_id) == other:
        cancel_for_block(step, match, user_id)
    date = floor.open_date(user_id)
    if date is not None and date.partner_of(user_id) == other:
        hang_up(step, date, user_id)
    call = floor.calls.of(user_id)
    if call is not None and call.partner_of(user_id) == other:
        hang_up_call(step, user_id)
    step.try_again(user_id)
    return Done()


def _end_match(step: Step, event: ev.EndMatch) -> Reply:
    return end_match_by_operator(step, event.user_id, event.match_id)


def _unblock(step: Step, event: ev.Unblock) -> Reply:
    if not step.floor.acquaintance.unblock(event.user_id, event.other):
        return Refusal(Code.NOT_FOUND, f"you have not blocked {event.other!r}")
    step.try_again(event.user_id)
    return Done()


def _list_blocks(step: Step, event: ev.ListBlocks) -> Reply:
    return BlockList(step.floor.acquaintance.blocked_by(event.user_id))


def _profile_changed(step: Step, event: ev.ProfileChanged) -> Reply:
    floor = step.floor
    before = floor.people.rows.get(event.user_id)
    floor.put_person(floor.places.moved(before, event.person, step.now))
    step.try_again(event.user_id)
    return Done()


def _gone(step: Step, event: ev.Gone) -> Reply:
    step.floor.acquaintance.drop_erased(event.user_id)
    return Done()


def state_reply(step: Step, event: ev.Event) -> Reply:
    """The reply to an event whose handler returned None, when the step is over."""
    seat = step.floor.seat(event.user_id)
    if type(event) is _SPIN:
        return SpinReply(seat.state, seat.match_id)
    return snapshot_of(step.floor, event.user_id, step.now)


NO_SIGN_OF_LIFE: Final = frozenset(
    {ev.Detached, ev.BlockFor, ev.EndMatch, ev.Expel, ev.Erase, ev.Gone}
)
"""Events that do not show that their user is alive."""

HANDLERS: Final[dict[type[ev.Event], Callable[[Step, Any], Reply | None]]] = {
    ev.Attached: _attached,
    ev.Detached: _detached,
    ev.SignOfLife: _sign_of_life,
    ev.Called: _called,
    ev.AskSnapshot: _ask_snapshot,
    ev.Explain: _explain,
    ev.Spin: _spin,
    ev.Leave: _leave,
    ev.Acknowledge: _acknowledge,
    ev.Vote: _vote,
    ev.Signal: _signal,
    ev.EndDate: _end_date,
    ev.StartDate: _start_date,
    ev.AcceptCall: _accept_call,
    ev.DeclineCall: _decline_call,
    ev.CancelCall: _cancel_call,
    ev.Block: _block,
    ev.BlockFor: _block,
    ev.Unblock: _unblock,
    ev.ListBlocks: _list_blocks,
    ev.ProfileChanged: _profile_changed,
    ev.EndMatch: _end_match,
    ev.Expel: expel,
    ev.Erase: erase,
    ev.Gone: _gone,
}
