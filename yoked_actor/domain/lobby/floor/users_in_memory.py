"""How users enter memory and leave it, with all that the books hold of them.

A user who is waiting, in a match, in a call or on a date cannot leave. An ended match stays as long
as a seat refers to it.
"""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import IDLE
from yoked_actor.domain.lobby.floor.timed_books import TimedBooks
from yoked_actor.domain.lobby.records import MAIN, Known, Seat
from yoked_actor.domain.lobby.replies import Departed
from yoked_actor.domain.matching import Census, Idlers, Ticket
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant


class UsersInMemory(TimedBooks):
    """The books with their deadlines, which users enter and leave."""

    def __init__(self, rules: Rules, room: str = MAIN) -> None:
        super().__init__(rules, room)
        self.idlers = Idlers()
        self.explained: dict[str, tuple[Instant, Ticket, Census]] = {}
        """The last census for each user who asked why they wait, and the ticket it was for."""

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
        if seat.state is not IDLE or seat.date_id is not None:
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
        if seat is None or seat.state is not IDLE or seat.date_id is not None:
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
