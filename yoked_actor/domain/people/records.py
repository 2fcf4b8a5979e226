"""What is known about users beside their profiles: reports, suspensions."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant


class Report(msgspec.Struct, frozen=True):
    """One user's complaint about another, for the operator's review."""

    reporter: str
    reported: str
    reason: str
    match_id: str | None
    at: Instant


class ReportLimits(msgspec.Struct, frozen=True):
    """How much one user may report."""

    per_day: int
    """Reports within 24 hours."""
    per_pair: int
    """Reports about the same user that nobody has resolved."""


class Suspension(msgspec.Struct, frozen=True):
    """A user who may not take part, since when, by whom, why, and until when."""

    user_id: str
    at: Instant
    by: str
    reason: str
    until: Instant | None = None
    """The instant at which it ends by itself; None when it does not."""


class ReviewedReport(msgspec.Struct, frozen=True):
    """A report, and what the operator made of it."""

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
    """How many users have reported the same user, this reporter included."""
    suspended: bool


class UserRow(msgspec.Struct, frozen=True):
    """A user, as a list of users shows them: no name, no place."""

    user_id: str
    state: str
    has_profile: bool
    credit: int
    reports: int
    suspended_at: Instant | None
    suspended_until: Instant | None
