"""Runs one attempt at a claimed job, and hands its outcome to the recorder."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.held_jobs import HeldJob, StopReason
from yoked_actor.actors.jobs.job_types import JobType
from yoked_actor.actors.jobs.recorder import JobRecorder
from yoked_actor.actors.jobs.reports import EndedAttempt
from yoked_actor.domain.jobs import Cancel, Job, Snooze, max_runs
from yoked_actor.domain.time import after
from yoked_actor.settings import JobSettings
from yoked_actor.store import Cancelled, Completed, Outcome, Snoozed

_log = structlog.get_logger()


class Attempts:
    """Runs handlers, on threads if they are CPU-bound."""

    def __init__(
        self,
        types: Mapping[str, JobType],
        clock: Clock,
        limits: JobSettings,
        recorder: JobRecorder,
        release: Callable[[list[Job]], None],
        *,
        threads: bool,
    ) -> None:
        """`release` is called with a job that has no outcome, because its lease was lost."""
        self._types = types
        self._clock = clock
        self._limits = limits
        self._recorder = recorder
        self._release = release
        # A mock clock may jump while a thread works, so there is none then.
        self._limiter = trio.CapacityLimiter(limits.cpu_threads) if threads else None

    async def run(
        self, held: HeldJob, scope: trio.CancelScope, began: float, read_s: Callable[[], float]
    ) -> float:
        """Run the handler of a job, inside a scope by which it can be stopped.

        `read_s` reads trio's clock, `began` is its present instant; returns that of the end.
        Checkpoints only if the handler does. If cancelled, nothing is recorded: if `scope` was
        cancelled the caller calls `end_stopped`, otherwise the lease ends.
        """
        job = held.job
        kind = self._types[job.type]
        if held.stopped is not None:
            self.end_stopped(held)
            return began
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
        # A deadline here would cost more than a small job does: `HeldJobs` stops slow runs.
        held.scope = scope
        try:
            held.run = run = kind.begin(job)
            if kind.cpu_bound:
                result = await kind.compute(run, self._limiter)
            else:
                result = await kind.handler(run)
            if result is not None and not isinstance(result, Snooze | Cancel):
                raise TypeError(f"a handler returns None, Snooze or Cancel, not {result!r}")
        except Exception as error:
            self.end_failed(held, error)
            return read_s()
        held.end()
        ended = read_s()
        outcome: Outcome
        if result is None:
            outcome = Completed(job.id, job.fence, run.effect)
        elif isinstance(result, Snooze):
            outcome = Snoozed(job.id, job.fence, after(self._clock.now(), result.seconds))
        else:
            outcome = Cancelled(job.id, job.fence, result.reason)
        self._recorder.put(EndedAttempt(job, kind, outcome, ended - began, run.then))
        return ended

    def give_back(self, held: HeldJob) -> None:
        """Give back a job that has not been started."""
        held.stop(StopReason.STOPPING)
        self.end_stopped(held)

    def end_failed(self, held: HeldJob, error: Exception) -> None:
        """Record an attempt that failed."""
        held.end()
        seconds = trio.current_time() - held.began
        self._recorder.put_failure(held.job, self._types[held.job.type], error, seconds)

    def end_stopped(self, held: HeldJob) -> None:
        """Record an attempt that was stopped."""
        seconds = max(0.0, trio.current_time() - held.began)
        held.end()
        job = held.job
        kind = self._types[job.type]
        if held.stopped is StopReason.LEASE_LOST:
            self._release([job])
        elif held.stopped is StopReason.STOPPING:
            self._recorder.put(EndedAttempt(job, kind, Snoozed(job.id, job.fence), seconds))
        elif held.stopped is StopReason.CANCELLED:
            outcome = Cancelled(job.id, job.fence, "cancelled while it ran")
            self._recorder.put(EndedAttempt(job, kind, outcome, seconds))
        else:
            limit_s = self._limits.run_timeout_s
            error = trio.TooSlowError(f"the run took longer than {limit_s} s")
            self._recorder.put_failure(job, kind, error, seconds)
