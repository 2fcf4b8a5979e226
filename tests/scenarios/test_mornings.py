"""Nine o'clock in the whole server: each user gets one set (R40-R45)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.actors.offers import OfferJobs
from yoked_actor.actors.offers.zone_jobs import POLICY, USER
from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.offers import KeptSet, StoredSet, verify
from yoked_actor.domain.ops import Alert
from yoked_actor.domain.time import from_datetime, to_datetime
from yoked_actor.telemetry import Metrics
from yoked_actor.testing import World, open_world

BERLIN, TOKYO = "Europe/Berlin", "Asia/Tokyo"
MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)
SIX = "2026-03-02T05:00:00Z"  # in Berlin


async def until(world: World, text: str) -> None:
    seconds = (from_datetime(datetime.fromisoformat(text)) - world.now()) / 1_000_000
    await trio.sleep(seconds)
    await trio.testing.wait_all_tasks_blocked(0.001)


async def a_town(world: World, women: int = 4, men: int = 4, zone: str = BERLIN) -> list[str]:
    """People who all suit each other."""
    ids = []
    for number in range(women):
        ids.append(f"w{number}-{zone[-3:]}")
        await world.sign_up(ids[-1], gender="woman", seeking=["man"], time_zone=zone)
    for number in range(men):
        ids.append(f"m{number}-{zone[-3:]}")
        await world.sign_up(ids[-1], gender="man", seeking=["woman"], time_zone=zone)
    return ids


async def sets_of(world: World, zone: str, day: date) -> dict[str, KeptSet]:
    kept = await world.server.base.store.offers.load_zone(zone, day)
    return {one.offers.user_id: one for one in kept}


def offered(kept: KeptSet) -> list[str]:
    return [offer.candidate for offer in kept.offers.offers]


async def unfinished(world: World) -> list[str]:
    """What should have ended by now."""
    jobs = await world.server.base.store.jobs.list(limit=1000)
    ended = (JobStatus.COMPLETED, JobStatus.CANCELLED)
    return [
        f"{job.type} {job.status}"
        for job in jobs
        if job.status not in ended and job.scheduled_for <= world.now()
    ]


async def test_at_nine_everybody_in_the_zone_has_a_set(autojump_clock: MockClock) -> None:
    async with open_world(start=SIX) as world:
        ids = await a_town(world)
        await until(world, "2026-03-02T07:59:59Z")
        assert not await sets_of(world, BERLIN, MONDAY)
        await until(world, "2026-03-02T08:00:01Z")
        sets = await sets_of(world, BERLIN, MONDAY)
        assert sorted(sets) == sorted(ids)
        for user_id, kept in sets.items():
            others = {other for other in ids if other[0] != user_id[0]}
            assert set(offered(kept)) == others
            assert to_datetime(kept.offers.offered_at) == datetime(2026, 3, 2, 8, tzinfo=UTC)
            assert to_datetime(kept.offers.expires_at) == datetime(2026, 3, 3, 8, tzinfo=UTC)
        (run,) = await world.server.base.store.calendar.runs(status="done")
        assert (run.run.zone, run.run.day) == (BERLIN, MONDAY)
        assert not await unfinished(world)


async def test_an_offer_lasts_23_hours_when_clocks_are_put_forward(
    autojump_clock: MockClock,
) -> None:
    async with open_world(start="2026-03-28T05:00:00Z") as world:
        await a_town(world, 1, 1)
        await until(world, "2026-03-28T12:00:00Z")
        sets = await sets_of(world, BERLIN, date(2026, 3, 28))
        one = sets["w0-lin"].offers
        assert (one.expires_at - one.offered_at) / 3_600_000_000 == 23
        await until(world, "2026-03-29T07:00:01Z")
        assert "w0-lin" in await sets_of(world, BERLIN, date(2026, 3, 29))


async def test_nobody_is_offered_again_the_next_day(autojump_clock: MockClock) -> None:
    async with open_world(start=SIX, settings={"offers": {"daily_offer_count": 2}}) as world:
        await a_town(world, 1, 4)
        await until(world, "2026-03-03T12:00:00Z")
        first = offered((await sets_of(world, BERLIN, MONDAY))["w0-lin"])
        second = offered((await sets_of(world, BERLIN, TUESDAY))["w0-lin"])
        assert len(first) == len(second) == 2
        assert not set(first) & set(second)


async def test_a_morning_during_downtime_is_caught_up_the_same_day(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(start=SIX, database=tmp_path / "yoked.db") as world:
        ids = await a_town(world)
        await world.crash()
        await trio.sleep(8 * 3600)
        await world.start()
        await trio.testing.wait_all_tasks_blocked(0.001)
        sets = await sets_of(world, BERLIN, MONDAY)
        assert sorted(sets) == sorted(ids)
        at = {to_datetime(kept.offers.offered_at) for kept in sets.values()}
        assert at == {datetime(2026, 3, 2, 8, tzinfo=UTC)}


async def test_a_user_who_moves_gets_no_second_set(autojump_clock: MockClock) -> None:
    async with open_world(start="2026-03-01T20:00:00Z") as world:
        await a_town(world, 1, 1, TOKYO)
        await a_town(world, 1, 1, BERLIN)
        await until(world, "2026-03-02T01:00:00Z")
        assert sorted(await sets_of(world, TOKYO, MONDAY)) == ["m0-kyo", "w0-kyo"]
        await world.sign_up("w0-kyo", gender="woman", seeking=["man"], time_zone=BERLIN)
        await until(world, "2026-03-02T12:00:00Z")
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == ["m0-lin", "w0-lin"]
        await until(world, "2026-03-03T12:00:00Z")
        assert "w0-kyo" in await sets_of(world, BERLIN, TUESDAY)


async def test_the_first_resident_of_a_zone_gives_it_its_mornings(
    autojump_clock: MockClock,
) -> None:
    async with open_world(start=SIX) as world:
        await world.sign_up("ana", time_zone="Asia/Kathmandu")
        await until(world, "2026-03-03T03:14:59Z")
        assert not await sets_of(world, "Asia/Kathmandu", TUESDAY)
        await until(world, "2026-03-03T03:15:01Z")
        assert list(await sets_of(world, "Asia/Kathmandu", TUESDAY)) == ["ana"]


async def test_two_dispatchers_on_one_store_make_each_set_once(autojump_clock: MockClock) -> None:
    async with open_world(start=SIX, settings={"jobs": {"batch": 3, "concurrency": 2}}) as world:
        ids = await a_town(world, 8, 8)
        server = world.server
        stored: list[str] = []
        metrics = Metrics()
        second = Dispatcher(
            server.base.store.jobs,
            server.base.clock,
            server.base.settings,
            metrics,
            owner="2",
            threads=False,
        )
        OfferJobs(
            server.base.store.offers,
            server.base.store.jobs,
            server.base.clock,
            server.base.settings,
            metrics,
            threads=False,
            stored=stored.extend,
        ).register(second)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(second.run)
            await until_instant(world, "2026-03-02T08:00:00Z")
            while not await server.base.store.jobs.list(job_type=USER, limit=1):
                await trio.lowlevel.checkpoint()
            second.wake(from_other_process=True)  # as a wake-up between two processes does
            await until(world, "2026-03-02T08:00:01Z")
            nursery.cancel_scope.cancel()
        sets = await sets_of(world, BERLIN, MONDAY)
        assert sorted(sets) == sorted(ids)
        # Both took part, and both have computed the same run.
        assert 0 < len(stored) < len(ids)
        assert await findings(world, BERLIN, MONDAY) == []
        assert not await unfinished(world)


async def findings(world: World, zone: str, day: date) -> list[str]:
    frozen = await world.server.base.store.offers.load_run(zone, day)
    assert frozen is not None
    assert frozen.pool is not None
    kept = await sets_of(world, zone, day)
    stored = {user_id: StoredSet(one.offers, one.digest) for user_id, one in kept.items()}
    return [found.problem for found in verify(frozen.pool, frozen.rules, frozen.inputs, stored)]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
async def test_a_crash_in_the_morning_costs_nobody_their_set(
    autojump_clock: MockClock, tmp_path: Path, share: float
) -> None:
    path = tmp_path / "yoked.db"
    async with open_world(start=SIX, database=path, settings={"jobs": {"batch": 4}}) as world:
        ids = await a_town(world, 10, 10)
        done = 0

        async with trio.open_nursery() as nursery:

            async def crash_midway() -> None:
                nonlocal done
                await until_instant(world, "2026-03-02T08:00:00Z")
                while done < share * len(ids):
                    await trio.lowlevel.checkpoint()
                    done = count(path, "offer_sets")
                await world.crash()

            nursery.start_soon(crash_midway)
        assert 0 < done < len(ids)
        await trio.sleep(5)
        await world.start()
        await trio.sleep(600)  # the leases of the crashed one end first
        sets = await sets_of(world, BERLIN, MONDAY)
        assert sorted(sets) == sorted(ids)
        assert await findings(world, BERLIN, MONDAY) == []
        assert not await unfinished(world)


async def until_instant(world: World, text: str) -> None:
    await trio.sleep((from_datetime(datetime.fromisoformat(text)) - world.now()) / 1_000_000)


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


async def test_an_offer_that_came_twice_raises_the_alarm(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    async with open_world(start=SIX, database=path) as world:
        await a_town(world, 1, 2)
        await until(world, "2026-03-02T09:00:00Z")
        assert "yoked_duplicate_offers_total 0.0" in metrics_of(world)
        await until(world, "2026-03-03T08:05:00Z")
        forge_a_repeated_offer(path, "w0-lin", "m0-lin")
        with capture_logs() as logs:
            await until(world, "2026-03-03T09:00:00Z")
        assert "yoked_duplicate_offers_total 1.0" in metrics_of(world)
        assert Alert.DUPLICATES in world.server.base.alarm.standing
        assert [line["log_level"] for line in logs if line["event"] == "duplicate_offers"] == [
            "error"
        ]


def metrics_of(world: World) -> Iterable[str]:
    return world.server.base.metrics.expose().decode().splitlines()


def forge_a_repeated_offer(path: Path, user_id: str, candidate: str) -> None:
    """Put into the database what the program never would."""
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(
            "UPDATE offer_sets SET candidates = json_insert(candidates, '$[#]', ?2),"
            " facts = json_insert(facts, '$[#]', json('[1, 1, 0, [], 0, 1, 0]'))"
            " WHERE user_id = ?1 AND day = '2026-03-03'",
            (user_id, candidate),
        )
    connection.close()


async def test_an_answer_an_erasure_and_a_crash_between_two_mornings(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    """All of them touch the row of one set, and the next morning reads it."""
    settings = {"offers": {"daily_offer_count": 3}}
    async with open_world(start=SIX, settings=settings, database=tmp_path / "yoked.db") as world:
        await a_town(world, 1, 6)
        await until(world, "2026-03-02T09:00:00Z")
        lin = world.api("w0-lin")
        shown = (await lin.call("GET", "/api/offers"))["offers"]
        first, gone, third = (one["candidate"]["user_id"] for one in shown)
        await lin.call("POST", f"/api/offers/{shown[2]['offer_id']}/answer", {"answer": "accept"})
        await world.api(gone).call("DELETE", "/api/me")
        await world.crash()
        await world.start()
        left = (await lin.call("GET", "/api/offers"))["offers"]
        assert [one["candidate"]["user_id"] for one in left] == [first, third]
        assert [one["offer_id"] for one in left] == [shown[0]["offer_id"], shown[2]["offer_id"]]
        assert [one.get("answer") for one in left] == [None, "accept"]
        # He accepts the offer of her, too: the two are connected.
        him = world.api(third)
        (of_lin,) = (await him.call("GET", "/api/offers"))["offers"]
        await him.call("POST", f"/api/offers/{of_lin['offer_id']}/answer", {"answer": "accept"})
        assert len((await lin.call("GET", "/api/connections"))["connections"]) == 1
        await until(world, "2026-03-03T09:00:00Z")
        second = offered((await sets_of(world, BERLIN, TUESDAY))["w0-lin"])
        assert len(second) == 3
        assert set(second).isdisjoint({first, gone, third})
        assert not await unfinished(world)


def test_an_offer_is_tried_again_after_30_s_2_min_and_5_min() -> None:
    assert [POLICY.delay_s(1, attempt) for attempt in (1, 2, 3)] == [30.0, 120.0, 300.0]
    assert POLICY.max_runs == 4


async def test_a_set_that_cannot_be_made_is_a_dead_letter_and_completes_after_the_repair(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    async with open_world(start=SIX, database=path) as world:
        await a_town(world, 1, 1)
        execute(path, "ALTER TABLE offer_sets RENAME TO offer_sets_away")
        await until(world, "2026-03-02T09:00:00Z")
        store = world.server.base.store
        dead = await store.jobs.list(status=JobStatus.DEAD_LETTER, limit=10)
        assert {job.type for job in dead} >= {"offers.zone_run"}
        execute(path, "ALTER TABLE offer_sets_away RENAME TO offer_sets")
        for job in dead:
            await store.jobs.requeue(job.id, world.now())
        world.server.base.dispatcher.wake()
        await trio.sleep(1)
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == ["m0-lin", "w0-lin"]
        assert not await unfinished(world)
        assert len(await store.jobs.list(job_type=USER, limit=10)) == 2


def execute(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()
