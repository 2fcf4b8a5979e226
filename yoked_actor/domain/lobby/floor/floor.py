"""The lobby's memory: the books, their deadlines, and what is derived from both.

What is derived (the pool of users who can be paired, the idle users who can be nudged) is updated
here and nowhere else.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby.floor.birthdays import Birthdays
from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.floor.books import ABSENT, FRONT, ticket_of
from yoked_actor.domain.lobby.floor.timed_books import TimedBooks
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.notices import Departed
from yoked_actor.domain.lobby.records import (
    MAIN,
    Call,
    Counter,
    Known,
    Line,
    Match,
    Presence,
    Seat,
    VideoDate,
)
from yoked_actor.domain.matching import Census, Idlers, Pool, Ticket, Tier, policy_by
from yoked_actor.domain.people import WITHOUT_SECRET, Person, ShownPlaces
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant

# A constant is read faster than a member of an enumeration.
_IDLE: Final = State.IDLE
_WAITING: Final = State.WAITING


class Floor(TimedBooks):
    """Everything that the lobby decides by."""

    def __init__(
        self,
        rules: Rules,
        counter: Counter | None = None,
        places: ShownPlaces = WITHOUT_SECRET,
        boot: int = 1,
        room: str = MAIN,
    ) -> None:
        super().__init__(rules, room)
        self._boot = boot
        self.places = places
        self.idlers = Idlers()
        self.birthdays = Birthdays(self.deadlines)
        self.explained: dict[str, tuple[Instant, Ticket, Census]] = {}
        """The last census for each user who asked why they wait, and the ticket it was for."""
        self.pool = Pool(policy_by(rules), self.tiers, places, self.numbers)
        self.now: Instant = 0
        """The instant of the present step."""
        self._superseded: set[str] = set()
        """Matches and dates that may leave memory once this round is stored."""
        self.counter = Counter() if counter is None else counter
        """Numbers matches, dates and calls; all rooms of a process share it."""

    def new_id(self, kind: str) -> str:
        """A new unique id."""
        # Not by `take`, which is not compiled.
        counter = self.counter
        number = counter.next_number
        counter.next_number = number + 1
        return f"{kind}{number}"

    def new_call_id(self) -> str:
        """A new id of a call. Calls are not stored, so it contains the number of the process."""
        return self.new_id(f"r{self._boot}-")

    # Changing

    def put_person(self, person: Person) -> None:
        """Set a profile."""
        self.people.put(person.user_id, person)
        self._sync(person.user_id)

    def put_seat(self, seat: Seat) -> None:
        """Set a seat, and a liveness deadline unless the user is idle."""
        user_id = seat.user_id
        before = self.seats.rows.get(user_id)
        self.seats.put(user_id, seat)
        if before is not None:
            last_id = before.last_match_id
            if last_id is not None and last_id != seat.last_match_id:
                self._superseded.add(last_id)
        # A user in a match is neither in the pool nor idle, whatever else changes.
        if before is None or seat.match_id is None or before.match_id is None:
            self._sync(user_id)
        # A user who was not idle has a deadline, which is not too late for any other state.
        if seat.state is not _IDLE and (
            before is None or before.state is _IDLE or user_id not in self._timed
        ):
            self._time_liveness(user_id)

    def line_up(self, user_id: str, since: Instant) -> None:
        """Set a place in line, in the tier that the wait has reached by now."""
        tier = self.tiers.tier_at(since, self.now)
        self.lines.put(user_id, Line(tier))
        self._time_tier(user_id, since, tier)

    def put_line(self, user_id: str, line: Line) -> None:
        """Set how far a user has come in line."""
        self.lines.put(user_id, line)
        self._sync(user_id)

    def tier_reached(self, user_id: str, edge_at: Instant) -> Tier | None:
        """The tier that a waiting user reaches at an edge; None if the edge no longer applies."""
        seat, line = self.seats.rows.get(user_id), self.lines.rows.get(user_id)
        if seat is None or line is None or seat.state is not _WAITING:
            return None
        since = seat.waiting_since
        assert since is not None
        if self.tiers.next_edge(since, line.tier) != edge_at:
            return None
        tier = self.tiers.tier_at(since, edge_at)
        self.put_line(user_id, replace(line, tier=tier))
        self._time_tier(user_id, since, tier)
        return tier

    def put_presence(self, user_id: str, presence: Presence) -> None:
        """Set how a user can be reached."""
        self.presences.put(user_id, presence)
        self._sync(user_id)
        if self.must_return(user_id):
            self._time_liveness(user_id)

    def put_match(self, match: Match) -> None:
        """Set a match, and the deadline of its open window."""
        match_id = match.match_id
        before = self.matches.rows.get(match_id)
        self.matches.put(match_id, match)
        # The next window may close at the same instant as the one before it.
        if (
            before is None
            or before.status is not match.status
            or before.closes_at != match.closes_at
        ):
            self._time_match(match)

    def put_date(self, date: VideoDate) -> None:
        """Set a video date, and the deadline of an open one."""
        self.dates.put(date.date_id, date)
        if date.ended_at is None:
            self._time_date(date)
        else:
            self._superseded.add(date.date_id)

    def begin_call(self, call: Call, now: Instant) -> None:
        """Let a call ring, count it, and watch over a user of it who has no socket."""
        self.calls.begin(call)
        self._time_call(call)
        self.count_call(call.caller, call.callee, now)
        for user_id in (call.caller, call.callee):
            if self.must_return(user_id):
                self._time_liveness(user_id)

    def count_call(self, caller: str, callee: str, now: Instant) -> None:
        """Count a call of one user to another."""
        self.calls.note(caller, callee, now)
        self._time_count(caller, callee, now)

    def bar(self, a: str, b: str, until: Instant) -> None:
        """Keep two apart until an instant."""
        self._time_bar(self.acquaintance.bar(a, b, until), until)

    # Entering and leaving memory

    def learn(self, known: Known) -> None:
        """Bring a user into memory, with what the store has of them."""
        user_id = known.user_id
        seat = known.seat or Seat(user_id)
        last = known.last_match
        if last is not None:
            self.matches.rows.setdefault(last.match_id, last)
        elif seat.last_match_id is not None:
            seat = replace(seat, last_match_id=None)
        if known.person is not None:
            self.people.rows[user_id] = known.person
        self.seats.rows[user_id] = seat
        self.acquaintance.learn(known)
        for other, until in known.bars.items():
            self._time_bar((min(user_id, other), max(user_id, other)), until)

    def forget(self, user_id: str) -> bool:
        """Drop a user from memory; False if the user is still waiting, meeting or connected.

        The books must be settled: what is not stored yet must not be dropped.
        """
        seat = self.seats.rows.get(user_id)
        if seat is None:
            return True
        if seat.state is not _IDLE or seat.date_id is not None:
            return False
        if self.presence(user_id).device or self.calls.of(user_id) is not None:
            return False
        self._drop(seat)
        return True

    def depart(self, user_id: str) -> Departed | None:
        """Drop a user who goes to another room; None if the user is waiting, meeting or calling.

        The books must be settled: the other room takes over what is stored.
        """
        seat = self.seats.rows.get(user_id)
        if seat is None or seat.state is not _IDLE or seat.date_id is not None:
            return None
        if self.calls.of(user_id) is not None:
            return None
        last_id, between = seat.last_match_id, self.acquaintance
        known = Known(
            user_id,
            person=self.people.rows.get(user_id),
            seat=seat,
            blocks=between.blocked_by(user_id),
            met=between.met_by(user_id),
            bars=between.barred_from(user_id),
            last_match=None if last_id is None else self.matches.rows.get(last_id),
            room=self.room,
        )
        presence = self.presence(user_id)
        self._drop(seat)
        return Departed(known, presence)

    def blank(self, user_id: str) -> None:
        """Reset an erased user who is still in memory. The books must be settled.

        The user id stays: a closing socket or a late heartbeat may still refer to it.
        """
        presence, heard_at = self.presence(user_id), self.heard_at.get(user_id, 0)
        self.acquaintance.erase(user_id)
        self.calls.erase(user_id)
        self._drop(self.seats.rows[user_id])
        self.seats.rows[user_id] = Seat(user_id)
        self.presences.rows[user_id] = presence
        self.heard_at[user_id] = heard_at
        self.acquaintance.learn(Known(user_id))

    def _drop(self, seat: Seat) -> None:
        user_id = seat.user_id
        self.acquaintance.forget(user_id)
        self.people.rows.pop(user_id, None)
        self.presences.rows.pop(user_id, None)
        self.lines.rows.pop(user_id, None)
        self.heard_at.pop(user_id, None)
        self._timed.pop(user_id, None)
        self.nudged_at.rows.pop(user_id, None)
        self.kept_signals.rows.pop(user_id, None)
        self.explained.pop(user_id, None)
        self.idlers.discard(user_id)
        del self.seats.rows[user_id]
        self._release(seat.last_match_id)

    # Storing

    def settle(self) -> None:
        """The changes are stored: keep them."""
        for book in (self.people, self.seats, self.presences, self.lines, self.matches, self.dates):
            book.settle()
        self.nudged_at.settle()
        self.kept_signals.settle()
        # The quality of a match is not needed in memory once it is stored.
        self.quality = Book()
        self.acquaintance.settle()
        self.birthdays.settle()
        self.calls.settle()
        # Ended matches stay in memory until they are stored and no seat refers to them.
        for subject in self._superseded:
            self.dates.rows.pop(subject, None)
            self._release(subject)
        self._superseded.clear()
        for user_id in self.erased:
            self.blank(user_id)
        self.erased.clear()

    def undo(self) -> None:
        """The changes could not be stored: restore everything, deadlines included."""
        users = self.people.undo() + self.seats.undo() + self.presences.undo() + self.lines.undo()
        self.quality.undo()
        self.nudged_at.undo()
        self.kept_signals.undo()
        self.explained.clear()  # These may count users who are not there after the undo.
        for match_id in self.matches.undo():
            if match_id in self.matches.rows:
                self._time_match(self.matches.rows[match_id])
        for date_id in self.dates.undo():
            date = self.dates.rows.get(date_id)
            if date is not None:
                self._time_date(date)
        self.birthdays.undo()
        calls, counted = self.calls.undo()
        for call in calls:
            self._time_call(call)
            users += [call.caller, call.callee]
        for (caller, callee), placed_at in counted:
            self._time_count(caller, callee, placed_at)
        for pair in self.acquaintance.undo():
            self._time_bar(pair, self.acquaintance.bars.rows[pair])
        for user_id in users:
            self._sync(user_id)
            self._retime_tier(user_id)
            seat = self.seats.rows.get(user_id)
            if seat is not None and (
                seat.state is not _IDLE or seat.date_id is not None or self.must_return(user_id)
            ):
                self._time_liveness(user_id)
        self.pool.admit(self.now)
        self._superseded.clear()
        self.erased.clear()

    def shift_timers(self, by: int, now: Instant) -> None:
        """Move every deadline by so many microseconds; see `clock_step`."""
        self.now = now
        self.heard_at = {user_id: at + by for user_id, at in self.heard_at.items()}
        self._timed = {user_id: at + by for user_id, at in self._timed.items()}
        self.explained.clear()
        self.deadlines.shift(by)
        self.pool.shift(by, now)
        self.birthdays.clock_stepped(now)

    def _sync(self, user_id: str) -> None:
        """Update the pool and the idle users who can be nudged."""
        seat, person = self.seats.rows.get(user_id), self.people.rows.get(user_id)
        presence = self.presences.rows.get(user_id, ABSENT)
        ticket = None
        if presence.called or presence.device:
            ticket = ticket_of(seat, person, self.lines.rows.get(user_id, FRONT))
        if ticket is not None:
            self.birthdays.somebody_waits(self.now)
            self.pool.expect(ticket, self.now)
        else:
            self.pool.discard(user_id)
        if (
            presence.device
            and seat is not None
            and seat.state is _IDLE
            and seat.date_id is None
            and person is not None
        ):
            self.idlers.put(person)
        else:
            self.idlers.discard(user_id)

    def _release(self, match_id: str | None) -> None:
        """Drop an ended match that no seat in memory refers to."""
        match = self.matches.rows.get(match_id) if match_id is not None else None
        if match is None or match_id is None or match.ended_at is None:
            return
        for user_id in (match.a, match.b):
            seat = self.seats.rows.get(user_id)
            if seat is not None and seat.last_match_id == match_id:
                return
        del self.matches.rows[match_id]
