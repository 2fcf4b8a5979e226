"""The queue of jobs and the alerts, as the operator sees and mends them over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from pydantic import BaseModel

from tests.edge.test_http_admin import operator
from yoked_actor.client import CallRefused
from yoked_actor.domain.jobs import JobStatus, NewJob, Permanent
from yoked_actor.testing import World, open_world

JOBS = "/api/admin/jobs"


class Task(BaseModel):
    """What the test's jobs are to do."""

    name: str = ""


class Workshop:
    """Jobs of a type whose handler does as it is told."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.broken = False
        self.stopped = 0
        self.done: list[str] = []
        world.server.base.dispatcher.register("test.task", Task, self._run)

    async def _run(self, run: Any) -> None:
        if run.payload.name == "long":
            try:
                run.report(3, 10, "parts")
                await trio.sleep_forever()
            finally:
                self.stopped += 1
        if self.broken:
            raise Permanent("the workshop is broken")
        self.done.append(run.payload.name)

    async def enqueue(self, *names: str, after_s: int = 0) -> list[int]:
        at = self.world.now() + after_s * 1_000_000
        jobs = [NewJob("test.task", {"name": name}, at) for name in names]
        return [one.job_id for one in await self.world.server.base.dispatcher.enqueue(jobs)]


async def call(world: World, method: str, path: str, body: Any = None) -> Any:
    return await operator(world).call(method, path, body)


async def test_jobs_are_listed_the_newest_first_by_state_and_type(autojump_clock):
    async with open_world() as world:
        shop = Workshop(world)
        # The server's own jobs may take a number in between.
        first, second = await shop.enqueue("a", "b", after_s=60)
        [third] = await shop.enqueue("c")
        await trio.sleep(1)

        async def ids(query: str) -> list[int]:
            return [job["id"] for job in (await call(world, "GET", f"{JOBS}?{query}"))["jobs"]]

        assert await ids("type=test.task") == [third, second, first]
        assert await ids("type=test.task&status=pending") == [second, first]
        assert await ids("type=test.task&limit=1") == [third]
        assert await ids(f"type=test.task&before={third}&limit=1") == [second]
        assert await ids("type=none") == []


@pytest.mark.parametrize(
    "query", ["status=odd", "limit=0", "limit=1001", "limit=x", "before=-1", "dismissed=1"]
)
async def test_a_list_that_makes_no_sense_is_refused(autojump_clock, query):
    async with open_world() as world:
        with pytest.raises(CallRefused) as refused:
            await call(world, "GET", f"{JOBS}?{query}")
    assert (refused.value.status, refused.value.code) == (400, "bad_request")


async def test_a_dead_letter_shows_its_payload_and_tracebacks_and_runs_after_a_requeue(
    autojump_clock,
):
    async with open_world() as world:
        shop = Workshop(world)
        shop.broken = True
        [number] = await shop.enqueue("a")
        await trio.sleep(1)
        job = await call(world, "GET", f"{JOBS}/{number}")
        assert (job["status"], job["payload"]) == ("dead_letter", {"name": "a"})
        [attempt] = job["history"]
        assert "Traceback" in attempt["error"]
        assert "the workshop is broken" in attempt["error"]
        listed = (await call(world, "GET", f"{JOBS}?status=dead_letter"))["jobs"]
        assert len(listed[0]["last_error"].splitlines()) == 1
        shop.broken = False
        assert (await call(world, "POST", f"{JOBS}/{number}/requeue"))["status"] == "pending"
        await trio.sleep(1)
        assert shop.done == ["a"]
        with pytest.raises(CallRefused) as refused:
            await call(world, "POST", f"{JOBS}/{number}/requeue")
        assert (refused.value.status, refused.value.code) == (409, "wrong_state")


async def test_a_dead_letter_is_dismissed_with_a_reason_that_the_audit_has(autojump_clock):
    async with open_world() as world:
        shop = Workshop(world)
        shop.broken = True
        first, second = await shop.enqueue("a", "b")
        await trio.sleep(1)
        job = await call(world, "POST", f"{JOBS}/{first}/dismiss", {"reason": "known"})
        assert job["status"] == "dead_letter"
        assert (job["dismissal"]["by"], job["dismissal"]["reason"]) == ("root", "known")
        listed = (await call(world, "GET", f"{JOBS}?status=dead_letter"))["jobs"]
        assert [one["id"] for one in listed] == [second]
        gone = (await call(world, "GET", f"{JOBS}?dismissed=true"))["jobs"]
        assert [one["id"] for one in gone] == [first]
        counts = await world.server.base.store.jobs.open_counts()
        assert counts["test.task", JobStatus.DEAD_LETTER] == 1
        [entry] = (await call(world, "GET", "/api/admin/audit"))["entries"]
        assert (entry["action"], entry["subject"]) == ("dismiss_job", str(first))
        assert (entry["who"], entry["detail"]) == ("root", "known")
        await trio.sleep(20)
        shown = world.server.base.metrics.registry.get_sample_value(
            "yoked_jobs", {"type": "test.task", "status": "dead_letter"}
        )
        assert shown == 1
        for body, code in (
            ({"reason": "again"}, (409, "wrong_state")),
            ({"reason": ""}, (400, "bad_request")),
            ({"reason": "a\nb"}, (400, "bad_request")),
            ({}, (400, "bad_request")),
        ):
            with pytest.raises(CallRefused) as refused:
                await call(world, "POST", f"{JOBS}/{first}/dismiss", body)
            assert (refused.value.status, refused.value.code) == code
        shop.broken = False
        requeued = await call(world, "POST", f"{JOBS}/{first}/requeue")
        assert (requeued["status"], requeued["dismissal"]) == ("pending", None)


async def test_all_dead_letters_of_a_type_can_be_requeued_at_once(autojump_clock):
    async with open_world() as world:
        shop = Workshop(world)
        shop.broken = True
        ids = await shop.enqueue("a", "b")
        await trio.sleep(1)
        shop.broken = False
        answer = await call(world, "POST", f"{JOBS}/requeue", {"type": "test.task"})
        assert sorted(answer["requeued"]) == ids
        await trio.sleep(1)
        assert sorted(shop.done) == ["a", "b"]
        again = await call(world, "POST", f"{JOBS}/requeue", {"type": "test.task"})
        assert again == {"requeued": []}


async def test_a_job_that_waits_or_runs_can_be_cancelled(autojump_clock):
    async with open_world() as world:
        shop = Workshop(world)
        [waits] = await shop.enqueue("a", after_s=60)
        [runs] = await shop.enqueue("long")
        await trio.sleep(3)
        progress = (await call(world, "GET", f"{JOBS}/{runs}"))["progress"]
        assert progress == {"done": 3, "total": 10, "note": "parts"}
        assert (await call(world, "POST", f"{JOBS}/{waits}/cancel"))["status"] == "cancelled"
        assert (await call(world, "POST", f"{JOBS}/{runs}/cancel"))["cancel_asked"] is True
        await trio.sleep(0.1)
        assert shop.stopped == 1
        assert (await call(world, "GET", f"{JOBS}/{runs}"))["status"] == "cancelled"
        with pytest.raises(CallRefused) as refused:
            await call(world, "POST", f"{JOBS}/{waits}/cancel")
        assert (refused.value.status, refused.value.code) == (409, "wrong_state")
        await trio.sleep(120)
        assert shop.done == []


@pytest.mark.parametrize("name", ["999999", "odd", "99999999999999999999", "-1"])
@pytest.mark.parametrize("call_on", ["GET ", "POST /cancel", "POST /requeue"])
async def test_a_job_that_is_not_there_is_not_found(autojump_clock, name, call_on):
    method, _, rest = call_on.partition(" ")
    async with open_world() as world:
        with pytest.raises(CallRefused) as refused:
            await call(world, method, f"{JOBS}/{name}{rest}")
    assert (refused.value.status, refused.value.code) == (404, "not_found")


async def test_alerts_that_stand_are_told(autojump_clock):
    settings = {"jobs": {"sample_every_s": 1}}
    async with open_world(settings=settings) as world:
        assert await call(world, "GET", "/api/admin/alerts") == {"alerts": []}
        shop = Workshop(world)
        shop.broken = True
        await shop.enqueue("a")
        await trio.sleep(3)
        [alert, dead] = (await call(world, "GET", "/api/admin/alerts"))["alerts"]
        assert (dead["alert"], dead["job_type"], dead["count"]) == ("dead_letter", "test.task", 1)
        assert "job_type" not in alert
        assert (alert["alert"], alert["limit"]) == ("job_failure_rate", 0.01)
        assert alert["value"] > 0.01
        assert "2026-01-01T08:00:00Z" <= alert["raised_at"] <= "2026-01-01T08:00:04Z"
