"""The dispatcher: claims due jobs, runs them, keeps their leases, gives them back at the end (R36).

It sleeps until something is enqueued, or until the instant that the next job is due or the next
lease ends; it never asks just in case. A claim brings about as much as can be run in a short while,
so that a crash costs few attempts and a second process finds work too. A fixed set of tasks runs
the handlers; how they end is recorded many at a time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import structlog
import trio
from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.held_jobs import Held, HeldJobs, Why
from yoked_actor.actors.jobs.job_types import JobRun, JobType
from yoked_actor.actors.jobs.recorder import Ended, JobRecorder
from yoked_actor.actors.jobs.watch import JobWatch
from yoked_actor.domain.jobs import Job, JobStatus, NewJob, RetryPolicy, Snooze, max_runs
from yoked_actor.domain.time import Instant, after
from yoked_actor.settings import Settings
from yoked_actor.store import (
    Cancelled,
    Completed,
    Enqueued,
    Jobs,
    Outcome,
    Snoozed,
    StoreUnavailable,
)
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()
_RUNS_BETWEEN_CHECKPOINTS = 4
_RECORDERS = 2
"""One tells what was recorded while the other records."""


class Dispatcher:
    """Runs jobs of the types that were registered."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        *,
        owner: str | None = None,
        threads: bool = True,
        wake_others: Callable[[], None] | None = None,
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._limits = settings.jobs
        self._metrics = metrics.jobs
        self._owner = owner or f"process {os.getpid()}"
        self._wake_others = wake_others
        # A mock clock may jump while a thread works, so there is none then.
        self._limiter = trio.CapacityLimiter(settings.jobs.cpu_threads) if threads else None
        self._types: dict[str, JobType] = {}
        self._ready: deque[Held] = deque()
        self._expected: set[int] = set()
        """Due jobs that this process has enqueued since its last claim."""
        self._appetite = min(settings.jobs.concurrency, settings.jobs.batch)
        # Runs may end more quickly than they are recorded; then no more are claimed for a while.
        self._most_held = 2 * max(settings.jobs.concurrency, settings.jobs.batch)
        self._is_woken = False
        self._wakeup = trio.Event()
        self._work_came = trio.lowlevel.ParkingLot()
        self._room_came = trio.lowlevel.ParkingLot()
        self._draining = False
        self.watch = JobWatch(jobs, clock, settings.jobs, self._metrics)
        self._recorder = JobRecorder(jobs, clock, settings, metrics, self.watch, self._release)
        self._held = HeldJobs(jobs, clock, settings.jobs, self._recorder.count_lost)

    # For those who have work

    def register(
        self,
        job_type: str,
        model: type[BaseModel],
        handler: Callable[[JobRun[Any]], Any],
        policy: RetryPolicy | None = None,
        *,
        cpu_bound: bool = False,
        quiet: bool = False,
        version: int = 1,
        judge: Callable[[str, float], None] | None = None,
    ) -> None:
        """Say how jobs of a type are run; without a policy, on the default.

        What the settings say of the type's policy goes over it.
        A `cpu_bound` handler runs on a thread, and may be a plain function; it never awaits. Of a
        `quiet` type the log tells how runs end, but not that they begin. `version` is that of the
        newest payload that the model can read. `judge` is told of every run that ended, but not of
        one that was given back: its result and how many seconds it took.
        """
        if job_type in self._types:
            raise ValueError(f"there is a handler for {job_type} already")
        self._metrics.expect(job_type)
        seconds = self._metrics.seconds.labels(job_type)
        self._types[job_type] = JobType(
            job_type,
            model,
            handler,
            policy,
            seconds.observe,
            self._limits,
            cpu_bound=cpu_bound,
            quiet=quiet,
            version=version,
            judge=judge,
        )
        self.wake()

    @property
    def types(self) -> frozenset[str]:
        """The types that are registered."""
        return frozenset(self._types)

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Check payloads against their models, enqueue all or none, and wake up."""
        for job in jobs:
            kind = self._types.get(job.type)
            if kind is None:
                raise ValueError(f"there is no handler for {job.type}")
            kind.model.model_validate(job.payload)
        enqueued = await self._jobs.enqueue(jobs, self._clock.now())
        now = self._clock.now()
        for job, one in zip(jobs, enqueued, strict=True):
            if one.is_new and job.scheduled_for <= now and len(self._expected) < self._most_held:
                self._expected.add(one.job_id)
        self.wake()
        return enqueued

    async def cancel(self, job_id: int) -> Job:
        """Cancel a job, wherever it is; `NoSuchJob` or `ImpossibleJobMove`."""
        job = await self._jobs.cancel(job_id, self._clock.now())
        held = self._held.get(job_id)
        if held is not None and job.status is JobStatus.IN_PROGRESS:
            held.stop(Why.CANCELLED)
        return job

    def wake(self, *, from_other_process: bool = False) -> None:
        """Look for due jobs now. Another process may also have cancelled one."""
        self._is_woken = True
        self._wakeup.set()
        self.watch.wake()
        if from_other_process:
            self._held.wake()
        elif self._wake_others is not None:
            self._wake_others()

    # For the server

    async def run(self) -> None:
        """Work until cancelled; what is held then is left to its leases, as in a crash.

        It may be run again after an error: what was held is another attempt's then.
        """
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(_RECORDERS):
                    nursery.start_soon(self._recorder.run)
                nursery.start_soon(self._held.keep_leases)
                for _ in range(self._limits.concurrency):
                    nursery.start_soon(self._work)
                await self._claim_for_ever()
        finally:
            self._ready.clear()
            self._held.clear()
            self._metrics.held.set(0)

    async def drain(self) -> None:
        """Claim no more, let what runs end for a while, and give the rest back."""
        self._draining = True
        self.wake()
        while self._ready:
            self._give_back(self._ready.popleft())
        with trio.move_on_after(self._limits.drain_s):
            await self._held.until_empty()
        for held in self._held:
            held.stop(Why.STOPPING)
        # A thread cannot be stopped: what it computes is left to its lease.
        with trio.move_on_after(self._limits.drain_s):
            await self._held.until_empty()

    # Claims

    async def _claim_for_ever(self) -> None:
        delay_s = self._settings.store.retry_first_s
        while True:
            while self._draining or not self._has_room():
                await self._room_came.park()
            self._is_woken = False
            limit = self._appetite
            began = trio.current_time()
            policies = {name: kind.policy for name, kind in self._types.items()}
            expected, self._expected = self._expected, set()
            try:
                claimed = await self._jobs.claim(
                    self._owner,
                    self._clock.now(),
                    self._limits.lease_s,
                    limit,
                    policies,
                    list(expected),
                )
            except StoreUnavailable as error:
                self._metrics.claims_refused.inc()
                _log.warning("jobs_not_claimed", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
                continue
            delay_s = self._settings.store.retry_first_s
            self._note_lost(claimed.lost)
            self._note_rescued(claimed.rescued)
            self._take(claimed.jobs)
            if len(claimed.jobs) == limit:
                await self._adapt(began)
            elif not self._is_woken:
                await self._sleep_until(claimed.next_due_at)

    def _has_room(self) -> bool:
        return 2 * len(self._ready) <= self._appetite and len(self._held) <= self._most_held

    def _take(self, jobs: list[Job]) -> None:
        (self._metrics.claims_of_some if jobs else self._metrics.claims_of_none).inc()
        if not jobs:
            _log.debug("nothing_to_claim")
            return
        self._metrics.claimed.inc(len(jobs))
        for job in jobs:
            self._ready.append(self._held.add(job))
            if self._draining:
                self._give_back(self._ready.pop())
        self._metrics.held.set(len(self._held))
        self._work_came.unpark(count=len(jobs))
        self.watch.wake()

    def _note_lost(self, job_ids: Sequence[int]) -> None:
        for job_id in job_ids:
            # Normal where several processes work: the claim is what decides who has it.
            self._metrics.races_lost.inc()
            _log.debug("job_already_claimed", job_id=job_id)

    async def _adapt(self, began: float) -> None:
        """Claim more at once while it is run quickly, less while it is not."""
        while 2 * len(self._ready) > self._appetite and not self._draining:
            await self._room_came.park()
        lasted_s = trio.current_time() - began
        if lasted_s < self._limits.ahead_s:
            self._appetite = min(2 * self._appetite, self._limits.batch)
        elif lasted_s > 2 * self._limits.ahead_s:
            least = min(self._limits.concurrency, self._limits.batch)
            self._appetite = max(self._appetite // 2, least)

    def _note_rescued(self, rescued: list[Job]) -> None:
        self._metrics.rescued.inc(len(rescued))
        for job in rescued:
            dead = job.status is JobStatus.DEAD_LETTER
            (_log.error if dead else _log.warning)(
                "job_dead_letter" if dead else "job_rescued",
                job_id=job.id,
                fence=job.fence,
                type=job.type,
                attempt=job.attempts,
                status=job.status.value,
                error=job.last_error,
            )
            if dead:
                self._metrics.ended.labels(job.type, "dead_letter").inc()
                self.watch.note(completed=0, dead=1, seconds=[])
                judge = self._types[job.type].judge
                if judge is not None:
                    judge("dead_letter", self._limits.lease_s)

    async def _sleep_until(self, at: Instant | None) -> None:
        self._wakeup = trio.Event()
        with self._clock.until(at):
            await self._wakeup.wait()

    # Runs

    async def _work(self) -> None:
        runs = 0
        while True:
            while not self._ready:
                await self._work_came.park()
            held = self._ready.popleft()
            if self._room_came and self._has_room():
                self._room_came.unpark_all()
            await self._run(held)
            runs += 1
            if runs % _RUNS_BETWEEN_CHECKPOINTS == 0:
                # A handler that never waits would keep everybody else from running.
                await trio.lowlevel.checkpoint()

    async def _run(self, held: Held) -> None:
        job = held.job
        kind = self._types[job.type]
        if held.why is not None:
            self._end_stopped(held, kind, 0.0)
            return
        began = trio.current_time()
        if not kind.quiet:
            _log.info(
                "job_started",
                job_id=job.id,
                fence=job.fence,
                type=job.type,
                attempt=job.attempts,
                runs=max_runs(kind.policy, job),
            )
        held.began = began
        # Without a deadline, which would cost more than a small job does: see HeldJobs.
        held.scope = scope = trio.CancelScope()
        try:
            with scope:
                held.run = run = kind.begin(job)
                result = await kind.run(run, self._limiter)
        except Exception as error:
            held.is_ended = True
            self._recorder.put_failure(job, kind, error, trio.current_time() - began)
            return
        held.is_ended = True
        seconds = trio.current_time() - began
        if scope.cancelled_caught:
            self._end_stopped(held, kind, seconds)
            return
        outcome: Outcome
        if result is None:
            outcome = Completed(job.id, job.fence, run.effect)
        elif isinstance(result, Snooze):
            outcome = Snoozed(job.id, job.fence, after(self._clock.now(), result.seconds))
        else:
            outcome = Cancelled(job.id, job.fence, result.reason)
        self._recorder.put(Ended(job, kind, outcome, seconds, run.then))

    def _end_stopped(self, held: Held, kind: JobType, seconds: float) -> None:
        """Record an attempt that was ended from outside."""
        held.is_ended = True
        job = held.job
        if held.why is Why.LEASE_LOST:
            self._release([job])
        elif held.why is Why.STOPPING:
            self._recorder.put(Ended(job, kind, Snoozed(job.id, job.fence), seconds))
        elif held.why is Why.CANCELLED:
            outcome = Cancelled(job.id, job.fence, "cancelled while it ran")
            self._recorder.put(Ended(job, kind, outcome, seconds))
        else:
            limit_s = self._limits.run_timeout_s
            error = trio.TooSlowError(f"the run took longer than {limit_s} s")
            self._recorder.put_failure(job, kind, error, seconds)

    def _give_back(self, held: Held) -> None:
        held.stop(Why.STOPPING)
        self._end_stopped(held, self._types[held.job.type], 0.0)

    def _release(self, jobs: list[Job], some_wait_again: bool = False) -> None:
        if some_wait_again:
            self.wake()  # they may be due before what is slept for
        self._held.release(jobs)
        self._metrics.held.set(len(self._held))
        if self._has_room():
            self._room_came.unpark_all()
