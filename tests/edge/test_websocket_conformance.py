"""The RFC, case by case, in raw bytes and with an independent client."""

from __future__ import annotations

import random
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest
import trio
import trio.testing
from trio_websocket import ConnectionClosed, wrap_client_stream
from trio_websocket import WebSocketConnection as ClientConnection

from tests.edge.raw_client import (
    BINARY,
    CLOSE,
    CONT,
    PING,
    PONG,
    TEXT,
    Echo,
    RawWebSocket,
    close_frame,
    dial,
    frame,
    open_door,
)
from yoked_actor.edge.net import EdgeLimits
from yoked_actor.edge.ws import Awaited, WebSocketConnection

pytestmark = pytest.mark.usefixtures("both_paths")

LIMIT = EdgeLimits().max_message_bytes


@asynccontextmanager
async def raw_echo(limits: EdgeLimits | None = None) -> AsyncIterator[RawWebSocket]:
    """A raw client whose handshake is done, connected to an echo."""
    async with open_door(limits=limits) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        assert b" 101 " in await client.shake_hands()
        yield client
        await client.stream.aclose()


@asynccontextmanager
async def library_echo() -> AsyncIterator[ClientConnection]:
    """A trio-websocket client connected to an echo."""
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        client = await wrap_client_stream(
            nursery, cast(Any, stream), "yoked.test", "/ws", subprotocols=["yoked.v1"]
        )
        yield client
        await client.aclose()
        # That alone leaves the stream open when the server closed first.
        await stream.aclose()


async def closed_with(*frames: bytes) -> int | None:
    """The close code that an echo answers these frames with."""
    async with raw_echo() as client:
        await client.stream.send_all(b"".join(frames))
        code, _ = await client.receive_close()
        return code


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65, 4096, LIMIT])
async def test_a_message_of_any_size_up_to_the_limit_comes_back(size: int) -> None:
    async with raw_echo() as client:
        await client.stream.send_all(frame(TEXT, b"m" * size))
        assert await client.receive() == (TEXT, b"m" * size)


async def test_a_frame_that_comes_byte_by_byte_is_read() -> None:
    async with raw_echo() as client:
        for byte in frame(TEXT, "zwölf €".encode()):
            await client.stream.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
        assert await client.receive() == (TEXT, "zwölf €".encode())


async def test_three_fragments_with_a_ping_between_make_one_message() -> None:
    async with raw_echo() as client:
        await client.stream.send_all(
            frame(TEXT, b"one ", fin=False)
            + frame(CONT, b"two ", fin=False)
            + frame(PING, b"still there?")
            + frame(CONT, b"three")
        )
        assert await client.receive() == (PONG, b"still there?")
        assert await client.receive() == (TEXT, b"one two three")


async def test_a_character_may_be_split_between_fragments() -> None:
    euro = "€".encode()
    async with raw_echo() as client:
        await client.stream.send_all(frame(TEXT, euro[:1], fin=False) + frame(CONT, euro[1:]))
        assert await client.receive() == (TEXT, euro)


async def test_empty_fragments_are_fine_in_any_number() -> None:
    async with raw_echo() as client:
        empties = frame(CONT, b"", fin=False) * 1000
        await client.stream.send_all(frame(TEXT, b"", fin=False) + empties + frame(CONT, b"end"))
        assert await client.receive() == (TEXT, b"end")


async def test_a_ping_beside_a_message_of_full_size_is_no_part_of_it() -> None:
    async with raw_echo() as client:
        await client.stream.send_all(
            frame(TEXT, b"a" * (LIMIT - 1), fin=False) + frame(PING, b"p" * 125) + frame(CONT, b"z")
        )
        assert await client.receive() == (PONG, b"p" * 125)
        assert await client.receive() == (TEXT, b"a" * (LIMIT - 1) + b"z")


