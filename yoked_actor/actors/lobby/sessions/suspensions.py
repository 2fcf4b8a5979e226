"""The suspended users, in memory: every hello, call and message is checked against them.

`SuspensionEnforcer` keeps it up to date with the database. A suspension ends at its instant by
itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.lobby import notices
from yoked_actor.domain.people import Suspension


class UserSuspended(Exception):
    """The user is suspended: their commands and calls are refused."""

    def __init__(self, suspension: Suspension) -> None:
        super().__init__(f"you are suspended: {suspension.reason}")
        self.suspension = suspension


class Suspensions:
    """The stored suspensions; some may have ended."""

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
        """The suspensions that have not ended."""
        return [one for user_id in self._by_user if (one := self.of(user_id)) is not None]

    def replace(self, suspensions: Iterable[Suspension]) -> None:
        """Replace all suspensions by these."""
        self._by_user = {one.user_id: one for one in suspensions}

    def drop(self, user_id: str) -> None:
        """Remove the suspension of a user who was erased."""
        self._by_user.pop(user_id, None)


def notice_of(suspension: Suspension) -> notices.Suspended:
    """The notice of a suspension for its user."""
    return notices.Suspended(suspension.reason, suspension.until)
