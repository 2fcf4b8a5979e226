"""Durable jobs per second, one by one and in bulk, compared with huey; and a zone's morning.

Run it with `scripts/bench jobs`, which installs huey for the comparison; without it that part is
left out, and said so.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import trio
from pydantic import BaseModel

from scripts.benchmarks._morning import measure_morning
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.app.job_queue import JobQueue, open_job_queue
from yoked_actor.app.process.starting import tune_interpreter
from yoked_actor.domain.jobs import NewJob
from yoked_actor.settings import load_settings
from yoked_actor.store import Store, ThreadRunner, open_store
from yoked_actor.telemetry import Metrics, configure_logging

BULK = 5_000
"""Jobs enqueued in one call, and so in one transaction."""

TURN = 100
"""Jobs enqueued one by one by a task, then by a script, then with huey, and so on: all have the
same disk, and each commit is synced."""


class Nothing(BaseModel):
    """The payload of the jobs."""

    user: str


def new_jobs(count: int, now: int, *, keyed: bool = False) -> list[NewJob]:
    return [
        NewJob("bench.noop", {"user": f"user-{n:07d}"}, now, key=f"{now}:{n}" if keyed else None)
        for n in range(count)
    ]


async def enqueue_one_by_one(
    store: Store, script: JobQueue, huey: Huey | None, count: int
) -> tuple[float, float]:
    """Jobs a second from a task of the event loop, and from a script without one."""
    jobs = new_jobs(count, 0)
    from_loop = from_script = 0.0
    for first in range(0, count, TURN):
        turn = jobs[first : first + TURN]
        began = time.perf_counter()
        for job in turn:
            await store.jobs.enqueue([job], 0)
        from_loop += time.perf_counter() - began
        began = time.perf_counter()
        for job in turn:
            script.enqueue(job.type, job.payload)
        from_script += time.perf_counter() - began
        if huey is not None:
            huey.enqueue(len(turn))
    return count / from_loop, count / from_script


async def enqueue_by_many(store: Store, count: int, tasks: int = 50) -> float:
    jobs = iter(new_jobs(count, 0))

    async def producer() -> None:
        for job in jobs:
            await store.jobs.enqueue([job], 0)

    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(tasks):
            nursery.start_soon(producer)
    return count / (time.perf_counter() - began)


async def enqueue_in_bulk(store: Store, count: int, *, keyed: bool) -> float:
    jobs = new_jobs(count, 1, keyed=keyed)
    began = time.perf_counter()
    for first in range(0, count, BULK):
        await store.jobs.enqueue(jobs[first : first + BULK], 1)
    return count / (time.perf_counter() - began)


async def execute_all(store: Store, *, concurrency: int, batch: int) -> float:
    """Run all jobs in the queue."""
    settings = load_settings(
        None, {}, {"jobs": {"concurrency": concurrency, "batch": batch, "alert_depth": 10_000_000}}
    )
    waiting = await store.jobs.depth(time.time_ns())
    left = waiting
    finished = trio.Event()
    dispatcher = Dispatcher(store.jobs, Clock.real(), settings, Metrics())

    def count_down() -> None:
        nonlocal left
        left -= 1
        if not left:
            finished.set()

    async def noop(run: JobRun[Nothing]) -> None:
        run.then = count_down

    dispatcher.register("bench.noop", Nothing, noop, quiet=True)
    began = time.perf_counter()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatcher.run)
        await finished.wait()
        seconds = time.perf_counter() - began
        await dispatcher.drain()
        nursery.cancel_scope.cancel()
    return waiting / seconds


class Huey:
    """The same with huey's SqliteHuey and the same sync: once for each commit, to a WAL."""

    def __init__(self, module: Any, directory: Path) -> None:
        self._huey = module.SqliteHuey(
            filename=str(directory / "huey.db"), results=False, fsync=True, journal_mode="wal"
        )
        self._noop: Callable[[str], Any] = self._huey.task()(lambda user: None)
        self._enqueued = 0
        self._seconds = 0.0

    def enqueue(self, count: int) -> None:
        began = time.perf_counter()
        for n in range(count):
            self._noop(f"user-{n:07d}")
        self._seconds += time.perf_counter() - began
        self._enqueued += count

    @property
    def enqueued_per_s(self) -> float:
        return self._enqueued / self._seconds

    def execute_all(self) -> float:
        began = time.perf_counter()
        for _ in range(self._enqueued):
            self._huey.execute(self._huey.dequeue())
        return self._enqueued / (time.perf_counter() - began)


def find_huey(directory: Path) -> Huey | None:
    """None if huey is not installed."""
    try:
        return Huey(importlib.import_module("huey"), directory)
    except ImportError:
        return None


def measure_the_morning(people: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix=".bench-", dir="."))
    try:
        print(measure_morning(folder, people).text(), flush=True)
    finally:
        shutil.rmtree(folder)


async def main(jobs: int, singles: int, concurrency: int, batch: int) -> None:
    with tempfile.TemporaryDirectory(prefix="yoked-bench-") as name:
        directory = Path(name)
        huey = find_huey(directory)
        # As a server opens it.
        opened = open_store(directory / "yoked.db", runner=ThreadRunner(), reserve=True)
        async with opened as store:
            with open_job_queue(directory) as script:
                alone, by_script = await enqueue_one_by_one(store, script, huey, singles)
            report("enqueue, one task, one by one", alone)
            report("enqueue, a script, one by one", by_script)
            report("enqueue, fifty tasks, one by one", await enqueue_by_many(store, 4 * singles))
            few = await execute_all(store, concurrency=1, batch=1)
            report("execute, one at a time", few)
            bulk = await enqueue_in_bulk(store, jobs, keyed=False)
            report(f"enqueue, {BULK} a transaction", bulk)
            executed = await execute_all(store, concurrency=concurrency, batch=batch)
            report(f"execute, claims of up to {batch}", executed)
            report("enqueue with keys", await enqueue_in_bulk(store, jobs, keyed=True))
            report("execute with keys", await execute_all(store, concurrency=16, batch=batch))
        if huey is None:
            print("huey is not installed: no comparison (pip install huey)")
            return
        by_huey = huey.execute_all()
        report("huey, enqueue", huey.enqueued_per_s)
        report("huey, execute", by_huey)
        print(
            f"ratios to huey: enqueue {alone / huey.enqueued_per_s:.2f} by a task,"
            f" {by_script / huey.enqueued_per_s:.2f} by a script,"
            f" {bulk / huey.enqueued_per_s:.1f} in bulk; execute {executed / by_huey:.1f}"
        )


def report(what: str, per_s: float) -> None:
    print(f"{what:36} {per_s:12,.0f} jobs/s", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100_000, help="in bulk; 0 leaves them out")
    parser.add_argument("--singles", type=int, default=3_000, help="one by one")
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument(
        "--morning", type=int, default=100_000, help="people of a zone's morning; 0 leaves it out"
    )
    given = parser.parse_args()
    configure_logging("error", "json")
    tune_interpreter()  # as the server does
    print(f"load average {os.getloadavg()[0]:.1f}; figures of a busy machine mean little")
    if given.jobs:
        trio.run(main, given.jobs, given.singles, given.concurrency, given.batch)
    if given.morning:
        measure_the_morning(given.morning)
