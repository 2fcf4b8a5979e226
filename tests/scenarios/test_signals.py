"""What two people on a video date say to each other through the server, and who else may (R22)."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, news, settle
from tests.scenarios.talker import Talker
from yoked_actor.client import Client, CommandRefused, Event
from yoked_actor.testing import World, open_world


async def date(world: World, her: str = "ana", him: str = "ben") -> tuple[Client, Client, str]:
    """Two on a video date, with nothing left unread."""
    one, other = await join_pair(world, her, him)
    await settle(one, other, ("yes", "yes"))
    date_id = (await one.wait_for("date_started")).date_id
    await other.wait_for("date_started")
    return one, other, date_id


def heard(events: list[Event]) -> list[Any]:
    assert {event.type for event in events} <= {"signal"}
    return [event.data for event in events]


async def refused(client: Client, date_id: str, data: Any = None) -> str:
    with pytest.raises(CommandRefused) as caught:
        await client.signal(date_id, data)
    return caught.value.code


async def test_signals_reach_only_the_partner_and_in_order(autojump_clock):
    async with open_world() as world:
        eve, fred, other_date = await date(world, "eve", "fred")
        ana, ben, date_id = await date(world)
        for n in range(10):
            await ana.signal(date_id, {"n": n})
            await ben.signal(date_id, [n])
        assert heard(await news(ben)) == [{"n": n} for n in range(10)]
        assert heard(await news(ana)) == [[n] for n in range(10)]
        assert await news(eve) == await news(fred) == []
        await eve.signal(other_date, "psst")
        [event] = await news(fred)
        assert (event.type, event.date_id, event.data) == ("signal", other_date, "psst")
        assert await news(ana) == await news(ben) == []


async def test_a_signal_in_the_moment_of_the_second_yes_comes_after_the_date(autojump_clock):
    async with open_world() as world:
        for user_id, profile in (("ana", WOMAN), ("ben", MAN)):
            await world.sign_up(user_id, **profile)
        ana, _ = await Talker.greet(world, "ana")
        ben, _ = await Talker.greet(world, "ben")
        await ana.ask("spin")
        match_id = (await ben.ask("spin"))["match_id"]
        for talker in (ana, ben):
            await talker.news()
            await talker.ask("acknowledge", match_id=match_id)
        for talker in (ana, ben):
            await talker.news()
        await ana.ask("vote", match_id=match_id, vote="yes")
        await ben.say({"type": "vote", "id": "v", "match_id": match_id, "vote": "yes"})
        # The ids of dates follow those of matches: who guesses may speak in the same breath.
        await ben.say({"type": "signal", "id": "s", "date_id": "d2", "data": "hi"})
        types = [message["type"] for message in await ana.news()]
        assert types == ["outcome", "idle", "date_started", "signal"]


@pytest.mark.parametrize(
    "data",
    [
        b"null",
        b"true",
        b"0",
        b"-0.0",
        b"1.50",
        b"1e3",
        b"12345678901234567890123",
        b'""',
        b'{"a":{"b":[{},[],null,{"c":"\\u00e9\\n"}]}}',
        '"Z\u00fcrich \u4f60\u597d \U0001f600"'.encode(),
        b'{ "spaced" : [ 1,2 ] , "spaced":1 }',
        b'{"type":"welcome","seq":99,"date_id":"d0"}',
    ],
)
async def test_data_arrives_byte_for_byte(autojump_clock, data):
    async with open_world() as world:
        _, _, date_id = await date(world)
        ana, _ = await Talker.greet(world, "ana")
        ben, _ = await Talker.greet(world, "ben")
        said = b'{"type":"signal","id":"s","date_id":"%s","data":%s}' % (date_id.encode(), data)
        await ana.write(said)
        assert await ana.hear() == {"type": "ok", "re": "s"}
        _, text = await ben.raw.receive()
        assert text.startswith(b'{"type":"signal","seq":1,"at":"')
        assert text.endswith(b'"date_id":"%s","data":%s}' % (date_id.encode(), data))


async def test_a_signal_is_refused_unless_its_user_is_on_that_open_date(autojump_clock):
    async with open_world() as world:
        cleo = await world.join("cleo", **WOMAN)
        eve, fred, other_date = await date(world, "eve", "fred")
        ana, ben, date_id = await date(world)
        assert await refused(cleo, date_id) == "not_found"
        assert await refused(eve, date_id) == "not_found"
        assert await refused(ana, other_date) == "not_found"
        assert await refused(ana, "d404") == "not_found"
        await ana.end_date(date_id)
        assert await refused(ana, date_id) == await refused(ben, date_id) == "not_found"
        told = [event.type for c in (ana, ben, eve, fred, cleo) for event in await news(c)]
        assert told == ["date_ended", "date_ended"]


async def test_the_size_of_data_is_bounded(autojump_clock):
    async with open_world() as world:
        ana, ben, date_id = await date(world)
        largest = "x" * (8192 - 2)
        await ana.signal(date_id, largest)
        assert await refused(ana, date_id, largest + "x") == "too_large"
        assert heard(await news(ben)) == [largest]
        assert ana.is_connected


async def test_data_that_not_every_client_can_read_is_refused_and_the_socket_stays(
    autojump_clock,
):
    async with open_world() as world:
        _, ben, date_id = await date(world)
        ana, _ = await Talker.greet(world, "ana")
        said = b'{"type":"signal","id":"s","date_id":"%s","data":1e999}' % date_id.encode()
        await ana.write(said)
        reply = await ana.hear()
        assert (reply["re"], reply["code"]) == ("s", "bad_request")
        assert await ana.ask("signal", date_id=date_id) == {
            "type": "error",
            "re": "t1",
            "code": "bad_request",
            "message": "Object missing required field `data`",
        }
        assert await news(ben) == []


async def test_signals_are_rate_limited_with_a_burst(autojump_clock):
    settings = {"date": {"signals_per_s": 2.0, "signals_burst": 5}}
    async with open_world(settings=settings) as world:
        ana, ben, date_id = await date(world)
        for n in range(5):
            await ana.signal(date_id, n)
        assert await refused(ana, date_id, 5) == "rate_limited"
        await ben.signal(date_id, "mine is another measure")
        await trio.sleep(1)
        for n in (6, 7):
            await ana.signal(date_id, n)
        assert await refused(ana, date_id, 8) == "rate_limited"
        await ana.heartbeat()
        assert heard(await news(ben)) == [0, 1, 2, 3, 4, 6, 7]


async def test_the_same_id_again_is_the_same_signal(autojump_clock):
    settings = {"date": {"signals_per_s": 0.1, "signals_burst": 1}}
    async with open_world(settings=settings) as world:
        ana, ben, date_id = await date(world)
        for _ in range(3):
            assert (await ana.command("signal", id="x", date_id=date_id, data=1)).type == "ok"
        assert heard(await news(ben)) == [1]


async def test_missed_signals_are_sent_on_resuming(autojump_clock):
    async with open_world() as world:
        ana, ben, date_id = await date(world)
        await ben.drop(stay_away=True)
        await trio.sleep(1)
        for n in range(3):
            await ana.signal(date_id, n)
        await ben.come_back()
        assert ben.resumed
        assert heard(await news(ben)) == [0, 1, 2]


async def test_a_flood_of_signals_costs_one_who_is_away_no_other_event(autojump_clock):
    async with open_world() as world:
        ana, ben, date_id = await date(world)
        await ben.drop(stay_away=True)
        await trio.sleep(1)
        for n in range(32):
            await ana.signal(date_id, n)
            await trio.sleep(0.1)
        for n in range(32, 200):
            assert await refused(ana, date_id, n) == "rate_limited"
            await trio.sleep(0.1)
        with pytest.raises(CommandRefused):
            await ana.command("signal", id="again", date_id=date_id, data=None)
        await ben.come_back()
        # The id has its reply; the same data under a new id goes through now.
        with pytest.raises(CommandRefused):
            await ana.command("signal", id="again", date_id=date_id, data="again")
        await ana.signal(date_id, "again")
        await ben.drop(stay_away=True)
        await trio.sleep(1)
        await ana.end_date(date_id)
        await ben.come_back()
        assert ben.resumed
        events = await news(ben)
        assert heard(events[:-1]) == [*range(32), "again"]
        assert (events[-1].type, events[-1].reason) == ("date_ended", "partner_ended")


async def test_a_full_burst_of_the_largest_signals_makes_no_slow_reader_of_the_partner(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben, date_id = await date(world)
        largest = "x" * (8192 - 2)
        async with trio.open_nursery() as nursery:
            for _ in range(30):
                nursery.start_soon(ana.signal, date_id, largest)
        assert heard(await news(ben)) == [largest] * 30
        assert ben.is_connected
        assert ben.welcomes == 1


async def test_signals_are_not_stored(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben, date_id = await date(world)
        commits = world.server.base.metrics.store.commits._sum.get()
        await ana.signal(date_id, "a secret that is nobody's business")
        assert heard(await news(ben))
        assert world.server.base.metrics.store.commits._sum.get() == commits
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"nobody's business" not in written