async def test_unasked_pongs_are_ignored() -> None:
    async with raw_echo() as client:
        await client.stream.send_all(frame(PONG, b"?") + frame(TEXT, b"hi"))
        assert await client.receive() == (TEXT, b"hi")


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([frame(CONT, b"x")], id="continuation without a start"),
        pytest.param([frame(CONT, b"x", fin=False)], id="open continuation without a start"),
        pytest.param(
            [frame(TEXT, b"a", fin=False), frame(TEXT, b"b")], id="message inside a message"
        ),
        pytest.param([frame(TEXT, b"a", rsv=4)], id="first reserved bit"),
        pytest.param([frame(TEXT, b"a", rsv=2)], id="second reserved bit"),
        pytest.param([frame(PING, b"a", rsv=1)], id="reserved bit on a ping"),
        pytest.param([frame(0x3, b"a")], id="reserved data opcode 3"),
        pytest.param([frame(0x7, b"a")], id="reserved data opcode 7"),
        pytest.param([frame(0xB, b"a")], id="reserved control opcode 11"),
        pytest.param([frame(0xF, b"a")], id="reserved control opcode 15"),
        pytest.param([frame(TEXT, b"a", masked=False)], id="unmasked"),
        pytest.param([frame(PING, b"a", fin=False)], id="fragmented ping"),
        pytest.param([frame(CLOSE, b"", fin=False)], id="fragmented close"),
        pytest.param([frame(PING, b"a" * 126)], id="ping of 126 bytes"),
        pytest.param([frame(CLOSE, b"\x03")], id="close payload of one byte"),
        pytest.param([frame(TEXT, b"a", fin=False), close_frame(1000)], id="close in a message"),
    ],
)
async def test_a_breach_of_the_protocol_is_closed_with_1002(frames: list[bytes]) -> None:
    assert await closed_with(*frames) == 1002


@pytest.mark.parametrize("code", [0, 999, 1004, 1005, 1006, 1015, 1016, 2000, 2999, 5000, 65535])
async def test_a_close_code_that_must_not_be_sent_is_a_breach(code: int) -> None:
    assert await closed_with(close_frame(code)) == 1002


@pytest.mark.parametrize("code", [1000, 1001, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999])
async def test_a_valid_close_is_echoed_and_ends_the_stream(code: int) -> None:
    async with raw_echo() as client:
        await client.stream.send_all(close_frame(code, b"so long"))
        assert await client.receive_close() == (code, b"so long")


async def test_a_close_without_a_code_is_echoed_without_one() -> None:
    assert await closed_with(frame(CLOSE)) is None


async def test_a_close_reason_must_be_text() -> None:
    assert await closed_with(close_frame(1000, b"\xff\xfe")) == 1007


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param([frame(TEXT, b"ok \xff")], id="one frame"),
        pytest.param([frame(TEXT, "\u20ac".encode()[:2])], id="cut short"),
        pytest.param([frame(TEXT, b"\xed\xa0\x80")], id="surrogate"),
        pytest.param([frame(TEXT, b"\xc0\xaf")], id="overlong"),
        pytest.param([frame(TEXT, b"\xf4\x90\x80\x80")], id="beyond Unicode"),
        pytest.param([frame(TEXT, b"a", fin=False), frame(CONT, b"\x80")], id="last fragment"),
        pytest.param([frame(TEXT, b"\xe2", fin=False), frame(CONT, b"\x82")], id="cut fragments"),
        pytest.param([frame(TEXT, b"\xff", fin=False)], id="first fragment, before the rest"),
    ],
)
async def test_text_that_is_not_utf8_is_closed_with_1007(frames: list[bytes]) -> None:
    assert await closed_with(*frames) == 1007


async def test_binary_is_closed_with_1003() -> None:
    assert await closed_with(frame(BINARY, b"\x00\x01")) == 1003
    assert await closed_with(frame(BINARY, b"\x00", fin=False), frame(CONT, b"\x01")) == 1003


async def test_a_frame_over_the_limit_is_closed_with_1009_before_it_is_read() -> None:
    header_only = b"\x81\xfe" + struct.pack("!H", LIMIT + 1)
    assert await closed_with(header_only) == 1009
    assert await closed_with(b"\x81\xff" + struct.pack("!Q", 2**63 - 1)) == 1009


