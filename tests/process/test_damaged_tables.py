"""A real server whose database lacks a table: what still works, and how it exits if it must."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from tests.process.server import run_cli, running_server
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process


def drop(database: Path, table: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None, timeout=30)) as connection:
        connection.execute(f"DROP TABLE {table}")


def logged(log: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("table", ["jobs", "zone_runs", "suspended"])
async def test_a_server_without_a_side_table_starts_and_logs_it(tmp_path, table):
    with running_server(tmp_path / "data") as server:
        assert server.stop() == 0
        drop(server.database, table)
        server.start()
        api = Api(server.url)
        token = await api.login("ana", make_profile("Ana"))
        async with open_client(server.url, token) as ana:
            await ana.spin()
        ready = (await api.request("GET", "/readyz")).json()
        assert ready["status"] == "ok"
        assert ready["degraded"]
        assert server.stop() == 0
    failed = [one for one in logged(server.log) if one["event"] == "actor_failed"]
    assert {one["actor"] for one in failed} >= set(ready["degraded"])


async def test_a_server_that_cannot_store_its_decisions_exits_with_70_and_says_why(tmp_path):
    with running_server(tmp_path / "data") as server:
        api = Api(server.url)
        token = await api.login("ana", make_profile("Ana"))
        drop(server.database, "seats")
        async with open_client(server.url, token) as ana, trio.open_nursery() as nursery:
            nursery.start_soon(ana.spin)
            code = await trio.to_thread.run_sync(server.wait)
            nursery.cancel_scope.cancel()
        assert code == 70
    crashed = [one for one in logged(server.log) if one["level"] == "critical"]
    assert "matchmaker_crashed" in [one["event"] for one in crashed]


@pytest.mark.parametrize("table", ["matches", "people"])
def test_a_server_without_a_core_table_says_so_in_one_line_and_in_the_log(tmp_path, table):
    with running_server(tmp_path / "data") as server:
        assert server.stop() == 0
        drop(server.database, table)
        second = run_cli("serve", "--dev", "--port", "0", "--data", str(server.data_dir))
    assert second.returncode == 1
    assert second.stdout == ""
    what = f"{server.database} failed: no such table: {table}"
    plain = [line for line in second.stderr.splitlines() if not line.startswith("{")]
    assert plain == [f"Error: {what}"]
    [entry] = [one for one in logged(second.stderr) if one["level"] == "critical"]
    assert entry["event"] == "store_failed"
    assert entry["error"] == what
    assert "Traceback" in str(entry["exception"])


def test_an_error_that_an_operator_can_fix_is_one_line_and_is_not_logged(tmp_path):
    with running_server(tmp_path / "data") as server:
        serve = ("serve", "--dev", "--port", "0", "--data", str(server.data_dir))
        in_use = run_cli(*serve)
        assert server.stop() == 0
        with closing(sqlite3.connect(server.database, isolation_level=None)) as connection:
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
