"""Floods of frames that are no messages: they count as messages do, and nobody else notices."""

from __future__ import annotations

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.edge.listening import CROWD, listening_server, plain_clients
from tests.edge.raw_client import CLOSE, CONT, PING, PONG, TEXT, RawWebSocket, frame
from tests.scenarios.meeting import MAN, WOMAN
from tests.scenarios.talker import Talker
from yoked_actor.client import Api
from yoked_actor.testing import open_world

BURST = 250
EARLY = 20
# Frames are parsed in small parts: hardly more are answered than may come.
IN_A_PART = 43
FLOODS = {
    "pings": frame(PING) * 2000,
    "pongs": frame(PONG) * 2000,
    "fragments": frame(TEXT, b"{", fin=False) + frame(CONT, fin=False) * 2000,
    "pings between fragments": (
        frame(TEXT, b"{", fin=False) + (frame(PING) + frame(CONT, fin=False)) * 1000
    ),
}


async def drain(raw: RawWebSocket) -> tuple[int | None, int]:
    """How the server closed a socket, and how many pongs it sent before."""
    pongs = 0
    try:
        while True:
            opcode, payload = await raw.receive()
            if opcode == CLOSE:
                return int.from_bytes(payload[:2], "big"), pongs
            pongs += opcode == PONG
    except EOFError:
        return None, pongs


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
async def test_a_flood_of_a_stranger_is_cut_off_after_a_few_frames(
    autojump_clock: MockClock, flood: bytes
) -> None:
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.raw.stream.send_all(flood)
        code, pongs = await drain(stranger.raw)
        assert code == 4009
        assert pongs < EARLY + IN_A_PART
        assert trio.current_time() == 0


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
async def test_a_flood_of_a_user_is_cut_off_at_the_burst(
    autojump_clock: MockClock, flood: bytes
) -> None:
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        await talker.raw.stream.send_all(flood)
        code, pongs = await drain(talker.raw)
        assert code == 4009
        assert pongs < BURST + IN_A_PART
        assert trio.current_time() == 0


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
async def test_a_flood_that_comes_with_the_handshake_is_cut_off_too(
    autojump_clock: MockClock, flood: bytes
) -> None:
    async with open_world() as world:
        raw = RawWebSocket(await world.dial()())
        await raw.shake_hands(also=flood)
        code, pongs = await drain(raw)
        assert code == 4009
        assert pongs < EARLY + IN_A_PART


async def test_floods_on_sockets_are_cut_off_and_health_is_answered(mock_clock: MockClock) -> None:
    async with (
        listening_server(mock_clock) as (_, _, port),
        plain_clients(port) as clients,
    ):
        for client in clients:
            assert b" 101 " in await client.raw.shake_hands()
        await wait_all_tasks_blocked(0.01)
        for client in clients:
            client.send_now(FLOODS["pings"])
        answer = await Api(f"http://127.0.0.1:{port}").request("GET", "/healthz")
        assert answer.status == 200
        ends = [await drain(client.raw) for client in clients]
        assert [code for code, _ in ends] == [4009] * CROWD
        assert max(pongs for _, pongs in ends) < EARLY + IN_A_PART


async def test_a_flood_after_a_close_frame_is_not_listened_to(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.say({"type": "spin", "id": "1"})
        await stranger.raw.stream.send_all(FLOODS["pings"])
        assert await drain(stranger.raw) == (4000, 0)
        code, pongs = await drain(stranger.raw)
        assert code is None
        assert pongs < EARLY + IN_A_PART


async def test_what_is_read_of_a_flood_after_the_close_frame_is_bounded(
    autojump_clock: MockClock,
) -> None:
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.raw.stream.send_all(FLOODS["pings"])
        await wait_all_tasks_blocked()
        assert world.server.edge.front_door.open_connections == 1
        await stranger.raw.stream.send_all(frame(PING) * 60_000)
        await wait_all_tasks_blocked()
        assert world.server.edge.front_door.open_connections == 0
        assert (await drain(stranger.raw))[0] == 4009


async def test_frames_within_the_rate_are_no_flood(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        for _ in range(20):
            await talker.raw.stream.send_all(frame(PING) * 50)
            await trio.sleep(1)
        assert (await talker.ask("heartbeat"))["type"] == "ok"


# Signs of life


async def test_pings_of_the_client_keep_its_user_in_line(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        assert (await talker.ask("spin"))["state"] == "waiting"
        for _ in range(20):
            await talker.raw.stream.send_all(frame(PING))
            await trio.sleep(3)
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "matched"


async def test_pongs_of_the_client_do_not(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        assert (await talker.ask("spin"))["state"] == "waiting"
        for _ in range(5):
            await talker.raw.stream.send_all(frame(PONG))
            await trio.sleep(3)
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "waiting"


async def test_pings_beyond_the_rate_of_commands_are_no_signs_of_life(
    autojump_clock: MockClock,
) -> None:
    settings = {"edge": {"commands_per_s": 0.001, "commands_burst": 3}}
    async with open_world(settings=settings) as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        assert (await talker.ask("spin"))["state"] == "waiting"
        for _ in range(10):
            await talker.raw.stream.send_all(frame(PING))
            await trio.sleep(3)
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "waiting"
