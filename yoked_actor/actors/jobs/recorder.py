"""Records how attempts ended: commits many in one transaction, then logs and counts them.

An attempt whose lease has ended before the commit changes nothing, and is only counted. While the
store is unavailable outcomes wait; if their leases end meanwhile, another process may run the jobs,
and the fence rejects the old outcomes.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.job_types import JobType, kind_of, outline_of
from yoked_actor.actors.jobs.watch import JobWatch
from yoked_actor.domain.jobs import Job, JobStatus, Retry, after_failure, max_runs
from yoked_actor.settings import Settings
from yoked_actor.store import (
    CancelAsked,
    Cancelled,
    Completed,
    DeadLettered,
    Failed,
    Jobs,
    JointEffect,
    LeaseLost,
    Outcome,
    Snoozed,
    StoreUnavailable,
)
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()
_MOST_EFFECTS = 32
"""Effects in one transaction: a spin may have to wait for it."""
_RESULTS: dict[type[Outcome], str] = {
    Completed: "completed",
    Failed: "failed",
    DeadLettered: "dead_letter",
    Snoozed: "given_back",
    Cancelled: "cancelled",
}


class EndedRun(msgspec.Struct, frozen=True, array_like=True):
    """A run that was recorded, for counting; also that of a worker process."""

    type: str
    result: str
    seconds: float


class EndedAttempt(msgspec.Struct):
    """An attempt that has ended, and its outcome."""

    job: Job
    kind: JobType
    outcome: Outcome
    seconds: float
    then: Callable[[], None] | None = None


class JobRecorder:
    """Commits outcomes in batches: those that came during one commit share the next."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        watch: JobWatch,
        recorded: Callable[[list[Job], bool], None],
        types: Mapping[str, JobType],
        ended: Callable[[Sequence[EndedRun]], None] | None,
    ) -> None:
        """`recorded` is called with jobs whose outcome is stored, and whether some wait again.

        `ended` is called with the runs that are counted here.
        """
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._metrics = metrics.jobs
        self._watch = watch
        self._recorded = recorded
        self._types = types
        self._ended = ended
        self._waiting: list[EndedAttempt] = []
        self._filled = trio.lowlevel.ParkingLot()

    def put(self, ended: EndedAttempt) -> None:
        """Record an outcome soon. Does not block."""
        self._waiting.append(ended)
        if self._filled:
            self._filled.unpark()

    def put_failure(
        self,
        job: Job,
        kind: JobType,
        error: BaseException,
        seconds: float,
    ) -> None:
        """Record a failure soon: a retry or a dead letter, by the job's policy."""
        now = self._clock.now()
        what = kind_of(error)
        decision = after_failure(kind.policy, job, what, now)
        text = "".join(traceback.format_exception(error))
        if isinstance(decision, Retry):
            outcome: Outcome = Failed(job.id, job.fence, decision.at, text, outline_of(error))
        else:
            outline = f"{decision.reason}\n{outline_of(error)}"
            outcome = DeadLettered(job.id, job.fence, f"{decision.reason}\n{text}", what, outline)
        self.put(EndedAttempt(job, kind, outcome, seconds))

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            while not self._waiting:
                await self._filled.park()
            await self._record(self._take())

    def _take(self) -> list[EndedAttempt]:
        """The next batch: all waiting outcomes, with at most `_MOST_EFFECTS` effects."""
        waiting, effects = self._waiting, 0
        for index, one in enumerate(waiting):
            if isinstance(one.outcome, Completed) and one.outcome.effect is not None:
                effects += 1
                if effects > _MOST_EFFECTS:
                    self._waiting = waiting[index:]
                    return waiting[:index]
        self._waiting = []
        return waiting

    async def _record(self, taken: list[EndedAttempt]) -> None:
        delay_s = self._settings.store.retry_first_s
        outcomes = [one.outcome for one in taken]
        while True:
            try:
                errors = await self._jobs.settle(outcomes, self._clock.now())
                break
            except StoreUnavailable as error:
                _log.error("job_outcomes_not_stored", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
        done: list[EndedAttempt] = []
        gone: list[Job] = []
        for one, failed in zip(taken, errors, strict=True):
            if failed is None:
                done.append(one)
                gone.append(one.job)
            elif isinstance(failed, LeaseLost):
                gone.append(one.job)
                self.count_lost(one.job)
            elif isinstance(failed, CancelAsked):
                outcome = Cancelled(one.job.id, one.job.fence, str(failed))
                self.put(EndedAttempt(one.job, one.kind, outcome, one.seconds))
            else:
                self.put_failure(one.job, one.kind, failed, one.seconds)
        self._count(done)
        self._report_all(done)
        waits = any(self._may_leave_work(one.outcome) for one in done)
        self._recorded(gone, waits)

    def _may_leave_work(self, outcome: Outcome) -> bool:
        """Whether a process has something to do: a retry, or what an effect has written."""
        if not isinstance(outcome, Completed):
            return isinstance(outcome, Failed | Snoozed)
        if self._ended is not None and isinstance(outcome.effect, JointEffect):
            return False  # it enqueues nothing, and the report says what was stored
        return outcome.effect is not None

    def count_lost(self, job: Job) -> None:
        """Count and log an attempt that has lost its lease."""
        self._metrics.leases_lost.inc()
        _log.warning("job_lease_lost", **_names(job))

    def count_races(self, job_ids: Sequence[int]) -> None:
        """Count jobs that another process claimed first: normal where several processes work."""
        for job_id in job_ids:
            self._metrics.races_lost.inc()
            _log.debug("job_already_claimed", job_id=job_id)

    def count_rescued(self, rescued: list[Job]) -> None:
        """Count and log jobs whose lease had ended; some have no attempts left."""
        self._metrics.rescued.inc(len(rescued))
        for job in rescued:
            dead = job.status is JobStatus.DEAD_LETTER
            (_log.error if dead else _log.warning)(
                "job_dead_letter" if dead else "job_rescued",
                status=job.status.value,
                error=job.last_error,
                **_names(job),
            )
            if dead:
                self._metrics.ended.labels(job.type, "dead_letter").inc()
                self._watch.note(completed=0, dead=1, seconds=[])
                judge = self._types[job.type].judge
                if judge is not None:
                    judge("dead_letter", self._settings.jobs.lease_s)

    def _count(self, done: list[EndedAttempt]) -> None:
        if not done:
            return
        runs = [EndedRun(one.kind.name, _RESULTS[type(one.outcome)], one.seconds) for one in done]
        self.count(runs)
        if self._ended is not None:
            self._ended(runs)
        if len(done) > 1:
            _log.debug("jobs_recorded", jobs=len(done))

    def count(self, runs: Sequence[EndedRun]) -> None:
        """Count runs that were recorded, here or in a worker process."""
        counts: Counter[tuple[str, str]] = Counter()
        results: Counter[str] = Counter()
        seconds: list[float] = []
        for run in runs:
            counts[run.type, run.result] += 1
            if run.result != "given_back":
                kind = self._types[run.type]
                seconds.append(run.seconds)
                kind.observe(run.seconds)
                if kind.judge is not None:
                    kind.judge(run.result, run.seconds)
        for (name, result), count in counts.items():
            self._metrics.ended.labels(name, result).inc(count)
            results[result] += count
        self._watch.note(
            completed=results["completed"],
            dead=results["dead_letter"],
            seconds=seconds,
            retried=results["failed"],
        )

    def _report_all(self, done: list[EndedAttempt]) -> None:
        quiet: Counter[str] = Counter()
        # Once: a batch can be hundreds of lines.
        log = _log.bind()
        for one in done:
            if not isinstance(one.outcome, Completed):
                self._report(one)
                continue
            if one.then is not None:
                try:
                    one.then()
                except Exception:
                    log.error("job_not_told", exc_info=True, **_names(one.job))
            if one.kind.quiet:
                quiet[one.kind.name] += 1
            else:
                log.info(
                    "job_completed",
                    runs=max_runs(one.kind.policy, one.job),
                    seconds=round(one.seconds, 6),
                    **_names(one.job),
                )
        for name, jobs in quiet.items():
            log.info("jobs_completed", type=name, jobs=jobs)

    def _report(self, one: EndedAttempt) -> None:
        """Log an attempt that did not succeed."""
        outcome = one.outcome
        if isinstance(outcome, Failed):
            _log.warning(
                "job_failed",
                runs=max_runs(one.kind.policy, one.job),
                retry_at=outcome.retry_at,
                error=outcome.error,
                payload=one.job.payload,
                **_names(one.job),
            )
        elif isinstance(outcome, DeadLettered):
            _log.error(
                "job_dead_letter",
                runs=max_runs(one.kind.policy, one.job),
                error=outcome.error,
                payload=one.job.payload,
                **_names(one.job),
            )
        elif isinstance(outcome, Cancelled):
            _log.info("job_cancelled", reason=outcome.reason, **_names(one.job))
        elif isinstance(outcome, Snoozed):
            _log.debug("job_given_back", until=outcome.until, **_names(one.job))


def _names(job: Job) -> dict[str, object]:
    """The fields of a log line that identify an attempt."""
    return {"job_id": job.id, "fence": job.fence, "type": job.type, "attempt": job.attempts}
