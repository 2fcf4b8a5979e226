"""What external receivers answer to runs of jobs."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant


class ReceiverAnswer(msgspec.Struct, frozen=True):
    """What an external receiver answered to a run of a job."""

    status: int
    """The HTTP status."""
    receiver_id: str | None
    """The receiver's own id for it."""
    body: str
    """Its beginning only."""


class KeptAnswer(ReceiverAnswer, frozen=True):
    """An answer, with the fence of the run and when it came."""

    fence: int
    at: Instant
