"""Retry policies as settings: `jobs.retry.TYPE`, and `jobs.retry.default` for types without one.

A key that is not set here keeps the value of the type's own policy (R33).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from msgspec.structs import replace
from pydantic import Field

from yoked_actor.domain.jobs import DEFAULT_POLICY, MOST_ATTEMPTS, RetryPolicy
from yoked_actor.settings.base import Conflict, Duration, SettingsModel

DEFAULT = "default"
JOB_TYPES = (
    "alerts.webhook",
    "jobs.prune",
    "offers.check",
    "offers.user",
    "offers.zone_run",
    "store.prune",
    "users.erase",
    "users.refresh",
)
"""All job types of a server."""

Pause = Annotated[Duration, Field(title="seconds")]


class RetrySettings(SettingsModel):
    """How often a job of one type is run, and the pauses between two runs."""

    base_s: Duration | None = Field(
        None, description="The first pause; each is twice the one before it."
    )
    cap_s: Duration | None = Field(None, description="The longest pause.")
    attempts: int | None = Field(
        None, ge=1, le=MOST_ATTEMPTS, description="The most runs of a job."
    )
    jitter: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The share by which a pause may be longer, always the same for a job and run.",
    )
    delays_s: tuple[Pause, ...] | None = Field(
        None,
        description="The pauses, instead of base_s and cap_s; the last one repeats.",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause longer than the longest; pauses given in two ways."""
        if self.base_s is not None and self.cap_s is not None and self.base_s > self.cap_s:
            yield Conflict(("base_s", "cap_s"), f"must be at most cap_s ({self.cap_s})")
        if self.delays_s is not None and (self.base_s is not None or self.cap_s is not None):
            keys = ("delays_s", "base_s", "cap_s")
            yield Conflict(keys, "must not be given together with base_s or cap_s")

    def over(self, policy: RetryPolicy) -> RetryPolicy:
        """A policy, with the values that are set here."""
        if self.delays_s is not None:
            policy = replace(policy, delays_s=self.delays_s)
        elif self.base_s is not None or self.cap_s is not None:
            base_s = policy.base_s if self.base_s is None else self.base_s
            cap_s = max(policy.cap_s, base_s) if self.cap_s is None else self.cap_s
            policy = replace(policy, delays_s=(), base_s=min(base_s, cap_s), cap_s=cap_s)
        if self.attempts is not None:
            policy = replace(policy, runs=self.attempts)
        return policy if self.jitter is None else replace(policy, jitter=self.jitter)


def policy_for(
    retry: Mapping[str, RetrySettings], job_type: str, own: RetryPolicy | None
) -> RetryPolicy:
    """The policy of a type: its own or the default, with the values of the settings."""
    policy = own
    if policy is None:
        policy = retry[DEFAULT].over(DEFAULT_POLICY) if DEFAULT in retry else DEFAULT_POLICY
    return retry[job_type].over(policy) if job_type in retry else policy
