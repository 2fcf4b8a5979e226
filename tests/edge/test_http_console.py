"""What the console calls, and that whatever an operator does there is recorded."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.edge.test_http_admin_jobs import Workshop
from tests.scenarios.meeting import WOMAN, join_pair, match, news, state_of, told
from yoked_actor.client import CallRefused
from yoked_actor.testing import World, open_world


async def call(world: World, method: str, path: str, body: Any = None) -> Any:
    return await operator(world).call(method, f"/api/admin/{path}", body)


async def audit(world: World) -> list[tuple[str, str, str, str]]:
    """Who did what to whom, with which detail; the oldest first."""
    entries = (await call(world, "GET", "audit"))["entries"]
    names = ("who", "action", "subject", "detail")
    return [tuple(one[name] for name in names) for one in reversed(entries)]


async def test_two_whom_the_operator_keeps_apart_part_at_once_and_do_not_meet_again(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await call(world, "POST", "users/ana/block", {"user_id": "ben"})
        assert ("match_cancelled", "partner_left", "waiting") in told(await news(ben))
        assert [
            one["user_id"] for one in (await world.api("ana").call("GET", "/api/blocks"))["blocks"]
        ] == ["ben"]
        await trio.sleep(120)
        assert "matched" not in [event.type for event in await news(ben)]
        assert await audit(world) == [("root", "block", "ana", "ben")]
        assert world.audit() == []


@pytest.mark.parametrize(("user_id", "other"), [("ana", "ana"), ("ana", "not an id"), ("a b", "x")])
async def test_a_block_that_makes_no_sense_is_refused_and_not_recorded(
    autojump_clock, user_id, other
):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="400 bad_request"):
            await call(
                world, "POST", f"users/{user_id}/block".replace(" ", "%20"), {"user_id": other}
            )
        assert await audit(world) == []


async def test_a_user_who_is_erased_is_gone_from_the_record_of_a_block(autojump_clock):
    async with open_world() as world:
        await join_pair(world)
        await call(world, "POST", "users/ana/block", {"user_id": "ben"})
        await world.api("ben").call("DELETE", "/api/me")
        [(_, action, subject, detail)] = await audit(world)
        assert (action, subject) == ("block", "ana")
        assert detail != "ben"


async def test_the_runs_of_every_zone_are_told(autojump_clock):
    async with open_world() as world:
        await world.join("ana", **WOMAN, time_zone="Europe/Berlin")
        await trio.sleep(1)
        [run] = (await call(world, "GET", "offers/runs"))["runs"]
        assert run == {
            "zone": "Europe/Berlin",
            "date": "2026-01-02",
            "scheduled_at": "2026-01-02T08:00:00Z",
            "status": "planned",
            "job_id": None,
        }


async def test_each_thing_that_an_operator_does_is_recorded_with_who_and_when(autojump_clock):
    async with open_world() as world:
        ana, _ = await join_pair(world)
        await ana.report("ben", "rude")
        shop = Workshop(world)
        shop.broken = True
        dead, _ = await shop.enqueue("a", "b")
        [later] = await shop.enqueue("c", after_s=3600)
        await trio.sleep(5)
        shop.broken = False
        [report] = (await call(world, "GET", "reports"))["reports"]
        for path, body in (
            (f"jobs/{dead}/requeue", None),
            (f"jobs/{later}/cancel", None),
            ("jobs/requeue", {"type": "test.task"}),
            ("offers/run", {"zone": "Europe/Berlin", "date": "2025-12-30"}),
            ("users/ana/block", {"user_id": "ben"}),
            ("users/ben/suspend", {"reason": "rude"}),
            ("users/ben/unsuspend", None),
            (f"reports/{report['report_id']}/resolve", {"resolution": "talked to"}),
        ):
            await call(world, "POST", path, body)
        assert await audit(world) == [
            ("root", "requeue_job", str(dead), "test.task"),
            ("root", "cancel_job", str(later), "test.task"),
            ("root", "requeue_jobs", "test.task", "1 dead letters"),
            ("root", "run_offers", "Europe/Berlin", "2025-12-30"),
            ("root", "block", "ana", "ben"),
            ("root", "suspend", "ben", "rude"),
            ("root", "unsuspend", "ben", ""),
            ("root", "resolve_report", str(report["report_id"]), "talked to"),
        ]
        entries = (await call(world, "GET", "audit"))["entries"]
        assert {one["at"][:16] for one in entries} == {"2026-01-01T08:00"}


async def test_a_block_by_the_operator_is_no_sign_of_life_of_the_user(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await ana.drop(stay_away=True)
        await trio.sleep(9)
        await operator(world).call("POST", "/api/admin/users/ana/block", {"user_id": "ben"})
        await trio.sleep(1.5)
        assert await state_of(world, "ana") == "idle"
