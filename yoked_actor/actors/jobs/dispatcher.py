"""The dispatcher: claims due jobs, runs them, and gives them back when the process stops (R36).

`claims` takes jobs from the queue, a fixed number of tasks (`workers`) runs their handlers
(`attempts`), `held_jobs` extends the leases, `recorder` commits the outcomes in batches, and
`reports` counts and logs them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import trio
from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.attempts import Attempts
from yoked_actor.actors.jobs.claims import Claims
from yoked_actor.actors.jobs.held_jobs import HeldJobs, StopReason
from yoked_actor.actors.jobs.job_types import JobRun, JobType
from yoked_actor.actors.jobs.recorder import JobRecorder
from yoked_actor.actors.jobs.reports import EndedRun, JobReports
from yoked_actor.actors.jobs.watch import JobWatch
from yoked_actor.domain.jobs import Job, JobStatus, NewJob, RetryPolicy
from yoked_actor.settings import Settings
from yoked_actor.store import Enqueued, Jobs
from yoked_actor.telemetry import Metrics

_RECORDERS = 3
"""One commits, one has queued the next commit, and one counts and logs outcomes."""


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
        ended: Callable[[Sequence[EndedRun]], None] | None = None,
        claims_at_most: int | None = None,
        gives_way: Callable[[], bool] | None = None,
    ) -> None:
        """`wake_others` wakes other processes; `ended` is called with runs that were recorded.

        `claims_at_most` is less than `jobs.batch` where other processes should not wait for it.
        `gives_way` is called before each run, may block the event loop for a short time, and
        returns whether it did.
        """
        self._jobs = jobs
        self._clock = clock
        self._limits = settings.jobs
        self._metrics = metrics.jobs
        self.owner = owner or f"process {os.getpid()}"
        self._wake_others = wake_others
        self._types: dict[str, JobType] = {}
        self._woken: Callable[[], None] | None = None
        self.watch = JobWatch(jobs, clock, settings.jobs, self._metrics)
        self._reports = JobReports(settings.jobs, self._metrics, self.watch, self._types, ended)
        self._recorder = JobRecorder(
            *(jobs, clock, settings, self._reports, self._release), tells_others=ended is not None
        )
        self._held = HeldJobs(jobs, clock, settings.jobs, self._reports.count_lost)
        self._attempts = Attempts(
            *(self._types, clock, settings.jobs, self._recorder, self._release), threads=threads
        )
        self._claims = Claims(
            *(self.owner, jobs, clock, settings, self._metrics),
            types=self._types,
            held=self._held,
            attempts=self._attempts,
            reports=self._reports,
            watch=self.watch,
            at_most=claims_at_most,
            gives_way=gives_way,
        )

    # Registering and enqueueing

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
        judge: Callable[[str, Sequence[float]], None] | None = None,
    ) -> None:
        """Register the handler of a job type, with a retry policy or the default one.

        Settings override the policy. A `cpu_bound` handler runs on a thread, and may be a plain
        function; it must not await. Starts of runs of a `quiet` type are not logged. `version` is
        the newest payload version that the model can read. `judge` is called with a result and the
        seconds of the runs that had it, except those that were given back.
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
            seconds.observe_all,
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

    @property
    def held(self) -> int:
        """How many jobs this process has claimed and not yet recorded."""
        return len(self._held)

    def leave(self, types: frozenset[str]) -> None:
        """Claim no jobs of these types, and of all others: another process runs them."""
        if self._claims.leave(types):
            self.wake()

    def count(self, runs: Sequence[EndedRun]) -> None:
        """Count runs that another process has recorded."""
        self._reports.count(runs)

    def on_wake(self, woken: Callable[[], None]) -> None:
        """Call `woken` whenever there may be new jobs; it must not block."""
        self._woken = woken

    async def enqueue(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Validate the payloads, enqueue all jobs or none, and wake.

        Checkpoints. If cancelled, the jobs may or may not have been enqueued.
        """
        for job in jobs:
            kind = self._types.get(job.type)
            if kind is None:
                raise ValueError(f"there is no handler for {job.type}")
            kind.model.model_validate(job.payload)
        enqueued = await self._jobs.enqueue(jobs, self._clock.now())
        self._claims.expect(jobs, enqueued)
        self.wake()
        return enqueued

    async def cancel(self, job_id: int) -> Job:
        """Cancel a job, which may be running. Raises `NoSuchJob` or `ImpossibleJobMove`."""
        job = await self._jobs.cancel(job_id, self._clock.now())
        held = self._held.get(job_id)
        if held is not None and job.status is JobStatus.IN_PROGRESS:
            held.stop(StopReason.CANCELLED)
        return job

    def wake(self, *, from_other_process: bool = False, alone: bool = False) -> None:
        """Look for due jobs now. Another process may also have cancelled one.

        `alone`: do not wake other processes.
        """
        self._claims.wake()
        self.watch.wake()
        if self._woken is not None:
            self._woken()
        if from_other_process:
            self._held.wake()
        elif self._wake_others is not None and not alone:
            self._wake_others()

    # Running

    async def run(self) -> None:
        """Run jobs until cancelled; as after a crash, the leases of held jobs end.

        It may be called again after an error.
        """
        try:
            async with trio.open_nursery() as nursery:
                for _ in range(_RECORDERS):
                    nursery.start_soon(self._recorder.run)
                nursery.start_soon(self._held.keep_leases)
                for _ in range(self._limits.concurrency):
                    nursery.start_soon(self._claims.workers.work)
                await self._claims.keep_claiming()
        finally:
            self._claims.workers.take_back()
            self._held.clear()
            self._metrics.held.set(0)

    async def drain(self) -> None:
        """Stop claiming, wait a while for runs to end, and give the other jobs back."""
        self._claims.end()
        self.wake()
        with trio.move_on_after(self._limits.drain_s):
            await self._held.until_empty()
        for held in self._held:
            held.stop(StopReason.STOPPING)
        # A thread cannot be stopped: the lease of its job ends.
        with trio.move_on_after(self._limits.drain_s):
            await self._held.until_empty()

    def _release(self, jobs: list[Job], some_wait_again: bool = False) -> None:
        if some_wait_again:
            self.wake()  # they may be due before the end of the sleep
        self._held.release(jobs)
        self._metrics.held.set(len(self._held))
        self._claims.make_room()
