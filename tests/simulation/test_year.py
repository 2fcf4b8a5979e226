"""A year of mornings in every zone of the world, with crashes, days of outage and people who move.

What should happen is worked out beforehand from the script of the year and from what the clocks of
each zone show (`tests.domain.world_clock`), without the calendar's own arithmetic.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, NamedTuple

import pytest
import trio

from tests.domain.crowds import person
from tests.domain.world_clock import date_shown, expected_run
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers import Calendar
from yoked_actor.actors.offers.turn import ZONE_RUN
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime, zone_names
from yoked_actor.settings import Settings
from yoked_actor.store import Enqueued, InlineRunner, Store, Tx, enqueue_in, open_store
from yoked_actor.telemetry import Metrics

DAY = 86_400 * MICROSECONDS
HOUR = 3600 * MICROSECONDS
NAMES = sorted(zone_names())
MOVERS = 40


class Moves(NamedTuple):
    """A user comes to live in a zone."""

    at: Instant
    user_id: str
    zone: str


class Outage(NamedTuple):
    """The server is down from `start`, before any other event of that instant, until `end`."""

    start: Instant
    end: Instant


class Script(NamedTuple):
    """The events of a year, without mornings."""

    start: Instant
    end: Instant
    moves: list[Moves]
    outages: list[Outage]


Fired = dict[tuple[str, date], tuple[Instant, Instant]]
"""For each zone and date: when its run was due, and when it was started."""


def write_script(seed: int, first: datetime, days: int) -> Script:
    random = Random(seed)
    start = from_datetime(first)
    end = start + days * DAY + 7  # not a time at which anything else can happen
    outages = []
    at = start + random.randrange(DAY)
    while at < end - 8 * DAY:
        # A restart, a long lunch, or a long weekend.
        length = random.choice([MICROSECONDS, 90 * MICROSECONDS, 5 * HOUR, 30 * HOUR, 4 * DAY])
        outages.append(Outage(at, at + random.randrange(1, length)))
        at = outages[-1].end + random.randrange(HOUR, 16 * DAY)
    # Everybody is there at the start, but one zone in eight is empty until somebody moves in.
    moves = [Moves(start, f"at-{name}", name) for name in NAMES if random.randrange(8)]
    movers = [f"mover-{n}" for n in range(MOVERS)] + random.sample([m.user_id for m in moves], 60)
    for mover in movers:
        # Some come and go between two places, which are deserted and found again by that.
        homes = random.sample(NAMES, 2 if random.random() < 0.5 else 12)
        at = start + random.randrange(10 * DAY)
        while at < end:
            if not any(outage.start <= at <= outage.end for outage in outages):
                moves.append(Moves(at, mover, random.choice(homes)))
            at += random.choice([random.randrange(1, 2 * HOUR), random.randrange(1, 12 * DAY)])
    return Script(start, end, sorted(moves), outages)


class Population:
    """The number of users of each zone over time."""

    def __init__(self, moves: Sequence[Moves]) -> None:
        self._changes: dict[str, tuple[list[Instant], list[int]]] = {}
        homes: dict[str, str] = {}
        count: Counter[str] = Counter()
        for move in moves:
            left = homes.get(move.user_id)
            homes[move.user_id] = move.zone
            for zone, change in ((left, -1), (move.zone, 1)):
                if zone is not None:
                    count[zone] += change
                    instants, counts = self._changes.setdefault(zone, ([], []))
                    instants.append(move.at)
                    counts.append(count[zone])

    def lived_in(self, zone: str, at: Instant) -> bool:
        instants, counts = self._changes.get(zone, ([], []))
        index = bisect_right(instants, at)
        return index > 0 and counts[index - 1] > 0


def foretell(script: Script, at: time) -> tuple[Fired, set[tuple[str, date]]]:
    """The runs that should be started, when, and the ones that should be missed."""
    population = Population(script.moves)
    first = datetime.fromtimestamp(script.start // MICROSECONDS, UTC).date()
    days = [first + timedelta(days=n) for n in range(-2, (script.end - script.start) // DAY + 3)]
    fired: Fired = {}
    missed: set[tuple[str, date]] = set()
    for zone in NAMES:
        for day in days:
            due = expected_run(zone, day, at)
            if due is None or due >= script.end:
                continue
            if due <= script.start:
                # The server opens for the first time: today is caught up, of earlier days it knows
                # nothing.
                if (
                    population.lived_in(zone, script.start)
                    and date_shown(zone, script.start) == day
                ):
                    fired[zone, day] = (due, script.start)
                continue
            outage = next((one for one in script.outages if one.start <= due <= one.end), None)
            now = due if outage is None else outage.end
            if not population.lived_in(zone, now):
                continue
            if date_shown(zone, now) <= max(day, date_shown(zone, due)):
                fired[zone, day] = (due, now)
            else:
                missed.add((zone, day))
    return fired, missed


class Year:
    """Plays a script on the mock clock, with the real store, and calendars that crash."""

    def __init__(self, store: Store, clock: Clock, script: Script, at: time) -> None:
        self._store = store
        self._clock = clock
        self._script = script
        self._at = at
        self._calendar: Calendar | None = None
        self.enqueued: list[str] = []

    async def play(self) -> None:
        events: list[Any] = sorted([*self._script.outages, *self._script.moves], key=lambda e: e[0])
        await self._settle_first()
        async with trio.open_nursery() as nursery:
            scope = self._open(nursery)
            for event in events:
                if event[0] > self._script.start:
                    await self._until(event[0])
                    if isinstance(event, Outage):
                        scope.cancel()
                        await self._until(event.end)
                        scope = self._open(nursery)
                    else:
                        await self._move(event)
            await self._until(self._script.end)
            nursery.cancel_scope.cancel()

    async def _settle_first(self) -> None:
        first = [move for move in self._script.moves if move.at == self._script.start]
        people = [person(move.user_id, time_zone=move.zone) for move in first]
        await self._store.commit(Changes(people=people))

    async def _move(self, move: Moves) -> None:
        await self._store.commit(Changes(people=[person(move.user_id, time_zone=move.zone)]))
        assert self._calendar is not None
        self._calendar.wake(move.zone)

    def _open(self, nursery: trio.Nursery) -> trio.CancelScope:
        calendar = self._calendar = Calendar(
            self._store.calendar,
            self._clock,
            Settings(),
            self._enqueue,
            at=self._at,
            metrics=Metrics().calendar,
        )
        scope = trio.CancelScope()

        async def run() -> None:
            with scope:
                await calendar.run()

        nursery.start_soon(run)
        return scope

    def _enqueue(self, tx: Tx, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        self.enqueued += [job.key or "" for job in jobs]
        return enqueue_in(tx, jobs, now)

    async def _until(self, at: Instant) -> None:
        await trio.sleep_until(self._clock.trio_time(at))


async def played(script: Script, at: time) -> tuple[Fired, set[tuple[str, date]], Year]:
    """Play a script; the runs that were started and missed."""
    clock = Clock(script.start)
    async with open_store(None, runner=InlineRunner()) as store:
        year = Year(store, clock, script, at)
        await year.play()
        runs = await store.calendar.runs(limit=1_000_000)
        jobs = await store.jobs.list(job_type=ZONE_RUN, limit=1_000_000)
    started = [run for run in runs if run.status == "started"]
    # One job for each run that was started, and it is scheduled for the run's instant.
    assert {job.id for job in jobs} == {run.job_id for run in started}
    assert len(jobs) == len(started) == len(year.enqueued) == len(set(year.enqueued))
    by_id = {job.id: job for job in jobs}
    for run in started:
        assert run.job_id is not None
        job = by_id[run.job_id]
        assert (job.key, job.scheduled_for) == (run.run.key, run.run.scheduled_at)
    fired = {
        (run.run.zone, run.run.day): (run.run.scheduled_at, run.started_at or 0) for run in started
    }
    missed = {(run.run.zone, run.run.day) for run in runs if run.status == "missed"}
    return fired, missed, year


def differences(found: Fired, expected: Fired) -> list[object]:
    """The first few entries, for a readable failure."""
    keys = sorted(found.keys() | expected.keys())
    wrong = [key for key in keys if found.get(key) != expected.get(key)]
    return [(key, found.get(key), expected.get(key)) for key in wrong[:5]]


async def test_in_a_year_every_zone_of_the_world_has_each_of_its_mornings_once(autojump_clock):
    script = write_script(seed=1, first=datetime(2026, 1, 1, tzinfo=UTC), days=365)
    expected, expected_missed = foretell(script, time(9))
    fired, missed, _ = await played(script, time(9))
    assert differences(fired, expected) == []
    assert missed == expected_missed
    # The script was worth playing: most mornings came, some late, some not at all.
    assert len(fired) > 160_000
    assert sum(started > due for due, started in fired.values()) > 1_000
    assert len(missed) > 5_000


async def test_without_outages_no_morning_is_late_and_none_is_missed(autojump_clock):
    script = write_script(seed=2, first=datetime(2026, 3, 1, tzinfo=UTC), days=20)
    script = script._replace(outages=[])
    expected, _ = foretell(script, time(9))
    fired, missed, _ = await played(script, time(9))
    assert differences(fired, expected) == []
    assert missed == set()
    assert all(started == due or due <= script.start for due, started in fired.values())


@pytest.mark.parametrize("at", [time(0), time(2, 30), time(23, 30)], ids=str)
@pytest.mark.parametrize(
    "first",
    [
        datetime(2026, 3, 22, tzinfo=UTC),  # clocks are put forward in the north
        datetime(2026, 10, 20, tzinfo=UTC),  # and back
        datetime(2011, 12, 24, tzinfo=UTC),  # Samoa and Tokelau leave a date out
        datetime(1993, 8, 15, tzinfo=UTC),  # so does Kwajalein
    ],
    ids=lambda first: str(first.date()),
)
async def test_gaps_overlaps_and_lost_dates_are_ruled_as_written(autojump_clock, first, at):
    script = write_script(seed=first.year + at.hour, first=first, days=16)
    expected, expected_missed = foretell(script, at)
    fired, missed, _ = await played(script, at)
    assert differences(fired, expected) == []
    assert missed == expected_missed
