"""All that is kept of somebody, as it is handed to them; and nothing of anybody else."""

from __future__ import annotations

import json

import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, open_voting, settle
from yoked_actor.domain.people.shown_places import BANDS_KM
from yoked_actor.testing import World, open_world

EXPORT = "/api/me/export"


async def export(world: World, user_id: str):
    answer = await world.api(user_id).request("GET", EXPORT)
    assert answer.status == 200
    return answer.json()


async def test_an_export_holds_all_that_is_kept(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await settle(ana, ben, ("yes", "pass"))
        await ana.command("block", user_id="mallory")
        await ana.command("report", user_id="ben", reason="late", match_id=match_id)
        data = await export(world, "ana")
    assert data["profile"]["display_name"] == "Ana"
    assert (data["profile"]["lat"], data["profile"]["seeking"]) == (52.52, ["man"])
    assert (data["seat"]["state"], data["seat"]["credit"]) == ("waiting", 10)
    assert [block["user_id"] for block in data["blocks"]] == ["mallory"]
    assert [met["user_id"] for met in data["met"]] == ["ben"]
    [own] = data["matches"]
    assert (own["match_id"], own["partner"], own["vote"]) == (match_id, "ben", "yes")
    assert (own["outcome"], own["tier"]) == ("yes_pass", 1)
    assert own["distance_km"] in BANDS_KM
    assert [(report["user_id"], report["reason"]) for report in data["reports"]] == [
        ("ben", "late")
    ]
    assert data["suspended"] is None


async def test_a_date_is_in_it(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        await ana.command("end_date", date_id=(await ana.wait_for("date_started")).date_id)
        [date] = (await export(world, "ben"))["dates"]
    assert (date["partner"], date["ended_for"]) == ("ana", "ended")


async def test_the_sealed_vote_of_a_partner_is_not_in_it(autojump_clock):
    async with open_world(settings={"matching": {"vote_window_s": 600.0}}) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ben.vote(match_id, "yes")
        [own] = (await export(world, "ana"))["matches"]
    assert own["vote"] is None
    assert "yes" not in json.dumps(own)


async def test_a_user_who_was_blocked_reads_that_the_partner_left(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await ana.command("block", user_id="ben")
        await trio.sleep(1)
        await ben.command("block", user_id="ana")
        blocker, blocked = await export(world, "ana"), await export(world, "ben")
    assert blocker["matches"][0]["cancelled_for"] == "blocked"
    assert blocked["matches"][0]["cancelled_for"] == "partner_left"
    assert "reports" in blocked


async def test_nobody_learns_who_reported_or_blocked_them(autojump_clock):
    async with open_world() as world:
        ana, _ben = await join_pair(world)
        await ana.command("report", user_id="ben", reason="rude")
        await ana.command("block", user_id="ben")
        data = await export(world, "ben")
    assert "ana" not in json.dumps(data)


async def test_an_export_is_made_once_in_a_while(autojump_clock):
    async with open_world() as world:
        api = await world.sign_up("ana", **WOMAN)
        other = await world.sign_up("ben", **MAN)
        assert (await api.request("GET", EXPORT)).status == 200
        assert (await api.request("GET", EXPORT)).status == 429
        assert (await other.request("GET", EXPORT)).status == 200
        await trio.sleep(61)
        assert (await api.request("GET", EXPORT)).status == 200


async def test_a_user_who_has_nothing_gets_nothing(autojump_clock):
    async with open_world() as world:
        data = await export(world, "nobody")
    assert (data["profile"], data["seat"], data["matches"]) == (None, None, [])
