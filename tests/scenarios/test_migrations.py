"""A server that starts on the database of an older version."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from structlog.testing import capture_logs

from tests.scenarios.meeting import WOMAN
from yoked_actor.store.engine.sqlite.schema import migrations
from yoked_actor.testing import open_world


async def test_the_log_names_each_migration_once_and_then_the_server_serves(
    autojump_clock, tmp_path
):
    database, older = tmp_path / "yoked.db", len(migrations()) - 3
    with closing(sqlite3.connect(database)) as connection:
        for step in migrations()[:older]:
            connection.executescript(f"{step.text}\nPRAGMA user_version = {step.version};")
    found = []
    for _ in range(2):
        with capture_logs() as logs:
            async with open_world(database=database) as world:
                await world.sign_up("ana", **WOMAN)
                profile = await world.api("ana").call("GET", "/api/profile")
                assert profile["gender"] == "woman"
        lines = [line for line in logs if line["event"] == "migrating"]
        found.append([(line["schema"], line["migration"]) for line in lines])
    assert found == [[tuple(step) for step in migrations()[older:]], []]


async def test_a_new_database_is_not_migrated(autojump_clock, tmp_path):
    with capture_logs() as logs:
        async with open_world(database=tmp_path / "yoked.db"):
            pass
    assert [line for line in logs if line["event"] == "migrating"] == []
