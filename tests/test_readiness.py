"""Notifications to a service manager (ready, stopping, watchdog), on a real datagram socket."""

from __future__ import annotations

import math
import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import trio

from tests.scenarios.meeting import WOMAN
from yoked_actor.actors.lobby import Matchmaker, Message, RoomAudience, RoomLink
from yoked_actor.actors.mailbox import Mailbox
from yoked_actor.app.process.readiness import Notifier, feed_watchdog, watchdog_interval_s
from yoked_actor.domain.lobby import Spin
from yoked_actor.testing import open_world


class Manager:
    """The socket that systemd would listen on."""

    def __init__(self, sock: socket.socket, name: str) -> None:
        self._sock = sock
        self.name = name

    def heard(self) -> list[str]:
        """The datagrams received since the last call."""
        found = []
        while True:
            try:
                found.append(self._sock.recv(4096).decode())
            except BlockingIOError:
                return found


@contextmanager
def listening(name: str) -> Iterator[Manager]:
    address = "\0" + name[1:] if name.startswith("@") else name
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(address)
        sock.setblocking(False)
        yield Manager(sock, name)


@pytest.fixture(params=["path", "abstract"])
def manager(request, tmp_path):
    name = f"@yoked-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify")
    with listening(name) as manager:
        yield manager


def test_a_notification_is_one_datagram_with_lines(manager):
    notifier = Notifier.of({"NOTIFY_SOCKET": manager.name})
    notifier.ready("ready on http://127.0.0.1:8080")
    notifier.reloading(12.5)
    notifier.alive()
    notifier.stopping()
    assert manager.heard() == [
        "READY=1\nSTATUS=ready on http://127.0.0.1:8080",
        "RELOADING=1\nMONOTONIC_USEC=12500000",
        "WATCHDOG=1",
        "STOPPING=1\nSTATUS=draining",
    ]


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": ""}])
def test_without_a_service_manager_nothing_is_sent(environment):
    Notifier.of(environment).ready("ready")


def test_a_missing_or_blocked_service_manager_is_ignored(tmp_path):
    Notifier(str(tmp_path / "nobody")).ready("ready")
    with listening(str(tmp_path / "deaf")) as deaf:
        notifier = Notifier(deaf.name)
        for _ in range(2000):  # more than its queue can hold, and it reads none
            notifier.alive()
        assert 0 < len(deaf.heard()) < 2000


@pytest.mark.parametrize(
    ("environment", "every_s"),
    [
        ({}, math.inf),
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "77"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "76"}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "78"}, math.inf),
        ({"WATCHDOG_USEC": "0"}, math.inf),
        ({"WATCHDOG_USEC": "soon"}, math.inf),
    ],
)
def test_the_watchdog_is_notified_twice_per_interval_if_the_pid_is_ours(environment, every_s):
    own_pid, parent = 77, 76
    assert watchdog_interval_s(environment, (own_pid, parent)) == every_s


async def test_an_idle_server_notifies_the_watchdog(autojump_clock, tmp_path):
    with listening(str(tmp_path / "notify")) as manager:
        async with open_world() as world, trio.open_nursery() as nursery:
            matchmaker = world.server.live.matchmaker
            nursery.start_soon(feed_watchdog, Notifier(manager.name), 15.0, matchmaker.ping)
            await trio.sleep(61.0)
            assert manager.heard() == ["WATCHDOG=1"] * 5
            nursery.cancel_scope.cancel()


async def test_a_server_that_does_not_answer_does_not_notify_the_watchdog(autojump_clock, tmp_path):
    with listening(str(tmp_path / "notify")) as manager:
        answers = trio.Event()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(feed_watchdog, Notifier(manager.name), 15.0, answers.wait)
            await trio.sleep(120.0)
            assert manager.heard() == []
            answers.set()
            await trio.sleep(1.0)
            assert manager.heard() == ["WATCHDOG=1"]
            nursery.cancel_scope.cancel()


async def test_a_matchmaker_without_rounds_does_not_answer(autojump_clock):
    async with open_world() as world:
        server = world.server
        idle = Matchmaker(
            Mailbox(10),
            server.live.lobby,
            server.base.store,
            server.base.clock,
            RoomAudience(server.live.sessions, RoomLink(Mailbox(10))),
            server.base.metrics,
            server.base.settings,
        )
        with trio.move_on_after(3600) as patience:
            await idle.ping()
        assert patience.cancelled_caught


async def test_the_watchdog_is_notified_with_a_full_disk(autojump_clock, tmp_path: Path):
    database = tmp_path / "yoked.db"
    settings = {"store": {"busy_timeout_s": 0.0}}
    with listening(str(tmp_path / "notify")) as manager:
        async with open_world(database=database, settings=settings) as world:
            ana = await world.join("ana", **WOMAN)
            with closing(sqlite3.connect(database, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(ana.spin)
                    await trio.sleep(0.01)
                    answer = world.server.live.matchmaker.ping
                    nursery.start_soon(feed_watchdog, Notifier(manager.name), 15.0, answer)
                    await trio.sleep(40)
                    assert world.server.live.matchmaker.stalled
                    assert manager.heard() == ["WATCHDOG=1"] * 3
                    other.execute("ROLLBACK")
                    await trio.sleep(5)
                    nursery.cancel_scope.cancel()


async def test_pings_during_a_failing_commit_are_answered(autojump_clock, tmp_path: Path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings={"store": {"busy_timeout_s": 0.0}}) as world:
        await world.join("ana", **WOMAN)
        matchmaker = world.server.live.matchmaker
        with closing(sqlite3.connect(database, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            matchmaker.mailbox.put_always(Message(Spin("ana"), None))
            with trio.fail_after(1.0):
                await matchmaker.ping()
            assert matchmaker.stalled
            other.execute("ROLLBACK")
