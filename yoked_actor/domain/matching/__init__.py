"""Who is matched with whom: limits, tiers, compatibility, fairness, the pool of waiting users."""

from __future__ import annotations

from yoked_actor.domain.matching.apart import NOBODY, Apart, Numbers
from yoked_actor.domain.matching.census import Census, take_census
from yoked_actor.domain.matching.compatibility import (
    admits,
    admits_strictly,
    attracted,
    both_adults,
)
from yoked_actor.domain.matching.fairness import (
    MOST_CREDIT,
    POINT,
    Weighted,
    age_fit,
    density_points,
    nearness,
    policy_by,
    terms_of,
)
from yoked_actor.domain.matching.idlers import Idlers
from yoked_actor.domain.matching.limits import EVERYBODY, Limits
from yoked_actor.domain.matching.pool import Pool
from yoked_actor.domain.matching.quality import GroupQuality, Percentiles, QualityReport, group_of
from yoked_actor.domain.matching.relaxation import Rejections, Relaxation, StrictCost
from yoked_actor.domain.matching.tickets import Tier, Widening
from yoked_actor.domain.matching.tiers import Tiers
from yoked_actor.domain.matching.waiting import Choice, Ticket

__all__ = [
    "EVERYBODY",
    "MOST_CREDIT",
    "NOBODY",
    "POINT",
    "Apart",
    "Census",
    "Choice",
    "GroupQuality",
    "Idlers",
    "Limits",
    "Numbers",
    "Percentiles",
    "Pool",
    "QualityReport",
    "Rejections",
    "Relaxation",
    "StrictCost",
    "Ticket",
    "Tier",
    "Tiers",
    "Weighted",
    "Widening",
    "admits",
    "admits_strictly",
    "age_fit",
    "attracted",
    "both_adults",
    "density_points",
    "group_of",
    "nearness",
    "policy_by",
    "take_census",
    "terms_of",
]
