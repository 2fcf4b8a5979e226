"""Answers and calls about users, for operators: search, and one page per person."""

from __future__ import annotations

from datetime import date, datetime

import msgspec

from yoked_actor.domain.lobby import Code, State
from yoked_actor.domain.ops import Role
from yoked_actor.wire.call import Call, Query
from yoked_actor.wire.examples import MATCH, moment
from yoked_actor.wire.ops.http import AuditRow
from yoked_actor.wire.people import REPORTS
from yoked_actor.wire.people.moderation import ReportEntry


class UserEntry(msgspec.Struct, frozen=True):
    """A user in a list."""

    user_id: str
    display_name: str | None
    state: State
    credit: int
    reports: int
    """How many reports about this user there are."""
    suspended_at: datetime | None
    suspended_until: datetime | None
    """None for a suspension without an end, too."""


class UsersAnswer(msgspec.Struct, frozen=True):
    """Users by id."""

    users: list[UserEntry]
    more: bool
    """Whether there are more: ask again with `after` the last id."""


class SuspensionPart(msgspec.Struct, frozen=True):
    """The suspension of a user."""

    at: datetime
    by: str
    reason: str
    until: datetime | None


class WarningPart(msgspec.Struct, frozen=True):
    """A warning to a user, and when the user has seen it."""

    warning_id: str
    at: datetime
    by: str
    text: str
    seen_at: datetime | None


class PastMatchPart(msgspec.Struct, frozen=True):
    """A match of a user, without votes."""

    match_id: str
    partner: str
    status: str
    paired_at: datetime
    outcome: str | None
    cancelled_for: str | None
    ended_at: datetime | None


class PastDatePart(msgspec.Struct, frozen=True):
    """A video date of a user."""

    date_id: str
    partner: str
    started_at: datetime
    ended_at: datetime | None
    ended_for: str | None


class PastOfferPart(msgspec.Struct, frozen=True):
    """An offer that a user was made."""

    offer_id: str
    date: date
    candidate: str
    answered: bool
    """Whether the user has answered; the answer itself is not shown."""


class ConnectionPart(msgspec.Struct, frozen=True):
    """A connection of a user."""

    connection_id: str
    partner: str
    opened_at: datetime


class UserAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """All that operators see of a user. No position and no birth date: they need neither. Lists
    have the newest first, and so many entries at most as `console.history_shown` says."""

    user_id: str
    in_memory: bool
    connected: bool
    """Whether a socket is open."""
    online: bool
    """Whether a socket is open, or the user has made an HTTP call recently."""
    display_name: str | None
    age: int | None
    gender: str | None
    time_zone: str | None
    state: State
    credit: int
    waiting_since: datetime | None
    match_id: str | None
    date_id: str | None
    last_match_id: str | None
    blocks: int
    """How many users this user has blocked."""
    interests: list[str] = []
    suspension: SuspensionPart | None = None
    reports_about: list[ReportEntry] = []
    """Reports about this user, and the user's appeals."""
    reports_by: list[ReportEntry] = []
    warnings: list[WarningPart] = []
    matches: list[PastMatchPart] = []
    dates: list[PastDatePart] = []
    offers: list[PastOfferPart] = []
    connections: list[ConnectionPart] = []
    audit: list[AuditRow] = []
    """What operators did about this user."""


_USER = UserAnswer(
    user_id="ana",
    in_memory=True,
    connected=True,
    online=True,
    display_name="Ana",
    age=27,
    gender="woman",
    time_zone="Europe/Berlin",
    state=State.WAITING,
    credit=10,
    waiting_since=moment(0),
    match_id=None,
    date_id=None,
    last_match_id=MATCH,
    blocks=0,
    interests=["climbing", "jazz"],
    suspension=None,
    reports_by=REPORTS.reports,
    warnings=[WarningPart("w3", moment(50), "root", "Be kind to people.", None)],
    matches=[PastMatchPart(MATCH, "ben", "completed", moment(2), "yes_pass", None, moment(9))],
    dates=[PastDatePart("d2", "ben", moment(9), moment(40), "ended")],
    offers=[PastOfferPart("o20260101-ana-1", date(2026, 1, 1), "ben", True)],
    connections=[ConnectionPart("c4", "ben", moment(20))],
    audit=[AuditRow(12, moment(50), "root", "warn", "ana", "Be kind to people.")],
)

PERSON_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/users",
        "Operation",
        "Users by id, or those whose name or id contains a text.",
        UsersAnswer([UserEntry("ana", "Ana", State.WAITING, 10, 0, None, None)], False),
        refusals=(Code.BAD_REQUEST,),
        query=(
            Query(
                "search",
                {"type": "string", "maxLength": 80},
                "A part of a name or of an id, in upper or lower case.",
            ),
            Query("suspended", {"type": "boolean", "default": False}, "Only suspended users."),
            Query("after", {"type": "string", "maxLength": 64}, "Only ids greater than this one."),
            Query(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
                "The most to show.",
            ),
        ),
        needs=Role.VIEWER,
    ),
    Call(
        "GET",
        "/api/admin/users/{user_id}",
        "Operation",
        "One user: card, state, history, reports, offers, and what operators did.",
        _USER,
        refusals=(Code.NOT_FOUND,),
        needs=Role.VIEWER,
    ),
)
"""Search, and the page of a person."""
