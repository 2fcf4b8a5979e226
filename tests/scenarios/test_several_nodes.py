"""Several nodes, from outside: users of one node are counted, suspended and erased by others."""

from __future__ import annotations

import psycopg
import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, match
from tests.scenarios.several_nodes import Node, Nodes, open_nodes, start_pair, until
from yoked_actor.actors.offers.connection_news import AT_ONCE
from yoked_actor.actors.people import erase_job
from yoked_actor.client import CommandRefused, ConnectionLost, RoomRefused, Suspended, open_client
from yoked_actor.client.dialing import Address, Dial
from yoked_actor.domain.ops import Role


async def here(nodes: Nodes, node: Node, room: str) -> int:
    """How many users are in a room, as a node says."""
    found = {one["room"]: one["here"] for one in await nodes.api(node, "guest").rooms()}
    return int(found[room])


async def test_a_node_counts_the_users_in_rooms_of_other_nodes(postgres_url: str) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        main, jazz = await start_pair(nodes)
        ana = await nodes.join(main, "ana", "jazz", **WOMAN)
        assert ana.room == "jazz"
        await until(lambda: main.server.live.rooms.here("jazz") == 1)
        assert await here(nodes, main, "jazz") == 1
        shown = await nodes.api(main, "root", Role.ADMIN).call("GET", "/api/admin/rooms")
        assert {one["room"]: one["here"] for one in shown["rooms"]}["jazz"] == 1
        await ana.enter_room("main")
        await until(lambda: main.server.live.rooms.here("jazz") == 0)
        assert await here(nodes, main, "jazz") == 0
        assert jazz.value("yoked_room_users", room="jazz") == 0


async def test_the_capacity_of_a_room_holds_for_users_of_other_nodes(postgres_url: str) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {"capacity": 1}}) as nodes:
        main, jazz = await start_pair(nodes)
        await nodes.join(main, "ana", "jazz", **WOMAN)
        ben = await nodes.join(main, "ben", **MAN)
        await until(lambda: main.server.live.rooms.here("jazz") == 1)
        with pytest.raises(CommandRefused, match="room_full"):
            await ben.enter_room("jazz")
        assert (await ben.spin()).state == "waiting"
        with pytest.raises(RoomRefused, match="room_full"):
            await nodes.join(main, "cleo", "jazz", **WOMAN)
        # A node that counted too few has sent a user: the node of the room sends them back.
        guard = main.server.live.rooms.rooms["main"].guard
        assert guard is not None
        await main.server.base.store.nodes.move_user("eve", "jazz", guard.lease)
        eve = await nodes.join(jazz, "eve", **WOMAN)
        assert eve.room == "main"
        assert jazz.value("yoked_room_users", room="jazz") == 1


async def test_users_of_other_nodes_are_erased_by_a_job_without_a_failed_run(
    postgres_url: str,
) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        pair = main, _ = await start_pair(nodes)
        names = [f"user{number}" for number in range(6)]
        for number, name in enumerate(names):
            await nodes.join(main, name, "jazz" if number % 2 else "main", **WOMAN)
        base = main.server.base
        now = base.clock.now()

        def done() -> float:
            labels = {"type": "users.erase", "result": "completed"}
            return sum(node.value("yoked_job_runs_total", **labels) or 0 for node in pair)

        jobs = await base.dispatcher.enqueue([erase_job(name, "root", now) for name in names])
        await until(lambda: done() == len(jobs))
        for name in names:
            assert await base.store.load_person(name) is None
        for node in pair:
            for result in ("failed", "dead_letter"):
                labels = {"type": "users.erase", "result": result}
                assert node.value("yoked_job_runs_total", **labels) == 0


async def test_a_suspension_and_a_warning_reach_users_of_other_nodes(postgres_url: str) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        main, jazz = await start_pair(nodes)
        ana = await nodes.join(main, "ana", "jazz", **WOMAN)
        root = nodes.api(main, "root", Role.ADMIN)
        with trio.fail_after(10):
            await root.call("POST", "/api/admin/users/ana/warn", {"text": "be kind"})
            assert (await ana.wait_for("warning")).text == "be kind"
            await root.call("POST", "/api/admin/users/ana/suspend", {"reason": "was not"})
            assert (await ana.wait_for("suspended")).reason == "was not"
        with pytest.raises(Suspended):
            await nodes.connect(jazz, "ana")


async def test_the_rooms_of_a_node_that_stops_are_taken_without_waiting_for_the_next_look(
    postgres_url: str,
) -> None:
    # Without a wake-up the other node would look every ten seconds.
    async with open_nodes(postgres_url, rooms={"jazz": {}}, node={"lease_s": 30.0}) as nodes:
        first = await nodes.start("a")
        await until(lambda: first.owned == {"main", "jazz"})
        second = await nodes.start("b")
        await trio.sleep(0.5)
        first.stop()
        with trio.fail_after(5):
            await until(lambda: second.owned == {"main", "jazz"})


