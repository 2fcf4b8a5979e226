"""The status that a watching operator receives periodically."""

from __future__ import annotations

from datetime import datetime

import msgspec

from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.lobby import CancelReason, Outcome
from yoked_actor.domain.matching import Rejections, Relaxation, Tier
from yoked_actor.wire.lobby import Event
from yoked_actor.wire.ops.http import AlertEntry
from yoked_actor.wire.ops.nodes import NodesPart


class WaiterPart(msgspec.Struct, frozen=True):
    """Somebody who has waited long, and why: the numbers that `explain` would tell them."""

    user_id: str
    waiting_s: float
    tier: Tier
    next_tier_in_s: float | None
    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None


class MinutePart(msgspec.Struct, frozen=True):
    """A minute in which something happened. `waiting` is the most who waited at once."""

    at: datetime
    waiting: int
    matches: int
    tiers: dict[Tier, int]
    wait_s: float | None
    """The average wait of users who were matched."""


class HourPart(msgspec.Struct, frozen=True):
    """What the last hour has come to."""

    matches: int
    tiers: dict[Tier, int]
    outcomes: dict[Outcome, int]
    cancelled: dict[CancelReason, int]


class CommitPart(msgspec.Struct, frozen=True):
    """How long the last commits took, and what waits for the next."""

    p50_s: float
    p99_s: float
    pending: int


class DegradedPart(msgspec.Struct, frozen=True):
    """A part beside the live loop that has failed, and is being started again."""

    actor: str
    error: str
    failed_at: datetime
    failures: int
    """Since its last successful run."""
    restarted_at: datetime | None
    """None while it waits for its restart."""


class Status(Event, frozen=True, kw_only=True, tag="status"):
    """How things stand, for an operator who watches."""

    waiting: int
    longest: tuple[WaiterPart, ...]
    minutes: tuple[MinutePart, ...]
    """The last hour, oldest first, without minutes in which nothing happened."""
    hour: HourPart
    connections: int
    sessions: int
    mailbox: int
    commits: CommitPart
    jobs: dict[JobStatus, int]
    """Jobs that are waiting, running, or dead letters."""
    alerts: tuple[AlertEntry, ...]
    stalled: bool
    """Whether writes to the store fail, so that decisions wait."""
    draining: bool
    reports: int
    """Reports and appeals that are open, counted up to 1000."""
    degraded: tuple[DegradedPart, ...] = ()
    """Side actors that have failed; matching goes on."""
    nodes: NodesPart | None = None
    """With several nodes: what this one knows of them."""
