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
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._metrics = metrics.jobs
        self._watch = watch
        self._recorded = recorded
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
        waits = any(_may_leave_work(one.outcome) for one in done)
        self._recorded(gone, waits)

    def count_lost(self, job: Job) -> None:
        """Count and log an attempt that has lost its lease."""
        self._metrics.leases_lost.inc()
        _log.warning("job_lease_lost", **_names(job))

    def count_races(self, job_ids: Sequence[int]) -> None:
        """Count jobs that another process claimed first: normal where several processes work."""
        for job_id in job_ids:
            self._metrics.races_lost.inc()
            _log.debug("job_already_claimed", job_id=job_id)

    def count_rescued(self, rescued: list[Job], types: Mapping[str, JobType]) -> None:
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
                judge = types[job.type].judge
                if judge is not None:
                    judge("dead_letter", self._settings.jobs.lease_s)

    def _count(self, done: list[EndedAttempt]) -> None:
        counts: Counter[tuple[str, str]] = Counter()
        seconds: list[float] = []
        for one in done:
            counts[one.kind.name, _RESULTS[type(one.outcome)]] += 1
            if not isinstance(one.outcome, Snoozed):
                seconds.append(one.seconds)
                one.kind.observe(one.seconds)
                if one.kind.judge is not None:
                    one.kind.judge(_RESULTS[type(one.outcome)], one.seconds)
        for (name, result), count in counts.items():
            self._metrics.ended.labels(name, result).inc(count)
        completed = sum(n for (_, result), n in counts.items() if result == "completed")
        dead = sum(n for (_, result), n in counts.items() if result == "dead_letter")
        retried = sum(n for (_, result), n in counts.items() if result == "failed")
        if done:
            self._watch.note(completed=completed, dead=dead, seconds=seconds, retried=retried)
        if len(done) > 1:
            _log.debug("jobs_recorded", jobs=len(done), completed=completed)

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
        else:
            _log.debug("job_given_back", until=outcome.until, **_names(one.job))


def _may_leave_work(outcome: Outcome) -> bool:
    """Whether a job may be due sooner than before: a retry, or one that an effect enqueued."""
    if isinstance(outcome, Completed):
        return outcome.effect is not None
    return isinstance(outcome, Failed | Snoozed)


def _names(job: Job) -> dict[str, object]:
    """The fields of a log line that identify an attempt."""
    return {"job_id": job.id, "fence": job.fence, "type": job.type, "attempt": job.attempts}
