"""A server drains: votes in progress are counted, users are notified, places are kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from tests.edge.raw_client import upgrade_request
from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, open_voting, settle, told
from tests.store.raw import raw_connection
from yoked_actor.client import Api, CallRefused, Client, CommandRefused
from yoked_actor.testing import World, open_world


@pytest.fixture
async def world(autojump_clock: MockClock, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database=tmp_path / "yoked.db") as world:
        yield world


@asynccontextmanager
async def stopping(world: World) -> AsyncIterator[None]:
    """The server drains while the block runs; it has ended when the block is left."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(world.stop)
        await trio.testing.wait_all_tasks_blocked()
        yield


async def readiness(world: World) -> tuple[int, str]:
    answer = await Api("http://world.test", dial=world.dial()).request("GET", "/readyz")
    return answer.status, answer.json()["status"]


async def back(world: World, *clients: Client) -> None:
    await world.start()
    for client in clients:
        await client.wait_connected()


async def test_a_waiting_user_does_not_delay_the_stop_and_keeps_the_place(
    autojump_clock: MockClock, world: World
) -> None:
    ana = await world.join("ana", **WOMAN)
    await ana.spin()
    since = (await ana.wait_for("waiting")).since
    await trio.sleep(5)
    began = trio.current_time()
    await world.stop()
    assert trio.current_time() - began < 0.1, "there is nothing to wait for"
    assert (await ana.wait_for("draining")).reconnect_after_s == 2.0
    await back(world, ana)
    assert (ana.snapshot["state"], ana.snapshot["waiting_since"]) == ("waiting", since)


async def test_a_client_does_not_reconnect_before_the_announced_time(
    autojump_clock: MockClock, world: World
) -> None:
    world.server.base.settings.server.renew({"reconnect_after_s": 30.0})
    ana = await world.join("ana", **WOMAN)
    await world.stop()
    began = trio.current_time()
    await back(world, ana)
    assert 30.0 <= trio.current_time() - began < 31.0


