"""A client that is sent to another node follows, and not forever."""

from __future__ import annotations

import pytest
import trio

from tests.client.nodes import Node, serve
from yoked_actor.client import Api, CallRefused, ConnectionLost, open_client
from yoked_actor.client.routing import Route

GONE = "http://127.0.0.1:1"


async def test_a_client_follows_to_the_node_that_serves_its_room():
    second = Node()
    first = Node(lambda: second.url)
    with trio.fail_after(10):
        async with serve(first, second), open_client(first.url, "token") as ana:
            assert (await ana.heartbeat()).type == "ok"
            assert ana.address == Route([second.url]).address
            assert [hello["token"] for hello in first.hellos + second.hellos] == ["token"] * 2


async def test_a_client_that_is_sent_away_in_the_middle_takes_its_commands_with_it():
    second = Node()
    first = Node()
    with trio.fail_after(10):
        async with serve(first, second), open_client(first.url, "token") as ana:
            await first.send_away(first.sockets[0], None, second.url)
            assert (await ana.spin()).type == "ok"
            assert second.hellos[0]["resume"] == {"session": "1-1", "seq": 0}
            assert (await ana.next_event()).type == "welcome"


async def test_a_client_that_is_sent_in_circles_gives_up():
    first = Node(lambda: first.url)
    with trio.fail_after(10):
        async with serve(first):
            with pytest.raises(ConnectionLost) as lost:
                async with open_client(first.url, "token", hops=1):
                    pass
    assert lost.value.code == 4011
    # A visit and a hop, a pause, and the same again.
    assert len(first.hellos) == 4


async def test_a_client_that_was_welcomed_once_returns_when_the_other_node_is_gone():
    first = Node(lambda: GONE if len(first.hellos) == 2 else None)
    with trio.fail_after(10):
        async with serve(first), open_client(first.url, "token") as ana:
            await ana.drop()
            while ana.welcomes < 2:
                await ana.heartbeat()
            assert len(first.hellos) == 3


async def test_a_client_tries_the_other_nodes_that_it_was_given():
    second = Node()
    with trio.fail_after(10):
        async with serve(second), open_client(GONE, "token", others=[second.url]) as ana:
            assert (await ana.heartbeat()).type == "ok"


async def test_a_client_does_not_carry_its_token_from_tls_to_plain_text():
    route = Route(["https://a.test"])
    assert not route.follow("http://b.test")
    assert route.address.host == "a.test"
    assert route.follow("https://b.test")
    assert route.address.host == "b.test"
    assert not route.follow("ftp://c.test")


async def test_a_call_is_repeated_at_the_node_that_answers_it_and_later_calls_begin_there():
    second = Node()
    first = Node(lambda: second.url)
    with trio.fail_after(10):
        async with serve(first, second, http=True):
            api = Api(first.url, "secret")
            assert await api.call("POST", "/api/spin", {"a": 1}) == [1]
            assert await api.call("GET", "/api/met") == [1]
    assert len(first.requests) == 1
    moved, later = second.requests
    assert moved.startswith(b"POST /api/spin ")
    assert b"Authorization: Bearer secret" in moved
    assert moved.endswith(b'{"a":1}')
    assert later.startswith(b"GET /api/met ")


async def test_a_call_that_is_sent_in_circles_is_refused():
    first = Node(lambda: first.url)
    with trio.fail_after(10):
        async with serve(first, http=True):
            with pytest.raises(CallRefused) as refusal:
                await Api(first.url, "secret", hops=3).call("GET", "/api/met")
    assert (refusal.value.status, refusal.value.code) == (307, "moved")
    assert len(first.requests) == 4


async def test_a_call_goes_to_another_node_when_one_cannot_be_reached():
    second = Node()
    with trio.fail_after(10):
        async with serve(second, http=True):
            assert await Api(GONE, others=[second.url]).call("GET", "/api/met") == [1]
    with pytest.raises(OSError, match="connect"):
        await Api(GONE, others=[GONE]).call("GET", "/api/met")
