"""What the operator asks over HTTP."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import World, open_world

URL = "http://world.test"
QUALITY = "/api/admin/quality"


def operator(world: World) -> Api:
    """The operator's HTTP door."""
    return Api(URL, world.token("root", admin=True), dial=world.dial())


async def test_waits_and_tiers_are_told_by_group(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        eva = await world.join("eva", **WOMAN, min_age=29)
        await eva.spin()
        await trio.sleep(1)
        # Two years too young for Eva, until her limits open after two seconds.
        carl = await world.join("carl", **MAN, birth_date="1998-06-15")
        await carl.spin()
        await eva.wait_for("matched")
        report = await operator(world).call("GET", QUALITY)
    assert report == {
        "since": "2025-12-31T08:00:02Z",
        "until": "2026-01-01T08:00:02Z",
        "matches": 2,
        "complete": True,
        "groups": [
            {
                "group": "man seeking woman",
                "count": 2,
                "wait_s": {"p50": 0.0, "p90": 1.0, "p99": 1.0},
                "tiers": {"1": 2, "2": 0, "3": 0, "99": 0},
                "match_rate": None,
            },
            {
                "group": "woman seeking man",
                "count": 2,
                "wait_s": {"p50": 0.0, "p90": 2.0, "p99": 2.0},
                "tiers": {"1": 1, "2": 1, "3": 0, "99": 0},
                "match_rate": None,
            },
        ],
    }


async def test_the_window_is_a_day_or_as_long_as_is_asked(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        # A day of heartbeats would take a minute of computing.
        await ana.drop(stay_away=True)
        await ben.drop(stay_away=True)

        async def matches(query: str) -> int:
            return int((await operator(world).call("GET", QUALITY + query))["matches"])

        await trio.sleep(3 * 3600)
        assert await matches("") == 1
        assert await matches("?hours=2.5") == 0
        assert await matches("?hours=3") == 1
        assert await matches("?since=2026-01-01T08:00:00Z") == 1
        assert await matches("?since=2026-01-01T08:00:00.000001Z") == 0
        assert await matches("?since=1999-01-01T00:00:00%2B02:00") == 1
        await trio.sleep(22 * 3600)
        assert await matches("") == 0
        assert await matches("?hours=744") == 1


@pytest.mark.parametrize(
    "query",
    [
        "hours=0",
        "hours=-1",
        "hours=745",
        "hours=nan",
        "hours=many",
        "hours=",
        "since=",
        "since=yesterday",
        "since=2026-01-01T08:00:00",
        "hours=1&since=2026-01-01T08:00:00Z",
    ],
)
async def test_a_window_that_is_none_is_refused(autojump_clock, query):
    async with open_world() as world:
        with pytest.raises(CallRefused) as refused:
            await operator(world).call("GET", f"{QUALITY}?{query}")
    assert (refused.value.status, refused.value.code) == (400, "bad_request")


async def test_a_report_looks_at_so_many_matches_at_most(autojump_clock):
    async with open_world(settings={"store": {"max_reported": 1}}) as world:
        for her, him in (("ana", "ben"), ("eva", "carl")):
            await match(*await join_pair(world, her, him))
        report = await operator(world).call("GET", QUALITY)
    assert (report["matches"], report["complete"]) == (1, False)


async def test_only_an_operators_token_opens_it(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        with pytest.raises(CallRefused) as refused:
            await world.api("ana").call("GET", QUALITY)
    assert (refused.value.status, refused.value.code) == (403, "forbidden")
