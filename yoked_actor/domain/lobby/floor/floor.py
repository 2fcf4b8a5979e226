"""The lobby's memory: the books, their deadlines, and what is derived from both.

What is derived (the pool of users who can be paired, the idle users who can be nudged) is updated
here, and in `users_in_memory` when a user leaves.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import IDLE, WAITING
from yoked_actor.domain.lobby.floor.birthdays import Birthdays
from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.floor.books import ABSENT, FRONT, ticket_of
from yoked_actor.domain.lobby.floor.users_in_memory import UsersInMemory
from yoked_actor.domain.lobby.records import (
    MAIN,
    Call,
    Counter,
    Line,
    Match,
    Presence,
    Seat,
    VideoDate,
)
from yoked_actor.domain.matching import Pool, Tier, policy_by
from yoked_actor.domain.people import WITHOUT_SECRET, Person, ShownPlaces
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant


class Floor(UsersInMemory):
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
        self.birthdays = Birthdays(self.deadlines)
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
        if seat.state is not IDLE and (
            before is None or before.state is IDLE or user_id not in self._timed
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
        if seat is None or line is None or seat.state is not WAITING:
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
                seat.state is not IDLE or seat.date_id is not None or self.must_return(user_id)
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
            and seat.state is IDLE
            and seat.date_id is None
            and person is not None
        ):
            self.idlers.put(person)
        else:
            self.idlers.discard(user_id)
