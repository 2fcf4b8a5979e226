"""Several workers share a morning on PostgreSQL, and kill -9 of one of them loses nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from tests.postgres import running_postgres
from tests.process.server import PATIENCE_S, environment, running_server
from tests.process.test_worker_process import DAY, ZONE, people
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.offers import Calendar
from yoked_actor.domain.lobby import Changes
from yoked_actor.settings import load_settings
from yoked_actor.store import ThreadRunner, enqueue_in, open_store
from yoked_actor.telemetry import Metrics

pytestmark = pytest.mark.process

PEOPLE = 400
SETS = "SELECT count(*) FROM offer_sets"
OPEN = (
    "SELECT count(*) FROM jobs WHERE type IN ('offers.user', 'offers.zone_run')"
    " AND completed_at IS NULL"
)
# The jobs of a worker that was killed run again soon.
CONFIG = """
[jobs]
worker_process = "off"
lease_s = 2
[jobs.retry."offers.user"]
base_s = 0.2
cap_s = 0.2
attempts = 50
"""


class Worker:
    """`yoked-actor worker` on a database."""

    def __init__(self, config: Path, url: str) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "yoked_actor", "worker"),
                *("--data", str(config.parent), "--config", str(config)),
            ],
            env=environment() | {"YOKED_STORE__URL": url},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        assert b"worker ready" in self._process.stdout.readline()

    def kill(self) -> None:
        """kill -9."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def workers(config: Path, url: str, count: int) -> Iterator[list[Worker]]:
    running: list[Worker] = []
    try:
        for _ in range(count):
            running.append(Worker(config, url))
        yield running
    finally:
        for worker in running:
            worker.kill()


def read(url: str, sql: str) -> Any:
    with psycopg.connect(url) as connection:
        row = connection.execute(sql).fetchone()
    assert row is not None
    return row[0]


async def until(condition: Callable[[], bool], what: str) -> None:
    end = trio.current_time() + PATIENCE_S
    while trio.current_time() < end:
        if await trio.to_thread.run_sync(condition):
            return
        await trio.sleep(0.05)
    raise AssertionError(f"not within {PATIENCE_S} s: {what}")


async def store_people_and_ask_for_run(url: str) -> None:
    """Fill the database, and start a run as an operator does."""
    settings = load_settings(None, {}, {})
    async with open_store(None, runner=ThreadRunner(), url=url, shared=True) as store:
        await store.commit(Changes(people=people()[:PEOPLE]))
        calendar = Calendar(
            *(store.calendar, Clock.real(), settings, enqueue_in),
            at=settings.offers.time_of_day(),
            metrics=Metrics().calendar,
        )
        await calendar.start_run(ZONE, DAY)
        assert store.bell is not None
        await store.bell.ring()


async def test_workers_share_a_morning_and_one_is_killed(tmp_path: Path) -> None:
    with running_postgres(fsync=True) as database, database.database() as url:
        config = tmp_path / "yoked.toml"
        config.write_text(CONFIG)
        with (
            running_server(tmp_path, "--config", str(config), store__url=url),
            workers(config, url, 2) as crew,
        ):
            await store_people_and_ask_for_run(url)
            await until(lambda: read(url, SETS) > 0, "a first set")
            crew.pop().kill()
            crew.append(await trio.to_thread.run_sync(Worker, config, url))
            await until(lambda: read(url, SETS) == PEOPLE and read(url, OPEN) == 0, "all sets")
        assert read(url, "SELECT count(DISTINCT user_id) FROM offer_sets") == PEOPLE
        assert read(url, "SELECT count(*) FROM jobs WHERE status = 'dead_letter'") == 0
        finished = "SELECT count(*) FROM zone_runs WHERE status = 'done'"
        assert read(url, finished) == 1
