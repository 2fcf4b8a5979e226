"""Search for users, and the page of a person, as operators ask over HTTP."""

from __future__ import annotations

import pytest

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import WOMAN, join_pair, settle
from tests.scenarios.test_mornings import SIX
from tests.scenarios.test_suspension import connect_two, suspend, town
from yoked_actor.client import CallRefused
from yoked_actor.testing import World, make_profile, open_world


async def found(world: World, query: str) -> list[str]:
    answer = await operator(world).call("GET", f"/api/admin/users{query}")
    return [one["user_id"] for one in answer["users"]]


async def test_users_are_searched_by_name_and_id(autojump_clock):
    async with open_world() as world:
        for user_id, name in (("u1", "Zo\u00eb"), ("u2", "Ana"), ("ana-3", "Eva")):
            profile = make_profile(name, **WOMAN)
            await world.api(user_id).call("PUT", "/api/profile", profile)
        await suspend(world, "u2")
        assert await found(world, "") == ["ana-3", "u1", "u2"]
        assert await found(world, "?search=ANA") == ["ana-3", "u2"]
        assert await found(world, "?search=zo%C3%AB") == ["u1"]
        assert await found(world, "?search=%25") == []
        assert await found(world, "?suspended=true") == ["u2"]
        assert await found(world, "?limit=1&after=ana-3") == ["u1"]
        answer = await operator(world).call("GET", "/api/admin/users?limit=2")
        assert answer["more"] is True
        assert answer["users"][0] == {
            "user_id": "ana-3",
            "display_name": "Eva",
            "state": "idle",
            "credit": 0,
            "reports": 0,
            "suspended_at": None,
            "suspended_until": None,
        }


@pytest.mark.parametrize(
    "query",
    ["?limit=0", "?limit=1001", "?suspended=1", f"?search={'x' * 81}", f"?after={'x' * 65}"],
)
async def test_a_search_that_is_none_is_refused(autojump_clock, query):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="400 bad_request"):
            await found(world, query)


async def test_the_page_of_a_person_has_everything_but_votes_and_places(autojump_clock):
    async with open_world(start=SIX) as world:
        await town(world)
        connection_id = await connect_two(world)
        ana, ben = await world.connect("ana"), await world.connect("ben")
        match_id = await settle(ana, ben, ("yes", "pass"))
        report = {"user_id": "ben", "reason": "rude", "match_id": match_id}
        await world.api("ana").call("POST", "/api/reports", report)
        await operator(world).call("POST", "/api/admin/users/ben/warn", {"text": "be kind"})
        await suspend(world, "ben", until_s=3600)
        await world.api("ben").request("POST", "/api/appeal", {"text": "sorry"})
        page = await operator(world).call("GET", "/api/admin/users/ben")
        assert page["suspension"]["reason"] == "rude to people"
        assert page["suspension"]["by"] == "root"
        assert [(one["kind"], one["reason"]) for one in page["reports_about"]] == [
            ("appeal", "sorry"),
            ("report", "rude"),
        ]
        assert page["reports_about"][1]["reporter_card"]["display_name"] == "Ana"
        assert page["reports_by"] == []
        assert [one["text"] for one in page["warnings"]] == ["be kind"]
        [past] = page["matches"]
        assert (past["match_id"], past["partner"], past["outcome"]) == (match_id, "ana", "yes_pass")
        assert [one["connection_id"] for one in page["connections"]] == [connection_id]
        assert {one["candidate"] for one in page["offers"]} == {"ana", "eva"}
        assert [one["action"] for one in page["audit"]] == ["appeal", "suspend", "warn"]
        text = str(page)
        assert "vote" not in text.replace("voted", "")
        assert "lat" not in page
        assert "birth_date" not in text
        other = await operator(world).call("GET", "/api/admin/users/ana")
        assert [one["reported"] for one in other["reports_by"]] == ["ben"]
        assert (other["reports_about"], other["suspension"]) == ([], None)


async def test_lists_of_a_page_are_bounded(autojump_clock):
    async with open_world(settings={"console": {"history_shown": 1}}) as world:
        await join_pair(world)
        for reason in ("one", "two"):
            report = {"user_id": "ben", "reason": reason}
            await world.api("ana").call("POST", "/api/reports", report)
        page = await operator(world).call("GET", "/api/admin/users/ben")
        assert [one["reason"] for one in page["reports_about"]] == ["two"]


@pytest.mark.parametrize("user_id", ["nobody", "not%20an%20id", "x" * 65, "%00"])
async def test_there_is_no_page_of_nobody(autojump_clock, user_id):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="404 not_found: there is no such user"):
            await operator(world).call("GET", f"/api/admin/users/{user_id}")


async def test_open_reports_are_counted_live_for_those_who_watch(autojump_clock):
    from tests.edge.test_watch import next_status, watch

    async with open_world() as world:
        await join_pair(world)
        talker = await watch(world, "olga")
        assert (await next_status(talker))["reports"] == 0
        await world.api("ana").call("POST", "/api/reports", {"user_id": "ben", "reason": "rude"})
        await next_status(talker)
        assert (await next_status(talker))["reports"] == 1
        resolve = "/api/admin/reports/1/resolve"
        await operator(world).call("POST", resolve, {"resolution": "nothing"})
        await next_status(talker)
        assert (await next_status(talker))["reports"] == 0
