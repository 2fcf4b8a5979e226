"""Silent, half-open and slow clients are disconnected, and other clients are not affected."""

from __future__ import annotations

import socket
from collections import Counter

import pytest
import trio

from tests.edge.raw_client import RawWebSocket, upgrade_request
from tests.process.server import PATIENCE_S, ServerProcess, running_server
from tests.process.visitors import close_code, dial, hello, meet, metric, text, welcomed
from yoked_actor.client import Api
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

SILENT = 500
HALF_OPEN = 30
UNFINISHED = 30
SLOW = 5


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(
        tmp_path_factory.mktemp("crowded") / "data",
        edge__hello_timeout_s=4,
        edge__handshake_timeout_s=4,
        edge__ping_interval_s=2,
        edge__ping_timeout_s=2,
        # Small buffers, so that few replies fill them, and no rate limit.
        edge__send_buffer_bytes=4096,
        edge__max_buffered_bytes=16384,
        edge__commands_per_s=100_000,
        edge__commands_burst=100_000,
        edge__frames_per_s=100_000,
        edge__frames_burst=100_000,
    ) as server:
        yield server


async def open_shallow_stream(server: ServerProcess) -> trio.SocketStream:
    """A connection with a small receive buffer, for a client that does not read."""
    sock = trio.socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    await sock.connect(("127.0.0.1", server.port))
    return trio.SocketStream(sock)


async def test_five_hundred_sockets_without_hello_are_closed_with_4000(server):
    codes: Counter[int | None] = Counter()

    async def say_nothing() -> None:
        async with dial(server) as raw:
            everybody.append(raw)
            codes[await close_code(raw)] += 1

    everybody: list[RawWebSocket] = []
    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for _ in range(SILENT):
                nursery.start_soon(say_nothing)
            await meet(server)
    assert codes == {4000: SILENT}
    await meet(server)


async def test_requests_that_never_end_are_cut_off(server):
    ended: Counter[bytes] = Counter()

    async def dawdle(number: int) -> None:
        async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
            await stream.send_all(upgrade_request()[: 1 + number * 3])
            answer = b""
            async for data in stream:
                answer += data
            ended[answer] += 1

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for number in range(UNFINISHED):
                nursery.start_soon(dawdle, number)
            await meet(server)
    assert ended == {b"": UNFINISHED}


async def test_half_open_peers_are_dropped_and_can_reconnect(server):
    async def vanish(number: int) -> None:
        async with welcomed(server, f"gone{number}") as raw:
            # Reads like a kernel would, but answers no ping: the peer is gone.
            await close_code(raw)

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for number in range(HALF_OPEN):
                nursery.start_soon(vanish, number)
            await meet(server)
        assert await metric(server, "yoked_silent_peers_total") >= HALF_OPEN
        async with welcomed(server, "gone0"):
            pass


async def test_slow_readers_are_closed_with_4008_and_others_are_not_affected(server):
    codes: Counter[int | None] = Counter()

    async def ask_and_never_listen(number: int) -> None:
        token = await Api(server.url).login(f"slow{number}", make_profile("Slow"))
        async with await open_shallow_stream(server) as stream:
            raw = RawWebSocket(stream)
            await raw.shake_hands(hello(token))
            beats = 0
            while await metric(server, "yoked_slow_readers_total") < SLOW:
                if beats < 1200:
                    await stream.send_all(
                        b"".join(
                            text({"type": "heartbeat", "id": f"b{beats + n}"}) for n in range(100)
                        )
                    )
                    beats += 100
            codes[await close_code(raw)] += 1

    with trio.fail_after(PATIENCE_S):
        async with trio.open_nursery() as nursery:
            for number in range(SLOW):
                nursery.start_soon(ask_and_never_listen, number)
            await meet(server)
            await meet(server)
    assert codes == {4008: SLOW}
    await meet(server)
