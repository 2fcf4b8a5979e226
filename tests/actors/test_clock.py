"""The clock: exact instants, steps, and a mock clock that stops at every deadline."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import pytest
import trio

from yoked_actor.actors.clock import Clock, advance
from yoked_actor.domain.time import MICROSECONDS, from_datetime

START = datetime(2026, 1, 1, 8, tzinfo=UTC)


async def test_a_clock_starts_at_its_instant_and_follows_trio(mock_clock):
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
async def test_a_deadline_expires_exactly_at_its_instant(autojump_clock, elapsed):
    autojump_clock.jump(0.3)
    clock = Clock.starting(START)
    due_at = clock.now() + round(elapsed * MICROSECONDS)
    await trio.sleep_until(clock.trio_time(due_at))
    assert clock.now() == due_at


async def test_deadlines_never_expire_early(autojump_clock):
    clock = Clock.starting(START)
    due_at = clock.now()
    for step in range(1, 500):
        due_at += step * 7_919
        await trio.sleep_until(clock.trio_time(due_at))
        assert clock.now() == due_at


class Wall:
    """The system's clock: it goes on while trio's stands still, when the machine is suspended."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> int:
        return from_datetime(START) + round((trio.current_time() + self.ahead_s) * MICROSECONDS)


@pytest.mark.parametrize("step_s", [-86_400.0, -1.5, 1.5, 3600.0, 86_400.0])
async def test_a_clock_follows_a_step_within_a_second(autojump_clock, step_s):
    wall = Wall()
    seen: list[float] = []
    clock = Clock(wall(), wall=wall)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clock.watch, seen.append)
        # Between two looks: of tasks that wake at the same instant, trio may run either first.
        await trio.sleep(10.5)
        assert seen == []
        wall.ahead_s = step_s
        await trio.sleep(1)
        assert seen == [step_s]
        assert clock.stepped_by == step_s * MICROSECONDS
        assert clock.now() == wall()
        await trio.sleep(100)
        assert seen == [step_s]
        nursery.cancel_scope.cancel()


async def test_small_steps_are_ignored_until_they_add_up(autojump_clock):
    wall = Wall()
    seen: list[float] = []
    clock = Clock(wall(), wall=wall, tolerance_s=1.0)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clock.watch, seen.append)
        for ahead_s in (0.4, 0.8, 1.0, 1.2):
            wall.ahead_s = ahead_s
            await trio.sleep(2)
        nursery.cancel_scope.cancel()
    assert seen == [1.2]


@pytest.mark.parametrize("step_s", [-3600.0, 3600.0])
async def test_a_wait_for_an_instant_ends_when_the_clock_is_stepped(autojump_clock, step_s):
    wall = Wall()
    clock = Clock(wall(), wall=wall)
    due_at = clock.now() + 7200 * MICROSECONDS
    began, wakes = trio.current_time(), 0
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clock.watch, lambda _: None)

        async def step():
            await trio.sleep(1000)
            wall.ahead_s = step_s

        nursery.start_soon(step)
        while clock.now() < due_at:
            with clock.until(due_at):
                await trio.Event().wait()
            wakes += 1
        nursery.cancel_scope.cancel()
    assert wakes == 2
    assert clock.now() == due_at
    assert trio.current_time() - began == pytest.approx(7200 - step_s)


async def test_a_process_that_was_stopped_between_two_readings_sees_no_step(autojump_clock):
    wall = Wall()
    stops: list[float] = []

    def stopped_once():
        if not stops:
            stops.append(trio.current_time())
            autojump_clock.jump(30)
        return wall()

    clock = Clock(wall(), wall=stopped_once)
    assert clock.check() == 0.0
    assert stops
    assert clock.stepped_by == 0


async def test_the_time_of_the_machine_is_never_stepped(autojump_clock):
    wall = Wall()
    clock = Clock(wall(), wall=wall)
    before = clock.machine_time()
    wall.ahead_s = 86_400
    clock.check()
    await trio.sleep(3)
    later = clock.machine_time()
    assert later.boot == before.boot
    assert later.uptime - before.uptime == 3 * MICROSECONDS
    assert later.now - before.now == 86_403 * MICROSECONDS


async def test_all_processes_of_a_machine_read_one_time():
    asked = "from yoked_actor.actors.clock import read_machine_time as r; print(*r())"
    before = Clock.real().machine_time()
    answer = await trio.run_process([sys.executable, "-c", asked], capture_stdout=True)
    boot, uptime, _ = answer.stdout.decode().rsplit(maxsplit=2)
    after = Clock.real().machine_time()
    assert boot == before.boot == after.boot != ""
    assert before.uptime < int(uptime) < after.uptime


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


async def test_advancing_without_deadlines_is_one_jump(mock_clock):
    before = trio.current_time()
    await advance(mock_clock, 86_400)
    assert trio.current_time() == before + 86_400
