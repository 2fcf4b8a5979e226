"""A runner calls one function at a time, in order, and off the event loop's thread."""

from __future__ import annotations

import os
import threading
from contextlib import suppress

import pytest
import trio
import trio.testing

from yoked_actor.store import ThreadRunner
from yoked_actor.store.engine import runners


async def test_calls_run_one_at_a_time_on_a_thread() -> None:
    runner = ThreadRunner()
    began: list[int] = []
    running = 0

    def call(number: int) -> int:
        nonlocal running
        running += 1
        began.append(number)
        assert running == 1
        assert threading.current_thread() is not threading.main_thread()
        running -= 1
        return number

    results: dict[int, int] = {}

    async def one(number: int) -> None:
        results[number] = await runner.run(lambda: call(number))

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(one, number)
    assert sorted(began) == list(range(20))
    assert results == {number: number for number in range(20)}


async def test_a_call_that_waits_can_be_cancelled_and_one_that_has_begun_returns() -> None:
    runner = ThreadRunner()
    has_begun, may_end = threading.Event(), threading.Event()
    called: list[str] = []

    def slow() -> str:
        has_begun.set()
        may_end.wait()
        return "done"

    results: list[str] = []
    begun, waiting = trio.CancelScope(), trio.CancelScope()

    async def begin() -> None:
        with begun:
            results.append(await runner.run(slow))

    async def wait() -> None:
        with waiting:
            await runner.run(lambda: called.append("waited"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(begin)
        await trio.to_thread.run_sync(has_begun.wait)
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        waiting.cancel()
        begun.cancel()
        await trio.testing.wait_all_tasks_blocked()
        may_end.set()
    assert waiting.cancelled_caught
    assert results == ["done"]
    assert called == []
    assert await runner.run(lambda: "next") == "next"


async def test_an_error_is_raised_and_the_next_call_runs() -> None:
    runner = ThreadRunner()
    with pytest.raises(ZeroDivisionError):
        await runner.run(lambda: 1 // 0)
    assert await runner.run(lambda: 1) == 1


def _open_pipes() -> set[str]:
    """The pipes of this process. Pipes that earlier tests have opened may be closed at any time."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return {name for name in found if name.startswith("pipe:")}


async def test_a_thread_without_calls_ends_with_its_pipe_and_the_next_call_starts_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runners, "_IDLE_S", 0.001)
    runner = ThreadRunner()
    open_files = _open_pipes()
    slow_loop = threading.Event()

    async def hold_the_loop() -> None:
        slow_loop.wait(0.05)  # the thread has nothing to do for longer than it may

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold_the_loop)
            thread = await runner.run(threading.current_thread)
    await trio.to_thread.run_sync(thread.join)
    assert _open_pipes() <= open_files
    assert await runner.run(threading.current_thread) is not thread
