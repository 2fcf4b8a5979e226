"""HTTP calls of the client."""

from __future__ import annotations

import pytest
from trio.testing import memory_stream_pair

from tests.edge.test_http_admin import operator
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


async def test_a_suspended_user_appeals_and_a_warned_user_says_that_it_was_seen(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ben")
        root, ben = operator(world), world.api("ben")
        await root.call("POST", "/api/admin/users/ben/warn", {"text": "be kind"})
        [warning] = await ben.warnings()
        assert warning["text"] == "be kind"
        with pytest.raises(CallRefused, match="404 not_found"):
            await ben.warning_seen("../w1")
        await ben.warning_seen(warning["warning_id"])
        assert await ben.warnings() == []
        with pytest.raises(CallRefused, match="409 wrong_state"):
            await ben.appeal("there is nothing to appeal")
        await root.call("POST", "/api/admin/users/ben/suspend", {"reason": "rude"})
        await ben.appeal("I was misunderstood")
        [report] = (await root.call("GET", "/api/admin/reports?open=1"))["reports"]
        assert (report["kind"], report["reason"]) == ("appeal", "I was misunderstood")
        with pytest.raises(CallRefused, match="429 rate_limited"):
            await ben.appeal("again")
