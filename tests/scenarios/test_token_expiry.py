"""A socket lives no longer than its token; a newer token of the same user renews it."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, state_of
from tests.scenarios.talker import Message, Talker
from yoked_actor.domain.time import MICROSECONDS, to_datetime
from yoked_actor.testing import World, open_world

PATIENT = {"edge": {"ping_interval_s": 3600.0}}


def at(world: World, in_s: float) -> str:
    """An instant from now, as the wire tells it."""
    return to_datetime(world.now() + round(in_s * MICROSECONDS)).isoformat().replace("+00:00", "Z")


async def greet(world: World, user_id: str, ttl_s: float) -> tuple[Talker, Message]:
    talker = await Talker.dial(world)
    return talker, await talker.hello(world.token(user_id, ttl_s=ttl_s))


async def watch(world: World, ttl_s: float) -> Talker:
    talker = await Talker.dial(world)
    token = world.token("op", ttl_s=ttl_s, admin=True)
    reply = await talker.ask("watch", token=token)
    assert reply["type"] == "ok"
    assert reply["expires_at"] == at(world, ttl_s)
    return talker


async def test_a_socket_ends_with_its_token(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, welcome = await greet(world, "ana", 60)
        assert welcome["expires_at"] == at(world, 60)
        started = trio.current_time()
        await trio.sleep(59)
        assert (await ana.ask("heartbeat"))["type"] == "ok"
        end = await ana.hung_up()
        assert (end.code, end.reason) == (4003, "the token has expired")
        assert 60 <= trio.current_time() - started <= 90


async def test_the_user_keeps_the_place_and_comes_back_with_another_token(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, welcome = await greet(world, "ana", 5)
        since = (await ana.ask("spin"))["state"] and (await ana.hear())["since"]
        assert (await ana.hung_up()).code == 4003
        resume = {"session": welcome["session"], "seq": 1}
        ana = await Talker.dial(world)
        again = await ana.hello(world.token("ana"), resume=resume)
        assert again["resumed"] is True
        assert again["snapshot"]["waiting_since"] == since


@pytest.mark.parametrize("leeway_s", [0.0, 10.0, 600.0])
async def test_a_leeway_lengthens_a_socket_by_half_a_minute_at_most(autojump_clock, leeway_s):
    async with open_world(settings=PATIENT | {"auth": {"leeway_s": leeway_s}}) as world:
        ana, _ = await greet(world, "ana", 60)
        started = trio.current_time()
        assert (await ana.hung_up()).code == 4003
        assert 60 + min(leeway_s, 29) <= trio.current_time() - started <= 90


async def test_a_newer_token_renews_the_socket(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await greet(world, "ana", 60)
        await ana.ask("spin")
        await ana.hear()
        await trio.sleep(5)
        assert [m["type"] for m in await ana.news()] == ["tier"]
        token = world.token("ana", ttl_s=120)
        renewed = await ana.ask("hello", id="renew", token=token)
        assert renewed == {"type": "ok", "re": "renew", "expires_at": at(world, 120)}
        # It is a sign of life, changes nothing else, and the same id has the same reply.
        assert await ana.ask("hello", id="renew", token=token) == renewed
        await trio.sleep(9)
        assert await state_of(world, "ana") == "waiting"
        await ana.news()
        for _ in range(10):
            await ana.ask("heartbeat")
            await trio.sleep(5)
            await ana.news()
        started = trio.current_time()
        assert (await ana.hung_up()).code == 4003
        assert trio.current_time() - started <= 120


async def test_only_a_newer_token_of_the_same_user_renews(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        ana, welcome = await greet(world, "ana", 60)
        refused = [
            (world.token("ben", ttl_s=600), {}, "wrong_state"),
            (world.token("ana", ttl_s=60), {}, "wrong_state"),
            (world.token("ana", ttl_s=30), {}, "wrong_state"),
            (world.token("ana", ttl_s=-1), {}, "wrong_state"),
            ("a.b.c", {}, "wrong_state"),
            (
                world.token("ana", ttl_s=600),
                {"resume": {"session": welcome["session"], "seq": 0}},
                "wrong_state",
            ),
        ]
        for token, more, code in refused:
            assert (await ana.ask("hello", token=token, **more))["code"] == code
        assert (await ana.ask("watch", token=world.token("ana", admin=True)))["code"] == (
            "wrong_state"
        )
        started = trio.current_time()
        assert (await ana.hung_up()).code == 4003
        assert 60 <= trio.current_time() - started <= 90


async def test_an_operators_socket_ends_with_its_token_and_is_renewed(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        operator = await watch(world, 60)
        await trio.sleep(1)
        await operator.news()
        for token, code in (
            (world.token("op", ttl_s=600), "wrong_state"),
            (world.token("eve", ttl_s=600, admin=True), "wrong_state"),
            (world.token("op", ttl_s=10, admin=True), "wrong_state"),
        ):
            assert (await operator.ask("hello", token=token))["code"] == code
        renewed = await operator.ask("hello", token=world.token("op", ttl_s=100, admin=True))
        assert (renewed["type"], renewed["expires_at"]) == ("ok", at(world, 100))
        started = trio.current_time()
        assert (await operator.hung_up()).code == 4003
        assert 100 <= trio.current_time() - started <= 130


async def test_a_match_goes_on_when_a_token_ends_in_it(autojump_clock):
    """The socket is gone, not the user: who comes back in time votes."""
    async with open_world(settings=PATIENT) as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        ben, _ = await greet(world, "ben", 5)
        await ana.spin()
        match_id = (await ben.ask("spin"))["match_id"]
        await ana.acknowledge(match_id)
        assert (await ben.hear())["type"] == "matched"
        await ben.ask("acknowledge", match_id=match_id)
        assert (await ben.hung_up()).code == 4003
        ben = await Talker.dial(world)
        welcome = await ben.hello(world.token("ben"))
        assert welcome["snapshot"]["state"] == "voting"
        assert (await ben.ask("vote", match_id=match_id, vote="pass"))["type"] == "ok"


async def test_sockets_that_are_gone_are_not_awaited(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        for _ in range(300):
            ana, _ = await greet(world, "ana", 3600)
            await ana.vanish()
            await trio.sleep(0.1)
        assert len(world.server.edge.conversations.expiries) <= 2


async def test_a_token_is_judged_by_the_clock_of_the_server_when_that_is_stepped(autojump_clock):
    async with open_world(settings=PATIENT) as world:
        ana, _ = await greet(world, "ana", 3600)
        ben, _ = await greet(world, "ben", 3 * 3600)
        await trio.sleep(1)
        world.step_clock(2 * 3600)
        started = trio.current_time()
        assert (await ana.hung_up()).code == 4003
        assert trio.current_time() - started <= 30
        assert (await ben.ask("heartbeat"))["type"] == "ok"
