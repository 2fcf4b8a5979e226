"""A whole server with a fault: the webhook gets one raised and one cleared alert."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import trio
from msgspec.structs import replace
from structlog.testing import capture_logs
from trio.testing import MockClock

from tests.actors.receiver import SECRET, URL, Receiver
from tests.store.raw import raw_connection
from yoked_actor.client import Api, CallRefused
from yoked_actor.settings.models.retries import JOB_TYPES
from yoked_actor.testing import World, open_world

SETTINGS = {"alerts": {"webhook_url": URL, "webhook_secret": SECRET}}


async def alerts_of(world: World) -> list[str]:
    api = Api("http://world.test", world.token("root", admin=True), dial=world.dial())
    return [one["alert"] for one in (await api.call("GET", "/api/admin/alerts"))["alerts"]]


def fill_disk(world: World) -> None:
    connection = raw_connection(world.server.base.store)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")


def make_room(world: World) -> None:
    raw_connection(world.server.base.store).execute("PRAGMA max_page_count = 1000000")


async def test_a_full_disk_is_reported_once_and_cleared_once(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    receiver = Receiver()
    path = tmp_path / "yoked.db"
    async with open_world(settings=SETTINGS, database=path, webhook_transport=receiver) as world:
        await trio.sleep(100)
        fill_disk(world)
        async with trio.open_nursery() as nursery:
            for number in range(60):
                nursery.start_soon(sign_up, world, f"guest{number}")
            await trio.sleep(60)
            assert await alerts_of(world) == ["commit_failures"]
            make_room(world)
        await trio.sleep(60)
        assert [news["state"] for news in receiver.news()] == ["raised"]
        await world.crash()
        await world.start()
        await trio.sleep(1)
        assert await alerts_of(world) == ["commit_failures"]
        await trio.sleep(600)
        assert await alerts_of(world) == []
    assert [news["state"] for news in receiver.news()] == ["raised", "cleared"]
    assert len({news["raised_at"] for news in receiver.news()}) == 1


async def sign_up(world: World, user_id: str) -> None:
    # Who has waited for an answer for long enough is told to ask again.
    with suppress(CallRefused):
        await world.sign_up(user_id, interests=[f"{user_id} {n:030}" for n in range(30)])


async def test_a_violation_that_the_auditor_finds_is_an_alert_for_an_hour(
    autojump_clock: MockClock,
) -> None:
    settings = {**SETTINGS, "matchmaker": {"audit": "log"}}
    receiver = Receiver()
    async with open_world(settings=settings, webhook_transport=receiver) as world:
        ana = await world.join("ana")
        await ana.spin()
        await trio.sleep(3600)
        with capture_logs() as logs:
            floor = world.server.live.lobby.floor
            # As a bug would leave it: in line, and nobody can find her.
            floor.put_seat(replace(floor.seat("ana"), credit=20))
            floor.pool.discard("ana")
            await ana.spin()
            await trio.sleep(20)
        assert [line["event"] for line in logs if line["event"] == "audit_violation"] != []
        assert await alerts_of(world) == ["audit_violations"]
        await trio.sleep(4000)
        assert await alerts_of(world) == []
    assert [news["state"] for news in receiver.news()] == ["raised", "cleared"]


async def test_every_type_of_job_that_a_server_runs_can_have_a_retry_policy(
    autojump_clock: MockClock,
) -> None:
    async with open_world() as world:
        assert world.server.base.dispatcher.types == set(JOB_TYPES)
