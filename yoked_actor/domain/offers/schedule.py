"""The daily runs of time zones: planned, due, started, done or missed."""

from __future__ import annotations

from typing import Literal

import msgspec

from yoked_actor.domain.time import Instant, Run

ZoneRunStatus = Literal["planned", "started", "done", "missed"]


class ZoneRun(msgspec.Struct, frozen=True):
    """A zone's run on a local date, as it is stored."""

    run: Run
    status: ZoneRunStatus
    job_id: int | None
    started_at: Instant | None
    ended_at: Instant | None
    digest: str | None


class Due(msgspec.Struct, frozen=True):
    """A planned run that is due."""

    run: Run
    is_inhabited: bool
    """Whether any user lives in its zone."""
    has_later: bool
    """Whether a later date of the zone has a row already."""
