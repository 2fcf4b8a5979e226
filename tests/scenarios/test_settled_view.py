"""Nobody is shown what is not stored: operators, consoles, metrics and users, while a commit hangs.

The store hangs, then fails, then works: that is the fault, and nothing else is replaced.
"""

from __future__ import annotations

from typing import Any

import trio
from trio.testing import wait_all_tasks_blocked

from tests.edge.test_http_ops import metrics
from tests.edge.test_watch import next_status, watch
from tests.scenarios.meeting import MAN, WOMAN, join_pair
from yoked_actor.client import Api
from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.store import StoreUnavailable
from yoked_actor.testing import World, open_world


class HangingCommits:
    """Commits of a store wait until they are let go, and then fail or succeed."""

    def __init__(self, store: Any, monkeypatch: Any) -> None:
        self._commit = store.commit
        self._go = trio.Event()
        self._fails = False
        monkeypatch.setattr(store, "commit", self._hang)

    async def _hang(self, changes: Changes, lease: RoomLease | None) -> None:
        await self._go.wait()
        if self._fails:
            self._fails = False
            self._go = trio.Event()
            raise StoreUnavailable("the disk is full")
        await self._commit(changes, lease)

    def fail_once(self) -> None:
        self._fails = True
        self._go.set()

    def go_on(self) -> None:
        self._go.set()


async def seen_by_operator(world: World) -> tuple[int, list[str], str, str, bool]:
    """Open matches, who is in line, the states of ana and ben, whether ben is online."""
    olga = Api("http://world.test", world.token("olga", admin=True), dial=world.dial())
    matches = await olga.call("GET", "/api/admin/matches")
    queue = await olga.call("GET", "/api/admin/queue")
    assert queue["waiting"] == len(queue["longest"])
    assert (await metrics(world))[("yoked_waiting_users", "main")] == queue["waiting"]
    ana = await olga.call("GET", "/api/admin/users/ana")
    ben = await olga.call("GET", "/api/admin/users/ben")
    in_line = [one["user_id"] for one in queue["longest"]]
    return matches["open"], in_line, ana["state"], ben["state"], ben["online"]


async def test_no_reader_sees_a_match_before_it_is_stored(autojump_clock, monkeypatch):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        before = (0, ["ana"], "waiting", "idle", True)
        assert await seen_by_operator(world) == before
        commits = HangingCommits(world.server.base.store, monkeypatch)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ben.spin)
            await wait_all_tasks_blocked()
            assert await seen_by_operator(world) == before
            explained = dict(world.server.live.lobby.floor.explained)
            await trio.sleep(5)
            assert await seen_by_operator(world) == before
            assert world.server.live.lobby.floor.explained == explained
            commits.fail_once()
            await wait_all_tasks_blocked()
            assert await seen_by_operator(world) == before
            await trio.sleep(1)  # it is decided anew, and hangs again
            assert await seen_by_operator(world) == before
            commits.go_on()
        assert await seen_by_operator(world) == (1, [], "matched", "matched", True)
        matched = await ana.wait_for("matched")
        for client in (ana, ben):
            await client.acknowledge(matched.match_id)


async def test_the_console_shows_only_what_is_stored(autojump_clock, monkeypatch):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        watcher = await watch(world)
        status = await next_status(watcher)
        assert (status["waiting"], [one["user_id"] for one in status["longest"]]) == (1, ["ana"])
        commits = HangingCommits(world.server.base.store, monkeypatch)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ben.spin)
            for _ in range(3):
                status = await next_status(watcher)
                shown = (status["waiting"], [one["user_id"] for one in status["longest"]])
                assert shown == (1, ["ana"])
            commits.go_on()


async def test_a_user_who_asks_while_a_commit_hangs_is_answered_with_what_is_stored(
    autojump_clock, monkeypatch
):
    async with open_world(settings={"edge": {"request_timeout_s": 300.0}}) as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        commits = HangingCommits(world.server.base.store, monkeypatch)
        answers: list[str] = []

        async def ask() -> None:
            answers.append((await world.api("ana").call("GET", "/api/match/status"))["state"])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(ben.spin)
            await wait_all_tasks_blocked()
            nursery.start_soon(ask)
            await trio.sleep(1)
            assert answers == []
            commits.go_on()
        assert answers == ["matched"]


async def test_a_connection_is_online_only_once_that_is_settled(autojump_clock, monkeypatch):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        ana = await world.connect("ana")
        commits = HangingCommits(world.server.base.store, monkeypatch)
        floor = world.server.live.lobby.floor
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ana.spin)
            await wait_all_tasks_blocked()
            assert floor.seat("ana").state == "waiting", "decided, and not stored"
            assert world.server.live.view.waiting() == 0
            assert world.server.live.view.is_online("ana", world.now())
            commits.go_on()
        assert world.server.live.view.waiting() == 1
