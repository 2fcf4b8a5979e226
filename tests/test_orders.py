"""How a process handles signals."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from yoked_actor.app.process.signals import Orders


async def follow(orders: Orders, *told: tuple[float, signal.Signals]) -> None:
    """Send signals, each this many seconds after the previous one."""

    async def signals() -> AsyncIterator[int]:
        for pause_s, number in told:
            await trio.sleep(pause_s)
            yield number

    await orders.hear(signals())
    await wait_all_tasks_blocked()


async def test_a_duplicated_signal_counts_once(autojump_clock: MockClock) -> None:
    orders, hurried = Orders(), []
    orders.hurry = lambda: hurried.append(trio.current_time())
    await follow(orders, (0, signal.SIGINT), (0.01, signal.SIGINT))
    assert orders.stop.is_set()
    assert hurried == []


async def test_a_second_signal_stops_immediately(autojump_clock: MockClock) -> None:
    orders, hurried = Orders(), []
    orders.hurry = lambda: hurried.append(True)
    await follow(orders, (0, signal.SIGTERM), (2, signal.SIGINT))
    assert hurried == [True]


async def test_sighup_reloads_until_the_process_stops(autojump_clock: MockClock) -> None:
    reads = []
    orders = Orders(lambda: reads.append(True))
    await follow(orders, (0, signal.SIGHUP), (1, signal.SIGHUP))
    assert len(reads) == 2
    assert not orders.stop.is_set()
    await follow(orders, (0, signal.SIGTERM), (1, signal.SIGHUP))
    assert len(reads) == 2


async def test_sighup_stops_a_process_that_cannot_reload(autojump_clock: MockClock) -> None:
    orders = Orders()
    await follow(orders, (0, signal.SIGHUP))
    assert orders.stop.is_set()
