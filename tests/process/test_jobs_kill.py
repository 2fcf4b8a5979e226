"""After kill -9 at any moment no job is lost or has its effect twice; two processes share jobs."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO, Any

import pytest
import trio

from tests.process.server import PATIENCE_S, environment, run_cli
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.domain.jobs import NewJob
from yoked_actor.store import InlineRunner, open_store

pytestmark = pytest.mark.process
JOBS = 5_000
KILLS = 10
# No unique key on purpose: a second effect must be detected, not prevented.
TICKS = "CREATE TABLE ticks (n INTEGER NOT NULL, job_id INTEGER NOT NULL, pid INTEGER NOT NULL)"


@contextmanager
def process(kind: str, directory: Path, *, log: IO[str] | None = None, **settings: object):
    """Run a server or a worker, and kill it at the end."""
    env = environment() | {f"YOKED_{name.upper()}": str(v) for name, v in settings.items()}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.process.job_handlers", kind, str(directory)],
        env=env,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    ) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline() == "ready\n"
            yield started
        finally:
            started.kill()


def fill(directory: Path, jobs: int, pause_s: float) -> None:
    """Create a database with this many jobs, all due."""
    enqueue_ticks(directory, jobs, pause_s)
    with closing(sqlite3.connect(directory / "yoked.db")) as books:
        books.execute(TICKS)


def enqueue_ticks(directory: Path, jobs: int, pause_s: float, *, shared: bool = False) -> None:
    """Enqueue this many jobs, all due; `shared` while a server runs."""

    async def enqueue() -> None:
        database = directory / "yoked.db"
        async with open_store(database, runner=InlineRunner(), shared=shared) as store:
            now = time.time_ns() // 1000
            await store.jobs.enqueue(
                [
                    NewJob("test.tick", {"n": n, "pause_s": pause_s}, now, key=str(n))
                    for n in range(jobs)
                ],
                now,
            )

    trio.run(enqueue)


def read(directory: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(directory / "yoked.db", timeout=30)) as books:
        return books.execute(sql).fetchall()


def done(directory: Path) -> int:
    [(count,)] = read(directory, "SELECT count(*) FROM ticks")
    return int(count)


def wait_for(directory: Path, jobs: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while done(directory) < jobs:
        assert time.monotonic() < end, f"{done(directory)} of {jobs} jobs are done"
        time.sleep(0.05)


def problems(directory: Path, jobs: int) -> list[str]:
    """Inconsistencies in the database when all jobs have run."""
    found = [text for (text,) in read(directory, "PRAGMA integrity_check") if text != "ok"]
    effects = Counter(n for (n,) in read(directory, "SELECT n FROM ticks"))
    found += [f"job {n} has {effects[n]} effects" for n in range(jobs) if effects[n] != 1]
    found += [
        f"{count} jobs are {status}"
        for status, count in read(
            directory,
            "SELECT status, count(*) FROM jobs WHERE type = 'test.tick' AND status <> 'completed'"
            " GROUP BY status",
        )
    ]
    return found


def test_every_job_has_its_effect_once_although_the_server_is_killed(tmp_path: Path) -> None:
    fill(tmp_path, JOBS, pause_s=0.01)
    chance = random.Random(4)
    settings: dict[str, Any] = {"jobs__lease_s": 0.5, "jobs__concurrency": 16}
    kills = 0
    for _ in range(KILLS):
        with process("serve", tmp_path, **settings):
            before = done(tmp_path)
            end = time.monotonic() + PATIENCE_S
            while done(tmp_path) == before < JOBS and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.3))
        kills += done(tmp_path) < JOBS
        assert all(n == 1 for n in Counter(read(tmp_path, "SELECT n FROM ticks")).values())
    with process("serve", tmp_path, **settings):
        wait_for(tmp_path, JOBS)
    assert problems(tmp_path, JOBS) == []
    assert kills >= 5, "killed while jobs were running"
    [(rescued,)] = read(tmp_path, "SELECT count(*) FROM job_attempts")
    assert rescued > 0, "kills interrupted running jobs"


def test_a_server_and_a_worker_share_the_work_and_neither_starves(tmp_path: Path) -> None:
    jobs = 2_000
    fill(tmp_path, 0, pause_s=0.02)
    settings: dict[str, Any] = {"jobs__concurrency": 8}
    with ExitStack() as stack:
        server = stack.enter_context(process("serve", tmp_path, **settings))
        worker = stack.enter_context(process("worker", tmp_path, **settings))
        # Both are ready before there is work: on a busy machine one may start long after the other.
        enqueue_ticks(tmp_path, jobs, pause_s=0.02, shared=True)
        wake_other_processes(tmp_path)
        wait_for(tmp_path, jobs)
    assert problems(tmp_path, jobs) == []
    by = dict(read(tmp_path, "SELECT pid, count(*) FROM ticks GROUP BY pid"))
    assert set(by) == {server.pid, worker.pid}
    assert min(by.values()) > jobs * 0.15


def test_the_server_and_the_command_line_wake_a_worker(tmp_path: Path) -> None:
    fill(tmp_path, 1, pause_s=0.0)
    with process("worker", tmp_path) as worker:
        wait_for(tmp_path, 1)
        assert worker.poll() is None
        # The worker sleeps. Another process requeues a dead letter and wakes it.
        with closing(sqlite3.connect(tmp_path / "yoked.db", timeout=30)) as books:
            books.execute("UPDATE jobs SET status = 'dead_letter' WHERE type = 'test.tick'")
            books.commit()
        answer = run_cli("jobs", "requeue", "1", "--data", str(tmp_path))
        assert (answer.returncode, answer.stdout) == (0, "job 1 is queued again\n")
        wait_for(tmp_path, 2)


def rename(directory: Path, table: str, name: str) -> None:
    with closing(sqlite3.connect(directory / "yoked.db", timeout=30)) as books:
        books.execute(f"ALTER TABLE {table} RENAME TO {name}")


def failed_actors(log: Path) -> set[str]:
    entries = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    return {one["actor"] for one in entries if one["event"] == "actor_failed"}


def test_a_worker_restarts_a_side_actor_that_failed_and_runs_jobs_again(tmp_path: Path) -> None:
    fill(tmp_path, 1, pause_s=0.0)
    log = tmp_path / "worker.log"
    with (
        log.open("w") as stream,
        process("worker", tmp_path, log=stream, supervisor__restart_cap_s=1.0) as worker,
    ):
        wait_for(tmp_path, 1)
        rename(tmp_path, "jobs", "jobs_away")
        wake_other_processes(tmp_path)
        end = time.monotonic() + PATIENCE_S
        while "dispatcher" not in failed_actors(log):
            assert time.monotonic() < end, "the dispatcher has not noticed the missing table"
            time.sleep(0.05)
        rename(tmp_path, "jobs_away", "jobs")
        enqueue_ticks(tmp_path, 5, pause_s=0.0, shared=True)
        wake_other_processes(tmp_path)
        wait_for(tmp_path, 5)
        assert worker.poll() is None
    assert problems(tmp_path, 5) == []
    assert {pid for (pid,) in read(tmp_path, "SELECT pid FROM ticks")} == {worker.pid}


def test_a_worker_needs_a_database_created_by_a_server(tmp_path: Path) -> None:
    answer = run_cli("worker", "--data", str(tmp_path / "nowhere"))
    assert answer.returncode == 1
    assert "there is no database" in answer.stderr
