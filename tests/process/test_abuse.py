"""Invalid input from clients to one running server: each gets the documented code (R50).

After each test, the same server still matches two normal clients.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from random import Random
from typing import Any, TypeVar, cast

import pytest
import trio

from tests.edge.raw_client import (
    BINARY,
    CLOSE,
    CONT,
    TEXT,
    frame,
    upgrade_request,
)
from tests.process.server import PATIENCE_S, ServerProcess, running_server
from tests.process.visitors import close_code, dial, hello, meet, receive, text, welcomed
from yoked_actor.client import Api, CallRefused, open_client
from yoked_actor.edge.auth import Tokens
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

T = TypeVar("T")
WORKERS = 12


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running_server(tmp_path_factory.mktemp("abused") / "data") as server:
        yield server


@pytest.fixture(autouse=True)
async def still_well(server):
    """Check after each test that the server still works."""
    yield
    with trio.fail_after(PATIENCE_S):
        await meet(server)
    assert server.is_running()
    assert server.starts == 1
    assert "crashed" not in server.log
    assert "session_failed" not in server.log
    assert "Traceback" not in server.log


def expired_token(server: ServerProcess) -> str:
    tokens = Tokens("HS256", (server.data_dir / "dev-secret").read_text())
    return tokens.sign("ana", time.time_ns() // 1000, -5.0)


def foreign_token() -> str:
    return Tokens("HS256", "of quite another server, which we know nothing of").sign(
        "ana", time.time_ns() // 1000, 600.0
    )


BEFORE_HELLO: dict[str, tuple[bytes, int]] = {
    "not JSON": (frame(TEXT, b"hello?"), 4000),
    "half of JSON": (frame(TEXT, b'{"type": "hello", "id": "h", '), 4000),
    "an array": (text(["hello"]), 4000),
    "a number": (text(17), 4000),
    "null": (text(None), 4000),
    "nothing at all": (frame(TEXT, b""), 4000),
    "deep nesting": (frame(TEXT, b"[" * 8000), 4000),
    "deep objects": (frame(TEXT, b'{"a":' * 3000), 4000),
    "a command before hello": (text({"type": "spin", "id": "1"}), 4000),
    "an unknown command": (text({"type": "dance", "id": "1"}), 4000),
    "no type": (text({"id": "1"}), 4000),
    "hello without a token": (text({"type": "hello", "id": "h"}), 4003),
    "hello with an empty token": (hello(""), 4003),
    "hello with half a token": (hello("eyJhbGciOiJIUzI1NiJ9.e30"), 4003),
    "hello with a token of nobody": (hello("a.b.c"), 4003),
    "hello with a foreign token": (hello(foreign_token()), 4003),
    "hello with a huge token": (hello("x" * 15_000), 4003),
    "a binary frame": (frame(BINARY, b"\x00\x01"), 1003),
    "a frame over the limit": (frame(TEXT, b" " * 16_385), 1009),
    "fragments over the limit": (
        frame(TEXT, b" " * 10_000, fin=False) + frame(CONT, b" " * 10_000),
        1009,
    ),
    "text that is not UTF-8": (frame(TEXT, b"\xff\xfe"), 1007),
    "reserved bits": (frame(TEXT, b"{}", rsv=4), 1002),
    "an unmasked frame": (frame(TEXT, b"{}", masked=False), 1002),
    "an unknown opcode": (frame(0x3, b"{}"), 1002),
    "a continuation of nothing": (frame(CONT, b"{}"), 1002),
}


@pytest.mark.parametrize("what", list(BEFORE_HELLO))
async def test_before_hello_is_closed_with_the_documented_code(server, what):
    sent, code = BEFORE_HELLO[what]
    async with dial(server) as raw:
        await raw.stream.send_all(sent)
        assert await close_code(raw) == code


async def test_an_expired_token_is_closed_with_4003_and_refused_with_401(server):
    token = expired_token(server)
    async with dial(server) as raw:
        await raw.stream.send_all(hello(token))
        assert await close_code(raw) == 4003
    with pytest.raises(CallRefused) as refused:
        await Api(server.url, token).call("POST", "/api/spin")
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")


AFTER_HELLO: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown type": ({"type": "dance"}, "bad_request"),
    "no type": ({}, "bad_request"),
    "a type that is a number": ({"type": 7}, "bad_request"),
    "an acknowledge without a match": ({"type": "acknowledge"}, "bad_request"),
    "an acknowledge of no match": ({"type": "acknowledge", "match_id": "m999"}, "unknown_match"),
    "an acknowledge of nonsense": ({"type": "acknowledge", "match_id": "🂡"}, "unknown_match"),
    "an empty match id": ({"type": "acknowledge", "match_id": ""}, "bad_request"),
    "a long match id": ({"type": "acknowledge", "match_id": "m" * 65}, "bad_request"),
    "a vote on no match": ({"type": "vote", "match_id": "m1", "vote": "yes"}, "unknown_match"),
    "a vote of maybe": ({"type": "vote", "match_id": "m1", "vote": "maybe"}, "bad_request"),
    "a vote of idle": ({"type": "vote", "match_id": "m1", "vote": "idle"}, "bad_request"),
    "an end of no date": ({"type": "end_date", "date_id": "d999"}, "not_found"),
    "leaving without waiting": ({"type": "leave"}, "wrong_state"),
    "a second hello": ({"type": "hello", "token": "a.b.c"}, "wrong_state"),
    "a block of oneself": ({"type": "block", "user_id": "mallory"}, "bad_request"),
    "a block of nobody": ({"type": "block", "user_id": "no such id!"}, "bad_request"),
    "a report without a reason": ({"type": "report", "user_id": "ana"}, "bad_request"),
    "a report of a novel": (
        {"type": "report", "user_id": "ana", "reason": "x" * 5000},
        "bad_request",
    ),
}


async def test_after_hello_every_mistake_gets_its_code_and_changes_nothing(server):
    async with welcomed(server, "mallory") as raw:
        for what, (command, code) in AFTER_HELLO.items():
            await raw.stream.send_all(text({"id": what[:64]} | command))
            reply = await receive(raw)
            assert reply["type"] == "error", what
            assert (reply["re"], reply["code"]) == (what[:64], code), what
            assert reply["message"], what
        for bad_id in (None, 7, "", "x" * 65, ["a"]):
            await raw.stream.send_all(text({"type": "spin", "id": bad_id}))
            reply = await receive(raw)
            assert (reply["type"], reply["re"], reply["code"]) == ("error", None, "bad_request")
        await raw.stream.send_all(text({"type": "spin"}))
        assert (await receive(raw))["re"] is None
        token = await Api(server.url).login("mallory")
        assert (await Api(server.url, token).call("GET", "/api/match/status"))["state"] == "idle"
        await raw.stream.send_all(frame(TEXT, b"]["))
        assert await close_code(raw) == 4000


async def test_a_spin_without_a_profile_is_refused(server):
    token = await Api(server.url).login("nobody-yet")
    async with open_client(server.url, token) as client:
        with pytest.raises(Exception, match="profile_incomplete"):
            await client.spin()


async def test_a_match_of_others_is_unknown(server):
    async with (
        welcomed(server, "ida", gender="woman", seeking=["man"]) as ida,
        welcomed(server, "jon", gender="man", seeking=["woman"]) as jon,
        welcomed(server, "eve") as eve,
    ):
        for raw in (ida, jon):
            await raw.stream.send_all(text({"type": "spin", "id": "s"}))
        while (told := await receive(jon))["type"] != "matched":
            pass
        match_id = told["match_id"]
        for command in ("acknowledge", "vote"):
            attempt = {"type": command, "id": command, "match_id": match_id, "vote": "yes"}
            await eve.stream.send_all(text(attempt))
            assert (await receive(eve))["code"] == "unknown_match"
        await jon.stream.send_all(text({"type": "leave", "id": "l"}))
        await ida.stream.send_all(text({"type": "leave", "id": "l"}))
        for raw in (ida, jon):
            while (await receive(raw)).get("re") != "l":
                pass


async def test_too_many_commands_are_refused_and_too_many_frames_closed_with_4009(server):
    async with welcomed(server, "flood") as raw:
        beats = b"".join(text({"type": "heartbeat", "id": f"b{n}"}) for n in range(400))
        await raw.stream.send_all(beats)
        replies: Counter[str] = Counter()
        while True:
            opcode, payload = await raw.receive()
            if opcode == CLOSE:
                break
            message = json.loads(payload)
            replies[message.get("code", message["type"])] += 1
        assert int.from_bytes(payload[:2]) == 4009
        assert replies["ok"] >= 90
        assert replies["rate_limited"] > 0
        assert set(replies) == {"ok", "rate_limited"}


async def test_a_newer_device_replaces_the_older_with_4001(server):
    async with welcomed(server, "twice") as first, welcomed(server, "twice"):
        assert await close_code(first) == 4001


GOOD = make_profile("Ana")
CALLS: dict[str, tuple[str, str, Any, int, str]] = {
    "a body that is not JSON": ("POST", "/api/vote", b"yes!", 400, "bad_request"),
    "no body": ("POST", "/api/vote", None, 400, "bad_request"),
    "a body of another shape": ("POST", "/api/vote", ["m1"], 400, "bad_request"),
    "deep nesting": ("POST", "/api/vote", b"[" * 10_000, 400, "bad_request"),
    "an oversized body": ("POST", "/api/vote", b" " * 20_000, 413, "too_large"),
    "a vote on no match": (
        "POST",
        "/api/vote",
        {"match_id": "m1", "vote": "yes"},
        404,
        "unknown_match",
    ),
    "an acknowledge of no match": (
        *("POST", "/api/match/acknowledge", {"match_id": "m1"}),
        *(404, "unknown_match"),
    ),
    "leaving without waiting": ("POST", "/api/leave", None, 409, "wrong_state"),
    "an unknown path": ("GET", "/nothing/here", None, 404, "not_found"),
    "a wrong method": ("DELETE", "/api/spin", None, 405, "bad_request"),
    "an unblock of nobody": ("DELETE", "/api/blocks/nobody", None, 404, "not_found"),
    "a block of oneself": ("POST", "/api/blocks", {"user_id": "http"}, 400, "bad_request"),
    "a child": ("PUT", "/api/profile", GOOD | {"birth_date": "2020-01-01"}, 422, "underage"),
    "nowhere": (
        *("PUT", "/api/profile", GOOD | {"location": {"lat": 95.0, "lon": 0.0}}),
        *(400, "bad_request"),
    ),
    "no such time": (
        "PUT",
        "/api/profile",
        GOOD | {"time_zone": "Mars/Olympus"},
        400,
        "bad_request",
    ),
    "no such gender": ("PUT", "/api/profile", GOOD | {"gender": "robot"}, 400, "bad_request"),
}


async def test_every_bad_call_gets_its_status_and_code(server):
    token = await Api(server.url).login("http", GOOD)
    api = Api(server.url, token)
    for what, (method, path, body, status, code) in CALLS.items():
        answer = await api.request(method, path, body)
        assert answer.headers["content-type"] == "application/problem+json", what
        problem = answer.json()
        assert (answer.status, problem["status"], problem["code"]) == (status, status, code), what
        assert problem["title"], what
        assert problem["detail"], what
    for bad in (None, "nonsense", "a.b.c", foreign_token()):
        answer = await Api(server.url, bad).request("GET", "/api/match/status")
        assert (answer.status, answer.json()["code"]) == (401, "unauthorized")
    assert (await api.call("GET", "/api/match/status"))["state"] == "idle"
    assert await api.call("GET", "/api/profile") == GOOD


def byte_strings(seed: int, number: int) -> Iterable[bytes]:
    random = Random(seed)
    for _ in range(number):
        yield random.randbytes(int(random.expovariate(1 / 60)) + 1)


async def for_each(items: Iterable[T], act: Callable[[T], Awaitable[None]]) -> None:
    """Call the function with every item, several at a time."""
    remaining = iter(items)

    async def work() -> None:
        for item in remaining:
            await act(item)

    async with trio.open_nursery() as nursery:
        for _ in range(WORKERS):
            nursery.start_soon(work)


async def test_three_thousand_byte_strings_instead_of_frames(server):
    codes: Counter[int | None] = Counter()

    async def send(garbage: bytes) -> None:
        async with dial(server) as raw:
            await raw.stream.send_all(garbage)
            await cast(trio.SocketStream, raw.stream).send_eof()
            codes[await close_code(raw)] += 1

    await for_each(byte_strings(1, 3000), send)
    # Closed without a code if only the beginning of a frame was sent.
    assert set(codes) <= {None, 1002, 1003, 1007, 1009, 4000}
    assert codes[1002] > 2000


async def test_three_thousand_byte_strings_as_messages(server):
    async def send(garbage: bytes) -> None:
        try:
            garbage.decode()
        except UnicodeDecodeError:
            expected = 1007
        else:
            expected = 4000
        async with dial(server) as raw:
            await raw.stream.send_all(frame(TEXT, garbage))
            assert await close_code(raw) == expected, garbage

    latin = (garbage.hex().encode() for garbage in byte_strings(3, 1500))
    await for_each((*byte_strings(2, 1500), *latin), send)


async def test_three_thousand_byte_strings_instead_of_requests(server):
    statuses: Counter[bytes] = Counter()

    async def send(garbage: bytes) -> None:
        stream = await trio.open_tcp_stream("127.0.0.1", server.port)
        async with stream:
            with trio.fail_after(PATIENCE_S):
                await stream.send_all(garbage + b"\r\n\r\n")
                await stream.send_eof()
                answer = b""
                try:
                    async for data in stream:
                        answer += data
                except trio.BrokenResourceError:
                    pass
        statuses[answer[:12]] += 1

    def almost_requests() -> Iterable[bytes]:
        for garbage in byte_strings(5, 1000):
            yield b"GET /" + garbage
            yield upgrade_request().replace(b"\r\n\r\n", b"\r\nx-" + garbage)

    await for_each((*byte_strings(4, 1000), *almost_requests()), send)
    assert set(statuses) <= {b"", b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 101"}
    assert statuses[b"HTTP/1.1 400"] > 2000


async def test_a_thousand_byte_strings_as_bodies(server):
    async def post(garbage: bytes) -> None:
        answer = await Api(server.url).request("POST", "/api/dev/login", garbage)
        assert (answer.status, answer.json()["code"]) == (400, "bad_request"), garbage

    with trio.fail_after(PATIENCE_S):
        await for_each(byte_strings(6, 1000), post)
