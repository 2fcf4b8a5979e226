"""A user who leaves a match gets its end first, over socket and HTTP (R7, R12)."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, open_voting, status, told
from tests.scenarios.talker import Talker
from yoked_actor.client import Api
from yoked_actor.testing import open_world
from yoked_actor.testing.world import URL

WAYS = {
    "spin": ("waiting", ("waiting", "spun")),
    "leave": ("idle", ("idle", "left")),
}
"""How a match can be left: where that leads, and what is told after its end."""


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("door", ["socket", "http"])
async def test_a_user_who_leaves_before_voting_gets_the_cancellation(autojump_clock, way, door):
    following, after = WAYS[way]
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ben.acknowledge(match_id)
        if door == "socket":
            assert (await ben.command(way)).state == following
        else:
            assert (await world.api("ben").call("POST", f"/api/{way}"))["state"] == following
        heard = await news(ben)
        assert told(heard) == [("match_cancelled", "you_left", following), after]
        assert heard[0].match_id == match_id
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        snapshot = await status(world, "ben")
        assert (snapshot["state"], snapshot["last_match_id"]) == (following, match_id)
        assert "last_outcome" not in snapshot


@pytest.mark.parametrize(
    ("way", "partner_vote", "outcome"),
    [
        ("spin", "yes", "yes_pass"),
        ("spin", "pass", "pass_pass"),
        ("leave", "yes", "yes_idle"),
        ("leave", "pass", "pass_idle"),
    ],
)
async def test_a_user_who_leaves_a_vote_gets_its_outcome(
    autojump_clock, way, partner_vote, outcome
):
    following, after = WAYS[way]
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, partner_vote)
        await world.api("ben").call("POST", f"/api/{way}")
        heard = await news(ben)
        assert told(heard) == [("outcome", "you_left", outcome, following), after]
        assert (heard[0].match_id, heard[0].credit) == (match_id, 0)
        assert told(await news(ana)) == [
            ("outcome", outcome, "waiting"),
            ("waiting", "requeued"),
        ]
        snapshot = await status(world, "ben")
        assert (snapshot["last_match_id"], snapshot["last_outcome"]) == (match_id, outcome)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("own_vote", [None, "yes", "pass"])
async def test_a_user_who_leaves_before_the_partner_votes_gets_the_cancellation(
    autojump_clock, way, own_vote
):
    following, after = WAYS[way]
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        if own_vote is not None:
            await ben.vote(match_id, own_vote)
        await ben.command(way)
        assert told(await news(ben)) == [("outcome", "you_left", "cancelled", following), after]
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        snapshot = await status(world, "ben")
        assert snapshot["last_match_id"] == match_id
        assert "last_outcome" not in snapshot


async def test_the_reply_comes_first_then_the_end_then_the_next_match(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await world.sign_up("dora", **WOMAN)
        ben, _ = await Talker.greet(world, "ben")
        await ana.spin()
        first = (await ben.ask("spin"))["match_id"]
        await ana.acknowledge(first)
        await ben.news()
        await ben.ask("acknowledge", match_id=first)
        await world.api("dora").call("POST", "/api/spin")
        await ben.news()
        await ben.say({"type": "spin", "id": "away"})
        reply, ended, matched = [await ben.hear() for _ in range(3)]
        assert (reply["re"], reply["state"]) == ("away", "matched")
        assert (ended["type"], ended["match_id"], ended["reason"]) == ("outcome", first, "you_left")
        assert ended["next"] == "waiting"
        assert (matched["type"], matched["match_id"]) == ("matched", reply["match_id"])
        assert matched["partner"]["user_id"] == "dora"


async def test_a_missed_end_is_sent_on_return(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        await ben.acknowledge(match_id)
        await ben.drop(stay_away=True)
        await world.api("ben").call("POST", "/api/spin")
        await trio.sleep(1)
        await ben.come_back()
        assert ben.resumed
        heard = told(await news(ben))
        assert heard[:2] == [("match_cancelled", "you_left", "waiting"), ("waiting", "spun")]
        assert ben.snapshot["last_match_id"] == match_id


async def test_a_match_that_was_left_stays_left_after_a_crash(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        await ben.leave()
        assert told(await news(ben))[0] == ("outcome", "you_left", "yes_idle", "idle")
        await world.crash()
        await world.start()
        snapshot = await status(world, "ben")
        assert (snapshot["state"], snapshot["last_match_id"]) == ("idle", match_id)
        assert snapshot["last_outcome"] == "yes_idle"
        assert (await status(world, "ana"))["last_outcome"] == "yes_idle"


async def test_a_user_who_is_suspended_in_a_match_is_not_told_that_they_left(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await open_voting(ana, ben)
        operator = Api(URL, world.token("op", admin=True), dial=world.dial())
        await operator.call("POST", "/api/admin/users/ben/suspend", {"reason": "rude"})
        assert "you_left" not in str(told(await news(ben)))
        assert told(await news(ana))[0] == ("match_cancelled", "partner_left", "waiting")
