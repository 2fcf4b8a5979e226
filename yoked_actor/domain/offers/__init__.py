"""Daily offers: frozen pools, candidates, scoring, zone runs."""

from __future__ import annotations

from yoked_actor.domain.offers.cells import CELLS, reach_class
from yoked_actor.domain.offers.frozen_pool import (
    NO_VOTES,
    FrozenPool,
    OfferRules,
    canonical,
    content_digest,
    decode_pool,
    freeze,
    frozen_person,
)
from yoked_actor.domain.offers.kept import (
    Answer,
    Answered,
    Connection,
    Faces,
    FrozenRun,
    KeptSet,
    RunProgress,
    RunVersion,
    UnreadableSet,
)
from yoked_actor.domain.offers.offer_sets import Offer, OfferSet, joint_digest
from yoked_actor.domain.offers.schedule import Due, ZoneRun, ZoneRunStatus
from yoked_actor.domain.offers.scoring import ONE, Facts, Scoring, Votes, shown_points
from yoked_actor.domain.offers.verification import Finding, StoredSet, check_all, verify
from yoked_actor.domain.offers.zone_run import make_run

__all__ = [
    "CELLS",
    "NO_VOTES",
    "ONE",
    "Answer",
    "Answered",
    "Connection",
    "Due",
    "Faces",
    "Facts",
    "Finding",
    "FrozenPool",
    "FrozenRun",
    "KeptSet",
    "Offer",
    "OfferRules",
    "OfferSet",
    "RunProgress",
    "RunVersion",
    "Scoring",
    "StoredSet",
    "UnreadableSet",
    "Votes",
    "ZoneRun",
    "ZoneRunStatus",
    "canonical",
    "check_all",
    "content_digest",
    "decode_pool",
    "freeze",
    "frozen_person",
    "joint_digest",
    "make_run",
    "reach_class",
    "shown_points",
    "verify",
]
