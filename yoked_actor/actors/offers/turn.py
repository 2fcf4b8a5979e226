"""What the calendar does in one transaction: start due runs, record missed ones, plan the next.

A turn marks a due run as started, enqueues its job and plans the zone's next run, all in ONE
transaction. A crash before the commit changes nothing; a crash after it loses nothing. The key of
the table keeps a date from being started twice.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, time, timedelta
from zoneinfo import ZoneInfo

import msgspec
import structlog

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.offers import Due, ZoneRunStatus
from yoked_actor.domain.time import (
    LONGEST_LOOK_BACK,
    MICROSECONDS,
    Instant,
    Run,
    is_current,
    local_date,
    next_run,
    run_instant,
    sort_runs,
    to_datetime,
    utc_date,
    zone_named,
)
from yoked_actor.store import CalendarTable, Enqueued, Tx

_log = structlog.get_logger()

ZONE_RUN = "offers.zone_run"
"""The type of the job that does a run."""
ZONES_PER_TURN = 100
"""Due zones in one transaction: after a long downtime each has many days to record."""
_FARTHEST = 72 * 3600 * MICROSECONDS
"""Two runs are never further apart, not even around a date that is skipped."""
# Before the jobs of single users: a zone does not wait for the jobs of another zone.
_PRIORITY = -10
UTC = "UTC"

Enqueue = Callable[[Tx, Sequence[NewJob], Instant], Sequence[Enqueued]]
"""Adds jobs in the transaction of the turn."""


class Turn(msgspec.Struct):
    """The result of a turn of the calendar."""

    started: list[Run] = []
    missed: list[Run] = []
    unrecorded: int = 0
    """Missed days that are too old to be recorded one by one."""
    planned: list[Run] = []
    left: list[str] = []
    """Zones that have no users any more."""
    unknown: list[str] = []
    """Zone names that the time zone database does not have; UTC is used for them."""
    next_at: Instant | None = None


class RequestedRun(msgspec.Struct, frozen=True):
    """A run that an operator asked for; `is_new` when it was not started before."""

    run: Run
    is_new: bool
    status: ZoneRunStatus


class NoSuchRun(Exception):
    """The zone does not exist, or has no such date, or the run is not due yet."""


def take_turn(
    table: CalendarTable,
    now: Instant,
    at: time,
    enqueue: Enqueue,
    arrivals: Mapping[str, Instant],
    *,
    opening: bool = False,
) -> Turn:
    """One turn, inside a transaction. `opening` checks all zones, not only what has changed."""
    turn = Turn()
    new_zones: dict[str, date] = {}
    if opening:
        table.drop_unreadable_plans()
        _drop_impossible_plans(table, now)
        _take_back_misses(table, now)
        have_plans = {run.zone for run in table.plans()}
        for name in table.inhabited_zones():
            if name not in have_plans:
                # Its plan may have been missing since before the run of today.
                new_zones[name] = local_date(_zone(name, turn), now)
    for name, since in arrivals.items():
        if name not in new_zones and table.is_inhabited(name) and not table.has_plan(name):
            new_zones[name], _ = next_run(_zone(name, turn), min(since, now), at)
    for due in table.due(now, ZONES_PER_TURN):
        _settle(table, due, now, at, turn)
    for name, first in new_zones.items():
        _add_runs(name, first, now, at, table.taken(name, first), turn)
    _write(table, turn, now, enqueue)
    if opening:
        turn.planned = table.plans()
    turn.next_at = table.next_at()
    return turn


def _settle(table: CalendarTable, due: Due, now: Instant, at: time, turn: Turn) -> None:
    """Start a due run or record it as missed, and plan the zone's next one."""
    run = due.run
    if not due.is_inhabited:
        table.drop(run)
        turn.left.append(run.zone)
        return
    zone = _zone(run.zone, turn)
    (turn.started if is_current(zone, run, local_date(zone, now)) else turn.missed).append(run)
    first = run.day + timedelta(days=1)
    taken = table.taken(run.zone, first) if due.has_later else ()
    _add_runs(run.zone, first, now, at, taken, turn)


def _add_runs(
    name: str, first: date, now: Instant, at: time, taken: Collection[date], turn: Turn
) -> None:
    """Add a zone's runs from the date `first`: the due ones, and a plan for the next."""
    found = sort_runs(name, _zone(name, turn), at, first, now, taken)
    turn.started += found.started
    turn.missed += found.missed
    turn.unrecorded += found.unrecorded
    turn.planned.append(found.planned)


def _write(table: CalendarTable, turn: Turn, now: Instant, enqueue: Enqueue) -> None:
    table.miss(turn.missed, now)
    _start(table, turn.started, now, enqueue)
    table.plan(turn.planned)


def _start(table: CalendarTable, runs: Sequence[Run], now: Instant, enqueue: Enqueue) -> None:
    if runs:
        jobs = enqueue(table.tx, [zone_run_job(run) for run in runs], now)
        table.start(runs, [job.job_id for job in jobs], now)


def _drop_impossible_plans(table: CalendarTable, now: Instant) -> None:
    """Drop plans that a wrong clock has made: a zone would have no run for years."""
    for run in table.plans():
        if run.scheduled_at > now + _FARTHEST:
            _log.warning("impossible_plan_dropped", zone=run.zone, date=run.day.isoformat())
            table.drop(run)


def _take_back_misses(table: CalendarTable, now: Instant) -> None:
    """Delete misses in the future, which a clock that was ahead has recorded.

    The zone's plan is deleted too: it is for a later date.
    """
    for zone in table.take_back_misses(now):
        _log.warning("future_misses_taken_back", zone=zone)


def zone_run_job(run: Run) -> NewJob:
    """The job that does a run."""
    payload = {"zone": run.zone, "date": run.day.isoformat(), "scheduled_at": run.scheduled_at}
    return NewJob(ZONE_RUN, payload, run.scheduled_at, key=run.key, priority=_PRIORITY)


def start_requested(
    table: CalendarTable, name: str, day: date, now: Instant, at: time, enqueue: Enqueue
) -> RequestedRun:
    """Start the run of a zone and date now, in a transaction, unless it was started before."""
    found = table.get(name, day)
    if found is None:
        zone = zone_named(name)
        instant = None if zone is None else run_instant(zone, day, at)
        if instant is None:
            raise NoSuchRun(f"there is no zone {name}, or it has no {day}")
        if abs(day - utc_date(now)) > LONGEST_LOOK_BACK:
            raise NoSuchRun(f"{day} is more than {LONGEST_LOOK_BACK.days} days from today")
        run = Run(name, day, instant)
    else:
        run = found.run
        if found.status in ("started", "done"):
            return RequestedRun(run, False, found.status)
    if run.scheduled_at > now or (found is not None and found.status == "planned"):
        when = to_datetime(run.scheduled_at).isoformat()
        raise NoSuchRun(f"the run of {day} in {name} comes by itself at {when}")
    _start(table, [run], now, enqueue)
    return RequestedRun(run, True, "started")


def _zone(name: str, turn: Turn) -> ZoneInfo:
    """A zone; UTC for a name that the time zone database has dropped."""
    zone = zone_named(name)
    if zone is None:
        turn.unknown.append(name)
        zone = zone_named(UTC)
        assert zone is not None
    return zone
