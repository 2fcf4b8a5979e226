"""Which pages may speak to the server, by which names it answers, and what it says over TLS."""

from __future__ import annotations

import re
import ssl
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
import trio
import trustme
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from trio.testing import MockClock

from tests.edge.raw_client import HttpClient, upgrade_request
from yoked_actor.actors.clock import Clock
from yoked_actor.app.server import Server, open_server
from yoked_actor.client import Api
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import Settings
from yoked_actor.testing import open_world

SECRET = "a secret of at least thirty-two bytes"
LOGIN = b'{"user_id": "ana"}'


def is_whole(answer: bytes) -> bool:
    head, end, body = answer.partition(b"\r\n\r\n")
    return bool(end) and len(body) >= int(header(head + end, "content-length") or 0)


class Visitor:
    """Sends raw requests, each on a connection of its own, to a server in memory."""

    def __init__(self, server: Server, nursery: trio.Nursery, peer: str = "127.0.0.1") -> None:
        self._server = server
        self._nursery = nursery
        self._peer = peer

    async def send(self, request: bytes) -> bytes:
        ours, theirs = trio.testing.memory_stream_pair()
        self._nursery.start_soon(self._server.edge.front_door.serve_stream, theirs, (self._peer, 1))
        await ours.send_all(request)
        answer = b""
        with trio.fail_after(5):
            while not is_whole(answer):
                data = await ours.receive_some()
                assert data
                answer += data
        await ours.aclose()
        return answer

    async def ask(self, target: str, *lines: str, method: str = "GET", body: bytes = b"") -> bytes:
        head = [f"{method} {target} HTTP/1.1", *lines, f"Content-Length: {len(body)}"]
        return await self.send("\r\n".join([*head, "", ""]).encode() + body)


@pytest.fixture
async def nursery():
    async with trio.open_nursery() as nursery:
        yield nursery
        nursery.cancel_scope.cancel()


def serving(
    clock: MockClock, *, dev: bool = False, tokens: Tokens | None = None, **sections: Any
) -> AbstractAsyncContextManager[Server]:
    return open_server(
        Settings(**sections),
        tokens or Tokens("HS256", SECRET),
        database=None,
        mock_clock=clock,
        dev=dev,
    )


def header(answer: bytes, name: str) -> str | None:
    found = re.search(rf"(?im)^{name}: *(.*?)\r$", answer.decode("latin-1"))
    return None if found is None else found[1]


def status(answer: bytes) -> int:
    return int(answer[9:12])


# Other sites


@pytest.mark.parametrize("method", ["OPTIONS", "POST"])
async def test_a_star_lets_every_site_call_over_http_as_over_the_socket(
    autojump_clock, nursery, method
):
    async with serving(autojump_clock, edge={"allowed_origins": ["*"]}) as server:
        visitor = Visitor(server, nursery)
        lines = ("Host: dating.example", "Origin: https://any.example")
        answer = await visitor.ask("/api/spin", *lines, method=method)
        assert header(answer, "access-control-allow-origin") == "*"
        if method == "OPTIONS":
            assert "Authorization" in (header(answer, "access-control-allow-headers") or "")
        socket = await visitor.send(upgrade_request(origin="https://any.example"))
        assert status(socket) == 101


@pytest.mark.parametrize(
    ("origin", "allowed"), [("https://friend.test", True), ("https://foe.test", False)]
)
async def test_a_browser_may_ask_first_and_only_friends_are_let_in(
    autojump_clock, nursery, origin, allowed
):
    async with serving(autojump_clock, edge={"allowed_origins": ["https://friend.test"]}) as server:
        lines = ("Host: dating.example", f"Origin: {origin}")
        answer = await Visitor(server, nursery).ask("/api/spin", *lines, method="OPTIONS")
        assert status(answer) == 204
        assert (header(answer, "access-control-allow-origin") == origin) == allowed
        assert (header(answer, "access-control-allow-headers") is not None) == allowed


async def test_an_answer_says_that_it_depends_on_the_origin(autojump_clock, nursery):
    async with serving(autojump_clock, edge={"allowed_origins": ["https://friend.test"]}) as server:
        visitor = Visitor(server, nursery)
        for origin in ("https://friend.test", "https://foe.test", None):
            lines = () if origin is None else (f"Origin: {origin}",)
            answer = await visitor.ask("/api/profile", "Host: dating.example", *lines)
            friend = origin == "https://friend.test"
            assert header(answer, "access-control-allow-origin") == (origin if friend else None)
            assert header(answer, "vary") == "Origin"


