"""Many jobs at once, and paused types, as operators ask over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from pydantic import BaseModel

from tests.edge.test_http_admin import operator
from yoked_actor.actors.jobs import JobRun
from yoked_actor.client import CallRefused
from yoked_actor.domain.jobs import NewJob
from yoked_actor.testing import World, open_world


class Task(BaseModel):
    """What a job is given."""

    n: int
    town: str = "Köln"


async def ask(world: World, path: str, body: Any = None) -> Any:
    return await operator(world).call("GET" if body is None else "POST", path, body)


async def enqueue(world: World, count: int, ran: list[int], *, fail: bool = False) -> None:
    async def task(run: JobRun[Task]) -> None:
        if fail:
            raise ValueError("always")
        ran.append(run.payload.n)

    dispatcher = world.server.base.dispatcher
    if "test.task" not in dispatcher.types:
        dispatcher.register("test.task", Task, task)
    jobs = [NewJob("test.task", {"n": n, "town": f"town {n}"}, world.now()) for n in range(count)]
    await dispatcher.enqueue(jobs)


async def listed(world: World, query: str) -> list[int]:
    return [one["id"] for one in (await ask(world, f"/api/admin/jobs?{query}"))["jobs"]]


async def pause(world: World) -> Any:
    return await ask(world, "/api/admin/jobs/pause", {"type": "test.task", "reason": "a move"})


async def test_a_paused_type_waits_through_a_crash_until_it_is_resumed(autojump_clock, tmp_path):
    ran: list[int] = []
    async with open_world(database=tmp_path / "yoked.db") as world:
        await enqueue(world, 0, ran)
        assert await pause(world) == {"changed": True}
        assert await pause(world) == {"changed": False}
        await enqueue(world, 2, ran)
        await trio.sleep(60)
        assert ran == []
        await world.crash()
        await world.start()
        await enqueue(world, 1, ran)
        await trio.sleep(3600)
        assert ran == []
        [one] = (await ask(world, "/api/admin/jobs/pauses"))["pauses"]
        assert (one["type"], one["by"], one["reason"]) == ("test.task", "root", "a move")
        assert await ask(world, "/api/admin/jobs/resume", {"type": "test.task"}) == {
            "changed": True
        }
        assert await ask(world, "/api/admin/jobs/resume", {"type": "test.task"}) == {
            "changed": False
        }
        await trio.sleep(5)
        assert sorted(ran) == [0, 0, 1]
        actions = [one["action"] for one in (await ask(world, "/api/admin/audit"))["entries"]]
        assert actions == ["resume_jobs", "pause_jobs"]


async def test_an_unknown_type_is_not_paused(autojump_clock):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="404 not_found: there is no type of jobs nothing"):
            await ask(world, "/api/admin/jobs/pause", {"type": "nothing", "reason": "why"})
        assert (await ask(world, "/api/admin/jobs/pauses"))["pauses"] == []


async def test_jobs_are_found_by_a_text_of_the_payload(autojump_clock):
    async with open_world() as world:
        await enqueue(world, 0, [])
        await pause(world)
        await enqueue(world, 3, [])
        assert len(await listed(world, "type=test.task")) == 3
        assert len(await listed(world, "text=town%202")) == 1
        assert await listed(world, "text=town%209") == []
        with pytest.raises(CallRefused, match="400 bad_request: text has 200 characters"):
            await listed(world, f"text={'x' * 201}")


async def test_what_is_filtered_is_changed_up_to_the_limit(autojump_clock):
    async with open_world(settings={"jobs": {"max_bulk": 2}}) as world:
        await enqueue(world, 0, [])
        await pause(world)
        await enqueue(world, 4, [])
        only = {"type": "test.task", "text": "town"}
        bulk = "/api/admin/jobs/bulk"
        assert await ask(world, bulk, {"action": "cancel", **only}) == {"changed": 2, "more": True}
        assert await ask(world, bulk, {"action": "cancel", **only}) == {"changed": 2, "more": False}
        assert await ask(world, bulk, {"action": "cancel", **only}) == {"changed": 0, "more": False}
        one = {"action": "requeue", "type": "test.task", "text": "town 3", "status": "cancelled"}
        assert await ask(world, bulk, one) == {"changed": 1, "more": False}
        assert len(await listed(world, "type=test.task&status=pending")) == 1
        details = [one["detail"] for one in (await ask(world, "/api/admin/audit"))["entries"]]
        assert details[0] == "1 jobs: status cancelled, type test.task, a text of the payload"


async def test_dead_letters_are_dismissed_together_with_a_reason(autojump_clock):
    settings = {"jobs": {"retry": {"default": {"attempts": 1}}}}
    async with open_world(settings=settings) as world:
        await enqueue(world, 2, [], fail=True)
        await trio.sleep(5)
        assert len(await listed(world, "status=dead_letter")) == 2
        bulk = "/api/admin/jobs/bulk"
        with pytest.raises(CallRefused, match="400 bad_request: dismiss needs a reason"):
            await ask(world, bulk, {"action": "dismiss"})
        done = await ask(world, bulk, {"action": "dismiss", "reason": "known"})
        assert done == {"changed": 2, "more": False}
        assert await listed(world, "status=dead_letter") == []
        assert len(await listed(world, "dismissed=true")) == 2


@pytest.mark.parametrize(
    "body",
    [{}, {"action": "erase"}, {"action": "cancel", "text": ""}, {"action": "cancel", "type": ""}],
)
async def test_a_bulk_change_that_is_none_is_refused(autojump_clock, body):
    async with open_world() as world:
        with pytest.raises(CallRefused, match="400 bad_request"):
            await ask(world, "/api/admin/jobs/bulk", body)