async def lose_the_node_of(room: str, url: str, node: Node) -> None:
    """Another node takes a room, and dies: until its lease expires no node has the room."""
    with psycopg.connect(url, autocommit=True) as database:
        database.execute(
            "UPDATE room_leases SET node = 'gone', epoch = epoch + 1,"
            " expires_at = clock_timestamp() + interval '2 seconds' WHERE room = %s",
            [room],
        )
    await until(lambda: room not in node.owned)


async def test_a_client_that_comes_while_a_room_has_no_node_waits_for_the_next_one(
    postgres_url: str,
) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        main, jazz = await start_pair(nodes)
        await nodes.join(main, "ana", "jazz", **WOMAN)
        dialled: list[str] = []

        def dial_to(address: Address) -> Dial:
            dialled.append(f"http://{address.authority}")
            return address.dial()

        await lose_the_node_of("jazz", postgres_url, jazz)
        async with open_client(main.url, nodes.token(main, "ana"), dial_to=dial_to) as ana:
            assert ana.room == "jazz"
        # It knocks once, and is sent to the node that has taken the room.
        assert dialled == [main.url, jazz.url]


async def test_a_call_while_a_room_has_no_node_is_answered_when_one_has_it(
    postgres_url: str,
) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        main, jazz = await start_pair(nodes)
        await nodes.join(main, "ana", "jazz", **WOMAN)
        await lose_the_node_of("jazz", postgres_url, jazz)
        assert await nodes.api(main, "ana").call("GET", "/api/met") == {"met": []}
        # An operator is answered at once, wherever their own room is.
        await lose_the_node_of("jazz", postgres_url, jazz)
        with trio.fail_after(1):
            await nodes.api(main, "ana", Role.ADMIN).call("GET", "/api/admin/rooms")


async def test_of_two_sockets_of_a_user_that_wait_for_a_node_the_later_one_is_welcomed(
    postgres_url: str,
) -> None:
    async with open_nodes(postgres_url, rooms={"jazz": {}}) as nodes:
        main, jazz = await start_pair(nodes)
        await nodes.join(main, "ana", "jazz", **WOMAN)
        await lose_the_node_of("jazz", postgres_url, jazz)
        codes: list[int | None] = []

        async def come_early() -> None:
            with pytest.raises(ConnectionLost) as lost:
                async with open_client(jazz.url, nodes.token(main, "ana")):
                    pass
            codes.append(lost.value.code)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(come_early)
            await trio.sleep(0.3)
            async with open_client(jazz.url, nodes.token(main, "ana")) as ana:
                assert (await ana.spin()).state == "waiting"
                await until(lambda: codes == [4001])
                assert ana.welcomes == 1


@pytest.mark.parametrize("others", [0, 2 * AT_ONCE])
async def test_a_connection_reaches_the_partner_in_a_room_of_another_node(
    postgres_url: str, others: int
) -> None:
    settings = {"rooms": {"jazz": {}}, "date": {"touch_after_s": 0}}
    async with open_nodes(postgres_url, **settings) as nodes:
        main, jazz = await start_pair(nodes)
        ana = await nodes.join(main, "ana", **WOMAN)
        ben = await nodes.join(main, "ben", **MAN)
        match_id = await match(ana, ben)
        for one in (ana, ben):
            await one.acknowledge(match_id)
        for one in (ana, ben):
            await one.vote(match_id, "yes")
        date_id = (await ana.wait_for("date_started")).date_id
        await ana.end_date(date_id)
        await ben.wait_for("date_ended")
        await ben.enter_room("jazz")
        assert jazz.server.live.sessions.is_connected("ben")
        await ben.stay_in_touch(date_id, "yes")
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            # As many as a node may have missed while the database was away.
            connection.execute(
                "INSERT INTO connections (a, b, opened_at)"
                " SELECT 'a' || n, 'b' || n, 0 FROM generate_series(1, %s) n",
                (others,),
            )
        reply = await ana.stay_in_touch(date_id, "yes")
        with trio.fail_after(5):
            told = await ben.wait_for("connection")
            assert (await ana.wait_for("connection")).connection_id == reply.connection_id
        assert (told.connection_id, told.partner["user_id"]) == (reply.connection_id, "ana")
        # Each is told once, however often the nodes read the connections.
        for node in (main, jazz):
            bell = node.server.base.store.bell
            assert bell is not None
            bell.tell_soon("connections")
        await trio.sleep(0.5)
        again = [event.type for one in (ana, ben) for event in one.pending_events()]
        assert "connection" not in again
