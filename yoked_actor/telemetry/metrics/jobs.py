"""Metrics of jobs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from yoked_actor.domain.jobs import JobStatus

JOB_RESULTS = ("completed", "failed", "dead_letter", "cancelled", "given_back")
_RUNS_S = (0.001, 0.005, 0.025, 0.1, 0.5, 2.0, 10.0, 30.0, 60.0, 300.0, 900.0)


class RunTimes(Histogram):
    """The times of runs. Jobs are recorded in batches, and so are their times."""

    def observe_all(self, seconds: Sequence[float]) -> None:
        """`observe` each of them: the same buckets, in a tenth of the time."""
        self._sum.inc(sum(seconds))
        ordered, below = sorted(seconds), 0
        for bucket, bound in zip(self._buckets, self._upper_bounds, strict=True):
            if below == len(ordered):
                break
            upto = bisect_right(ordered, bound, below)
            if upto > below:
                bucket.inc(upto - below)
                below = upto


class JobMetrics:
    """Counts and measures jobs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.ended = Counter(
            "yoked_job_runs",
            "Runs of jobs, by how they ended; failed ones are tried again",
            ["type", "result"],
            registry=r,
        )
        self.seconds = RunTimes(
            "yoked_job_seconds", "Time of one run", ["type"], buckets=_RUNS_S, registry=r
        )
        claims = Counter(
            "yoked_job_claims",
            "Claims, by what they found: jobs, none, or a busy store",
            ["result"],
            registry=r,
        )
        self.claims_of_some = claims.labels("some")
        self.claims_of_none = claims.labels("none")
        self.claims_refused = claims.labels("busy")
        self.claimed = Counter("yoked_jobs_claimed", "Jobs claimed", registry=r)
        self.races_lost = Counter(
            "yoked_job_races_lost",
            "Jobs that this process expected and another one claimed first",
            registry=r,
        )
        self.failure_ratio = Gauge(
            "yoked_job_failure_ratio",
            "Of the jobs that ended in jobs.alert_window_s: the share of dead letters",
            registry=r,
        )
        self.retry_ratio = Gauge(
            "yoked_job_retry_ratio",
            "Of the runs that ended in jobs.alert_window_s: the share that is tried again",
            registry=r,
        )
        self.leases_lost = Counter(
            "yoked_job_leases_lost", "Runs whose lease was over before they ended", registry=r
        )
        self.rescued = Counter(
            "yoked_jobs_rescued", "Jobs taken over from a worker that was gone", registry=r
        )
        self.overdue = Gauge(
            "yoked_jobs_overdue",
            "Jobs that have been due for longer than jobs.alert_overdue_s",
            registry=r,
        )
        self.due = Gauge("yoked_jobs_due", "Jobs that are due and not yet claimed", registry=r)
        self.held = Gauge("yoked_jobs_held", "Jobs claimed by this process", registry=r)
        self.worker_running = Gauge(
            "yoked_worker_running", "Whether the server's worker process runs", registry=r
        )
        self._kept = Gauge(
            "yoked_jobs",
            "Jobs that are waiting, running, or dead letters",
            ["type", "status"],
            registry=r,
        )
        self._counted: set[tuple[str, JobStatus]] = set()

    def expect(self, job_type: str) -> None:
        """Create the counters of a type at zero, so that its first failure shows as an increase."""
        for result in JOB_RESULTS:
            self.ended.labels(job_type, result)

    def show_kept(self, counts: Mapping[tuple[str, JobStatus], int]) -> None:
        """Set how many jobs there are by type and status; those that are gone are set to 0."""
        self._counted.update(counts)
        for job_type, status in self._counted:
            self._kept.labels(job_type, status.value).set(counts.get((job_type, status), 0))
