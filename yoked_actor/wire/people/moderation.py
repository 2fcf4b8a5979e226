"""Bodies and answers of an operator's review of reports, and of suspensions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from yoked_actor.wire.common import Aware, Words


class SuspendBody(msgspec.Struct, frozen=True):
    """Why a user is suspended, which the user is shown, and until when; for good without that."""

    reason: Words
    until: Aware | None = None


class ResolveBody(msgspec.Struct, frozen=True):
    """What was made of a report."""

    resolution: Words


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
