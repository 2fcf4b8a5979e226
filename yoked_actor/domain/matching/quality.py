"""How good matches were, by group."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.matching.tiers import Tier


class Percentiles(msgspec.Struct, frozen=True):
    """What half, nine of ten, and ninety-nine of a hundred stay at or below."""

    p50: float
    p90: float
    p99: float


class GroupQuality(msgspec.Struct, frozen=True):
    """How those of one gender who seek the same genders have fared.

    `count` is how often one of them was matched, `wait_s` how long they had waited then, `tiers`
    how often their limits had to be how wide for it. `match_rate` is the share of those matches
    that ended with two yeses, of those that are over; null before any is.
    """

    group: str
    count: int
    wait_s: Percentiles
    tiers: dict[Tier, int]
    match_rate: float | None


class QualityReport(msgspec.Struct, frozen=True):
    """How good the matches of some time were, by group."""

    matches: int
    complete: bool
    """False when there were more, and only the newest were looked at."""
    groups: list[GroupQuality]
