"""The machine that decides: `handle(event, now) -> effects`.

The lobby owns the waiting pool and every deadline, and is the only code that makes, decides and
cancels matches. It reads no clock, uses no randomness and does no I/O: events and instants come
in, effects come out. Its driver, the matchmaker,

- handles events in the order of their arrival, and calls `wake` at the instant `next_deadline`;
- stores the `changes` of a round before it delivers the effects (R17);
- then calls `settle`, or `undo` if the round could not be stored. After an undo the lobby is what
  it was before the round, and the same events can be handled again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.effects import Effects
from yoked_actor.domain.lobby.floor.clock_step import (
    LeftOpen,
    not_in_the_future,
    restate,
    step_clock,
    with_bars_cut,
)
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.machine.calls import end_call
from yoked_actor.domain.lobby.machine.closing import (
    refusal_when_closed,
    send_out,
    sweep,
    tell_after_dates,
)
from yoked_actor.domain.lobby.machine.due import run_deadline
from yoked_actor.domain.lobby.machine.handlers import HANDLERS, NO_SIGN_OF_LIFE, state_reply
from yoked_actor.domain.lobby.machine.nudges import nudge_idlers
from yoked_actor.domain.lobby.machine.pairing import make_attempts
from yoked_actor.domain.lobby.machine.repair import at_rest, repair
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import Notice
from yoked_actor.domain.lobby.records import (
    MAIN,
    CallEnd,
    Changes,
    Counter,
    Known,
    Match,
    Presence,
    VideoDate,
)
from yoked_actor.domain.lobby.replies import Departed, Done
from yoked_actor.domain.people import WITHOUT_SECRET, ShownPlaces
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after

# A constant is read faster than a name of a module.
_ENTERED: Final = ev.Entered


class Lobby:
    """The state of all users in memory, and every decision about them."""

    def __init__(
        self,
        rules: Rules,
        counter: Counter | None = None,
        places: ShownPlaces = WITHOUT_SECRET,
        boot: int = 1,
        room: str = MAIN,
    ) -> None:
        """`boot` numbers the processes: ids of calls, which are not stored, contain it.

        The lobbies of all rooms of a process share one `counter`.
        """
        self.floor = Floor(rules, counter, places, boot, room)
        self.rules = rules
        self._pairs = True
        self._is_closed = False
        self._is_swept = False

    @property
    def is_closed(self) -> bool:
        """Whether the room is closed: matches and dates run out, and nobody waits."""
        return self._is_closed

    def close(self) -> None:
        """Close the room: the next `wake` sends everybody out of line."""
        self._is_closed = True
        self._is_swept = False

    def reopen(self) -> None:
        """Open the room again."""
        self._is_closed = False

    def stop_pairing(self) -> None:
        """Make no more matches, and end the calls that ring: the server is shutting down."""
        self._pairs = False

    def handle(self, event: ev.Event, now: Instant) -> Effects:
        """Decide what follows from an event. The user must be in memory (`Entered`)."""
        if type(event) is _ENTERED:
            if event.user_id not in self.floor.seats.rows:
                known = at_rest(event.known)
                self.floor.learn(with_bars_cut(known, self.rules, now))
            if event.known.room != self.floor.room:
                # The store learns in which room the user is now.
                self.floor.seats.touch(event.user_id)
            return Effects(Done(), [])
        step = Step(self.floor, now)
        if self._is_closed and (refusal := refusal_when_closed(self.floor, event)) is not None:
            return Effects(refusal, [])
        kind = type(event)
        if kind not in NO_SIGN_OF_LIFE:
            self.floor.record_life(event.user_id, now)
        reply = HANDLERS[kind](step, event)
        self._try(step)
        if reply is None:
            reply = state_reply(step, event)
        return Effects(reply, step.notices)

    def wake(self, now: Instant) -> list[tuple[str, Notice]]:
        """Run every deadline that is due, in order, each as its own step."""
        notices: list[tuple[str, Notice]] = []
        step = Step(self.floor, now)
        while (deadline := self.floor.deadlines.pop_due(now)) is not None:
            run_deadline(step, deadline)
            # Most deadlines no longer apply when they come due: then the step is still unused.
            if step.notices or step.attempts:
                self._try(step)
                notices += step.notices
                step = Step(self.floor, now)
        if self._is_closed and not self._is_swept:
            step = Step(self.floor, now)
            sweep(step)
            notices += step.notices
        if not self._pairs:
            step = Step(self.floor, now)
            for call in list(self.floor.calls.ringing.rows.values()):
                end_call(step, call, CallEnd.LOST)
            notices += step.notices
        return notices

    def record_life(self, heard: Mapping[str, Instant], now: Instant) -> None:
        """Record when users were heard. It decides nothing, and is not undone."""
        floor = self.floor
        for user_id, at in heard.items():
            known_at = floor.heard_at.get(user_id, 0)
            # An instant in the future is the grace of a restart, which ends now.
            if user_id in floor.seats.rows and (known_at < at or known_at > now):
                floor.record_life(user_id, at)

    def silent_by(self, now: Instant) -> list[str]:
        """The users who are lost at the next `wake`, unless they are heard before."""
        return self.floor.silent_by(now)

    def next_deadline(self, edges_from: Instant = 0) -> Instant | None:
        """When `wake` must be called next. The lobby must be settled.

        Tier edges before `edges_from` may wait until then. The deadline of another kind may not.
        """
        self.floor.move_liveness()
        return self.floor.deadlines.next_at(edges_from)

    def step_clock(self, by: int, now: Instant) -> None:
        """Follow a step of the clock by so many microseconds. The lobby must be settled.

        The length of every window and wait stays. It cannot be undone; call `restate` in each
        round until its changes are stored.
        """
        step_clock(self.floor, by, now)

    def restate(self) -> None:
        """Store what a step of the clock moved with the changes of this round."""
        restate(self.floor)

    def changes(self) -> Changes:
        """What must be stored before the effects may be delivered."""
        return self.floor.changes()

    def settle(self) -> None:
        """The round is stored."""
        self.floor.settle()
        self._is_swept = self._is_closed

    def undo(self) -> None:
        """The round could not be stored: go back to the state before it."""
        self.floor.undo()

    def depart(self, user_id: str) -> Departed | None:
        """Drop a user who goes to another room, if possible. The lobby must be settled."""
        return self.floor.depart(user_id)

    def forget(self, user_id: str) -> bool:
        """Drop a user from memory, if possible. The lobby must be settled."""
        return self.floor.forget(user_id)

    def restore(
        self,
        users: Sequence[Known],
        matches: Sequence[Match],
        dates: Sequence[VideoDate],
        now: Instant,
    ) -> None:
        """Restore what an earlier process left; its users have a grace period to return (R18)."""
        floor, rules = self.floor, self.rules
        floor.now = now
        left = not_in_the_future(LeftOpen(*repair(users, matches, dates)), now)
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
            # Set so that the user is lost exactly when the grace period ends.
            patience_s = rules.resume_grace_s if seat.state is State.IDLE else rules.liveness_s
            floor.heard_at[known.user_id] = after(now, rules.resume_grace_s - patience_s)
            if seat.state is State.WAITING and seat.waiting_since is not None:
                floor.line_up(known.user_id, seat.waiting_since)
            floor.put_seat(seat)
            floor.put_presence(known.user_id, Presence())
        floor.settle()

    def _try(self, step: Step) -> None:
        """Make the attempts of a step, then notify and nudge for those that found no partner."""
        if self._is_closed:
            tell_after_dates(step)
        if step.attempts:
            if self._is_closed:
                send_out(step, step.attempts)
            elif self._pairs:
                make_attempts(step)
            step.notify_waiting()
            nudge_idlers(step)
        step.floor.pool.admit(step.now)
