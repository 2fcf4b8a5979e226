"""An operator warns a user: the words reach the user, and are kept until they were seen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import MAN, join_pair, match
from tests.scenarios.talker import Talker
from tests.scenarios.test_suspension import restore, suspend
from yoked_actor.client import CallRefused
from yoked_actor.testing import World, open_world


async def warn(world: World, user_id: str, text: Any = "be kind", **more: Any) -> str:
    path = f"/api/admin/users/{user_id}/warn"
    answer = await operator(world).call("POST", path, {"text": text, **more})
    return str(answer["warning_id"])


async def greeted(world: World, user_id: str) -> list[str]:
    """The warnings that a user is told after a hello."""
    talker, _ = await Talker.greet(world, user_id)
    heard = []
    with trio.move_on_after(1):
        while True:
            message = await talker.hear()
            if message["type"] == "warning":
                heard.append(message["warning_id"])
    return heard


async def test_a_connected_user_is_told_at_once(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        warning_id = await warn(world, "ben", "Be kind to people.")
        told = await ben.wait_for("warning")
        assert (told.warning_id, told.text) == (warning_id, "Be kind to people.")
        assert told.given_at == "2026-01-01T08:00:00Z"
        # The match goes on, and the partner learns nothing.
        assert (await world.api("ben").call("GET", "/api/match/status"))["state"] == "matched"
        with trio.move_on_after(1):
            await ana.wait_for("warning")
            pytest.fail("the partner was told")


async def test_a_warning_comes_with_every_hello_until_it_was_seen_through_a_crash(
    autojump_clock, tmp_path
):
    async with open_world(database=tmp_path / "yoked.db") as world:
        await world.sign_up("ben", **MAN)
        first, second = await warn(world, "ben", "one"), await warn(world, "ben", "two")
        assert await greeted(world, "ben") == [first, second]
        await world.crash()
        await world.start()
        assert await greeted(world, "ben") == [first, second]
        api = world.api("ben")
        listed = (await api.call("GET", "/api/warnings"))["warnings"]
        assert [(one["warning_id"], one["text"]) for one in listed] == [
            (first, "one"),
            (second, "two"),
        ]
        for _ in range(2):
            assert await api.call("POST", f"/api/warnings/{first}/seen") == {}
        assert await greeted(world, "ben") == [second]
        await api.call("POST", f"/api/warnings/{second}/seen")
        assert await greeted(world, "ben") == []
        await world.crash()
        await world.start()
        assert await greeted(world, "ben") == []
        own = await api.call("GET", "/api/me/export")
        assert [one["text"] for one in own["warnings"]] == ["one", "two"]
        assert all(one["seen_at"] for one in own["warnings"])


async def test_a_warning_waits_for_the_end_of_a_suspension(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ben", **MAN)
        await suspend(world, "ben")
        warning_id = await warn(world, "ben")
        with pytest.raises(CallRefused, match="403 suspended"):
            await world.api("ben").call("POST", f"/api/warnings/{warning_id}/seen")
        await restore(world, "ben")
        assert await greeted(world, "ben") == [warning_id]


async def test_an_erased_user_takes_their_warnings_along(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database) as world:
        await world.sign_up("ben", **MAN)
        await warn(world, "ben", "secret words")
        assert (await world.api("ben").request("DELETE", "/api/me")).status == 204
        await world.sign_up("ben", **MAN)
        assert await greeted(world, "ben") == []
    with closing(sqlite3.connect(database)) as db:
        assert "secret words" not in "\n".join(db.iterdump())


async def test_a_warning_closes_its_report_or_does_nothing(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        report = {"user_id": "ben", "reason": "rude"}
        await world.api("ana").call("POST", "/api/reports", report)
        with pytest.raises(CallRefused, match="404 not_found: there is no open report 7"):
            await warn(world, "ben", report_id=7)
        assert (await world.api("ben").call("GET", "/api/warnings"))["warnings"] == []
        await warn(world, "ben", "be kind", report_id=1)
        [closed] = (await operator(world).call("GET", "/api/admin/reports"))["reports"]
        assert closed["resolution"] == "warned: be kind"
        path = "/api/admin/users/ben/suspend"
        with pytest.raises(CallRefused, match="404 not_found: there is no open report 1"):
            await operator(world).call("POST", path, {"reason": "rude", "report_id": 1})
        assert (await world.api("ben").call("GET", "/api/match/status"))["state"] == "idle"


@pytest.mark.parametrize(
    ("user_id", "body", "status"),
    [
        ("ben", {}, 400),
        ("ben", {"text": ""}, 400),
        ("ben", {"text": "  "}, 400),
        ("ben", {"text": "x" * 501}, 400),
        ("ben", {"text": "a\u202eb"}, 400),
        ("ben", {"text": "be kind", "report_id": 0}, 400),
        ("ben", {"text": "be kind", "report_id": "1"}, 400),
        ("nobody", {"text": "be kind"}, 404),
        ("not%20an%20id", {"text": "be kind"}, 404),
    ],
)
async def test_a_warning_that_is_none_is_refused(autojump_clock, user_id, body, status):
    async with open_world() as world:
        await world.sign_up("ben", **MAN)
        path = f"/api/admin/users/{user_id}/warn"
        refused = await operator(world).request("POST", path, body)
        assert refused.status == status
        assert await greeted(world, "ben") == []


async def test_so_many_warnings_wait_at_most(autojump_clock):
    async with open_world(settings={"safety": {"max_unseen_warnings": 2}}) as world:
        await world.sign_up("ben", **MAN)
        first = await warn(world, "ben")
        await warn(world, "ben")
        with pytest.raises(CallRefused, match="409 wrong_state: ben has 2 warnings"):
            await warn(world, "ben")
        await world.api("ben").call("POST", f"/api/warnings/{first}/seen")
        await warn(world, "ben")


@pytest.mark.parametrize(
    "warning_id", ["w1", "w999", "1", "w", "w-1", "wx", "w99999999999999999999"]
)
async def test_nobody_sees_the_warnings_of_others(autojump_clock, warning_id):
    async with open_world() as world:
        await join_pair(world)
        await warn(world, "ben")
        with pytest.raises(CallRefused, match="404 not_found"):
            await world.api("ana").call("POST", f"/api/warnings/{warning_id}/seen")
