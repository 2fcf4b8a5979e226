"""The keeper of a node: takes, renews, gives and drops rooms. Leases are rows of PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import cast

import pytest
import trio

from tests.store.test_nodes_conformance import Direct
from yoked_actor.actors.nodes import Keeper
from yoked_actor.domain.nodes import RoomLease, orphaned_after_s
from yoked_actor.settings import NodeSettings
from yoked_actor.store import NodeIdTaken, Nodes
from yoked_actor.store.engine import Database
from yoked_actor.telemetry import Metrics

LEASE_S = 0.6
ROOMS = ["blue", "main", "red"]


class Rooms:
    """The rooms of one process, without lobbies."""

    def __init__(self) -> None:
        self.served: dict[str, RoomLease] = {}
        self.dropped: list[str] = []
        self.handed_over: list[str] = []
        self.drain_s = 0.0

    async def open_room(self, room: str, lease: RoomLease, fresh_until_s: float) -> None:
        self.served[room] = lease

    def here(self, room: str) -> int:
        return len(room)

    def refresh(self, room: str, fresh_until_s: float) -> None:
        assert room in self.served

    async def hand_over(self, room: str) -> None:
        await trio.sleep(self.drain_s)
        del self.served[room]
        self.handed_over.append(room)

    async def drop_room(self, room: str) -> None:
        self.served.pop(room, None)
        self.dropped.append(room)


class House:
    """Nodes in one process, each with a connection of its own."""

    def __init__(self, url: str, nursery: trio.Nursery) -> None:
        self.url = url
        self.nursery = nursery
        self.rooms = list(ROOMS)
        self.metrics: dict[str, Metrics] = {}
        self.boots = 0
        self.databases: list[Direct] = []

    def database(self) -> Direct:
        self.databases.append(Direct(self.url))
        return self.databases[-1]

    async def open(
        self, name: str, lease_s: float = LEASE_S
    ) -> tuple[Keeper, Rooms, trio.CancelScope]:
        self.boots += 1
        registry, scope = Rooms(), trio.CancelScope()
        settings = NodeSettings(id=name, url=f"http://{name}.test", lease_s=lease_s)
        nodes = Nodes(cast("Database", self.database()))
        self.metrics[name] = Metrics()
        keeper = Keeper(
            nodes,
            registry,
            settings,
            self.metrics[name],
            boot=self.boots,
            rooms=lambda: self.rooms,
        )
        await keeper.register()

        async def run() -> None:
            with scope:
                await keeper.run()

        self.nursery.start_soon(run)
        return keeper, registry, scope


@asynccontextmanager
async def house_of(url: str) -> AsyncIterator[House]:
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            house = House(url, nursery)
            yield house
            nursery.cancel_scope.cancel()
    for database in house.databases:
        database.connection.close()


async def until(condition: Callable[[], bool]) -> None:
    while True:
        if condition():
            return
        await trio.sleep(0.01)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    with trio.fail_after(seconds):
        yield


async def test_a_node_alone_takes_every_room(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        keeper, rooms, _ = await house.open("a")
        await until(lambda: set(rooms.served) == set(ROOMS))
        assert {lease.epoch for lease in rooms.served.values()} == {1}
        assert keeper.directory.url_of("main") is None
        await trio.sleep(3 * LEASE_S)
        assert rooms.dropped == rooms.handed_over == []


async def test_a_second_node_gets_its_share_by_a_hand_over(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        # A node that is late by half of its lease loses its rooms: a busy machine needs a long one.
        first, mine, _ = await house.open("a", lease_s=6.0)
        await until(lambda: len(mine.served) == 3)
        second, theirs, _ = await house.open("b", lease_s=6.0)
        await until(lambda: len(theirs.served) == 1)
        [room] = theirs.served
        assert mine.handed_over == [room]
        assert mine.dropped == []
        await until(lambda: first.directory.url_of(room) == "http://b.test")
        await until(lambda: second.directory.url_of("main") == "http://a.test" or room == "main")


async def test_the_lease_of_a_room_that_drains_is_renewed_meanwhile(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        _, mine, _ = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        mine.drain_s = 3 * LEASE_S
        _, theirs, _ = await house.open("b")
        await trio.sleep(2 * LEASE_S)
        assert not theirs.served
        await until(lambda: len(theirs.served) == 1)
        assert mine.dropped == []


async def test_the_rooms_of_a_node_that_dies_are_taken_when_its_leases_expire(
    postgres_url: str,
) -> None:
    async with house_of(postgres_url) as house:
        _, mine, scope = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        _, theirs, _ = await house.open("b")
        await until(lambda: len(theirs.served) == 1)
        scope.cancel()
        with within(LEASE_S + 1):
            await until(lambda: set(theirs.served) == set(ROOMS))
        assert sorted(lease.epoch for lease in theirs.served.values()) == [2, 2, 2]


async def test_a_node_that_leaves_gives_its_rooms_back_at_once(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        keeper, mine, scope = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        scope.cancel()
        await keeper.stop()
        leases = await Nodes(cast("Database", house.database())).leases()
        assert [lease.is_valid for lease in leases] == [False] * 3
        _, theirs, _ = await house.open("b")
        with within(LEASE_S / 2):
            await until(lambda: set(theirs.served) == set(ROOMS))


async def test_a_room_that_another_node_has_taken_is_dropped(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        _, mine, _ = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        thief = house.database()
        thief.connection.execute(
            "UPDATE room_leases SET node = 'x', epoch = epoch + 1 WHERE room = 'main'"
        )
        await until(lambda: mine.dropped == ["main"])
        # The thief does not renew it.
        await until(lambda: mine.served.get("main") is not None)
        assert mine.served["main"].epoch == 3
        exposed = house.metrics["a"].expose().decode()
        assert "yoked_node_rooms_lost_total 1.0" in exposed


async def test_each_refused_commit_is_counted_and_the_room_dropped_once(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        keeper, mine, scope = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        scope.cancel()
        await keeper.lost("main")
        await keeper.lost("main")
        assert mine.dropped == ["main"]
        exposed = house.metrics["a"].expose().decode()
        assert 'yoked_node_refused_writes_total{room="main"} 2.0' in exposed


async def test_a_room_that_is_no_longer_declared_is_given_up(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        keeper, mine, _ = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        house.rooms.remove("red")
        keeper.wake()
        await until(lambda: mine.handed_over == ["red"])
        await until(lambda: set(keeper.leases) == {"blue", "main"})


async def test_a_second_server_with_the_same_name_is_refused(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        await house.open("a")
        with pytest.raises(NodeIdTaken):
            await house.open("a")


async def test_a_server_that_was_killed_gets_its_name_back_when_it_was_silent_long_enough(
    postgres_url: str,
) -> None:
    async with house_of(postgres_url) as house:
        _, mine, scope = await house.open("a")
        await until(lambda: len(mine.served) == 3)
        scope.cancel()
        _, again, _ = await house.open("a")
        await until(lambda: set(again.served) == set(ROOMS))


async def test_a_room_that_its_next_node_does_not_take_is_taken_by_another(
    postgres_url: str,
) -> None:
    async with house_of(postgres_url) as house:
        nodes = Nodes(cast("Database", house.database()))
        # One node dies with all rooms. Another one seems to be live, and does nothing.
        await nodes.register("dead", "http://dead.test", 101, LEASE_S)
        for room in ROOMS:
            assert await nodes.acquire(room, "dead", LEASE_S) is not None
        await nodes.register("hangs", "http://hangs.test", 102, LEASE_S)

        async def seem_live() -> None:
            while True:
                await nodes.renew("hangs", 102, {}, LEASE_S)
                await trio.sleep(LEASE_S / 4)

        house.nursery.start_soon(seem_live)
        _, rooms, _ = await house.open("a")
        with within(LEASE_S + orphaned_after_s(LEASE_S) + 1):
            await until(lambda: set(rooms.served) == set(ROOMS))


async def test_the_users_in_a_room_are_written_with_its_lease(postgres_url: str) -> None:
    async with house_of(postgres_url) as house:
        await house.open("a")
        other, _, _ = await house.open("b")
        await until(lambda: other.directory.here("main") == len("main"))
        await until(lambda: other.directory.here("blue") == len("blue"))


async def test_no_room_waits_for_a_node_that_is_late_with_its_renewal(postgres_url: str) -> None:
    lease_s = 30.0
    async with house_of(postgres_url) as house:
        database = house.database()
        nodes = Nodes(cast("Database", database))
        # Two nodes have died, one after the other: the second one still counts as live.
        await nodes.register("late", "http://late.test", 101, lease_s)
        for room in ROOMS:
            assert await nodes.acquire(room, "dead", lease_s) is not None
        database.connection.execute("UPDATE room_leases SET expires_at = clock_timestamp()")
        database.connection.execute(
            "UPDATE nodes SET seen_at = clock_timestamp() - interval '20 seconds'"
        )
        keeper, rooms, _ = await house.open("a", lease_s)
        with within(5):
            await until(lambda: set(rooms.served) == set(ROOMS))
        assert keeper.directory.live == {"a", "late"}
