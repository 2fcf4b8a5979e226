"""The HTTP calls about recently met users and "stay in touch?", as rows of the table of calls."""

from __future__ import annotations

from datetime import UTC, datetime

from yoked_actor.domain.lobby import Code
from yoked_actor.wire.call import Call
from yoked_actor.wire.contacts import http
from yoked_actor.wire.examples import CARD, CONNECTION, DATE, MATCH, moment
from yoked_actor.wire.lobby import Ending

CONTACT_CALLS: tuple[Call, ...] = (
    Call(
        "POST",
        "/api/dates/{date_id}/stay_in_touch",
        "Dates",
        "Say whether to stay in touch with the partner of a date. The first answer is final.",
        http.TouchAnswer(CONNECTION),
        http.TouchBody("yes"),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE, Code.ALREADY_ANSWERED),
    ),
    Call(
        "GET",
        "/api/met",
        "Dates",
        "See whom you have met lately.",
        http.MetAnswer(
            [
                http.MetEntry(
                    MATCH,
                    CARD,
                    moment(3.5),
                    Ending.BOTH_YES,
                    DATE,
                    datetime(2026, 1, 2, 8, 0, 50, tzinfo=UTC),
                )
            ]
        ),
    ),
)
"""Every call about recently met users."""
