"""One match, why it was made, and its end, as operators ask over HTTP."""

from __future__ import annotations

import pytest

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import join_pair, match, news, open_voting, state_of, told
from yoked_actor.client import CallRefused
from yoked_actor.testing import World, open_world


async def end(world: World, match_id: str, reason: str = "under age") -> None:
    path = f"/api/admin/matches/{match_id}/end"
    await operator(world).call("POST", path, {"reason": reason})


async def test_a_match_is_explained_without_votes_and_places(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        found = await operator(world).call("GET", f"/api/admin/matches/{match_id}")
        assert (found["match_id"], found["status"], found["outcome"]) == (match_id, "voting", None)
        assert [one["user_id"] for one in found["sides"]] == ["ana", "ben"]
        assert found["sides"][0]["card"]["display_name"] == "Ana"
        assert found["sides"][0]["group"] == "woman seeking man"
        assert found["sides"][0]["tier"] == 1
        assert found["policy"] == "fair_queue"
        assert "yes" not in str(found)


@pytest.mark.parametrize("voting", [False, True])
async def test_an_ended_match_looks_to_both_as_if_the_partner_had_left(autojump_clock, voting):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await (open_voting if voting else match)(ana, ben)
        if voting:
            await ana.vote(match_id, "yes")
        for client in (ana, ben):
            await news(client)
        await end(world, match_id)
        for name, client in (("ana", ana), ("ben", ben)):
            assert told(await news(client))[:2] == [
                ("match_cancelled", "partner_left", "waiting"),
                ("waiting", "partner_left"),
            ]
            assert await state_of(world, name) == "waiting"
        with pytest.raises(CallRefused, match="404 not_found"):
            await end(world, match_id)
        [entry] = (await operator(world).call("GET", "/api/admin/audit"))["entries"]
        assert (entry["action"], entry["subject"], entry["detail"]) == (
            "end_match",
            match_id,
            "under age",
        )


@pytest.mark.parametrize("match_id", ["m404", "404", "m", "mx", "x" * 80])
async def test_there_is_no_such_match(autojump_clock, match_id):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="404 not_found"):
            await operator(world).call("GET", f"/api/admin/matches/{match_id}")
        with pytest.raises(CallRefused, match="404 not_found"):
            await end(world, match_id)


@pytest.mark.parametrize("reason", ["", "x" * 501, "a\x00b"])
async def test_an_end_needs_a_reason(autojump_clock, reason):
    async with open_world() as world:
        match_id = await match(*await join_pair(world))
        with pytest.raises(CallRefused, match="400 bad_request"):
            await end(world, match_id, reason)
        assert await state_of(world, "ana") == "matched"