@pytest.mark.parametrize("target", ["//api/profile", "/api//profile", "/%2fapi/profile", "//"])
async def test_no_answer_repeats_the_host_that_was_sent(autojump_clock, nursery, target):
    async with serving(autojump_clock) as server:
        answer = await Visitor(server, nursery).ask(target, "Host: evil.example")
        assert status(answer) == 404
        assert header(answer, "location") is None
        assert b"evil.example" not in answer


# TLS, and what a proxy says of it


@pytest.mark.parametrize(
    ("lines", "peer", "is_secure"),
    [
        (("X-Forwarded-Proto: https",), "10.0.0.1", True),
        (("x-forwarded-proto: HTTPS", "X-Forwarded-For: 192.0.2.1"), "10.0.0.1", True),
        (("X-Forwarded-Proto: http",), "10.0.0.1", False),
        (("X-Forwarded-Proto: https, http",), "10.0.0.1", False),
        ((), "10.0.0.1", False),
        (("X-Forwarded-Proto: https",), "192.0.2.1", False),
    ],
)
async def test_behind_tls_browsers_are_told_to_keep_to_it(
    autojump_clock, nursery, lines, peer, is_secure
):
    async with serving(autojump_clock, edge={"trusted_proxies": ["10.0.0.1"]}) as server:
        visitor = Visitor(server, nursery, peer)
        for target in ("/", "/api/profile", "/nowhere"):
            answer = await visitor.ask(target, "Host: dating.example", *lines)
            expected = "max-age=31536000" if is_secure else None
            assert header(answer, "strict-transport-security") == expected, target


async def test_how_long_browsers_keep_to_tls_is_a_setting(autojump_clock, nursery):
    edge = {"trusted_proxies": ["10.0.0.1"], "hsts_max_age_s": 0}
    async with serving(autojump_clock, edge=edge) as server:
        visitor = Visitor(server, nursery, "10.0.0.1")
        answer = await visitor.ask("/", "Host: dating.example", "X-Forwarded-Proto: https")
        assert header(answer, "strict-transport-security") is None


@pytest.mark.parametrize("dev", [False, True])
async def test_over_its_own_tls_the_server_says_so_too_but_not_on_ones_own_machine(
    autojump_clock, nursery, dev
):
    authority = trustme.CA()
    ours, theirs = trio.testing.memory_stream_pair()
    at_server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("localhost").configure_cert(at_server)
    at_client = ssl.create_default_context()
    authority.configure_trust(at_client)
    async with serving(autojump_clock, dev=dev) as server:
        secure = trio.SSLStream(theirs, at_server, server_side=True)
        nursery.start_soon(server.edge.front_door.serve_stream, secure, ("127.0.0.1", 1))
        stream = trio.SSLStream(ours, at_client, server_hostname="localhost")
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = bytes(await stream.receive_some())
        assert status(answer) == 200
        expected = None if dev else "max-age=31536000"
        assert header(answer, "strict-transport-security") == expected
        await trio.aclose_forcefully(stream)


# One's own machine

LOCAL = ["localhost", "localhost:8080", "127.0.0.1", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST"]
LOCAL += ["127.9.9.9:1", "app.localhost:3000", "localhost."]
FOREIGN = ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "192.168.1.5", "0.0.0.0"]
FOREIGN += ["localhost.evil.example", "evil.example.localhost.com", "[2001:db8::1]", "x:y", ""]


@pytest.mark.parametrize("host", LOCAL)
async def test_with_dev_the_server_answers_to_names_of_the_machine_itself(
    autojump_clock, nursery, host
):
    async with serving(autojump_clock, dev=True) as server:
        visitor = Visitor(server, nursery)
        assert status(await visitor.ask("/", f"Host: {host}")) == 200
        assert status(await visitor.send(upgrade_request(host=host))) == 101


