"""The calendar: every zone's daily run, on time, once for each local date (R40).

The next run of each zone is a row in the database, and those rows are all that the calendar knows.
It sleeps until the first of them is due, or until somebody comes to live in a zone that has none.
What is due is then settled in ONE transaction: the run is marked as started, its job is enqueued,
and the zone's next run is planned. A crash before that commit changes nothing, and one after it has
lost nothing; the key of the table keeps a date from being started twice, whatever happens.

A planned run keeps its instant. New rules for a zone, or another time of day in the settings, hold
for the runs that are planned after them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, time, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.offers import Due, ZoneRunStatus
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import (
    LONGEST_LOOK_BACK,
    MICROSECONDS,
    Instant,
    Run,
    is_current,
    local_date,
    next_run,
    reckon,
    run_instant,
    seconds_between,
    to_datetime,
    tzdata_version,
    utc_date,
    zone_named,
)
from yoked_actor.settings import Settings
from yoked_actor.store import Calendar as CalendarStore
from yoked_actor.store import CalendarTable, Enqueued, StoreUnavailable, Tx
from yoked_actor.telemetry import CalendarMetrics

_log = structlog.get_logger()

ZONE_RUN = "offers.zone_run"
"""The type of the job that does a run."""
ZONES_PER_TURN = 100
"""How many due zones share a transaction: after a long time away each has many days to record."""
_FARTHEST = 72 * 3600 * MICROSECONDS
"""Two runs are never further apart, not even around a date that is left out."""
# Before the jobs of single users: another zone's morning need not be over first.
_PRIORITY = -10
_UTC = "UTC"

Enqueue = Callable[[Tx, Sequence[NewJob], Instant], Sequence[Enqueued]]
"""Adds jobs in a transaction that is under way."""


class Turn(msgspec.Struct):
    """What a turn of the calendar has brought about."""

    started: list[Run] = []
    missed: list[Run] = []
    unrecorded: int = 0
    """Missed days that are too long ago to be recorded one by one."""
    planned: list[Run] = []
    left: list[str] = []
    """Zones in which nobody lives any more."""
    unknown: list[str] = []
    """Names that the rules do not know (any more): they go by UTC."""
    next_at: Instant | None = None


class ByHand(msgspec.Struct, frozen=True):
    """What came of asking for a run: it is new, or it was there before."""

    run: Run
    is_new: bool
    status: ZoneRunStatus


class NoSuchRun(Exception):
    """There is no such zone, or it has no such date, or its time has not come."""


class Calendar:
    """Starts the daily run of every zone that somebody lives in."""

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
        # While a turn is under way it may find a zone deserted just before somebody moves in.
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
        """Work until cancelled; after an error it begins anew, with what is stored."""
        self._zones.clear()
        stepped_by = self._clock.stepped_by
        next_at = (await self._turn(opening=True)).next_at
        _log.info("calendar_opened", zones=len(self._zones), tzdata=tzdata_version())
        while True:
            if stepped_by == self._clock.stepped_by:
                await self._wait(next_at)
            # What was planned or missed by a clock that was wrong is looked at anew.
            is_stepped = stepped_by != self._clock.stepped_by
            stepped_by = self._clock.stepped_by
            next_at = (await self._turn(opening=is_stepped)).next_at

    async def run_by_hand(self, zone: str, day: date) -> ByHand:
        """Start the run of a date that was missed, or of a zone that had none; else say so."""
        now, at, enqueue = self._clock.now(), self._at, self._enqueue
        return await self._store.transact(
            lambda table: _start_by_hand(table, zone, day, now, at, enqueue)
        )

    async def _wait(self, until: Instant | None) -> None:
        with self._clock.until(until):
            await self._wakeup.wait()

    async def _turn(self, *, opening: bool = False) -> Turn:
        """Settle all that is due, and see it stored, however often that has to be tried."""
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
            log.warning("zone_unknown", zone=name, taken_for=_UTC)


def take_turn(
    table: CalendarTable,
    now: Instant,
    at: time,
    enqueue: Enqueue,
    arrivals: Mapping[str, Instant],
    *,
    opening: bool = False,
) -> Turn:
    """One turn, inside a transaction. `opening` looks at all zones, not only at what changed."""
    turn = Turn()
    beginners: dict[str, date] = {}
    if opening:
        table.drop_unreadable_plans()
        _drop_impossible_plans(table, now)
        _take_back_misses(table, now)
        have_plans = {run.zone for run in table.plans()}
        for name in table.inhabited_zones():
            if name not in have_plans:
                # It may have been without one since before the run of today.
                beginners[name] = local_date(_zone(name, turn), now)
    for name, since in arrivals.items():
        if name not in beginners and table.is_inhabited(name) and not table.has_plan(name):
            beginners[name], _ = next_run(_zone(name, turn), min(since, now), at)
    for due in table.due(now, ZONES_PER_TURN):
        _settle(table, due, now, at, turn)
    for name, first in beginners.items():
        _reckon(name, first, now, at, table.taken(name, first), turn)
    _write(table, turn, now, enqueue)
    if opening:
        turn.planned = table.plans()
    turn.next_at = table.next_at()
    return turn


def _settle(table: CalendarTable, due: Due, now: Instant, at: time, turn: Turn) -> None:
    """Decide about a planned run that is due, and about those that follow it."""
    run = due.run
    if not due.is_inhabited:
        table.drop(run)
        turn.left.append(run.zone)
        return
    zone = _zone(run.zone, turn)
    (turn.started if is_current(zone, run, local_date(zone, now)) else turn.missed).append(run)
    first = run.day + timedelta(days=1)
    taken = table.taken(run.zone, first) if due.has_later else ()
    _reckon(run.zone, first, now, at, taken, turn)


def _reckon(
    name: str, first: date, now: Instant, at: time, taken: Collection[date], turn: Turn
) -> None:
    """Add a zone's runs from the date `first` on: those that are due, and the next as a plan."""
    reckoning = reckon(name, _zone(name, turn), at, first, now, taken)
    turn.started += reckoning.started
    turn.missed += reckoning.missed
    turn.unrecorded += reckoning.unrecorded
    turn.planned.append(reckoning.planned)


