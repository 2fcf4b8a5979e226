"""An example of the status, for the documents."""

from __future__ import annotations

from datetime import UTC, datetime

from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.lobby import CancelReason, Outcome
from yoked_actor.domain.matching import Rejections, Relaxation, Tier
from yoked_actor.domain.ops import Alert
from yoked_actor.wire.ops.http import AlertEntry
from yoked_actor.wire.ops.status import (
    CommitPart,
    DegradedPart,
    HourPart,
    MinutePart,
    Status,
    WaiterPart,
)

_AT = datetime(2026, 1, 1, 8, tzinfo=UTC)
_TIERS = {Tier.EXACT: 31, Tier.WIDER: 6, Tier.WIDEST: 2, Tier.FORCED: 1}

STATUS = Status(
    seq=1,
    at=datetime(2026, 1, 1, 8, 0, 55, tzinfo=UTC),
    waiting=121,
    longest=(
        WaiterPart(
            "ana",
            41.5,
            Tier.FORCED,
            None,
            120,
            Rejections(seeking=61, history=2, age=40, distance=17),
            Relaxation("distance", 12, "km", 3),
        ),
    ),
    minutes=(MinutePart(_AT, 124, 40, _TIERS, 3.2),),
    hour=HourPart(40, _TIERS, {Outcome.BOTH_YES: 12}, {CancelReason.PARTNER_LEFT: 1}),
    connections=302,
    sessions=340,
    mailbox=0,
    commits=CommitPart(0.0012, 0.0041, 0),
    jobs={JobStatus.PENDING: 3, JobStatus.DEAD_LETTER: 1},
    alerts=(AlertEntry(Alert.FAILURE_RATE, 0.02, 0.01, _AT),),
    stalled=False,
    draining=False,
    reports=2,
    degraded=(DegradedPart("calendar", "StoreError: no such table: zone_runs", _AT, 3, None),),
)
