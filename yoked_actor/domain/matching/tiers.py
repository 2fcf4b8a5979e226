"""Tiers: how wide a waiting user's own limits are (R4, R8).

The tier grows with the user's own wait, and widens that user's own limits only. The last tier,
forced, has no limits of age or distance; hard constraints still apply. A limit that the user has
made strict is a hard constraint: no tier widens it.
"""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.matching.limits import EVERYBODY, Limits
from yoked_actor.domain.matching.tickets import Tier, Widening, Wishes
from yoked_actor.domain.people import ADULT_AGE, OLDEST_AGE
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, microseconds

# A constant is read faster than a member of an enumeration.
_EXACT: Final = Tier.EXACT
_FORCED: Final = Tier.FORCED


class Tiers:
    """The tiers in order, and the limits of a person in each."""

    @classmethod
    def by(cls, rules: Rules) -> Tiers:
        """The tiers of the rules."""
        return cls(
            (
                Widening(Tier.WIDER, rules.tier2_after_s, rules.tier2_years, rules.tier2_distance),
                Widening(Tier.WIDEST, rules.tier3_after_s, rules.tier3_years, rules.tier3_distance),
            ),
            rules.forced_after_s,
        )

    def __init__(self, widenings: tuple[Widening, ...], forced_after_s: float) -> None:
        self._widenings = {widening.tier: widening for widening in widenings}
        edges = [(widening.after_s, widening.tier) for widening in widenings]
        edges.append((forced_after_s, _FORCED))
        self._edges = [(microseconds(after_s), tier) for after_s, tier in edges]

    def tier_at(self, waiting_since: Instant, now: Instant) -> Tier:
        """The tier of a wait at an instant."""
        waited, tier = now - waiting_since, _EXACT
        for edge, reached in self._edges:
            if edge <= waited:
                tier = reached
        return tier

    def next_edge(self, waiting_since: Instant, tier: Tier) -> Instant | None:
        """When a wait reaches the next tier; None in the last one."""
        for edge, reached in self._edges:
            if reached > tier:
                return waiting_since + edge
        return None

    def limits(self, person: Wishes, tier: Tier) -> Limits:
        """The limits of a person in a tier."""
        if tier is _EXACT:
            return Limits(person.min_age, person.max_age, person.max_distance_km)
        widened = EVERYBODY if tier is _FORCED else self._widened(person, tier)
        if not person.strict:
            return widened
        exact = Limits(person.min_age, person.max_age, person.max_distance_km)
        ages = exact if "age" in person.strict else widened
        distance = exact if "distance" in person.strict else widened
        return Limits(ages.min_age, ages.max_age, distance.max_km)

    def _widened(self, person: Wishes, tier: Tier) -> Limits:
        widening = self._widenings[tier]
        return Limits(
            max(ADULT_AGE, person.min_age - widening.years),
            min(max(OLDEST_AGE, person.max_age), person.max_age + widening.years),
            person.max_distance_km * widening.distance_factor,
        )
