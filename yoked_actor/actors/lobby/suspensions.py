"""Which users are suspended now, in memory, because every hello, call and message asks.

`care` keeps it in step with the database. A suspension with an end is over at that very instant,
without anybody's doing.
"""

from __future__ import annotations

from collections.abc import Iterable

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.lobby import notices
from yoked_actor.domain.people import Suspension


class UserSuspended(Exception):
    """The user is suspended, so nothing is done for them."""

    def __init__(self, suspension: Suspension) -> None:
        super().__init__(f"you are suspended: {suspension.reason}")
        self.suspension = suspension


class Suspensions:
    """The suspensions that are known, of which some may have ended."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._by_user: dict[str, Suspension] = {}

    def of(self, user_id: str) -> Suspension | None:
        """The suspension of a user; None when there is none, or it has ended."""
        found = self._by_user.get(user_id)
        if found is None or (found.until is not None and found.until <= self._clock.now()):
            return None
        return found

    def check(self, user_id: str) -> None:
        """Raise `UserSuspended` when a user is suspended."""
        found = self.of(user_id)
        if found is not None:
            raise UserSuspended(found)

    def current(self) -> list[Suspension]:
        """Those that have not ended."""
        return [one for user_id in self._by_user if (one := self.of(user_id)) is not None]

    def replace(self, suspensions: Iterable[Suspension]) -> None:
        """These are all that there are now."""
        self._by_user = {one.user_id: one for one in suspensions}

    def drop(self, user_id: str) -> None:
        """The user was erased, and the suspension with them."""
        self._by_user.pop(user_id, None)


def notice_of(suspension: Suspension) -> notices.Suspended:
    """What a user is told of their suspension."""
    return notices.Suspended(suspension.reason, suspension.until)
