"""Clients of a real server: normal ones, and raw sockets."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import trio

from tests.edge.raw_client import CLOSE, TEXT, RawWebSocket, frame
from tests.process.server import PATIENCE_S, ServerProcess
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

_numbers = count(1)


async def meet(server: ServerProcess) -> None:
    """Two normal clients connect, meet and leave."""
    number = next(_numbers)
    ana, ben = f"ana{number}", f"ben{number}"
    tokens = {
        ana: await Api(server.url).login(ana, make_profile("Ana", gender="woman", seeking=["man"])),
        ben: await Api(server.url).login(ben, make_profile("Ben", gender="man", seeking=["woman"])),
    }
    async with (
        open_client(server.url, tokens[ana]) as her,
        open_client(server.url, tokens[ben]) as him,
    ):
        await her.spin()
        await him.spin()
        matched = await her.wait_for("matched")
        assert matched.partner["user_id"] == ben
        assert (await him.wait_for("matched")).match_id == matched.match_id
        for one in (her, him):
            await one.acknowledge(matched.match_id)
        for one in (her, him):
            await one.wait_for("voting")
            await one.vote(matched.match_id, "pass")
        for one in (her, him):
            assert (await one.wait_for("outcome")).outcome == "pass_pass"
            await one.leave()


@asynccontextmanager
async def dial(server: ServerProcess) -> AsyncIterator[RawWebSocket]:
    """A raw WebSocket, before hello."""
    stream = await trio.open_tcp_stream("127.0.0.1", server.port)
    try:
        raw = RawWebSocket(stream)
        with trio.fail_after(PATIENCE_S):
            assert b" 101 " in await raw.shake_hands()
            yield raw
    finally:
        await trio.aclose_forcefully(stream)


def text(message: Any) -> bytes:
    return frame(TEXT, json.dumps(message).encode())


def hello(token: str) -> bytes:
    return text({"type": "hello", "id": "h", "token": token})


@asynccontextmanager
async def welcomed(
    server: ServerProcess, user_id: str, **profile: Any
) -> AsyncIterator[RawWebSocket]:
    """A raw WebSocket of a user with a profile, after the welcome."""
    token = await Api(server.url).login(user_id, make_profile(user_id, **profile))
    async with dial(server) as raw:
        await raw.stream.send_all(hello(token))
        assert (await receive(raw))["type"] == "welcome"
        yield raw


async def receive(raw: RawWebSocket) -> dict[str, Any]:
    opcode, payload = await raw.receive()
    assert opcode == TEXT, (opcode, payload)
    message: dict[str, Any] = json.loads(payload)
    return message


async def close_code(raw: RawWebSocket) -> int | None:
    """The code of the close frame; None if the connection ends without one."""
    try:
        while True:
            opcode, payload = await raw.receive()
            if opcode == CLOSE:
                return int.from_bytes(payload[:2]) if payload else None
    except EOFError:
        return None


async def metric(server: ServerProcess, name: str) -> float:
    """The current value of a metric of the server, summed over its labels."""
    answer = await Api(server.url).request("GET", "/metrics")
    pattern = rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$"
    return sum(map(float, re.findall(pattern, answer.body.decode(), re.MULTILINE)))
