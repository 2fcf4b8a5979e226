"""What every store does for the calendar: one row for each zone and local date (R40)."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from tests.domain.crowds import woman
from tests.store.conftest import Opener
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.offers import Due, ZoneRun
from yoked_actor.domain.time import Run
from yoked_actor.store import StoreError, finish_zone_run

BERLIN, TOKYO = "Europe/Berlin", "Asia/Tokyo"
DAY = date(2026, 3, 2)
NINE = 1_772_438_400_000_000
DAY_US = 86_400_000_000


def run_of(zone: str, days: int = 0) -> Run:
    return Run(zone, DAY + timedelta(days=days), NINE + days * DAY_US)


async def test_a_planned_run_is_due_when_its_time_has_come(open_again: Opener) -> None:
    berlin, tokyo = run_of(BERLIN), run_of(TOKYO, 1)
    async with open_again() as store:
        await store.commit(Changes(people=[woman("ana", time_zone=BERLIN)]))
        await store.calendar.transact(lambda table: table.plan([berlin, tokyo]))
        assert await store.calendar.transact(lambda table: sorted(table.plans())) == [tokyo, berlin]
        assert await store.calendar.transact(lambda table: table.next_at()) == NINE
        assert await store.calendar.transact(lambda table: table.due(NINE - 1, 9)) == []
        found = await store.calendar.transact(lambda table: table.due(NINE, 9))
        assert found == [Due(berlin, is_inhabited=True, has_later=False)]
        found = await store.calendar.transact(lambda table: table.due(NINE + DAY_US, 1))
        assert [due.run for due in found] == [berlin], "the longest due first"


async def test_a_zone_is_inhabited_when_a_person_lives_there(open_again: Opener) -> None:
    async with open_again() as store:
        people = [woman("ana", time_zone=BERLIN), woman("eva", time_zone=BERLIN)]
        await store.commit(Changes(people=people))
        await store.calendar.transact(lambda table: table.plan([run_of(TOKYO)]))
        assert await store.calendar.transact(lambda table: table.inhabited_zones()) == [BERLIN]
        assert await store.calendar.transact(lambda table: table.is_inhabited(BERLIN))
        assert not await store.calendar.transact(lambda table: table.is_inhabited(TOKYO))
        assert not await store.calendar.transact(lambda table: table.has_plan(BERLIN))
        assert await store.calendar.transact(lambda table: table.has_plan(TOKYO))


async def test_a_date_is_started_once_and_all_or_none(open_again: Opener) -> None:
    first, second = run_of(BERLIN), run_of(BERLIN, 1)
    async with open_again() as store:
        await store.calendar.transact(lambda table: table.plan([first]))
        await store.calendar.transact(lambda table: table.start([first], [7], NINE))
        started = ZoneRun(first, "started", 7, NINE, None, None)
        assert await store.calendar.get(BERLIN, DAY) == started
        with pytest.raises(StoreError, match="started before"):
            await store.calendar.transact(lambda table: table.start([second, first], [8, 9], NINE))
        assert await store.calendar.get(BERLIN, second.day) is None
        await store.calendar.transact(
            lambda table: finish_zone_run(table.tx, BERLIN, DAY, NINE + 1, "abc")
        )
        done = ZoneRun(first, "done", 7, NINE, NINE + 1, "abc")
        assert await store.calendar.transact(lambda table: table.get(BERLIN, DAY)) == done
        assert await store.calendar.transact(lambda table: table.taken(BERLIN, DAY)) == {DAY}
        assert await store.calendar.transact(lambda table: table.taken(BERLIN, second.day)) == set()


async def test_runs_are_listed_by_zone_and_status_the_newest_first(open_again: Opener) -> None:
    async with open_again() as store:
        berlin, later, tokyo = run_of(BERLIN), run_of(BERLIN, 1), run_of(TOKYO)
        await store.calendar.transact(lambda table: table.miss([berlin], NINE))
        await store.calendar.transact(lambda table: table.plan([later, tokyo]))
        found = await store.calendar.runs()
        assert found[0].run == later
        assert {one.run for one in found} == {berlin, later, tokyo}
        assert [one.run for one in await store.calendar.runs(zone=BERLIN)] == [later, berlin]
        assert [one.run for one in await store.calendar.runs(status="missed")] == [berlin]
        assert [one.run for one in await store.calendar.runs(limit=1)] == [later]


async def test_misses_of_the_future_are_taken_back_with_the_plan(open_again: Opener) -> None:
    past, future, planned = run_of(BERLIN), run_of(BERLIN, 1), run_of(BERLIN, 2)
    async with open_again() as store:
        await store.calendar.transact(lambda table: table.miss([past, future], NINE))
        await store.calendar.transact(lambda table: table.plan([planned, run_of(TOKYO)]))
        found = await store.calendar.transact(lambda table: table.take_back_misses(NINE))
        assert found == [BERLIN]
        assert {one.run for one in await store.calendar.runs()} == {past, run_of(TOKYO)}


async def test_a_plan_is_dropped_by_itself_or_when_it_is_unreadable(
    open_again: Opener, raw
) -> None:
    async with open_again() as store:
        await store.calendar.transact(lambda table: table.plan([run_of(BERLIN), run_of(TOKYO)]))
        await store.calendar.transact(lambda table: table.drop(run_of(BERLIN)))
        assert [one.run for one in await store.calendar.runs()] == [run_of(TOKYO)]
        raw[-1].execute("UPDATE zone_runs SET local_date = 'nonsense'")
        await store.calendar.transact(lambda table: table.drop_unreadable_plans())
        assert await store.calendar.runs() == []
