"""Settings of the work behind the doors: the store, rounds, jobs, alerts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from yoked_actor.domain.ops import Limits
from yoked_actor.settings.base import (
    HEADER,
    WEBHOOK_URL,
    Conflict,
    Count,
    Duration,
    DurationOrZero,
    SettingsModel,
)
from yoked_actor.settings.retries import RetrySettings


class StoreSettings(SettingsModel):
    """How decisions reach the disk."""

    RELOADS = frozenset({"retry_first_s", "retry_cap_s", "max_reported"})

    runner: Literal["thread", "inline"] = Field(
        "thread", description="Where SQL runs: on a thread of its own, or between two steps."
    )
    busy_timeout_s: DurationOrZero = Field(
        1.0, description="How long SQLite waits for a lock before a commit fails."
    )
    max_batch: Count = Field(1000, description="The most commits that share one transaction.")
    max_pending: Count = Field(10000, description="The most commits that may wait.")
    retry_first_s: Duration = Field(0.05, description="The pause after a first failed commit.")
    retry_cap_s: Duration = Field(2.0, description="The longest pause between two attempts.")
    max_reported: Count = Field(
        50_000, description="The most matches that a report on quality looks at, newest first."
    )
    checkpoint_pages: Count = Field(4000, description="WAL pages before a checkpoint.")

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest."""
        if self.retry_first_s > self.retry_cap_s:
            keys = ("retry_first_s", "retry_cap_s")
            yield Conflict(keys, f"must be at most store.retry_cap_s ({self.retry_cap_s})")


class MatchmakerSettings(SettingsModel):
    """The one task that decides."""

    RELOADS = frozenset({"audit"})

    mailbox: Count = Field(100_000, description="The most events that may wait for it.")
    audit: Literal["off", "log", "raise"] = Field(
        "log", description="What a broken invariant does: nothing, a log line, or a stop."
    )


