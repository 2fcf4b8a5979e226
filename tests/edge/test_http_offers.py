"""Daily offers and connections over HTTP (R44)."""

from __future__ import annotations

import pytest
import trio

from tests.actors.morning import DAY, START, connect_pair, store_offers
from tests.scenarios.meeting import MAN, WOMAN, news
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.offers.offer_sets import offer_id
from yoked_actor.testing import World, open_world


async def sign_up_pair(world: World) -> tuple[Api, Api]:
    return await world.sign_up("ana", **WOMAN), await world.sign_up("ben", **MAN)


async def test_a_user_who_has_no_offers_gets_none(autojump_clock):
    async with open_world(start=START) as world:
        api = await world.sign_up("ana", **WOMAN)
        assert await api.offers() == {"date": None, "offers": []}
        assert await api.offers("2025-12-31") == {"date": None, "offers": []}


async def test_a_fetch_is_a_delivery_and_a_repeat_has_the_same_ids(autojump_clock):
    async with open_world(start=START) as world:
        ana, _ = await sign_up_pair(world)
        await store_offers(world.server)
        first = await ana.offers()
        assert first["date"] == "2026-01-01"
        [offer] = first["offers"]
        assert offer["offer_id"] == offer_id(DAY, "ana", "ben")
        assert set(offer) == {
            *("offer_id", "candidate", "score", "reasons", "fit", "offered_at", "expires_at")
        }
        assert await ana.offers() == await ana.offers("2026-01-01") == first
        kept = await world.server.base.store.offers.load_set("ana", DAY)
        assert kept is not None
        assert (kept.delivered_at, kept.deliveries) == (world.now(), 3)
        # Who has fetched them is not told of them again.
        client = await world.connect("ana")
        await trio.sleep(3)
        assert await news(client) == []


async def test_expired_offers_are_only_shown_when_asked_for_by_date(autojump_clock):
    async with open_world(start=START) as world:
        ana, _ = await sign_up_pair(world)
        await store_offers(world.server, lasts_s=60)
        await trio.sleep(60)
        assert await ana.offers() == {"date": None, "offers": []}
        assert len((await ana.offers("2026-01-01"))["offers"]) == 1


async def test_answers_are_shown_with_the_offers_and_open_connections(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben = await sign_up_pair(world)
        await store_offers(world.server)
        mine, theirs = offer_id(DAY, "ana", "ben"), offer_id(DAY, "ben", "ana")
        assert await ana.answer_offer(mine, "accept") == {}
        assert await ana.answer_offer(mine, "accept") == {}
        assert (await ana.offers())["offers"][0]["answer"] == "accept"
        assert await ana.connections() == []
        answer = await ben.answer_offer(theirs, "accept")
        assert await ana.answer_offer(mine, "accept") == answer
        for api, partner in ((ana, "ben"), (ben, "ana")):
            [connection] = await api.connections()
            assert connection["connection_id"] == answer["connection_id"]
            assert connection["partner"]["user_id"] == partner
            assert "birth_date" not in connection["partner"]
            assert connection["opened_at"] == "2026-01-01T10:00:00Z"


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("nothing", {"answer": "accept"}, 404, "not_found"),
        (offer_id(DAY, "ben", "ana"), {"answer": "accept"}, 404, "not_found"),
        (offer_id(DAY, "ana", "ben"), {"answer": "accept"}, 409, "wrong_state"),
        (offer_id(DAY, "ana", "ben"), {"answer": "maybe"}, 400, "bad_request"),
        (offer_id(DAY, "ana", "ben"), {}, 400, "bad_request"),
    ],
    ids=["unknown", "somebody else's", "answered otherwise", "no answer", "nothing"],
)
async def test_an_answer_that_cannot_be_taken_is_refused(autojump_clock, path, body, status, code):
    async with open_world(start=START) as world:
        ana, _ = await sign_up_pair(world)
        await store_offers(world.server)
        await ana.answer_offer(offer_id(DAY, "ana", "ben"), "decline")
        with pytest.raises(CallRefused) as refused:
            await ana.call("POST", f"/api/offers/{path}/answer", body)
    assert (refused.value.status, refused.value.code) == (status, code)


