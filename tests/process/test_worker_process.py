"""The worker process makes a morning's offers, through kill -9 of itself and of its server."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import trio

from tests.process.server import PATIENCE_S, ServerProcess, run_cli
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import wake_other_processes
from yoked_actor.actors.offers import Calendar
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.people import Person
from yoked_actor.settings import load_settings
from yoked_actor.store import InlineRunner, enqueue_in, open_store
from yoked_actor.telemetry import Metrics

pytestmark = pytest.mark.process


def zone_before_its_morning() -> tuple[str, date]:
    """A zone in which it is past one at night now, and the date of yesterday there.

    A server that starts after nine in a zone catches up today's run; these tests ask for one run.
    """
    now = datetime.now(UTC)
    ahead_h = (13 - now.hour) % 24 - 12
    # The sign in these names is the other way round: Etc/GMT-3 is three hours ahead.
    yesterday = (now + timedelta(hours=ahead_h)).date() - timedelta(days=1)
    return f"Etc/GMT{-ahead_h:+d}", yesterday


ZONE, DAY = zone_before_its_morning()
PEOPLE = 1_500
# Soon, so that the jobs of a worker that was killed run again within the test.
CONFIG = """
[jobs]
worker_process = "{worker}"
worker_idle_s = {idle_s}
[jobs.retry."offers.user"]
base_s = 0.2
cap_s = 0.2
attempts = 50
[jobs.retry."offers.zone_run"]
base_s = 0.2
cap_s = 0.2
attempts = 50
[supervisor]
restart_first_s = 0.2
"""


def people() -> list[Person]:
    lots = random.Random(5)
    return [
        Person(
            user_id=f"user-{n:05d}",
            display_name=f"Person {n}",
            birth_date=date(lots.randint(1975, 2005), 6, 15),
            gender="woman" if n % 2 else "man",
            lat=52.5 + lots.gauss(0, 0.1),
            lon=13.4 + lots.gauss(0, 0.1),
            time_zone=ZONE,
            interests=tuple(lots.sample(("art", "chess", "tango", "hiking", "jazz"), 2)),
            seeking=frozenset({"man" if n % 2 else "woman"}),
            min_age=18,
            max_age=70,
            max_distance_km=100.0,
        )
        for n in range(PEOPLE)
    ]


async def ask_for_run(data: Path, day: date) -> None:
    """Start a run as an operator does."""
    settings = load_settings(None, {}, {})
    async with open_store(
        data / "yoked.db", runner=InlineRunner(), busy_timeout_s=30, shared=True
    ) as store:
        calendar = Calendar(
            *(store.calendar, Clock.real(), settings, enqueue_in),
            at=settings.offers.time_of_day(),
            metrics=Metrics().calendar,
        )
        await calendar.start_run(ZONE, day)
    wake_other_processes(data)


@contextmanager
def served(tmp_path: Path, *, worker: str = "on", idle_s: float = 60.0) -> Iterator[ServerProcess]:
    """A server with a crowd in one zone."""
    data, config = tmp_path / "data", tmp_path / "yoked.toml"
    data.mkdir()
    config.write_text(CONFIG.format(worker=worker, idle_s=idle_s))

    async def fill() -> None:
        async with open_store(data / "yoked.db", runner=InlineRunner()) as store:
            await store.commit(Changes(people=people()))

    trio.run(fill)
    server = ServerProcess(data, "--config", str(config))
    server.start()
    try:
        yield server
    finally:
        if server.is_running():
            server.kill()


def count(server: ServerProcess, sql: str) -> int:
    with closing(sqlite3.connect(server.database, timeout=30)) as books:
        return int(books.execute(sql).fetchone()[0])


def until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def sets(server: ServerProcess) -> int:
    return count(server, "SELECT count(*) FROM offer_sets")


def worker_pids(server: ServerProcess) -> list[int]:
    """The workers that the server's log names, oldest first."""
    lines = (json.loads(line) for line in server.log.splitlines() if line.startswith("{"))
    return [line["pid"] for line in lines if line.get("event") == "worker_started"]


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def assert_morning_is_right(server: ServerProcess) -> None:
    """Everybody has one set, no offer is there twice, and the run can be computed again."""
    until(lambda: sets(server) == PEOPLE, "not everybody has a set")
    open_jobs = (
        "SELECT count(*) FROM jobs WHERE type IN ('offers.user', 'offers.zone_run')"
        " AND status <> 'completed'"
    )
    until(lambda: count(server, open_jobs) == 0, "jobs are left")
    assert count(server, "SELECT count(DISTINCT user_id) FROM offer_sets") == PEOPLE
    twice = "SELECT count(*) - count(DISTINCT user_id || '>' || candidate) FROM offers"
    assert count(server, twice) == 0
    options = ("--zone", ZONE, "--date", DAY.isoformat(), "--data", str(server.data_dir))
    verified = run_cli("offers", "verify", *options)
    assert verified.returncode == 0, verified.stdout + verified.stderr


