"""Settings of daily offers: `[offers]`."""

from __future__ import annotations

from datetime import time

from pydantic import Field

from yoked_actor.domain.offers import OfferRules, Scoring
from yoked_actor.settings.base import (
    TIME_OF_DAY,
    SettingsModel,
)
from yoked_actor.settings.models.lobby import MatchingSettings

# The defaults are those of the domain.
_RULES = OfferRules()


class OfferSettings(SettingsModel):
    """The daily offers of each time zone."""

    RELOADS = frozenset(
        {"daily_offer_count", "max_daily_exposure", "not_again_days", "scoring", "keep_pools_days"}
    )

    at: str = Field(
        "09:00",
        pattern=TIME_OF_DAY,
        title="a time of day",
        description="The local time at which a zone gets its offers.",
    )
    daily_offer_count: int = Field(
        _RULES.daily_offer_count, ge=1, le=100, description="The offers per user and day."
    )
    max_daily_exposure: int = Field(
        _RULES.max_daily_exposure,
        ge=1,
        le=10_000,
        description="The most sets of a run in which one user appears.",
    )
    not_again_days: int = Field(
        _RULES.not_again_days,
        ge=0,
        le=366,
        description="For how many days a candidate is not offered to the same user again.",
    )
    scoring: Scoring = Field(
        _RULES.scoring,
        description="How candidates are ranked: v1 by profiles, v2 by profiles and votes.",
    )
    keep_pools_days: int = Field(
        7,
        ge=1,
        le=366,
        description="How long the inputs of a run are kept, so that it can be verified in full.",
    )

    def time_of_day(self) -> time:
        """The local time of a run."""
        return time.fromisoformat(self.at)

    def rules(self, matching: MatchingSettings) -> OfferRules:
        """The rules of a run: these settings and the tiers."""
        given = {**dict(matching), **dict(self)}
        return OfferRules(**{name: given[name] for name in OfferRules.__struct_fields__})
