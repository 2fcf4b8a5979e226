"""Settings of jobs: `[jobs]`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from yoked_actor.domain.ops import Limits
from yoked_actor.settings.base import (
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    SettingsModel,
)
from yoked_actor.settings.models.retries import RetrySettings

# The defaults are those of the domain.
_LIMITS = Limits()


class JobSettings(SettingsModel):
    """The queue of background jobs, and the limits of its alerts."""

    RELOADS = frozenset(
        {
            "worker_idle_s",
            "run_timeout_s",
            "progress_every_s",
            "drain_s",
            "keep_finished_days",
            "keep_dead_days",
            "keep_keys_days",
            "sample_every_s",
            "alert_window_s",
            "alert_failure_rate",
            "alert_duration_p95_s",
            "alert_depth",
            "alert_overdue_s",
            "retry",
            "max_bulk",
        }
    )

    worker_process: Literal["auto", "on", "off"] = Field(
        "auto",
        description="Whether daily offers are made in a process of their own, which the server"
        " starts when they are due; auto: if there are two CPU cores or more.",
    )
    worker_idle_s: Duration = Field(
        60.0, description="A worker process that has had no job for this long ends."
    )
    concurrency: int = Field(
        16, ge=1, le=1000, description="The most jobs that run at once in this process."
    )
    cpu_threads: int = Field(1, ge=1, le=64, description="How many threads run CPU-bound jobs.")
    batch: int = Field(500, ge=1, le=10_000, description="The most jobs claimed at once.")
    ahead_s: Duration = Field(0.25, description="How many seconds of work are claimed in advance.")
    max_bulk: Count = Field(1000, description="The most jobs that an operator changes at once.")
    lease_s: Duration = Field(
        60.0, description="The lease of a claimed job; it is extended while the job runs."
    )
    run_timeout_s: Duration = Field(
        900.0, description="A longer run is stopped when leases are next extended."
    )
    progress_every_s: Duration = Field(
        2.0, description="How often changed progress of a run is stored."
    )
    drain_s: DurationOrZero = Field(
        5.0,
        description="How long a shutdown waits for jobs to end before it releases them.",
    )
    keep_finished_days: int = Field(
        30,
        ge=0,
        le=36_500,
        description="After so many days a job that completed or was cancelled is deleted.",
    )
    keep_dead_days: int = Field(
        365,
        ge=0,
        le=36_500,
        description="After so many days a dead letter is deleted, dismissed or not.",
    )
    keep_keys_days: int = Field(
        400,
        ge=1,
        le=36_500,
        description="After so many days the key of a deleted job is deleted; at least"
        " keep_finished_days.",
    )
    sample_every_s: Duration = Field(
        15.0, description="How often the queue is measured, while there is something to measure."
    )
    alert_window_s: Duration = Field(
        3600.0, description="The window over which failures and durations are counted."
    )
    alert_failure_rate: float = Field(
        _LIMITS.failure_rate,
        ge=0,
        le=1,
        description="The share of dead letters above which there is an alert.",
    )
    alert_duration_p95_s: Duration = Field(
        _LIMITS.duration_p95_s,
        description="The 95th percentile of durations above which there is an alert.",
    )
    alert_depth: Count = Field(
        _LIMITS.depth, description="The number of overdue jobs above which there is an alert."
    )
    alert_overdue_s: DurationOrZero = Field(
        300.0,
        description="A job that has been due, and in the queue, for this long is overdue.",
    )
    retry: dict[str, RetrySettings] = Field(
        {},
        description="Retry policies, as tables by the type of job: [jobs.retry.default],"
        ' [jobs.retry."offers.user"]. See docs/jobs.md.',
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A key that is deleted before its job."""
        if self.keep_keys_days < self.keep_finished_days:
            keys = ("keep_keys_days", "keep_finished_days")
            rule = f"must be at least jobs.keep_finished_days ({self.keep_finished_days})"
            yield Conflict(keys, rule)
