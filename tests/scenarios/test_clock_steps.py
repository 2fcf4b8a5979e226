"""The system's clock is set forward or back, or the machine was suspended, while people are here.

Windows and waits are durations: they stay as long as they were. Instants that people are shown,
tokens, mornings and jobs follow the corrected clock.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
import trio
from msgspec.structs import replace
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.actors.test_matchmaker import IMPATIENT, is_stalled, locked
from tests.scenarios.meeting import (
    MAN,
    WOMAN,
    join_pair,
    news,
    open_voting,
    settle,
    state_of,
    status,
    told,
)
from tests.scenarios.test_mornings import BERLIN, MONDAY, SIX, TUESDAY, a_town, sets_of, unfinished
from yoked_actor.actors.jobs import JobRun
from yoked_actor.actors.offers.turn import zone_run_job
from yoked_actor.actors.people import erase_job
from yoked_actor.actors.people.jobs import Refresh
from yoked_actor.client import Api, CallRefused
from yoked_actor.domain.jobs import JobStatus, NewJob, RetryPolicy
from yoked_actor.domain.time import Run, after, from_datetime
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.testing import World, open_world
from yoked_actor.testing.world import URL

DAY_S = 86_400.0
LONG_S = 20 * 3600.0  # no morning comes, and no token ends
STEPS = pytest.mark.parametrize("step_s", [LONG_S, -LONG_S, 37.5, -37.5])


def instant(text: str) -> int:
    return from_datetime(datetime.fromisoformat(text))


async def metric(world: World, line: str) -> str:
    text = (await world.api("operator").request("GET", "/metrics")).body.decode()
    (found,) = [one for one in text.splitlines() if one.startswith(line + " ")]
    return found.removeprefix(line + " ")


@STEPS
async def test_a_wait_grows_by_the_time_that_passes_and_not_by_a_step(
    autojump_clock: MockClock, step_s: float
) -> None:
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await ana.wait_for("waiting")
        await trio.sleep(1)
        world.step_clock(step_s)
        await trio.sleep(0.9)
        assert told(await news(ana)) == []
        await trio.sleep(0.1)
        assert told(await news(ana)) == [("tier", 2)]
        await trio.sleep(7.9)
        assert told(await news(ana)) == []
        await trio.sleep(0.1)
        assert told(await news(ana)) == [("tier", 99)]
        snapshot = await status(world, "ana")
        assert instant(snapshot["waiting_since"]) == after(world.now(), -10)
        assert snapshot["state"] == "waiting"
        assert world.audit() == []


@STEPS
async def test_a_silent_user_is_lost_after_ten_seconds_and_no_other(
    autojump_clock: MockClock, step_s: float
) -> None:
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        eve = await world.join("eve", **WOMAN)
        await ana.spin()
        await eve.spin()
        eve.beating = False
        await trio.sleep(9)
        world.step_clock(step_s)
        await wait_all_tasks_blocked()
        assert await state_of(world, "eve") == "waiting"
        await trio.sleep(1)
        assert await state_of(world, "eve") == "idle"
        await trio.sleep(60)
        assert await state_of(world, "ana") == "waiting"


@STEPS
async def test_a_vote_lasts_ten_seconds(autojump_clock: MockClock, step_s: float) -> None:
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        await trio.sleep(4)
        world.step_clock(step_s)
        vote_by = (await status(world, "ben"))["match"]["vote_by"]
        assert instant(vote_by) == after(world.now(), 6)
        await trio.sleep(5.9)
        assert await state_of(world, "ben") == "voting"
        await trio.sleep(0.2)
        assert told(await news(ana))[0] == ("outcome", "yes_idle", "waiting")
        assert await state_of(world, "ben") == "idle"


@STEPS
async def test_a_date_lasts_five_minutes_also_when_the_server_crashes(
    autojump_clock: MockClock, tmp_path: Path, step_s: float
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "yes"))
        await ana.wait_for("date_started")
        await trio.sleep(100)
        world.step_clock(step_s)
        await wait_all_tasks_blocked()
        await world.crash()
        await world.start()
        await trio.sleep(199)
        assert "date" in await status(world, "ana")
        await trio.sleep(2)
        assert (await ana.wait_for("date_ended")).reason == "time_up"
        assert "date" not in await status(world, "ben")


@STEPS
async def test_a_place_in_line_outlives_a_step_and_a_crash(
    autojump_clock: MockClock, tmp_path: Path, step_s: float
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        eve, ana = await world.join("eve", **WOMAN), await world.join("ana", **WOMAN)
        await eve.spin()
        await trio.sleep(1)
        await ana.spin()
        await trio.sleep(4)
        world.step_clock(step_s)
        await wait_all_tasks_blocked()
        await world.crash()
        await world.start()
        await eve.wait_connected()
        await ana.wait_connected()
        since = instant((await status(world, "eve"))["waiting_since"])
        assert world.now() - since < 10_000_000
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "eve"
        assert world.audit() == []


async def test_a_clock_that_is_set_back_while_the_server_is_down_keeps_the_line(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        eve, ana = await world.join("eve", **WOMAN), await world.join("ana", **WOMAN)
        await eve.spin()
        await trio.sleep(1)
        await ana.spin()
        await world.crash()
        world.step_clock(-DAY_S)
        await world.start()
        await eve.wait_connected()
        await ana.wait_connected()
        assert instant((await status(world, "ana"))["waiting_since"]) <= world.now()
        ben = await world.join("ben", **MAN)
        await ben.spin()
        assert (await ben.wait_for("matched")).partner["user_id"] == "eve"


@STEPS
async def test_a_bar_of_a_minute_lasts_a_minute(autojump_clock: MockClock, step_s: float) -> None:
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        await ben.spin()
        await ana.wait_for("matched")
        await ana.leave()
        await ana.spin()
        await trio.sleep(30)
        world.step_clock(step_s)
        await trio.sleep(29)
        assert await state_of(world, "ana") == "waiting"
        await trio.sleep(1)
        assert await state_of(world, "ana") == "matched"


@STEPS
async def test_a_step_that_cannot_be_stored_is_stored_later(
    autojump_clock: MockClock, tmp_path: Path, step_s: float
) -> None:
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings=IMPATIENT) as world:
        ana, ben = await join_pair(world)
        match_id = await open_voting(ana, ben)
        await ana.vote(match_id, "yes")
        with locked(database):
            await trio.sleep(1)
            world.step_clock(step_s)
            await trio.sleep(2)
            assert is_stalled(world)
        await trio.sleep(6)
        assert not is_stalled(world)
        assert await state_of(world, "ben") == "voting"
        await trio.sleep(1.1)
        assert await state_of(world, "ben") == "idle"
        assert world.audit() == []


async def test_a_token_is_judged_by_the_corrected_clock(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        token = world.token("ana", ttl_s=3600)
        world.step_clock(DAY_S)
        with pytest.raises(CallRefused, match="expired"):
            await _call(world, token)
        world.step_clock(-DAY_S)
        await _call(world, token)
        # A server that was started with its clock ahead takes the tokens of an issuer that is not.
        world.step_clock(-DAY_S)
        fresh = world.token("ana", ttl_s=60)
        await _call(world, fresh)


async def _call(world: World, token: str) -> None:
    await Api(URL, token, dial=world.dial()).call("GET", "/api/profile")


async def test_a_step_is_logged_once_and_counted(autojump_clock: MockClock) -> None:
    async with open_world() as world:
        await wait_all_tasks_blocked()
        with capture_logs() as logs:
            world.step_clock(DAY_S)
            world.step_clock(-3600)
            world.step_clock(0.4)
        steps = [(one["step_s"], one["direction"]) for one in logs]
        assert [one["event"] for one in logs] == ["clock_stepped"] * 2
        assert steps == [(DAY_S, "forward"), (-3600.0, "back")]
        assert await metric(world, 'yoked_clock_steps_total{direction="forward"}') == "1.0"
        assert await metric(world, 'yoked_clock_steps_total{direction="back"}') == "1.0"
        assert await metric(world, "yoked_clock_last_step_seconds") == "-3600.0"


# Mornings


async def test_a_morning_comes_by_the_corrected_clock(autojump_clock: MockClock) -> None:
    async with open_world(start=SIX) as world:
        ids = await a_town(world)
        world.step_clock(3 * 3600)  # nine o'clock and a little more
        await wait_all_tasks_blocked(0.001)
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == sorted(ids)
        assert not await unfinished(world)


async def test_a_morning_that_only_a_wrong_clock_has_missed_is_not_missed(
    autojump_clock: MockClock,
) -> None:
    async with open_world(start=SIX) as world:
        ids = await a_town(world)
        world.step_clock(40 * DAY_S)
        await wait_all_tasks_blocked(0.001)
        assert [one.run.day for one in await world.server.base.store.calendar.runs(status="missed")]
        world.step_clock(-40 * DAY_S)
        await trio.sleep(4 * 3600)
        await wait_all_tasks_blocked(0.001)
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == sorted(ids)
        await trio.sleep(24 * 3600)
        await wait_all_tasks_blocked(0.001)
        assert sorted(await sets_of(world, BERLIN, TUESDAY)) == sorted(ids)
        assert await world.server.base.store.calendar.runs(status="missed") == []
        assert await world.server.base.store.jobs.list(status=JobStatus.DEAD_LETTER) == []


async def test_a_morning_that_came_early_comes_once(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(start=SIX, database=tmp_path / "yoked.db") as world:
        ids = await a_town(world)
        await world.crash()
        world.step_clock(DAY_S + 4 * 3600)  # the server is started on Tuesday, as it seems
        await world.start()
        await wait_all_tasks_blocked(0.001)
        early = await sets_of(world, BERLIN, TUESDAY)
        assert sorted(early) == sorted(ids)
        world.step_clock(-DAY_S - 4 * 3600)
        await trio.sleep(4 * 3600)
        await wait_all_tasks_blocked(0.001)
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == sorted(ids)
        await trio.sleep(3 * 24 * 3600)
        await wait_all_tasks_blocked(0.001)
        assert await sets_of(world, BERLIN, TUESDAY) == early
        assert await world.server.base.store.jobs.list(status=JobStatus.DEAD_LETTER) == []
        for day in range(3):
            runs = await sets_of(world, BERLIN, date(2026, 3, 3) + timedelta(days=day))
            assert sorted(runs) == sorted(ids)


async def test_a_run_that_was_claimed_early_waits_for_its_morning(
    autojump_clock: MockClock,
) -> None:
    async with open_world(start=SIX) as world:
        ids = await a_town(world)
        # As after a correction: the job was due by the wrong clock, and its morning is to come.
        run = Run(BERLIN, MONDAY, after(world.now(), 3 * 3600))
        claimed = replace(zone_run_job(run), scheduled_for=world.now())
        [enqueued] = await world.server.base.dispatcher.enqueue([claimed])
        await wait_all_tasks_blocked(0.001)
        job = await world.server.base.store.jobs.get(enqueued.job_id)
        assert job is not None
        assert (job.status, job.attempts) == (JobStatus.PENDING, 0)
        assert job.scheduled_for == run.scheduled_at
        await trio.sleep(3 * 3600 + 1)
        await wait_all_tasks_blocked(0.001)
        assert sorted(await sets_of(world, BERLIN, MONDAY)) == sorted(ids)
        assert not await unfinished(world)


# Jobs


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
async def test_an_erasure_happens_when_the_corrected_clock_says_so(
    autojump_clock: MockClock, step_s: float
) -> None:
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        await world.sign_up("ben", **MAN)
        due_at = after(world.now(), 7200)
        await world.server.base.dispatcher.enqueue([erase_job("ana", "operator", due_at)])
        await wait_all_tasks_blocked()
        world.step_clock(step_s)
        await trio.sleep(7200 - step_s - 1)
        assert await world.server.base.store.load_person("ana") is not None
        await trio.sleep(1.1)
        await wait_all_tasks_blocked(0.001)
        assert await world.server.base.store.load_person("ana") is None
        assert await world.server.base.store.load_person("ben") is not None


@pytest.mark.parametrize("step_s", [LONG_S, -LONG_S])
async def test_a_job_that_runs_keeps_its_lease_through_a_step(
    autojump_clock: MockClock, tmp_path: Path, step_s: float
) -> None:
    database = tmp_path / "yoked.db"
    runs = []
    async with open_world(database=database, settings={"jobs": {"lease_s": 30.0}}) as world:
        server = world.server

        async def handler(run: JobRun[Refresh]) -> None:
            runs.append(run.job.attempts)
            await trio.sleep(100)

        server.base.dispatcher.register("long", Refresh, handler)
        [job] = await server.base.dispatcher.enqueue([NewJob("long", {}, world.now())])
        await trio.sleep(25)
        world.step_clock(step_s)
        async with open_store(
            database, runner=InlineRunner(), shared=True, machine=server.base.clock.machine_time
        ) as other:
            for _ in range(8):
                claimed = await other.jobs.claim(
                    "another process", world.now(), 30.0, 1, {"long": RetryPolicy()}
                )
                assert (claimed.jobs, claimed.rescued) == ([], [])
                await trio.sleep(10)
        await wait_all_tasks_blocked()
        found = await server.base.store.jobs.get(job.job_id)
        assert found is not None
        assert (found.status, found.fence, runs) == (JobStatus.COMPLETED, 1, [1])
