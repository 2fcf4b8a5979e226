"""Daily offers as people get and answer them over the socket (R44)."""

from __future__ import annotations

import sqlite3
from datetime import date

import pytest
import trio

from tests.actors.morning import DAY, START, connect_pair, store_offers
from tests.scenarios.meeting import MAN, WOMAN, news
from yoked_actor.client import CommandRefused, Event
from yoked_actor.domain.offers import Answer, KeptSet
from yoked_actor.domain.offers.offer_sets import offer_id
from yoked_actor.testing import World, open_world


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


async def kept(world: World, user_id: str) -> KeptSet:
    found = await world.server.base.store.offers.load_set(user_id, DAY)
    assert found is not None
    return found


async def test_connected_users_and_no_others_get_their_sets(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.join("ana", **WOMAN, interests=["jazz", "chess"])
        cleo = await world.join("cleo", gender="nonbinary", seeking=["nonbinary"])
        await world.sign_up("ben", **MAN, birth_date="2000-04-02", interests=["jazz"])
        made = await store_offers(world.server)
        world.server.delivery.wake(["ana", "ben", "nobody"])
        offers = await ana.wait_for("offers")
        assert await news(cleo) == []
        assert offers.date == "2026-01-01"
        assert offers.offers == [
            {
                "offer_id": offer_id(DAY, "ana", "ben"),
                "candidate": {
                    "user_id": "ben",
                    "display_name": "Ben",
                    "age": 25,
                    "gender": "man",
                    "interests": ["jazz"],
                    "distance_km": 5,
                },
                # 60, less 8 for two years, plus 40 times a quarter: one tag of two and two unnamed;
                # less a twentieth of 10, for 5 km of the 100 that she accepts.
                "score": 61.5,
                "reasons": ["you both like jazz", "2 years apart", "within 5 km"],
                "fit": {"years_apart": 2, "shared": ["jazz"]},
                "offered_at": "2026-01-01T10:00:00Z",
                "expires_at": "2026-01-01T11:00:00Z",
            }
        ]
        assert (await kept(world, "ana")).deliveries == 1
        assert (await kept(world, "ben")).delivered_at is None
        assert len(made["cleo"].offers) == 0


async def test_a_user_who_was_away_gets_the_set_once_after_the_welcome(autojump_clock):
    async with open_world(start=START) as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await store_offers(world.server)
        ana = await world.connect("ana")
        first = await ana.next_event()
        assert (first.type, first.seq) == ("offers", 1)
        assert first.offers[0]["offer_id"] == offer_id(DAY, "ana", "ben")
        await news(ana)
        again = await world.connect("ana")
        await trio.sleep(5)
        assert await news(again) == []
        assert (await kept(world, "ana")).deliveries == 1


async def test_a_user_without_a_current_set_gets_nothing(autojump_clock):
    async with open_world(start=START) as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await store_offers(world.server, lasts_s=60)
        await world.sign_up("cleo", **WOMAN)
        await trio.sleep(60)
        for user_id in ("ana", "cleo"):
            client = await world.connect(user_id)
            world.server.delivery.wake()
            await trio.sleep(3)
            assert await news(client) == []


async def test_a_user_whose_socket_was_lost_gets_the_set_on_resuming(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await ana.drop(stay_away=True)
        await trio.sleep(1)
        await store_offers(world.server)
        world.server.delivery.wake(["ana"])
        await trio.sleep(1)
        assert (await kept(world, "ana")).delivered_at is None
        await ana.come_back()
        await ana.wait_for("offers")
        assert ana.resumed


async def test_sets_of_another_process_are_found_by_a_check_once_a_second(
    autojump_clock,
):
    async with open_world(start=START) as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await trio.sleep(5)
        began = trio.current_time()
        world.server.delivery.wake()
        await trio.sleep(0.1)
        await store_offers(world.server)
        for _ in range(5):
            world.server.delivery.wake()
            await trio.sleep(0.1)
        await ana.wait_for("offers")
        assert trio.current_time() - began == pytest.approx(1.0)
        for _ in range(5):
            world.server.delivery.wake()
            await trio.sleep(1)
        assert await news(ana) == []
        assert (await kept(world, "ana")).deliveries == 1


async def test_an_unavailable_store_delays_offers_and_stops_nothing(autojump_clock, tmp_path):
    path = tmp_path / "yoked.db"
    settings = {"store": {"busy_timeout_s": 0}}
    async with open_world(start=START, database=path, settings=settings) as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await store_offers(world.server)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        world.server.delivery.wake(["ana"])
        await ana.wait_for("offers")
        await trio.sleep(60)
        assert (await kept(world, "ana")).delivered_at is None
        other.execute("ROLLBACK")
        other.close()
        await trio.sleep(5)
        assert (await kept(world, "ana")).deliveries == 1
        assert await news(ana) == []


async def test_a_block_by_either_side_hides_the_card(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.join("ana", **WOMAN)
        for him in ("ben", "carl", "dave"):
            await world.sign_up(him, **MAN)
        await store_offers(world.server)
        await ana.block("ben")
        await world.api("carl").call("POST", "/api/blocks", {"user_id": "ana"})
        world.server.delivery.wake(["ana"])
        offers = (await ana.wait_for("offers")).offers
        assert [one["candidate"]["user_id"] for one in offers] == ["dave"]


async def test_two_accepts_open_a_connection_and_both_are_notified_once_after_the_reply(
    autojump_clock,
):
    async with open_world(start=START) as world:
        ana, ben = await world.join("ana", **WOMAN), await world.join("ben", **MAN)
        await store_offers(world.server)
        first = await ana.answer_offer(offer_id(DAY, "ana", "ben"), "accept")
        assert "connection_id" not in first.fields
        assert await news(ben) == []
        mine = offer_id(DAY, "ben", "ana")
        second = await ben.answer_offer(mine, "accept")
        told = [await client.wait_for("connection") for client in (ana, ben)]
        assert {event.connection_id for event in told} == {second.connection_id}
        assert [event.partner["user_id"] for event in told] == ["ben", "ana"]
        assert set(told[0].partner) == {
            "user_id",
            "display_name",
            "age",
            "gender",
            "interests",
            "distance_km",
        }
        # The same answers again: the same result, and nothing new for anybody.
        assert (await ben.answer_offer(mine, "accept")).connection_id == second.connection_id
        again = await ana.answer_offer(offer_id(DAY, "ana", "ben"), "accept")
        assert again.connection_id == second.connection_id
        await trio.sleep(5)
        assert await news(ana) == await news(ben) == []


async def test_a_decline_opens_nothing(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben = await world.join("ana", **WOMAN), await world.join("ben", **MAN)
        await store_offers(world.server)
        await ana.answer_offer(offer_id(DAY, "ana", "ben"), "accept")
        reply = await ben.answer_offer(offer_id(DAY, "ben", "ana"), "decline")
        assert "connection_id" not in reply.fields
        await trio.sleep(1)
        assert await news(ana) == await news(ben) == []
        assert await world.api("ana").connections() == []


async def test_an_answer_that_is_not_possible_is_refused(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben = await world.join("ana", **WOMAN), await world.join("ben", **MAN)
        await store_offers(world.server, lasts_s=60)
        mine = offer_id(DAY, "ana", "ben")
        with pytest.raises(CommandRefused, match="no offer") as refused:
            await ben.answer_offer(mine, "accept")
        assert refused.value.code == "not_found"
        await ana.answer_offer(mine, "decline")
        with pytest.raises(CommandRefused, match="first answer is final") as refused:
            await ana.answer_offer(mine, "accept")
        assert refused.value.code == "wrong_state"
        with pytest.raises(CommandRefused) as refused:
            await ana.answer_offer(mine, "perhaps")
        assert refused.value.code == "bad_request"
        await trio.sleep(60)
        with pytest.raises(CommandRefused, match="expired") as refused:
            await ben.answer_offer(offer_id(DAY, "ben", "ana"), "accept")
        assert refused.value.code == "wrong_state"
        # What was answered in time is still answered the same.
        await ana.answer_offer(mine, "decline")


async def test_an_answer_is_a_sign_of_life(autojump_clock):
    async with open_world(start=START) as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        ana.beating = False
        for _ in range(4):
            await trio.sleep(8)
            with pytest.raises(CommandRefused):
                await ana.answer_offer("none", "accept")
        assert "idle" not in types(await news(ana))


async def test_a_command_refused_by_an_unavailable_store_can_be_repeated_with_a_new_id(
    autojump_clock, tmp_path
):
    path = tmp_path / "yoked.db"
    settings = {"store": {"busy_timeout_s": 0}}
    async with open_world(start=START, database=path, settings=settings) as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await store_offers(world.server)
        mine = offer_id(DAY, "ana", "ben")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(CommandRefused) as refused:
            await ana.command("answer_offer", id="x", offer_id=mine, answer="accept")
        assert refused.value.code == "internal"
        other.execute("ROLLBACK")
        other.close()
        with pytest.raises(CommandRefused) as refused:
            await ana.command("answer_offer", id="x", offer_id=mine, answer="accept")
        assert refused.value.code == "internal"
        await ana.answer_offer(mine, "accept")
        assert (await kept(world, "ana")).answers == (Answer.ACCEPT,)


# Video dates of connections


async def test_a_connection_starts_a_date_and_the_caller_is_the_initiator(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben, connection_id = await connect_pair(world)
        placed = await ben.start_date(connection_id)
        rings = await ana.wait_for("call")
        assert (rings.call_id, rings.connection_id) == (placed.call_id, connection_id)
        assert rings.ring_until == placed.ring_until == "2026-01-01T10:00:15Z"
        assert rings.partner["user_id"] == "ben"
        reply = await ana.accept_call(placed.call_id)
        ends = [await client.wait_for("call_ended") for client in (ana, ben)]
        assert {(event.call_id, event.reason) for event in ends} == {(placed.call_id, "accepted")}
        started = [await client.wait_for("date_started") for client in (ana, ben)]
        assert {event.date_id for event in started} == {reply.date_id}
        assert [event.initiator for event in started] == [False, True]
        assert [event.partner["user_id"] for event in started] == ["ben", "ana"]
        assert started[0].ends_at == "2026-01-01T10:05:00Z"
        await ana.end_date(reply.date_id)
        assert (await ben.wait_for("date_ended")).reason == "partner_ended"
        # And again, the other way round.
        placed = await ana.start_date(connection_id)
        await ben.accept_call(placed.call_id)
        assert (await ben.wait_for("date_started")).initiator is False


async def test_the_same_command_again_rings_no_second_time(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben, connection_id = await connect_pair(world)
        first = await ana.command("start_date", id="same", connection_id=connection_id)
        await ben.decline_call(first.call_id)
        again = await ana.command("start_date", id="same", connection_id=connection_id)
        assert again.call_id == first.call_id
        heard = types(await news(ben))
        assert (heard.count("call"), heard.count("call_ended")) == (1, 1)


async def test_a_date_that_cannot_be_started_is_refused(autojump_clock):
    async with open_world(start=START) as world:
        ana, ben, connection_id = await connect_pair(world)
        cleo = await world.join("cleo", **WOMAN)

        async def refusal(client) -> tuple[str, str]:
            with pytest.raises(CommandRefused) as refused:
                await client.start_date(connection_id)
            return refused.value.code, refused.value.message

        assert (await refusal(cleo))[0] == "not_found"
        with pytest.raises(CommandRefused) as refused:
            await ana.start_date("c404")
        assert refused.value.code == "not_found"
        await ben.spin()
        assert (await refusal(ben))[0] == "wrong_state"
        await ben.leave()
        placed = await ana.start_date(connection_id)
        date_id = (await ben.accept_call(placed.call_id)).date_id
        assert (await refusal(ana))[0] == (await refusal(ben))[0] == "on_a_date"
        await ana.end_date(date_id)
        await ben.close()
        await trio.sleep(1)
        assert await refusal(ana) == ("wrong_state", "your partner is not online")
        await trio.sleep(300)
        assert await refusal(ana) == ("wrong_state", "your partner is not online")
        ben = await world.connect("ben")
        await ben.block("ana")
        assert (await refusal(ana))[0] == (await refusal(ben))[0] == "not_found"
        assert world.audit() == []


async def test_offers_of_an_earlier_day_can_be_asked_for_by_date(autojump_clock):
    async with open_world(start=START) as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await store_offers(world.server, lasts_s=60)
        await trio.sleep(61)
        offers = world.server.live.offers
        assert await offers.current("ana") is None
        made = await offers.current("ana", DAY)
        assert made is not None
        assert [view.candidate.user_id for view in made.offers] == ["ben"]
        assert await offers.current("ana", date(2026, 1, 2)) is None
