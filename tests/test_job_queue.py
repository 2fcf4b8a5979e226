"""The queue for scripts: it enqueues without an event loop, beside a server."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
import trio

from yoked_actor.actors.jobs import OtherDispatchers, listen_for_wakeups
from yoked_actor.app.job_queue import open_job_queue
from yoked_actor.domain.jobs import Job, NewJob
from yoked_actor.store import (
    DatabaseLost,
    InlineRunner,
    KeyConflict,
    Store,
    StoreError,
    StoreUnavailable,
    ThreadRunner,
    open_blocking_jobs,
    open_store,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory on which a server was started once."""

    async def start() -> None:
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner()):
            pass

    trio.run(start)
    return tmp_path


async def claimed(store: Store, now: int | None = None) -> list[Job]:
    at = time.time_ns() // 1000 if now is None else now
    return (await store.jobs.claim("w", at, 60, 100)).jobs


async def in_a_thread(data: Path, *payloads: dict[str, int]) -> None:
    def enqueue() -> None:
        with open_job_queue(data) as queue:
            for payload in payloads:
                queue.enqueue("mail", payload)

    await trio.to_thread.run_sync(enqueue)


def test_a_script_enqueues_and_a_server_claims(data: Path) -> None:
    with open_job_queue(data) as queue:
        first = queue.enqueue("mail", {"n": 1}, priority=3)
        later = queue.enqueue("mail", {"n": 2}, delay_s=3600.0)
        bulk = queue.enqueue_all([NewJob("mail", {"n": n}, 0) for n in (3, 4)])
    assert [one.job_id for one in (first, later, *bulk)] == [1, 2, 3, 4]
    assert all(one.is_new for one in (first, later, *bulk))

    async def serve() -> None:
        async with open_store(data / "yoked.db", runner=InlineRunner()) as store:
            assert [job.id for job in await claimed(store)] == [3, 4, 1]
            [job] = await claimed(store, time.time_ns() // 1000 + 3_601_000_000)
            assert (job.id, job.payload) == (2, '{"n":2}')

    trio.run(serve)


def test_a_key_makes_one_job(data: Path) -> None:
    with open_job_queue(data) as queue:
        assert queue.enqueue("mail", {"n": 1}, key="k").is_new
        again = queue.enqueue("mail", {"n": 1}, key="k")
        assert (again.job_id, again.is_new) == (1, False)
        with pytest.raises(KeyConflict):
            queue.enqueue_all([NewJob("mail", {}, 0), NewJob("mail", {"n": 2}, 0, key="k")])
        assert queue.enqueue("mail", {}).job_id == 2, "nothing of the refused call was stored"


def test_every_job_is_on_the_disk_when_the_call_returns(data: Path) -> None:
    script = (
        "import os, pathlib, sys\n"
        "from yoked_actor.app.job_queue import open_job_queue\n"
        "with open_job_queue(pathlib.Path(sys.argv[1])) as queue:\n"
        "    for n in range(5):\n"
        "        queue.enqueue('mail', {'n': n})\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(data)], check=False)
    assert ended.returncode == -9
    with closing(sqlite3.connect(data / "yoked.db")) as db:
        assert db.execute("SELECT count(*) FROM jobs").fetchone() == (5,)
    with open_job_queue(data) as queue, closing(sqlite3.connect(data / "yoked.db")) as db:
        assert queue.enqueue("mail", {}).job_id == 6
        assert db.execute("SELECT count(*) FROM jobs").fetchone() == (6,)


async def test_scripts_and_a_server_write_beside_each_other(tmp_path: Path) -> None:
    async with open_store(tmp_path / "yoked.db", runner=ThreadRunner()) as store:
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(in_a_thread, tmp_path, *({"n": n} for n in range(50)))
            for n in range(50):
                await store.jobs.enqueue([NewJob("call", {"n": n}, 0)], 0)
        jobs = await claimed(store)
        jobs += await claimed(store)
    assert len({job.id for job in jobs}) == len(jobs) == 150


async def test_a_job_wakes_a_dispatcher(tmp_path: Path) -> None:
    async with open_store(tmp_path / "yoked.db", runner=ThreadRunner()):
        woken = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen_for_wakeups, tmp_path, woken.set, "server")
            while not (tmp_path / "jobs-server.bell").exists():
                await trio.lowlevel.checkpoint()
            await in_a_thread(tmp_path, {})
            with trio.fail_after(10):
                await woken.wait()
            nursery.cancel_scope.cancel()


@pytest.mark.parametrize("changed_s_ago", [0, 100])
async def test_a_queue_wakes_dispatchers_that_come_after_it(
    tmp_path: Path, changed_s_ago: float
) -> None:
    wakeups = 0

    def woken() -> None:
        nonlocal wakeups
        wakeups += 1

    others = OtherDispatchers(tmp_path, "script")
    for expected in (1, 2):
        # What the queue knows of a directory that has not changed for a while is used again.
        at = time.time() - changed_s_ago
        os.utime(tmp_path, (at, at))
        for _ in range(3):
            others.wake()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(listen_for_wakeups, tmp_path, woken, "server")
            while not (tmp_path / "jobs-server.bell").exists():
                await trio.lowlevel.checkpoint()
            others.wake()
            with trio.fail_after(10):
                while wakeups < expected:
                    await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
    assert wakeups == 2


def test_a_busy_database_is_an_error_after_a_while(data: Path) -> None:
    with (
        open_blocking_jobs(data / "yoked.db", busy_timeout_s=0.05) as jobs,
        closing(sqlite3.connect(data / "yoked.db", isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable):
            jobs.enqueue([NewJob("mail", {}, 0)], 0)
        other.execute("ROLLBACK")
        assert jobs.enqueue([NewJob("mail", {}, 0)], 0)[0].job_id == 1


def test_a_job_that_would_be_lost_is_not_acknowledged(data: Path) -> None:
    with open_job_queue(data) as queue:
        queue.enqueue("mail", {})
        os.rename(data / "yoked.db", data / "elsewhere.db")
        with pytest.raises(DatabaseLost):
            queue.enqueue("mail", {})


def test_without_a_database_there_is_no_queue(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="start a server"), open_job_queue(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
