"""The client: commands, events, and coming back by itself."""

from __future__ import annotations

from itertools import pairwise

import pytest
import trio
from trio.testing import memory_stream_pair, wait_all_tasks_blocked

from tests.scenarios.meeting import WOMAN, join_pair, match, news, told
from yoked_actor.bots.valve import Valve
from yoked_actor.client import CommandRefused, ConnectionLost, open_client
from yoked_actor.client.dialing import Address
from yoked_actor.testing import open_world

URL = "http://world.test"


async def test_a_refusal_is_raised_with_its_code(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        with pytest.raises(CommandRefused) as refusal:
            await ana.leave()
        assert refusal.value.code == "wrong_state"
        assert refusal.value.message in str(refusal.value)


async def test_events_come_in_order_and_their_fields_are_attributes(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await ana.leave()
        first, second = await ana.next_event(), await ana.next_event()
        assert (first.type, first.seq, first.reason) == ("waiting", 1, "spun")
        assert (second.type, second.seq, second.reason) == ("idle", 2, "left")
        with pytest.raises(AttributeError, match="idle has no partner"):
            _ = second.partner


async def test_waiting_for_one_kind_of_event_lets_the_others_go(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await ana.leave()
        assert (await ana.wait_for("idle")).seq == 2
        assert ana.pending_events() == []


async def test_it_beats_as_the_server_asks(autojump_clock):
    async with open_world(settings={"matching": {"heartbeat_every_s": 7.0}}) as world:
        ana = await world.join("ana", **WOMAN)
        assert ana.heartbeat_every_s == 7.0
        await ana.spin()
        await trio.sleep(100)
        assert told(await news(ana)) == [("waiting", "spun"), ("tier", 2), ("tier", 99)]


async def test_it_comes_back_by_itself_and_nothing_is_missed(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.wait_for("waiting")
        await ana.drop()
        await trio.sleep(1)
        assert ana.is_connected
        assert ana.resumed
        await ben.spin()
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"


async def test_a_command_sent_into_a_broken_socket_is_sent_again(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.drop(stay_away=True)
        replies = []

        async def spin():
            replies.append(await ana.spin())

        async with trio.open_nursery() as nursery:
            nursery.start_soon(spin)
            await trio.sleep(5)
            assert replies == []
            await ana.come_back()
        assert replies[0].state == "waiting"
        assert told(await news(ana)) == [("waiting", "spun")]


async def test_a_command_whose_reply_was_lost_has_one_effect(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ben.acknowledge(match_id)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ana.acknowledge, match_id)
            await ana.drop()
        assert (await ana.wait_for("voting")).match_id == match_id
        assert told(await news(ben)) == [("voting",)]


async def test_it_gives_up_when_another_device_has_taken_over(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        phone = await world.connect("ana")
        async with trio.open_nursery() as nursery:

            async def wait():
                with pytest.raises(ConnectionLost) as lost:
                    await phone.next_event()
                assert lost.value.code == 4001

            nursery.start_soon(wait)
            await wait_all_tasks_blocked()
            tablet = await world.connect("ana")
        with pytest.raises(ConnectionLost):
            await phone.spin()
        await trio.sleep(60)
        assert tablet.is_connected
        assert phone.lost is not None


async def test_a_token_that_is_not_taken_is_said_at_once(autojump_clock):
    async with open_world() as world:
        with pytest.raises(ConnectionLost) as lost:
            async with open_client(URL, "nonsense", dial=world.dial()):
                raise AssertionError("was let in")
        assert lost.value.code == 4003


async def test_a_server_that_is_not_there_is_said_at_once(autojump_clock):
    async with open_world() as world:
        token = world.token("ana")
        await world.crash()
        with pytest.raises(ConnectionLost, match=r"cannot connect to world\.test"):
            async with open_client(URL, token, dial=world.dial()):
                raise AssertionError("was let in")


async def test_what_is_not_a_websocket_is_said_at_once(autojump_clock):
    async def dial():
        ours, theirs = memory_stream_pair()
        await theirs.send_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        return ours

    with pytest.raises(ConnectionLost):
        async with open_client(URL, "token", dial=dial):
            raise AssertionError("was let in")


async def test_it_waits_longer_and_longer_for_a_server_that_is_away(autojump_clock):
    async with open_world() as world:
        attempts = []
        dial = world.dial()

        async def counting():
            attempts.append(trio.current_time())
            return await dial()

        await world.sign_up("ana", **WOMAN)
        async with open_client(URL, world.token("ana"), dial=counting) as ana:
            await world.crash()
            await trio.sleep(60)
            pauses = [round(later - earlier, 3) for earlier, later in pairwise(attempts[1:])]
            assert pauses == sorted(pauses)
            assert (pauses[0], pauses[-1]) == (0.4, 5.0)
            await world.start()
            await ana.wait_connected()
            assert ana.resumed is False


async def test_a_drain_is_announced_and_it_comes_back_after(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        world.server.drain()
        assert (await ana.wait_for("draining")).reconnect_after_s == 2.0
        await world.crash()
        await world.start()
        await ana.wait_connected()
        assert (await ana.heartbeat()).type == "ok"


async def test_a_hello_that_comes_late_over_a_bad_line_is_said_again(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        valve = Valve()
        dial = valve.on(world.dial())
        async with open_client(URL, world.token("ana"), dial=dial) as ana:
            valve.shut()
            await ana.drop()
            await trio.sleep(8)
            valve.open()
            with trio.fail_after(10):
                await ana.wait_connected()
            assert ana.resumed


async def test_a_server_that_objects_again_and_again_is_left_alone(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        async with open_client(URL, world.token("ana"), dial=world.dial()) as ana:
            ana.seq = -1  # which no server has ever said
            await ana.drop()
            with pytest.raises(ConnectionLost) as lost:
                await ana.next_event()
            assert lost.value.code == 4000


async def test_closing_is_polite_and_what_fails_in_the_block_is_raised_as_it_is(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        with pytest.raises(ZeroDivisionError):
            async with open_client(URL, world.token("ana"), dial=world.dial()) as ana:
                raise ZeroDivisionError
        async with open_client(URL, world.token("ana"), dial=world.dial()) as ana:
            await ana.spin()
        await wait_all_tasks_blocked()
        assert not world.server.live.lobby.floor.is_here("ana")


async def test_blocks_and_reports_have_commands_of_their_own(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        assert (await ana.block("ben")).type == "ok"
        assert (await ana.report("ben", "rude")).type == "ok"
        assert (await ana.report("ben", "rude", match_id="m1")).type == "ok"
        assert (await ana.heartbeat()).at == "2026-01-01T08:00:00Z"


@pytest.mark.parametrize(
    ("url", "host", "port", "secure"),
    [
        ("http://127.0.0.1:8080", "127.0.0.1", 8080, False),
        ("ws://example.org/ws", "example.org", 80, False),
        ("https://example.org", "example.org", 443, True),
        ("wss://[::1]:9", "::1", 9, True),
    ],
)
def test_addresses_are_read(url, host, port, secure):
    assert Address.parse(url) == Address(host, port, secure)


@pytest.mark.parametrize("url", ["", "example.org", "ftp://example.org", "http://"])
def test_what_is_no_address_is_said(url):
    with pytest.raises(ValueError, match="is not an address"):
        Address.parse(url)


# Tokens that end


async def test_a_client_with_a_token_provider_renews_before_its_token_ends(autojump_clock):
    async with open_world() as world:
        given: list[float] = []

        async def token() -> str:
            given.append(trio.current_time())
            return world.token("ana", ttl_s=100)

        async with open_client(URL, token, dial=world.dial()) as ana:
            started = trio.current_time()
            await trio.sleep(1000)
            assert ana.lost is None
            assert ana.welcomes == 1
            assert (await ana.heartbeat()).type == "ok"
        assert [round(at - started) for at in given[:4]] == [0, 80, 160, 240]


async def test_a_provider_that_fails_is_asked_again(autojump_clock):
    async with open_world() as world:
        asked = 0

        async def token() -> str:
            nonlocal asked
            asked += 1
            if asked == 2:
                raise RuntimeError("the login is down")
            # The third one is another user's, which the server refuses.
            return world.token("eve" if asked == 3 else "ana", ttl_s=200)

        async with open_client(URL, token, dial=world.dial()) as ana:
            await trio.sleep(1000)
            assert ana.lost is None
            assert ana.welcomes == 1
        assert asked > 4


async def test_a_client_that_was_away_when_its_token_ended_comes_back_with_a_new_one(
    autojump_clock,
):
    async with open_world() as world:

        async def token() -> str:
            return world.token("ana", ttl_s=60)

        async with open_client(URL, token, dial=world.dial()) as ana:
            await ana.drop(stay_away=True)
            await trio.sleep(500)
            await ana.come_back()
            assert ana.lost is None


async def test_a_client_with_a_plain_token_ends_with_it(autojump_clock):
    async with open_world() as world:
        token = world.token("ana", ttl_s=60)
        async with open_client(URL, token, dial=world.dial()) as ana:
            await trio.sleep(100)
            assert ana.lost is not None
            assert ana.lost.code == 4003
