"""Votes of the evening and the offers of the next morning, seen from outside."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.scenarios.meeting import MAN, WOMAN
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.time import from_datetime
from yoked_actor.testing import World, open_world
from yoked_actor.testing.world import URL

BERLIN = "Europe/Berlin"
EVENING = "2026-03-01T18:00:00Z"


async def until(world: World, text: str) -> None:
    seconds = (from_datetime(datetime.fromisoformat(text)) - world.now()) / 1_000_000
    await trio.sleep(seconds)
    await wait_all_tasks_blocked(0.001)


def operator(world: World) -> Api:
    return Api(URL, world.token("op", admin=True), dial=world.dial())


async def verdict(world: World, day: str) -> dict[str, Any]:
    found: dict[str, Any] = await operator(world).call(
        "GET", f"/api/admin/offers/verify?zone={BERLIN}&date={day}"
    )
    return found


@pytest.mark.parametrize("votes", [("yes",), ("pass",), ()], ids=["yes", "pass", "none"])
async def test_a_vote_that_times_out_costs_nobody_their_offers(
    autojump_clock: MockClock, tmp_path: Path, votes: tuple[str, ...]
) -> None:
    async with open_world(start=EVENING, database=tmp_path / "yoked.db") as world:
        # Over HTTP: no socket has to be kept alive through the night.
        names = []
        for name, kind in (("ana", WOMAN), ("ben", MAN)):
            names += [name, *(f"{name}{number}" for number in range(5))]
            for one in names[-6:]:
                await world.sign_up(one, **kind)
        ana, ben = world.api("ana"), world.api("ben")
        await ana.call("POST", "/api/spin")
        match_id = (await ben.call("POST", "/api/spin"))["match_id"]
        for api in (ana, ben):
            await api.call("POST", "/api/match/acknowledge", {"match_id": match_id})
        for vote in votes:
            await ana.call("POST", "/api/vote", {"match_id": match_id, "vote": vote})
        for _ in range(3):
            await trio.sleep(5)
            for api in (ana, ben):
                await api.call("POST", "/api/heartbeat")
        outcome = (await ana.call("GET", "/api/match/status"))["last_outcome"]
        assert outcome == (f"{votes[0]}_idle" if votes else "idle_idle")
        await world.crash()
        await trio.sleep(60)
        await world.start()
        for day, nine in (
            ("2026-03-02", "2026-03-02T08:00:01Z"),
            ("2026-03-03", "2026-03-03T08:00:01Z"),
        ):
            await until(world, nine)
            for name in names:
                found = await world.api(name).call("GET", "/api/offers")
                assert found["date"] == day, name
                if day == "2026-03-02":
                    assert found["offers"], name
                    offer_id = found["offers"][0]["offer_id"]
                    await world.api(name).call(
                        "POST", f"/api/offers/{offer_id}/answer", {"answer": "accept"}
                    )
            found = await verdict(world, day)
            assert (found["sets"], found["complete"], found["findings"]) == (len(names), True, [])


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


async def test_an_unreadable_pool_is_frozen_again_and_everybody_gets_a_set(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    damaged = False

    async def damage(world: World) -> None:
        """Spoil the pool as soon as it is there, after the first set was stored."""
        nonlocal damaged
        await trio.sleep((nine - world.now()) / 1_000_000)
        while not count(path, "offer_sets"):
            await trio.lowlevel.checkpoint()
        await world.crash()
        execute(path, "UPDATE offer_pools SET content = x'00'")
        damaged = True

    nine = from_datetime(datetime.fromisoformat("2026-03-02T08:00:00Z"))
    jobs = {"batch": 2, "concurrency": 1}
    async with open_world(start=EVENING, database=path, settings={"jobs": jobs}) as world:
        names = [f"{sex}{number}" for number in range(5) for sex in "wm"]
        for name in names:
            await world.sign_up(name, **(WOMAN if name[0] == "w" else MAN))
        await damage(world)
        assert damaged
        before = stored(path)
        assert 0 < len(before) < len(names)
        await world.start()
        await trio.sleep(900)
        day = "2026-03-02"
        api = operator(world)
        found = await verdict(world, day)
        assert found["complete"] is False
        [problem] = [one["problem"] for one in found["findings"]]
        assert problem.startswith(f"the frozen pool of {day} in {BERLIN} cannot be read")
        assert f"`yoked-actor offers refreeze {day} {BERLIN}`" in problem
        dead = await api.call("GET", "/api/admin/jobs?status=dead_letter")
        assert dead["jobs"]
        body = {"date": day, "zone": BERLIN}
        answer = await api.call("POST", "/api/admin/offers/refreeze", body)
        assert (answer["users"], answer["refrozen"]) == (len(names) - len(before), 1)
        await trio.sleep(60)
        for name in names:
            found = await world.api(name).call("GET", "/api/offers")
            assert found["offers"], name
        assert before.items() <= stored(path).items()
        found = await verdict(world, day)
        assert (found["sets"], found["complete"], found["findings"]) == (len(names), True, [])
        assert found["earlier"] == len(before)
        assert not (await api.call("GET", "/api/admin/jobs?status=dead_letter"))["jobs"]
        audit = (await api.call("GET", "/api/admin/audit"))["entries"][0]
        assert (audit["action"], audit["subject"]) == ("refreeze_offers", BERLIN)
        with pytest.raises(CallRefused) as refused:
            await api.call("POST", "/api/admin/offers/refreeze", {**body, "zone": "Asia/Tokyo"})
        assert refused.value.code == "not_found"
        with pytest.raises(CallRefused) as refused:
            await world.api("w0").call("POST", "/api/admin/offers/refreeze", body)
        assert refused.value.code == "forbidden"
        await until(world, "2026-03-03T08:00:01Z")
        found = await verdict(world, "2026-03-03")
        assert (found["sets"], found["complete"], found["findings"]) == (len(names), True, [])


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


def stored(path: Path) -> dict[str, str]:
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT user_id, digest FROM offer_sets"))
    finally:
        connection.close()
