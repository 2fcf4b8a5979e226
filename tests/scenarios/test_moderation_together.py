"""Report, warning, suspension, appeal, crash and erasure of the same user, one after the other."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
import trio

from tests.edge.test_http_admin import URL, operator
from tests.scenarios.meeting import MAN, join_pair, open_voting, state_of
from tests.scenarios.talker import Talker
from tests.scenarios.test_suspension import restore
from tests.scenarios.test_warnings import greeted, warn
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.ops import Role
from yoked_actor.testing import World, open_world


def moderator(world: World) -> Api:
    return Api(URL, world.token("mia", role=Role.MODERATOR), dial=world.dial())


async def test_a_user_is_reported_warned_suspended_heard_and_let_in_again(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        for reason in ("first words", "second words"):
            await ana.command("report", user_id="ben", reason=reason, match_id=match_id)
        mia = moderator(world)
        first, second = (await mia.call("GET", "/api/admin/reports?open=1"))["reports"][::-1]
        warning_id = await warn(world, "ben", "be kind", report_id=first["report_id"])
        # On a second device the warning comes too, and the vote goes on.
        talker, _ = await Talker.greet(world, "ben")
        assert (await talker.hear())["warning_id"] == warning_id
        assert await state_of(world, "ben") == "voting"
        body = {"reason": "rude twice", "report_id": second["report_id"]}
        await mia.call("POST", "/api/admin/users/ben/suspend", body)
        assert await state_of(world, "ana") == "waiting"
        assert (await mia.call("GET", "/api/admin/reports?open=1"))["reports"] == []
        assert (
            await world.api("ben").request("POST", "/api/appeal", {"text": "sorry"})
        ).status == 202
        await world.crash()
        await trio.sleep(5)
        await world.start()
        mia = moderator(world)
        [appeal] = (await mia.call("GET", "/api/admin/reports?open=1"))["reports"]
        assert (appeal["kind"], appeal["reason"], appeal["suspended"]) == ("appeal", "sorry", True)
        with pytest.raises(CallRefused, match="403 suspended"):
            await world.api("ben").call("GET", "/api/warnings")
        with pytest.raises(CallRefused, match="403 forbidden: this needs the role admin"):
            await mia.call("POST", "/api/admin/drain")
        await mia.call(
            "POST", f"/api/admin/reports/{appeal['report_id']}/resolve", {"resolution": "granted"}
        )
        await restore(world, "ben")
        assert await greeted(world, "ben") == [warning_id]
        page = await mia.call("GET", "/api/admin/users/ben")
        assert [one["action"] for one in page["audit"]] == [
            *("unsuspend", "appeal", "suspend", "warn"),
        ]
        assert (await world.api("ben").request("DELETE", "/api/me")).status == 204
        # The session is still in memory, with nothing in it.
        page = await mia.call("GET", "/api/admin/users/ben")
        left = [name for name, value in page.items() if isinstance(value, list) and value]
        assert (page["display_name"], page["suspension"], left) == (None, None, [])
        found = await operator(world).call("GET", "/api/admin/users?search=ben")
        assert found["users"] == []
        await world.sign_up("ben", **MAN)
        assert await greeted(world, "ben") == []
    with closing(sqlite3.connect(database)) as db:
        text = "\n".join(db.iterdump())
    for words in ("first words", "second words", "be kind", "rude twice", "sorry"):
        assert words not in text, words
