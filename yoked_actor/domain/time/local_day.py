"""The instants of daily runs: a local time of day, on every local date of a zone (R40).

When clocks are set forward, some local times are skipped; when they are set back, some occur twice;
a zone that moves across the date line can skip a whole date. Python's `fold=0` decides the first
two: a skipped time is read with the offset before the gap (02:30 is when clocks show 03:30), and of
a repeated time the first one counts. A skipped date has no run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

from yoked_actor.domain.time.instants import MICROSECONDS, Instant, from_datetime

LONGEST_LOOK_BACK = timedelta(days=366)
"""Earlier days are not recorded as missed one by one: a wrong clock could make millions."""
_NEXT_DAY = timedelta(days=1)


class Run(msgspec.Struct, frozen=True, order=True):
    """One zone's run on one local date."""

    zone: str
    day: date
    scheduled_at: Instant

    @property
    def key(self) -> str:
        """A unique key of this run."""
        return f"{self.zone}:{self.day.isoformat()}"


class SortedRuns(msgspec.Struct, frozen=True):
    """The runs of a zone that became due, and the next one."""

    started: list[Run]
    missed: list[Run]
    planned: Run
    unrecorded: int = 0
    """How many earlier days were missed and are not recorded."""


def run_instant(zone: ZoneInfo, day: date, at: time) -> Instant | None:
    """The instant of `at` in `zone` on `day`; None if the zone skips that date."""
    moment = datetime.combine(day, at, zone)
    if _is_skipped(moment) and not _has_date(zone, day):
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
    # From the day before: a gap can move a late time of yesterday past midnight.
    runs = runs_from(zone, local_date(zone, after) - _NEXT_DAY, at)
    return next((day, instant) for day, instant in runs if instant > after)


def local_date(zone: ZoneInfo, now: Instant) -> date:
    """The local date of a zone."""
    # Whole seconds are enough: no offset has a fraction.
    return datetime.fromtimestamp(now // MICROSECONDS, zone).date()


def is_current(zone: ZoneInfo, run: Run, today: date) -> bool:
    """Whether a run that is due belongs to today, and not to a day that is over.

    A run's day is its date, or the date of its instant when that is later: a gap around midnight
    can move a late run into the next day, and so can changed time zone rules.
    """
    return today <= run.day or today <= local_date(zone, run.scheduled_at)


def sort_runs(
    name: str,
    zone: ZoneInfo,
    at: time,
    first: date,
    now: Instant,
    taken: Collection[date] = (),
) -> SortedRuns:
    """Sort every run of a zone from the date `first` until now, and find the next one.

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
            return SortedRuns(started, missed, run, unrecorded)
        (started if is_current(zone, run, today) else missed).append(run)
    raise AssertionError("there is always a next day")


def _is_skipped(moment: datetime) -> bool:
    """Whether clocks skip this time: the offset before is less than the one after."""
    before, after = moment.utcoffset(), moment.replace(fold=1).utcoffset()
    assert before is not None
    assert after is not None
    return before < after


def _has_date(zone: ZoneInfo, day: date) -> bool:
    """Whether the zone has this date: a gap that skips it includes both its ends."""
    ends = (datetime.combine(day, time.min, zone), datetime.combine(day, time.max, zone))
    return not all(map(_is_skipped, ends))
