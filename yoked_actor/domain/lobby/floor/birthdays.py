"""The deadline at midnight UTC, when some of the waiting users become a year older (R9).

An age changes who is acceptable without an event, and for good if the limit is strict. So every
waiting user whose age changes gets an attempt. There is one deadline for all of them, while
anybody waits.
"""

from __future__ import annotations

from datetime import date
from typing import Final

from yoked_actor.domain.lobby.floor.deadlines import Deadlines, Due
from yoked_actor.domain.time import MICROSECONDS, Instant, utc_date

_DAY: Final = 86_400 * MICROSECONDS


class Birthdays:
    """When ages were last looked at, and the deadline for the next time, with undo."""

    __slots__ = ("_deadlines", "_due_at", "_looked_at", "_settled")

    def __init__(self, deadlines: Deadlines) -> None:
        self._deadlines = deadlines
        self._looked_at: Instant = 0
        self._due_at: Instant | None = None
        """None while nobody waits."""
        self._settled: tuple[Instant, Instant] | None = None
        """Both instants as they were before this round, if they have changed."""

    def somebody_waits(self, now: Instant) -> None:
        """Set the deadline, unless it is set."""
        if self._due_at is None:
            self._looked_at = now
            self._set(_DAY * (now // _DAY + 1))

    def run(self, at: Instant, now: Instant, *, wanted: bool) -> tuple[date, date] | None:
        """The day of the last look and today, if the deadline still applies.

        The next deadline is set if it is `wanted`.
        """
        if at != self._due_at:
            return None
        if self._settled is None:
            self._settled = (self._looked_at, at)
        before, self._looked_at, self._due_at = self._looked_at, now, None
        if wanted:
            self._set(_DAY * (now // _DAY + 1))
        return utc_date(before), utc_date(now)

    def clock_stepped(self, now: Instant) -> None:
        """The date may have changed: look at once."""
        if self._due_at is not None:
            self._set(now)

    def settle(self) -> None:
        """Keep the changes of this round."""
        self._settled = None

    def undo(self) -> None:
        """Undo the changes of this round."""
        if self._settled is not None:
            self._looked_at, due_at = self._settled
            self._settled = None
            self._set(due_at)

    def _set(self, at: Instant) -> None:
        self._due_at = at
        self._deadlines.add(at, Due.BIRTHDAYS, "")
