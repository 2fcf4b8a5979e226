"""The calendar: on time, once, through crashes, outages, new rules and users who move."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import UTC, date, datetime, time
from pathlib import Path

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from tests.domain.crowds import person
from tests.store.raw import raw_connection
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers import Calendar, NoSuchRun, turn
from yoked_actor.actors.offers.turn import ZONE_RUN, Turn
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.offers import ZoneRun
from yoked_actor.domain.time import (
    LONGEST_LOOK_BACK,
    Instant,
    Run,
    from_datetime,
    to_datetime,
    zone_named,
    zone_names,
)
from yoked_actor.settings import Settings
from yoked_actor.store import Calendar as CalendarStore
from yoked_actor.store import (
    Enqueued,
    InlineRunner,
    Store,
    Tx,
    enqueue_in,
    finish_zone_run,
    open_store,
)
from yoked_actor.telemetry import Metrics

NINE = time(9)
IMPATIENT = 0.0
BERLIN, TOKYO, KATHMANDU = "Europe/Berlin", "Asia/Tokyo", "Asia/Kathmandu"


def utc(text: str) -> Instant:
    return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


class House:
    """A store, a clock, and calendars that can be crashed and opened again."""

    def __init__(self, store: Store, clock: Clock, nursery: trio.Nursery) -> None:
        self.store = store
        self.clock = clock
        self.nursery = nursery
        self._scope = trio.CancelScope()
        self.calendar: Calendar | None = None
        self.turns: list[Turn] = []
        self.metrics = Metrics()

    async def open(self, at: time = NINE) -> None:
        calendar = self.calendar = Calendar(
            self.store.calendar,
            self.clock,
            Settings(),
            enqueue_in,
            at=at,
            metrics=self.metrics.calendar,
            then=self.turns.append,
        )
        scope = self._scope = trio.CancelScope()

        async def run() -> None:
            with scope:
                await calendar.run()

        self.nursery.start_soon(run)
        await wait_all_tasks_blocked()

    def crash(self) -> None:
        self._scope.cancel()
        self.calendar = None

    async def until(self, text: str) -> None:
        await trio.sleep_until(self.clock.trio_time(utc(text)))
        await wait_all_tasks_blocked()

    async def settle(self, user_id: str, zone: str) -> None:
        """Somebody comes to live in a zone."""
        await self.store.commit(Changes(people=[person(user_id, time_zone=zone)]))
        if self.calendar is not None:
            self.calendar.wake(zone)
            await wait_all_tasks_blocked()

    async def runs(self, *statuses: str) -> list[ZoneRun]:
        found = await self.store.calendar.runs(limit=10_000)
        wanted = [run for run in found if not statuses or run.status in statuses]
        return sorted(wanted, key=lambda run: run.run)

    async def days(self, *statuses: str) -> list[tuple[str, str]]:
        """Zones and dates of the runs in a status."""
        return [(run.run.zone, run.run.day.isoformat()) for run in await self.runs(*statuses)]

    async def started(self) -> list[tuple[str, str, str]]:
        """Zone, date, and when it was started, in UTC."""
        return [
            (one.run.zone, one.run.day.isoformat(), shown(one.started_at))
            for one in await self.runs("started", "done")
        ]

    async def jobs(self) -> list[str]:
        found = await self.store.jobs.list(job_type=ZONE_RUN, limit=10_000)
        return sorted(job.key or "" for job in found)


def shown(at: Instant | None) -> str:
    return "" if at is None else to_datetime(at).strftime("%d %H:%M")


@asynccontextmanager
async def open_house(start: str, database: Path | None = None) -> AsyncIterator[House]:
    async with (
        open_store(database, runner=InlineRunner(), busy_timeout_s=IMPATIENT) as store,
        trio.open_nursery() as nursery,
    ):
        yield House(store, Clock(utc(start)), nursery)
        nursery.cancel_scope.cancel()


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Hold the database's write lock from another connection."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


# On time


async def test_every_zone_with_people_has_its_run_at_nine_local(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.open()
        await house.settle("ana", BERLIN)
        await house.settle("ken", KATHMANDU)
        await house.settle("lena", "Pacific/Kiritimati")
        await house.until("2026-06-11T20:00")
        assert await house.started() == [
            (KATHMANDU, "2026-06-10", "10 03:15"),
            (KATHMANDU, "2026-06-11", "11 03:15"),
            (BERLIN, "2026-06-10", "10 07:00"),
            (BERLIN, "2026-06-11", "11 07:00"),
            ("Pacific/Kiritimati", "2026-06-11", "10 19:00"),
            ("Pacific/Kiritimati", "2026-06-12", "11 19:00"),
        ]


async def test_a_run_is_one_job_that_names_its_zone_date_and_instant(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T07:00")
        [run] = await house.runs("started")
        assert run.job_id is not None
        job = await house.store.jobs.get(run.job_id)
        assert job is not None
        assert (job.type, job.key) == (ZONE_RUN, "Europe/Berlin:2026-06-10")
        assert job.scheduled_for == utc("2026-06-10T07:00")
        assert msgspec.json.decode(job.payload) == {
            "zone": BERLIN,
            "date": "2026-06-10",
            "scheduled_at": utc("2026-06-10T07:00"),
        }


async def test_the_calendar_sleeps_until_the_next_run_and_not_an_hour_less(autojump_clock):
    turns = []

    class Counting(CalendarStore):
        async def transact(self, change):
            turns.append(shown(house.clock.now()))
            return await super().transact(change)

    async with open_house("2026-06-10T00:05") as house, trio.open_nursery() as nursery:
        await house.settle("ana", BERLIN)
        calendar = Calendar(
            Counting(house.store._database),
            house.clock,
            Settings(),
            enqueue_in,
            at=NINE,
            metrics=Metrics().calendar,
        )
        nursery.start_soon(calendar.run)
        await house.until("2026-06-12T06:00")
        assert turns == ["10 00:05", "10 07:00", "11 07:00"]
        # And nobody is asked about people who live where others live already.
        for _ in range(100):
            calendar.wake(BERLIN)
        await wait_all_tasks_blocked()
        assert len(turns) == 3
        nursery.cancel_scope.cancel()


async def test_without_users_the_calendar_waits_for_the_first_one(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.open()
        await house.until("2026-06-20T12:00")
        await house.settle("ana", BERLIN)
        await house.until("2026-06-21T12:00")
        assert await house.started() == [(BERLIN, "2026-06-21", "21 07:00")]


async def test_the_callback_gets_what_was_started_and_missed(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T12:00")
        house.crash()
        await house.until("2026-06-13T12:00")
        await house.open()
        told = [
            ([run.day.day for run in turn.started], [run.day.day for run in turn.missed])
            for turn in house.turns
        ]
        assert told == [([10], []), ([13], [11, 12])]
        read = house.metrics.registry.get_sample_value
        assert read("yoked_zone_runs_total", {"status": "started"}) == 2
        assert read("yoked_zone_runs_total", {"status": "missed"}) == 2
        assert read("yoked_zone_run_late_seconds_sum") == 5 * 3600  # one on time, one at 14:00


# People who come and go


async def test_a_user_who_enters_an_empty_zone_after_nine_brings_the_run_of_tomorrow(
    autojump_clock,
):
    async with open_house("2026-06-10T00:05") as house:
        await house.open()
        await house.until("2026-06-10T07:01")
        await house.settle("ana", BERLIN)
        await house.until("2026-06-11T23:00")
        assert await house.started() == [(BERLIN, "2026-06-11", "11 07:00")]


async def test_a_zone_whose_last_user_left_and_came_back_keeps_its_run(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T06:00")
        await house.settle("ana", TOKYO)
        await house.until("2026-06-10T06:59:59")
        await house.settle("ana", BERLIN)
        await house.until("2026-06-10T23:00")
        assert await house.started() == [(BERLIN, "2026-06-10", "10 07:00")]


async def test_a_zone_without_users_has_no_run_until_one_is_back(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T12:00")
        await house.settle("ana", TOKYO)
        await house.until("2026-06-13T12:00")
        assert [zone for zone, _ in await house.days("planned")] == [TOKYO]
        await house.settle("ana", BERLIN)
        await house.until("2026-06-14T12:00")
        berlin = [row for row in await house.started() if row[0] == BERLIN]
        assert berlin == [(BERLIN, "2026-06-10", "10 07:00"), (BERLIN, "2026-06-14", "14 07:00")]
        assert await house.days("missed") == []


async def test_coming_back_on_the_same_day_brings_no_second_run(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        for hour in ("07:00:01", "08:00", "09:00", "10:00"):
            await house.until(f"2026-06-10T{hour}")
            await house.settle("ana", TOKYO)
            await house.settle("ana", BERLIN)
        await house.until("2026-06-10T23:59")
        assert await house.started() == [(BERLIN, "2026-06-10", "10 07:00")]
        assert await house.jobs() == ["Europe/Berlin:2026-06-10"]


async def test_a_user_who_moves_in_while_a_turn_finds_the_zone_empty_is_not_overlooked(
    autojump_clock,
):
    async with open_house("2026-06-10T06:00") as house:
        await house.settle("ana", BERLIN)
        moved = trio.Event()

        class Slow(CalendarStore):
            async def transact(self, change):
                result = await super().transact(change)
                if house.clock.now() == utc("2026-06-10T07:00") and not moved.is_set():
                    # The turn has found the zone empty, and is not back yet.
                    moved.set()
                    await house.store.commit(Changes(people=[person("bo", time_zone=BERLIN)]))
                    calendar.wake(BERLIN)
                    await trio.sleep(1)
                return result

        calendar = Calendar(
            Slow(house.store._database),
            house.clock,
            Settings(),
            enqueue_in,
            at=NINE,
            metrics=Metrics().calendar,
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(calendar.run)
            await wait_all_tasks_blocked()
            await house.store.commit(Changes(people=[person("ana", time_zone=TOKYO)]))
            calendar.wake(TOKYO)
            await house.until("2026-06-11T12:00")
            nursery.cancel_scope.cancel()
        assert (BERLIN, "2026-06-11", "11 07:00") in await house.started()


# Downtime


async def test_after_a_morning_down_the_run_of_today_is_caught_up_at_once(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        await house.until("2026-06-10T21:59")  # one minute before midnight in Berlin
        await house.open()
        [run] = await house.runs("started")
        assert shown(run.started_at) == "10 21:59"
        # It is still the run of nine o'clock.
        assert run.run.scheduled_at == utc("2026-06-10T07:00")
        await house.until("2026-06-11T12:00")
        assert len(await house.started()) == 2


async def test_after_midnight_the_run_is_missed_and_the_next_comes_on_time(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        await house.until("2026-06-10T22:00")
        with capture_logs() as logs:
            await house.open()
        assert await house.days("missed") == [(BERLIN, "2026-06-10")]
        assert [entry["date"] for entry in logs if entry["event"] == "zone_run_missed"] == [
            "2026-06-10"
        ]
        await house.until("2026-06-11T12:00")
        assert await house.started() == [(BERLIN, "2026-06-11", "11 07:00")]


async def test_after_days_down_each_older_day_is_recorded_and_only_today_is_run(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T08:00")
        house.crash()
        await house.until("2026-06-15T08:00")
        await house.open()
        assert await house.days("missed") == [(BERLIN, f"2026-06-{day}") for day in range(11, 15)]
        assert await house.started() == [
            (BERLIN, "2026-06-10", "10 07:00"),
            (BERLIN, "2026-06-15", "15 08:00"),
        ]


async def test_more_zones_than_fit_one_turn_are_all_caught_up(autojump_clock, monkeypatch):
    monkeypatch.setattr(turn, "ZONES_PER_TURN", 7)
    names = sorted(zone_names())[:60]
    async with open_house("2026-06-10T00:05") as house:
        for name in names:
            await house.settle(name, name)
        await house.open()
        house.crash()
        await house.until("2026-06-12T12:00")
        await house.open()
        planned = [zone for zone, _ in await house.days("planned")]
        assert planned == names
        assert all(run.run.scheduled_at > house.clock.now() for run in await house.runs("planned"))


async def test_a_zone_that_was_never_planned_has_todays_run_caught_up_at_the_start(autojump_clock):
    # As after a crash between the profile and the plan, or with a database from before.
    async with open_house("2026-06-10T12:00") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        assert await house.started() == [(BERLIN, "2026-06-10", "10 12:00")]
        assert await house.days("missed") == []


async def test_a_calendar_that_is_opened_many_times_runs_nothing_twice(autojump_clock):
    async with open_house("2026-06-10T06:59") as house:
        await house.settle("ana", BERLIN)
        for minute in range(5):
            await house.open()
            await house.until(f"2026-06-10T07:0{minute}")
            house.crash()
        assert await house.started() == [(BERLIN, "2026-06-10", "10 07:00")]
        assert await house.jobs() == ["Europe/Berlin:2026-06-10"]


# A store that cannot store


async def test_a_run_that_could_not_be_stored_is_started_as_soon_as_it_can(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_house("2026-06-10T06:00", database) as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T06:30")
        with locked(database):
            await house.until("2026-06-10T07:10")
            assert await house.runs("started") == []
        await house.until("2026-06-10T07:11")
        assert await house.started() == [(BERLIN, "2026-06-10", "10 07:10")]


async def test_a_user_who_came_before_nine_gets_the_run_although_the_store_was_unavailable_at_nine(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_house("2026-06-10T06:00", database) as house:
        await house.open()
        await house.until("2026-06-10T06:30")
        await house.store.commit(Changes(people=[person("ana", time_zone=BERLIN)]))
        with locked(database):
            assert house.calendar is not None
            house.calendar.wake(BERLIN)
            await house.until("2026-06-10T07:10")
        await house.until("2026-06-10T07:11")
        assert await house.started() == [(BERLIN, "2026-06-10", "10 07:10")]


# Crashes, between any two statements


def image(database: Path, into: Path) -> Path:
    """The files as a crash would leave them now."""
    into.mkdir()
    for name in ("yoked.db", "yoked.db-wal"):
        if (source := database.with_name(name)).exists():
            (into / name).write_bytes(source.read_bytes())
    return into / "yoked.db"


async def test_a_crash_between_any_two_statements_loses_no_run_and_doubles_none(
    autojump_clock, tmp_path
):
    original = tmp_path / "original" / "yoked.db"
    original.parent.mkdir()
    images: list[Path] = []
    recording = False

    def note(_statement: str) -> None:
        if recording:
            images.append(image(original, tmp_path / f"image-{len(images)}"))

    names = [BERLIN, "Europe/Paris", TOKYO]
    clock = Clock(utc("2026-06-10T00:05"))
    async with (
        open_store(original, runner=InlineRunner()) as store,
        trio.open_nursery() as nursery,
    ):
        raw_connection(store).set_trace_callback(note)
        people = [person(f"at-{name}", time_zone=name) for name in names]
        await store.commit(Changes(people=people))
        calendar = Calendar(
            store.calendar, clock, Settings(), enqueue_in, at=NINE, metrics=Metrics().calendar
        )
        recording = True
        nursery.start_soon(calendar.run)
        await trio.sleep_until(clock.trio_time(utc("2026-06-10T08:00")))
        recording = False
        nursery.cancel_scope.cancel()
    assert len(images) > 30
    for path in images:
        async with open_house("2026-06-10T08:00", path) as house:
            await house.open()
            assert await house.days("started") == [(name, "2026-06-10") for name in sorted(names)]
            assert await house.jobs() == [f"{name}:2026-06-10" for name in sorted(names)]
            assert await house.days("planned") == [(name, "2026-06-11") for name in sorted(names)]


async def test_if_the_job_cannot_be_enqueued_the_run_is_not_started(autojump_clock):
    def refuse(tx: Tx, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        enqueue_in(tx, jobs, now)
        raise RuntimeError("after all was written")

    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        calendar = Calendar(
            house.store.calendar,
            house.clock,
            Settings(),
            refuse,
            at=NINE,
            metrics=Metrics().calendar,
        )
        await house.until("2026-06-10T08:00")
        with pytest.raises(RuntimeError, match="after all"):
            await calendar.run()
        assert await house.runs("started") == []
        assert await house.days("planned") == [(BERLIN, "2026-06-10")]
        assert await house.jobs() == []


# Rules that change


def new_rules(monkeypatch: pytest.MonkeyPatch, name: str, like: str) -> None:
    """Give a zone the rules of another one."""
    monkeypatch.setattr(
        turn, "zone_named", lambda wanted: zone_named(like if wanted == name else wanted)
    )


async def test_new_rules_move_later_runs_but_not_the_planned_one(autojump_clock, monkeypatch):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        new_rules(monkeypatch, BERLIN, like="Europe/London")
        await house.open()
        await house.until("2026-06-12T23:00")
        assert await house.started() == [
            (BERLIN, "2026-06-10", "10 07:00"),
            (BERLIN, "2026-06-11", "11 08:00"),
            (BERLIN, "2026-06-12", "12 08:00"),
        ]


async def started_around_a_jump(monkeypatch, before: str, after: str) -> list[tuple[str, str]]:
    """Dates and starts of a zone whose jump over the date line is learned of on the 11th."""
    async with open_house("2026-06-10T00:05") as house:
        new_rules(monkeypatch, "Etc/UTC", like=before)
        await house.settle("ana", "Etc/UTC")
        await house.open()
        await house.until("2026-06-11T00:00")
        house.crash()
        new_rules(monkeypatch, "Etc/UTC", like=after)
        await house.open()
        await house.until("2026-06-14T00:00")
        found = await house.started()
        assert await house.jobs() == [f"Etc/UTC:{day}" for _, day, _ in found]
        assert await house.days("missed") == []
        return [(day[-2:], started) for _, day, started in found]


async def test_a_date_that_new_rules_skip_is_run_at_its_planned_instant(
    autojump_clock, monkeypatch
):
    found = await started_around_a_jump(monkeypatch, "Pacific/Pago_Pago", "Pacific/Apia")
    assert found == [
        ("09", "10 00:05"),
        ("10", "10 20:00"),
        ("11", "11 20:00"),
        ("12", "11 20:00"),
        ("13", "12 20:00"),
        ("14", "13 20:00"),
    ]


async def test_a_date_that_new_rules_repeat_is_not_run_again(autojump_clock, monkeypatch):
    found = await started_around_a_jump(monkeypatch, "Pacific/Apia", "Pacific/Pago_Pago")
    assert found == [
        ("10", "10 00:05"),
        ("11", "10 20:00"),
        ("12", "11 20:00"),
        ("13", "13 20:00"),
    ]


async def test_a_new_time_of_day_applies_after_the_planned_run(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        await house.open(at=time(20, 30))
        await house.until("2026-06-11T23:00")
        assert await house.started() == [
            (BERLIN, "2026-06-10", "10 07:00"),
            (BERLIN, "2026-06-11", "11 18:30"),
        ]


async def test_a_zone_name_that_the_rules_have_dropped_uses_utc(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", "US/Pacific-New")
        with capture_logs() as logs:
            await house.open()
        assert ("zone_unknown", "US/Pacific-New") in [
            (entry["event"], entry.get("zone")) for entry in logs
        ]
        await house.until("2026-06-10T12:00")
        assert await house.started() == [("US/Pacific-New", "2026-06-10", "10 09:00")]


# Clocks that were wrong


async def test_a_plan_of_a_clock_that_was_years_ahead_does_not_stop_the_runs_of_a_zone(
    autojump_clock,
):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        far = Run(BERLIN, date(2099, 1, 1), utc("2099-01-01T08:00"))
        await house.store.calendar.transact(lambda table: table.plan([far]))
        await house.open()
        await house.until("2026-06-11T12:00")
        assert [day for _, day, _ in await house.started()] == ["2026-06-10", "2026-06-11"]


async def test_a_plan_of_a_clock_that_was_years_behind_records_a_year_and_no_more(autojump_clock):
    async with open_house("2026-06-10T12:00") as house:
        await house.settle("ana", BERLIN)
        old = Run(BERLIN, date(1970, 1, 2), utc("1970-01-02T08:00"))
        await house.store.calendar.transact(lambda table: table.plan([old]))
        with capture_logs() as logs:
            await house.open()
        assert len(await house.days("missed")) == LONGEST_LOOK_BACK.days + 1
        assert await house.started() == [(BERLIN, "2026-06-10", "10 12:00")]
        [entry] = [entry for entry in logs if entry["event"] == "zone_runs_missed_long_ago"]
        assert entry["days"] > 20_000


async def test_days_that_were_run_stay_run_when_a_clock_was_some_days_behind(autojump_clock):
    async with open_house("2026-06-05T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-08T12:00")
        house.crash()
        # On the 8th a server started with the clock at the 4th: it drops the plan for the 9th.
        before = await house.started()
        behind = House(house.store, Clock(utc("2026-06-04T00:05")), house.nursery)
        await behind.open()
        assert await house.days("planned") == [(BERLIN, "2026-06-04")]
        behind.crash()
        await house.until("2026-06-09T12:00")
        await house.open()
        assert await house.days("missed") == [(BERLIN, "2026-06-04")]
        assert [run.day.day for run in house.turns[-1].missed] == [4]
        assert await house.started() == [*before, (BERLIN, "2026-06-09", "09 12:00")]


# By hand


async def test_an_operator_can_start_a_missed_run_once(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        house.crash()
        await house.until("2026-06-11T00:00")
        await house.open()
        assert house.calendar is not None
        assert await house.days("missed") == [(BERLIN, "2026-06-10")]
        first = await house.calendar.start_run(BERLIN, date(2026, 6, 10))
        again = await house.calendar.start_run(BERLIN, date(2026, 6, 10))
        assert (first.is_new, again.is_new, again.status) == (True, False, "started")
        assert await house.days("missed") == []
        assert await house.jobs() == ["Europe/Berlin:2026-06-10"]


async def test_an_operator_can_start_a_past_run_of_a_zone_without_users(autojump_clock):
    async with open_house("2026-06-10T12:00") as house:
        await house.open()
        assert house.calendar is not None
        assert (await house.calendar.start_run(TOKYO, date(2026, 6, 10))).is_new
        assert await house.jobs() == ["Asia/Tokyo:2026-06-10"]


async def test_a_run_that_an_operator_started_is_not_caught_up(autojump_clock):
    async with open_house("2026-06-10T12:00") as house:
        await house.open()
        assert house.calendar is not None
        await house.calendar.start_run(TOKYO, date(2026, 6, 10))
        house.crash()
        await house.settle("ana", TOKYO)
        await house.open()
        assert await house.started() == [(TOKYO, "2026-06-10", "10 12:00")]
        assert await house.days("planned") == [(TOKYO, "2026-06-11")]


@pytest.mark.parametrize(
    ("zone", "day", "why"),
    [
        ("Mars/Olympus", date(2026, 6, 10), "no zone"),
        ("Pacific/Apia", date(2011, 12, 30), "no 2011-12-30"),
        (BERLIN, date(2026, 6, 11), "comes by itself at 2026-06-11T07:00:00"),
        (BERLIN, date(2027, 6, 11), "comes by itself"),
    ],
)
async def test_a_run_that_cannot_be_started_is_refused_and_changes_nothing(
    autojump_clock, zone, day, why
):
    async with open_house("2026-06-10T12:00") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        before = await house.runs()
        assert house.calendar is not None
        with pytest.raises(NoSuchRun, match=why):
            await house.calendar.start_run(zone, day)
        assert await house.runs() == before


async def test_a_run_that_is_done_keeps_its_digest_and_is_not_run_again(autojump_clock):
    async with open_house("2026-06-10T00:05") as house:
        await house.settle("ana", BERLIN)
        await house.open()
        await house.until("2026-06-10T07:00")
        day, now = date(2026, 6, 10), house.clock.now()
        await house.store.calendar.transact(
            lambda table: finish_zone_run(table.tx, BERLIN, day, now, "abc")
        )
        run = await house.store.calendar.get(BERLIN, day)
        assert run is not None
        assert (run.status, run.digest, run.ended_at) == ("done", "abc", now)
        assert house.calendar is not None
        assert not (await house.calendar.start_run(BERLIN, day)).is_new
        house.crash()
        await house.open()
        assert await house.jobs() == ["Europe/Berlin:2026-06-10"]
