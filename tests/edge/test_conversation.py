"""A conversation over the socket: hello first, every close code, every kind of bad message."""

from __future__ import annotations

import json
from random import Random

import jwt
import pytest
import trio

from tests.edge.raw_client import BINARY, CONT, TEXT, RawWebSocket, frame, upgrade_request
from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, status
from tests.scenarios.talker import HungUp, Talker
from yoked_actor.testing import open_world

# Hello


async def test_a_client_that_says_nothing_is_disconnected_after_five_seconds(autojump_clock):
    async with open_world() as world:
        stranger = await Talker.dial(world)
        assert (await stranger.hung_up()).code == 4000
        assert trio.current_time() == 5


async def test_a_hello_in_the_last_moment_is_in_time(autojump_clock):
    async with open_world() as world:
        talker = await Talker.dial(world)
        await trio.sleep(4.9)
        await talker.hello(world.token("ana"))
        await trio.sleep(10)
        assert (await talker.ask("heartbeat"))["type"] == "ok"


@pytest.mark.parametrize(
    "first",
    [
        {"type": "spin", "id": "1"},
        {"type": "heartbeat", "id": "1"},
        {"type": "nonsense", "id": "1"},
        {"type": "hello"},
        {"id": "1"},
        {},
        [],
        "hello",
        7,
        None,
    ],
)
async def test_whatever_is_said_before_hello_breaks_the_protocol(autojump_clock, first):
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.say(first)
        end = await stranger.hung_up()
        # A hello that lacks the token is about the token.
        assert end.code == (4003 if first == {"type": "hello"} else 4000)


@pytest.mark.parametrize("text", [b"", b"{", b"not json", b"'", b'{"type": "hello"', b"[" * 9000])
async def test_what_is_not_json_breaks_the_protocol_before_hello(autojump_clock, text):
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.write(text)
        assert (await stranger.hung_up()).code == 4000


@pytest.mark.parametrize("text", [b"", b"{", b"not json", b"[]", b'"spin"', b"17", b"null"])
async def test_what_is_not_a_json_object_breaks_the_protocol_after_hello(autojump_clock, text):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        await talker.write(text)
        assert (await talker.hung_up()).code == 4000


async def test_a_hello_without_a_token_or_with_a_bad_one_is_4003(autojump_clock):
    async with open_world() as world:
        forged = jwt.encode({"sub": "ana", "exp": 9_999_999_999}, "x" * 32, "HS256")
        hello = {"type": "hello", "id": "1"}
        for fields in (
            {},
            {"token": None},
            {"token": 7},
            {"token": ""},
            {"token": "nonsense"},
            {"token": forged},
            {"token": world.token("ana", ttl_s=0)},
            {"token": world.token("not an id")},
        ):
            stranger = await Talker.dial(world)
            await stranger.say(hello | fields)
            assert (await stranger.hung_up()).code == 4003, fields


async def test_a_token_expires_by_the_servers_own_clock(autojump_clock):
    async with open_world() as world:
        token = world.token("ana", ttl_s=60)
        await trio.sleep(60)
        stranger = await Talker.dial(world)
        await stranger.say({"type": "hello", "id": "1", "token": token})
        assert (await stranger.hung_up()).code == 4003