async def test_a_date_that_is_none_is_refused(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.sign_up("ana", **WOMAN)
        with pytest.raises(CallRefused) as refused:
            await ana.offers("yesterday")
    assert refused.value.code == "bad_request"


async def test_a_block_takes_offers_and_connections_out_of_sight_of_both(autojump_clock):
    async with open_world(start=START) as world:
        ana, _, _ = await connect_pair(world)
        await ana.block("ben")
        for user_id in ("ana", "ben"):
            api = world.api(user_id)
            assert await api.connections() == []
            assert (await api.offers())["offers"] == []
        await world.api("ana").call("DELETE", "/api/blocks/ben")
        assert len(await world.api("ben").connections()) == 1


async def test_online_is_who_has_a_socket_or_has_called_just_now(autojump_clock):
    async with open_world(start=START) as world:
        _, ben, _ = await connect_pair(world)

        async def sees_ben_online() -> bool:
            return bool((await world.api("ana").connections())[0]["online"])

        assert await sees_ben_online()
        await ben.close()
        await trio.sleep(1)
        assert not await sees_ben_online()
        await world.api("ben").call("POST", "/api/heartbeat")
        assert await sees_ben_online()
        await trio.sleep(10)
        assert not await sees_ben_online()


async def test_a_date_can_be_started_without_a_socket(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben = await sign_up_pair(world)
        await store_offers(world.server)
        await ana.answer_offer(offer_id(DAY, "ana", "ben"), "accept")
        opened = await ben.answer_offer(offer_id(DAY, "ben", "ana"), "accept")
        connection_id = opened["connection_id"]
        await trio.sleep(30)
        with pytest.raises(CallRefused, match="not online") as refused:
            await ana.start_date(connection_id)
        assert (refused.value.status, refused.value.code) == (409, "wrong_state")
        placed = await ben.start_date(connection_id)
        for api, incoming in ((ana, True), (ben, False)):
            shown = (await api.call("GET", "/api/match/status"))["call"]
            assert set(shown) == {"call_id", "partner", "ring_until", "incoming"}
            assert (shown["call_id"], shown["incoming"]) == (placed["call_id"], incoming)
        with pytest.raises(CallRefused) as refused:
            await ben.accept_call(placed["call_id"])
        assert (refused.value.status, refused.value.code) == (409, "wrong_state")
        date = await ana.accept_call(placed["call_id"])
        for api, initiator in ((ana, False), (ben, True)):
            shown = (await api.call("GET", "/api/match/status"))["date"]
            assert (shown["date_id"], shown["initiator"]) == (date["date_id"], initiator)
        with pytest.raises(CallRefused) as refused:
            await ana.start_date(connection_id)
        assert (refused.value.status, refused.value.code) == (409, "on_a_date")
        with pytest.raises(CallRefused) as refused:
            await ana.start_date("c404")
        assert (refused.value.status, refused.value.code) == (404, "not_found")
        await ana.call("POST", "/api/date/end", {"date_id": date["date_id"]})
        for end, caller, other in (("decline", ana, ben), ("cancel", ana, ana)):
            placed = await caller.start_date(connection_id)
            assert await other.call("POST", f"/api/calls/{placed['call_id']}/{end}") == {}
            assert "call" not in await ben.call("GET", "/api/match/status")
            with pytest.raises(CallRefused) as refused:
                await ben.decline_call(placed["call_id"])
            assert (refused.value.status, refused.value.code) == (404, "not_found")


async def test_a_call_about_offers_is_a_sign_of_life(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.sign_up("ana", **WOMAN)
        await ana.call("POST", "/api/spin")
        for _ in range(4):
            for call in (ana.offers, ana.connections):
                await trio.sleep(8)
                await call()
        assert (await ana.call("GET", "/api/match/status"))["state"] == "waiting"
