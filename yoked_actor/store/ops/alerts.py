"""The alerts that are raised, as they outlive a restart, and the jobs that announce each change.

An alert and the job that announces it are written in one transaction: either both are stored, or
the alert counts as not raised and the next process raises it. So every change is announced once.

Dead letters are counted by the transaction that makes them, in any process. The alarm reads what
was counted: it raises an alert or adds to the one that is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
from yoked_actor.store.engine import Database, Tx, read_rows, statement
from yoked_actor.store.jobs import enqueue_in

_LOAD = statement("ops/alert_load")
_RAISE = statement("ops/alert_raise")
_CLEAR = statement("ops/alert_clear")
_DEAD = statement("ops/dead_letter_load")
_RAISE_DEAD = statement("ops/dead_letter_raise")

Announce = Callable[[DeadLetterChange], NewJob | None]
"""The job that announces a change, if one is wanted."""


class Alerts:
    """The alerts that are raised. What a write did is durable on return."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def load(self) -> list[RaisedAlert]:
        """The alerts that the previous process left raised; unknown ones are left out."""
        rows = await self._database.read(lambda tx: tx.execute(_LOAD).fetchall())
        known = set(Alert)
        return read_rows((row for row in rows if row[0] in known), _raised_alert, "alerts")

    async def record(
        self, changes: Sequence[AlertChange], jobs: Sequence[NewJob], now: Instant
    ) -> None:
        """Store changes in their order, with the jobs that announce them: all or nothing."""

        def apply(tx: Tx) -> None:
            for one in changes:
                if one.state is AlertState.RAISED:
                    row = (one.alert.value, float(one.value), float(one.limit), one.raised_at)
                    tx.execute(_RAISE, row)
                else:
                    tx.execute(_CLEAR, (one.alert.value,))
            if jobs:
                enqueue_in(tx, jobs, now)

        await self._database.write(apply)

    async def dead_letters(self) -> tuple[list[DeadLetters], bool]:
        """The raised alerts about dead letters, and whether more dead letters were counted."""

        def find(tx: Tx) -> tuple[list[DeadLetters], bool]:
            (is_news,) = tx.execute("SELECT EXISTS (SELECT 1 FROM dead_letter_news)").fetchone()
            return _dead_letters(tx), bool(is_news)

        return await self._database.read(find)

    async def take_dead_letters(
        self, now: Instant, window_s: float, announce: Announce
    ) -> list[DeadLetterChange]:
        """Clear the alerts older than the window, and raise what was counted: all or nothing."""

        def apply(tx: Tx) -> list[DeadLetterChange]:
            changes = [
                DeadLetterChange(one, AlertState.CLEARED, now)
                for one in _dead_letters(tx)
                if one.is_over(now, window_s)
            ]
            for change in changes:
                over = (change.dead.job_type, change.dead.kind)
                tx.execute("DELETE FROM dead_letter_alerts WHERE type = ? AND kind = ?", over)
            raised = {(one.job_type, one.kind) for one in _dead_letters(tx)}
            for row in tx.execute(
                "DELETE FROM dead_letter_news RETURNING type, kind, count, job_id"
            ).fetchall():
                tx.execute(_RAISE_DEAD, (*row, now))
            changes += [
                DeadLetterChange(one, AlertState.RAISED, now)
                for one in _dead_letters(tx)
                if (one.job_type, one.kind) not in raised
            ]
            jobs = [job for job in map(announce, changes) if job is not None]
            if jobs:
                enqueue_in(tx, jobs, now)
            return changes

        return await self._database.write(apply)


def _raised_alert(row: tuple[Any, ...]) -> RaisedAlert:
    alert, value, limit, raised_at = row
    to_datetime(raised_at)  # raises OverflowError when it lies outside the calendar
    return RaisedAlert(Alert(alert), float(value), float(limit), raised_at)


def _dead_letters(tx: Tx) -> list[DeadLetters]:
    return [DeadLetters(*row) for row in tx.execute(_DEAD).fetchall()]
