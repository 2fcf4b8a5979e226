"""Calls between connected users, together with all else that may happen to the two (R24)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from tests.actors.morning import START, connect_pair
from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import MAN, WOMAN, news, status, told
from yoked_actor.client import CallRefused, Client, CommandRefused, Event, Suspended
from yoked_actor.testing import World, open_world


@pytest.fixture
async def world(autojump_clock: MockClock, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(start=START, database=tmp_path / "yoked.db") as world:
        yield world


async def ring(caller: Client, callee: Client, connection_id: str) -> str:
    """Call; the id of the call, which both know of."""
    placed = await caller.start_date(connection_id)
    assert (await callee.wait_for("call")).call_id == placed.call_id
    return str(placed.call_id)


async def ends(*clients: Client) -> list[str]:
    return [(await client.wait_for("call_ended")).reason for client in clients]


async def refusal(client: Client, command: str, **fields: str) -> str:
    with pytest.raises(CommandRefused) as refused:
        await client.command(command, **fields)
    return refused.value.code


def calls(events: list[Event]) -> list[tuple[str, ...]]:
    return [line for line in told(events) if line[0] in ("call", "call_ended", "date_started")]


async def test_a_call_is_missed_when_its_time_is_up(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    began = trio.current_time()
    call_id = await ring(ana, ben, connection_id)
    assert await ends(ana, ben) == ["missed", "missed"]
    assert trio.current_time() - began == pytest.approx(15)
    assert await refusal(ben, "accept_call", call_id=call_id) == "not_found"
    for user_id in ("ana", "ben"):
        assert "call" not in await status(world, user_id)


async def test_a_waiting_callee_is_called_out_of_the_line(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ben.block("zoe")
    await ben.spin()
    call_id = await ring(ana, ben, connection_id)
    reply = await ben.accept_call(call_id)
    heard = told(await news(ben))
    assert heard[-3:] == [("call_ended", "accepted"), ("idle", "date"), ("date_started",)]
    assert (await status(world, "ben"))["date"]["date_id"] == reply.date_id
    assert world.audit() == []


async def test_a_match_makes_the_callee_busy_and_a_spin_of_the_caller_cancels(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ring(ana, ben, connection_id)
    zoe = await world.join("zoe", **WOMAN)
    await zoe.spin()
    await ben.spin()
    assert calls(await news(ben)) == [("call_ended", "busy")]
    assert calls(await news(ana)) == [("call_ended", "busy")]
    # In the match he is busy at once, and nothing rings.
    await ana.start_date(connection_id)
    assert await ends(ana, ben) == ["busy", "busy"]
    assert "call" not in [event.type for event in await news(ben)]
    await ben.leave()
    await zoe.leave()
    await ring(ana, ben, connection_id)
    await ana.spin()
    assert await ends(ana, ben) == ["cancelled", "cancelled"]
    assert world.audit() == []


async def test_a_block_a_suspension_and_an_erasure_end_a_call_and_disclose_nothing(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ring(ana, ben, connection_id)
    await ben.block("ana")
    assert await ends(ana, ben) == ["declined", "declined"]
    assert await refusal(ana, "start_date", connection_id=connection_id) == "not_found"
    await world.api("ben").call("DELETE", "/api/blocks/ana")
    call_id = await ring(ana, ben, connection_id)
    await operator(world).call("POST", "/api/admin/users/ben/suspend", {"reason": "rude"})
    assert await ends(ana) == ["lost"]
    with pytest.raises(CallRefused) as refused:
        await world.api("ben").accept_call(call_id)
    assert refused.value.code == "suspended"
    with pytest.raises(Suspended):
        await ben.wait_for("date_started")
    await operator(world).call("POST", "/api/admin/users/ben/unsuspend")
    ben = await world.connect("ben")
    await ring(ben, ana, connection_id)
    await world.api("ben").call("DELETE", "/api/me")
    assert await ends(ana) == ["lost"]
    assert await refusal(ana, "start_date", connection_id=connection_id) == "not_found"
    assert world.audit() == []


async def test_a_caller_who_is_suspended_or_erased_stops_ringing_and_discloses_nothing(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    call_id = await ring(ana, ben, connection_id)
    await operator(world).call("POST", "/api/admin/users/ana/suspend", {"reason": "rude"})
    assert await ends(ben) == ["lost"]
    assert await refusal(ben, "accept_call", call_id=call_id) in ("not_found", "wrong_state")
    assert await world.api("ben").connections() == []
    await operator(world).call("POST", "/api/admin/users/ana/unsuspend")
    ana = await world.connect("ana")
    call_id = await ring(ana, ben, connection_id)
    await world.api("ana").call("DELETE", "/api/me")
    assert await ends(ben) == ["lost"]
    assert await refusal(ben, "accept_call", call_id=call_id) in ("not_found", "wrong_state")
    assert await world.api("ben").connections() == []
    assert world.audit() == []


async def test_a_crash_forgets_a_call_and_both_see_the_same(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    call_id = await ring(ana, ben, connection_id)
    await world.crash()
    await world.start()
    for client in (ana, ben):
        await client.wait_connected()
        assert not client.resumed
        assert "call" not in client.snapshot
    assert await refusal(ben, "accept_call", call_id=call_id) == "not_found"
    assert await refusal(ana, "cancel_call", call_id=call_id) == "not_found"
    # A new call has another id, and the old id does not answer it.
    await news(ben)
    newer = await ring(ana, ben, connection_id)
    assert newer != call_id
    assert await refusal(ben, "accept_call", call_id=call_id) == "not_found"
    await ben.accept_call(newer)
    await ana.wait_for("date_started")


async def test_an_accepted_call_is_a_date_that_a_crash_does_not_forget(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    date_id = (await ben.accept_call(await ring(ana, ben, connection_id))).date_id
    await world.crash()
    await world.start()
    for client in (ana, ben):
        await client.wait_connected()
        assert client.snapshot["date"]["date_id"] == date_id


async def test_a_drain_ends_a_call_before_it_says_so(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    call_id = await ring(ana, ben, connection_id)
    world.server.drain()
    for client in (ana, ben):
        heard = [line for line in told(await news(client)) if line[0] != "welcome"]
        assert heard == [("call_ended", "lost"), ("draining",)]
    assert await refusal(ben, "accept_call", call_id=call_id) == "not_found"
    assert await refusal(ana, "start_date", connection_id=connection_id) == "draining"


async def test_a_second_device_of_the_callee_sees_the_call_and_answers_it(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    call_id = await ring(ana, ben, connection_id)
    phone = await world.connect("ben")
    assert phone.snapshot["call"]["call_id"] == call_id
    assert phone.snapshot["call"]["incoming"] is True
    await phone.accept_call(call_id)
    assert await ends(ana, phone) == ["accepted", "accepted"]
    assert "date_started" not in [event.type for event in await news(ben)]


async def test_a_callee_whose_socket_breaks_hears_the_call_on_resuming(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ben.drop()
    with pytest.raises(CommandRefused, match="not online"):
        await ana.start_date(connection_id)
    await ben.wait_connected()
    call_id = await ring(ana, ben, connection_id)
    await ben.drop()
    await ben.wait_connected()
    await ben.accept_call(call_id)
    await ana.wait_for("date_started")


async def test_a_caller_who_vanishes_is_lost_to_the_callee(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ring(ana, ben, connection_id)
    began = trio.current_time()
    await ana.drop(stay_away=True)
    assert await ends(ben) == ["lost"]
    assert trio.current_time() - began == pytest.approx(10, abs=0.1)


async def test_the_same_id_again_has_no_second_effect(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    call_id = await ring(ana, ben, connection_id)
    first = await ben.command("accept_call", id="x", call_id=call_id)
    await ben.end_date(first.date_id)
    again = await ben.command("accept_call", id="x", call_id=call_id)
    assert again.date_id == first.date_id
    assert [line[0] for line in calls(await news(ben))].count("date_started") == 1


async def test_one_user_cannot_ring_another_without_end(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    for _ in range(5):
        await ben.decline_call(await ring(ana, ben, connection_id))
    assert await refusal(ana, "start_date", connection_id=connection_id) == "rate_limited"
    # A session of its own, and a user who has left memory, count all the same.
    await ana.close()
    await trio.sleep(550)
    ana = await world.connect("ana")
    assert await refusal(ana, "start_date", connection_id=connection_id) == "rate_limited"
    await trio.sleep(60)
    await ring(ana, ben, connection_id)


async def test_a_callee_who_polls_is_rung_over_http(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben, connection_id = await connect_pair(world)
    await ben.close()
    api = world.api("ben")
    await api.call("POST", "/api/heartbeat")
    placed = await ana.start_date(connection_id)
    for _ in range(4):
        await trio.sleep(3)
        assert (await status(world, "ben"))["call"]["call_id"] == placed.call_id
    answer = await api.accept_call(placed.call_id)
    assert (await ana.wait_for("date_started")).date_id == answer["date_id"]


@pytest.mark.parametrize("body", ["", "x" * 65])
async def test_bad_ids_are_refused(autojump_clock: MockClock, world: World, body: str) -> None:
    ana = await world.join("ana", **WOMAN)
    await world.join("ben", **MAN)
    for command in ("accept_call", "decline_call", "cancel_call"):
        assert await refusal(ana, command, call_id=body) == "bad_request"


async def test_a_caller_is_told_that_the_partner_is_in_another_room(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(
        start=START, database=tmp_path / "yoked.db", settings={"rooms": {"jazz": {}}}
    ) as world:
        ana, ben, connection_id = await connect_pair(world)
        await ben.enter_room("jazz")
        [seen] = (await world.api("ana").call("GET", "/api/connections"))["connections"]
        assert seen["online"] is True
        with pytest.raises(CommandRefused, match="wrong_state: your partner is in another room"):
            await ana.start_date(connection_id)
        with pytest.raises(CallRefused, match="a call reaches only users of your room"):
            await world.api("ana").call("POST", f"/api/connections/{connection_id}/date")
        await ana.enter_room("jazz")
        await ring(ana, ben, connection_id)