def _write(table: CalendarTable, turn: Turn, now: Instant, enqueue: Enqueue) -> None:
    table.miss(turn.missed, now)
    _start(table, turn.started, now, enqueue)
    table.plan(turn.planned)


def _start(table: CalendarTable, runs: Sequence[Run], now: Instant, enqueue: Enqueue) -> None:
    if runs:
        jobs = enqueue(table.tx, [zone_run_job(run) for run in runs], now)
        table.start(runs, [job.job_id for job in jobs], now)


def _drop_impossible_plans(table: CalendarTable, now: Instant) -> None:
    """Forget plans that a clock made when it was wrong: they would silence a zone for years."""
    for run in table.plans():
        if run.scheduled_at > now + _FARTHEST:
            _log.warning("impossible_plan_dropped", zone=run.zone, date=run.day.isoformat())
            table.drop(run)


def _take_back_misses(table: CalendarTable, now: Instant) -> None:
    """Plan anew what a clock that was ahead has recorded as missed though its time is yet to come.

    The zone's plan goes too: it is for a later date.
    """
    for zone in table.take_back_misses(now):
        _log.warning("future_misses_taken_back", zone=zone)


def zone_run_job(run: Run) -> NewJob:
    """The job that does a run."""
    payload = {"zone": run.zone, "date": run.day.isoformat(), "scheduled_at": run.scheduled_at}
    return NewJob(ZONE_RUN, payload, run.scheduled_at, key=run.key, priority=_PRIORITY)


def _start_by_hand(
    table: CalendarTable, name: str, day: date, now: Instant, at: time, enqueue: Enqueue
) -> ByHand:
    found = table.get(name, day)
    if found is None:
        zone = zone_named(name)
        instant = None if zone is None else run_instant(zone, day, at)
        if instant is None:
            raise NoSuchRun(f"there is no zone {name!r}, or it has no {day}")
        if abs(day - utc_date(now)) > LONGEST_LOOK_BACK:
            raise NoSuchRun(f"{day} is more than {LONGEST_LOOK_BACK.days} days from today")
        run = Run(name, day, instant)
    else:
        run = found.run
        if found.status in ("started", "done"):
            return ByHand(run, False, found.status)
    if run.scheduled_at > now or (found is not None and found.status == "planned"):
        when = to_datetime(run.scheduled_at).isoformat()
        raise NoSuchRun(f"the run of {day} in {name} comes by itself at {when}")
    _start(table, [run], now, enqueue)
    return ByHand(run, True, "started")


def _zone(name: str, turn: Turn) -> ZoneInfo:
    """A zone; UTC for a name that the rules have dropped: its people still have their mornings."""
    zone = zone_named(name)
    if zone is None:
        turn.unknown.append(name)
        zone = zone_named(_UTC)
        assert zone is not None
    return zone
