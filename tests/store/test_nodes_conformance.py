"""Nodes and the leases of rooms, on PostgreSQL: its clock and its row locks decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import trio

from yoked_actor.domain.lobby import Changes
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.store import (
    InlineRunner,
    NodeIdTaken,
    Nodes,
    RoomLeaseLost,
    Tx,
    open_store,
)
from yoked_actor.store.engine import Database
from yoked_actor.store.engine.postgres import PostgresTx, connect_postgres

LONG_S, SHORT_S = 60.0, 0.05


class Direct:
    """A database without a queue: each write is a transaction of its own."""

    def __init__(self, url: str) -> None:
        self.connection = connect_postgres(url, timeout_s=10)

    async def write(self, apply: Callable[[Tx], Any], **_: Any) -> Any:
        with self.connection.transaction():
            return apply(PostgresTx(self.connection))

    async def read(self, query: Callable[[Tx], Any]) -> Any:
        return query(PostgresTx(self.connection))


@pytest.fixture
def database(postgres_url: str) -> Iterator[Direct]:
    database = Direct(postgres_url)
    yield database
    database.connection.close()


@pytest.fixture
def nodes(database: Direct) -> Nodes:
    return Nodes(cast("Database", database))


async def test_a_node_that_has_registered_is_listed_until_it_leaves(nodes: Nodes) -> None:
    await nodes.register("b", "http://b.test", 2, LONG_S)
    await nodes.register("a", "http://a.test", 1, LONG_S)
    listed = await nodes.nodes()
    assert [(one.node, one.url, one.boot) for one in listed] == [
        ("a", "http://a.test", 1),
        ("b", "http://b.test", 2),
    ]
    assert all(0 <= one.silent_s < 5 for one in listed)
    await nodes.leave("a", 1)
    assert [one.node for one in await nodes.nodes()] == ["b"]
    lease = await nodes.acquire("main", "b", LONG_S)
    assert lease is not None
    await nodes.leave("b", 2, [lease])
    assert await nodes.nodes() == []
    assert await nodes.acquire("main", "a", LONG_S) == RoomLease("main", "a", 2)


async def test_the_name_of_a_live_node_is_taken(nodes: Nodes) -> None:
    await nodes.register("a", "http://a.test", 1, LONG_S)
    with pytest.raises(
        NodeIdTaken, match=r"node a: node\.id must be unique; give this one another"
    ):
        await nodes.register("a", "http://other.test", 2, LONG_S)
    assert [one.url for one in await nodes.nodes()] == ["http://a.test"]


async def test_a_node_that_was_silent_for_a_lease_can_be_replaced(nodes: Nodes) -> None:
    await nodes.register("a", "http://a.test", 1, SHORT_S)
    await trio.sleep(2 * SHORT_S)
    await nodes.register("a", "http://new.test", 2, SHORT_S)
    assert [(one.url, one.boot) for one in await nodes.nodes()] == [("http://new.test", 2)]
    assert await nodes.renew("a", 1, {}, SHORT_S) == (False, set())
    assert await nodes.renew("a", 2, {}, SHORT_S) == (True, set())
    # The process that was replaced does not remove its successor.
    await nodes.leave("a", 1)
    assert len(await nodes.nodes()) == 1


async def test_a_sign_of_life_ends_the_silence(nodes: Nodes) -> None:
    await nodes.register("a", "http://a.test", 1, LONG_S)
    await trio.sleep(0.2)
    before = (await nodes.nodes())[0].silent_s
    assert await nodes.renew("a", 1, {}, LONG_S) == (True, set())
    assert (await nodes.nodes())[0].silent_s < before


async def test_a_room_with_a_valid_lease_is_not_taken(nodes: Nodes) -> None:
    assert await nodes.acquire("main", "a", LONG_S) == RoomLease("main", "a", 1)
    assert await nodes.acquire("main", "b", LONG_S) is None
    assert await nodes.acquire("main", "a", LONG_S) is None
    [lease] = await nodes.leases()
    assert (lease.room, lease.node, lease.epoch, lease.is_valid) == ("main", "a", 1, True)
    assert 50 < lease.left_s <= LONG_S


async def test_a_room_whose_lease_has_expired_is_taken_with_a_new_epoch(nodes: Nodes) -> None:
    first = await nodes.acquire("main", "a", SHORT_S)
    assert first is not None
    await trio.sleep(2 * SHORT_S)
    assert await nodes.acquire("main", "b", LONG_S) == RoomLease("main", "b", 2)
    assert await nodes.renew("a", 1, {first: 3}, LONG_S) == (False, set())
    with pytest.raises(RoomLeaseLost):
        await nodes.check(first)


async def test_a_lease_that_expired_and_was_not_taken_can_be_renewed(nodes: Nodes) -> None:
    lease = await nodes.acquire("main", "a", SHORT_S)
    other = await nodes.acquire("blue", "a", LONG_S)
    assert lease is not None
    assert other is not None
    await trio.sleep(2 * SHORT_S)
    _, kept = await nodes.renew("a", 1, {lease: 7, other: 0}, LONG_S)
    assert kept == {"main", "blue"}
    assert {one.room: one.here for one in await nodes.leases()} == {"main": 7, "blue": 0}
    assert await nodes.acquire("main", "b", LONG_S) is None
    await nodes.check(lease)


async def test_a_released_room_is_taken_at_once_and_its_epoch_goes_on(nodes: Nodes) -> None:
    lease = await nodes.acquire("main", "a", LONG_S)
    assert lease is not None
    await nodes.release(lease)
    taken = await nodes.acquire("main", "b", LONG_S)
    assert taken == RoomLease("main", "b", 2)
    # A late release of the former owner changes nothing.
    await nodes.release(lease)
    await nodes.check(taken)
    assert await nodes.acquire("main", "a", LONG_S) is None


async def test_one_of_many_nodes_gets_a_room(postgres_url: str) -> None:
    databases = [Direct(postgres_url) for _ in range(8)]
    won: list[RoomLease | None] = []

    async def take(number: int) -> None:
        nodes = Nodes(cast("Database", databases[number]))
        won.append(await nodes.acquire("main", f"n{number}", LONG_S))

    async with trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(take, number)
    for database in databases:
        database.connection.close()
    assert sum(lease is not None for lease in won) == 1


async def test_a_user_who_is_idle_is_moved_by_the_node_of_the_room_only(
    nodes: Nodes, database: Direct
) -> None:
    lease = await nodes.acquire("main", "a", SHORT_S)
    assert lease is not None
    await nodes.move_user("ana", "blue", lease)
    await nodes.move_user("ana", "red", lease)
    rooms = "SELECT user_id, room FROM seats"
    assert database.connection.execute(rooms).fetchall() == [("ana", "red")]
    database.connection.execute("UPDATE seats SET state = 'waiting', waiting_since = 1")
    with pytest.raises(RoomLeaseLost):
        await nodes.move_user("ana", "blue", lease)
    database.connection.execute("UPDATE seats SET state = 'idle', waiting_since = NULL")
    await trio.sleep(2 * SHORT_S)
    await nodes.acquire("main", "b", LONG_S)
    with pytest.raises(RoomLeaseLost):
        await nodes.move_user("ana", "blue", lease)
    assert database.connection.execute(rooms).fetchall() == [("ana", "red")]


async def test_a_commit_of_a_lost_lease_writes_nothing(postgres_url: str, database: Direct) -> None:
    count = "SELECT count(*) FROM blocks"
    async with (
        open_store(None, runner=InlineRunner(), url=postgres_url, several=True) as store,
        open_store(None, runner=InlineRunner(), url=postgres_url, several=True) as other,
    ):
        assert store.boot != other.boot
        assert store.is_shared
        lease = await store.nodes.acquire("main", "a", SHORT_S)
        assert lease is not None
        await store.commit(Changes(blocks=[(("ana", "ben"), 1)]), lease)
        assert database.connection.execute(count).fetchone() == (1,)
        await trio.sleep(2 * SHORT_S)
        # It has expired, and nobody has taken it.
        await store.commit(Changes(blocks=[(("ana", "cleo"), 1)]), lease)
        newer = await other.nodes.acquire("main", "b", LONG_S)
        late = Changes(blocks=[(("ana", "dora"), 1)])
        with pytest.raises(RoomLeaseLost):
            await store.commit(late, lease)
        assert database.connection.execute(count).fetchone() == (2,)
        await other.commit(late, newer)
        assert database.connection.execute(count).fetchone() == (3,)
