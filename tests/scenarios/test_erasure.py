"""A user is erased in any state: nothing of them is left, and other users go on."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.actors.test_matchmaker import locked
from tests.scenarios.full_mailbox import SMALL_MAILBOX, fill_mailbox
from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    news,
    open_voting,
    settle,
    state_of,
    told,
)
from yoked_actor.actors.people import erase_job
from yoked_actor.client import Client, ConnectionLost
from yoked_actor.domain.lobby import TOMBSTONE
from yoked_actor.testing import World, open_world

HER = "ana-0af3c1d2"
NAME = "Anastasia Quill"
LAT = 52.5170365
HERSELF: dict[str, Any] = {**WOMAN, "lat": LAT, "lon": 13.3888599}


async def join(world: World) -> tuple[Client, Client]:
    """Ana, who will be erased and is easily found, and Ben, who suits her."""
    her = await world.join(HER, **HERSELF)
    profile = await world.api(HER).call("GET", "/api/profile")
    await world.api(HER).call("PUT", "/api/profile", {**profile, "display_name": NAME})
    return her, await world.join("ben", **MAN)


async def erase(world: World) -> None:
    answer = await world.api(HER).request("DELETE", "/api/me")
    assert (answer.status, answer.body) == (204, b"")


def left_of_her(database: Path) -> dict[str, int]:
    """How often she is found in the files of the database."""
    data = b"".join(file.read_bytes() for file in database.parent.glob("yoked.db*"))
    wanted = {"id": HER.encode(), "name": NAME.encode(), "lat": struct.pack(">d", LAT)}
    return {what: data.count(text) for what, text in wanted.items()}


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


async def idle(ana: Client, ben: Client) -> None:
    pass


async def waiting(ana: Client, ben: Client) -> None:
    await ana.spin()
    await ana.wait_for("waiting")


async def matched(ana: Client, ben: Client) -> None:
    await match(ben, ana)


async def voting(ana: Client, ben: Client) -> None:
    await open_voting(ben, ana)


async def voted_against(ana: Client, ben: Client) -> None:
    match_id = await open_voting(ben, ana)
    await ben.vote(match_id, "yes")


async def on_a_date(ana: Client, ben: Client) -> None:
    await settle(ben, ana, ("yes", "yes"))
    await ben.wait_for("date_started")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (idle, []),
        (waiting, []),
        (
            matched,
            [("match_cancelled", "partner_left", "waiting"), ("waiting", "partner_left")],
        ),
        (voting, [("match_cancelled", "partner_left", "waiting"), ("waiting", "partner_left")]),
        (voted_against, [("outcome", "yes_idle", "waiting"), ("waiting", "requeued")]),
        (on_a_date, [("date_ended", "partner_ended")]),
    ],
)
async def test_a_user_in_any_state_is_erased_completely(autojump_clock, tmp_path, place, expected):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join(world)
        await place(ana, ben)
        await news(ben)
        assert any(left_of_her(database).values())
        await erase(world)
        assert told(await news(ben)) == expected
        assert left_of_her(database) == {"id": 0, "name": 0, "lat": 0}
        with pytest.raises(ConnectionLost, match="4003 this account was erased"):
            await ana.spin()
        assert await state_of(world, HER) == "idle"
        assert world.audit() == []
        await trio.sleep(300)
        assert world.audit() == []
    assert left_of_her(database) == {"id": 0, "name": 0, "lat": 0}


async def test_history_keeps_a_tombstone_that_names_no_user(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join(world)
        match_id = await settle(ana, ben, ("pass", "yes"))
        await ben.command("report", user_id=HER, reason=f"{NAME} was late", match_id=match_id)
        await ana.command("report", user_id="ben", reason=f"I am {NAME}", match_id=match_id)
        await erase(world)
    [(a, b, a_vote, b_vote)] = rows(database, "SELECT a, b, a_vote, b_vote FROM matches")
    assert (a, a_vote, b_vote) == ("ben", "yes", "pass")
    assert b.startswith(TOMBSTONE)
    assert rows(database, "SELECT a, b FROM met") == [("ben", b)]
    assert rows(database, "SELECT reporter, reported, reason FROM reports") == [
        ("ben", b, ""),
        (b, "ben", ""),
    ]
    groups = "SELECT a_group, b_group, distance_km, distance_score, priority FROM quality"
    assert rows(database, groups) == [("man seeking woman", "woman seeking man", 0, 0, 0)]
    assert rows(database, "SELECT count(*) FROM seats") == [(1,)]
    async with open_world(database=database) as world:
        answer = await world.api(b).request("GET", "/api/match/status")
        assert answer.status == 401


async def test_an_erased_user_who_returns_is_a_new_user(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join(world)
        await settle(ana, ben, ("pass", "yes"))
        await ben.command("block", user_id=HER)
        await ana.command("block", user_id="ben")
        await erase(world)
        assert await world.api(HER).call("GET", "/api/blocks") == {"blocks": []}
        answer = await world.api(HER).request("GET", "/api/profile")
        assert answer.status == 404
        assert await world.api("ben").call("GET", "/api/blocks") == {"blocks": []}
        await ben.leave()
        again = await world.join(HER, **WOMAN)
        assert again.snapshot == {"state": "idle", "credit": 0, "room": "main"}
        await match(again, ben)
        assert world.audit() == []


async def test_the_new_user_is_new_after_a_restart_too(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join(world)
        await settle(ana, ben, ("pass", "pass"))
        await ben.command("block", user_id=HER)
        await erase(world)
        await world.crash()
        await world.start()
        again = await world.join(HER, **WOMAN)
        await ben.wait_for("waiting")
        await again.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == HER


async def test_an_erasure_that_cannot_be_stored_waits_and_nothing_is_sent_before(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    settings = {"store": {"busy_timeout_s": 0.0}}
    async with open_world(database=database, settings=settings) as world:
        ana, ben = await join(world)
        await match(ana, ben)
        async with trio.open_nursery() as nursery:
            with locked(database):
                nursery.start_soon(erase, world)
                await trio.sleep(2)
                assert told(await news(ben)) == []
                assert ana.lost is None
        assert told(await news(ben)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        assert left_of_her(database) == {"id": 0, "name": 0, "lat": 0}


async def test_messages_after_an_erasure_in_one_round_belong_to_a_new_user(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings={"store": {"busy_timeout_s": 0.0}}) as world:
        _ana, ben = await join(world)
        await ben.spin()
        codes = []

        async def spin() -> None:
            await trio.sleep(0.2)  # after the erasure was asked for, before it can be stored
            answer = await world.api(HER).request("POST", "/api/spin")
            codes.append(answer.json()["code"])

        async with trio.open_nursery() as nursery:
            with locked(database):
                nursery.start_soon(erase, world)
                nursery.start_soon(spin)
                await trio.sleep(2)
        assert codes == ["profile_incomplete"]
        assert world.audit() == []


async def test_the_job_of_a_deployer_erases_once_and_keeps_no_name(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join(world)
        await match(ana, ben)
        await world.server.base.dispatcher.enqueue([erase_job(HER, "deployer", world.now())])
        await ben.wait_for("match_cancelled")
        await trio.sleep(1)
        jobs = await world.server.base.store.jobs.list(job_type="users.erase")
        assert [(job.status, job.payload) for job in jobs] == [("completed", "{}")]
        assert left_of_her(database) == {"id": 0, "name": 0, "lat": 0}
        [entry] = await world.server.base.store.audit.entries(10)
        assert (entry.who, entry.action) == ("deployer", "erase")
        assert entry.subject.startswith(TOMBSTONE)


async def test_other_users_are_not_changed(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await join(world)
        eva, carl = await join_pair(world, "eva", "carl")
        await settle(eva, carl, ("yes", "pass"))
        await eva.command("block", user_id="mallory")
        before = await world.api("eva").call("GET", "/api/me/export")
        await erase(world)
        await trio.sleep(60)
        after = await world.api("eva").call("GET", "/api/me/export")
        assert {**after, "exported_at": ""} == {**before, "exported_at": ""}


async def test_an_erasure_that_meets_a_full_mailbox_waits_for_room(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=SMALL_MAILBOX) as world:
        await join(world)
        store, locks = world.server.base.store, ExitStack()
        # The job waits for its turn to look for traces; meanwhile the mailbox fills.
        async with store.privacy._turn:
            await world.server.base.dispatcher.enqueue([erase_job(HER, "deployer", world.now())])
            await trio.sleep(1)
            locks.enter_context(locked(database))
            await fill_mailbox(world, "carl")
        await trio.sleep(2)
        locks.close()
        await trio.sleep(600)
        jobs = await store.jobs.list(job_type="users.erase")
        assert [(job.status, job.payload) for job in jobs] == [("completed", "{}")]
        assert left_of_her(database) == {"id": 0, "name": 0, "lat": 0}
