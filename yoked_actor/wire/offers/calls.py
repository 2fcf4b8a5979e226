"""The HTTP calls about daily offers and connections, as rows of the table of calls."""

from __future__ import annotations

from datetime import date

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.wire.call import Call, Query
from yoked_actor.wire.common import Empty
from yoked_actor.wire.examples import CALL, CARD, CONNECTION, DATE, OFFER, moment
from yoked_actor.wire.offers import http

OFFER_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/offers",
        "Offers",
        "Get your newest offers that have not expired, or those of a date.",
        http.OffersAnswer(date(2026, 1, 1), (msgspec.structs.replace(OFFER, answer="accept"),)),
        query=(
            Query("date", {"type": "string", "format": "date"}, "The local date of the offers."),
        ),
        refusals=(Code.BAD_REQUEST,),
    ),
    Call(
        "POST",
        "/api/offers/{offer_id}/answer",
        "Offers",
        "Answer an offer. The first answer is final.",
        http.OfferAnswered(CONNECTION),
        http.OfferAnswerBody("accept"),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Call(
        "GET",
        "/api/connections",
        "Offers",
        "See with whom the acceptance is mutual.",
        http.ConnectionsAnswer([http.ConnectionEntry(CONNECTION, CARD, moment(0), True)]),
    ),
    Call(
        "POST",
        "/api/connections/{connection_id}/date",
        "Offers",
        "Call a connection who is online, for a video date.",
        http.CallAnswer(CALL, moment(15)),
        refusals=(
            Code.NOT_FOUND,
            Code.WRONG_STATE,
            Code.ON_A_DATE,
            Code.PROFILE_INCOMPLETE,
            Code.DRAINING,
        ),
    ),
    Call(
        "POST",
        "/api/calls/{call_id}/accept",
        "Calls",
        "Accept a call: the video date opens.",
        http.DateAnswer(DATE),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Call(
        "POST",
        "/api/calls/{call_id}/decline",
        "Calls",
        "Decline a call.",
        Empty(),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE),
    ),
    Call(
        "POST",
        "/api/calls/{call_id}/cancel",
        "Calls",
        "Stop your own call.",
        Empty(),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE),
    ),
)
"""Every call about offers."""
