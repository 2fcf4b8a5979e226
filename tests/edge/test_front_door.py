"""One port for everything: who gets in, who serves them, and what nobody can break."""

from __future__ import annotations

import errno
import os
import random
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import trio
import trio.testing
import trustme
from quart_trio import QuartTrio
from trio_websocket import open_websocket_url

from tests.edge.raw_client import (
    CLOSE,
    LOCAL,
    TEXT,
    Echo,
    HttpClient,
    RawWebSocket,
    close_frame,
    dial,
    frame,
    open_door,
    small_app,
    upgrade_request,
)
from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.net import EdgeLimits, SilentObserver
from yoked_actor.edge.ws import WebSocketConnection

pytestmark = pytest.mark.usefixtures("both_paths")


class Counts(SilentObserver):
    """Counts arrivals, departures and refusals."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.refused: list[str] = []

    def connection_opened(self, kind: str) -> None:
        self.opened.append(kind)

    def connection_closed(self, kind: str) -> None:
        self.closed.append(kind)

    def connection_refused(self, reason: str) -> None:
        self.refused.append(reason)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock


async def connect(listener: socket.socket) -> trio.SocketStream:
    host, port = listener.getsockname()
    return await trio.open_tcp_stream(host, port)


async def read_to_end(stream: trio.abc.ReceiveStream) -> bytes:
    data = b""
    try:
        while more := await stream.receive_some():
            data += more
    except trio.BrokenResourceError:
        pass
    return data


async def everyone_gone(door: FrontDoor) -> None:
    """Wait until the door has noticed that its clients left."""
    while door.open_connections:
        await trio.testing.wait_all_tasks_blocked(0.001)


async def test_http_and_websocket_share_the_port(listener: socket.socket) -> None:
    counts = Counts()
    async with open_door(listeners=[listener], observer=counts):
        port = listener.getsockname()[1]
        async with open_websocket_url(f"ws://127.0.0.1:{port}/ws", subprotocols=["yoked.v1"]) as ws:
            await ws.send_message("over the socket")
            assert await ws.get_message() == "over the socket"
            async with await connect(listener) as stream:
                status, body = await HttpClient(stream).get("/hello")
                assert (status, body) == (200, b"hello over http from 127.0.0.1")
    assert sorted(counts.opened) == ["http", "websocket"]
    assert sorted(counts.closed) == ["http", "websocket"]


async def test_a_kept_alive_connection_answers_many_requests(listener: socket.socket) -> None:
    async with open_door(listeners=[listener]), await connect(listener) as stream:
        client = HttpClient(stream)
        for _ in range(5):
            assert (await client.get("/hello"))[0] == 200
        assert (await client.get("/nowhere"))[0] == 404
        assert (await client.get("/crash"))[0] == 500


async def test_pipelined_requests_are_answered_in_turn() -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        request = b"GET /hello HTTP/1.1\r\nHost: yoked.test\r\n"
        await stream.send_all(
            request + b"\r\n" + request + b"\r\n" + request + b"Connection: close\r\n\r\n"
        )
        assert (await read_to_end(stream)).count(b"HTTP/1.1 200") == 3
        await stream.aclose()


@pytest.mark.parametrize("where", ["memory", "socket"])
async def test_connection_close_closes(listener: socket.socket, where: str) -> None:
    async with open_door(listeners=[listener]) as door, trio.open_nursery() as nursery:
        stream: trio.abc.Stream
        stream = dial(door, nursery) if where == "memory" else await connect(listener)
        with trio.fail_after(5):
            status, _ = await HttpClient(stream).get("/hello", connection="close")
            assert status == 200
            assert await read_to_end(stream) == b""
            await stream.aclose()
            await everyone_gone(door)


async def test_a_body_may_come_in_many_packets() -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        client = HttpClient(stream)
        head = await client.start_post("/size", 3000)
        for packet in (head[:10], head[10:] + client.body(b"a" * 1000, last=False)):
            await stream.send_all(packet)
            await trio.testing.wait_all_tasks_blocked()
        await stream.send_all(client.body(b"b" * 1000, last=False))
        await trio.testing.wait_all_tasks_blocked()
        await stream.send_all(client.body(b"c" * 1000, last=True))
        assert await client.response() == (200, b"3000")
        assert (await client.get("/hello"))[0] == 200
        await stream.aclose()


async def test_a_large_response_arrives_whole(listener: socket.socket) -> None:
    async with open_door(listeners=[listener]), await connect(listener) as stream:
        with trio.fail_after(10):
            status, body = await HttpClient(stream).get("/large")
        assert (status, len(body)) == (200, 8_000_000)


async def test_a_frame_in_the_packet_of_the_handshake_is_not_lost(
    listener: socket.socket,
) -> None:
    async with open_door(listeners=[listener]), await connect(listener) as stream:
        client = RawWebSocket(stream)
        assert b" 101 " in await client.shake_hands(also=frame(TEXT, b"eager"))
        assert await client.receive() == (TEXT, b"eager")


async def test_a_handshake_that_comes_byte_by_byte_is_read() -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        for byte in upgrade_request():
            await stream.send_all(bytes([byte]))
            await trio.testing.wait_all_tasks_blocked()
        assert b" 101 " in await RawWebSocket(stream).read_head()
        await stream.aclose()


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"\x16\x03\x01\x02\x00 this is TLS", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"hello\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 20_000, 431),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
        (upgrade_request("/elsewhere"), 404),
        (upgrade_request(origin="http://evil.example"), 403),
        (upgrade_request(content_length="3") + b"abc", 400),
        (upgrade_request(content_length="3"), 400),
        (upgrade_request(upgrade=None), 426),
    ],
)
async def test_what_cannot_be_served_gets_a_plain_answer_and_the_end(
    request_bytes: bytes, status: int
) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await stream.send_all(request_bytes)
        answer = await read_to_end(stream)
        assert answer.startswith(b"HTTP/1.1 %d " % status)
        await stream.aclose()


@pytest.mark.parametrize("sent", [b"", b"GET /ws HTTP/1.1\r\nHost: yo"])
async def test_a_client_that_does_not_finish_its_request_is_dropped(
    autojump_clock: trio.testing.MockClock, sent: bytes
) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        if sent:
            await stream.send_all(sent)
        assert await read_to_end(stream) == b""
        assert trio.current_time() == pytest.approx(door.limits.handshake_timeout_s)
        await stream.aclose()


async def test_an_idle_http_connection_is_closed(autojump_clock: trio.testing.MockClock) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await HttpClient(stream).get("/hello")
        await read_to_end(stream)
        assert trio.current_time() == pytest.approx(door.limits.http_keep_alive_s)
        await stream.aclose()


async def test_after_a_stall_a_request_that_has_arrived_is_answered(
    listener: socket.socket, mock_clock: trio.testing.MockClock
) -> None:
    """The process slept past the keep-alive time, and the next request came meanwhile."""
    async with open_door(listeners=[listener]) as door:
        for _ in range(20):  # trio runs the timer and the reader in random order
            async with await connect(listener) as stream:
                assert (await HttpClient(stream).get("/hello"))[0] == 200
                await trio.testing.wait_all_tasks_blocked()
                request = b"GET /hello HTTP/1.1\r\nHost: yoked.test\r\n\r\n"
                with socket.socket(fileno=os.dup(stream.socket.fileno())) as raw:
                    raw.send(request)
                mock_clock.jump(door.limits.http_keep_alive_s + 1)
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")


async def test_half_a_request_after_a_stall_does_not_keep_the_connection(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await HttpClient(stream).get("/hello")
        await trio.sleep(door.limits.http_keep_alive_s - 0.001)
        await stream.send_all(b"GET /hello HT")
        assert await read_to_end(stream) == b""
        assert trio.current_time() <= 2 * door.limits.http_keep_alive_s + 0.001
        await stream.aclose()


async def test_an_upgrade_on_a_used_connection_is_refused() -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await HttpClient(stream).get("/hello")
        await stream.send_all(upgrade_request())
        assert b" 400 " in await RawWebSocket(stream).read_head()
        await stream.aclose()


H2_SETTINGS = "HTTP2-Settings: AAMAAABkAAQAAP__"
H2C_UPGRADES = {
    "as the RFC says": ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", H2_SETTINGS),
    "in capitals": ("UPGRADE: H2C", "CONNECTION: UPGRADE, HTTP2-SETTINGS", H2_SETTINGS),
    "settings first": (H2_SETTINGS, "upgrade: H2c", "connection: http2-settings, upgrade"),
    "without connection": ("Upgrade: h2c",),
    "after another": ("Connection: Upgrade", "Upgrade: foo", "Upgrade: h2c", H2_SETTINGS),
    "over TLS": ("Connection: Upgrade", "Upgrade: h2", H2_SETTINGS),
    "in a list": ("Connection: Upgrade", "Upgrade: foo, h2c", H2_SETTINGS),
}
H2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
H2_EMPTY_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"


def plain_request(*lines: str, target: str = "/hello") -> bytes:
    head = [f"GET {target} HTTP/1.1", "Host: yoked.test", *lines]
    return "\r\n".join([*head, "", ""]).encode()


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("form", H2C_UPGRADES)
async def test_an_upgrade_to_http2_is_answered_over_http1(form: str, is_first: bool) -> None:
    with trio.fail_after(5):
        async with open_door() as door, trio.open_nursery() as nursery:
            stream = dial(door, nursery)
            if not is_first:
                assert (await HttpClient(stream).get("/hello"))[0] == 200
            await stream.send_all(plain_request(*H2C_UPGRADES[form]))
            assert await HttpClient(stream).response_to_get() == (
                200,
                b"hello over http from 127.0.0.1",
            )
            # What comes next is read as HTTP/1.1 again, not as frames.
            await stream.send_all(H2_PREFACE + H2_EMPTY_SETTINGS)
            assert (await read_to_end(stream)).startswith(b"HTTP/1.1 505 ")
            await stream.aclose()
            await everyone_gone(door)


@pytest.mark.parametrize("version", ["2.0", "1.2", "0.9", "3.0"])
@pytest.mark.parametrize("method", ["PRI *", "GET /hello", "GET /ws"])
async def test_another_version_of_http_ends_a_kept_alive_connection(
    version: str, method: str
) -> None:
    with trio.fail_after(5):
        async with open_door() as door, trio.open_nursery() as nursery:
            stream = dial(door, nursery)
            assert (await HttpClient(stream).get("/hello"))[0] == 200
            await stream.send_all(f"{method} HTTP/{version}\r\nHost: a\r\n\r\nSM\r\n\r\n".encode())
            answer = await read_to_end(stream)
            assert answer.startswith(b"HTTP/1.1 505 ")
            assert answer.count(b"HTTP/1.1 ") == 1
            await stream.aclose()
            await everyone_gone(door)


async def test_a_preface_behind_a_request_in_one_packet_is_refused() -> None:
    with trio.fail_after(5):
        async with open_door() as door, trio.open_nursery() as nursery:
            stream = dial(door, nursery)
            await stream.send_all(plain_request() + H2_PREFACE + H2_EMPTY_SETTINGS)
            answers = await read_to_end(stream)
            assert answers.startswith(b"HTTP/1.1 200 ")
            assert b"HTTP/1.1 505 " in answers
            await stream.aclose()
            await everyone_gone(door)


@pytest.mark.parametrize("target", ["?x=1", "hello", "ftp://yoked.test/hello", "#x", "%2f"])
@pytest.mark.parametrize("is_first", [True, False])
async def test_a_target_without_a_path_is_refused(target: str, is_first: bool) -> None:
    with trio.fail_after(5):
        async with open_door() as door, trio.open_nursery() as nursery:
            stream = dial(door, nursery)
            if not is_first:
                assert (await HttpClient(stream).get("/hello"))[0] == 200
            await stream.send_all(plain_request(target=target))
            assert (await read_to_end(stream)).startswith(b"HTTP/1.1 400 ")
            await stream.aclose()


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("transfer-encoding: CHUNKED", "content-length: 5"),
    ],
)
async def test_a_body_of_two_lengths_is_refused(is_first: bool, lines: tuple[str, ...]) -> None:
    with trio.fail_after(5):
        async with open_door() as door, trio.open_nursery() as nursery:
            stream = dial(door, nursery)
            if not is_first:
                assert (await HttpClient(stream).get("/hello"))[0] == 200
            head = ["POST /size HTTP/1.1", "Host: yoked.test", *lines, "", ""]
            await stream.send_all("\r\n".join(head).encode() + b"0\r\n\r\n" + plain_request())
            answer = await read_to_end(stream)
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert answer.count(b"HTTP/1.1 ") == 1
            await stream.aclose()
            await everyone_gone(door)


async def test_a_draining_door_refuses_websockets_and_still_serves_http() -> None:
    counts = Counts()
    async with open_door(observer=counts) as door, trio.open_nursery() as nursery:
        door.drain()
        refused = dial(door, nursery)
        await refused.send_all(upgrade_request())
        assert (await read_to_end(refused)).startswith(b"HTTP/1.1 503 ")
        await refused.aclose()
        served = dial(door, nursery)
        assert (await HttpClient(served).get("/hello"))[0] == 200
        await served.aclose()
    assert counts.refused == ["draining"]


async def test_stopping_says_goodbye_and_returns(listener: socket.socket) -> None:
    door = FrontDoor(small_app(), Echo)
    async with trio.open_nursery() as nursery:
        await nursery.start(door.serve, [listener])
        async with await connect(listener) as first, await connect(listener) as second:
            client = RawWebSocket(first)
            await client.shake_hands()
            await HttpClient(second).get("/hello")
            with trio.fail_after(5):
                door.stop(grace_s=4)
                assert await client.receive() == (CLOSE, struct.pack("!H", 1001) + b"going away")
                await first.send_all(close_frame(1001))
                assert await read_to_end(first) == b""
                assert await read_to_end(second) == b""
    assert door.open_connections == 0
    assert listener.fileno() == -1


async def test_stopping_does_not_wait_for_who_does_not_read(listener: socket.socket) -> None:
    door = FrontDoor(small_app(), Echo, EdgeLimits(send_buffer_bytes=8192))
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            await nursery.start(door.serve, [listener])
            stuck = await connect(listener)
            await stuck.send_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            await stuck.receive_some(1)
            door.stop(grace_s=0.1)
    assert door.open_connections == 0
    await stuck.aclose()


async def test_a_response_that_nobody_reads_is_given_up(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async with open_door() as door, trio.open_nursery() as nursery:
        ours, theirs = trio.testing.lockstep_stream_pair()
        nursery.start_soon(door.serve_stream, theirs, LOCAL)
        await ours.send_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        await ours.receive_some(1000)
        await trio.sleep(door.limits.http_stall_timeout_s + 1)
        assert door.open_connections == 0
        await ours.aclose()


async def test_a_streamed_body_stops_when_its_reader_is_gone() -> None:
    app = QuartTrio("streaming")
    stopped = trio.Event()

    @app.get("/ticks")
    async def ticks() -> Any:
        async def body() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"tick\n"
                    await trio.sleep(0.001)
            finally:
                stopped.set()

        return body(), 200

    async with open_door(app=app) as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await stream.send_all(b"GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")
        await stream.receive_some()
        await stream.aclose()
        with trio.fail_after(5):
            await stopped.wait()


async def test_a_handler_at_work_is_not_cancelled_when_its_client_goes() -> None:
    app = QuartTrio("working")
    begun, go_on, done = trio.Event(), trio.Event(), trio.Event()

    @app.post("/work")
    async def work() -> str:
        begun.set()
        await go_on.wait()
        done.set()
        return "done"

    async with open_door(app=app) as door, trio.open_nursery() as nursery:
        stream = dial(door, nursery)
        await stream.send_all(b"POST /work HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
        await begun.wait()
        await stream.aclose()
        await trio.testing.wait_all_tasks_blocked()
        go_on.set()
        with trio.fail_after(5):
            await done.wait()


async def test_arrivals_from_one_address_are_limited(
    autojump_clock: trio.testing.MockClock,
) -> None:
    limits = EdgeLimits(connections_per_s=1, connection_burst=2)
    counts = Counts()
    async with open_door(limits=limits, observer=counts) as door, trio.open_nursery() as nursery:

        async def answer(host: str) -> bytes:
            stream = dial(door, nursery, (host, 1))
            await stream.send_all(b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            data = await read_to_end(stream)
            await stream.aclose()
            return data[9:12]

        assert [await answer("192.0.2.7") for _ in range(3)] == [b"200", b"200", b"429"]
        assert await answer("192.0.2.8") == b"200"
        assert [await answer("127.0.0.1") for _ in range(5)] == [b"200"] * 5
        await trio.sleep(1)
        assert await answer("192.0.2.7") == b"200"
    assert counts.refused == ["rate"]


async def test_the_number_of_connections_is_bounded(listener: socket.socket) -> None:
    limits = EdgeLimits(max_connections=1)
    async with open_door(limits=limits, listeners=[listener]) as door:
        async with await connect(listener) as first:
            await RawWebSocket(first).shake_hands()
            async with await connect(listener) as second:
                assert (await read_to_end(second)).startswith(b"HTTP/1.1 503 ")
        with trio.fail_after(5):
            await everyone_gone(door)
        async with await connect(listener) as third:
            assert (await HttpClient(third).get("/hello"))[0] == 200


class StarvedListener(socket.socket):
    """A listener on a machine that has run out of file descriptors for a while."""

    failures = 3

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_running_out_of_file_descriptors_is_survived() -> None:
    with StarvedListener() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        limits = EdgeLimits(accept_pause_s=0.01)
        async with open_door(limits=limits, listeners=[listener]):
            async with await connect(listener) as stream:
                assert (await HttpClient(stream).get("/hello"))[0] == 200
            assert listener.failures == 0


async def test_a_crash_on_one_connection_leaves_the_others_alone() -> None:
    def fragile(connection: WebSocketConnection) -> Echo:
        if connection.peer == "192.0.2.66":
            raise RuntimeError("asked to")
        return Echo(connection)

    async with open_door(fragile) as door, trio.open_nursery() as nursery:
        other = RawWebSocket(dial(door, nursery))
        await other.shake_hands()
        victim = dial(door, nursery, ("192.0.2.66", 1))
        await victim.send_all(upgrade_request())
        await read_to_end(victim)
        await other.stream.send_all(frame(TEXT, b"alive"))
        assert await other.receive() == (TEXT, b"alive")
        await other.stream.aclose()
        await victim.aclose()


async def test_a_door_that_is_not_open_serves_nobody() -> None:
    ours, _ = trio.testing.memory_stream_pair()
    with pytest.raises(RuntimeError, match="not being served"):
        await FrontDoor(small_app(), Echo).serve_stream(ours, LOCAL)


async def test_the_app_is_started_and_shut_down() -> None:
    app = small_app()
    happened: list[str] = []

    @app.before_serving
    async def start() -> None:
        happened.append("started")

    @app.after_serving
    async def end() -> None:
        happened.append("ended")

    door = FrontDoor(app, Echo)
    async with trio.open_nursery() as nursery:
        await nursery.start(door.serve)
        assert happened == ["started"]
        door.stop(grace_s=1)
    assert happened == ["started", "ended"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(context)
    return context


@pytest.fixture
def client_tls(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    context.set_alpn_protocols(["h2", "http/1.1"])
    return context


async def open_tls(listener: socket.socket, context: ssl.SSLContext) -> Any:
    stream = trio.SSLStream(await connect(listener), context, server_hostname="localhost")
    await stream.do_handshake()
    return stream


async def test_http_is_served_over_tls(
    listener: socket.socket, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with open_door(listeners=[listener], ssl_context=server_tls) as door:
        async with await open_tls(listener, client_tls) as stream:
            assert stream.selected_alpn_protocol() == "http/1.1"
            client = HttpClient(stream)
            assert await client.get("/hello") == (200, b"hello over https from 127.0.0.1")
            status, _ = await client.get("/hello", connection="close")
            assert status == 200
            with trio.fail_after(5):
                assert await read_to_end(stream) == b""
        with trio.fail_after(5):
            await everyone_gone(door)


async def test_http2_is_not_to_be_had_over_tls(
    listener: socket.socket, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    client_tls.set_alpn_protocols(["h2"])
    with trio.fail_after(5):
        async with open_door(listeners=[listener], ssl_context=server_tls) as door:
            async with await open_tls(listener, client_tls) as stream:
                assert stream.selected_alpn_protocol() is None
                await stream.send_all(H2_PREFACE + H2_EMPTY_SETTINGS)
                assert (await read_to_end(stream)).startswith(b"HTTP/1.1 505 ")
            async with await open_tls(listener, client_tls) as stream:
                for lines in H2C_UPGRADES.values():
                    await stream.send_all(plain_request(*lines))
                    assert (await HttpClient(stream).response_to_get())[0] == 200
                await stream.send_all(H2_PREFACE + H2_EMPTY_SETTINGS)
                assert (await read_to_end(stream)).startswith(b"HTTP/1.1 505 ")
            await everyone_gone(door)


async def test_websockets_are_served_over_tls(
    listener: socket.socket, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    ended = trio.Event()

    class Tracked(Echo):
        def end(self) -> None:
            ended.set()

    async with open_door(Tracked, listeners=[listener], ssl_context=server_tls):
        url = f"wss://localhost:{listener.getsockname()[1]}/ws"
        async with open_websocket_url(url, client_tls, subprotocols=["yoked.v1"]) as ws:
            for text in ("hello", "x" * 16_000):
                await ws.send_message(text)
                assert await ws.get_message() == text
            with trio.fail_after(5):
                await ws.aclose(1000, "bye")
                await ended.wait()


async def test_what_is_not_tls_on_a_tls_port_only_ends_itself(
    listener: socket.socket, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    async with open_door(listeners=[listener], ssl_context=server_tls) as door:
        async with await connect(listener) as stream:
            await stream.send_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            with trio.fail_after(5):
                await read_to_end(stream)
        async with await open_tls(listener, client_tls) as stream:
            assert (await HttpClient(stream).get("/hello"))[0] == 200
        with trio.fail_after(5):
            await everyone_gone(door)


def garbage(chance: random.Random) -> bytes:
    """A request after an accident, or no request at all."""
    if chance.random() < 0.4:
        return chance.randbytes(chance.randrange(1, 100))
    whole = bytearray(
        upgrade_request() if chance.random() < 0.7 else b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    )
    for _ in range(chance.randrange(1, 6)):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return bytes(whole[: chance.randrange(1, len(whole) + 1)]) + chance.randbytes(
        chance.choice([0, 0, 30])
    )


async def test_ten_thousand_random_byte_strings_leave_the_door_standing() -> None:
    chance = random.Random(2616)
    async with open_door() as door, trio.open_nursery() as nursery:
        witness = RawWebSocket(dial(door, nursery))
        await witness.shake_hands()
        for _ in range(50):
            batch = [dial(door, nursery) for _ in range(200)]
            for stream in batch:
                await stream.send_all(garbage(chance))
            await trio.testing.wait_all_tasks_blocked()
            for stream in batch:
                await stream.aclose()
            await trio.testing.wait_all_tasks_blocked()
            await witness.stream.send_all(frame(TEXT, b"well?"))
            assert await witness.receive() == (TEXT, b"well?")
        served = dial(door, nursery)
        assert (await HttpClient(served).get("/hello"))[0] == 200
        await served.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert door.open_connections == 1
        await witness.stream.aclose()
