"""Signals, as a process heeds them."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from yoked_actor.app.process.signals import Orders


async def follow(orders: Orders, *told: tuple[float, signal.Signals]) -> None:
    """Let signals come, each so many seconds after the one before."""

    async def signals() -> AsyncIterator[int]:
        for pause_s, number in told:
            await trio.sleep(pause_s)
            yield number

    await orders.hear(signals())
    await wait_all_tasks_blocked()


async def test_one_press_that_arrives_twice_is_one_order(autojump_clock: MockClock) -> None:
    orders, hurried = Orders(), []
    orders.hurry = lambda: hurried.append(trio.current_time())
    await follow(orders, (0, signal.SIGINT), (0.01, signal.SIGINT))
    assert orders.stop.is_set()
    assert hurried == []


async def test_a_second_order_hurries(autojump_clock: MockClock) -> None:
    orders, hurried = Orders(), []
    orders.hurry = lambda: hurried.append(True)
    await follow(orders, (0, signal.SIGTERM), (2, signal.SIGINT))
    assert hurried == [True]


async def test_a_hangup_reads_again_until_it_is_too_late(autojump_clock: MockClock) -> None:
    reads = []
    orders = Orders(lambda: reads.append(True))
    await follow(orders, (0, signal.SIGHUP), (1, signal.SIGHUP))
    assert len(reads) == 2
    assert not orders.stop.is_set()
    await follow(orders, (0, signal.SIGTERM), (1, signal.SIGHUP))
    assert len(reads) == 2


async def test_a_hangup_stops_who_has_nothing_to_read_again(autojump_clock: MockClock) -> None:
    orders = Orders()
    await follow(orders, (0, signal.SIGHUP))
    assert orders.stop.is_set()