@pytest.mark.parametrize("host", FOREIGN)
async def test_with_dev_a_name_that_was_made_to_lead_here_gets_nothing(
    autojump_clock, nursery, host
):
    """A page of another site whose name is changed to 127.0.0.1 later (DNS rebinding)."""
    async with serving(autojump_clock, dev=True) as server:
        visitor = Visitor(server, nursery)
        for target in ("/", "/metrics", "/openapi.json", "/nowhere"):
            assert status(await visitor.ask(target, f"Host: {host}")) == 403, target
        json = ("Content-Type: application/json", f"Origin: http://{host}")
        answer = await visitor.ask(
            "/api/dev/login", f"Host: {host}", *json, method="POST", body=LOGIN
        )
        assert status(answer) == 403
        handshake = upgrade_request(host=host, origin=f"http://{host}")
        assert status(await visitor.send(handshake)) == 403


async def test_with_dev_a_name_that_the_settings_allow_is_answered(autojump_clock, nursery):
    edge = {"allowed_origins": ["https://box.example:8443"]}
    async with serving(autojump_clock, dev=True, edge=edge) as server:
        visitor = Visitor(server, nursery)
        assert status(await visitor.ask("/", "Host: box.example:8443")) == 200
        assert status(await visitor.ask("/", "Host: other.example:8443")) == 403


async def test_without_dev_every_name_is_answered(autojump_clock, nursery):
    async with serving(autojump_clock) as server:
        assert status(await Visitor(server, nursery).ask("/", "Host: dating.example")) == 200


@pytest.mark.parametrize("target", ["/api/dev/login", "/api/dev/clock/advance"])
@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("Content-Type: application/json",), 200),
        (("Content-Type: application/json; charset=utf-8", "Origin: http://localhost:8080"), 200),
        (("Content-Type: text/plain",), 400),
        (("Content-Type: application/x-www-form-urlencoded",), 400),
        (("Content-Type: multipart/form-data; boundary=application/json",), 400),
        ((), 400),
        (("Content-Type: application/json", "Origin: http://evil.example"), 403),
        (("Content-Type: application/json", "Origin: null"), 403),
        (("Content-Type: application/json", "Origin: http://localhost:9999"), 403),
        (("Content-Type: text/plain", "Origin: http://evil.example"), 403),
    ],
)
async def test_with_dev_another_site_cannot_log_in(mock_clock, nursery, target, lines, expected):
    body = LOGIN if target.endswith("login") else b'{"seconds": 1}'
    async with serving(mock_clock, dev=True) as server:
        answer = await Visitor(server, nursery).ask(
            target, "Host: localhost:8080", *lines, method="POST", body=body
        )
        assert status(answer) == expected


async def test_a_login_where_tokens_cannot_be_signed_says_so(autojump_clock, nursery):
    key = ed25519.Ed25519PrivateKey.generate().public_key()
    pem = key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    auth = {"algorithm": "EdDSA", "public_key_file": "key.pem"}
    tokens = Tokens("EdDSA", pem)
    async with serving(autojump_clock, dev=True, tokens=tokens, auth=auth) as server:
        answer = await Visitor(server, nursery).ask(
            "/api/dev/login",
            "Host: localhost",
            "Content-Type: application/json",
            method="POST",
            body=LOGIN,
        )
        assert status(answer) == 403
        assert b'"code":"forbidden"' in answer
        assert b"EdDSA" in answer


# The contract lists what there is


@pytest.mark.parametrize(
    ("dev", "is_mock", "expected"),
    [
        (False, True, set()),
        (True, False, {"/api/dev/login"}),
        (True, True, {"/api/dev/login", "/api/dev/clock/advance"}),
    ],
)
async def test_the_contract_lists_only_calls_that_this_server_has(
    autojump_clock, nursery, dev, is_mock, expected
):
    if is_mock:
        opened = serving(autojump_clock, dev=dev)
    else:
        opened = open_server(
            Settings(), Tokens("HS256", SECRET), database=None, clock=Clock.real(), dev=dev
        )
    async with opened as server:

        async def dial():
            ours, theirs = trio.testing.memory_stream_pair()
            nursery.start_soon(server.edge.front_door.serve_stream, theirs, ("127.0.0.1", 1))
            return ours

        api = Api("http://localhost", dial=dial)
        paths = (await api.call("GET", "/openapi.json"))["paths"]
        assert {path for path in paths if "/dev/" in path} == expected
        page = (await api.request("GET", "/docs")).body
        assert (b"/api/dev/login" in page) == bool(expected)


async def test_a_world_of_tests_has_a_name_that_nobody_can_own(autojump_clock):
    async with open_world() as world:
        stream = await world.dial()()
        assert (await HttpClient(stream).get("/", host="world.test"))[0] == 200
        await stream.aclose()
