"""Bodies and answers of the live loop over HTTP: spin, match, vote, date."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from yoked_actor.domain.lobby import Outcome, State
from yoked_actor.domain.matching import Rejections, Relaxation, StrictCost, Tier
from yoked_actor.wire.lobby.commands import SubjectId


class SpinAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a spin has led."""

    success: bool
    state: State
    matched: bool
    match_id: str | None = None


class StateAnswer(msgspec.Struct, frozen=True):
    """Where the user is now."""

    state: State


class ExplainAnswer(msgspec.Struct, frozen=True):
    """Why the user still waits."""

    waiting_s: float
    tier: Tier
    next_tier_in_s: float | None
    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None
    strict: StrictCost


class AcknowledgeBody(msgspec.Struct, frozen=True):
    """Which match is on the screen."""

    match_id: SubjectId


class AcknowledgeAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """Until when to vote, once voting is open."""

    state: State
    vote_by: datetime | None = None


class VoteBody(msgspec.Struct, frozen=True):
    """A vote on the partner."""

    match_id: SubjectId
    vote: Literal["yes", "pass"]


class VoteAnswer(msgspec.Struct, frozen=True):
    """The outcome, once there is one."""

    outcome: Outcome | None
    waiting_for_partner: bool


class EndDateBody(msgspec.Struct, frozen=True):
    """Which date to end."""

    date_id: SubjectId
