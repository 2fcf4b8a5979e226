"""One's own machine: be anybody, and move the clock."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN
from tests.scenarios.talker import Talker
from yoked_actor.actors.clock import Clock
from yoked_actor.app.server import open_server
from yoked_actor.client import Api, CallRefused
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings
from yoked_actor.testing import make_profile, open_world

URL = "http://world.test"


async def test_a_login_gives_a_token_that_works_everywhere(autojump_clock):
    async with open_world() as world:
        api = Api(URL, dial=world.dial())
        answer = await api.call("POST", "/api/dev/login", {"user_id": "ana"})
        assert answer["user_id"] == "ana"
        api.token = answer["token"]
        assert (await api.call("GET", "/api/match/status"))["state"] == "idle"
        talker = await Talker.dial(world)
        assert (await talker.hello(answer["token"]))["snapshot"]["state"] == "idle"


async def test_a_login_with_a_profile_stores_it_and_one_without_leaves_it(autojump_clock):
    async with open_world() as world:
        api = Api(URL, dial=world.dial())
        profile = make_profile("Ana", interests=["jazz"])
        await api.login("ana", profile)
        assert await api.call("GET", "/api/profile") == profile
        await api.login("ana")
        assert await api.call("GET", "/api/profile") == profile
        await api.login("ana", profile | {"display_name": "Anna"})
        assert (await api.call("GET", "/api/profile"))["display_name"] == "Anna"


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "bad_request"),
        ({"user_id": ""}, 400, "bad_request"),
        ({"user_id": "not an id"}, 400, "bad_request"),
        ({"user_id": "x" * 65}, 400, "bad_request"),
        ({"user_id": 7}, 400, "bad_request"),
        ({"user_id": "ana", "profile": {}}, 400, "bad_request"),
        ({"user_id": "ana", "profile": make_profile(birth_date="2010-01-01")}, 422, "underage"),
        (b'{"user_id": "\xff"}', 400, "bad_request"),
        (b'{"user_id": "ana", "profile": {"display_name": "\xff"}}', 400, "bad_request"),
    ],
)
async def test_a_login_of_nobody_is_refused(autojump_clock, body, status, code):
    async with open_world() as world:
        with pytest.raises(CallRefused) as refusal:
            await Api(URL, dial=world.dial()).call("POST", "/api/dev/login", body)
        assert (refusal.value.status, refusal.value.code) == (status, code)


async def test_without_dev_there_is_no_login_and_no_clock_to_move(autojump_clock):
    tokens = Tokens("HS256", "a secret of at least thirty-two bytes")
    async with open_server(
        Settings(), tokens, database=None, mock_clock=autojump_clock, dev=False
    ) as server:
        ours, theirs = trio.testing.memory_stream_pair()

        async def dial():
            return ours

        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.edge.front_door.serve_stream, theirs, ("127.0.0.1", 1))
            with pytest.raises(CallRefused) as refusal:
                await Api(URL, dial=dial).call("POST", "/api/dev/login", {"user_id": "ana"})
            assert (refusal.value.status, refusal.value.code) == (404, "not_found")
            nursery.cancel_scope.cancel()


# The clock, on a mock clock that stands still until it is told to move


async def test_time_stands_still_until_it_is_moved(mock_clock):
    async with open_world() as world:
        api = world.api("ana")
        assert (await api.call("POST", "/api/heartbeat"))["at"] == "2026-01-01T08:00:00Z"
        moved = await api.call("POST", "/api/dev/clock/advance", {"seconds": 90.5})
        assert moved == {"at": "2026-01-01T08:01:30.500000Z"}
        assert (await api.call("POST", "/api/heartbeat"))["at"] == moved["at"]


async def test_moving_the_clock_needs_no_token(mock_clock):
    async with open_world() as world:
        stranger = Api(URL, dial=world.dial())
        moved = await stranger.call("POST", "/api/dev/clock/advance", {"seconds": 1})
        assert moved == {"at": "2026-01-01T08:00:01Z"}


async def test_all_that_became_due_has_run_when_the_call_returns(mock_clock):
    async with open_world() as world:
        ana, ben = await world.sign_up("ana", **WOMAN), await world.sign_up("ben", **MAN)
        await ana.call("POST", "/api/spin")
        match_id = (await ben.call("POST", "/api/spin"))["match_id"]
        await ana.call("POST", "/api/match/acknowledge", {"match_id": match_id})
        await ana.call("POST", "/api/dev/clock/advance", {"seconds": 5})
        assert (await ana.call("GET", "/api/match/status"))["state"] == "waiting"
        assert (await ben.call("GET", "/api/match/status"))["state"] == "idle"


async def test_everything_on_the_way_happens_at_its_own_time(mock_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        ben = await world.sign_up("ben", **MAN)
        talker, _ = await Talker.greet(world, "ana")
        await talker.ask("spin")
        await talker.hear()
        match_id = (await ben.call("POST", "/api/spin"))["match_id"]
        assert (await talker.hear())["type"] == "matched"
        await talker.ask("acknowledge", match_id=match_id)
        # One long jump: not acknowledged after 5 s, lost after 10.
        await ben.call("POST", "/api/dev/clock/advance", {"seconds": 30})
        heard = [await talker.hear() for _ in range(4)]
        assert [(m["type"], m["at"]) for m in heard] == [
            ("match_cancelled", "2026-01-01T08:00:05Z"),
            ("waiting", "2026-01-01T08:00:05Z"),
            # At the same instant the edge comes before the loss (R6).
            ("tier", "2026-01-01T08:00:10Z"),
            ("idle", "2026-01-01T08:00:10Z"),
        ]


async def test_a_whole_day_can_be_skipped_in_one_call(mock_clock):
    async with open_world() as world:
        api = await world.sign_up("ana", **WOMAN)
        moved = await api.call("POST", "/api/dev/clock/advance", {"seconds": 86_399})
        assert moved == {"at": "2026-01-02T07:59:59Z"}
        # Tokens are judged by the same clock: this one was good for a day.
        await api.call("GET", "/api/match/status")
        await api.call("POST", "/api/dev/clock/advance", {"seconds": 1})
        with pytest.raises(CallRefused) as refusal:
            await api.call("GET", "/api/match/status")
        assert refusal.value.code == "unauthorized"


@pytest.mark.parametrize(
    "body", [{}, {"seconds": -1}, {"seconds": "ten"}, {"seconds": 1e12}, b'{"seconds": NaN}', b""]
)
async def test_the_clock_does_not_go_back_or_astray(mock_clock, body):
    async with open_world() as world:
        before = world.now()
        with pytest.raises(CallRefused) as refusal:
            await world.api("ana").call("POST", "/api/dev/clock/advance", body)
        assert (refusal.value.status, refusal.value.code) == (400, "bad_request")
        assert world.now() == before


async def test_a_server_on_a_real_clock_has_no_clock_to_move():
    tokens = Tokens("HS256", "a secret of at least thirty-two bytes")
    async with open_server(
        Settings(), tokens, database=None, clock=Clock.real(), dev=True
    ) as server:
        ours, theirs = trio.testing.memory_stream_pair()

        async def dial():
            return ours

        async with trio.open_nursery() as nursery:
            nursery.start_soon(server.edge.front_door.serve_stream, theirs, ("127.0.0.1", 1))
            with pytest.raises(CallRefused) as refusal:
                await Api(URL, dial=dial).call("POST", "/api/dev/clock/advance", {"seconds": 1})
            assert refusal.value.status == 404
            nursery.cancel_scope.cancel()
