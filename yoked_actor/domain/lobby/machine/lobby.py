"""The machine that decides: `handle(event, now) -> effects`.

The lobby knows everyone who is here, owns the waiting pool and every deadline, and is the only
place where matches are made, decided and cancelled. It reads no clock, draws no lots and talks to
nobody: events and instants come in, effects come out, and whoever drives it stores the `changes`
before delivering the effects (R17). A round of decisions is then `settle`d, or, when it could not
be stored, `undo`ne: the lobby is then exactly what it was, and the same events can be handled anew.

The driver's duty is small: handle events in the order of their arrival, call `wake` when the
instant `next_deadline` has come, and settle or undo what it has been given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.floor.clock_step import (
    LeftOpen,
    not_in_the_future,
    restate,
    step_clock,
    with_bars_cut,
)
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import Cause, State
from yoked_actor.domain.lobby.machine.dates import end_date_by, hang_up, relay, start_date
from yoked_actor.domain.lobby.machine.departure import erase, expel
from yoked_actor.domain.lobby.machine.due import run_deadline
from yoked_actor.domain.lobby.machine.explain import explain
from yoked_actor.domain.lobby.machine.matches import (
    acknowledge,
    cancel_for_block,
    come_back,
    go,
    leave_match,
    vote,
)
from yoked_actor.domain.lobby.machine.mending import at_rest, mend
from yoked_actor.domain.lobby.machine.nudges import nudge_idlers
from yoked_actor.domain.lobby.machine.pairing import make_attempts
from yoked_actor.domain.lobby.machine.snapshot import snapshot_of
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import (
    BlockList,
    Code,
    Done,
    Effects,
    IdleReason,
    LeaveReply,
    Notice,
    Refusal,
    Reply,
    SpinReply,
    WaitReason,
)
from yoked_actor.domain.lobby.records import Changes, Known, Match, Presence, VideoDate
from yoked_actor.domain.people import WITHOUT_SECRET, ShownPlaces, is_user_id
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after


class Lobby:
    """Everyone who is here, and what becomes of them."""

    def __init__(
        self, rules: Rules, next_number: int = 1, places: ShownPlaces = WITHOUT_SECRET
    ) -> None:
        self.floor = Floor(rules, next_number, places)
        self.rules = rules
        self._pairs = True

    def stop_pairing(self) -> None:
        """Make no match any more, for what is left of this lobby's life: it is about to end."""
        self._pairs = False

    def handle(self, event: ev.Event, now: Instant) -> Effects:
        """Decide what follows from an event. The user must have entered before."""
        if type(event) is ev.Entered:
            if event.user_id not in self.floor.seats.rows:
                known = at_rest(event.known)
                self.floor.learn(with_bars_cut(known, self.rules, now))
            return Effects(Done(), [])
        step = Step(self.floor, now)
        if type(event) not in _SIGNS_OF_OTHERS:
            self.floor.hear(event.user_id, now)
        reply = _HANDLERS[type(event)](step, event)
        self._try(step)
        # A spin is answered with where it led, and a snapshot shows what the step made of it all.
        if reply is None:
            reply = _state_reply(step, event)
        return Effects(reply, step.notices)

    def wake(self, now: Instant) -> list[tuple[str, Notice]]:
        """Run every deadline that is due, in order; each is a step of its own."""
        notices: list[tuple[str, Notice]] = []
        while (deadline := self.floor.deadlines.pop_due(now)) is not None:
            step = Step(self.floor, now)
            run_deadline(step, deadline)
            self._try(step)
            notices += step.notices
        return notices

    def next_deadline(self) -> Instant | None:
        """When `wake` must be called next."""
        return self.floor.deadlines.next_at()

    def step_clock(self, by: int, now: Instant) -> None:
        """The clock was stepped by so many microseconds; call it only when everything is settled.

        Every window and wait stays as long as it was. It cannot be undone; call `restate` in each
        round until its changes are stored.
        """
        step_clock(self.floor, by, now)

    def restate(self) -> None:
        """Have what a step of the clock has moved stored with the changes of this round."""
        restate(self.floor)

    def changes(self) -> Changes:
        """What must be stored before the effects may be delivered."""
        return self.floor.changes()

    def settle(self) -> None:
        """What was decided is stored."""
        self.floor.settle()

    def undo(self) -> None:
        """What was decided could not be stored: it never happened."""
        self.floor.undo()

    def forget(self, user_id: str) -> bool:
        """Let a user leave memory; call it only when everything is settled."""
        return self.floor.forget(user_id)

    def restore(
        self,
        users: Sequence[Known],
        matches: Sequence[Match],
        dates: Sequence[VideoDate],
        now: Instant,
    ) -> None:
        """Take up what an earlier process left (R18); all are awaited until the grace is over."""
        floor, rules = self.floor, self.rules
        floor.now = now
        left = not_in_the_future(LeftOpen(*mend(users, matches, dates)), now)
        users = [with_bars_cut(known, rules, now) for known in left.users]
        matches, dates = left.matches, left.dates
        for match in matches:
            awaited = replace(match, closes_at=None, awaiting=frozenset(match.users))
            floor.matches.rows[match.match_id] = awaited
        for known in users:
            floor.learn(known)
        for date in dates:
            floor.put_date(date)
        for known in users:
            seat = floor.seat(known.user_id)
            # As if heard at such an instant that the patience with them ends with the grace.
            patience_s = rules.resume_grace_s if seat.state is State.IDLE else rules.liveness_s
            floor.heard_at[known.user_id] = after(now, rules.resume_grace_s - patience_s)
            if seat.state is State.WAITING and seat.waiting_since is not None:
                floor.line_up(known.user_id, seat.waiting_since)
            floor.put_seat(seat)
            floor.put_presence(known.user_id, Presence())
        floor.settle()

    def _try(self, step: Step) -> None:
        """Make the attempts that a step owes, and what follows from those that find nobody."""
        if step.attempts:
            if self._pairs:
                make_attempts(step)
            step.say_who_waits()
            nudge_idlers(step)
        step.floor.pool.admit(step.now)


