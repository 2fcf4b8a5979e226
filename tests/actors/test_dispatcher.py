"""The dispatcher on a mock clock: when jobs run, how they fail, and how they are given back."""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import structlog
import trio
from pydantic import BaseModel, ValidationError

from tests.store.raw import raw_connection
from tests.store.test_writer import SlowDisk
from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.jobs.job_types import kind_of
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.actors.ops import Alarm
from yoked_actor.domain.jobs import (
    DEFAULT_POLICY,
    Cancel,
    ErrorKind,
    ImpossibleJobMove,
    Job,
    JobCause,
    JobStatus,
    NewJob,
    Permanent,
    Progress,
    RetryPolicy,
    Snooze,
    Transient,
)
from yoked_actor.domain.ops import Alert
from yoked_actor.domain.time import MICROSECONDS, after
from yoked_actor.settings import Settings, load_settings
from yoked_actor.store import (
    InlineRunner,
    KeyConflict,
    Runner,
    Store,
    StoreUnavailable,
    ThreadRunner,
    Tx,
    open_store,
)
from yoked_actor.telemetry import Metrics, count_of

OFFERS = RetryPolicy(delays_s=(30.0, 120.0, 300.0))


class Task(BaseModel):
    """The payload of the jobs of these tests."""

    n: int = 0


class House:
    """A store, a clock and a dispatcher, and notes of what was run when."""

    def __init__(self, store: Store, dispatcher: Dispatcher, clock: Clock) -> None:
        self.store = store
        self.dispatcher = dispatcher
        self.clock = clock
        self.start_at = clock.now()
        self.runs: list[tuple[float, int]] = []
        self.metrics: Metrics
        self.settings: Settings
        self.alarm: Alarm

    def seconds(self) -> float:
        return (self.clock.now() - self.start_at) / MICROSECONDS

    def note(self, run: JobRun[Task]) -> None:
        self.runs.append((self.seconds(), run.payload.n))

    async def add(self, job_type: str, n: int = 0, in_s: float = 0.0, **more) -> int:
        at = after(self.clock.now(), in_s)
        [one] = await self.dispatcher.enqueue([NewJob(job_type, {"n": n}, at, **more)])
        return one.job_id

    async def job(self, job_id: int) -> Job:
        job = await self.store.jobs.get(job_id)
        assert job is not None
        return job

    async def until(self, job_id: int, *statuses: JobStatus) -> Job:
        while True:
            job = await self.job(job_id)
            if job.status in statuses:
                return job
            await trio.sleep(0.25)

    def times(self) -> list[float]:
        return [at for at, _ in self.runs]

    def effects(self, run: JobRun[Task]):
        def apply(tx: Tx) -> None:
            tx.execute(
                "INSERT INTO meta VALUES ('job ' || ?, 1)"
                " ON CONFLICT DO UPDATE SET value = value + 1",
                (run.job.id,),
            )

        return apply

    async def effect_count(self, job_id: int) -> int:
        row = await self.store._database.read(
            lambda tx: tx.execute(
                "SELECT value FROM meta WHERE name = 'job ' || ?", (job_id,)
            ).fetchone()
        )
        return 0 if row is None else row[0]


@asynccontextmanager
async def open_house(
    path: Path | None = None,
    *,
    threads: bool = False,
    runner: Runner | None = None,
    gives_way: Callable[[], bool] | None = None,
    **jobs: object,
) -> AsyncIterator[House]:
    settings = load_settings(None, {}, {"jobs": jobs})
    if runner is None:
        runner = ThreadRunner() if threads else InlineRunner()
    async with open_store(path, runner=runner) as store:
        clock = Clock.starting(datetime(2026, 1, 1, 8, tzinfo=UTC))
        metrics = Metrics()
        dispatcher = Dispatcher(
            store.jobs, clock, settings, metrics, threads=threads, gives_way=gives_way
        )
        house = House(store, dispatcher, clock)
        house.metrics = metrics
        house.settings = settings
        house.alarm = Alarm(dispatcher.watch, clock, settings, metrics)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(dispatcher.run)
            nursery.start_soon(house.alarm.run)
            yield house
            nursery.cancel_scope.cancel()


