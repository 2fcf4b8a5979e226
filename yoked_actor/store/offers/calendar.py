"""The table of zone runs: one row for each zone and local date (R40).

The key is (zone, local date), and only a planned or missed run can be started. The job is enqueued
in the transaction that starts the run. So no date has two runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, TypeVar

import structlog

from yoked_actor.domain.offers import Due, ZoneRun, ZoneRunStatus
from yoked_actor.domain.time import Instant, Run
from yoked_actor.store.engine import Database, StoreError, Tx, statement

T = TypeVar("T")
_log = structlog.get_logger()

_PLANS = statement("offers/calendar_plans")
_DUE = statement("offers/calendar_due")
_NEXT = statement("offers/calendar_next")
_HAS_PLAN = statement("offers/calendar_has_plan")
_INHABITED = statement("offers/calendar_inhabited")
_ZONES = statement("offers/calendar_zones")
_TAKEN = statement("offers/calendar_taken")
_PLAN = statement("offers/calendar_plan")
_START = statement("offers/calendar_start")
_MISS = statement("offers/calendar_miss")
_DROP = statement("offers/calendar_drop")
_FUTURE_MISSES = statement("offers/calendar_future_misses")
_TAKE_BACK = statement("offers/calendar_take_back")
_DONE = statement("offers/calendar_done")
_GET = statement("offers/calendar_get")
_LIST = statement("offers/calendar_list")


class CalendarTable:
    """The zone runs, inside a transaction."""

    def __init__(self, tx: Tx) -> None:
        self.tx = tx

    def plans(self) -> list[Run]:
        """The next run of every zone that has one."""
        return [_run_of(row) for row in self.tx.execute(_PLANS)]

    def due(self, now: Instant, limit: int) -> list[Due]:
        """Planned runs that are due, the longest due first."""
        rows = self.tx.execute(_DUE, (now, limit))
        return [Due(_run_of(row[:3]), bool(row[3]), bool(row[4])) for row in rows]

    def next_at(self) -> Instant | None:
        """When the next planned run is due."""
        (at,) = self.tx.execute(_NEXT).fetchone()
        return None if at is None else int(at)

    def has_plan(self, zone: str) -> bool:
        """Whether a zone has a planned run."""
        return self._is_true(_HAS_PLAN, zone)

    def is_inhabited(self, zone: str) -> bool:
        """Whether a person lives in a zone."""
        return self._is_true(_INHABITED, zone)

    def inhabited_zones(self) -> list[str]:
        """Every zone in which a person lives."""
        return [zone for (zone,) in self.tx.execute(_ZONES)]

    def taken(self, zone: str, since: date) -> set[date]:
        """The dates from `since` on that have a row."""
        rows = self.tx.execute(_TAKEN, (zone, since.isoformat()))
        return {date.fromisoformat(day) for (day,) in rows}

    def get(self, zone: str, day: date) -> ZoneRun | None:
        """The run of one date."""
        row = self.tx.execute(_GET, (zone, day.isoformat())).fetchone()
        return None if row is None else _zone_run_of(row)

    def plan(self, runs: Sequence[Run]) -> None:
        """Plan the next runs of zones."""
        self.tx.executemany(_PLAN, [_row_of(run) for run in runs])

    def start(self, runs: Sequence[Run], job_ids: Sequence[int], now: Instant) -> None:
        """Mark runs as started by these jobs; `StoreError` if one was started before."""
        pairs = zip(runs, job_ids, strict=True)
        rows = [(*_row_of(run), now, job_id) for run, job_id in pairs]
        if self.tx.executemany(_START, rows).rowcount != len(runs):
            raise StoreError(f"one of these was started before: {[run.key for run in runs]}")

    def miss(self, runs: Sequence[Run], now: Instant) -> None:
        """Mark runs as missed."""
        self.tx.executemany(_MISS, [(*_row_of(run), now) for run in runs])

    def take_back_misses(self, now: Instant) -> list[str]:
        """Delete missed runs of the future and the plans of their zones; returns the zones."""
        zones = sorted({zone for (zone,) in self.tx.execute(_FUTURE_MISSES, (now,))})
        for zone in zones:
            self.tx.execute(_TAKE_BACK, (zone, now))
        return zones

    def drop_unreadable_plans(self) -> None:
        """Delete planned runs with an invalid date: their zones get another plan."""
        for zone, day, _ in self.tx.execute(_PLANS).fetchall():
            if not _is_date(day):
                self.tx.execute(_DROP, (zone, day))
                _log.error("row_unreadable", table="zone_runs", key=zone, error="ValueError")

    def drop(self, run: Run) -> None:
        """Delete a planned run."""
        self.tx.execute(_DROP, (run.zone, run.day.isoformat()))

    def _is_true(self, question: str, zone: str) -> bool:
        (answer,) = self.tx.execute(question, (zone,)).fetchone()
        return bool(answer)


class Calendar:
    """The zone runs."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def transact(self, change: Callable[[CalendarTable], T]) -> T:
        """Change the table in one transaction; durable on return."""
        return await self._database.write(lambda tx: change(CalendarTable(tx)))

    async def get(self, zone: str, day: date) -> ZoneRun | None:
        """The run of one date."""
        return await self._database.read(lambda tx: CalendarTable(tx).get(zone, day))

    async def runs(
        self, *, zone: str | None = None, status: ZoneRunStatus | None = None, limit: int = 100
    ) -> list[ZoneRun]:
        """Runs, newest date first."""
        asked = (zone, status, limit)
        rows = await self._database.read(lambda tx: tx.execute(_LIST, asked).fetchall())
        return [_zone_run_of(row) for row in rows]


def finish_zone_run(tx: Tx, zone: str, day: date, now: Instant, digest: str | None) -> None:
    """Mark a started run as done, in the transaction that completes its job."""
    tx.execute(_DONE, (now, digest, zone, day.isoformat()))


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _row_of(run: Run) -> tuple[str, str, Instant]:
    return (run.zone, run.day.isoformat(), run.scheduled_at)


def _run_of(row: Any) -> Run:
    zone, day, scheduled_at = row
    return Run(zone, date.fromisoformat(day), scheduled_at)


def _zone_run_of(row: Any) -> ZoneRun:
    return ZoneRun(_run_of(row[:3]), *row[3:])
