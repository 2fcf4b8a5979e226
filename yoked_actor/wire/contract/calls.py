"""The HTTP calls, as a table: the OpenAPI document is made from these rows.

As with the socket, a row holds examples, whose types are those that the server validates with. The
rows of the live loop are here, those of other features in their rooms.
"""

from __future__ import annotations

from yoked_actor.domain.lobby import Code, State
from yoked_actor.domain.matching import Tier
from yoked_actor.wire.call import Call
from yoked_actor.wire.common import Empty, TimeAnswer
from yoked_actor.wire.contacts import CONTACT_CALLS
from yoked_actor.wire.dev import DEV_CALLS
from yoked_actor.wire.examples import CARD, DATE, MATCH, NEAREST, REJECTED, STRICT, moment
from yoked_actor.wire.lobby import events as ev
from yoked_actor.wire.lobby import http
from yoked_actor.wire.offers import OFFER_CALLS
from yoked_actor.wire.ops import (
    ADMIN_CALLS,
    AUDIT_CALLS,
    CONSOLE_CALLS,
    HEALTH_CALLS,
    MATCH_CALLS,
    OBJECTIVE_CALLS,
    PERSON_CALLS,
    QUALITY_CALLS,
    SETTING_CALLS,
)
from yoked_actor.wire.people import (
    MODERATION_CALLS,
    PLACE_CALLS,
    PRIVACY_CALLS,
    PROFILE_CALLS,
    SAFETY_CALLS,
    WARNING_CALLS,
)
from yoked_actor.wire.problems import Problem
from yoked_actor.wire.rooms import ROOM_CALLS

_IN_A_MATCH = ev.Snapshot(
    State.VOTING, 10, "main", match=ev.MatchPart(MATCH, CARD, True, False, None, moment(13.5))
)
PROBLEM_EXAMPLE = Problem(
    404, "Unknown match", "'m7' is not your current match", Code.UNKNOWN_MATCH
)

CALLS: tuple[Call, ...] = (
    *PROFILE_CALLS,
    *PLACE_CALLS,
    Call(
        "POST",
        "/api/spin",
        "Spin",
        "Get in line.",
        http.SpinAnswer(True, State.MATCHED, True, MATCH),
        refusals=(Code.PROFILE_INCOMPLETE, Code.ON_A_DATE, Code.DRAINING),
    ),
    Call(
        "GET",
        "/api/explain",
        "Spin",
        "Ask why nobody has come yet.",
        http.ExplainAnswer(4.5, Tier.WIDER, 5.5, 120, REJECTED, NEAREST, STRICT),
        refusals=(Code.WRONG_STATE,),
    ),
    Call(
        "POST",
        "/api/leave",
        "Spin",
        "Get out of line, or out of the match.",
        http.StateAnswer(State.IDLE),
        refusals=(Code.WRONG_STATE,),
    ),
    Call("GET", "/api/match/status", "Spin", "See how things stand.", _IN_A_MATCH),
    Call(
        "POST",
        "/api/match/acknowledge",
        "Spin",
        "Say that the match is on the screen.",
        http.AcknowledgeAnswer(State.VOTING, moment(13.5)),
        http.AcknowledgeBody(MATCH),
        refusals=(Code.UNKNOWN_MATCH,),
    ),
    Call(
        "POST",
        "/api/vote",
        "Spin",
        "Vote on the partner. The first vote is final.",
        http.VoteAnswer(None, True),
        http.VoteBody(MATCH, "yes"),
        refusals=(Code.UNKNOWN_MATCH, Code.WRONG_STATE, Code.ALREADY_VOTED, Code.VOTE_CLOSED),
    ),
    Call(
        "POST",
        "/api/date/end",
        "Spin",
        "End the video date.",
        Empty(),
        http.EndDateBody(DATE),
        refusals=(Code.NOT_FOUND,),
    ),
    Call("POST", "/api/heartbeat", "Spin", "Give a sign of life.", TimeAnswer(moment(3))),
    *OFFER_CALLS,
    *CONTACT_CALLS,
    *ROOM_CALLS,
    *SAFETY_CALLS,
    *WARNING_CALLS,
    *DEV_CALLS,
    *QUALITY_CALLS,
    *ADMIN_CALLS,
    *PERSON_CALLS,
    *MATCH_CALLS,
    *SETTING_CALLS,
    *MODERATION_CALLS,
    *PRIVACY_CALLS,
    *AUDIT_CALLS,
    *CONSOLE_CALLS,
    *OBJECTIVE_CALLS,
    *HEALTH_CALLS,
    Call("GET", "/openapi.json", "Contract", "The HTTP calls, as OpenAPI.", None, token=False),
    Call("GET", "/asyncapi.json", "Contract", "The socket, as AsyncAPI.", None, token=False),
    Call(
        "GET",
        "/docs",
        "Contract",
        "Both documents, for people.",
        None,
        media="text/html",
        token=False,
    ),
)
"""Every HTTP call."""

ERRORS: dict[Code, str] = {
    Code.BAD_REQUEST: "The message or body is not what is documented here.",
    Code.UNAUTHORIZED: "No token, or one that is not valid or has expired.",
    Code.FORBIDDEN: "The token does not open this.",
    Code.SUSPENDED: "You are suspended: `reason` says why, `until` when it ends, or null.",
    Code.NOT_FOUND: "There is no such thing.",
    Code.UNKNOWN_MATCH: "Not your current match; an acknowledge that comes late gets this too.",
    Code.WRONG_STATE: "It has no meaning where you are now; a second hello gets this too.",
    Code.ON_A_DATE: "You are on a video date: end it first.",
    Code.ALREADY_VOTED: "You have voted otherwise, and the first vote is final.",
    Code.ALREADY_ANSWERED: "You have answered otherwise, and the first answer is final.",
    Code.VOTE_CLOSED: "The vote is over.",
    Code.UNKNOWN_ROOM: "There is no such room: `GET /api/rooms` lists them.",
    Code.ROOM_CLOSED: "The room is not open now.",
    Code.ROOM_FULL: "The room has as many users as it holds: try again later.",
    Code.WRONG_CODE: "The room needs its code. After five wrong ones in a minute: `rate_limited`.",
    Code.PROFILE_INCOMPLETE: "Store a profile first.",
    Code.TOO_LARGE: "The body is too large.",
    Code.UNDERAGE: "One must be 18 or older.",
    Code.RATE_LIMITED: "Too fast: slow down.",
    Code.MOVED: "Another node serves your room: repeat it at `url`; over HTTP, at `Location`.",
    Code.DRAINING: "The server is about to stop: come back in a moment.",
    Code.INTERNAL: "Our fault. With HTTP status 503: try again.",
}
"""The meaning of each code."""
