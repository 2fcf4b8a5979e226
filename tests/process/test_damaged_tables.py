"""A real server whose database lacks a table: what goes on, and how it ends if it must."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from tests.process.house import open_house, run_cli
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process


def drop(database: Path, table: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None, timeout=30)) as connection:
        connection.execute(f"DROP TABLE {table}")


def logged(log: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("table", ["jobs", "zone_runs", "suspended"])
async def test_a_server_without_a_side_table_starts_and_says_so(tmp_path, table):
    with open_house(tmp_path / "data") as house:
        assert house.stop() == 0
        drop(house.database, table)
        house.start()
        api = Api(house.url)
        token = await api.login("ana", make_profile("Ana"))
        async with open_client(house.url, token) as ana:
            await ana.spin()
        ready = (await api.request("GET", "/readyz")).json()
        assert ready["status"] == "ok"
        assert ready["degraded"]
        assert house.stop() == 0
    failed = [one for one in logged(house.log) if one["event"] == "actor_failed"]
    assert {one["actor"] for one in failed} >= set(ready["degraded"])


async def test_a_server_that_cannot_store_its_decisions_ends_with_70_and_says_why(tmp_path):
    with open_house(tmp_path / "data") as house:
        api = Api(house.url)
        token = await api.login("ana", make_profile("Ana"))
        drop(house.database, "seats")
        async with open_client(house.url, token) as ana, trio.open_nursery() as nursery:
            nursery.start_soon(ana.spin)
            code = await trio.to_thread.run_sync(house.wait)
            nursery.cancel_scope.cancel()
        assert code == 70
    crashed = [one for one in logged(house.log) if one["level"] == "critical"]
    assert "matchmaker_crashed" in [one["event"] for one in crashed]


@pytest.mark.parametrize("table", ["matches", "people"])
def test_a_server_without_a_core_table_says_so_in_one_line_and_in_the_log(tmp_path, table):
    with open_house(tmp_path / "data") as house:
        assert house.stop() == 0
        drop(house.database, table)
        second = run_cli("serve", "--dev", "--port", "0", "--data", str(house.data_dir))
    assert second.returncode == 1
    assert second.stdout == ""
    what = f"{house.database} failed: no such table: {table}"
    plain = [line for line in second.stderr.splitlines() if not line.startswith("{")]
    assert plain == [f"Error: {what}"]
    [entry] = [one for one in logged(second.stderr) if one["level"] == "critical"]
    assert entry["event"] == "store_failed"
    assert entry["error"] == what
    assert "Traceback" in str(entry["exception"])


def test_what_a_deployer_can_mend_is_one_line_and_no_entry_of_the_log(tmp_path):
    with open_house(tmp_path / "data") as house:
        serve = ("serve", "--dev", "--port", "0", "--data", str(house.data_dir))
        in_use = run_cli(*serve)
        assert house.stop() == 0
        with closing(sqlite3.connect(house.database, isolation_level=None)) as connection:
            connection.execute("PRAGMA user_version = 9999")
        too_new = run_cli(*serve)
        no_key = run_cli("serve", "--port", "0", "--data", str(tmp_path / "other"))
    for refused, says in ((in_use, "in use"), (too_new, "newer version"), (no_key, "")):
        assert refused.returncode == 1
        assert "Traceback" not in refused.stderr
        [line] = [one for one in refused.stderr.splitlines() if not one.startswith("{")]
        assert line.startswith("Error: ")
        assert says in line
        assert not [one for one in logged(refused.stderr) if one["level"] == "critical"]