async def test_a_vote_in_progress_is_counted_and_its_outcome_sent_before_the_stop(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    match_id = await open_voting(ana, ben)
    await ana.vote(match_id, "yes")
    began = trio.current_time()
    async with stopping(world):
        await trio.sleep(3)
        await ben.vote(match_id, "pass")
    assert trio.current_time() - began == pytest.approx(3, abs=0.1), "and not longer"
    assert told(await news(ana)) == [
        ("outcome", "yes_pass", "waiting"),
        ("waiting", "requeued"),
        ("draining",),
    ]
    assert told(await news(ben))[-1] == ("draining",)
    await back(world, ana, ben)
    assert (ana.snapshot["state"], ana.snapshot["credit"]) == ("waiting", 10)
    assert ben.snapshot["state"] == "waiting"


async def test_a_match_that_was_just_made_may_be_acknowledged_and_decided(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    match_id = await match(ana, ben)
    async with stopping(world):
        for client in (ana, ben):
            await client.acknowledge(match_id)
        await trio.sleep(1)
        for client in (ana, ben):
            await client.vote(match_id, "yes")
    assert told(await news(ana))[-2:] == [("date_started",), ("draining",)]
    await back(world, ana, ben)
    assert ana.snapshot["date"]["partner"]["user_id"] == "ben"


async def test_a_missing_vote_is_not_waited_for_beyond_the_limit(
    autojump_clock: MockClock, world: World
) -> None:
    world.server.base.settings.server.renew({"drain_votes_s": 4.0})
    ana, ben = await join_pair(world)
    match_id = await open_voting(ana, ben)
    await ana.vote(match_id, "yes")
    began = trio.current_time()
    with capture_logs() as logs:
        await world.stop()
    assert trio.current_time() - began == pytest.approx(4, abs=0.1)
    [drained] = [line for line in logs if line["event"] == "drained"]
    assert (drained["matches_left"], drained["in_time"]) == (1, False)
    assert told(await news(ben)) == [("draining",)]
    # The next server takes the match up, with the vote that was given (R18).
    await back(world, ana, ben)
    assert ana.snapshot["match"]["voted"]
    assert ben.snapshot["match"]["match_id"] == match_id
    await ben.vote(match_id, "yes")
    assert (await ana.wait_for("outcome")).outcome == "both_yes"


async def test_hurry_ends_the_drain_at_once(autojump_clock: MockClock, world: World) -> None:
    ana, ben = await join_pair(world)
    await open_voting(ana, ben)
    began = trio.current_time()
    async with stopping(world):
        await trio.sleep(1)
        world.server.hurry()
    assert trio.current_time() - began == pytest.approx(1, abs=0.1)
    assert told(await news(ana)) == [("draining",)]


async def test_a_draining_server_makes_no_matches(autojump_clock: MockClock, world: World) -> None:
    ana, ben = await join_pair(world)
    first = await open_voting(ana, ben)
    cleo, dan = await join_pair(world, "cleo", "dan")
    second = await open_voting(cleo, dan)
    async with stopping(world):
        for client, match_id in ((ana, first), (ben, first), (cleo, second)):
            await client.vote(match_id, "pass")
        with pytest.raises(CommandRefused) as refused:
            await dan.spin()
        assert refused.value.code == "draining"
        await dan.vote(second, "pass")
    for client in (ana, ben, cleo, dan):
        assert "matched" not in [event.type for event in await news(client)]
    await back(world, ana, ben, cleo, dan)
    await trio.sleep(1)
    assert {client.snapshot["state"] for client in (ana, ben, cleo, dan)} <= {"waiting", "matched"}
    assert len({(await client.wait_for("matched")).match_id for client in (ana, cleo)}) == 2
    assert world.audit() == []


async def test_two_http_users_are_not_paired_and_keep_their_places(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    await open_voting(ana, ben)
    await world.sign_up("cleo", **WOMAN)
    await world.sign_up("dan", **MAN)
    since = (await world.api("cleo").call("GET", "/api/match/status")).get("waiting_since")
    assert since is None
    assert (await world.api("cleo").call("POST", "/api/spin"))["state"] == "waiting"
    since = (await world.api("cleo").call("GET", "/api/match/status"))["waiting_since"]
    async with stopping(world):
        with pytest.raises(CallRefused) as refused:
            await world.api("dan").call("POST", "/api/spin")
        assert (refused.value.status, refused.value.code) == (503, "draining")
        assert await readiness(world) == (503, "draining")
        world.server.hurry()
    await world.start()
    status = await world.api("cleo").call("GET", "/api/match/status")
    assert (status["state"], status["waiting_since"]) == ("waiting", since)


async def test_a_vote_over_http_ends_the_wait_too(autojump_clock: MockClock, world: World) -> None:
    ana, ben = await join_pair(world)
    match_id = await open_voting(ana, ben)
    await ben.vote(match_id, "yes")
    await ana.drop(stay_away=True)
    began = trio.current_time()
    async with stopping(world):
        await trio.sleep(1)
        body = {"match_id": match_id, "vote": "yes"}
        assert (await world.api("ana").call("POST", "/api/vote", body))["outcome"] == "both_yes"
    assert trio.current_time() - began == pytest.approx(1, abs=0.1)


async def test_while_it_drains_the_server_answers_and_takes_no_new_socket(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    await open_voting(ana, ben)
    cleo = await world.join("cleo", **WOMAN)
    async with stopping(world):
        assert told(await news(cleo)) == [("draining",)], "she is in no match"
        assert await readiness(world) == (503, "draining")
        late = await world.dial()()
        await late.send_all(upgrade_request())
        assert (await late.receive_some()).startswith(b"HTTP/1.1 503 ")
        assert ana.is_connected
        assert cleo.is_connected, "until the server goes"
        world.server.hurry()


async def test_a_date_does_not_delay_the_stop_and_continues_after_the_restart(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    await settle(ana, ben, ("yes", "yes"))
    ends_at = (await ana.wait_for("date_started")).ends_at
    await trio.sleep(20)
    began = trio.current_time()
    await world.stop()
    assert trio.current_time() - began < 0.1
    await back(world, ana, ben)
    assert ana.snapshot["date"]["ends_at"] == ends_at
    await trio.sleep(100)
    assert "date_ended" not in [event.type for event in await news(ben)]


async def test_a_recovered_match_without_its_users_is_not_waited_for(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    await open_voting(ana, ben)
    await ana.drop(stay_away=True)
    await ben.drop(stay_away=True)
    await world.crash()
    await world.start()
    began = trio.current_time()
    await world.stop()
    assert trio.current_time() - began < 0.1


async def test_a_full_disk_does_not_delay_the_stop_beyond_the_limit(
    autojump_clock: MockClock, world: World
) -> None:
    ana, ben = await join_pair(world)
    match_id = await open_voting(ana, ben)
    connection = raw_connection(world.server.base.store)
    connection.execute("PRAGMA query_only = ON")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ana.vote, match_id, "yes")
        await trio.sleep(1)
        began = trio.current_time()
        await world.stop()
        assert trio.current_time() - began <= 12 + 5 + 5
        # Told nothing that was not stored, and once it can be, the vote is taken.
        await back(world, ana, ben)
    assert ana.snapshot["match"]["match_id"] == match_id


async def test_an_operator_can_start_a_drain(autojump_clock: MockClock, world: World) -> None:
    ana = await world.join("ana", **WOMAN)
    with pytest.raises(CallRefused) as refused:
        await world.api("ana").call("POST", "/api/admin/drain")
    assert refused.value.code == "forbidden"
    api = Api("http://world.test", world.token("root", admin=True), dial=world.dial())
    answer = await api.call("POST", "/api/admin/drain")
    assert answer == {"status": "draining", "votes_s": 8.0, "reconnect_after_s": 2.0}
    await ana.wait_for("draining")
    await world.stopped()
    await back(world, ana)
