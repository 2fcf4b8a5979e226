"""Retry policies as settings: `jobs.retry.TYPE`, and `jobs.retry.default` for types without one.

A type keeps what the program gives it (R33) in every key that is not set here.
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
"""Every type of job that a server runs."""

Pause = Annotated[Duration, Field(title="seconds")]


class RetrySettings(SettingsModel):
    """How often a job of one type is run, and how long it rests between two runs."""

    base_s: Duration | None = Field(
        None, description="The first pause; each is twice the one before it."
    )
    cap_s: Duration | None = Field(None, description="The longest pause.")
    attempts: int | None = Field(
        None, ge=1, le=MOST_ATTEMPTS, description="How often a job is run at most."
    )
    jitter: float | None = Field(
        None,
        ge=0,
        le=1,
        description="By up to which share a pause is longer, always the same for a job and run.",
    )
    delays_s: tuple[Pause, ...] | None = Field(
        None,
        description="The pauses themselves, in place of base_s and cap_s; the last repeats.",
    )

    def conflicts(self) -> Iterator[Conflict]:
        """A first pause that is longer than the longest; two ways to say the pauses."""
        if self.base_s is not None and self.cap_s is not None and self.base_s > self.cap_s:
            yield Conflict(("base_s", "cap_s"), f"must be at most cap_s ({self.cap_s})")
        if self.delays_s is not None and (self.base_s is not None or self.cap_s is not None):
            keys = ("delays_s", "base_s", "cap_s")
            yield Conflict(keys, "must not be given together with base_s or cap_s")

    def over(self, policy: RetryPolicy) -> RetryPolicy:
        """A policy, with what is set here in place of what it says."""
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
    """The policy of a type: its own or else the default, with what the settings say of it."""
    policy = own
    if policy is None:
        policy = retry[DEFAULT].over(DEFAULT_POLICY) if DEFAULT in retry else DEFAULT_POLICY
    return retry[job_type].over(policy) if job_type in retry else policy
