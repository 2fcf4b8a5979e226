"""The floor as it is stored: what tasks other than the matchmaker may read.

While a round is being committed, the books hold decisions that a failed commit would undo. Each
book keeps the values before, so the stored state can be read at any time without waiting for the
commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from yoked_actor.domain.lobby.floor.books import ABSENT, FRONT, ticket_of
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.records import Match, Seat
from yoked_actor.domain.matching import Ticket
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant


class SettledView:
    """Reads a floor as it is stored, without decisions that are not committed yet."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor

    def seat(self, user_id: str) -> Seat | None:
        """The seat of a user; None when the user is not in memory."""
        return self._floor.seats.settled(user_id)

    def person(self, user_id: str) -> Person | None:
        """The profile of a user who has one."""
        return self._floor.people.settled(user_id)

    def count_blocks(self, user_id: str) -> int:
        """How many others a user has blocked."""
        return self._floor.acquaintance.count_settled_blocks(user_id)

    def open_matches(self) -> list[Match]:
        """All open matches."""
        return [match for match in self._floor.matches.settled_values() if match.is_open]

    def is_online(self, user_id: str, now: Instant) -> bool:
        """Whether a user can be called: see `Floor.is_online`."""
        presence = self._floor.presences.settled(user_id) or ABSENT
        return self._floor.is_reachable(user_id, presence, now)

    def waiting(self) -> int:
        """How many users can be paired."""
        pool, touched = self._floor.pool, self._touched()
        there = sum(1 for user_id in touched if user_id in pool)
        return len(pool) - there + sum(1 for user_id in touched if self._ticket(user_id))

    def tickets(self) -> Iterator[Ticket]:
        """The tickets of all users who can be paired, in no particular order."""
        touched = self._touched()
        for ticket in self._floor.pool.tickets():
            if ticket.user_id not in touched:
                yield ticket
        for user_id in touched:
            ticket_before = self._ticket(user_id)
            if ticket_before is not None:
                yield ticket_before

    def _touched(self) -> set[str]:
        floor = self._floor
        books = (floor.seats, floor.people, floor.presences, floor.lines)
        return {user_id for book in books for user_id in book.touched()}

    def _ticket(self, user_id: str) -> Ticket | None:
        seat, person = self.seat(user_id), self.person(user_id)
        presence = self._floor.presences.settled(user_id) or ABSENT
        if person is None or not presence.here:
            return None
        return ticket_of(seat, person, self._floor.lines.settled(user_id) or FRONT)


class HouseView(SettledView):
    """Reads the floors of all rooms, each as it is stored. A user is on one floor at most."""

    def __init__(self, floors: Mapping[str, Floor]) -> None:
        """`floors` are those of the open rooms, by id; others may be added and removed."""
        self._floors = floors

    def _views(self) -> list[SettledView]:
        return [SettledView(floor) for floor in self._floors.values()]

    def _of(self, user_id: str) -> SettledView | None:
        for view in self._views():
            if view.seat(user_id) is not None:
                return view
        return None

    def seat(self, user_id: str) -> Seat | None:
        """The seat of a user; None when the user is not in memory."""
        view = self._of(user_id)
        return None if view is None else view.seat(user_id)

    def room(self, user_id: str) -> str | None:
        """The room that a user is in; None when the user is not in memory."""
        return next(
            (
                room
                for room, floor in self._floors.items()
                if floor.seats.settled(user_id) is not None
            ),
            None,
        )

    def person(self, user_id: str) -> Person | None:
        """The profile of a user who has one."""
        found = (view.person(user_id) for view in self._views())
        return next((person for person in found if person is not None), None)

    def count_blocks(self, user_id: str) -> int:
        """How many others a user has blocked."""
        return sum(view.count_blocks(user_id) for view in self._views())

    def open_matches(self) -> list[Match]:
        """All open matches."""
        return [match for view in self._views() for match in view.open_matches()]

    def is_online(self, user_id: str, now: Instant) -> bool:
        """Whether a user can be called: see `Floor.is_online`."""
        return any(view.is_online(user_id, now) for view in self._views())

    def waiting(self) -> int:
        """How many users can be paired."""
        return sum(view.waiting() for view in self._views())

    def tickets(self) -> Iterator[Ticket]:
        """The tickets of all users who can be paired, in no particular order."""
        for view in self._views():
            yield from view.tickets()
