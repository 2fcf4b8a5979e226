"""A connection that is over is freed at once: nothing of it is left for the garbage collector.

The server lets the collector look rarely (`starting.tune_interpreter`), so what refers to itself
would add up.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.edge.listening import PlainClient, listening_server
from tests.edge.raw_client import PING, TEXT, close_frame, frame, upgrade_request
from yoked_actor.actors.clock import Clock
from yoked_actor.edge.auth import Tokens
from yoked_actor.testing import make_profile

CYCLES = 20
_numbers = count(1)
OURS = ("yoked_actor.", "websockets.", "hypercorn.", "h11.")


@contextmanager
def collected() -> Iterator[Counter[str]]:
    """Counts what the collector finds after the block, by type; of ours and of our libraries."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    try:
        yield found
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        for thing in gc.garbage:
            name = f"{type(thing).__module__}.{type(thing).__qualname__}"
            if name.startswith(OURS):
                found[name] += 1
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
        gc.collect()


@asynccontextmanager
async def visitor(port: int) -> AsyncIterator[PlainClient]:
    client = PlainClient(port)
    try:
        yield client
    finally:
        await trio.aclose_forcefully(client.raw.stream)


async def talk(client: PlainClient, token: str) -> None:
    hello = json.dumps({"type": "hello", "id": "h", "token": token}).encode()
    client.send_now(upgrade_request() + frame(TEXT, hello))
    await client.raw.read_head()
    assert (await client.talker.hear())["type"] == "welcome"
    assert (await client.talker.ask("heartbeat"))["type"] == "ok"


async def leave_politely(client: PlainClient, token: str) -> None:
    await talk(client, token)
    client.send_now(close_frame(1000))
    assert (await client.talker.hung_up()).code == 1000


async def vanish(client: PlainClient, token: str) -> None:
    await talk(client, token)


async def flood(client: PlainClient, token: str) -> None:
    await talk(client, token)
    client.send_now(frame(PING) * 500)
    assert (await client.talker.hung_up()).code == 4009


async def break_off_a_frame(client: PlainClient, token: str) -> None:
    await talk(client, token)
    client.send_now(frame(TEXT, b"half")[:-2])


async def knock_at_the_wrong_door(client: PlainClient, token: str) -> None:
    client.send_now(upgrade_request("/elsewhere"))
    assert b" 404 " in await client.raw.read_head()


async def call(client: PlainClient, token: str) -> None:
    for _ in range(3):
        head = f"GET /api/match/status HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"
        client.send_now(head.encode())
        assert b" 200 " in await client.raw.read_head()
        await wait_all_tasks_blocked(0.01)


async def ask_for_nothing_that_is_there(client: PlainClient, token: str) -> None:
    client.send_now(b"GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    assert b" 404 " in await client.raw.read_head()


async def get_in_and_out_of_line(client: PlainClient, token: str) -> None:
    profile = json.dumps(make_profile("Somebody")).encode()
    client.send_now(
        b"PUT /api/profile HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n"
        b"Authorization: Bearer %b\r\n\r\n%b" % (len(profile), token.encode(), profile)
    )
    assert b" 200 " in await client.raw.read_head()
    async with visitor(client.port) as second:
        await talk(second, token)
        assert (await second.talker.ask("spin"))["state"] == "waiting"
        assert (await second.talker.hear())["type"] == "waiting"
        assert (await second.talker.ask("leave"))["state"] == "idle"


async def call_once(client: PlainClient, token: str) -> None:
    client.send_now(b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert b" 200 " in await client.raw.read_head()


@pytest.mark.parametrize(
    "visit",
    [
        *(leave_politely, vanish, flood, break_off_a_frame, knock_at_the_wrong_door),
        *(call, call_once, ask_for_nothing_that_is_there, get_in_and_out_of_line),
    ],
)
async def test_a_connection_that_is_over_leaves_nothing_to_collect(
    mock_clock: MockClock, visit: Callable[[PlainClient, str], Awaitable[None]]
) -> None:
    async with listening_server(mock_clock) as (tokens, clock, port):
        await _visit(visit, port, tokens, clock)
        mock_clock.jump(10)
        await wait_all_tasks_blocked(0.01)
        with collected() as found:
            for _ in range(CYCLES):
                await _visit(visit, port, tokens, clock)
            # Those that were hung up on are kept for their last words.
            mock_clock.jump(10)
            await wait_all_tasks_blocked(0.01)
        assert found == {}


async def _visit(
    visit: Callable[[PlainClient, str], Awaitable[None]], port: int, tokens: Tokens, clock: Clock
) -> None:
    async with visitor(port) as client:
        await visit(client, tokens.sign(f"u{next(_numbers)}", clock.now(), 3600))
    await wait_all_tasks_blocked(0.01)