ENDS = (JobStatus.COMPLETED, JobStatus.DEAD_LETTER, JobStatus.CANCELLED)


async def test_transient_errors_are_retried_after_30_s_2_min_and_5_min_and_then_dead_lettered(
    autojump_clock,
) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            raise Transient("the weather")

        house.dispatcher.register("offers", Task, handler, OFFERS)
        job_id = await house.add("offers")
        job = await house.until(job_id, *ENDS)
        attempts = await house.store.jobs.attempts(job_id)
    assert house.times() == [0.0, 30.0, 150.0, 450.0]
    assert (job.status, job.attempts, job.fence) == (JobStatus.DEAD_LETTER, 4, 4)
    assert "the weather" in (job.last_error or "")
    assert "Traceback" in (job.last_error or "")
    assert [one.attempt for one in attempts] == [1, 2, 3, 4]
    assert [one.cause for one in attempts] == [*[JobCause.FAILED] * 3, JobCause.DEAD_LETTERED]


async def test_by_default_pauses_double_and_there_are_five_runs(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            raise TimeoutError

        house.dispatcher.register("plain", Task, handler, RetryPolicy())
        house.dispatcher.register("jittered", Task, handler, DEFAULT_POLICY)
        job = await house.until(await house.add("plain"), *ENDS)
        assert house.times() == [0.0, 60.0, 180.0, 420.0, 900.0]
        assert (job.status, job.attempts) == (JobStatus.DEAD_LETTER, 5)

        house.runs.clear()
        began = house.seconds()
        await house.until(await house.add("jittered"), *ENDS)
    pauses = [b - a for a, b in zip(house.times(), house.times()[1:], strict=False)]
    assert house.times()[0] - began < 0.001
    for pause, least in zip(pauses, [60, 120, 240, 480], strict=True):
        assert least <= pause <= 1.1 * least


@pytest.mark.parametrize("error", [ZeroDivisionError("oh"), Permanent("never"), KeyError("x")])
async def test_a_logic_error_is_a_dead_letter_at_once_with_an_alert_and_runs_after_the_fix(
    autojump_clock, error: Exception
) -> None:
    fixed = False
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            if not fixed:
                raise error
            run.effect = house.effects(run)

        house.dispatcher.register("offers", Task, handler, OFFERS)
        with structlog.testing.capture_logs() as logs:
            job_id = await house.add("offers", 7)
            job = await house.until(job_id, *ENDS)
            await trio.sleep(1)
        assert (job.status, job.attempts) == (JobStatus.DEAD_LETTER, 1)
        [dead] = [entry for entry in logs if entry["event"] == "job_dead_letter"]
        assert (dead["log_level"], dead["job_id"], dead["fence"]) == ("error", job_id, 1)
        assert dead["payload"] == '{"n":7}'
        assert "Traceback" in dead["error"]
        [raised] = [entry for entry in logs if entry["event"] == "alert_raised"]
        assert raised["alert"] == Alert.FAILURE_RATE
        assert b'yoked_alert{alert="job_failure_rate"} 1.0' in house.metrics.expose()

        fixed = True
        await house.store.jobs.requeue(job_id, house.clock.now())
        house.dispatcher.wake()
        job = await house.until(job_id, *ENDS)
        assert (job.status, job.attempts, job.fence) == (JobStatus.COMPLETED, 1, 2)
        assert await house.effect_count(job_id) == 1
        await trio.sleep(2 * 3600)
        assert house.alarm.standing == {}
        assert b'yoked_alert{alert="job_failure_rate"} 0.0' in house.metrics.expose()


async def test_an_invalid_payload_is_refused_when_enqueued_and_dead_lettered_when_run(
    autojump_clock,
) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("mail", Task, handler)
        with pytest.raises(ValidationError):
            await house.dispatcher.enqueue([NewJob("mail", {"n": "many"}, 0)])
        with pytest.raises(ValueError, match="no handler"):
            await house.dispatcher.enqueue([NewJob("nothing", {}, 0)])
        [bad, newer] = await house.store.jobs.enqueue(
            [NewJob("mail", {"n": "x"}, 0), NewJob("mail", {}, 0, payload_version=2)], 0
        )
        house.dispatcher.wake()
        for one in (bad, newer):
            assert (await house.until(one.job_id, *ENDS)).status is JobStatus.DEAD_LETTER
    assert house.runs == []


async def test_snooze_gives_the_attempt_back(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> Snooze | None:
            house.note(run)
            return Snooze(100.0) if len(house.runs) < 8 else None

        house.dispatcher.register("offers", Task, handler, OFFERS)
        job = await house.until(await house.add("offers"), *ENDS)
    assert house.times() == [100.0 * n for n in range(8)]
    assert (job.status, job.attempts, job.fence) == (JobStatus.COMPLETED, 1, 8)


async def test_a_handler_can_cancel_its_own_job(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> Cancel:
            run.effect = house.effects(run)
            return Cancel("the user is gone")

        house.dispatcher.register("mail", Task, handler)
        job_id = await house.add("mail")
        job = await house.until(job_id, *ENDS)
        assert (job.status, job.last_error) == (JobStatus.CANCELLED, "the user is gone")
        assert await house.effect_count(job_id) == 0


async def test_shutdown_gives_attempts_back_and_the_next_process_runs_them(
    autojump_clock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    async with open_house(path, concurrency=2, batch=5, drain_s=3.0) as house:

        async def slow(run: JobRun[Task]) -> None:
            house.note(run)
            await trio.sleep(1 if run.payload.n == 0 else 1000)

        house.dispatcher.register("mail", Task, slow)
        ids = [await house.add("mail", n) for n in range(5)]
        await trio.sleep(0.5)
        await house.dispatcher.drain()
        assert house.seconds() == pytest.approx(3.5)
        jobs = [await house.job(job_id) for job_id in ids]
    assert [job.status for job in jobs] == [JobStatus.COMPLETED, *[JobStatus.PENDING] * 4]
    assert [job.attempts for job in jobs] == [1, 0, 0, 0, 0]

    async with open_house(path) as house:

        async def quick(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("mail", Task, quick)
        for job_id in ids:
            assert (await house.until(job_id, *ENDS)).attempts == 1
        assert house.times() == [0.0] * 4, "no lease has to be waited for"


async def test_waiting_failed_and_running_jobs_can_be_cancelled(autojump_clock) -> None:
    async with open_house() as house:
        stopped: list[int] = []

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            run.effect = house.effects(run)
            if run.payload.n == 1:
                raise Transient
            try:
                await trio.sleep(50)
            except trio.Cancelled:
                stopped.append(run.job.id)
                raise

        house.dispatcher.register("mail", Task, handler)
        pending = await house.add("mail", 0, in_s=10)
        failed = await house.add("mail", 1)
        running = await house.add("mail", 2)
        await trio.sleep(1)
        assert (await house.job(failed)).status is JobStatus.FAILED
        for job_id in (pending, failed, running):
            await house.dispatcher.cancel(job_id)
        await trio.sleep(1)
        for job_id in (pending, failed, running):
            assert (await house.job(job_id)).status is JobStatus.CANCELLED
            assert await house.effect_count(job_id) == 0
        assert stopped == [running]
        await trio.sleep(500)
        assert [n for _, n in house.runs] == [1, 2]
        with pytest.raises(ImpossibleJobMove):
            await house.dispatcher.cancel(running)


async def test_a_cancel_from_another_process_takes_effect_with_the_next_extension(
    autojump_clock,
) -> None:
    async with open_house(lease_s=60.0) as house:

        async def handler(run: JobRun[Task]) -> None:
            run.effect = house.effects(run)
            await trio.sleep(50)

        house.dispatcher.register("mail", Task, handler)
        job_id = await house.add("mail")
        await trio.sleep(1)
        await house.store.jobs.cancel(job_id, house.clock.now())
        assert (await house.until(job_id, *ENDS)).status is JobStatus.CANCELLED
        assert house.seconds() <= 21
        assert await house.effect_count(job_id) == 0


async def test_a_completion_that_comes_after_the_cancel_has_no_effect(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            run.effect = house.effects(run)
            await house.store.jobs.cancel(run.job.id, house.clock.now())

        house.dispatcher.register("mail", Task, handler)
        job_id = await house.add("mail")
        assert (await house.until(job_id, *ENDS)).status is JobStatus.CANCELLED
        assert await house.effect_count(job_id) == 0


async def test_the_lease_of_a_long_job_is_extended_and_no_other_process_gets_it(
    autojump_clock,
) -> None:
    async with open_house(lease_s=60.0, run_timeout_s=10_000.0) as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            run.effect = house.effects(run)
            await trio.sleep(1000)

        house.dispatcher.register("mail", Task, handler)
        job_id = await house.add("mail")
        for _ in range(20):
            await trio.sleep(45)
            other = await house.store.jobs.claim("another", house.clock.now(), 60, 10)
            assert (other.jobs, other.rescued) == ([], [])
        job = await house.until(job_id, *ENDS)
        assert (job.status, job.fence, len(house.runs)) == (JobStatus.COMPLETED, 1, 1)
        assert await house.effect_count(job_id) == 1


async def test_a_run_that_loses_its_lease_is_stopped_and_changes_nothing(autojump_clock) -> None:
    async with open_house(lease_s=60.0) as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            run.effect = house.effects(run)
            await trio.sleep(100 if len(house.runs) == 1 else 0)

        house.dispatcher.register("mail", Task, handler, RetryPolicy(delays_s=(30.0,)))
        job_id = await house.add("mail")
        await trio.sleep(1)
        # Another process whose clock is fast takes it over.
        ahead = after(house.clock.now(), 61)
        other = await house.store.jobs.claim("another", ahead, 60, 10, {"mail": OFFERS})
        assert [job.id for job in other.rescued] == [job_id]
        job = await house.until(job_id, *ENDS)
        assert (job.status, job.fence, job.attempts) == (JobStatus.COMPLETED, 2, 2)
        assert await house.effect_count(job_id) == 1
        assert b"yoked_job_leases_lost_total 1.0" in house.metrics.expose()


async def test_a_run_that_never_ends_is_stopped_and_retried(autojump_clock) -> None:
    async with open_house(run_timeout_s=100.0) as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            if len(house.runs) == 1:
                await trio.sleep_forever()

        house.dispatcher.register("offers", Task, handler, OFFERS)
        job = await house.until(await house.add("offers"), *ENDS)
    assert house.times() == [0.0, 130.0]
    assert job.status is JobStatus.COMPLETED


async def test_the_dispatcher_wakes_when_a_job_is_enqueued_and_when_one_is_due(
    autojump_clock,
) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("mail", Task, handler)
        await house.add("mail", 1, in_s=86_400.000001)
        await house.add("mail", 2, in_s=500)
        await trio.sleep(100)
        await house.add("mail", 3)
        await trio.sleep(86_400)
    assert house.runs == [(100.0, 3), (500.0, 2), (86_400.000001, 1)]


async def test_a_quiet_day_has_no_claims(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("mail", Task, handler)
        await house.add("mail", in_s=86_400)
        await trio.sleep(1)
        before = house.metrics.jobs.claims_of_none._value.get()
        await trio.sleep(86_000)
        assert house.metrics.jobs.claims_of_none._value.get() == before


async def test_urgent_jobs_go_first_then_those_that_are_due_for_longest(autojump_clock) -> None:
    async with open_house(concurrency=1) as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        now = house.clock.now()
        jobs = [
            NewJob("mail", {"n": 3}, now, priority=0),
            NewJob("mail", {"n": 2}, now - 5, priority=0),
            NewJob("mail", {"n": 4}, now - 9, priority=1),
            NewJob("mail", {"n": 1}, now, priority=-1),
        ]
        await house.store.jobs.enqueue(jobs, now)
        house.dispatcher.register("mail", Task, handler)
        await trio.sleep(1)
    assert [n for _, n in house.runs] == [1, 2, 3, 4]


async def test_a_key_is_used_once_even_when_its_job_is_long_gone(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("mail", Task, handler)
        first = await house.add("mail", 1, key="2026-01-01:ana")
        assert await house.add("mail", 1, key="2026-01-01:ana") == first
        await house.until(first, *ENDS)
        assert await house.add("mail", 1, key="2026-01-01:ana") == first
        with pytest.raises(KeyConflict, match="another payload"):
            await house.add("mail", 2, key="2026-01-01:ana")
        assert await house.store.jobs.prune(after(house.clock.now(), 1), 10) == 1
        assert await house.add("mail", 1, key="2026-01-01:ana") == first
        with pytest.raises(KeyConflict):
            await house.add("mail", 2, key="2026-01-01:ana")
        await trio.sleep(1)
        assert [n for _, n in house.runs] == [1]
        assert await house.store.jobs.prune_keys(after(house.clock.now(), 1), 10) == 1
        assert await house.add("mail", 2, key="2026-01-01:ana") != first


async def test_a_key_whose_job_is_gone_without_an_outcome_is_free(
    autojump_clock, tmp_path: Path
) -> None:
    path = tmp_path / "yoked.db"
    async with open_house(path) as house:
        [lost] = await house.store.jobs.enqueue([NewJob("mail", {}, 0, "k")], 0)
        with sqlite3.connect(path) as books:
            books.execute("DELETE FROM jobs")
        books.close()
        [made] = await house.store.jobs.enqueue([NewJob("mail", {"n": 5}, 0, "k")], 0)
    assert made.is_new
    assert made.job_id > lost.job_id


async def test_an_effect_that_fails_leaves_no_trace_and_counts_as_a_failure(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            good = house.effects(run)

            def effect(tx: Tx) -> None:
                good(tx)
                if run.payload.n == 1 and len(house.runs) < 4:
                    raise Transient("not yet")

            run.effect = effect

        house.dispatcher.register("offers", Task, handler, OFFERS)
        now = house.clock.now()
        ids = [
            one.job_id
            for one in await house.dispatcher.enqueue(
                [NewJob("offers", {"n": n}, now) for n in range(3)]
            )
        ]
        for job_id in ids:
            assert (await house.until(job_id, *ENDS)).status is JobStatus.COMPLETED
            assert await house.effect_count(job_id) == 1
    assert [n for _, n in house.runs] == [0, 1, 2, 1]


async def test_then_is_called_after_the_commit(autojump_clock) -> None:
    told: list[JobStatus] = []
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            connection = raw_connection(house.store)
            sql = "SELECT status FROM jobs WHERE id = ?"

            def tell() -> None:
                told.append(JobStatus(connection.execute(sql, (run.job.id,)).fetchone()[0]))

            run.then = tell

        house.dispatcher.register("mail", Task, handler)
        await house.until(await house.add("mail"), *ENDS)
    assert told == [JobStatus.COMPLETED]


async def test_every_attempt_has_the_same_idempotency_key(autojump_clock) -> None:
    keys: list[str] = []
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            keys.append(run.idempotency_key)
            if len(keys) < 3:
                raise Transient

        house.dispatcher.register("offers", Task, handler, OFFERS)
        await house.until(await house.add("offers"), *ENDS)
        await house.until(await house.add("offers"), *ENDS)
    assert keys[0] == keys[1] == keys[2] != keys[3]


async def test_the_log_says_what_happens_to_a_job(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            if run.job.attempts == 1:
                raise Transient("the weather")

        house.dispatcher.register("offers", Task, handler, OFFERS)
        with structlog.testing.capture_logs() as logs:
            job_id = await house.add("offers")
            await house.until(job_id, *ENDS)
    said = [
        (entry["log_level"], entry["event"], entry["job_id"], entry["attempt"], entry["fence"])
        for entry in logs
        if "job_id" in entry
    ]
    assert said == [
        ("info", "job_started", job_id, 1, 1),
        ("warning", "job_failed", job_id, 1, 1),
        ("info", "job_started", job_id, 2, 2),
        ("info", "job_completed", job_id, 2, 2),
    ]


async def test_a_long_queue_raises_an_alert_that_is_cleared_when_it_is_short(
    autojump_clock,
) -> None:
    async with open_house(alert_depth=10, alert_overdue_s=10.0, concurrency=2) as house:

        async def handler(run: JobRun[Task]) -> None:
            await trio.sleep(30)

        house.dispatcher.register("mail", Task, handler)
        now = house.clock.now()
        await house.dispatcher.enqueue([NewJob("mail", {}, now) for _ in range(40)])
        await trio.sleep(20)
        assert list(house.alarm.standing) == [Alert.DEPTH]
        await trio.sleep(1000)
        assert house.alarm.standing == {}


async def test_slow_jobs_raise_an_alert(autojump_clock) -> None:
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            await trio.sleep(301)

        house.dispatcher.register("mail", Task, handler)
        await house.until(await house.add("mail"), *ENDS)
        await trio.sleep(20)
        assert list(house.alarm.standing) == [Alert.DURATION]


async def test_a_handler_must_be_async_or_cpu_bound(autojump_clock) -> None:
    async with open_house() as house:
        with pytest.raises(TypeError, match="async"):
            house.dispatcher.register("mail", Task, lambda run: None)


def test_a_cpu_bound_handler_does_not_block_the_event_loop() -> None:
    """On a real clock: the job ends only after the event loop has gone on."""

    async def main() -> None:
        threads: list[int] = []
        has_gone_on = threading.Event()
        async with open_house(threads=True) as house:

            def work(run: JobRun[Task]) -> None:
                threads.append(threading.get_ident())
                assert has_gone_on.wait(60)
                run.effect = house.effects(run)

            house.dispatcher.register("work", Task, work, cpu_bound=True)
            job_id = await house.add("work")
            await house.until(job_id, JobStatus.IN_PROGRESS)
            for _ in range(100):
                await trio.sleep(0.001)
            has_gone_on.set()
            await house.until(job_id, JobStatus.COMPLETED)
            assert await house.effect_count(job_id) == 1
        assert threads[0] != threading.get_ident()

    trio.run(main)


async def test_claims_wait_while_outcomes_are_not_recorded(autojump_clock) -> None:
    held: list[float] = []
    async with open_house(concurrency=4, batch=100) as house:

        async def handler(run: JobRun[Task]) -> None:
            # An effect is recorded with a few others only; to run such a job takes no time at all.
            run.effect = house.effects(run)
            held.append(house.metrics.registry.get_sample_value("yoked_jobs_held") or 0)

        house.dispatcher.register("quick", Task, handler)
        at = house.clock.now()
        added = await house.dispatcher.enqueue([NewJob("quick", {}, at) for _ in range(3_000)])
        await house.until(added[-1].job_id, *ENDS)
    assert len(held) == 3_000
    assert max(held) <= 300


async def test_handlers_that_wait_run_at_once_and_the_others_one_after_the_other(
    autojump_clock,
) -> None:
    """A task that begins to wait in a handler leaves the next job to another task."""
    tasks: dict[str, set[object]] = {"quick": set(), "slow": set()}
    running: list[int] = []
    most = 0
    async with open_house(concurrency=3, batch=100) as house:

        async def quick(run: JobRun[Task]) -> None:
            tasks["quick"].add(trio.lowlevel.current_task())

        async def slow(run: JobRun[Task]) -> None:
            nonlocal most
            running.append(run.job.id)
            most = max(most, len(running))
            tasks["slow"].add(trio.lowlevel.current_task())
            await trio.sleep(1)
            running.remove(run.job.id)

        house.dispatcher.register("quick", Task, quick)
        house.dispatcher.register("slow", Task, slow)
        at = house.clock.now()
        began = trio.current_time()
        jobs = [NewJob("slow", {}, at) for _ in range(9)]
        for one in await house.dispatcher.enqueue(jobs):
            await house.until(one.job_id, *ENDS)
        assert trio.current_time() - began == pytest.approx(3, abs=0.5)
        jobs = [NewJob("quick", {}, at) for _ in range(3)]
        for one in await house.dispatcher.enqueue(jobs):
            await house.until(one.job_id, *ENDS)
    assert most == 3
    assert (len(tasks["slow"]), len(tasks["quick"])) == (3, 1)


async def test_a_transaction_has_a_bounded_number_of_effects(autojump_clock) -> None:
    """However many outcomes wait while the disk is slow: spins wait for the transaction."""
    applied: list[float] = []
    async with open_house(runner=SlowDisk(), concurrency=300, batch=300) as house:

        async def handler(run: JobRun[Task]) -> None:
            run.effect = lambda _: applied.append(trio.current_time())

        house.dispatcher.register("quick", Task, handler)
        at = house.clock.now()
        jobs = [NewJob("quick", {}, at) for _ in range(600)]
        added = await house.dispatcher.enqueue(jobs)
        await house.until(added[-1].job_id, *ENDS)
    transactions = Counter(applied)
    assert sum(transactions.values()) == 600
    assert max(transactions.values()) == 32
    # Each of them is queued while the one before is committed.
    full = sorted(at for at, effects in transactions.items() if effects == 32)
    assert len(full) >= 16
    assert [later - at for at, later in pairwise(full)] == [1.0] * (len(full) - 1)


async def test_a_worker_gives_way_before_each_run(autojump_clock) -> None:
    seen: list[str] = []

    def give_way() -> bool:
        seen.append("way")
        return True

    async with open_house(gives_way=give_way) as house:

        async def handler(run: JobRun[Task]) -> None:
            seen.append("run")

        house.dispatcher.register("quick", Task, handler)
        at = house.clock.now()
        for one in await house.dispatcher.enqueue([NewJob("quick", {}, at) for _ in range(3)]):
            await house.until(one.job_id, *ENDS)
    assert seen == ["way", "run"] * 3


def _sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MailboxFull(), ErrorKind.TRANSIENT),
        (_sqlite_error(sqlite3.SQLITE_BUSY), ErrorKind.TRANSIENT),
        (_sqlite_error(sqlite3.SQLITE_LOCKED), ErrorKind.TRANSIENT),
        (_sqlite_error(sqlite3.SQLITE_ERROR), ErrorKind.LOGIC),
        (ExceptionGroup("", [MailboxFull(), StoreUnavailable()]), ErrorKind.TRANSIENT),
        (ExceptionGroup("", [MailboxFull(), KeyError()]), ErrorKind.LOGIC),
    ],
)
def test_a_busy_database_is_a_transient_error(error: Exception, kind: ErrorKind) -> None:
    assert kind_of(error) is kind


# Policies and runs of a job's own


async def test_a_policy_is_what_the_settings_say_and_follows_a_reload(autojump_clock):
    retry = {"default": {"base_s": 10.0, "jitter": 0.0}}
    async with open_house(retry=retry) as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            raise Transient("the weather")

        house.dispatcher.register("work", Task, handler)
        job_id = await house.add("work")
        await trio.sleep(31)
        assert house.times() == [0, 10, 30]
        newer = load_settings(None, {}, {"jobs": {"retry": {"default": {"attempts": 4}}}})
        house.settings.jobs.renew({"retry": newer.jobs.retry})
        job = await house.until(job_id, JobStatus.DEAD_LETTER)
        assert job.attempts == 4


async def test_a_job_can_have_its_own_number_of_attempts(autojump_clock):
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)
            raise Transient("the weather")

        house.dispatcher.register("work", Task, handler, OFFERS)
        once = await house.add("work", 1, max_attempts=1)
        often = await house.add("work", 2, max_attempts=6)
        job = await house.until(often, JobStatus.DEAD_LETTER)
        assert (job.attempts, job.max_attempts) == (6, 6)
        assert (await house.job(once)).attempts == 1
        assert "all 6 runs are used up" in (job.last_error or "")
        for wrong in (0, 1001):
            with pytest.raises(ValueError, match="max_attempts is 1 to 1000"):
                await house.add("work", 1, max_attempts=wrong)


# Progress


async def test_the_progress_of_a_run_is_written_regularly_and_cleared_by_the_next_run(
    autojump_clock, monkeypatch
):
    async with open_house(progress_every_s=2.0, lease_s=60.0) as house:
        writes: list[object] = []
        monkeypatch.setattr(house.store.jobs, "extend", _counted(house.store.jobs.extend, writes))

        async def handler(run: JobRun[Task]) -> None:
            if run.job.attempts > 1:
                return
            for done in range(100):
                run.report(done, 100, "steps")
                await trio.sleep(0.1)
            raise Transient("the weather")

        house.dispatcher.register("work", Task, handler, RetryPolicy(delays_s=(30.0,)))
        job_id = await house.add("work")
        await trio.sleep(5)
        job = await house.job(job_id)
        assert job.progress is not None
        assert 35 <= job.progress.done < 50
        assert (job.progress.total, job.progress.note) == (100, "steps")
        assert len(writes) == 2, "not with every word"
        job = await house.until(job_id, JobStatus.FAILED)
        assert job.progress is not None, "where it was when it failed"
        job = await house.until(job_id, JobStatus.COMPLETED)
        assert job.progress is None


def _counted(call: Any, writes: list[object]) -> Any:
    async def counted(*given):
        writes.append(given)
        return await call(*given)

    return counted


async def test_progress_that_is_complete_says_so(autojump_clock):
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            run.report(0, 7)
            await trio.sleep(3)

        house.dispatcher.register("work", Task, handler)
        job = await house.until(await house.add("work"), JobStatus.COMPLETED)
        assert job.progress == Progress(7, 7)


@pytest.mark.parametrize("said", [(-1, None, ""), (3, 2, ""), (1, 2, "x" * 201), (1, 2, "a\nb")])
async def test_impossible_progress_is_an_error_of_the_handler(autojump_clock, said):
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            run.report(*said)

        house.dispatcher.register("work", Task, handler)
        job = await house.until(await house.add("work"), JobStatus.DEAD_LETTER)
        assert "progress" in (job.last_error or "")


# Several processes


async def test_only_a_job_that_another_process_claimed_first_counts_as_a_lost_race(
    autojump_clock, monkeypatch
):
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            house.note(run)

        house.dispatcher.register("work", Task, handler)
        lost = house.metrics.jobs.races_lost
        await house.until(await house.add("work"), JobStatus.COMPLETED)
        await trio.sleep(3600)
        assert count_of(lost) == 0, "to find nothing is no race"
        enqueue = house.store.jobs.enqueue

        async def snatch(jobs, now):
            enqueued = await enqueue(jobs, now)
            await house.store.jobs.claim("another process", now, 60.0, 10)
            return enqueued

        monkeypatch.setattr(house.store.jobs, "enqueue", snatch)
        with structlog.testing.capture_logs() as logs:
            job_id = await house.add("work")
            await trio.sleep(1)
        assert count_of(lost) == 1
        [line] = [line for line in logs if line["event"] == "job_already_claimed"]
        assert (line["job_id"], line["log_level"]) == (job_id, "debug")


async def test_failures_and_retries_are_ratios(autojump_clock):
    async with open_house() as house:

        async def handler(run: JobRun[Task]) -> None:
            if run.payload.n == 1 and run.job.attempts == 1:
                raise Transient("the weather")
            if run.payload.n == 2:
                raise ValueError("a bug")

        house.dispatcher.register("work", Task, handler)
        for n in (0, 0, 1, 2):
            await house.add("work", n)
        await trio.sleep(120)
        value = house.metrics.registry.get_sample_value
        assert value("yoked_job_failure_ratio") == 1 / 4
        assert value("yoked_job_retry_ratio") == 1 / 5
