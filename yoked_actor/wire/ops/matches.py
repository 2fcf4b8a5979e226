"""Answers and calls about matches, for operators: why a match was made, and its end."""

from __future__ import annotations

from datetime import datetime

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.people import check_text
from yoked_actor.wire.call import Call
from yoked_actor.wire.common import Changed, Words
from yoked_actor.wire.examples import MATCH, moment
from yoked_actor.wire.people.moderation import CardPart


class SidePart(msgspec.Struct, frozen=True):
    """One of the two users of a match, and how the match was for them when it was made."""

    user_id: str
    card: CardPart | None
    """None when the user has no profile, or was erased."""
    group: str | None
    tier: int | None
    """How far the user's limits had widened: 1, 2, 3, or 99."""
    waited_s: float | None


class MatchAnswer(msgspec.Struct, frozen=True):
    """A match, and why it was made. Votes are sealed, from operators too. What `policy` and the
    following fields say is null when the quality of the match was deleted."""

    match_id: str
    status: str
    paired_at: datetime
    ended_at: datetime | None
    outcome: str | None
    cancelled_for: str | None
    sides: list[SidePart]
    policy: str | None
    preference_match: float | None
    """How well the two fitted each other's limits; more is better."""
    distance_km: int | None
    """The distance that both were shown."""


class EndMatchBody(msgspec.Struct, frozen=True):
    """Why a match is ended; for the audit, no user is shown it."""

    reason: Words

    def __post_init__(self) -> None:
        check_text("reason", self.reason)


MATCH_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/admin/matches/{match_id}",
        "Operation",
        "One match: both users, and why it was made.",
        MatchAnswer(
            *(MATCH, "voting", moment(2), None, None, None),
            [
                SidePart(
                    "ana", CardPart("Ana", 27, "woman", ["jazz"]), "woman seeking man", 1, 2.5
                ),
                SidePart("ben", CardPart("Ben", 29, "man", []), "man seeking woman", 2, 4.0),
            ],
            *("fair_queue", 0.8, 5),
        ),
        refusals=(Code.NOT_FOUND,),
        needs=Role.VIEWER,
    ),
    Call(
        "POST",
        "/api/admin/matches/{match_id}/end",
        "Operation",
        "End an open match. Both users are told that the partner left, and wait again.",
        Changed(True),
        EndMatchBody("one of them is under age"),
        refusals=(Code.NOT_FOUND,),
        needs=Role.MODERATOR,
    ),
)
"""One match."""
