"""HTTP calls of the client."""

from __future__ import annotations

import pytest
from trio.testing import memory_stream_pair

from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import make_profile, open_world

URL = "http://world.test"


async def test_a_login_is_kept_for_the_calls_after_it(autojump_clock):
    async with open_world() as world:
        api = Api(URL, dial=world.dial())
        token = await api.login("ana", make_profile("Ana"))
        assert api.token == token
        assert (await api.call("GET", "/api/profile"))["display_name"] == "Ana"


async def test_a_problem_is_raised_with_everything_it_says(autojump_clock):
    async with open_world() as world:
        with pytest.raises(CallRefused) as refusal:
            await world.api("ana").call("POST", "/api/leave")
        assert (refusal.value.status, refusal.value.code) == (409, "wrong_state")
        assert refusal.value.detail
        assert str(refusal.value) == f"409 wrong_state: {refusal.value.detail}"


async def test_a_request_returns_whatever_is_answered(autojump_clock):
    async with open_world() as world:
        answer = await world.api("ana").request("POST", "/api/leave")
        assert answer.status == 409
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"] == "wrong_state"


async def test_an_answer_in_pieces_is_put_together():
    async def dial():
        ours, theirs = memory_stream_pair()
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        await theirs.send_all(head + b"5\r\n[1, 2\r\n4\r\n, 3]\r\n0\r\n\r\n")
        return ours

    assert await Api(URL, dial=dial).call("GET", "/") == [1, 2, 3]


async def test_an_error_that_is_no_problem_document_is_still_a_refusal():
    async def dial():
        ours, theirs = memory_stream_pair()
        await theirs.send_all(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 4\r\n\r\noops")
        return ours

    with pytest.raises(CallRefused) as refusal:
        await Api(URL, dial=dial).call("GET", "/")
    assert (refusal.value.status, refusal.value.code) == (502, "unknown")
    assert refusal.value.detail == "oops"


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
async def test_a_connection_that_ends_too_early_is_an_error_and_not_an_answer(said):
    async def dial():
        ours, theirs = memory_stream_pair()
        await theirs.send_all(said)
        await theirs.send_eof()
        return ours

    with pytest.raises(ConnectionError):
        await Api(URL, dial=dial).call("GET", "/")
