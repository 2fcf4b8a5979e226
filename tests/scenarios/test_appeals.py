"""A suspended user is told why and until when, and may appeal once a day."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import URL, operator
from tests.scenarios.meeting import MAN, join_pair, open_voting
from tests.scenarios.talker import Talker
from tests.scenarios.test_suspension import restore, suspend
from yoked_actor.actors.people import erase_job
from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import World, make_profile, open_world


async def appeal(world: World, user_id: str, text: Any = "I was misunderstood") -> Any:
    return await world.api(user_id).request("POST", "/api/appeal", {"text": text})


async def queue(world: World) -> list[dict[str, Any]]:
    found = await operator(world).call("GET", "/api/admin/reports?open=1")
    return list(found["reports"])


async def test_a_suspended_user_learns_why_at_every_door(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        talker, _ = await Talker.greet(world, "ben")
        await suspend(world, "ben", until_s=3600)
        told = await talker.hear()
        assert (told["type"], told["reason"], told["until"]) == (
            "suspended",
            "rude to people",
            "2026-01-01T09:00:00Z",
        )
        hung_up = await talker.hung_up()
        assert (hung_up.code, hung_up.reason) == (4003, "suspended: rude to people")
        api = Api(URL, dial=world.dial())
        with pytest.raises(CallRefused, match="403 suspended: you are suspended: rude") as caught:
            await api.login("ben", make_profile("Ben", **MAN))
        assert caught.value.problem["until"] == "2026-01-01T09:00:00Z"
        # Without a profile the login signs a token: the appeal needs one.
        await api.login("ben")
        talker = await Talker.dial(world)
        await talker.say({"type": "hello", "id": "h", "token": api.token})
        told = await talker.hear()
        assert (told["type"], told["code"], told["re"]) == ("error", "suspended", "h")
        assert (told["reason"], told["until"]) == ("rude to people", "2026-01-01T09:00:00Z")
        hung_up = await talker.hung_up()
        assert (hung_up.code, hung_up.reason) == (4003, "suspended: rude to people")
        assert "sign in" not in str(told)
        assert (await api.request("POST", "/api/appeal", {"text": "please"})).status == 202


async def test_a_long_reason_is_cut_in_the_close_frame_only(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        talker, _ = await Talker.greet(world, "ben")
        reason = "ä" * 400
        await operator(world).call("POST", "/api/admin/users/ben/suspend", {"reason": reason})
        assert (await talker.hear())["reason"] == reason
        hung_up = await talker.hung_up()
        assert hung_up.code == 4003
        assert hung_up.reason.startswith("suspended: ää")
        assert len(hung_up.reason.encode()) <= 123


async def test_an_appeal_reaches_the_queue_once_a_day_through_a_crash(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.command("report", user_id="ben", reason="rude", match_id=match_id)
        await ana.close()  # a day of heartbeats takes longer than all the rest
        await suspend(world, "ben")
        assert (await appeal(world, "ben", "It was a joke \U0001f600")).status == 202
        await world.crash()
        await trio.sleep(3600)
        await world.start()
        again = await appeal(world, "ben", "answer me")
        assert (again.status, again.json()["code"]) == (429, "rate_limited")
        assert int(again.headers["retry-after"]) == 23 * 3600
        appealed, report = await queue(world)
        assert (report["kind"], report["reason"], report["reported_times"]) == ("report", "rude", 1)
        assert (appealed["kind"], appealed["reason"]) == ("appeal", "It was a joke \U0001f600")
        assert (appealed["reporter"], appealed["reported"]) == ("ben", "ben")
        assert (appealed["reported_times"], appealed["suspended"]) == (1, True)
        await operator(world).call(
            "POST", f"/api/admin/reports/{appealed['report_id']}/resolve", {"resolution": "stands"}
        )
        assert [one["kind"] for one in await queue(world)] == ["report"]
        own = await world.api("ben").call("GET", "/api/me/export")
        assert own["appeals"] == [
            {
                "text": "It was a joke \U0001f600",
                "at": "2026-01-01T08:00:00Z",
                "resolved_at": "2026-01-01T09:00:00Z",
            }
        ]
        assert own["reports"] == []
        # A resolved appeal still counts for its day.
        assert (await appeal(world, "ben")).status == 429
        await trio.sleep(23 * 3600)
        assert (await appeal(world, "ben")).status == 202
        audit = (await operator(world).call("GET", "/api/admin/audit"))["entries"]
        assert [(one["who"], one["subject"]) for one in audit if one["action"] == "appeal"] == [
            ("ben", "ben"),
            ("ben", "ben"),
        ]


async def test_an_appeal_does_not_use_up_the_reports_of_a_day(autojump_clock):
    async with open_world(settings={"safety": {"reports_per_day": 1}}) as world:
        await join_pair(world)
        await suspend(world, "ben")
        assert (await appeal(world, "ben")).status == 202
        await restore(world, "ben")
        await world.api("ben").call("POST", "/api/reports", {"user_id": "ana", "reason": "rude"})
        with pytest.raises(CallRefused, match="you have made 1 reports"):
            await world.api("ben").call("POST", "/api/reports", {"user_id": "eva", "reason": "x"})


async def test_only_a_suspended_user_appeals(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        refused = await appeal(world, "ben")
        assert (refused.status, refused.json()["code"]) == (409, "wrong_state")
        await suspend(world, "ben", until_s=60)
        await trio.sleep(60)
        assert (await appeal(world, "ben")).status == 409
        assert await queue(world) == []


@pytest.mark.parametrize(
    "text", ["", " ", None, 7, "x" * 1001, "a\x00b", "a\u202eb", "a\u200bb", "\u2800"]
)
async def test_a_text_that_is_none_is_refused_and_costs_nothing(autojump_clock, text):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben")
        refused = await appeal(world, "ben", text)
        assert (refused.status, refused.json()["code"]) == (400, "bad_request")
        assert "text" in refused.json()["detail"]
        assert (await appeal(world, "ben", "x" * 1000)).status == 202


async def test_no_token_no_appeal(autojump_clock):
    async with open_world() as world:
        api = Api(URL, dial=world.dial())
        assert (await api.request("POST", "/api/appeal", {"text": "please"})).status == 401


async def test_an_erasure_deletes_the_words_of_an_appeal(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await join_pair(world)
        await suspend(world, "ben")
        await appeal(world, "ben", "secret words")
        await world.server.base.dispatcher.enqueue([erase_job("ben", "root", world.now())])
        await trio.sleep(1)
        [left] = await queue(world)
        assert left["reason"] == ""
        assert left["reporter"] == left["reported"]
        assert left["reporter"].startswith("~erased-")
        # The id may be used again, by a new user with a day of their own.
        await suspend(world, "ben")
        assert (await appeal(world, "ben")).status == 202
    with closing(sqlite3.connect(database)) as db:
        assert "secret words" not in "\n".join(db.iterdump())


async def test_a_clock_that_was_set_back_keeps_nobody_from_an_appeal(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await join_pair(world)
        await suspend(world, "ben")
        assert (await appeal(world, "ben")).status == 202
        with closing(sqlite3.connect(database, isolation_level=None)) as db:
            db.execute("UPDATE reports SET at = at + 400 * 86400 * 1000000")
        assert (await appeal(world, "ben")).status == 202
        assert (await appeal(world, "ben")).status == 429
