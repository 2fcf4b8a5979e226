"""What the operator does about people: reports, suspensions, and the record of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import join_pair, match, news, told
from yoked_actor.actors.lobby import UserSuspended
from yoked_actor.actors.people import erase_job, refresh_job
from yoked_actor.client import CallRefused, ConnectionLost
from yoked_actor.domain.lobby import events as ev
from yoked_actor.testing import World, open_world


async def suspend(world: World, user_id: str, reason: str = "rude") -> Any:
    return await operator(world).call(
        "POST", f"/api/admin/users/{user_id}/suspend", {"reason": reason}
    )


async def test_a_user_who_is_suspended_leaves_at_once_and_cannot_come_back(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        assert await suspend(world, "ben") == {"changed": True}
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        with pytest.raises(ConnectionLost, match="4003 suspended"):
            await ben.spin()
        with pytest.raises(CallRefused, match="403 suspended: you are suspended: rude"):
            await world.api("ben").call("POST", "/api/spin")
        with pytest.raises(ConnectionLost, match="4003 suspended"):
            await world.connect("ben")
        assert world.audit() == []


async def test_what_was_on_its_way_when_somebody_was_suspended_is_not_heard(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        session = await world.server.live.sessions.enter("ben")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(suspend, world, "ben")
            for _ in range(40):
                with trio.move_on_after(0.01), suppress(ConnectionLost):
                    await ben.spin()
        with pytest.raises(UserSuspended):
            await world.server.live.sessions.ask(session, ev.Spin("ben"))
        assert world.server.live.lobby.floor.seat("ben").state == "idle"
        assert world.audit() == []


async def test_a_user_who_is_suspended_may_have_their_data_and_reads_why(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        await suspend(world, "ben")
        data = await world.api("ben").call("GET", "/api/me/export")
        assert data["suspended"]["reason"] == "rude"
        # To be erased would be a way back in.
        with pytest.raises(CallRefused, match="403"):
            await world.api("ben").call("DELETE", "/api/me")


async def test_a_suspension_outlives_a_restart_and_can_be_lifted(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        await join_pair(world)
        await suspend(world, "ben")
        await world.crash()
        await world.start()
        with pytest.raises(CallRefused, match="403"):
            await world.api("ben").call("POST", "/api/spin")
        lift = "/api/admin/users/ben/unsuspend"
        assert await operator(world).call("POST", lift) == {"changed": True}
        assert await operator(world).call("POST", lift) == {"changed": False}
        assert (await world.api("ben").call("POST", "/api/spin"))["state"] == "waiting"


async def test_a_suspension_from_beside_the_server_counts_when_its_job_has_run(autojump_clock):
    async with open_world() as world:
        _, ben = await join_pair(world)
        store = world.server.base.store
        await store.operators.suspend("ben", "deployer", "rude", world.now())
        await world.server.base.dispatcher.enqueue([refresh_job(world.now())])
        await trio.sleep(1)
        with pytest.raises(ConnectionLost, match="4003 suspended"):
            await ben.spin()


async def test_reports_are_reviewed_and_resolved_once(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.command("report", user_id="ben", reason="rude")
        await ana.command("report", user_id="ben", reason="rude again")
        await ben.command("report", user_id="ana", reason="late")
        root = operator(world)
        reports = (await root.call("GET", "/api/admin/reports"))["reports"]
        assert [(one["reported"], one["reason"], one["reported_times"]) for one in reports] == [
            ("ana", "late", 1),
            ("ben", "rude again", 1),
            ("ben", "rude", 1),
        ]
        resolve = f"/api/admin/reports/{reports[0]['report_id']}/resolve"
        await root.call("POST", resolve, {"resolution": "nothing in it"})
        with pytest.raises(CallRefused, match="404"):
            await root.call("POST", resolve, {"resolution": "again"})
        left = (await root.call("GET", "/api/admin/reports?open=1&limit=1"))["reports"]
        assert [one["reason"] for one in left] == ["rude again"]
        older = f"/api/admin/reports?before={left[0]['report_id']}"
        assert [one["reason"] for one in (await root.call("GET", older))["reports"]] == ["rude"]


async def test_what_an_operator_does_is_recorded(autojump_clock):
    async with open_world() as world:
        ana, _ = await join_pair(world)
        await ana.command("report", user_id="ben", reason="rude")
        root = operator(world)
        await suspend(world, "ben")
        await suspend(world, "ben", "a second time changes nothing")
        await root.call("POST", "/api/admin/reports/1/resolve", {"resolution": "suspended"})
        await root.call("POST", "/api/admin/users/ben/unsuspend")
        entries = (await root.call("GET", "/api/admin/audit"))["entries"]
    assert [(e["who"], e["action"], e["subject"], e["detail"]) for e in entries] == [
        ("root", "unsuspend", "ben", ""),
        ("root", "resolve_report", "1", "suspended"),
        ("root", "suspend", "ben", "rude"),
    ]


async def test_what_an_operator_does_to_jobs_is_recorded_too(autojump_clock):
    async with open_world() as world:
        job = erase_job("nobody", "deployer", world.now() + 10**12)
        [added] = await world.server.base.dispatcher.enqueue([job])
        root, path = operator(world), f"/api/admin/jobs/{added.job_id}"
        await root.call("POST", f"{path}/cancel")
        await root.call("POST", f"{path}/requeue")
        entries = (await root.call("GET", "/api/admin/audit"))["entries"]
    done = [(e["action"], e["subject"], e["detail"]) for e in entries if e["who"] == "root"]
    assert done == [
        ("requeue_job", str(added.job_id), "users.erase"),
        ("cancel_job", str(added.job_id), "users.erase"),
    ]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/admin/users/not%20an%20id/suspend", {"reason": "x"}, 400),
        ("/api/admin/users/ben/suspend", {"reason": ""}, 400),
        ("/api/admin/reports/99999999999999999999/resolve", {"resolution": "x"}, 404),
        ("/api/admin/reports/first/resolve", {"resolution": "x"}, 404),
    ],
)
async def test_what_makes_no_sense_is_refused(autojump_clock, path, body, status):
    async with open_world() as world:
        answer = await operator(world).request("POST", path, body)
        assert answer.status == status


async def test_a_limit_that_is_none_is_refused(autojump_clock):
    async with open_world() as world:
        for query in ("limit=0", "limit=many", "before=-1"):
            answer = await operator(world).request("GET", f"/api/admin/audit?{query}")
            assert answer.status == 400
