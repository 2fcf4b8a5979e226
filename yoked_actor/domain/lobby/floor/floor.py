"""The lobby's memory: who is here, in which seat, in which match, on which date.

Every change goes through the books, so that a round of decisions can be settled or undone as a
whole. What follows from the books (the pool of those who can be paired, the heap of deadlines) is
kept in step here and nowhere else.
"""

from __future__ import annotations

import msgspec

from yoked_actor.domain.lobby.floor.acquaintance import Acquaintance
from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.floor.deadlines import Deadlines, Due
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import (
    Changes,
    Erasure,
    Known,
    Line,
    Match,
    MatchStatus,
    Pair,
    Presence,
    Quality,
    Seat,
    VideoDate,
)
from yoked_actor.domain.matching import Census, Idlers, Pool, Ticket, Tier, Tiers, policy_by
from yoked_actor.domain.people import WITHOUT_SECRET, Person, ShownPlaces
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after

_NOWHERE = Presence()
_FRONT = Line()
_WINDOW = {MatchStatus.MATCHED: Due.ACKNOWLEDGE, MatchStatus.VOTING: Due.VOTE}


class Floor:
    """The books of the lobby and what is derived from them."""

    def __init__(
        self, rules: Rules, next_number: int = 1, places: ShownPlaces = WITHOUT_SECRET
    ) -> None:
        self.rules = rules
        self.places = places
        self.people: Book[str, Person] = Book()
        self.seats: Book[str, Seat] = Book()
        self.presences: Book[str, Presence] = Book()
        self.matches: Book[str, Match] = Book()
        self.dates: Book[str, VideoDate] = Book()
        self.acquaintance = Acquaintance(rules.rematch_after_days)
        self.lines: Book[str, Line] = Book()
        self.quality: Book[str, Quality] = Book()
        self.nudged_at: Book[str, Instant] = Book()
        self.kept_signals: Book[str, int] = Book()
        """How many signals wait for whoever is on a date but has no socket."""
        self.idlers = Idlers()
        self.explained: dict[str, tuple[Instant, Ticket, Census]] = {}
        """What was last counted for whoever asked why they wait, and for which ticket of theirs."""
        self.tiers = Tiers.by(rules)
        self.pool = Pool(policy_by(rules), self.tiers, places)
        self.now: Instant = 0
        """The instant of the step that is being taken."""
        self.deadlines = Deadlines()
        self.heard_at: dict[str, Instant] = {}
        self._timed: dict[str, Instant] = {}
        self._superseded: set[str] = set()
        self._next_number = next_number
        self.erased: dict[str, Erasure] = {}
        """Who is to be erased when this round is stored."""

    def new_id(self, kind: str) -> str:
        """An id that was never given before."""
        number = self._next_number
        self._next_number += 1
        return f"{kind}{number}"

    # Reading

    def seat(self, user_id: str) -> Seat:
        """The seat of a user who is in memory."""
        return self.seats.rows[user_id]

    def person(self, user_id: str) -> Person:
        """The profile of a user who has one."""
        return self.people.rows[user_id]

    def is_here(self, user_id: str) -> bool:
        """Whether a user can be paired now."""
        return self.presences.rows.get(user_id, _NOWHERE).here

    def is_online(self, user_id: str, now: Instant) -> bool:
        """Whether a user can be called: a socket is open, or they called over HTTP just now.

        Who is idle need not beat, so without a socket only a fresh word says that they are there.
        """
        presence = self.presence(user_id)
        if presence.device:
            return True
        heard_at = self.heard_at.get(user_id, 0)
        return presence.called and after(heard_at, self.rules.liveness_s) > now

    def presence(self, user_id: str) -> Presence:
        """How a user can be reached."""
        return self.presences.rows.get(user_id, _NOWHERE)

    def is_timed(self, user_id: str) -> bool:
        """Whether a liveness deadline is kept for a user."""
        return user_id in self._timed

    def open_match(self, user_id: str) -> Match | None:
        """The match a user is in."""
        match_id = self.seats.rows[user_id].match_id
        return None if match_id is None else self.matches.rows[match_id]

    def open_date(self, user_id: str) -> VideoDate | None:
        """The video date a user is on."""
        date_id = self.seats.rows[user_id].date_id
        return None if date_id is None else self.dates.rows[date_id]

    # Changing

    def hear(self, user_id: str, now: Instant) -> None:
        """Note a sign of life."""
        awaited = self.heard_at.get(user_id, 0) > now
        self.heard_at[user_id] = now
        if awaited and user_id in self._timed:
            # Back after a restart: the grace is over for them, and beats count again.
            self._time_liveness(user_id)

    def put_person(self, person: Person) -> None:
        """Set a profile."""
        self.people.put(person.user_id, person)
        self._sync(person.user_id)

    def put_seat(self, seat: Seat) -> None:
        """Set a seat; a user who is not idle is timed for liveness."""
        before = self.seats.rows.get(seat.user_id)
        if before is not None and before.last_match_id != seat.last_match_id:
            self._supersede(before.last_match_id)
        self.seats.put(seat.user_id, seat)
        self._sync(seat.user_id)
        if seat.state is not State.IDLE:
            self._time_liveness(seat.user_id)

    def line_up(self, user_id: str, since: Instant) -> None:
        """Prepare a place in line, in the tier that a wait has reached by now."""
        tier = self.tiers.tier_at(since, self.now)
        self.lines.put(user_id, Line(tier))
        self._time_tier(user_id, since, tier)

    def put_line(self, user_id: str, line: Line) -> None:
        """Set how far a user has come in line."""
        self.lines.put(user_id, line)
        self._sync(user_id)

    def tier_reached(self, user_id: str, edge_at: Instant) -> Tier | None:
        """The tier that a waiting user reaches at an edge; None when the edge is not theirs."""
        seat, line = self.seats.rows.get(user_id), self.lines.rows.get(user_id)
        if seat is None or line is None or seat.state is not State.WAITING:
            return None
        since = seat.waiting_since
        assert since is not None
        if self.tiers.next_edge(since, line.tier) != edge_at:
            return None
        tier = self.tiers.tier_at(since, edge_at)
        self.put_line(user_id, msgspec.structs.replace(line, tier=tier))
        self._time_tier(user_id, since, tier)
        return tier

    def put_presence(self, user_id: str, presence: Presence) -> None:
        """Set how a user can be reached."""
        self.presences.put(user_id, presence)
        self._sync(user_id)
        if not presence.here and self.seats.rows[user_id].date_id is not None:
            self._time_liveness(user_id)

    def put_match(self, match: Match) -> None:
        """Set a match; the window that is open in it is timed."""
        before = self.matches.rows.get(match.match_id)
        self.matches.put(match.match_id, match)
        # Another window may close in the very instant in which the one before it would have.
        if before is None or (before.closes_at, before.status) != (match.closes_at, match.status):
            self._time_match(match)

    def put_date(self, date: VideoDate) -> None:
        """Set a video date; an open one is timed."""
        self.dates.put(date.date_id, date)
        if date.ended_at is None:
            self.deadlines.add(date.ends_at, Due.DATE, date.a, date.date_id)
        else:
            self._superseded.add(date.date_id)

    def bar(self, a: str, b: str, until: Instant) -> None:
        """Keep two apart until an instant."""
        self._time_bar(self.acquaintance.bar(a, b, until), until)

    # Coming and going

    def learn(self, known: Known) -> None:
        """Bring a user into memory, with what the store remembers of them."""
        user_id = known.user_id
        seat = known.seat or Seat(user_id)
        last = known.last_match
        if last is not None:
            self.matches.rows.setdefault(last.match_id, last)
        elif seat.last_match_id is not None:
            seat = msgspec.structs.replace(seat, last_match_id=None)
        if known.person is not None:
            self.people.rows[user_id] = known.person
        self.seats.rows[user_id] = seat
        self.acquaintance.learn(known)
        for other, until in known.bars.items():
            self._time_bar((min(user_id, other), max(user_id, other)), until)

    def forget(self, user_id: str) -> bool:
        """Let a user leave memory, unless something still holds them.

        Only when the books are settled: what is not stored yet must not be dropped.
        """
        seat = self.seats.rows.get(user_id)
        if seat is None:
            return True
        if seat.state is not State.IDLE or seat.date_id is not None:
            return False
        if self.presence(user_id).device:
            return False
        self._drop(seat)
        return True

    def blank(self, user_id: str) -> None:
        """Make a stranger of an erased user who is still in memory. The books must be settled.

        They stay because something may be under way for them: a socket that closes, a late beat.
        """
        presence, heard_at = self.presence(user_id), self.heard_at.get(user_id, 0)
        self.acquaintance.erase(user_id)
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

    def changes(self) -> Changes:
        """What must be saved before anybody may be told."""
        changes = Changes(
            people=self.people.changed(),
            seats=self.seats.changed(),
            matches=self.matches.changed(),
            dates=self.dates.changed(),
            quality=self.quality.changed(),
            erased=list(self.erased.values()),
        )
        self.acquaintance.collect(changes)
        return changes

    def touched_users(self) -> set[str]:
        """Whose seat was changed since the books last settled."""
        return set(self.seats.touched())

    def settle(self) -> None:
        """The changes are stored: they stand."""
        for book in (self.people, self.seats, self.presences, self.lines, self.matches, self.dates):
            book.settle()
        self.nudged_at.settle()
        self.kept_signals.settle()
        # What is stored of a match's quality is not needed in memory.
        self.quality = Book()
        self.acquaintance.settle()
        # Ended matches stay while a seat remembers them; only now can they go, being stored.
        for subject in self._superseded:
            self.dates.rows.pop(subject, None)
            self._release(subject)
        self._superseded.clear()
        for user_id in self.erased:
            self.blank(user_id)
        self.erased.clear()

    def undo(self) -> None:
        """The changes could not be stored: all is as it was, deadlines included."""
        users = self.people.undo() + self.seats.undo() + self.presences.undo() + self.lines.undo()
        self.quality.undo()
        self.nudged_at.undo()
        self.kept_signals.undo()
        self.explained.clear()  # Counted among people who may not have been there.
        for match_id in self.matches.undo():
            if match_id in self.matches.rows:
                self._time_match(self.matches.rows[match_id])
        for date_id in self.dates.undo():
            date = self.dates.rows.get(date_id)
            if date is not None:
                self.deadlines.add(date.ends_at, Due.DATE, date.a, date_id)
        for pair in self.acquaintance.undo():
            self._time_bar(pair, self.acquaintance.bars.rows[pair])
        for user_id in users:
            self._sync(user_id)
            self._retime_tier(user_id)
            seat = self.seats.rows.get(user_id)
            if seat is not None and (seat.state is not State.IDLE or seat.date_id is not None):
                self._time_liveness(user_id)
        self.pool.admit(self.now)
        self._superseded.clear()
        self.erased.clear()

    # Deadlines

    def shift_timers(self, by: int, now: Instant) -> None:
        """Move all that is timed by so many microseconds; see `clock_step`."""
        self.now = now
        self.heard_at = {user_id: at + by for user_id, at in self.heard_at.items()}
        self._timed = {user_id: at + by for user_id, at in self._timed.items()}
        self.explained.clear()
        self.deadlines.shift(by)
        self.pool.shift(by, now)

    def liveness_at(self, user_id: str) -> Instant:
        """When a user who stays silent is lost.

        Who is on a date need not beat (the state is idle): there only absence counts, for longer.
        """
        idle = self.seats.rows[user_id].state is State.IDLE
        patience_s = self.rules.resume_grace_s if idle else self.rules.liveness_s
        return after(self.heard_at.get(user_id, 0), patience_s)

    def liveness_fired(self, user_id: str, at: Instant) -> bool:
        """Whether the user was lost at `at`; if not, the deadline is moved to where it belongs.

        Judged by its own instant even when it runs late, so that it keeps its turn among others.
        """
        if self._timed.get(user_id) != at:
            return False
        del self._timed[user_id]
        seat = self.seats.rows.get(user_id)
        if seat is None:
            return False
        if seat.state is State.IDLE and (seat.date_id is None or self.is_here(user_id)):
            return False
        if self.liveness_at(user_id) > at:
            self._time_liveness(user_id)
            return False
        return True

    def _time_liveness(self, user_id: str) -> None:
        # One timer a user. It may stand too early, and moves when it fires, but never too late:
        # patience is longer on a date, and with those who are awaited, than in line.
        at = self.liveness_at(user_id)
        timed_at = self._timed.get(user_id)
        if timed_at is None or at < timed_at:
            self._timed[user_id] = at
            self.deadlines.add(at, Due.LIVENESS, user_id)

    def _time_match(self, match: Match) -> None:
        if match.closes_at is not None and match.is_open:
            self.deadlines.add(match.closes_at, _WINDOW[match.status], match.a, match.match_id)

    def _time_tier(self, user_id: str, since: Instant, tier: Tier) -> None:
        edge_at = self.tiers.next_edge(since, tier)
        if edge_at is not None:
            self.deadlines.add(edge_at, Due.TIER, user_id)

    def _retime_tier(self, user_id: str) -> None:
        seat, line = self.seats.rows.get(user_id), self.lines.rows.get(user_id)
        if seat is not None and line is not None and seat.waiting_since is not None:
            self._time_tier(user_id, seat.waiting_since, line.tier)

    def _time_bar(self, pair: Pair, until: Instant) -> None:
        self.deadlines.add(until, Due.BAR, pair[0], pair[1])

    # Derived

    def ticket(self, user_id: str) -> Ticket | None:
        """The ticket of a user who waits, whether they can be paired now or not."""
        seat = self.seats.rows.get(user_id)
        if seat is None or seat.state is not State.WAITING or seat.waiting_since is None:
            return None
        line = self.lines.rows.get(user_id, _FRONT)
        person = self.people.rows[user_id]
        return Ticket(person, seat.waiting_since, seat.credit, line.skips, line.tier)

    def _sync(self, user_id: str) -> None:
        """Keep the pool, and those who could be nudged, in step with the books."""
        ticket = self.ticket(user_id) if self.is_here(user_id) else None
        if ticket is not None:
            self.pool.expect(ticket, self.now)
        else:
            self.pool.discard(user_id)
        seat, person = self.seats.rows.get(user_id), self.people.rows.get(user_id)
        if (
            seat is not None
            and person is not None
            and seat.state is State.IDLE
            and seat.date_id is None
            and self.presence(user_id).device
        ):
            self.idlers.put(person)
        else:
            self.idlers.discard(user_id)

    def _supersede(self, match_id: str | None) -> None:
        if match_id is not None:
            self._superseded.add(match_id)

    def _release(self, match_id: str | None) -> None:
        """Drop an ended match that no seat in memory remembers."""
        match = self.matches.rows.get(match_id) if match_id is not None else None
        if match is None or match.is_open:
            return
        for user_id in match.users:
            seat = self.seats.rows.get(user_id)
            if seat is not None and seat.last_match_id == match.match_id:
                return
        del self.matches.rows[match.match_id]
