"""Scenario 6: concurrent commands, in many orders of the scheduler."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from functools import partial
from random import Random

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, open_voting, state_of, told
from tests.scenarios.talker import Talker
from yoked_actor.client import CommandRefused, ConnectionLost, Event
from yoked_actor.testing import World, open_world

PEOPLE = 12
MINUTE_S = 60


class Witness:
    """Everything that anybody was told, on whatever device; what is told twice counts once."""

    def __init__(self) -> None:
        self.partners: dict[str, dict[str, str]] = defaultdict(dict)
        self.voted_on: dict[frozenset[str], set[str]] = defaultdict(set)

    def hear(self, user_id: str, event: Event) -> None:
        if event.type == "matched":
            known = self.partners[event.match_id].setdefault(user_id, event.partner["user_id"])
            assert known == event.partner["user_id"]
        elif event.type == "voting":
            partner = self.partners[event.match_id].get(user_id)
            if partner is not None:
                self.voted_on[frozenset((user_id, partner))].add(event.match_id)

    def check_partners(self) -> None:
        assert self.partners
        for match_id, sides in self.partners.items():
            assert len(sides) <= 2, f"{match_id}: {sides}"
            for user_id, partner in sides.items():
                assert sides.get(partner, user_id) == user_id, f"{match_id}: {sides}"

    def check_votes(self) -> None:
        assert self.voted_on
        for pair, match_ids in self.voted_on.items():
            assert len(match_ids) == 1, f"{set(pair)} met in {match_ids}"


async def live(world: World, user_id: str, random: Random, witness: Witness) -> None:
    """A minute of somebody's life: spin, answer, leave, vanish, change the device, say it twice."""
    client = await world.connect(user_id)
    current = None
    ends_at = trio.current_time() + MINUTE_S
    while trio.current_time() < ends_at:
        await trio.sleep(random.choice((0, 0, 0.5, 1, 3)))
        for event in client.pending_events():
            witness.hear(user_id, event)
            current = event.fields.get("match_id", current)
        try:
            match random.randrange(12):
                case 0 | 1 | 2:
                    await client.spin()
                case 3:
                    await client.leave()
                case 4 | 5 if current is not None:
                    await client.acknowledge(current)
                case 6 | 7 if current is not None:
                    await client.vote(current, random.choice(("yes", "pass")))
                case 8:
                    await client.drop()
                case 9:
                    async with trio.open_nursery() as nursery:
                        id = f"twice{random.random()}"
                        for _ in range(2):
                            nursery.start_soon(partial(client.command, "spin", id=id))
                case 10:
                    older, client = client, await world.connect(user_id)
                    for event in older.pending_events():
                        witness.hear(user_id, event)
                case 11 if client.snapshot.get("date"):
                    await client.end_date(client.snapshot["date"]["date_id"])
        except* (CommandRefused, ConnectionLost):
            pass


@pytest.mark.parametrize("seed", range(8))
async def test_no_order_of_events_makes_a_duplicate_match_or_leaves_anybody_stuck(
    autojump_clock, seed
):
    async with open_world(seed=seed) as world:
        witness = Witness()
        names = [f"p{n}" for n in range(PEOPLE)]
        for n, name in enumerate(names):
            await world.sign_up(name, **(WOMAN if n % 2 else MAN))
        async with trio.open_nursery() as nursery:
            for name in names:
                nursery.start_soon(live, world, name, Random(f"{seed} {name}"), witness)
        witness.check_partners()
        witness.check_votes()
        assert world.audit() == []
        # Whatever has happened to them, everybody is let go, and can begin again.
        for name in names:
            snapshot = await world.api(name).call("GET", "/api/match/status")
            if "date" in snapshot:
                body = {"date_id": snapshot["date"]["date_id"]}
                await world.api(name).call("POST", "/api/date/end", body)
            elif snapshot["state"] != "idle":
                await world.api(name).call("POST", "/api/leave")
        for name in names:
            assert await state_of(world, name) == "idle"
        newcomer = await world.join("newcomer", gender="woman", seeking=["man", "woman"])
        eager = await world.join("eager", gender="man", seeking=["woman"])
        await match(newcomer, eager)