def metric(server: ServerProcess, name: str) -> float:
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=PATIENCE_S) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[-1])
    raise AssertionError(f"there is no metric {name}")


def test_a_killed_worker_is_replaced_and_every_set_is_made_once(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        trio.run(ask_for_run, server.data_dir, DAY)
        until(lambda: sets(server) > 0, "no set was stored")
        [first] = worker_pids(server)
        os.kill(first, 9)
        assert_morning_is_right(server)
        assert len(worker_pids(server)) == 2
        # The server itself ran none of these jobs, and counts what both workers have reported.
        assert '"actor_failed"' in server.log
        assert metric(server, "yoked_worker_running") == 1
        assert 0 < metric(server, 'yoked_offer_sets_total{result="stored"}') <= PEOPLE
        with urllib.request.urlopen(f"{server.url}/readyz", timeout=PATIENCE_S) as answer:
            assert answer.status == 200
        assert server.stop() == 0
        assert not any(is_alive(pid) for pid in worker_pids(server))


def test_a_worker_ends_with_a_killed_server_and_the_next_server_finishes(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        trio.run(ask_for_run, server.data_dir, DAY)
        until(lambda: sets(server) > 0, "no set was stored")
        [orphan] = worker_pids(server)
        server.kill()
        until(lambda: not is_alive(orphan), "the worker outlives its server")
        server.start()
        assert_morning_is_right(server)
        assert server.stop() == 0


def test_a_worker_lets_its_server_go_first(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        trio.run(ask_for_run, server.data_dir, DAY)
        until(lambda: sets(server) > 0, "no set was stored")
        [worker] = worker_pids(server)
        assert os.getpriority(os.PRIO_PROCESS, worker) > os.getpriority(os.PRIO_PROCESS, 0)
        # Where the kernel divides the cores among sessions, the priority of the session counts.
        group = Path(f"/proc/{worker}/autogroup")
        if group.exists():
            assert group.read_text().split()[-1] == "5"
        assert server.stop() == 0


def test_a_worker_without_work_ends_and_the_server_counts_what_it_did(tmp_path: Path) -> None:
    with served(tmp_path, idle_s=1.0) as server:
        trio.run(ask_for_run, server.data_dir, DAY)
        assert_morning_is_right(server)
        [worker] = worker_pids(server)
        until(lambda: not is_alive(worker), "the idle worker has not ended")
        until(lambda: metric(server, "yoked_worker_running") == 0, "the worker is still shown")
        assert metric(server, 'yoked_offer_sets_total{result="stored"}') == PEOPLE
        name = 'yoked_job_runs_total{result="completed",type="offers.user"}'
        assert metric(server, name) == PEOPLE
        assert server.stop() == 0


def test_without_a_worker_process_the_server_makes_the_offers(tmp_path: Path) -> None:
    with served(tmp_path, worker="off") as server:
        trio.run(ask_for_run, server.data_dir, DAY)
        assert_morning_is_right(server)
        assert worker_pids(server) == []
        assert server.stop() == 0
