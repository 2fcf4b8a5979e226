"""Daily offers: frozen pools, candidates, scoring, zone runs."""

from __future__ import annotations

from yoked_actor.domain.offers.cells import CELLS, reach_class
from yoked_actor.domain.offers.frozen_pool import (
    NO_VOTES,
    FrozenPool,
    OfferRules,
    canonical,
    content_digest,
    freeze,
    frozen_person,
    thawed,
)
from yoked_actor.domain.offers.schedule import Due, ZoneRun, ZoneRunStatus
from yoked_actor.domain.offers.scoring import ONE, Facts, Scoring, Votes, shown_points
from yoked_actor.domain.offers.zone_run import (
    Finding,
    Offer,
    OfferSet,
    StoredSet,
    check_all,
    joint_digest,
    make_run,
    verify,
)

__all__ = [
    "CELLS",
    "NO_VOTES",
    "ONE",
    "Due",
    "Facts",
    "Finding",
    "FrozenPool",
    "Offer",
    "OfferRules",
    "OfferSet",
    "Scoring",
    "StoredSet",
    "Votes",
    "ZoneRun",
    "ZoneRunStatus",
    "canonical",
    "check_all",
    "content_digest",
    "freeze",
    "frozen_person",
    "joint_digest",
    "make_run",
    "reach_class",
    "shown_points",
    "thawed",
    "verify",
]