@pytest.mark.parametrize("seed", range(2))
async def test_crashes_lose_no_match_that_was_sent(autojump_clock, tmp_path, seed):
    database = tmp_path / "yoked.db"
    async with open_world(seed=seed, database=database) as world:
        witness, random = Witness(), Random(seed)
        names = [f"p{n}" for n in range(PEOPLE)]
        for n, name in enumerate(names):
            await world.sign_up(name, **(WOMAN if n % 2 else MAN))
        async with trio.open_nursery() as nursery:
            for name in names:
                nursery.start_soon(live, world, name, Random(f"{seed} {name}"), witness)
            for _ in range(3):
                await trio.sleep(random.uniform(3, 18))
                await world.crash()
                await world.start()
        # Two whose vote was cut off by a crash may vote again: votes are not compared here.
        witness.check_partners()
        assert world.audit() == []
        with closing(sqlite3.connect(database)) as stored:
            numbers = stored.execute("SELECT number FROM matches").fetchall()
        assert set(witness.partners) <= {f"m{number}" for (number,) in numbers}


@pytest.mark.parametrize("seed", range(6))
async def test_of_many_users_who_join_at_once_each_gets_at_most_one_partner(autojump_clock, seed):
    async with open_world(seed=seed) as world:
        people = {}
        for n in range(11):
            people[f"p{n:02}"] = await world.join(f"p{n:02}", **(WOMAN if n % 2 else MAN))
        async with trio.open_nursery() as nursery:
            for client in people.values():
                nursery.start_soon(client.spin)
        partners = {}
        for user_id, client in people.items():
            matched = [event for event in await news(client) if event.type == "matched"]
            assert len(matched) <= 1
            for event in matched:
                partners[user_id] = event.partner["user_id"]
        assert len(partners) == 10
        assert all(partners[partner] == user_id for user_id, partner in partners.items())


@pytest.mark.parametrize("seed", range(6))
async def test_a_leave_that_races_with_a_spin_leaves_both_sides_agreeing(autojump_clock, seed):
    async with open_world(seed=seed) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.wait_for("waiting")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ana.leave)
            nursery.start_soon(ben.spin)
        assert await state_of(world, "ana") == "idle"
        assert await state_of(world, "ben") == "waiting"
        hers, his = told(await news(ana)), told(await news(ben))
        assert (hers, his) in (
            ([("idle", "left")], [("waiting", "spun")]),
            (
                [("matched",), ("match_cancelled", "you_left", "idle"), ("idle", "left")],
                [
                    ("matched",),
                    ("match_cancelled", "partner_left", "waiting"),
                    ("waiting", "partner_left"),
                ],
            ),
        )
        assert world.audit() == []


async def test_the_same_command_sent_twice_gets_the_same_reply_and_one_effect(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        for _ in range(2):
            await ana.say({"type": "spin", "id": "one"})
        first, second, third = [await ana.hear() for _ in range(3)]
        assert {first["type"], second["type"], third["type"]} == {"ok", "waiting"}
        assert first == {"type": "ok", "re": "one", "state": "waiting"}
        assert [m for m in (second, third) if m["type"] == "ok"] == [first]
        await ana.ask("leave")
        assert [m["type"] for m in await ana.news()] == ["idle"]
        # Much later, the same id is still the same press: it does not spin again.
        assert await ana.ask("spin", id="one") == first
        assert await ana.news() == []
        assert await state_of(world, "ana") == "idle"


@pytest.mark.parametrize("seed", range(4))
async def test_votes_in_one_instant_are_decided_once(autojump_clock, seed):
    async with open_world(seed=seed) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        replies = []

        async def vote(client, vote):
            replies.append((await client.vote(match_id, vote)).fields.get("outcome"))

        async with trio.open_nursery() as nursery:
            for client in (ana, ben):
                for _ in range(3):
                    nursery.start_soon(vote, client, "yes")
        assert "both_yes" in replies
        for client in (ana, ben):
            assert told(await news(client)) == [
                ("outcome", "both_yes", "idle"),
                ("idle", "date"),
                ("date_started",),
            ]


async def test_the_newest_device_speaks_for_the_user(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.wait_for("waiting")
        tablet = await world.connect("ana")
        await wait_all_tasks_blocked()
        assert ana.lost is not None
        assert ana.lost.code == 4001
        assert tablet.snapshot["state"] == "waiting"
        await ben.spin()
        matched = await tablet.wait_for("matched")
        assert ana.pending_events() == []
        with pytest.raises(ConnectionLost):
            await ana.acknowledge(matched.match_id)
        await tablet.acknowledge(matched.match_id)
        await ben.acknowledge(matched.match_id)
        await tablet.wait_for("voting")


async def test_two_devices_that_say_hello_in_one_instant_end_with_one(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        devices = []

        async def connect():
            devices.append(await world.connect("ana"))

        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(connect)
        await wait_all_tasks_blocked()
        alive = [device for device in devices if device.lost is None]
        assert len(alive) == 1
        ends = [device.lost.code for device in devices if device.lost is not None]
        assert ends == [4001] * 4
        assert (await alive[0].spin()).state == "waiting"
        assert world.audit() == []
