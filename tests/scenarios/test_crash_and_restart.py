"""The server crashes and is started again: users who return find everything as it was (R18)."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
import trio

from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    match,
    news,
    open_voting,
    settle,
    state_of,
    status,
    told,
)
from tests.scenarios.talker import Talker
from yoked_actor.client import Client, CommandRefused
from yoked_actor.testing import World, open_world


@pytest.fixture
async def world(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        yield world


async def crash_and_start(world: World, *away: Client, pause_s: float = 0.0) -> None:
    """Crash, with some people staying away for good, and start again after a while."""
    for client in away:
        await client.drop(stay_away=True)
    await world.crash()
    await trio.sleep(pause_s)
    await world.start()


def seconds_from(earlier: str, later: str) -> float:
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)) / timedelta(seconds=1)


async def test_a_waiting_place_and_credit_are_kept(autojump_clock, world):
    ana, ben = await join_pair(world)
    await settle(ana, ben, ("yes", "pass"))
    await ben.leave()
    since = (await ana.wait_for("waiting")).since
    await trio.sleep(7)
    await crash_and_start(world, pause_s=300)
    await trio.sleep(6)
    await ana.wait_connected()
    assert not ana.resumed
    assert ana.snapshot["state"] == "waiting"
    assert (ana.snapshot["waiting_since"], ana.snapshot["credit"]) == (since, 10)
    assert ana.snapshot["last_outcome"] == "yes_pass"
    tier, welcome, waiting = await news(ana)
    assert tier.tier == 2
    assert welcome.snapshot == ana.snapshot
    # The wait goes on from where it was, and so does what it has opened.
    assert welcome.snapshot["tier"] == 99
    assert (waiting.reason, waiting.since, waiting.seq) == ("resumed", since, 1)
    # The old place counts: she goes before a woman who came later.
    zoe = await world.join("aaa", **WOMAN)
    await zoe.spin()
    carl = await world.join("carl", **MAN)
    await carl.spin()
    assert (await carl.wait_for("matched")).partner["user_id"] == "ana"


async def test_a_user_who_does_not_return_within_the_grace_loses_the_place(autojump_clock, world):
    ana = await world.join("ana", **WOMAN)
    await ana.spin()
    await crash_and_start(world, ana, pause_s=1000)
    await trio.sleep(59.9)
    assert await state_of(world, "ana") == "waiting"
    await trio.sleep(0.1)
    assert await state_of(world, "ana") == "idle"
    await ana.come_back()
    assert ana.snapshot["state"] == "idle"


async def test_a_user_who_is_not_back_is_not_paired(autojump_clock, world):
    ana = await world.join("ana", **WOMAN)
    await ana.spin()
    await crash_and_start(world, ana)
    ben = await world.join("ben", **MAN)
    assert (await ben.spin()).state == "waiting"
    await trio.sleep(30)
    await ana.come_back()
    assert (await ben.wait_for("matched")).partner["user_id"] == "ana"
    assert ana.snapshot["state"] == "matched"


async def test_heartbeats_count_again_for_a_user_who_is_back(autojump_clock, world):
    await world.sign_up("ana", **WOMAN)
    ana, _ = await Talker.greet(world, "ana")
    await ana.ask("spin")
    await world.crash()
    await world.start()
    _ana, welcome = await Talker.greet(world, "ana")
    assert welcome["snapshot"]["state"] == "waiting"
    await trio.sleep(9.9)
    assert await state_of(world, "ana") == "waiting"
    await trio.sleep(0.1)
    assert await state_of(world, "ana") == "idle"


async def test_an_open_match_goes_on_with_a_fresh_window_when_both_are_back(autojump_clock, world):
    ana, ben = await join_pair(world)
    match_id = await match(ana, ben)
    await ana.acknowledge(match_id)
    await crash_and_start(world, ben)
    await trio.sleep(50)
    await ana.wait_connected()
    assert ana.snapshot["match"]["acknowledged"] is True
    # No window runs while somebody is awaited.
    assert "acknowledge_by" not in ana.snapshot["match"]
    assert told(await news(ana)) == [("welcome",)]
    await ben.come_back()
    matched = await ben.wait_for("matched")
    assert matched.match_id == match_id
    assert seconds_from(matched.at, matched.acknowledge_by) == 5
    assert (await ana.wait_for("matched")).acknowledge_by == matched.acknowledge_by
    # What was acknowledged stands: one is enough.
    assert "vote_by" in (await ben.acknowledge(match_id)).fields
    await ana.wait_for("voting")


async def test_a_vote_goes_on_with_a_fresh_window_and_given_votes_stand(autojump_clock, world):
    ana, ben = await join_pair(world)
    match_id = await open_voting(ana, ben)
    await ana.vote(match_id, "yes")
    await trio.sleep(8)
    await crash_and_start(world, ben)
    await trio.sleep(20)
    await ben.come_back()
    voting = await ben.wait_for("voting")
    assert (voting.match_id, seconds_from(voting.at, voting.vote_by)) == (match_id, 10)
    assert (await ana.wait_for("voting")).vote_by == voting.vote_by
    assert (await status(world, "ana"))["match"]["voted"] is True
    with pytest.raises(CommandRefused) as refusal:
        await ana.vote(match_id, "pass")
    assert refusal.value.code == "already_voted"
    assert (await ben.vote(match_id, "yes")).outcome == "both_yes"


async def test_a_match_whose_partner_stays_away_is_cancelled_as_the_servers_fault(
    autojump_clock, world
):
    ana, ben = await join_pair(world)
    await ana.spin()
    since = (await ana.wait_for("waiting")).since
    await trio.sleep(5)
    match_id = await open_voting(ana, ben)
    await ana.vote(match_id, "yes")
    await crash_and_start(world, ben)
    await trio.sleep(59.9)
    assert told(await news(ana)) == [("welcome",)]
    await trio.sleep(0.1)
    cancelled, waiting = await news(ana)
    assert told([cancelled]) == [("match_cancelled", "server_restart", "waiting")]
    assert (waiting.reason, waiting.since) == ("resumed", since)
    await ben.come_back()
    assert ben.snapshot["state"] == "idle"
    # The pair counts as not met, and nothing keeps them apart.
    assert (await ben.spin()).state == "matched"
    assert (await ana.wait_for("matched")).partner["user_id"] == "ben"


async def test_a_match_that_nobody_comes_back_to_is_over(autojump_clock, world):
    ana, ben = await join_pair(world)
    await match(ana, ben)
    await crash_and_start(world, ana, ben)
    await trio.sleep(61)
    await ana.come_back()
    await ben.come_back()
    assert ana.snapshot["state"] == ben.snapshot["state"] == "idle"
    await match(ana, ben)


async def test_a_date_goes_on_after_a_restart(autojump_clock, world):
    ana, ben = await join_pair(world)
    await settle(ana, ben, ("yes", "yes"))
    date = await ana.wait_for("date_started")
    await crash_and_start(world, pause_s=10)
    await trio.sleep(10)
    await ana.wait_connected()
    assert ana.snapshot["date"]["date_id"] == date.date_id
    assert ana.snapshot["date"]["ends_at"] == date.ends_at
    await ana.end_date(date.date_id)
    assert (await ben.wait_for("date_ended")).reason == "partner_ended"


async def test_blocks_and_profiles_come_back(autojump_clock, world):
    ana, ben = await join_pair(world)
    await ana.block("ben")
    await crash_and_start(world)
    await ana.wait_connected()
    await ben.wait_connected()
    await ana.spin()
    assert (await ben.spin()).state == "waiting"
    blocks = (await world.api("ana").call("GET", "/api/blocks"))["blocks"]
    assert [block["user_id"] for block in blocks] == ["ben"]


async def test_a_pending_command_is_sent_again_and_has_one_effect(autojump_clock, world):
    ana = await world.join("ana", **WOMAN)
    await world.crash()
    replies = []

    async def spin():
        replies.append(await ana.spin())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(spin)
        await trio.sleep(2)
        assert replies == []
        await world.start()
    assert replies[0].state == "waiting"
    assert told(await news(ana)) == [("welcome",), ("waiting", "spun")]


async def test_a_second_crash_in_the_grace_starts_a_new_grace(autojump_clock, world):
    ana, ben = await join_pair(world)
    match_id = await match(ana, ben)
    await crash_and_start(world, ana, ben)
    await trio.sleep(40)
    await ana.come_back()
    await crash_and_start(world, ana)
    await trio.sleep(40)
    await ana.come_back()
    await ben.come_back()
    assert (await ben.wait_for("matched")).match_id == match_id
    assert (await ana.wait_for("matched")).match_id == match_id
    assert world.audit() == []


async def test_match_ids_are_never_given_twice(autojump_clock, world):
    ana, ben = await join_pair(world)
    first = await match(ana, ben)
    await ana.leave()
    await ben.leave()
    await crash_and_start(world)
    await trio.sleep(70)
    assert await match(ana, ben) != first