async def test_fragments_over_the_limit_together_are_closed_with_1009() -> None:
    half = b"h" * (LIMIT // 2)
    frames = [frame(TEXT, half, fin=False), frame(CONT, half, fin=False), frame(CONT, b"!")]
    assert await closed_with(*frames) == 1009


async def test_a_message_before_a_close_is_still_delivered() -> None:
    heard: list[bytes] = []

    class Listening(Echo):
        def receive(self, text: bytes, now_s: float) -> None:
            heard.append(text)

    async with open_door(Listening) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        await client.shake_hands()
        await client.stream.send_all(frame(TEXT, b"last") + close_frame(1000))
        assert await client.receive_close() == (1000, b"")
        await client.stream.aclose()
    assert heard == [b"last"]


async def test_nothing_is_delivered_after_the_server_hung_up() -> None:
    heard: list[bytes] = []
    ended: list[int | None] = []

    class HangingUp(Echo):
        def receive(self, text: bytes, now_s: float) -> None:
            heard.append(text)
            self.connection.send(b"last words")
            self.connection.close(4000, "r\u00e9" * 100)
            self.connection.close(4001, "too late")
            self.connection.send(b"too late")
            self.connection.flush()

        def end(self) -> None:
            ended.append(self.connection.close_code)

    async with open_door(HangingUp) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        await client.shake_hands()
        await client.stream.send_all(frame(TEXT, b"one") + frame(TEXT, b"two"))
        assert await client.receive() == (TEXT, b"last words")
        opcode, payload = await client.receive()
        assert opcode == CLOSE
        assert payload[:2] == struct.pack("!H", 4000)
        assert len(payload) <= 125
        payload[2:].decode()
        await client.stream.send_all(frame(TEXT, b"three") + close_frame(4000))
        with pytest.raises(EOFError):
            await client.receive()
        await client.stream.aclose()
    assert heard == [b"one"]
    assert ended == [4000]


async def test_a_peer_that_never_answers_the_close_is_dropped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    class HangingUp(Echo):
        def __init__(self, connection: WebSocketConnection) -> None:
            super().__init__(connection)
            connection.close(4003, "bad token")

    async with open_door(HangingUp) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        await client.shake_hands()
        assert await client.receive() == (CLOSE, struct.pack("!H", 4003) + b"bad token")
        with pytest.raises(EOFError):
            await client.receive()
        assert trio.current_time() == pytest.approx(door.limits.close_timeout_s)
        await client.stream.aclose()


async def test_a_stream_that_just_ends_is_an_abnormal_closure() -> None:
    ended = trio.Event()
    codes: list[int | None] = []

    class Listening(Echo):
        def end(self) -> None:
            codes.append(self.connection.close_code)
            assert not self.connection.is_open
            self.connection.send(b"into the void")
            self.connection.flush()
            self.connection.close(1000, "")
            ended.set()

    async with open_door(Listening) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        await client.shake_hands()
        await client.stream.aclose()
        await ended.wait()
    assert codes == [1006]


@pytest.mark.parametrize("awaited", [False, True], ids=["at once", "awaited"])
async def test_a_crash_of_the_handler_is_told_as_1011_and_harms_nobody_else(awaited: bool) -> None:
    async def crash() -> None:
        await trio.lowlevel.checkpoint()
        raise RuntimeError("asked to")

    class Fragile(Echo):
        def receive(self, text: bytes, now_s: float) -> Awaited | None:
            if text != b"die":
                return super().receive(text, now_s)
            if awaited:
                return crash()
            raise RuntimeError("asked to")

    async with open_door(Fragile) as door, trio.open_nursery() as nursery:
        victim, other = (RawWebSocket(dial(door, nursery)) for _ in range(2))
        for client in (victim, other):
            await client.shake_hands()
        await victim.stream.send_all(frame(TEXT, b"die"))
        assert await victim.receive() == (CLOSE, struct.pack("!H", 1011) + b"internal error")
        await victim.stream.aclose()
        await other.stream.send_all(frame(TEXT, b"alive"))
        assert await other.receive() == (TEXT, b"alive")
        await other.stream.aclose()


async def test_messages_are_queued_until_the_flush_and_then_go_together() -> None:
    class Burst(Echo):
        def __init__(self, connection: WebSocketConnection) -> None:
            super().__init__(connection)
            for number in range(1000):
                connection.send(str(number).encode())
            connection.flush()

    async with open_door(Burst) as door, trio.open_nursery() as nursery:
        client = RawWebSocket(dial(door, nursery))
        await client.shake_hands()
        for number in range(1000):
            assert await client.receive() == (TEXT, str(number).encode())
        await client.stream.aclose()


async def test_a_half_open_peer_is_pinged_and_then_dropped(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with raw_echo() as client:
        opcode, _ = await client.receive()
        assert opcode == PING
        assert 20 <= trio.current_time() <= 30
        with pytest.raises(EOFError):
            await client.receive()
        assert 40 <= trio.current_time() <= 50


async def test_a_peer_that_answers_pings_stays(autojump_clock: trio.testing.MockClock) -> None:
    async with library_echo() as client:
        await trio.sleep(1000)
        await client.send_message("still here")
        assert await client.get_message() == "still here"


async def test_the_other_implementation_agrees_on_messages_and_pings() -> None:
    async with library_echo() as client:
        assert client.subprotocol == "yoked.v1"
        for text in ("", "hello", "\u20ac" * 5000):
            await client.send_message(text)
            assert await client.get_message() == text
        await client.ping(b"are you there")


async def test_the_other_implementation_closes_first() -> None:
    async with library_echo() as client:
        await client.aclose(4321, "bye")
        assert client.closed is not None
        assert client.closed.code == 4321


@pytest.mark.parametrize(
    ("message", "code"), [(b"binary", 1003), ("x" * (LIMIT + 1), 1009)], ids=["binary", "too big"]
)
async def test_the_other_implementation_is_closed_with_a_code(
    message: str | bytes, code: int
) -> None:
    async with library_echo() as client:
        await client.send_message(message)
        with pytest.raises(ConnectionClosed) as caught:
            await client.get_message()
        assert caught.value.reason is not None
        assert caught.value.reason.code == code


def garbage(chance: random.Random) -> bytes:
    """Bytes that are sometimes nearly right."""
    noise = chance.randbytes(chance.randrange(1, 60))
    if chance.random() < 0.5:
        return noise
    parts = []
    for _ in range(chance.randrange(1, 4)):
        whole = frame(
            chance.choice([CONT, TEXT, TEXT, BINARY, CLOSE, PING, PONG, chance.randrange(16)]),
            chance.randbytes(chance.randrange(0, 20)),
            fin=chance.random() < 0.7,
            masked=chance.random() < 0.95,
            rsv=chance.choice([0, 0, 0, 0, chance.randrange(8)]),
        )
        parts.append(whole[: chance.randrange(1, len(whole) + 1)])
    return b"".join(parts)


async def test_ten_thousand_random_byte_strings_only_end_their_own_connections() -> None:
    chance = random.Random(6455)
    async with open_door() as door, trio.open_nursery() as nursery:

        async def connect() -> RawWebSocket:
            client = RawWebSocket(dial(door, nursery))
            await client.shake_hands()
            return client

        witness = await connect()
        for _ in range(100):
            batch = [await connect() for _ in range(100)]
            for client in batch:
                await client.stream.send_all(garbage(chance))
            await trio.testing.wait_all_tasks_blocked()
            for client in batch:
                await client.stream.aclose()
            await trio.testing.wait_all_tasks_blocked()
            await witness.stream.send_all(frame(TEXT, b"well?"))
            assert await witness.receive() == (TEXT, b"well?")
        assert len(door.websockets) == 1
        await witness.stream.aclose()
