"""Errors over HTTP: problem documents (RFC 9457) with the code of the protocol."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from yoked_actor.domain.lobby import Code

STATUS: dict[Code, int] = {
    Code.MOVED: 307,
    Code.BAD_REQUEST: 400,
    Code.UNAUTHORIZED: 401,
    Code.FORBIDDEN: 403,
    Code.SUSPENDED: 403,
    Code.NOT_FOUND: 404,
    Code.UNKNOWN_MATCH: 404,
    Code.WRONG_STATE: 409,
    Code.ON_A_DATE: 409,
    Code.ALREADY_VOTED: 409,
    Code.ALREADY_ANSWERED: 409,
    Code.VOTE_CLOSED: 409,
    Code.UNKNOWN_ROOM: 404,
    Code.ROOM_CLOSED: 409,
    Code.ROOM_FULL: 409,
    Code.WRONG_CODE: 403,
    Code.PROFILE_INCOMPLETE: 409,
    Code.TOO_LARGE: 413,
    Code.UNDERAGE: 422,
    Code.RATE_LIMITED: 429,
    Code.DRAINING: 503,
    Code.INTERNAL: 500,
}
"""The HTTP status of each code."""


class Problem(msgspec.Struct, frozen=True):
    """An `application/problem+json` body. `suspended` comes with `reason` and `until`,
    `moved` with `url`."""

    status: int
    title: str
    detail: str
    code: Code
    reason: str | UnsetType = UNSET
    until: datetime | UnsetType | None = UNSET
    url: str | UnsetType = UNSET
