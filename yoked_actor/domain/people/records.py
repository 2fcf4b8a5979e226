"""Reports and suspensions."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.time import Instant


class ReportKind(StrEnum):
    """What stands in the queue of reports."""

    REPORT = "report"
    APPEAL = "appeal"
    """Of a suspended user, who is both reporter and reported."""


class Report(msgspec.Struct, frozen=True):
    """One user's report about another, for review by the operator."""

    reporter: str
    reported: str
    reason: str
    match_id: str | None
    at: Instant


class ReportLimits(msgspec.Struct, frozen=True):
    """The limits of one user's reports."""

    per_day: int
    """Reports within 24 hours."""
    per_pair: int
    """Unresolved reports about the same user."""


class Suspension(msgspec.Struct, frozen=True):
    """A suspension of a user."""

    user_id: str
    at: Instant
    by: str
    reason: str
    until: Instant | None = None
    """When it ends automatically; None for never."""


class ReviewedReport(msgspec.Struct, frozen=True):
    """A report, and how the operator resolved it."""

    number: int
    reporter: str
    reported: str
    reason: str
    match_id: str | None
    at: Instant
    resolved_at: Instant | None
    resolved_by: str | None
    resolution: str | None
    reported_times: int
    """How many users have reported the same user, including this reporter."""
    suspended: bool
    kind: ReportKind = ReportKind.REPORT


class Appeal(msgspec.Struct, frozen=True):
    """A suspended user asks the operator to look at the suspension again."""

    user_id: str
    text: str
    at: Instant


class UserRow(msgspec.Struct, frozen=True):
    """A user in a list of users, without position."""

    user_id: str
    state: str
    has_profile: bool
    credit: int
    reports: int
    suspended_at: Instant | None
    suspended_until: Instant | None
    display_name: str | None = None


class UserWarning(msgspec.Struct, frozen=True):
    """An operator's warning to a user."""

    number: int
    user_id: str
    at: Instant
    by: str
    text: str
    seen_at: Instant | None = None

    @property
    def warning_id(self) -> str:
        """The id of the warning on the wire."""
        return f"w{self.number}"


class MatchFacts(msgspec.Struct, frozen=True):
    """A match as operators see it, without votes. The sides are in the order of the match."""

    number: int
    a: str
    b: str
    status: str
    paired_at: Instant
    ended_at: Instant | None
    outcome: str | None
    cancelled_for: str | None
    policy: str | None
    """None, as all that follows, when the quality of the match was deleted."""
    preference_match: float | None
    a_tier: int | None
    b_tier: int | None
    a_wait_s: float | None
    b_wait_s: float | None
    a_group: str | None
    b_group: str | None
    shown_km: int | None


class NamedCard(msgspec.Struct, frozen=True):
    """What an operator sees of a person: no position."""

    user_id: str
    display_name: str
    birth_date: date
    gender: str
    interests: tuple[str, ...]
