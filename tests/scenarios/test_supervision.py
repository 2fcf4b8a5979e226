"""Side actors fail, side tables are damaged, and people meet all the same.

A fault is put into an actor from outside: its `run` raises when it starts, or after it has run for
a while. Nothing else is replaced.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs

from tests.edge.test_http_ops import ask, metrics
from tests.scenarios.meeting import join_pair, settle
from yoked_actor.actors import job_bell
from yoked_actor.actors.alarm import Alarm
from yoked_actor.actors.calendar import Calendar
from yoked_actor.actors.care import Care
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.dispatcher import Dispatcher
from yoked_actor.actors.offer_desk import OfferDesk
from yoked_actor.client import Client
from yoked_actor.edge.conversation import Conversations
from yoked_actor.edge.expiries import Expiries
from yoked_actor.edge.keepalive import Keepalive
from yoked_actor.edge.status_board import StatusBoard
from yoked_actor.testing import World, open_world

SIDE_ACTORS = {
    "alarm": (Alarm, "run"),
    "calendar": (Calendar, "run"),
    "desk": (OfferDesk, "run"),
    "dispatcher": (Dispatcher, "run"),
    "hello_timeouts": (Conversations, "run"),
    "token_expiries": (Expiries, "run"),
    "job_bell": (job_bell, "listen"),
    "keepalive": (Keepalive, "run"),
    "status_board": (StatusBoard, "run"),
    "suspensions": (Care, "run"),
    "clock": (Clock, "watch"),
    "upkeep": (Dispatcher, "enqueue"),
}
BRIEF = {"upkeep"}
"""Actors that return when they are done."""
SIDE_TABLES = (
    "jobs",
    "job_ledger",
    "zone_runs",
    "alerts",
    "suspended",
    "offers",
    "offer_sets",
)


class Fault(Exception):
    """What is raised where nobody expects it."""


async def meet_and_date(one: Client, other: Client) -> None:
    with trio.fail_after(60):
        await settle(one, other, ("yes", "yes"))
        await one.wait_for("date_started")
        await other.wait_for("date_started")


def failing_at_start(run: Callable[..., Awaitable[Any]], times: int) -> Callable[..., Any]:
    left = [times]

    async def fail(*args: Any, **kwargs: Any) -> Any:
        if left[0]:
            left[0] -= 1
            raise Fault("at the start")
        return await run(*args, **kwargs)

    return fail


def failing_after(run: Callable[..., Awaitable[Any]], after: trio.Event) -> Callable[..., Any]:
    """Let it run, and have it fail once when the event is set."""
    is_over = [False]

    async def fail(*args: Any, **kwargs: Any) -> Any:
        if is_over[0]:
            return await run(*args, **kwargs)

        async def throw() -> None:
            await after.wait()
            is_over[0] = True
            raise Fault("while it ran")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(throw)
            await run(*args, **kwargs)
        return None

    return fail


async def degraded(world: World) -> list[str]:
    """What `/readyz` says of a server that is ready."""
    status, body = await ask(world, "/readyz")
    assert status == 200
    assert body["status"] == "ok"
    assert (await ask(world, "/healthz")) == (200, {"status": "ok"})
    found: list[str] = body.get("degraded", [])
    return found


@pytest.mark.parametrize("actor", sorted(SIDE_ACTORS))
async def test_people_meet_while_a_side_actor_fails_at_its_start(
    autojump_clock, monkeypatch, tmp_path, actor
):
    owner, name = SIDE_ACTORS[actor]
    target = "yoked_actor.server.listen" if owner is job_bell else None
    run = failing_at_start(getattr(owner, name), times=3)
    if target is None:
        monkeypatch.setattr(owner, name, run)
    else:
        monkeypatch.setattr(target, run)
    with capture_logs() as logs:
        async with open_world(database=tmp_path / "yoked.db") as world:
            ana, ben = await join_pair(world)
            assert await degraded(world) == [actor]
            await meet_and_date(ana, ben)
            await trio.sleep(20)
            assert (await metrics(world))[("yoked_actor_restarts_total", actor)] == 3
            alerts = world.server.alarm.standing
            assert [one.value for one in alerts] == ["actor_restarts"]
            await trio.sleep(500)
            assert await degraded(world) == []
            assert not world.server.alarm.standing
    failed = [one for one in logs if one["event"] == "actor_failed"]
    assert [one["actor"] for one in failed] == [actor] * 3
    assert all(isinstance(one["exc_info"], Fault) for one in failed)
    pauses = [one["restart_in_s"] for one in failed]
    assert pauses == sorted(pauses), "each pause is longer than the one before"


@pytest.mark.parametrize("actor", sorted(set(SIDE_ACTORS) - BRIEF))
async def test_people_meet_while_a_side_actor_fails_in_the_middle_of_its_work(
    autojump_clock, monkeypatch, tmp_path, actor
):
    owner, name = SIDE_ACTORS[actor]
    now = trio.Event()
    run = failing_after(getattr(owner, name), now)
    if owner is job_bell:
        monkeypatch.setattr("yoked_actor.server.listen", run)
    else:
        monkeypatch.setattr(owner, name, run)
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        assert await degraded(world) == []
        now.set()
        await trio.testing.wait_all_tasks_blocked()
        assert await degraded(world) == [actor]
        await meet_and_date(ana, ben)
        await trio.sleep(100)
        assert await degraded(world) == []


def drop(database: Path, table: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute(f"DROP TABLE {table}")


@pytest.mark.parametrize("table", SIDE_TABLES)
async def test_people_meet_while_a_side_table_is_gone(autojump_clock, tmp_path, table):
    database = tmp_path / "yoked.db"
    # It is 09:00 in Berlin two minutes after the start.
    async with open_world(database=database, start="2026-01-01T07:58:00Z") as world:
        _, ben = await join_pair(world)
        drop(database, table)
        await world.join("zoe", time_zone="Pacific/Auckland")  # a new zone wakes the calendar
        await meet_and_date(await world.connect("ana"), ben)
        await trio.sleep(180)
        dora, eric = await join_pair(world, "dora", "eric")
        await meet_and_date(dora, eric)


@pytest.mark.parametrize("table", SIDE_TABLES)
async def test_a_server_starts_without_a_side_table(autojump_clock, tmp_path, table):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await world.crash()
        drop(database, table)
        with capture_logs() as logs:
            await world.start()
            await trio.sleep(5)
            await meet_and_date(ana, ben)
            named = await degraded(world)
    assert named, "what is damaged is named"
    assert {one["actor"] for one in logs if one["event"] == "actor_failed"} >= set(named)
