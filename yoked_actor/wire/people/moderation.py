"""Bodies and answers of an operator's review of reports, and of suspensions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from yoked_actor.domain.people import ReportKind, check_words
from yoked_actor.wire.common import Aware, Words
from yoked_actor.wire.lobby import Reason

ReportId = Annotated[int, msgspec.Meta(ge=1, le=(1 << 63) - 1)]


class SuspendBody(msgspec.Struct, frozen=True):
    """Why a user is suspended, which the user is shown, and until when; for good without that."""

    reason: Words
    until: Aware | None = None
    report_id: ReportId | None = None
    """A report that is closed with it."""

    def __post_init__(self) -> None:
        check_words("reason", self.reason)


class AppealBody(msgspec.Struct, frozen=True):
    """Why a suspended user asks the operator to look at the suspension again."""

    text: Reason

    def __post_init__(self) -> None:
        check_words("text", self.text)


class WarnBody(msgspec.Struct, frozen=True):
    """What a user is told, word for word. With `report_id`, that report is closed too."""

    text: Words
    report_id: ReportId | None = None

    def __post_init__(self) -> None:
        check_words("text", self.text)


class WarnAnswer(msgspec.Struct, frozen=True):
    """The warning that was stored."""

    warning_id: str


class WarningEntry(msgspec.Struct, frozen=True):
    """A warning that you have not seen yet."""

    warning_id: str
    text: str
    given_at: datetime


class WarningsAnswer(msgspec.Struct, frozen=True):
    """Your warnings that you have not seen yet, the oldest first."""

    warnings: list[WarningEntry]


class ResolveBody(msgspec.Struct, frozen=True):
    """What was made of a report."""

    resolution: Words


class CardPart(msgspec.Struct, frozen=True):
    """A person as operators see them: no position and no birth date."""

    display_name: str
    age: int
    gender: str
    interests: list[str]


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
    reporter_card: CardPart | None
    """None when that user has no profile, or was erased."""
    reported_card: CardPart | None
    kind: ReportKind = ReportKind.REPORT
    """An appeal is by and about the same user, who is suspended; `reason` is its text."""


class ReportsAnswer(msgspec.Struct, frozen=True):
    """Reports, the newest first."""

    reports: list[ReportEntry]
