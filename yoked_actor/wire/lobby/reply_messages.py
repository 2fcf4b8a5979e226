"""The replies that the server sends over the socket: `ok` and `error`."""

from __future__ import annotations

from datetime import datetime

import msgspec
from msgspec import UNSET, UnsetType

from yoked_actor.domain.lobby import Code, Outcome, State
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost, Tier


class Ok(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="type", tag="ok"):
    """A command was carried out. Which fields it has depends on the command."""

    re: str
    at: datetime | None = None
    state: State | None = None
    match_id: str | None = None
    vote_by: datetime | None = None
    outcome: Outcome | None = None
    waiting_s: float | None = None
    tier: Tier | None = None
    next_tier_in_s: float | UnsetType | None = UNSET
    pool: int | None = None
    rejected_by: Rejections | None = None
    nearest: Relaxation | UnsetType | None = UNSET
    strict: StrictCost | None = None
    connection_id: str | None = None
    date_id: str | None = None
    call_id: str | None = None
    ring_until: datetime | None = None
    expires_at: datetime | None = None
    room: str | None = None


class OkDone(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="ok"):
    """An `Ok` without more fields. Like the others below it is rendered faster than `Ok`."""

    re: str


class OkAt(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="ok"):
    """The `Ok` of a heartbeat."""

    re: str
    at: datetime


class OkState(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", tag="ok"
):
    """The `Ok` of a spin or a leave."""

    re: str
    state: State
    match_id: str | None = None


class OkVoteBy(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", tag="ok"
):
    """The `Ok` of an acknowledgement."""

    re: str
    vote_by: datetime | None = None


class OkOutcome(
    msgspec.Struct, frozen=True, gc=False, omit_defaults=True, tag_field="type", tag="ok"
):
    """The `Ok` of a vote."""

    re: str
    outcome: Outcome | None = None


OkMessage = Ok | OkDone | OkAt | OkState | OkVoteBy | OkOutcome


class Error(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """A command was refused, and nothing has changed. `suspended` has `reason` and `until`,
    `moved` has `url`."""

    re: str | None
    code: Code
    message: str
    reason: str | UnsetType = UNSET
    until: datetime | UnsetType | None = UNSET
    url: str | UnsetType = UNSET
