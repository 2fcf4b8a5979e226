"""Text that tricks its readers is refused at every door, and what is stored stays readable."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.edge.test_http_admin import URL, operator
from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from tests.scenarios.talker import Talker
from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import World, make_profile, open_world

TRICKS = {
    "NUL": "a\x00b",
    "line break": "a\nb",
    "override": "a\u202eb",
    "isolate": "a\u2066b",
    "zero width": "a\u200bb",
    "joiner": "a\u200db",
    "marks": "a" + "\u0301" * 5,
}


@pytest.fixture(params=list(TRICKS.values()), ids=list(TRICKS))
def trick(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def refused(call: Any, field: str) -> None:
    with pytest.raises(CallRefused, match=f"400 bad_request: {field}"):
        await call


async def reports(world: World) -> list[Any]:
    found = await operator(world).call("GET", "/api/admin/reports")
    return list(found["reports"])


async def test_a_profile_with_a_trick_is_refused_and_the_old_one_stays(autojump_clock, trick):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        api = world.api("ana")
        before = await api.call("GET", "/api/profile")
        for field, values in (
            ("display_name", {"display_name": trick}),
            (r"interests\[1\]", {"interests": ["jazz", trick]}),
        ):
            await refused(api.call("PUT", "/api/profile", before | values), field)
            login = Api(URL, dial=world.dial()).login("ana", before | values)
            await refused(login, field)
        assert await api.call("GET", "/api/profile") == before


async def test_a_report_with_a_trick_is_refused_at_both_doors(autojump_clock, trick):
    async with open_world() as world:
        await join_pair(world)
        body = {"user_id": "ben", "reason": trick}
        await refused(world.api("ana").call("POST", "/api/reports", body), "reason")
        talker, _ = await Talker.greet(world, "ana")
        for _ in range(2):
            await talker.say({"type": "report", "id": "r1", **body})
            told = await talker.hear()
            assert (told["type"], told["re"], told["code"]) == ("error", "r1", "bad_request")
            assert told["message"].startswith("reason ")
        await talker.say({"type": "heartbeat", "id": "h"})
        assert (await talker.hear())["re"] == "h"
        assert await reports(world) == []


async def test_an_operators_reason_with_a_trick_is_refused(autojump_clock, trick):
    async with open_world() as world:
        await join_pair(world)
        suspend = "/api/admin/users/ben/suspend"
        await refused(operator(world).call("POST", suspend, {"reason": trick}), "reason")
        assert (await world.api("ben").call("GET", "/api/match/status"))["state"] == "idle"


@pytest.mark.parametrize("lone", ["\\ud83d", "\\udc00", "x\\ud83dx", "\\udc00\\ud83d"])
async def test_half_a_surrogate_pair_is_a_bad_request_and_no_end_of_the_socket(
    autojump_clock, lone
):
    async with open_world() as world:
        await join_pair(world)
        raw = f'{{"type": "report", "id": "r1", "user_id": "ben", "reason": "{lone}"}}'
        assert json.loads(raw)
        talker, _ = await Talker.greet(world, "ana")
        await talker.write(raw.encode())
        told = await talker.hear()
        assert (told["re"], told["code"]) == ("r1", "bad_request")
        assert told["message"] == "a text holds half of a surrogate pair"
        await talker.say({"type": "heartbeat", "id": "h"})
        assert (await talker.hear())["re"] == "h"
        body = f'{{"user_id": "ben", "reason": "{lone}"}}'.encode()
        answer = await world.api("ana").request("POST", "/api/reports", body)
        assert (answer.status, answer.json()["detail"]) == (
            400,
            "a text holds half of a surrogate pair",
        )


async def test_a_whole_pair_and_an_escaped_backslash_are_text(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        body = rb'{"user_id": "ben", "reason": "\ud83d\ude00 \\ud83d"}'
        await world.api("ana").request("POST", "/api/reports", body)
        assert [one["reason"] for one in await reports(world)] == ["\U0001f600 \\ud83d"]


async def test_a_name_is_stored_composed_and_trimmed(autojump_clock):
    async with open_world() as world:
        api = Api(URL, dial=world.dial())
        profile = make_profile(" Rene\u0301 ", **MAN, interests=["cafe\u0301", " caf\u00e9 "])
        await api.login("ben", profile)
        stored = await api.call("GET", "/api/profile")
        assert (stored["display_name"], stored["interests"]) == ("Ren\u00e9", ["caf\u00e9"])


async def test_a_name_from_before_the_rule_is_still_read_and_harms_only_its_owner(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        await world.crash()
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            db.execute("UPDATE people SET display_name = ? WHERE user_id = 'ben'", ("B\u202een",))
        await world.start()
        ana, ben = await world.connect("ana"), await world.connect("ben")
        await match(ana, ben)
        own = await world.api("ben").call("GET", "/api/profile")
        assert own["display_name"] == "B\u202een"
        await refused(world.api("ben").call("PUT", "/api/profile", own), "display_name")
        own["display_name"] = "Ben"
        await world.api("ben").call("PUT", "/api/profile", own)
