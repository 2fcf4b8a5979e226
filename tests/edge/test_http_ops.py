"""Health, readiness and metrics."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Any

import pytest
import trio
from prometheus_client.parser import text_string_to_metric_families

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from tests.scenarios.talker import Talker
from yoked_actor.client import Api
from yoked_actor.testing import World, open_world

URL = "http://world.test"


async def ask(world: World, path: str) -> tuple[int, Any]:
    """Status and body of a call without a token."""
    answer = await Api(URL, dial=world.dial()).request("GET", path)
    return answer.status, answer.json()


async def metrics(world: World) -> dict[tuple[str, ...], float]:
    """Every sample by name and labels."""
    answer = await Api(URL, dial=world.dial()).request("GET", "/metrics")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.body.decode())
        for sample in family.samples
    }


async def test_a_server_that_is_well_says_so_to_anybody(autojump_clock):
    async with open_world() as world:
        assert await ask(world, "/healthz") == (200, {"status": "ok"})
        assert await ask(world, "/readyz") == (200, {"status": "ok"})


async def test_a_draining_server_is_alive_but_not_ready(autojump_clock):
    async with open_world() as world:
        world.server.drain()
        assert await ask(world, "/healthz") == (200, {"status": "ok"})
        assert await ask(world, "/readyz") == (503, {"status": "draining"})


async def test_a_server_that_cannot_store_is_alive_but_not_ready(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    settings = {"store": {"busy_timeout_s": 0.0}}
    async with open_world(database=database, settings=settings) as world:
        ana = await world.join("ana", **WOMAN)
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ana.spin)
                await trio.sleep(5)
                assert await ask(world, "/readyz") == (503, {"status": "store_unavailable"})
                assert await ask(world, "/healthz") == (200, {"status": "ok"})
                assert (await metrics(world))[("yoked_commit_failures_total", "main")] > 0
                other.execute("ROLLBACK")
        assert await ask(world, "/readyz") == (200, {"status": "ok"})


async def test_a_server_whose_database_is_gone_says_so_and_acknowledges_nothing(
    autojump_clock, tmp_path
):
    database, aside = tmp_path / "yoked.db", tmp_path / "aside.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        os.rename(database, aside)
        assert await ask(world, "/readyz") == (503, {"status": "database_lost"})
        assert await ask(world, "/healthz") == (200, {"status": "ok"})
        assert (await metrics(world))[("yoked_ready",)] == 0
        world.server.base.alarm.wake()
        replies = []

        async def spin():
            replies.append(await ana.spin())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(spin)
            await trio.sleep(20)
            assert replies == []
            assert (await metrics(world))[("yoked_alert", "database_lost")] == 1
            assert "yoked.db" not in os.listdir(tmp_path)
            os.rename(aside, database)
        assert await ask(world, "/readyz") == (200, {"status": "ok"})
        await ben.spin()
        await ana.wait_for("matched")
        await world.crash()
        await world.start()
        await ana.wait_connected()
        assert ana.snapshot["state"] == "matched"


async def test_the_metrics_count_what_has_happened(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        carl = await world.join("carl", **MAN)
        await carl.spin()
        await ana.spin()
        await ana.wait_for("matched")
        await trio.sleep(1)
        await carl.leave()
        await ana.wait_for("waiting")
        match_id = await match(ana, ben)
        await trio.sleep(1)
        for client in (ana, ben):
            await client.acknowledge(match_id)
        await ana.wait_for("voting")
        for client, vote in ((ana, "yes"), (ben, "pass")):
            await client.vote(match_id, vote)
        found = await metrics(world)
        assert found[("yoked_pairings_total", "1", "fair_queue", "main")] == 2
        assert found[("yoked_outcomes_total", "main", "yes_pass")] == 1
        assert found[("yoked_outcomes_total", "both_yes", "main")] == 0
        assert found[("yoked_cancellations_total", "main", "partner_left")] == 1
        assert found[("yoked_waiting_users", "main")] == 2
        assert found[("yoked_sessions",)] == 3
        assert found[("yoked_connections", "websocket")] == 3
        assert found[("yoked_connections", "http")] == 1
        assert found[("yoked_hellos_total", "fresh")] == 3
        assert found[("yoked_audit_violations_total", "main")] == 0


async def test_hellos_are_counted_by_what_they_led_to(autojump_clock):
    async with open_world() as world:
        _, first = await Talker.greet(world, "ana")
        await Talker.greet(world, "ana", resume={"session": first["session"], "seq": 0})
        await Talker.greet(world, "ana", resume={"session": "unknown", "seq": 0})
        found = await metrics(world)
        assert found[("yoked_hellos_total", "fresh")] == 1
        assert found[("yoked_hellos_total", "resumed")] == 1
        assert found[("yoked_hellos_total", "not_resumed")] == 1


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
async def test_nothing_here_wants_a_token_or_says_who_is_there(autojump_clock, path):
    async with open_world() as world:
        await world.join("somebody-special", **WOMAN)
        answer = await Api(URL, dial=world.dial()).request("GET", path)
        assert answer.status == 200
        assert b"somebody-special" not in answer.body
