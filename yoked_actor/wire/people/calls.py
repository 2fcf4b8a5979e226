"""The HTTP calls about profiles, safety, privacy and moderation, as rows of the table of calls."""

from __future__ import annotations

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.wire.call import PAGE, Call, Query
from yoked_actor.wire.common import Changed, Empty
from yoked_actor.wire.examples import MATCH, moment
from yoked_actor.wire.people import http, moderation
from yoked_actor.wire.people.examples import OWN_DATA, PROFILE, REPORTS, RESOLVE, SUSPEND

PROFILE_CALLS: tuple[Call, ...] = (
    Call(
        "PUT",
        "/api/profile",
        "Profile",
        "Store your profile; it counts at once.",
        PROFILE,
        PROFILE,
        refusals=(Code.UNDERAGE,),
    ),
    Call(
        "GET",
        "/api/profile",
        "Profile",
        "Read your profile.",
        PROFILE,
        refusals=(Code.NOT_FOUND,),
    ),
)
"""A user's profile."""

_VIENNA = http.Place("Vienna", "AT", http.Location(48.2085, 16.3721), "Europe/Vienna", "Wien")

PLACE_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/places",
        "Profile",
        "Find places by the beginning of a name, in any language, the largest first.",
        http.PlacesAnswer([_VIENNA]),
        refusals=(Code.BAD_REQUEST,),
        query=(
            Query(
                "search",
                {"type": "string", "minLength": 1, "maxLength": 80},
                "The beginning of a name; after a comma, the code of a country or US state.",
                required=True,
            ),
        ),
    ),
    Call(
        "POST",
        "/api/places/near",
        "Profile",
        "The place next to a position, to show instead of coordinates.",
        http.NearAnswer(_VIENNA),
        http.NearBody(48.21, 16.37),
    ),
)
"""The gazetteer."""

SAFETY_CALLS: tuple[Call, ...] = (
    Call(
        "POST",
        "/api/blocks",
        "Safety",
        "Never meet that user (again).",
        Empty(),
        http.BlockBody("mallory"),
    ),
    Call(
        "GET",
        "/api/blocks",
        "Safety",
        "See whom you have blocked.",
        http.BlocksAnswer([http.BlockEntry("mallory", moment(0), "Mallory")]),
    ),
    Call(
        "DELETE",
        "/api/blocks/{user_id}",
        "Safety",
        "Take a block back.",
        Empty(),
        refusals=(Code.NOT_FOUND,),
    ),
    Call(
        "POST",
        "/api/reports",
        "Safety",
        "Report a user to the operator.",
        Empty(),
        http.ReportBody("mallory", "rude", MATCH),
        status=201,
    ),
    Call(
        "POST",
        "/api/appeal",
        "Safety",
        "Suspended: ask the operator to look at it again. Once a day.",
        Empty(),
        moderation.AppealBody("It was a misunderstanding."),
        status=202,
        refusals=(Code.WRONG_STATE,),
    ),
)
"""Blocks, reports and appeals."""

WARNING_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/warnings",
        "Safety",
        "Warnings of the operator that you have not seen yet.",
        moderation.WarningsAnswer(
            [moderation.WarningEntry("w3", "Be kind to people.", moment(54))]
        ),
    ),
    Call(
        "POST",
        "/api/warnings/{warning_id}/seen",
        "Safety",
        "Say that you have seen a warning; it is not sent again.",
        Empty(),
        refusals=(Code.NOT_FOUND,),
    ),
)
"""Warnings."""

PRIVACY_CALLS: tuple[Call, ...] = (
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
)
"""A user's own data."""

MODERATION_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/reports",
        "Operation",
        "Reports, the newest first.",
        REPORTS,
        refusals=(Code.BAD_REQUEST,),
        query=(
            Query("open", {"type": "string", "enum": ["0", "1"]}, "1: only those not resolved."),
            *PAGE,
        ),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/reports/{number}/resolve",
        "Operation",
        "Close a report.",
        Changed(True),
        RESOLVE,
        refusals=(Code.NOT_FOUND,),
        needs=Role.MODERATOR,
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/suspend",
        "Operation",
        "Take a user out, and let them in no more. They are shown the reason.",
        Changed(True),
        SUSPEND,
        refusals=(Code.NOT_FOUND,),
        needs=Role.MODERATOR,
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/warn",
        "Operation",
        "Show a user the operator's words, now or when they next say hello.",
        moderation.WarnAnswer("w3"),
        moderation.WarnBody("Be kind to people.", 7),
        refusals=(Code.NOT_FOUND, Code.WRONG_STATE),
        needs=Role.MODERATOR,
    ),
    Call(
        "POST",
        "/api/admin/users/{user_id}/unsuspend",
        "Operation",
        "Let a user in again.",
        Changed(True),
        refusals=(Code.BAD_REQUEST,),
        needs=Role.MODERATOR,
    ),
)
"""Reports and suspensions, for the operator."""
