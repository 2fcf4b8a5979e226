"""The calls of privacy, and of an operator's review, as rows of the contract."""

from __future__ import annotations

from yoked_actor.domain.lobby import Code
from yoked_actor.wire.call import NUMBER, Call, Query
from yoked_actor.wire.people.care_examples import (
    AUDIT,
    CHANGED,
    OWN_DATA,
    REPORTS,
    RESOLVE,
    SUSPEND,
)

_PAGE = (
    Query("limit", {"type": "integer", "minimum": 1, "maximum": 1000}, "How many at most."),
    Query("before", NUMBER, "Only those with a lesser number."),
)

CARE_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/me/export",
        "Privacy",
        "All that is kept of you. Once in a while only, and open to the suspended too.",
        OWN_DATA,
    ),
    Call(
        "DELETE",
        "/api/me",
        "Privacy",
        "Be erased: you leave, your socket is closed (4003), and nothing of you is kept.",
        None,
        status=204,
    ),
    Call(
        "GET",
        "/api/admin/reports",
        "Operation",
        "For the operator: reports, the newest first.",
        REPORTS,
        refusals=(Code.BAD_REQUEST,),
        query=(
            Query("open", {"type": "string", "enum": ["0", "1"]}, "1: only those not resolved."),
            *_PAGE,
        ),
    ),
    Call(
        "POST",
        "/api/admin/reports/{number}/resolve",
        "Operation",
        "For the operator: close a report.",
        CHANGED,
        RESOLVE,
        refusals=(Code.NOT_FOUND,),
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/suspend",
        "Operation",
        "For the operator: take a user out, and let them in no more. They are shown the reason.",
        CHANGED,
        SUSPEND,
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/unsuspend",
        "Operation",
        "For the operator: let a user in again.",
        CHANGED,
        refusals=(Code.BAD_REQUEST,),
    ),
    Call(
        "GET",
        "/api/admin/audit",
        "Operation",
        "For the operator: what operators did, the newest first.",
        AUDIT,
        refusals=(Code.BAD_REQUEST,),
        query=_PAGE,
    ),
)
