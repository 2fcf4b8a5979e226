"""The calendar: starts every zone's daily run on time, once for each local date (R40).

The next run of each zone is a row in the database; the calendar has no other state. It sleeps until
the first of them is due, or until a user comes to live in a zone that has none. Then it takes a
turn (`turn`).

A planned run keeps its instant. New rules for a zone, or another time of day in the settings, apply
to runs that are planned later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, time
from functools import partial

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers.turn import (
    UTC,
    Enqueue,
    RequestedRun,
    Turn,
    start_requested,
    take_turn,
)
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import (
    Instant,
    seconds_between,
    tzdata_version,
)
from yoked_actor.settings import Settings
from yoked_actor.store import Calendar as CalendarStore
from yoked_actor.store import StoreUnavailable
from yoked_actor.telemetry import CalendarMetrics

_log = structlog.get_logger()


class Calendar:
    """Starts the daily run of every zone that has users."""

    def __init__(
        self,
        store: CalendarStore,
        clock: Clock,
        settings: Settings,
        enqueue: Enqueue,
        *,
        at: time,
        metrics: CalendarMetrics,
        then: Callable[[Turn], None] | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._settings = settings
        self._enqueue = enqueue
        self._at = at
        self._metrics = metrics
        self._then = then
        self._zones: set[str] = set()
        """Zones that have a planned run."""
        self._arrivals: dict[str, Instant] = {}
        """Zones that may need one, and since when."""
        self._is_turning = True
        self._wakeup = trio.Event()

    def wake(self, zone: str, since: Instant | None = None) -> None:
        """Plan a run for a zone in which a stored profile lives, if it has none.

        `since`: when the profile was decided, if not now.
        """
        # A turn in progress may find a zone without users just before one moves in.
        if zone in self._zones and not self._is_turning:
            return
        now = self._clock.now() if since is None else since
        self._arrivals[zone] = min(now, self._arrivals.get(zone, now))
        self._wakeup.set()

    def people_stored(self, people: Sequence[Person], since: Instant) -> None:
        """Profiles were stored, by a decision of the instant `since`."""
        for person in people:
            self.wake(person.time_zone, since)

    async def run(self) -> None:
        """Take turns until cancelled. It may be called again after an error."""
        self._zones.clear()
        stepped_by = self._clock.stepped_by
        next_at = (await self._turn(opening=True)).next_at
        _log.info("calendar_opened", zones=len(self._zones), tzdata=tzdata_version())
        while True:
            if stepped_by == self._clock.stepped_by:
                await self._wait(next_at)
            # After a step, check again what was planned or missed by the wrong clock.
            is_stepped = stepped_by != self._clock.stepped_by
            stepped_by = self._clock.stepped_by
            next_at = (await self._turn(opening=is_stepped)).next_at

    async def start_run(self, zone: str, day: date) -> RequestedRun:
        """Start the run of a date that was missed, or of a zone that had none.

        Raises `NoSuchRun`.
        """
        now, at, enqueue = self._clock.now(), self._at, self._enqueue
        return await self._store.transact(
            lambda table: start_requested(table, zone, day, now, at, enqueue)
        )

    async def _wait(self, until: Instant | None) -> None:
        with self._clock.until(until):
            await self._wakeup.wait()

    async def _turn(self, *, opening: bool = False) -> Turn:
        """Take a turn, and retry until it is stored."""
        delay_s = self._settings.store.retry_first_s
        self._is_turning = True
        self._wakeup = trio.Event()
        arrivals, self._arrivals = self._arrivals, {}
        while True:
            now = self._clock.now()
            change = partial(
                take_turn,
                now=now,
                at=self._at,
                enqueue=self._enqueue,
                arrivals=arrivals,
                opening=opening,
            )
            try:
                turn = await self._store.transact(change)
            except StoreUnavailable as error:
                _log.error("calendar_turn_failed", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
            else:
                break
        self._is_turning = False
        self._zones.difference_update(turn.left)
        self._zones.update(run.zone for run in turn.planned)
        self._report(turn, now)
        if self._then is not None and (turn.started or turn.missed):
            self._then(turn)
        return turn

    def _report(self, turn: Turn, now: Instant) -> None:
        log = _log.bind()  # once: a morning can be a hundred lines
        for run in turn.started:
            late_s = seconds_between(run.scheduled_at, now)
            self._metrics.started.inc()
            self._metrics.late.observe(late_s)
            log.info("zone_run_started", zone=run.zone, date=run.day.isoformat(), late_s=late_s)
        for run in turn.missed:
            log.warning("zone_run_missed", zone=run.zone, date=run.day.isoformat())
        self._metrics.missed.inc(len(turn.missed) + turn.unrecorded)
        if turn.unrecorded:
            log.warning("zone_runs_missed_long_ago", days=turn.unrecorded)
        for name in sorted(set(turn.unknown)):
            log.warning("zone_unknown", zone=name, taken_for=UTC)
