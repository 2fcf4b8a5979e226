"""The clock: exact instants, and time that stops wherever something is due."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
import trio

from yoked_actor.actors.clock import Clock, advance
from yoked_actor.domain.instants import MICROSECONDS, from_datetime

START = datetime(2026, 1, 1, 8, tzinfo=UTC)


async def test_a_clock_starts_where_it_is_told_and_counts_with_trio(mock_clock):
    mock_clock.jump(1234.5)
    clock = Clock.starting(START)
    assert clock.now() == from_datetime(START)
    mock_clock.jump(0.25)
    assert clock.now() == from_datetime(START) + 250_000


async def test_the_real_clock_shows_the_time_of_day():
    before = time.time_ns() // 1000
    now = Clock.real().now()
    assert before <= now <= time.time_ns() // 1000 + 1000


@pytest.mark.parametrize("elapsed", [0.0, 0.1, 1 / 3, 59.999999, 86_400.7, 31_622_400.123457])
async def test_a_deadline_comes_at_its_very_instant(autojump_clock, elapsed):
    autojump_clock.jump(0.3)
    clock = Clock.starting(START)
    due_at = clock.now() + round(elapsed * MICROSECONDS)
    await trio.sleep_until(clock.trio_time(due_at))
    assert clock.now() == due_at


async def test_instants_never_come_early_however_many_deadlines_there_are(autojump_clock):
    clock = Clock.starting(START)
    due_at = clock.now()
    for step in range(1, 500):
        due_at += step * 7_919
        await trio.sleep_until(clock.trio_time(due_at))
        assert clock.now() == due_at


async def test_advancing_stops_at_every_deadline_on_the_way(mock_clock):
    clock = Clock.starting(START)
    start = clock.now()
    fired = []

    async def every_two_seconds():
        while True:
            await trio.sleep(2)
            fired.append((clock.now() - start) / MICROSECONDS)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(every_two_seconds)
        await advance(mock_clock, 7)
        assert fired == [2, 4, 6]
        assert clock.now() - start == 7 * MICROSECONDS
        await advance(mock_clock, 1)
        assert fired == [2, 4, 6, 8]
        nursery.cancel_scope.cancel()


async def test_advancing_returns_when_all_that_became_due_has_run(mock_clock):
    done = []

    async def slow_to_finish():
        await trio.sleep(5)
        for _ in range(10):
            await trio.lowlevel.checkpoint()
        done.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(slow_to_finish)
        await advance(mock_clock, 5)
        assert done == [True]


async def test_advancing_by_nothing_runs_what_is_due_now(mock_clock):
    done = []

    async def now():
        await trio.lowlevel.checkpoint()
        done.append(True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(now)
        await advance(mock_clock, 0)
        assert done == [True]


async def test_advancing_an_empty_world_is_one_jump(mock_clock):
    before = trio.current_time()
    await advance(mock_clock, 86_400)
    assert trio.current_time() == before + 86_400
