"""Settings of the service level objectives: `[objectives]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from yoked_actor.domain.ops import Goal, Objective
from yoked_actor.settings.base import Duration, SettingsModel

Target = Annotated[float, Field(ge=0.5, le=0.99999)]


class ObjectiveSettings(SettingsModel):
    """Service level objectives: how fast a good event is, and the share that must be good."""

    RELOADS = frozenset(
        {
            *(
                "morning_target",
                "morning_s",
                "offers_target",
                "offers_s",
                "match_target",
                "match_s",
            ),
            *("vote_target", "vote_s", "spin_target", "spin_s"),
        }
    )

    morning_target: Target = Field(
        0.999, description="The share of a morning's sets of offers that must be stored on time."
    )
    morning_s: Duration = Field(
        600.0,
        description="How long after the due time of its zone's run a set may be stored.",
    )
    offers_target: Target = Field(
        0.95, description="The share of offers.user runs that must be fast enough."
    )
    offers_s: Duration = Field(30.0, description="How long the run for one user's offers may take.")
    match_target: Target = Field(
        0.9, description="The share of matched users who must be matched soon enough."
    )
    match_s: Duration = Field(
        5.0, description="How long two matched users may have waited since both were in line."
    )
    vote_target: Target = Field(
        0.99, description="The share of votes that must be answered in time."
    )
    vote_s: Duration = Field(0.1, description="How long a vote may take to be stored.")
    spin_target: Target = Field(0.999, description="The share of spins that must be answered.")
    spin_s: Duration = Field(5.0, description="A spin that takes longer counts as not answered.")

    def goal(self, objective: Objective) -> Goal:
        """The goal of an objective."""
        match objective:
            case Objective.MORNING:
                return Goal(self.morning_target, self.morning_s)
            case Objective.OFFERS:
                return Goal(self.offers_target, self.offers_s)
            case Objective.MATCHES:
                return Goal(self.match_target, self.match_s)
            case Objective.VOTES:
                return Goal(self.vote_target, self.vote_s)
            case Objective.SPINS:
                return Goal(self.spin_target, self.spin_s)
