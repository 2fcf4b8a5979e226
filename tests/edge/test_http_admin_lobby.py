"""The lobby and the runs of offers, as the operator sees them over HTTP."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import trio

from tests.actors.morning import DAY, START, store_offers
from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from yoked_actor.client import CallRefused
from yoked_actor.domain.offers import make_run
from yoked_actor.testing import World, open_world

RUN, VERIFY = "/api/admin/offers/run", "/api/admin/offers/verify"
BERLIN_TODAY = "?zone=Europe/Berlin&date=2026-01-01"


async def ask(world: World, path: str, body: Any = None) -> Any:
    return await operator(world).call("GET" if body is None else "POST", path, body)


async def test_the_queue_names_those_who_have_waited_longest(autojump_clock):
    async with open_world() as world:
        assert await ask(world, "/api/admin/queue") == {"waiting": 0, "longest": []}
        for name in ("cleo", "ana", "eva"):
            client = await world.join(name, **WOMAN)
            await client.spin()
            await trio.sleep(1)
        queue = await ask(world, "/api/admin/queue?limit=2")
        assert queue == {
            "waiting": 3,
            "longest": [
                {"user_id": "cleo", "waited_s": 3.0, "tier": 2},
                {"user_id": "ana", "waited_s": 2.0, "tier": 2},
            ],
        }


async def test_open_matches_are_shown_without_their_votes(autojump_clock):
    async with open_world() as world:
        first = await match(*await join_pair(world))
        await trio.sleep(1)
        second = await match(*await join_pair(world, "eva", "carl"))
        found = await ask(world, "/api/admin/matches")
        assert found["open"] == 2
        assert found["matches"] == [
            {
                "match_id": second,
                "users": ["carl", "eva"],
                "status": "matched",
                "paired_at": "2026-01-01T08:00:01Z",
                "closes_at": "2026-01-01T08:00:06Z",
            },
            {
                "match_id": first,
                "users": ["ana", "ben"],
                "status": "matched",
                "paired_at": "2026-01-01T08:00:00Z",
                "closes_at": "2026-01-01T08:00:05Z",
            },
        ]
        shorter = await ask(world, "/api/admin/matches?limit=1")
        assert (shorter["open"], len(shorter["matches"])) == (2, 1)


async def test_a_user_is_shown_in_memory_and_out_of_it_never_with_a_position(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await ana.block("mallory")
        user = await ask(world, "/api/admin/users/ana")
        assert {name: value for name, value in user.items() if value != []} == {
            "user_id": "ana",
            "in_memory": True,
            "connected": True,
            "online": True,
            "display_name": "Ana",
            "age": 27,
            "gender": "woman",
            "time_zone": "Europe/Berlin",
            "state": "waiting",
            "credit": 0,
            "waiting_since": "2026-01-01T08:00:00Z",
            "match_id": None,
            "date_id": None,
            "last_match_id": None,
            "blocks": 1,
            "suspension": None,
        }
        await ana.leave()
        await ana.close()
        await trio.sleep(300)
        gone = await ask(world, "/api/admin/users/ana")
        assert (gone["in_memory"], gone["connected"], gone["online"]) == (False, False, False)
        assert (gone["display_name"], gone["state"], gone["blocks"]) == ("Ana", "idle", 1)


@pytest.mark.parametrize("name", ["nobody", "no%20id"])
async def test_an_unknown_user_is_not_found(autojump_clock, name):
    async with open_world() as world:
        with pytest.raises(CallRefused) as refused:
            await ask(world, f"/api/admin/users/{name}")
    assert (refused.value.status, refused.value.code) == (404, "not_found")


async def test_a_run_is_started_by_hand_once(autojump_clock):
    async with open_world(start=START) as world:
        wanted = {"zone": "Asia/Kathmandu", "date": "2026-01-01"}
        first = await ask(world, RUN, wanted)
        assert first == {
            **wanted,
            "scheduled_at": "2026-01-01T03:15:00Z",
            "status": "started",
            "is_new": True,
        }
        again = await ask(world, RUN, wanted)
        assert again["is_new"] is False
        assert again["status"] in ("started", "done")
        jobs = await ask(world, "/api/admin/jobs?type=offers.zone_run")
        assert [job["key"] for job in jobs["jobs"]] == ["Asia/Kathmandu:2026-01-01"]


@pytest.mark.parametrize(
    ("zone", "day", "code"),
    [
        ("Europe/Nowhere", "2026-01-01", "not_found"),
        ("Asia/Kathmandu", "2026-01-02", "wrong_state"),
        ("Pacific/Apia", "2011-12-30", "wrong_state"),
        ("Asia/Kathmandu", "tomorrow", "bad_request"),
    ],
)
async def test_a_run_that_cannot_be_started_is_refused(autojump_clock, zone, day, code):
    async with open_world(start=START) as world:
        with pytest.raises(CallRefused) as refused:
            await ask(world, RUN, {"zone": zone, "date": day})
    assert refused.value.code == code


async def test_a_run_that_is_as_it_was_made_verifies_and_a_tampered_one_does_not(
    autojump_clock, tmp_path
):
    path = tmp_path / "yoked.db"
    async with open_world(start=START, database=path) as world:
        for name, kind in (("ana", WOMAN), ("ben", MAN)):
            await world.sign_up(name, **kind)
        await store_offers(world.server)
        good = {"zone": "Europe/Berlin", "date": "2026-01-01", "sets": 2, "complete": True}
        found = await ask(world, VERIFY + BERLIN_TODAY)
        assert found == {**good, "found": 0, "findings": [], "earlier": 0}
        with closing(sqlite3.connect(path, isolation_level=None)) as outside:
            outside.execute(
                "UPDATE offer_sets SET facts = replace(facts, '[[', '[[1') WHERE user_id = 'ana'"
            )
        bad = await ask(world, VERIFY + BERLIN_TODAY)
        assert bad["found"] == 2
        assert {finding["user_id"] for finding in bad["findings"]} == {"ana"}


async def test_a_run_whose_pool_is_gone_is_held_against_its_digests(autojump_clock):
    async with open_world(start=START) as world:
        for name, kind in (("ana", WOMAN), ("ben", MAN)):
            await world.sign_up(name, **kind)
        made = await store_offers(world.server)
        offers = world.server.base.store.offers
        frozen = await offers.load_run("Europe/Berlin", DAY)
        assert frozen is not None
        assert frozen.pool is not None
        assert make_run(frozen.pool, frozen.rules) == made
        await offers.drop_pools(DAY.replace(day=2))
        found = await ask(world, VERIFY + BERLIN_TODAY)
        assert (found["complete"], found["found"], found["sets"]) == (False, 0, 2)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "bad_request"),
        ("?zone=Europe/Berlin", "bad_request"),
        ("?zone=Europe/Berlin&date=x", "bad_request"),
        (BERLIN_TODAY, "not_found"),
    ],
)
async def test_what_cannot_be_verified_is_refused(autojump_clock, query, code):
    async with open_world(start=START) as world:
        with pytest.raises(CallRefused) as refused:
            await ask(world, VERIFY + query)
    assert refused.value.code == code
