"""What operators do with many jobs at once, and with types of jobs."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from yoked_actor.domain.jobs.states import JobStatus
from yoked_actor.domain.time import Instant


class BulkAction(StrEnum):
    """What can be done to all jobs of a filter."""

    REQUEUE = "requeue"
    CANCEL = "cancel"
    DISMISS = "dismiss"


class JobFilter(msgspec.Struct, frozen=True):
    """Which jobs; None leaves a condition out."""

    status: JobStatus | None = None
    job_type: str | None = None
    text: str | None = None
    """A text that the payload or the key contains."""

    def in_words(self) -> str:
        """The filter as the audit has it. It leaves out the text, which may name a user."""
        parts = [] if self.status is None else [f"status {self.status}"]
        parts += [] if self.job_type is None else [f"type {self.job_type}"]
        parts += [] if self.text is None else ["a text of the payload"]
        return ", ".join(parts) or "all"


class Pause(msgspec.Struct, frozen=True):
    """A type of jobs that no process claims, until it is resumed."""

    job_type: str
    at: Instant
    by: str
    reason: str
