"""The calls of development: log in as anyone, move a mock clock."""

from __future__ import annotations

from typing import Annotated

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.wire.call import Call
from yoked_actor.wire.common import TimeAnswer
from yoked_actor.wire.examples import TOKEN, moment
from yoked_actor.wire.lobby import UserId
from yoked_actor.wire.people import PROFILE, http


class LoginBody(msgspec.Struct, frozen=True):
    """Who to be, on one's own machine."""

    user_id: UserId
    profile: http.Profile | None = None


class LoginAnswer(msgspec.Struct, frozen=True):
    """A token for that user."""

    token: str
    user_id: str


class AdvanceBody(msgspec.Struct, frozen=True):
    """How far to move the mock clock."""

    seconds: Annotated[float, msgspec.Meta(ge=0, le=366 * 86_400)]


DEV_CALLS: tuple[Call, ...] = (
    Call(
        "POST",
        "/api/dev/login",
        "Development",
        "Be anybody, on your own machine. A profile given here is stored.",
        LoginAnswer(TOKEN, "ana"),
        LoginBody("ana", PROFILE),
        token=False,
        only="dev",
        refusals=(Code.UNDERAGE,),
    ),
    Call(
        "POST",
        "/api/dev/clock/advance",
        "Development",
        "Move the mock clock; answers when all that became due has run.",
        TimeAnswer(moment(10)),
        AdvanceBody(10),
        token=False,
        only="mock_clock",
    ),
)
"""Only on servers that run with `--dev`, or on a mock clock."""
