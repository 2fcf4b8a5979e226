"""Side actors fail, side tables are damaged, and users still meet.

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
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, wakeups
from yoked_actor.actors.offers import Calendar, OfferDelivery
from yoked_actor.actors.ops import Alarm, StatusBoard
from yoked_actor.actors.people import SuspensionEnforcer
from yoked_actor.client import Api, Client, CommandRefused
from yoked_actor.edge.net import Keepalive
from yoked_actor.edge.ws import Conversations, Hub
from yoked_actor.edge.ws.expiries import Expiries
from yoked_actor.testing import World, make_profile, open_world

SIDE_ACTORS = {
    "alarm": (Alarm, "run"),
    "calendar": (Calendar, "run"),
    "desk": (OfferDelivery, "run"),
    "dispatcher": (Dispatcher, "run"),
    "hello_timeouts": (Conversations, "run"),
    "token_expiries": (Expiries, "run"),
    "hub": (Hub, "run"),
    "job_bell": (wakeups, "listen_for_wakeups"),
    "keepalive": (Keepalive, "run"),
    "status_board": (StatusBoard, "run"),
    "suspensions": (SuspensionEnforcer, "run"),
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
    target = "yoked_actor.app.jobs.listen_for_wakeups" if owner is wakeups else None
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
            alerts = world.server.base.alarm.standing
            assert [one.value for one in alerts] == ["actor_restarts"]
            await trio.sleep(500)
            assert await degraded(world) == []
            assert not world.server.base.alarm.standing
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
    if owner is wakeups:
        monkeypatch.setattr("yoked_actor.app.jobs.listen_for_wakeups", run)
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


@pytest.mark.parametrize("table", ["jobs", "alerts"])
async def test_the_alert_is_raised_in_the_log_even_without_its_tables(
    autojump_clock, tmp_path, table
):
    database = tmp_path / "yoked.db"
    with capture_logs() as logs:
        async with open_world(database=database) as world:
            await world.crash()
            drop(database, table)
            await world.start()
            await trio.sleep(30)
            assert (await metrics(world))[("yoked_alert", "actor_restarts")] == 1
    raised = [one["alert"] for one in logs if one["event"] == "alert_raised"]
    assert raised == ["actor_restarts"]


@pytest.mark.parametrize(
    ("table", "path"),
    [
        ("jobs", "/api/admin/jobs"),
        ("zone_runs", "/api/admin/offers/runs"),
        ("suspended", "/api/admin/reports"),
    ],
)
async def test_a_call_about_a_damaged_table_is_a_clean_problem(
    autojump_clock, tmp_path, table, path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        drop(database, table)
        olga = Api("http://world.test", world.token("olga", admin=True), dial=world.dial())
        answer = await olga.request("GET", path)
        assert answer.status in (500, 503)
        assert answer.json()["code"] == "internal"
        assert "no such table" not in answer.body.decode()
        await meet_and_date(ana, ben)


def break_row(database: Path, change: str) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        assert other.execute(change).rowcount > 0


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE people SET interests = '{' WHERE user_id = 'ana'",
        "UPDATE people SET birth_date = 'spring' WHERE user_id = 'ana'",
        "UPDATE matches SET status = 'odd' WHERE ended_at IS NULL",
        "UPDATE matches SET b = 'nobody' WHERE ended_at IS NULL",
    ],
)
async def test_an_unreadable_row_of_one_user_affects_no_other_user_after_a_restart(
    autojump_clock, tmp_path, change
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ben.spin()
        await ben.wait_for("matched")
        await world.crash()
        break_row(database, change)
        await world.start()
        dora = await world.join("dora", gender="woman", seeking=["man"])
        await trio.sleep(1)
        await ben.spin()
        await dora.spin()
        with trio.fail_after(120):
            while (matched := await ben.wait_for("matched")).partner["display_name"] != "Dora":
                await ben.leave()
                await ben.spin()
        assert matched.match_id
        assert world.audit() == []


async def test_a_user_whose_profile_cannot_be_read_can_save_another(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await world.crash()
        break_row(database, "UPDATE people SET seeking = '[' WHERE user_id = 'ana'")
        await world.start()
        with pytest.raises(CommandRefused, match="complete your profile"):
            await ana.spin()
        profile = make_profile("Ana", gender="woman", seeking=["man"])
        await world.api("ana").call("PUT", "/api/profile", profile)
        await meet_and_date(ana, ben)


async def test_a_plan_with_an_unreadable_date_is_replaced(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await join_pair(world)
        await trio.sleep(1)
        await world.crash()
        break_row(database, "UPDATE zone_runs SET local_date = 'x' WHERE status = 'planned'")
        await world.start()
        await trio.sleep(1)
        assert await degraded(world) == []
        [run] = await world.server.base.store.calendar.runs(status="planned")
        assert run.run.scheduled_at > world.now()