async def test_a_second_hello_is_out_of_place_and_the_first_still_stands(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        reply = await talker.ask("hello", token=world.token("ben"))
        assert (reply["type"], reply["code"]) == ("error", "wrong_state")
        assert (await talker.ask("spin"))["state"] == "waiting"


async def test_messages_that_come_with_the_handshake_are_heard(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        raw = RawWebSocket(await world.dial()())
        hello = json.dumps({"type": "hello", "id": "1", "token": world.token("ana")}).encode()
        spin = json.dumps({"type": "spin", "id": "2"}).encode()
        await raw.shake_hands(frame(TEXT, hello) + frame(TEXT, spin))
        talker = Talker(raw)
        assert [(await talker.hear())["type"] for _ in range(3)] == ["welcome", "ok", "waiting"]


# Bad commands change nothing, and the conversation goes on


@pytest.mark.parametrize(
    ("message", "re"),
    [
        ({"type": "nonsense", "id": "1"}, "1"),
        ({"type": "welcome", "id": "1"}, "1"),
        ({"type": "spin"}, None),
        ({"type": "spin", "id": ""}, None),
        ({"type": "spin", "id": "x" * 65}, None),
        ({"type": "spin", "id": 7}, None),
        ({"type": "spin", "id": None}, None),
        ({"type": "spin", "id": ["1"]}, None),
        ({"id": "1"}, "1"),
        ({"type": 7, "id": "1"}, "1"),
        ({"type": None, "id": "1"}, "1"),
        ({}, None),
        ({"type": "acknowledge", "id": "1"}, "1"),
        ({"type": "acknowledge", "id": "1", "match_id": 7}, "1"),
        ({"type": "acknowledge", "id": "1", "match_id": ""}, "1"),
        ({"type": "vote", "id": "1", "match_id": "m1"}, "1"),
        ({"type": "vote", "id": "1", "match_id": "m1", "vote": "maybe"}, "1"),
        ({"type": "vote", "id": "1", "match_id": "m1", "vote": "idle"}, "1"),
        ({"type": "vote", "id": "1", "match_id": "m1", "vote": True}, "1"),
        ({"type": "block", "id": "1"}, "1"),
        ({"type": "block", "id": "1", "user_id": "not an id"}, "1"),
        ({"type": "block", "id": "1", "user_id": "ana"}, "1"),
        ({"type": "report", "id": "1", "user_id": "ben"}, "1"),
        ({"type": "report", "id": "1", "user_id": "ben", "reason": ""}, "1"),
        ({"type": "report", "id": "1", "user_id": "not an id", "reason": "rude"}, "1"),
        ({"type": "end_date", "id": "1"}, "1"),
    ],
)
async def test_a_bad_command_gets_a_bad_request_and_nothing_else_happens(
    autojump_clock, message, re
):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        await talker.say(message)
        reply = await talker.hear()
        assert (reply["type"], reply["re"], reply["code"]) == ("error", re, "bad_request")
        assert reply["message"]
        assert await talker.news() == []
        assert (await talker.ask("spin", id="a fresh one"))["state"] == "waiting"


async def test_an_id_of_sixty_four_characters_is_usable_and_they_need_not_be_ascii(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        for id in ("x" * 64, "ü" * 64, "\U0001f600" * 64, " "):
            assert (await talker.ask("heartbeat", id=id))["type"] == "ok"


async def test_unknown_fields_are_let_be(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana", client="test")
        assert (await talker.ask("spin", mood="good", nested={"a": [1, 2]}))["type"] == "ok"


async def test_commands_out_of_place_are_refused_with_their_code(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        for command, fields, code in (
            ("leave", {}, "wrong_state"),
            ("acknowledge", {"match_id": "m1"}, "unknown_match"),
            ("vote", {"match_id": "m1", "vote": "yes"}, "unknown_match"),
            ("end_date", {"date_id": "d1"}, "not_found"),
        ):
            reply = await talker.ask(command, **fields)
            assert (reply["type"], reply["code"]) == ("error", code)
        assert await talker.news() == []


async def test_a_user_who_has_no_profile_cannot_spin(autojump_clock):
    async with open_world() as world:
        talker, welcome = await Talker.greet(world, "nobody")
        assert welcome["snapshot"]["state"] == "idle"
        assert (await talker.ask("spin"))["code"] == "profile_incomplete"


async def test_the_match_of_others_is_unknown(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await world.sign_up("eve", **WOMAN)
        eve, _ = await Talker.greet(world, "eve")
        await eve.ask("spin")
        await eve.hear()
        for command, fields in (("acknowledge", {}), ("vote", {"vote": "yes"})):
            reply = await eve.ask(command, match_id=match_id, **fields)
            assert reply["code"] == "unknown_match"
        assert await news(ana) == []
        assert (await status(world, "ana"))["match"]["acknowledged"] is False


async def test_a_block_and_a_report_are_answered_with_a_plain_ok(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        assert await talker.ask("block", user_id="ben", id="1") == {"type": "ok", "re": "1"}
        reply = await talker.ask("report", user_id="ben", reason="rude", match_id="m1", id="2")
        assert reply == {"type": "ok", "re": "2"}
        blocks = await world.api("ana").call("GET", "/api/blocks")
        assert [block["user_id"] for block in blocks["blocks"]] == ["ben"]


# Frames


async def test_a_binary_frame_is_1003(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        await talker.write(b'{"type": "spin", "id": "1"}', BINARY)
        assert (await talker.hung_up()).code == 1003


async def test_a_message_of_sixteen_kibibytes_is_taken_and_one_more_byte_is_1009(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        empty = len(json.dumps({"type": "heartbeat", "id": "1", "x": ""}))
        await talker.say({"type": "heartbeat", "id": "1", "x": "y" * (16 * 1024 - empty)})
        assert (await talker.hear())["type"] == "ok"
        await talker.say({"type": "heartbeat", "id": "2", "x": "y" * (16 * 1024 - empty + 1)})
        assert (await talker.hung_up()).code == 1009


async def test_a_command_may_come_in_fragments(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        text = json.dumps({"type": "heartbeat", "id": "ü"}, ensure_ascii=False).encode()
        pieces = [text[:5], text[5:-4], text[-4:]]
        await talker.raw.stream.send_all(
            frame(TEXT, pieces[0], fin=False)
            + frame(CONT, pieces[1], fin=False)
            + frame(CONT, pieces[2])
        )
        assert (await talker.hear())["re"] == "ü"


async def test_invalid_utf_8_is_1007(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        await talker.write(b'{"type": "spin", "id": "\xff"}')
        assert (await talker.hung_up()).code == 1007


# Rates


async def test_a_user_who_commands_too_fast_is_told_so_and_stays(autojump_clock):
    async with open_world(settings={"edge": {"commands_burst": 10}}) as world:
        await world.sign_up("ana", **WOMAN)
        await trio.sleep(1)
        talker, _ = await Talker.greet(world, "ana")
        for _ in range(10):
            assert (await talker.ask("heartbeat"))["type"] == "ok"
        refused = await talker.ask("spin", id="too fast")
        assert (refused["type"], refused["code"]) == ("error", "rate_limited")
        # Twenty come back each second; what was refused may be tried again under a new id.
        await trio.sleep(0.1)
        assert (await talker.ask("spin"))["state"] == "waiting"


async def test_the_default_is_a_burst_of_a_hundred(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        replies = [(await talker.ask("heartbeat"))["type"] for _ in range(101)]
        assert replies == ["ok"] * 100 + ["error"]


async def test_a_new_connection_is_no_new_rate(autojump_clock):
    async with open_world(settings={"edge": {"commands_burst": 5}}) as world:
        talker, _ = await Talker.greet(world, "ana")
        for _ in range(5):
            await talker.ask("heartbeat")
        talker, _ = await Talker.greet(world, "ana")
        assert (await talker.ask("heartbeat"))["code"] == "rate_limited"


async def test_a_flood_is_hung_up_on(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        for n in range(300):
            await talker.say({"type": "heartbeat", "id": str(n)})
        assert (await talker.hung_up()).code == 4009


async def test_a_flood_of_noise_is_hung_up_on_too(autojump_clock):
    async with open_world() as world:
        talker, _ = await Talker.greet(world, "ana")
        await talker.raw.stream.send_all(frame(TEXT, b'{"type": "noise"}') * 300)
        assert (await talker.hung_up()).code == 4009


async def test_a_flood_before_hello_ends_with_the_first_frame(autojump_clock):
    async with open_world() as world:
        stranger = await Talker.dial(world)
        await stranger.raw.stream.send_all(frame(TEXT, b'{"type": "spin", "id": "1"}') * 300)
        assert (await stranger.hung_up()).code == 4000


# A slow reader


async def test_a_client_that_does_not_read_is_disconnected_and_nobody_waits(autojump_clock):
    settings = {
        "edge": {
            "max_buffered_bytes": 16_384,
            "send_buffer_bytes": 1024,
            "commands_per_s": 100_000.0,
            "frames_per_s": 100_000.0,
        }
    }
    async with open_world(settings=settings) as world:
        await world.sign_up("ana", **WOMAN)
        ours, theirs = trio.testing.lockstep_stream_pair()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                world.server.edge.front_door.serve_stream, theirs, ("127.0.0.1", 50_000)
            )
            raw = RawWebSocket(ours)
            await raw.shake_hands()
            talker = Talker(raw)
            await talker.hello(world.token("ana"))
            for n in range(200):
                await talker.say({"type": "heartbeat", "id": f"{n:064}"})
                await trio.sleep(0.01)
            ben = await world.join("ben", **MAN)
            assert (await ben.spin()).state == "waiting"
            await trio.sleep(10)
            assert (
                world.server.base.metrics.registry.get_sample_value("yoked_slow_readers_total") == 1
            )
            # On this stream a last word would wait behind what was not read, so there is none.
            with pytest.raises(EOFError):
                await talker.hung_up()
            nursery.cancel_scope.cancel()


# Draining


async def test_a_draining_server_says_so_and_hangs_up(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        talker, _ = await Talker.greet(world, "ana")
        await talker.ask("spin")
        await talker.hear()
        world.server.drain()
        draining = await talker.hear()
        assert draining["type"] == "draining"
        assert (draining["reconnect_after_s"], draining["seq"]) == (2.0, 2)
        await world.stop()
        assert (await talker.hung_up()).code == 4010


async def test_a_draining_server_takes_no_new_sockets(autojump_clock):
    async with open_world() as world:
        early = await Talker.dial(world)
        world.server.drain()
        await early.say({"type": "hello", "id": "1", "token": world.token("ana")})
        assert (await early.hung_up()).code == 4010
        late = await world.dial()()
        await late.send_all(upgrade_request())
        assert (await late.receive_some()).startswith(b"HTTP/1.1 503 ")


# Noise


async def test_no_bytes_stop_the_server(autojump_clock):
    random = Random(0)
    seeds = [
        b'{"type":"vote","id":"1","match_id":"m1","vote":"yes"}',
        b'{"type":"hello","id":"1","token":"x","resume":{"session":"1-1","seq":1}}',
    ]
    settings = {"edge": {"frames_per_s": 1e6, "frames_burst": 1_000_000}}
    async with open_world(settings=settings) as world:
        ends = set()
        talker, _ = await Talker.greet(world, "ana")
        for _ in range(500):
            text = bytearray(random.choice(seeds))
            for _ in range(random.randrange(1, 4)):
                text[random.randrange(len(text))] = random.randrange(32, 127)
            await talker.write(bytes(text))
            try:
                reply = await talker.hear()
                assert reply["code"] in ("bad_request", "unknown_match", "wrong_state"), text
            except HungUp as end:
                ends.add(end.code)
                talker, _ = await Talker.greet(world, "ana")
            await trio.sleep(0.05)
        assert ends == {4000}
        assert (await talker.ask("heartbeat"))["type"] == "ok"


async def test_a_hello_for_a_room_that_is_being_dropped_is_not_tried_without_end(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.drop(stay_away=True)
        asked = []

        async def served(room: str) -> bool:
            asked.append(room)
            return True

        sessions = world.server.live.sessions
        session = sessions.of("ana")
        assert session is not None
        sessions.context.served, session.link.is_gone = served, True
        with pytest.raises(HungUp) as hung_up:
            await Talker.greet(world, "ana")
        assert hung_up.value.code == 1011
        assert asked == ["main"]
        session.link.is_gone = False
