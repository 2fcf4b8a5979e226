"""Settings of alerts: `[alerts]`."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from pydantic import Field, SecretStr

from yoked_actor.domain.ops import Limits
from yoked_actor.settings.base import (
    HEADER,
    WEBHOOK_URL,
    Conflict,
    Duration,
    DurationOrZero,
    SettingsModel,
)
from yoked_actor.settings.models.jobs import JobSettings

# The defaults are those of the domain.
_LIMITS = Limits()


class AlertSettings(SettingsModel):
    """The limits of all other alerts, and the webhook."""

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
        description="An alert is cleared when its value has been within the limit for this long.",
    )
    window_s: Duration = Field(
        300.0,
        description="The window over which commit failures and restarts of actors are counted.",
    )
    fault_window_s: Duration = Field(
        3600.0,
        description="The window over which defects are counted: duplicate offers, and violations"
        " found by the auditor.",
    )
    dead_letter_window_s: Duration = Field(
        600.0,
        description="For this long after a dead letter, others of its type and kind of error are"
        " counted without an alert of their own.",
    )
    loop_lag_s: Duration = Field(
        _LIMITS.loop_lag_s,
        description="The 99th percentile of the event loop's lag in the last minute above which"
        " there is an alert.",
    )
    commit_failures: int = Field(
        _LIMITS.commit_failures,
        ge=0,
        le=1_000_000,
        description="The commit failures above which there is an alert.",
    )
    audit_violations: int = Field(
        _LIMITS.audit_violations,
        ge=0,
        le=1_000_000,
        description="The violations above which there is an alert.",
    )
    actor_restarts: int = Field(
        _LIMITS.actor_restarts,
        ge=0,
        le=1_000_000,
        description="The failures of actors in window_s above which there is an alert.",
    )
    disk_min_free_share: float = Field(
        _LIMITS.disk_free_share,
        ge=0,
        le=1,
        description="The free share of the disk below which there is an alert.",
    )
    webhook_url: str = Field(
        "",
        pattern=WEBHOOK_URL,
        title="an http:// or https:// URL",
        description="Where alerts are sent, with a POST; empty sends none.",
    )
    webhook_secret: SecretStr = Field(
        SecretStr(""),
        description="The secret that signs the POST, 16 bytes or more. Required with webhook_url.",
    )
    webhook_timeout_s: Duration = Field(
        10.0, description="How long the receiver may take to respond."
    )
    webhook_id_header: str = Field(
        "X-Request-Id",
        pattern=HEADER,
        title="the name of a header",
        description="The response header with the receiver's id of the request. It is stored with"
        " the job, with the status and the first 2 KiB of the body.",
    )

    def limits(self, jobs: JobSettings) -> Limits:
        """The limits of all alerts."""
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
        """A webhook without a secret, an invalid port."""
        secret = self.webhook_secret.get_secret_value()
        if self.webhook_url and len(secret.encode()) < 16:
            keys = ("webhook_secret", "webhook_url")
            yield Conflict(keys, "must be at least 16 bytes long with alerts.webhook_url")
        try:
            urlsplit(self.webhook_url).port  # noqa: B018
        except ValueError as error:
            yield Conflict(("webhook_url",), f"must be a URL: {error}")
