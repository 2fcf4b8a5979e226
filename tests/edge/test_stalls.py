"""A stall of the whole process: nobody is lost whose signs of life lie in the sockets, unread."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.edge.listening import PlainClient, open_listening, plain_clients
from tests.edge.raw_client import PING, TEXT, frame
from yoked_actor.app.server import Server
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import Person
from yoked_actor.edge.ws import hub as hub_module
from yoked_actor.telemetry import count_of

# More than the hub reads in one turn.
WAITING = hub_module._EVENTS_PER_TURN + 22
STALL_S = 12
BEAT = json.dumps({"type": "heartbeat", "id": "beat"}).encode()


def woman(user_id: str) -> Person:
    return Person(
        user_id=user_id,
        display_name="Ana",
        birth_date=date(1995, 1, 1),
        gender="woman",
        lat=52.5,
        lon=13.4,
        time_zone="UTC",
        interests=(),
        seeking=frozenset({"man"}),
        min_age=18,
        max_age=99,
        max_distance_km=100.0,
    )


async def wait_in_line(server: Server, user_id: str, client: PlainClient) -> None:
    """Let a new user say hello and spin."""
    sessions = server.live.sessions
    assert b" 101 " in await client.raw.shake_hands()
    token = server.edge.tokens.sign(user_id, server.base.clock.now(), 60)
    await client.talker.hello(token)
    await sessions.ask(await sessions.enter(user_id), ev.ProfileChanged(user_id, woman(user_id)))
    assert (await client.talker.ask("spin"))["state"] == "waiting"


@asynccontextmanager
async def users_in_line(clock: MockClock) -> AsyncIterator[tuple[Server, list[PlainClient]]]:
    async with (
        open_listening(clock) as (server, port),
        plain_clients(port, WAITING) as clients,
    ):
        for number, client in enumerate(clients):
            await wait_in_line(server, f"u{number}", client)
        await wait_all_tasks_blocked(0.01)
        yield server, clients


def losses(server: Server) -> int:
    return count_of(server.base.metrics.lobby.liveness_losses.labels("main"))


@pytest.mark.parametrize("beat", [frame(TEXT, BEAT), frame(PING)], ids=["heartbeat", "ping"])
async def test_nobody_is_lost_whose_beat_lies_in_the_socket_after_a_stall(
    mock_clock: MockClock, beat: bytes
) -> None:
    async with users_in_line(mock_clock) as (server, clients):
        for client in clients:
            client.send_now(beat)
        mock_clock.jump(STALL_S)
        await wait_all_tasks_blocked(0.01)
        assert losses(server) == 0
        assert server.live.view.waiting() == WAITING
        # The beats count from when they were read.
        mock_clock.jump(server.base.settings.matching.liveness_s)
        await wait_all_tasks_blocked(0.01)
        assert losses(server) == WAITING


async def test_a_command_in_the_socket_after_a_stall_is_obeyed_in_the_same_round(
    mock_clock: MockClock,
) -> None:
    """A user who left in time has left, and was not lost."""
    async with users_in_line(mock_clock) as (server, clients):
        for client in clients:
            client.send_now(frame(TEXT, json.dumps({"type": "leave", "id": "bye"}).encode()))
        mock_clock.jump(STALL_S)
        await wait_all_tasks_blocked(0.01)
        assert losses(server) == 0
        assert server.live.view.waiting() == 0
        for client in clients:
            heard = await client.talker.hear()
            while heard.get("re") != "bye":
                heard = await client.talker.hear()
            assert heard["type"] == "ok"


async def test_a_user_who_was_silent_before_and_during_a_stall_is_lost(
    mock_clock: MockClock,
) -> None:
    async with users_in_line(mock_clock) as (server, clients):
        for client in clients[1:]:
            client.send_now(frame(TEXT, BEAT))
        mock_clock.jump(STALL_S)
        await wait_all_tasks_blocked(0.01)
        assert losses(server) == 1
        assert server.live.view.waiting() == WAITING - 1
        heard = await clients[0].talker.hear()
        while heard["type"] != "idle":
            heard = await clients[0].talker.hear()
        assert heard["reason"] == "lost"


async def test_a_user_whose_message_is_being_handled_is_not_silent(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server reads nothing meanwhile, so it cannot hear the heartbeats."""
    async with open_listening(mock_clock) as (server, port), plain_clients(port, 1) as (client,):
        stored = trio.Event()

        async def add_report(*args: object) -> None:
            await stored.wait()

        await wait_in_line(server, "ana", client)
        monkeypatch.setattr(server.base.store, "add_report", add_report)
        report = {"type": "report", "id": "r", "user_id": "ben", "reason": "rude"}
        await client.talker.say(report)
        await wait_all_tasks_blocked(0.01)
        for _ in range(5):
            client.send_now(frame(TEXT, BEAT))
            mock_clock.jump(7)
            await wait_all_tasks_blocked(0.01)
        assert losses(server) == 0
        stored.set()
        await wait_all_tasks_blocked(0.01)
        assert server.live.view.waiting() == 1
