"""The tables of the lobby: every user, seat, match and date in memory, and how to read them.

Every change goes through a `Book`, so that a round of decisions can be settled or undone as a
whole.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import WAITING
from yoked_actor.domain.lobby.floor.acquaintance import Acquaintance
from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.floor.calls import Calls
from yoked_actor.domain.lobby.records import (
    MAIN,
    Changes,
    Erasure,
    Line,
    Match,
    Presence,
    Quality,
    Seat,
    VideoDate,
)
from yoked_actor.domain.matching import Numbers, Ticket
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant

ABSENT: Final = Presence()
FRONT: Final = Line()


class Books:
    """The tables, with undo."""

    def __init__(self, rules: Rules, room: str = MAIN) -> None:
        self.rules = rules
        self.room = room
        """The room that is stored with the seats, matches and dates."""
        self.people: Book[str, Person] = Book()
        self.seats: Book[str, Seat] = Book()
        self.presences: Book[str, Presence] = Book()
        self.matches: Book[str, Match] = Book()
        self.dates: Book[str, VideoDate] = Book()
        self.calls = Calls()
        self.numbers = Numbers()
        self.acquaintance = Acquaintance(rules.rematch_after_days, self.numbers)
        self.lines: Book[str, Line] = Book()
        self.quality: Book[str, Quality] = Book()
        self.nudged_at: Book[str, Instant] = Book()
        self.kept_signals: Book[str, int] = Book()
        """How many signals are kept for each user who is on a date without a socket."""
        self.erased: dict[str, Erasure] = {}
        """The users to erase when this round is stored."""

    def seat(self, user_id: str) -> Seat:
        """The seat of a user who is in memory."""
        return self.seats.rows[user_id]

    def person(self, user_id: str) -> Person:
        """The profile of a user who has one."""
        return self.people.rows[user_id]

    def is_here(self, user_id: str) -> bool:
        """Whether a user can be paired now."""
        return self.presences.rows.get(user_id, ABSENT).here

    def presence(self, user_id: str) -> Presence:
        """How a user can be reached."""
        return self.presences.rows.get(user_id, ABSENT)

    def open_match(self, user_id: str) -> Match | None:
        """The match a user is in."""
        match_id = self.seats.rows[user_id].match_id
        return None if match_id is None else self.matches.rows[match_id]

    def open_date(self, user_id: str) -> VideoDate | None:
        """The video date a user is on."""
        date_id = self.seats.rows[user_id].date_id
        return None if date_id is None else self.dates.rows[date_id]

    def ticket(self, user_id: str) -> Ticket | None:
        """The ticket of a user who waits, whether or not the user can be paired now."""
        seat, person = self.seats.rows.get(user_id), self.people.rows.get(user_id)
        return ticket_of(seat, person, self.lines.rows.get(user_id, FRONT))

    def changes(self) -> Changes:
        """What must be stored before any reply or notice is delivered."""
        changes = Changes(
            people=self.people.changed(),
            seats=self._seats_to_store(),
            matches=self.matches.changed(),
            dates=self.dates.changed(),
            quality=self.quality.changed(),
            erased=list(self.erased.values()),
            room=self.room,
        )
        self.acquaintance.collect(changes)
        return changes

    def _seats_to_store(self) -> list[Seat]:
        """The changed seats, without those of which the stored match says all that is new."""
        return [
            seat
            for seat in self.seats.changed()
            if seat.match_id is None
            or self.seats.is_restated(seat.user_id)
            or not _differs_in_state(self.seats.settled(seat.user_id), seat)
        ]

    def touched_users(self) -> set[str]:
        """The users whose seats were changed since the books last settled."""
        return set(self.seats.touched())


def _differs_in_state(stored: Seat | None, seat: Seat) -> bool:
    """Whether two seats of one match differ in nothing but the state."""
    return (
        stored is not None
        and stored.match_id == seat.match_id
        and stored.state is not seat.state
        and stored == replace(seat, state=stored.state)
    )


def ticket_of(seat: Seat | None, person: Person | None, line: Line) -> Ticket | None:
    """The ticket of a waiting user; None for any other user."""
    if seat is None or seat.state is not WAITING or seat.waiting_since is None:
        return None
    assert person is not None
    return Ticket(person, seat.waiting_since, seat.credit, line.skips, line.tier)