def _attached(step: Step, event: ev.Attached) -> Reply | None:
    step.floor.kept_signals.remove(event.user_id)
    _be_here(step, event.user_id, replace(step.floor.presence(event.user_id), device=event.device))
    return None


def _detached(step: Step, event: ev.Detached) -> Reply:
    floor, user_id = step.floor, event.user_id
    if floor.presence(user_id).device == event.device:
        if floor.seat(user_id).date_id is not None:
            # On a date nobody has to beat: the grace runs from the moment they went.
            floor.hear(user_id, step.now)
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
    elif floor.seat(user_id).state is State.WAITING:
        step.attempts[user_id] = WaitReason.RESUMED


def _heard(step: Step, event: ev.Heard) -> Reply:
    return Done()


def _look(step: Step, event: ev.Look) -> Reply | None:
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
    if seat.state is State.WAITING:
        return None
    match = floor.open_match(user_id)
    if match is not None:
        if not match.acknowledged_by(user_id):
            return None
        leave_match(step, match, user_id, Cause.SPUN)
    step.queue(user_id, Cause.SPUN, WaitReason.SPUN, fresh=True)
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
    return start_date(step, event.user_id, event.partner)


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
    step.try_again(user_id)
    return Done()


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


def _state_reply(step: Step, event: ev.Event) -> Reply:
    seat = step.floor.seat(event.user_id)
    if type(event) is ev.Spin:
        return SpinReply(seat.state, seat.match_id)
    return snapshot_of(step.floor, event.user_id, step.now)


_SIGNS_OF_OTHERS = frozenset({ev.Detached, ev.BlockFor, ev.Expel, ev.Erase})
"""Events that are no sign of life of the user they belong to."""

_HANDLERS: dict[type[ev.Event], Callable[[Step, Any], Reply | None]] = {
    ev.Attached: _attached,
    ev.Detached: _detached,
    ev.Heard: _heard,
    ev.Called: _called,
    ev.Look: _look,
    ev.Explain: _explain,
    ev.Spin: _spin,
    ev.Leave: _leave,
    ev.Acknowledge: _acknowledge,
    ev.Vote: _vote,
    ev.Signal: _signal,
    ev.EndDate: _end_date,
    ev.StartDate: _start_date,
    ev.Block: _block,
    ev.BlockFor: _block,
    ev.Unblock: _unblock,
    ev.ListBlocks: _list_blocks,
    ev.ProfileChanged: _profile_changed,
    ev.Expel: expel,
    ev.Erase: erase,
}
"""What each event does. None for a reply: it is read off the floor when the step is over."""
