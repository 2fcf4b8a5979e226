"""When a daily run comes: a local time of day, on every local date of a zone (R40).

Clocks that are put forward leave some local times out, clocks put back show some of them twice, and
a place that crosses the date line can lose a whole date. Python's `fold=0` is what is ruled for the
first two: a time that is left out is read with the offset from before the gap (02:30 comes when the
clock shows 03:30), and a time that comes twice is the first of the two. A date that is left out
altogether has no run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

from yoked_actor.domain.time.instants import MICROSECONDS, Instant, from_datetime

LONGEST_LOOK_BACK = timedelta(days=366)
"""Days further back are not recorded as missed one by one: a wrong clock could name millions."""
_NEXT_DAY = timedelta(days=1)


class Run(msgspec.Struct, frozen=True, order=True):
    """One zone's run on one local date."""

    zone: str
    day: date
    scheduled_at: Instant

    @property
    def key(self) -> str:
        """What tells this run from every other."""
        return f"{self.zone}:{self.day.isoformat()}"


class Reckoning(msgspec.Struct, frozen=True):
    """What became due in a zone, and what comes next."""

    started: list[Run]
    missed: list[Run]
    planned: Run
    unrecorded: int = 0
    """How many days before the missed ones were too long ago to be recorded."""


def run_instant(zone: ZoneInfo, day: date, at: time) -> Instant | None:
    """When `at` comes in `zone` on `day`; None when the zone has no such date."""
    moment = datetime.combine(day, at, zone)
    if _is_left_out(moment) and not _has_date(zone, day):
        return None
    return from_datetime(moment)


def runs_from(zone: ZoneInfo, day: date, at: time) -> Iterator[tuple[date, Instant]]:
    """The runs of a zone on `day` and all days after it."""
    while True:
        instant = run_instant(zone, day, at)
        if instant is not None:
            yield day, instant
        day += _NEXT_DAY


def next_run(zone: ZoneInfo, after: Instant, at: time) -> tuple[date, Instant]:
    """The first run later than an instant."""
    # From the day before: a late time that a gap has pushed over midnight belongs to yesterday.
    runs = runs_from(zone, local_date(zone, after) - _NEXT_DAY, at)
    return next((day, instant) for day, instant in runs if instant > after)


def local_date(zone: ZoneInfo, now: Instant) -> date:
    """The date that calendars show in a zone."""
    # Whole seconds do: no offset has a fraction.
    return datetime.fromtimestamp(now // MICROSECONDS, zone).date()


def is_current(zone: ZoneInfo, run: Run, today: date) -> bool:
    """Whether a run that is due is one of today's, and not of a day that is over.

    A run's day is its date, or the date of its instant when that is later: a gap around midnight
    can push a late run into the next day, and rules that changed after it was planned can as well.
    """
    return today <= run.day or today <= local_date(zone, run.scheduled_at)


def reckon(
    name: str,
    zone: ZoneInfo,
    at: time,
    first: date,
    now: Instant,
    taken: Collection[date] = (),
) -> Reckoning:
    """Judge every run of a zone from the date `first` until now, and name the next one.

    `taken` are dates that have had their run, or have one planned.
    """
    today = local_date(zone, now)
    oldest = today - LONGEST_LOOK_BACK
    unrecorded = max(0, (oldest - first).days)
    started: list[Run] = []
    missed: list[Run] = []
    for day, instant in runs_from(zone, max(first, oldest), at):
        if day in taken:
            continue
        run = Run(name, day, instant)
        if instant > now:
            return Reckoning(started, missed, run, unrecorded)
        (started if is_current(zone, run, today) else missed).append(run)
    raise AssertionError("there is always a next day")


def _is_left_out(moment: datetime) -> bool:
    """Whether clocks skip this time: the offset from before is less than the one from after."""
    before, after = moment.utcoffset(), moment.replace(fold=1).utcoffset()
    assert before is not None
    assert after is not None
    return before < after


def _has_date(zone: ZoneInfo, day: date) -> bool:
    """Whether clocks show this date at all: a gap that swallows it has both its ends."""
    ends = (datetime.combine(day, time.min, zone), datetime.combine(day, time.max, zone))
    return not all(map(_is_left_out, ends))
