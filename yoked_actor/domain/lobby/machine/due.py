"""What each deadline does when it comes due (R6).

Each checks first whether it still applies, and does nothing if not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import STATUS_MATCHED, STATUS_VOTING
from yoked_actor.domain.lobby.floor.deadlines import Deadline, Due
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.calls import end_call, stop_call
from yoked_actor.domain.lobby.machine.dates import end_date, lose
from yoked_actor.domain.lobby.machine.matches import acknowledge_timeout, conclude, go
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import DateEnd, IdleReason, TierReached
from yoked_actor.domain.lobby.records import CallEnd
from yoked_actor.domain.time import after

# A constant is read faster than a member of an enumeration.
_VOTE: Final = Due.VOTE
_ACKNOWLEDGE: Final = Due.ACKNOWLEDGE


def run_deadline(step: Step, deadline: Deadline) -> None:
    """Run a deadline, if it still applies."""
    _DUTIES[deadline[1]](step, deadline)


def _window_closed(step: Step, deadline: Deadline) -> None:
    at, due, _, match_id = deadline
    match = step.floor.matches.get(match_id)
    if match is None or match.closes_at != at:
        return
    if match.status is STATUS_VOTING and due is _VOTE:
        conclude(step, match)
    elif match.status is STATUS_MATCHED and due is _ACKNOWLEDGE:
        acknowledge_timeout(step, match)


def _date_over(step: Step, deadline: Deadline) -> None:
    date = step.floor.dates.get(deadline[3])
    if date is not None and date.ended_at is None:
        end_date(step, date, DateEnd.TIME_UP)


def _rang_out(step: Step, deadline: Deadline) -> None:
    at, _, _, call_id = deadline
    call = step.floor.calls.ringing.get(call_id)
    if call is not None and call.ring_until == at:
        end_call(step, call, CallEnd.MISSED)


def _call_counted(step: Step, deadline: Deadline) -> None:
    at, _, caller, callee = deadline
    step.floor.calls.drop_oldest(caller, callee, after(at, -step.floor.rules.calls_within_s))


def _edge_reached(step: Step, deadline: Deadline) -> None:
    at, _, user_id, _ = deadline
    line = step.floor.lines.get(user_id)
    tier = step.floor.tier_reached(user_id, at)
    if line is None or tier is None:
        return
    step.tell(user_id, TierReached(tier))
    step.attempts[user_id] = None
    step.widened[user_id] = line.tier


def _bar_over(step: Step, deadline: Deadline) -> None:
    at, _, a, b = deadline
    if step.floor.acquaintance.bars.get((a, b)) != at:
        return
    step.floor.acquaintance.lift_bar((a, b))
    for user_id in (a, b):
        if user_id in step.floor.seats.rows:
            step.try_again(user_id)


def _silent(step: Step, deadline: Deadline) -> None:
    at, _, user_id, _ = deadline
    floor = step.floor
    if not floor.liveness_fired(user_id, at):
        return
    date = floor.open_date(user_id)
    if date is not None:
        lose(step, date, user_id)
        return
    stop_call(step, user_id, CallEnd.LOST)
    floor.put_presence(user_id, replace(floor.presence(user_id), called=False))
    if floor.seat(user_id).state is not State.IDLE:
        go(step, user_id, Cause.LOST, IdleReason.LOST)


def _ages_changed(step: Step, deadline: Deadline) -> None:
    floor = step.floor
    days = floor.birthdays.run(deadline[0], step.now, wanted=len(floor.pool) > 0)
    if days is not None:
        for user_id in floor.pool.older(*days):
            step.try_again(user_id)


_DUTIES: Final[dict[Due, Callable[[Step, Deadline], None]]] = {
    Due.VOTE: _window_closed,
    Due.ACKNOWLEDGE: _window_closed,
    Due.DATE: _date_over,
    Due.RING: _rang_out,
    Due.CALL_COUNT: _call_counted,
    Due.TIER: _edge_reached,
    Due.BAR: _bar_over,
    Due.LIVENESS: _silent,
    Due.BIRTHDAYS: _ages_changed,
}
