"""Bodies, answers and calls that only the operator's console uses."""

from __future__ import annotations

from datetime import date, datetime

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.offers import ZoneRunStatus
from yoked_actor.domain.ops import Role
from yoked_actor.wire.call import Call, Query
from yoked_actor.wire.common import Changed
from yoked_actor.wire.examples import moment
from yoked_actor.wire.people import BlockBody


class OfferRunEntry(msgspec.Struct, frozen=True):
    """A zone's run of a date, planned or over."""

    zone: str
    date: date
    scheduled_at: datetime
    status: ZoneRunStatus
    job_id: int | None


class OfferRunsAnswer(msgspec.Struct, frozen=True):
    """Runs of offers, the newest date first."""

    runs: list[OfferRunEntry]


CONSOLE_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/offers/runs",
        "Operation",
        "The runs of every zone, the newest date first.",
        OfferRunsAnswer(
            [OfferRunEntry("Europe/Berlin", date(2026, 1, 1), moment(0), "done", 12)],
        ),
        refusals=(Code.FORBIDDEN, Code.BAD_REQUEST),
        query=(
            Query(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
                "The most to show.",
            ),
        ),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/block",
        "Operation",
        "Block somebody for a user, so that the two never meet (again).",
        Changed(True),
        BlockBody("mallory"),
        refusals=(Code.FORBIDDEN, Code.BAD_REQUEST),
        needs=Role.MODERATOR,
    ),
)
"""The calls of the console."""
