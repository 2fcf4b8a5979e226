"""All clients reconnect at the same time after a kill -9, and none is refused."""

from __future__ import annotations

from collections import Counter

import pytest
import trio

from tests.edge.raw_client import CLOSE, TEXT, RawWebSocket, upgrade_request
from tests.process.server import PATIENCE_S, ServerProcess, running_server
from tests.process.visitors import hello, metric, receive, text
from yoked_actor.client import Api
from yoked_actor.testing import make_profile

pytestmark = pytest.mark.process

Answers = Counter[str | int]

HERD = 150
# Far less than the server needs for all of them on a busy machine, and enough for bytes to come.
HELLO_TIMEOUT_S = 1


async def come(server: ServerProcess, token: str) -> tuple[RawWebSocket, str | int]:
    """Connect and send hello: returns the type of the first message, or how it was closed."""
    raw = RawWebSocket(await trio.open_tcp_stream("127.0.0.1", server.port))
    await raw.stream.send_all(upgrade_request() + hello(token))
    head = await raw.read_head()
    if b" 101 " not in head:
        return raw, head[:12].decode()
    opcode, payload = await raw.receive()
    if opcode == CLOSE:
        return raw, int.from_bytes(payload[:2])
    assert opcode == TEXT
    return raw, "welcome" if b'"welcome"' in payload else payload.decode()


async def everybody_comes(
    server: ServerProcess, tokens: list[str]
) -> tuple[list[RawWebSocket], Answers]:
    sockets: list[RawWebSocket] = []
    answers: Answers = Counter()

    async def one(token: str) -> None:
        raw, answer = await come(server, token)
        sockets.append(raw)
        answers[answer] += 1

    async with trio.open_nursery() as nursery:
        for token in tokens:
            nursery.start_soon(one, token)
    return sockets, answers


async def test_all_clients_that_reconnect_after_a_crash_are_welcomed(tmp_path):
    with running_server(
        tmp_path / "data",
        edge__hello_timeout_s=HELLO_TIMEOUT_S,
        matching__liveness_s=120,
        matching__resume_grace_s=300,
    ) as server:
        with trio.fail_after(PATIENCE_S):
            api = Api(server.url)
            # Nobody is compatible, so all of them stay in line.
            profile = make_profile("Herd", gender="woman", seeking=["nonbinary"])
            tokens = [await api.login(f"herd{number}", profile) for number in range(HERD)]
            before, answers = await everybody_comes(server, tokens)
            assert answers == {"welcome": HERD}
            # The others are idle, and are loaded from the database when they reconnect.
            for raw in before[::2]:
                await raw.stream.send_all(text({"type": "spin", "id": "s"}))
                assert (await receive(raw))["state"] == "waiting"
            server.kill()
            for raw in before:
                await trio.aclose_forcefully(raw.stream)
            await trio.to_thread.run_sync(server.start)
            after, answers = await everybody_comes(server, tokens)
            assert answers == {"welcome": HERD}
            assert await metric(server, "yoked_waiting_users") == HERD // 2
            for raw in after:
                await trio.aclose_forcefully(raw.stream)
