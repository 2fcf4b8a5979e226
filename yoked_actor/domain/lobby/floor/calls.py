"""The calls that ring now, and how often each user has called another lately.

Nothing here is stored: a restart ends every call that rings (decision 0021). A user is in one call
at a time, as caller or as callee.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from yoked_actor.domain.lobby.floor.book import Book
from yoked_actor.domain.lobby.records import Call, CallEnd
from yoked_actor.domain.time import Instant

Direction = tuple[str, str]
"""The caller and the callee."""


class Calls:
    """The calls, with undo."""

    def __init__(self) -> None:
        self.ringing: Book[str, Call] = Book()
        """By call id."""
        self.of_user: Book[str, str] = Book()
        """The call id of each user who is in a call."""
        self.placed: Book[Direction, tuple[Instant, ...]] = Book()
        """When one user has called another, the oldest call first."""
        self.ended: list[CallEnd] = []
        """How the calls of this round ended, to be counted."""

    def of(self, user_id: str) -> Call | None:
        """The call that a user is in."""
        call_id = self.of_user.rows.get(user_id)
        return None if call_id is None else self.ringing.rows[call_id]

    def begin(self, call: Call) -> None:
        """Let a call ring."""
        self.ringing.put(call.call_id, call)
        for user_id in (call.caller, call.callee):
            self.of_user.put(user_id, call.call_id)

    def end(self, call: Call, why: CallEnd) -> None:
        """End a call, whether or not it rang."""
        self.ended.append(why)
        if call.call_id in self.ringing.rows:
            self.ringing.remove(call.call_id)
            for user_id in (call.caller, call.callee):
                self.of_user.remove(user_id)

    def note(self, caller: str, callee: str, now: Instant) -> None:
        """Count a call of one user to another."""
        self.placed.put((caller, callee), (*self.placed.rows.get((caller, callee), ()), now))

    def count(self, caller: str, callee: str) -> int:
        """How often one user has called another lately."""
        return len(self.placed.rows.get((caller, callee), ()))

    def drop_oldest(self, caller: str, callee: str, placed_at: Instant) -> None:
        """A call no longer counts, if it is still counted as placed at that instant."""
        rest = tuple(at for at in self.placed.rows.get((caller, callee), ()) if at > placed_at)
        self._keep((caller, callee), rest)

    def stop_counting(self, a: str, b: str) -> None:
        """Forget how often two users have called each other."""
        self._keep((a, b), ())
        self._keep((b, a), ())

    def erase(self, user_id: str) -> None:
        """Drop the counts that name an erased user. The books must be settled."""
        for direction in [one for one in self.placed.rows if user_id in one]:
            del self.placed.rows[direction]

    def shift(self, by: int) -> None:
        """Follow a step of the clock. The books must be settled; it cannot be undone."""
        for call in list(self.ringing.rows.values()):
            self.ringing.revise(call.call_id, replace(call, ring_until=call.ring_until + by))
        for direction, placed in list(self.placed.rows.items()):
            self.placed.revise(direction, tuple(at + by for at in placed))

    def settle(self) -> None:
        """Keep the changes."""
        self.ringing.settle()
        self.of_user.settle()
        self.placed.settle()
        self.ended.clear()

    def undo(self) -> tuple[list[Call], list[tuple[Direction, Instant]]]:
        """Undo the changes; return what needs its deadlines again."""
        calls = [self.ringing.rows[id] for id in self.ringing.undo() if id in self.ringing.rows]
        self.of_user.undo()
        self.ended.clear()
        return calls, list(self._counted(self.placed.undo()))

    def _counted(self, directions: list[Direction]) -> Iterator[tuple[Direction, Instant]]:
        for direction in directions:
            for placed_at in self.placed.rows.get(direction, ()):
                yield direction, placed_at

    def _keep(self, direction: Direction, placed: tuple[Instant, ...]) -> None:
        if placed:
            self.placed.put(direction, placed)
        else:
            self.placed.remove(direction)