class SupervisorSettings(SettingsModel):
    """How actors beside the live loop are started again after an error."""

    RELOADS = frozenset({"restart_first_s", "restart_cap_s", "well_after_s"})

    restart_first_s: Duration = Field(0.5, description="The pause after a first failure.")
    restart_cap_s: Duration = Field(
        60.0, description="The longest pause; each is up to twice as long as the one before."
    )
    well_after_s: Duration = Field(
        60.0,
        description="An actor that has run for this long since its last failure is well again.",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest."""
        if self.restart_first_s > self.restart_cap_s:
            keys = ("restart_first_s", "restart_cap_s")
            rule = f"must be at most supervisor.restart_cap_s ({self.restart_cap_s})"
            yield Conflict(keys, rule)


class JobSettings(SettingsModel):
    """The queue of background jobs, and when somebody is alerted."""

    RELOADS = frozenset(
        {
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
        }
    )

    concurrency: int = Field(
        16, ge=1, le=1000, description="How many jobs run at once in this process."
    )
    cpu_threads: int = Field(
        1, ge=1, le=64, description="How many threads run jobs that do nothing but compute."
    )
    batch: int = Field(500, ge=1, le=10_000, description="The most jobs claimed at once.")
    ahead_s: Duration = Field(
        0.25, description="For how long the jobs that are claimed ahead should last."
    )
    lease_s: Duration = Field(
        60.0, description="How long a claimed job is kept from others; extended while it runs."
    )
    run_timeout_s: Duration = Field(
        900.0, description="A run that takes longer is ended, with the next extension of leases."
    )
    progress_every_s: Duration = Field(
        2.0, description="How often the progress of a long run is written, when there are news."
    )
    drain_s: DurationOrZero = Field(
        5.0, description="How long a stopping server lets jobs end before it gives them back."
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
        description="After so many days the key of a deleted job is forgotten; at least"
        " keep_finished_days.",
    )
    sample_every_s: Duration = Field(
        15.0, description="How often the queue is measured while there is something to measure."
    )
    alert_window_s: Duration = Field(
        3600.0, description="Failures and durations are judged over this time."
    )
    alert_failure_rate: float = Field(
        0.01, ge=0, le=1, description="The share of dead letters above which there is an alert."
    )
    alert_duration_p95_s: Duration = Field(
        300.0, description="The 95th percentile of durations above which there is an alert."
    )
    alert_depth: Count = Field(
        1000, description="The number of overdue jobs above which there is an alert."
    )
    alert_overdue_s: DurationOrZero = Field(
        300.0,
        description="A job is overdue when it has been due, and in the queue, for this long.",
    )
    retry: dict[str, RetrySettings] = Field(
        {},
        description="Retry policies, as tables by the type of job: [jobs.retry.default],"
        ' [jobs.retry."offers.user"]. See docs/jobs.md.',
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A key that is forgotten before its job."""
        if self.keep_keys_days < self.keep_finished_days:
            keys = ("keep_keys_days", "keep_finished_days")
            rule = f"must be at least jobs.keep_finished_days ({self.keep_finished_days})"
            yield Conflict(keys, rule)


class AlertSettings(SettingsModel):
    """When somebody is alerted, besides the alerts about jobs, and who is told."""

    RELOADS = frozenset(
        {
            "clear_after_s",
            "window_s",
            "fault_window_s",
            "loop_lag_s",
            "commit_failures",
            "audit_violations",
            "actor_restarts",
            "disk_min_free_share",
            "webhook_url",
            "webhook_secret",
            "webhook_timeout_s",
            "webhook_id_header",
            "dead_letter_window_s",
        }
    )

    clear_after_s: DurationOrZero = Field(
        60.0,
        description="An alert is over when its number has been within the limit for this long.",
    )
    window_s: Duration = Field(
        300.0, description="Commit failures and restarts of actors are counted over this time."
    )
    fault_window_s: Duration = Field(
        3600.0,
        description="Faults of the program, which are duplicate offers and violations found by the"
        " auditor, are counted over this time.",
    )
    dead_letter_window_s: Duration = Field(
        600.0,
        description="For this long after a dead letter, others of its type and kind of error are"
        " counted and not alerted by themselves.",
    )
    loop_lag_s: Duration = Field(
        0.25,
        description="The 99th percentile of the event loop's lag in the last minute above which"
        " there is an alert.",
    )
    commit_failures: int = Field(
        5, ge=0, le=1_000_000, description="The commit failures above which there is an alert."
    )
    audit_violations: int = Field(
        0, ge=0, le=1_000_000, description="The violations above which there is an alert."
    )
    actor_restarts: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="The failures of actors in window_s above which there is an alert.",
    )
    disk_min_free_share: float = Field(
        0.05,
        ge=0,
        le=1,
        description="The share of the disk that is free below which there is an alert.",
    )
    webhook_url: str = Field(
        "",
        pattern=WEBHOOK_URL,
        title="an http:// or https:// URL",
        description="Who is told of alerts, with a POST; empty tells nobody.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="What the POST is signed with, 16 bytes or more. Required with webhook_url.",
    )
    webhook_timeout_s: Duration = Field(
        10.0, description="How long the receiver may take to answer."
    )
    webhook_id_header: str = Field(
        "X-Request-Id",
        pattern=HEADER,
        title="the name of a header",
        description="The header in which the receiver says what it calls a request; kept with the"
        " job, together with the status and the first 2 KiB of the body.",
    )

    def limits(self, jobs: JobSettings) -> Limits:
        """What is still well, here and in the queue of jobs."""
        return Limits(
            failure_rate=jobs.alert_failure_rate,
            duration_p95_s=jobs.alert_duration_p95_s,
            depth=jobs.alert_depth,
            loop_lag_s=self.loop_lag_s,
            commit_failures=self.commit_failures,
            audit_violations=self.audit_violations,
            actor_restarts=self.actor_restarts,
            disk_free_share=self.disk_min_free_share,
        )

    def conflicts(self) -> Iterator[Conflict]:
        """A webhook without a secret, a port that is none."""
        secret = self.webhook_secret.get_secret_value()
        if self.webhook_url and len(secret.encode()) < 16:
            keys = ("webhook_secret", "webhook_url")
            yield Conflict(keys, "must be at least 16 bytes long with alerts.webhook_url")
        try:
            urlsplit(self.webhook_url).port  # noqa: B018
        except ValueError as error:
            yield Conflict(("webhook_url",), f"must be a URL: {error}")
