"""Bodies and answers of an operator's review of reports, and of suspensions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from yoked_actor.domain.people import ReportKind, check_words
from yoked_actor.wire.common import Aware, Words
from yoked_actor.wire.lobby import Reason


class SuspendBody(msgspec.Struct, frozen=True):
    """Why a user is suspended, which the user is shown, and until when; for good without that."""

    reason: Words
    until: Aware | None = None

    def __post_init__(self) -> None:
        check_words("reason", self.reason)


class AppealBody(msgspec.Struct, frozen=True):
    """Why a suspended user asks the operator to look at the suspension again."""

    text: Reason

    def __post_init__(self) -> None:
        check_words("text", self.text)


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
    kind: ReportKind = ReportKind.REPORT
    """An appeal is by and about the same user, who is suspended; `reason` is its text."""


class ReportsAnswer(msgspec.Struct, frozen=True):
    """Reports, the newest first."""

    reports: list[ReportEntry]
