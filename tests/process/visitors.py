"""Visitors of a real server: some who behave, and sockets on which one can do anything."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import trio

from tests.edge.raw_client import CLOSE, TEXT, RawWebSocket, frame
from tests.process.house import PATIENCE_S, House
from yoked_actor.client import Api, open_client
from yoked_actor.testing import make_profile

_numbers = count(1)


async def meet(house: House) -> None:
    """Two people who behave come, meet, and go."""
    number = next(_numbers)
    ana, ben = f"ana{number}", f"ben{number}"
    tokens = {
        ana: await Api(house.url).login(ana, make_profile("Ana", gender="woman", seeking=["man"])),
        ben: await Api(house.url).login(ben, make_profile("Ben", gender="man", seeking=["woman"])),
    }
    async with (
        open_client(house.url, tokens[ana]) as her,
        open_client(house.url, tokens[ben]) as him,
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
async def dial(house: House) -> AsyncIterator[RawWebSocket]:
    """A raw WebSocket that has said nothing yet."""
    stream = await trio.open_tcp_stream("127.0.0.1", house.port)
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
async def welcomed(house: House, user_id: str, **profile: Any) -> AsyncIterator[RawWebSocket]:
    """A raw WebSocket of somebody with a profile, after the welcome."""
    token = await Api(house.url).login(user_id, make_profile(user_id, **profile))
    async with dial(house) as raw:
        await raw.stream.send_all(hello(token))
        assert (await receive(raw))["type"] == "welcome"
        yield raw


async def receive(raw: RawWebSocket) -> dict[str, Any]:
    opcode, payload = await raw.receive()
    assert opcode == TEXT, (opcode, payload)
    message: dict[str, Any] = json.loads(payload)
    return message


async def close_code(raw: RawWebSocket) -> int | None:
    """The code of the close frame that ends this connection; None when it ends without one."""
    try:
        while True:
            opcode, payload = await raw.receive()
            if opcode == CLOSE:
                return int.from_bytes(payload[:2]) if payload else None
    except EOFError:
        return None


async def metric(house: House, name: str) -> float:
    """The present value of one of the server's metrics."""
    answer = await Api(house.url).request("GET", "/metrics")
    found = re.search(rf"^{re.escape(name)} (\S+)$", answer.body.decode(), re.MULTILINE)
    return float(found[1]) if found else 0.0
