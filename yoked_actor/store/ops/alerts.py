"""The alerts that stand, as they outlive a restart, and the jobs that tell of each change.

An alert and the job that tells of it are written in one transaction: either both are there, or the
alert counts as not raised and the next process raises it. That is why no change is told twice, and
none is told by halves.

Dead letters are counted by the transaction that buries them, in whatever process that is. The alarm
takes up what was counted: it raises an alert or adds to the one that stands.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.ops import (
    Alert,
    AlertChange,
    AlertState,
    DeadLetterChange,
    DeadLetters,
    RaisedAlert,
)
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.store.engine import Writer, read_rows, statement
from yoked_actor.store.jobs import enqueue_in

T = TypeVar("T")

_LOAD = statement("ops/alert_load")
_RAISE = statement("ops/alert_raise")
_CLEAR = statement("ops/alert_clear")
_DEAD = statement("ops/dead_letter_standing")
_RAISE_DEAD = statement("ops/dead_letter_raise")

Tell = Callable[[DeadLetterChange], NewJob | None]
"""The job that tells of a change, if anybody is to be told."""


class Alerts(Protocol):
    """What an alarm asks of the store."""

    async def load(self) -> list[RaisedAlert]:
        """The alerts that stood when the process before ended."""
        ...

    async def record(
        self, changes: Sequence[AlertChange], jobs: Sequence[NewJob], now: Instant
    ) -> None:
        """Keep changes in their order, with the jobs that tell of them: all or nothing."""

    async def dead_letters(self) -> tuple[list[DeadLetters], bool]:
        """The alerts about dead letters that stand, and whether there are news of more."""
        ...

    async def take_dead_letters(
        self, now: Instant, window_s: float, tell: Tell
    ) -> list[DeadLetterChange]:
        """End the alerts that are older than the window, and take up the news: all or nothing."""
        ...


class SqliteAlerts:
    """`Alerts` in an SQLite database."""

    def __init__(
        self,
        writer: Writer,
        read: Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]],
    ) -> None:
        self._writer = writer
        self._read = read

    async def load(self) -> list[RaisedAlert]:
        """The alerts that stood when the process before ended; unknown ones are left out."""
        rows = await self._read(lambda db: db.execute(_LOAD).fetchall())
        known = set(Alert)
        return read_rows((row for row in rows if row[0] in known), _standing, "alerts")

    async def record(
        self, changes: Sequence[AlertChange], jobs: Sequence[NewJob], now: Instant
    ) -> None:
        """Keep changes in their order, with the jobs that tell of them: all or nothing."""

        def apply(connection: sqlite3.Connection) -> None:
            for one in changes:
                if one.state is AlertState.RAISED:
                    row = (one.alert.value, float(one.value), float(one.limit), one.raised_at)
                    connection.execute(_RAISE, row)
                else:
                    connection.execute(_CLEAR, (one.alert.value,))
            if jobs:
                enqueue_in(connection, jobs, now)

        await self._writer.write(apply)

    async def dead_letters(self) -> tuple[list[DeadLetters], bool]:
        """The alerts about dead letters that stand, and whether there are news of more."""

        def look(db: sqlite3.Connection) -> tuple[list[DeadLetters], bool]:
            (is_news,) = db.execute("SELECT EXISTS (SELECT 1 FROM dead_letter_news)").fetchone()
            return _dead_letters(db), bool(is_news)

        found: tuple[list[DeadLetters], bool] = await self._read(look)
        return found

    async def take_dead_letters(
        self, now: Instant, window_s: float, tell: Tell
    ) -> list[DeadLetterChange]:
        """End the alerts that are older than the window, and take up the news: all or nothing."""

        def apply(db: sqlite3.Connection) -> list[DeadLetterChange]:
            changes = [
                DeadLetterChange(one, AlertState.CLEARED, now)
                for one in _dead_letters(db)
                if one.is_over(now, window_s)
            ]
            for change in changes:
                over = (change.dead.job_type, change.dead.kind)
                db.execute("DELETE FROM dead_letter_alerts WHERE type = ? AND kind = ?", over)
            stood = {(one.job_type, one.kind) for one in _dead_letters(db)}
            for row in db.execute(
                "SELECT type, kind, count, job_id FROM dead_letter_news"
            ).fetchall():
                db.execute(_RAISE_DEAD, (*row, now))
            db.execute("DELETE FROM dead_letter_news")
            changes += [
                DeadLetterChange(one, AlertState.RAISED, now)
                for one in _dead_letters(db)
                if (one.job_type, one.kind) not in stood
            ]
            jobs = [job for job in map(tell, changes) if job is not None]
            if jobs:
                enqueue_in(db, jobs, now)
            return changes

        return await self._writer.write(apply)


def _standing(row: tuple[Any, ...]) -> RaisedAlert:
    alert, value, limit, raised_at = row
    to_datetime(raised_at)  # raises OverflowError when it lies outside the calendar
    return RaisedAlert(Alert(alert), float(value), float(limit), raised_at)


def _dead_letters(db: sqlite3.Connection) -> list[DeadLetters]:
    return [DeadLetters(*row) for row in db.execute(_DEAD).fetchall()]
