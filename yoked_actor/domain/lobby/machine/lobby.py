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

from collections.abc import Sequence

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
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.machine.due import run_deadline
from yoked_actor.domain.lobby.machine.handlers import HANDLERS, NO_SIGN_OF_LIFE, state_reply
from yoked_actor.domain.lobby.machine.mending import at_rest, mend
from yoked_actor.domain.lobby.machine.nudges import nudge_idlers
from yoked_actor.domain.lobby.machine.pairing import make_attempts
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import (
    Done,
    Effects,
    Notice,
)
from yoked_actor.domain.lobby.records import Changes, Known, Match, Presence, VideoDate
from yoked_actor.domain.people import WITHOUT_SECRET, ShownPlaces
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
        if type(event) not in NO_SIGN_OF_LIFE:
            self.floor.hear(event.user_id, now)
        reply = HANDLERS[type(event)](step, event)
        self._try(step)
        # A spin is answered with where it led, and a snapshot shows what the step made of it all.
        if reply is None:
            reply = state_reply(step, event)
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
