"""Metrics: spins, lost users, jobs by status, event loop lag."""

from __future__ import annotations

import pytest
import trio
from pydantic import BaseModel
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.scenarios.meeting import MAN, WOMAN, join_pair, settle
from yoked_actor.actors.jobs import JobRun
from yoked_actor.actors.ops import LoopLag
from yoked_actor.actors.ops.loop_lag import EVERY_S
from yoked_actor.app.server import Server
from yoked_actor.client import CallRefused
from yoked_actor.domain.jobs import JobStatus, NewJob
from yoked_actor.domain.time import after
from yoked_actor.telemetry import Metrics
from yoked_actor.testing import open_world


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


async def test_spins_are_counted_by_result(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ana.spin()
        await ben.spin()
        stranger = world.api("stranger")
        with pytest.raises(CallRefused):
            await stranger.call("POST", "/api/spin")
        counted = {
            result: value(world.server.base.metrics, "yoked_spins_total", result=result)
            for result in ("waiting", "matched", "refused")
        }
        assert counted == {"waiting": 2, "matched": 1, "refused": 1}


async def test_lost_users_are_counted_once_in_line_and_on_a_date(autojump_clock):
    async with open_world() as world:
        metrics = world.server.base.metrics
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        assert value(metrics, "yoked_liveness_losses_total") == 0
        await ana.drop(stay_away=True)
        await ben.wait_for("date_ended")
        assert value(metrics, "yoked_liveness_losses_total") == 1
        carl = await world.join("carl", **MAN)
        carl.beating = False
        await carl.spin()
        await trio.sleep(60)
        assert value(metrics, "yoked_liveness_losses_total") == 2


class Task(BaseModel):
    """Whether the job succeeds."""

    well: bool


async def _run(job: JobRun[Task]) -> None:
    if not job.payload.well:
        raise ValueError("as asked")


async def _kept(server: Server) -> dict[str, float | None]:
    await wait_all_tasks_blocked()
    await trio.sleep(server.base.settings.jobs.sample_every_s + 1)
    return {
        status.value: value(server.base.metrics, "yoked_jobs", type="task", status=status.value)
        for status in JobStatus
    }


async def test_jobs_are_shown_by_status_until_they_complete(autojump_clock):
    async with open_world() as world:
        server = world.server
        server.base.dispatcher.register("task", Task, _run)
        now = server.base.clock.now()
        [dead, *_] = await server.base.dispatcher.enqueue(
            [
                NewJob("task", {"well": False}, now),
                NewJob("task", {"well": True}, now),
                NewJob("task", {"well": True}, after(now, 3600)),
            ]
        )
        kept = await _kept(server)
        assert (kept["dead_letter"], kept["pending"]) == (1, 1)
        assert kept["completed"] is None, "there may be millions, and a counter has them"

        await server.base.store.jobs.requeue(dead.job_id, server.base.clock.now())
        server.base.dispatcher.wake(from_other_process=True)
        await trio.sleep(3600)
        kept = await _kept(server)
        assert (kept["dead_letter"], kept["pending"]) == (1, 0)
        assert (
            value(server.base.metrics, "yoked_job_runs_total", type="task", result="completed") == 2
        )


async def test_the_dead_letters_of_an_earlier_process_are_shown_immediately(
    autojump_clock, tmp_path
):
    async with open_world(database=tmp_path / "yoked.db") as world:
        world.server.base.dispatcher.register("task", Task, _run)
        await world.server.base.dispatcher.enqueue(
            [NewJob("task", {"well": False}, world.server.base.clock.now())]
        )
        await wait_all_tasks_blocked()
        await world.crash()
        await world.start()
        await wait_all_tasks_blocked()
        metrics = world.server.base.metrics
        assert value(metrics, "yoked_jobs", type="task", status="dead_letter") == 1


async def test_a_late_event_loop_is_measured_as_lag(mock_clock: MockClock):
    metrics = Metrics()
    lag = LoopLag(metrics.actors.loop_lag)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lag.run)
        for late_s in (0.0, 2.0, 0.0):
            await wait_all_tasks_blocked()
            mock_clock.jump(EVERY_S + late_s)
        await wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert lag.p99_s == 2.0
    assert value(metrics, "yoked_loop_lag_seconds_count") == 3
    assert value(metrics, "yoked_loop_lag_seconds_bucket", le="1.0") == 2


async def test_on_a_mock_clock_nothing_is_sampled(autojump_clock: MockClock):
    async with open_world() as world:
        await world.join("ana", **WOMAN)
        await trio.sleep(60)
        assert value(world.server.base.metrics, "yoked_loop_lag_seconds_count") == 0


def test_the_version_can_be_read():
    assert b'yoked_build_info{version="' in Metrics().expose()
