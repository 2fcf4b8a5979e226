"""Counts and logs what became of attempts: the recorded ones, and those whose lease was lost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog

from yoked_actor.actors.jobs.job_types import JobType
from yoked_actor.actors.jobs.watch import JobWatch
from yoked_actor.domain.jobs import Job, JobStatus, max_runs
from yoked_actor.settings import JobSettings
from yoked_actor.store import Cancelled, Completed, DeadLettered, Failed, Outcome, Snoozed
from yoked_actor.telemetry import JobMetrics

_log = structlog.get_logger()
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


class JobReports:
    """Counts and logs attempts."""

    def __init__(
        self,
        settings: JobSettings,
        metrics: JobMetrics,
        watch: JobWatch,
        types: Mapping[str, JobType],
        ended: Callable[[Sequence[EndedRun]], None] | None,
    ) -> None:
        """`ended` is called with the runs that are reported here."""
        self._settings = settings
        self._metrics = metrics
        self._watch = watch
        self._types = types
        self._ended = ended

    def report(self, done: Sequence[EndedAttempt]) -> None:
        """Count and log attempts whose outcome is stored, and call the `then` of each."""
        if not done:
            return
        seconds = defaultdict[tuple[JobType, str], list[float]](list)
        kind, outcome, same = None, None, list[float]()
        for one in done:
            # Jobs of one type come together, and looking for their list takes longer than adding.
            if one.kind is not kind or type(one.outcome) is not outcome:
                kind, outcome = one.kind, type(one.outcome)
                same = seconds[kind, _RESULTS[outcome]]
            same.append(one.seconds)
        self._count(seconds)
        if self._ended is not None:
            self._ended(
                [EndedRun(one.kind.name, _RESULTS[type(one.outcome)], one.seconds) for one in done]
            )
        if len(done) > 1:
            _log.debug("jobs_recorded", jobs=len(done))
        self._log_all(done)

    def count(self, runs: Sequence[EndedRun]) -> None:
        """Count runs that a worker process has recorded."""
        seconds = defaultdict[tuple[JobType, str], list[float]](list)
        for run in runs:
            seconds[self._types[run.type], run.result].append(run.seconds)
        self._count(seconds)

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
                    judge("dead_letter", [self._settings.lease_s])

    def _count(self, runs: Mapping[tuple[JobType, str], Sequence[float]]) -> None:
        """Count runs, given as the seconds that they took."""
        results: Counter[str] = Counter()
        durations: list[float] = []
        for (kind, result), seconds in runs.items():
            results[result] += len(seconds)
            self._metrics.ended.labels(kind.name, result).inc(len(seconds))
            if result == "given_back":
                continue
            durations += seconds
            kind.observe(seconds)
            if kind.judge is not None:
                kind.judge(result, seconds)
        self._watch.note(
            completed=results["completed"],
            dead=results["dead_letter"],
            seconds=durations,
            retried=results["failed"],
        )

    def _log_all(self, done: Sequence[EndedAttempt]) -> None:
        quiet: Counter[str] = Counter()
        # Once: a batch can be hundreds of lines.
        log = _log.bind()
        for one in done:
            if not isinstance(one.outcome, Completed):
                _log_failure(one)
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


def _log_failure(one: EndedAttempt) -> None:
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
