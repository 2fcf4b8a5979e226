"""The alerts that stand, as they outlive a restart, and the jobs that tell of each change.

An alert and the job that tells of it are written in one transaction: either both are there, or the
alert counts as not raised and the next process raises it. That is why no change is told twice, and
none is told by halves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeVar

from yoked_actor.domain.alerts import Alert, AlertChange, AlertState, Standing
from yoked_actor.domain.instants import Instant
from yoked_actor.domain.jobs import NewJob
from yoked_actor.store.job_rows import enqueue_in
from yoked_actor.store.opening import statement
from yoked_actor.store.writer import Writer

T = TypeVar("T")

_LOAD = statement("alert_load")
_RAISE = statement("alert_raise")
_CLEAR = statement("alert_clear")


class Alerts(Protocol):
    """What an alarm asks of the store."""

    async def load(self) -> list[Standing]:
        """The alerts that stood when the process before ended."""
        ...

    async def record(
        self, changes: Sequence[AlertChange], jobs: Sequence[NewJob], now: Instant
    ) -> None:
        """Keep changes in their order, with the jobs that tell of them: all or nothing."""


class SqliteAlerts:
    """`Alerts` in an SQLite database."""

    def __init__(
        self,
        writer: Writer,
        read: Callable[[Callable[[sqlite3.Connection], Any]], Awaitable[Any]],
    ) -> None:
        self._writer = writer
        self._read = read

    async def load(self) -> list[Standing]:
        """The alerts that stood when the process before ended; those unknown here are left out."""
        rows = await self._read(lambda db: db.execute(_LOAD).fetchall())
        known = set(Alert)
        return [
            Standing(Alert(alert), value, limit, raised_at)
            for alert, value, limit, raised_at in rows
            if alert in known
        ]

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
