"""What crosses HTTP when an operator reviews reports and suspends users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

Words = Annotated[str, msgspec.Meta(min_length=1, max_length=500)]
Aware = Annotated[datetime, msgspec.Meta(tz=True)]
"""An instant with its offset from UTC."""


class SuspendBody(msgspec.Struct, frozen=True):
    """Why a user is suspended, which the user is shown, and until when; for good without that."""

    reason: Words
    until: Aware | None = None


class ResolveBody(msgspec.Struct, frozen=True):
    """What was made of a report."""

    resolution: Words


class Changed(msgspec.Struct, frozen=True):
    """Whether that has changed anything; it may have been so before."""

    changed: bool


class ReportEntry(msgspec.Struct, frozen=True):
    """A report, and what was made of it."""

    report_id: int
    at: datetime
    reporter: str
    reported: str
    reason: str
    match_id: str | None
    reported_times: int
    """How many users have reported the same user."""
    suspended: bool
    resolved_at: datetime | None
    resolved_by: str | None
    resolution: str | None


class ReportsAnswer(msgspec.Struct, frozen=True):
    """Reports, the newest first."""

    reports: list[ReportEntry]


class AuditRow(msgspec.Struct, frozen=True):
    """Something that an operator did."""

    number: int
    at: datetime
    who: str
    action: str
    subject: str
    detail: str


class AuditAnswer(msgspec.Struct, frozen=True):
    """What operators did, the newest first."""

    entries: list[AuditRow]
