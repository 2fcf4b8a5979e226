"""Metrics: spins, lost users, jobs by status, event loop lag."""

from __future__ import annotations

import pytest
import trio
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Sample
from pydantic import BaseModel
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.scenarios.meeting import MAN, WOMAN, join_pair, settle
from yoked_actor.actors.jobs import JobRun
from yoked_actor.actors.ops import LoopLag
from yoked_actor.actors.ops.loop_lag import EVERY_S
from yoked_actor.app.server import Server
from yoked_actor.client import CallRefused
from yoked_actor.domain.jobs import JobStatus, NewJob
from yoked_actor.domain.lobby import Changes, Quality
from yoked_actor.domain.matching import Tier
from yoked_actor.domain.time import after
from yoked_actor.telemetry import JobMetrics, Metrics
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
            result: value(
                world.server.base.metrics, "yoked_spins_total", room="main", result=result
            )
            for result in ("waiting", "matched", "refused")
        }
        assert counted == {"waiting": 2, "matched": 1, "refused": 1}


async def test_lost_users_are_counted_once_in_line_and_on_a_date(autojump_clock):
    async with open_world() as world:
        metrics = world.server.base.metrics
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        assert value(metrics, "yoked_liveness_losses_total", room="main") == 0
        await ana.drop(stay_away=True)
        await ben.wait_for("date_ended")
        assert value(metrics, "yoked_liveness_losses_total", room="main") == 1
        carl = await world.join("carl", **MAN)
        carl.beating = False
        await carl.spin()
        await trio.sleep(60)
        assert value(metrics, "yoked_liveness_losses_total", room="main") == 2


async def test_everything_that_a_lobby_counts_has_its_room(autojump_clock):
    async with open_world(settings={"rooms": {"jazz": {}}}) as world:
        metrics = world.server.base.metrics
        ana, ben = await join_pair(world)
        for client in (ana, ben):
            await client.enter_room("jazz")
        rounds = value(metrics, "yoked_rounds_total", room="main")
        await settle(ana, ben, ("yes", "yes"))
        date = await ana.wait_for("date_started")
        await ana.command("end_date", date_id=date.date_id)
        # Nobody was in main meanwhile.
        assert value(metrics, "yoked_rounds_total", room="main") == rounds
        carl = await world.join("carl", room="jazz", **MAN)
        await carl.spin()
        for room, count in (("jazz", 1), ("main", 0)):
            tier = {"policy": "fair_queue", "tier": "1"}
            assert value(metrics, "yoked_pairings_total", room=room, **tier) == count
            assert value(metrics, "yoked_spins_total", room=room, result="matched") == count
            assert value(metrics, "yoked_outcomes_total", room=room, outcome="both_yes") == count
            assert value(metrics, "yoked_dates_total", room=room, reason="ended") == count
            assert value(metrics, "yoked_waiting_users", room=room) == count
            assert value(metrics, "yoked_room_users", room=room) == 3 * count
            assert value(metrics, "yoked_mailbox_messages", room=room) == 0
        wait = {"room": "jazz", "group": "man seeking woman", "tier": "1"}
        assert value(metrics, "yoked_wait_seconds_count", **wait) == 1
        assert (value(metrics, "yoked_rounds_total", room="jazz") or 0) > 5
        of_a_lobby = {
            family.name
            for family in metrics.registry.collect()
            if any(sample.labels.get("room") == "jazz" for sample in family.samples)
        }
        without = {
            family.name
            for family in metrics.registry.collect()
            if family.name in of_a_lobby
            and any("room" not in sample.labels for sample in family.samples)
        }
        assert (len(of_a_lobby), without) == (16, set())


def test_the_groups_of_all_rooms_together_are_bounded():
    metrics = Metrics()
    for room in range(40):
        counts = metrics.lobby.of_room(f"room{room}")
        for group in range(70):
            changes = Changes(quality=[_quality(f"g{group}")], room=f"room{room}")
            counts.count_round(1, changes, 0, 0)
    series = {
        (sample.labels["room"], sample.labels["group"])
        for family in metrics.registry.collect()
        if family.name == "yoked_wait_seconds"
        for sample in family.samples
    }
    assert len(series) == 1024 + 40
    assert value(metrics, "yoked_wait_seconds_count", room="room39", group="other", tier="1") == 140
    metrics.lobby.keep_only({"room39"})
    assert {sample.labels["room"] for sample in _with_rooms(metrics)} == {"room39"}
    # The places of the others are free again.
    metrics.lobby.of_room("room39").count_round(1, Changes(quality=[_quality("g1")]), 0, 0)
    labels = {"room": "room39", "group": "g1", "tier": "1"}
    assert value(metrics, "yoked_wait_seconds_count", **labels) == 2


def _quality(group: str) -> Quality:
    return Quality(
        match_id="m1",
        policy="fair_queue",
        priority=1,
        preference_match=1.0,
        distance_score=1.0,
        distance_km=1.0,
        a_tier=Tier.EXACT,
        b_tier=Tier.EXACT,
        a_wait_s=1.0,
        b_wait_s=1.0,
        a_group=group,
        b_group=group,
        paired_at=0,
    )


def _with_rooms(metrics: Metrics) -> list[Sample]:
    return [
        sample
        for family in metrics.registry.collect()
        for sample in family.samples
        if "room" in sample.labels
    ]


def test_the_text_of_many_rooms_is_made_in_small_parts():
    metrics = Metrics()
    for room in range(300):
        metrics.lobby.of_room(f"room{room}")
    parts = list(metrics.expose_parts())
    assert max(len(part.splitlines()) for part in parts) <= 202
    at_once = generate_latest(metrics.registry)
    # The memory of the process and its time have changed meanwhile.
    whole, expected = (
        [line for line in text.splitlines() if not line.startswith(b"process_")]
        for text in (b"".join(parts), at_once)
    )
    assert whole == expected


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


@pytest.mark.parametrize(
    "seconds",
    [
        [],
        [0.0],
        [0.001, 0.0011, 0.005, 900.0, 900.1, 5000.0, 0.0005, 0.001],
        [12.0, 0.2, 12.0],
    ],
)
def test_times_of_a_batch_are_counted_as_one_by_one(seconds: list[float]) -> None:
    together, each = (JobMetrics(CollectorRegistry()).seconds.labels("mail") for _ in range(2))
    together.observe_all(seconds)
    for one in seconds:
        each.observe(one)
    [found], [expected] = together.collect(), each.collect()
    for sample, other in zip(found.samples, expected.samples, strict=True):
        assert (sample.name, sample.labels) == (other.name, other.labels)
        assert sample.value == pytest.approx(other.value)
