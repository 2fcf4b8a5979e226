"""On PostgreSQL, too, nothing that clients were told is lost (R17-R19).

Bots meet again and again over real sockets. The server is killed with -9, and the database is
stopped at once (`pg_ctl stop -m immediate`) and started again, while they meet.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path
from random import Random

import httpx
import pytest
import trio

from tests.postgres import PostgresServer, running_postgres
from tests.process.evening import LIVENESS_S, Evening
from tests.process.server import PATIENCE_S, run_cli, running_server
from tests.process.witnesses import PostgresBooks, told_matches

pytestmark = pytest.mark.process

_log = logging.getLogger(__name__)

USERS = 24
SEED = 20260102
SERVER_KILLS, DATABASE_STOPS = 3, 3


class Blackouts:
    """Kills the server and the database in turn."""

    def __init__(self, evening: Evening, database: PostgresServer, url: str) -> None:
        self._evening = evening
        self._database = database
        self._url = url
        self._random = Random(SEED)

    async def run(self) -> None:
        """Kill and stop; after each the bots meet again."""
        for _ in range(SERVER_KILLS):
            await self._some_matches()
            self._evening.server.kill()
            assert PostgresBooks(self._url).problems(self._evening.witness.accounts) == []
            self._evening.wallflowers.returned.clear()
            await trio.to_thread.run_sync(self._evening.server.start)
            await self._evening.wallflowers_are_back()
        for _ in range(DATABASE_STOPS):
            await self._some_matches()
            await trio.to_thread.run_sync(self._stop_and_start)
        await self._some_matches()

    async def _some_matches(self) -> None:
        await self._evening.most_are_here()
        await self._evening.matches_more(8)
        await trio.sleep(self._random.uniform(0.0, 0.5))

    def _stop_and_start(self) -> None:
        self._database.stop()
        self._database.start()


async def test_nothing_told_is_lost_when_the_server_or_postgresql_is_killed(tmp_path: Path) -> None:
    with running_postgres(fsync=True) as database, database.database() as url:
        with running_server(
            tmp_path / "data", store__url=url, matching__liveness_s=LIVENESS_S
        ) as server:
            evening = Evening(server, users=USERS, seed=SEED)
            await evening.run(Blackouts(evening, database, url).run)
            assert await trio.to_thread.run_sync(server.stop) == 0
            log = server.log
        evening.check(PostgresBooks(url))
    _log.info("%d matches told", len(told_matches(evening.witness)))
    assert "database_lost" in log
    assert "database_found" in log
    assert not (tmp_path / "data" / "yoked.db").exists()


def test_readiness_follows_the_database_of_an_idle_server(tmp_path: Path) -> None:
    with (
        running_postgres() as database,
        running_server(tmp_path / "data", store__url=database.url("yoked_template")) as server,
    ):
        assert status(f"{server.url}/readyz") == 200
        database.stop()
        wait_for_status(f"{server.url}/readyz", 503)
        assert status(f"{server.url}/healthz") == 200
        database.start()
        wait_for_status(f"{server.url}/readyz", 200)


def status(url: str) -> int:
    return httpx.get(url, timeout=PATIENCE_S).status_code


def wait_for_status(url: str, wanted: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while status(url) != wanted:
        assert time.monotonic() < end, f"{url} does not answer {wanted}"
        time.sleep(0.05)


def test_an_unreachable_database_is_an_error_that_says_what_it_is(tmp_path: Path) -> None:
    url = f"postgresql://yoked:s3cret@/none?host={tmp_path}"
    done = run_cli("serve", "--dev", "--port", "0", "--data", str(tmp_path), store__url=url)
    assert done.returncode == 1
    assert "is unavailable" in done.stderr
    assert "start PostgreSQL, or correct store.url" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_url_of_another_kind_is_an_error_that_shows_the_right_one(tmp_path: Path) -> None:
    url = "postgresql://yoked:s3cret@[db/yoked"
    done = run_cli("serve", "--dev", "--port", "0", "--data", str(tmp_path), store__url=url)
    assert done.returncode == 1
    assert "postgresql://user:password@host:5432/database" in done.stderr
    assert "s3cret" not in done.stderr + done.stdout
    assert "Traceback" not in done.stderr
