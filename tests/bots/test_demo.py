"""The people of a demo: one visitor alone meets somebody soon, and every outcome can be had."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date
from itertools import islice, product, repeat
from random import Random
from typing import Any

import pytest
import trio

from yoked_actor.bots.demo_people import Role, is_demo, make_demo_person, roles_for
from yoked_actor.cli.run.serving.demo import demo_of, waiting_visitors
from yoked_actor.client import Client, Event
from yoked_actor.domain.people import Person
from yoked_actor.testing import World, open_world
from yoked_actor.testing.world import URL

GENDERS = ("woman", "man", "nonbinary")


@asynccontextmanager
async def open_demo(people: int = 8, only: Role | None = None) -> AsyncIterator[World]:
    """A world with the people of a demo in it, who may all be of one kind."""
    roles = roles_for if only is None else lambda visitor_id: repeat(only)
    async with open_world() as world, trio.open_nursery() as nursery:
        demo = demo_of(world.server, URL, people, name="t", dial=world.dial(), roles=roles)
        nursery.start_soon(demo.run)
        await trio.sleep(1)
        yield world
        assert world.audit() == []
        nursery.cancel_scope.cancel()


def totals(world: World, name: str, label: str = "outcome") -> dict[str, float]:
    """A counter of the server, by label; only what was counted."""
    [counter] = [row for row in world.server.base.metrics.registry.collect() if row.name == name]
    return {
        sample.labels[label]: sample.value
        for sample in counter.samples
        if sample.name.endswith("_total") and sample.value
    }


async def spin(visitor: Client) -> Event:
    """Spin, and return the match, which has to come within ten seconds."""
    await visitor.spin()
    with trio.fail_after(10):
        matched = await visitor.wait_for("matched")
    assert is_demo(matched.partner["user_id"])
    assert matched.partner["display_name"].endswith(" (demo)")
    return matched


@pytest.mark.parametrize(
    ("gender", "seeking"),
    [*product(GENDERS, [[gender] for gender in GENDERS]), ("man", ["woman", "nonbinary"])],
)
async def test_a_single_visitor_meets_a_user_whom_they_seek(autojump_clock, gender, seeking):
    async with open_demo() as world:
        visitor = await world.join("vera", gender=gender, seeking=seeking)
        matched = await spin(visitor)
        assert matched.partner["gender"] in seeking


@pytest.mark.parametrize(
    "narrow",
    [
        {"min_age": 19, "max_age": 19},
        {"min_age": 95, "max_age": 99},
        {"max_distance_km": 0.5},
        {"lat": 90.0, "lon": 180.0, "max_distance_km": 2},
        {"lat": -89.99, "lon": -180.0},
        {"lat": 0.0, "lon": 0.0, "time_zone": "Pacific/Chatham"},
        {"birth_date": "1930-01-01"},
    ],
)
async def test_nobodys_limits_have_to_open_for_it(autojump_clock, narrow):
    async with open_demo() as world:
        visitor = await world.join("vera", **narrow)
        matched = await spin(visitor)
        low, high = narrow.get("min_age", 18), narrow.get("max_age", 100)
        assert low <= matched.partner["age"] <= high
        assert set(totals(world, "yoked_pairings", "tier")) <= {"1", "2"}


async def test_one_visitor_is_never_short_of_new_people(autojump_clock):
    async with open_demo(people=3) as world:
        visitor = await world.join("vera")
        met = []
        for _ in range(20):
            matched = await spin(visitor)
            met.append(matched.partner["user_id"])
            await visitor.leave()
            await visitor.wait_for("idle")
        assert len(set(met)) == 20


async def test_several_visitors_are_served_at_once(autojump_clock):
    async with open_demo(people=4) as world:
        visitors = [await world.join(f"v{n}") for n in range(3)]
        partners: list[str] = []

        async def meet(visitor: Client) -> None:
            partners.append((await spin(visitor)).partner["user_id"])

        async with trio.open_nursery() as nursery:
            for visitor in visitors:
                nursery.start_soon(meet, visitor)
        assert len(set(partners)) == 3


async def test_two_visitors_who_spin_together_meet_each_other(autojump_clock):
    async with open_demo() as world:
        ana = await world.join("ana", gender="woman", seeking=["man"])
        ben = await world.join("ben", gender="man", seeking=["woman"])
        await ana.spin()
        await trio.sleep(1)
        await ben.spin()
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"


async def test_an_http_only_visitor_is_served_too(autojump_clock):
    async with open_demo() as world:
        vera = await world.sign_up("vera")
        await vera.call("POST", "/api/spin")
        with trio.fail_after(10):
            await trio.sleep(4)
            assert (await vera.call("GET", "/api/match/status"))["state"] == "matched"


async def ending(world: World, vote: str | None) -> tuple[Any, ...]:
    """Let somebody meet one person, and tell how that ended."""
    visitor = await world.join("vera")
    matched = await spin(visitor)
    await trio.sleep(0.1)
    await visitor.acknowledge(matched.match_id)
    event = await visitor.wait_for("voting", "match_cancelled")
    if event.type == "voting" and vote is not None:
        await visitor.vote(matched.match_id, vote)
    if event.type == "voting":
        event = await visitor.wait_for("outcome", "match_cancelled")
    if event.type == "match_cancelled":
        return ("cancelled", event.reason)
    if event.outcome != "both_yes":
        return (event.outcome,)
    await visitor.wait_for("date_started")
    said = await visitor.wait_for("signal")
    assert set(said.data) == {"kind", "text"}
    assert said.data["kind"] == "demo"
    assert "demo person" in said.data["text"]
    return (event.outcome, (await visitor.wait_for("date_ended")).reason)


@pytest.mark.parametrize(
    ("role", "vote", "expected"),
    [
        (Role.YES, "yes", ("both_yes", "partner_ended")),
        (Role.YES, "pass", ("yes_pass",)),
        (Role.YES, None, ("yes_idle",)),
        (Role.PASS, "yes", ("yes_pass",)),
        (Role.PASS, "pass", ("pass_pass",)),
        (Role.PASS, None, ("pass_idle",)),
        (Role.STAYS, "yes", ("both_yes", "time_up")),
        (Role.FADES, "yes", ("both_yes", "partner_lost")),
        (Role.UNDECIDED, "yes", ("yes_idle",)),
        (Role.UNDECIDED, None, ("idle_idle",)),
        (Role.SILENT, None, ("cancelled", "not_acknowledged")),
        (Role.LEAVES, "yes", ("yes_idle",)),
        (Role.LEAVES, None, ("cancelled", "partner_left")),
        (Role.VANISHES, None, ("cancelled", "partner_lost")),
        (Role.VANISHES, "pass", ("pass_idle",)),
    ],
)
async def test_every_outcome_can_be_had(autojump_clock, role, vote, expected):
    async with open_demo(only=role) as world:
        assert await ending(world, vote) == expected


async def date_with_a_guest(visitor: Client) -> tuple[str, str]:
    """Have a date until the guest ends it; the ids of the guest and of the date."""
    matched = await spin(visitor)
    await visitor.acknowledge(matched.match_id)
    await visitor.wait_for("voting")
    await visitor.vote(matched.match_id, "yes")
    date_id = (await visitor.wait_for("date_started")).date_id
    assert "touch_until" in (await visitor.wait_for("date_ended")).fields
    return matched.partner["user_id"], date_id


@pytest.mark.parametrize("role", [Role.YES, Role.STAYS])
async def test_a_guest_stays_in_touch_and_accepts_calls(autojump_clock, role):
    async with open_demo(only=role) as world:
        visitor = await world.join("vera")
        guest_id, date_id = await date_with_a_guest(visitor)
        await trio.sleep(60)
        await visitor.stay_in_touch(date_id, "yes")
        with trio.fail_after(1):
            connection = await visitor.wait_for("connection")
        assert connection.partner["user_id"] == guest_id
        for _ in range(2):
            placed = await visitor.start_date(connection.connection_id)
            ended = await visitor.wait_for("call_ended")
            assert (ended.call_id, ended.reason) == (placed.call_id, "accepted")
            await visitor.wait_for("date_started")
            assert "demo person" in (await visitor.wait_for("signal")).data["text"]
            assert (await visitor.wait_for("date_ended")).reason == "partner_ended"
        # It does not remain for ever.
        await trio.sleep(400)
        [partner] = await world.api("vera").connections()
        assert not partner["online"]


async def test_only_a_share_of_the_guests_remains(autojump_clock):
    async with open_demo(people=6, only=Role.YES) as world:
        visitor = await world.join("vera")
        for _ in range(3):
            _, date_id = await date_with_a_guest(visitor)
            await visitor.stay_in_touch(date_id, "yes")
            with trio.fail_after(1):
                await visitor.wait_for("connection")
        await trio.sleep(2)
        found = await world.api("vera").connections()
        by_age = sorted(found, key=lambda one: int(one["connection_id"][1:]))
        assert [one["online"] for one in by_age] == [False, True, True]


async def test_too_few_guests_to_let_one_remain_still_serve_visitors(autojump_clock):
    async with open_demo(people=1, only=Role.YES) as world:
        visitor = await world.join("vera")
        met = {(await date_with_a_guest(visitor))[0] for _ in range(3)}
        assert len(met) == 3


async def test_one_who_ends_the_date_first_is_free_at_once(autojump_clock):
    async with open_demo() as world:
        visitor = await world.join("vera")
        matched = await spin(visitor)
        await visitor.acknowledge(matched.match_id)
        await visitor.wait_for("voting")
        await visitor.vote(matched.match_id, "yes")
        date_id = (await visitor.wait_for("date_started")).date_id
        await visitor.end_date(date_id)
        await spin(visitor)


async def test_they_meet_each_other_while_nobody_else_is_there(autojump_clock):
    async with open_demo(people=10) as world:
        await trio.sleep(120)
        floor = world.server.live.lobby.floor
        assert {user_id for user_id in floor.seats.rows if not is_demo(user_id)} == set()
        assert sum(totals(world, "yoked_outcomes").values()) > 8
        # And nobody of them stays in line.
        await trio.sleep(0.5)
        assert waiting_visitors(world.server) == []
        visitor = await world.join("vera")
        await spin(visitor)


async def test_there_are_never_more_than_so_many(autojump_clock):
    async with open_demo(people=3) as world:
        visitor = await world.join("vera")
        for _ in range(6):
            await spin(visitor)
            here = [u for u, p in world.server.live.lobby.floor.presences.rows.items() if p.device]
            assert len([user_id for user_id in here if is_demo(user_id)]) <= 3
            await visitor.leave()
            await visitor.wait_for("idle")
            await trio.sleep(1)


@pytest.mark.parametrize("visitor_id", ["ana", "ben", "x"])
def test_a_visitor_meets_a_yes_first_and_every_kind_soon(visitor_id):
    roles = list(islice(roles_for(visitor_id), 28))
    assert roles[0] is Role.YES
    assert set(roles[:14]) == set(roles[14:]) == set(Role)
    assert sum(role in (Role.YES, Role.PASS) for role in roles) > len(roles) / 2


def test_a_profile_is_within_the_limits_of_whom_it_is_for():
    visitor = Person(
        user_id="vera",
        display_name="Vera",
        birth_date=date(1990, 1, 1),
        gender="woman",
        lat=10.0,
        lon=20.0,
        time_zone="Africa/Ndjamena",
        interests=("chess", "jazz", "mud wrestling"),
        seeking=frozenset({"nonbinary"}),
        min_age=30,
        max_age=31,
        max_distance_km=5,
    )
    for seed in range(50):
        made = make_demo_person(Random(seed), GENDERS, date(2026, 2, 28), visitor)
        assert made["gender"] == "nonbinary"
        assert made["birth_date"] in ("1996-01-01", "1995-01-01")
        assert 9.95 < made["location"]["lat"] < 10.0
        assert made["preferences"]["seeking"] == list(GENDERS)
        assert set(visitor.interests) & set(made["interests"])
