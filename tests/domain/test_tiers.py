"""Tiers (R8): the limits of each, and when the next one is reached."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START, people, tiers, woman
from tests.domain.scan import bounds
from yoked_actor.domain.matching import EVERYBODY, Limits, Tier, Tiers
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after

SHIPPED = Tiers.by(Rules())
APART = Tiers.by(Rules(tier2_after_s=1.0, tier3_after_s=5.0, forced_after_s=30.0))


@pytest.mark.parametrize(
    ("waited_s", "tier"),
    [
        (0.0, Tier.EXACT),
        (1.999999, Tier.EXACT),
        (2.0, Tier.WIDER),
        (9.999999, Tier.WIDER),
        (10.0, Tier.FORCED),
        (9e6, Tier.FORCED),
    ],
)
def test_a_wait_opens_its_tier_on_the_edge(waited_s: float, tier: Tier) -> None:
    assert SHIPPED.tier_at(START, after(START, waited_s)) is tier


def test_tiers_that_stand_apart_open_one_by_one() -> None:
    edges, tier = [], Tier.EXACT
    while (edge := APART.next_edge(START, tier)) is not None:
        assert APART.tier_at(START, edge - 1) is tier
        tier = APART.tier_at(START, edge)
        edges.append((edge - START, tier))
    assert edges == [
        (1_000_000, Tier.WIDER),
        (5_000_000, Tier.WIDEST),
        (30_000_000, Tier.FORCED),
    ]


def test_edges_that_coincide_are_one_edge_to_the_highest_tier() -> None:
    at_once = Tiers.by(Rules(tier2_after_s=0.0, tier3_after_s=0.0, forced_after_s=0.0))
    assert at_once.tier_at(START, START) is Tier.FORCED
    assert at_once.next_edge(START, Tier.FORCED) is None
    assert SHIPPED.next_edge(START, Tier.WIDER) == after(START, 10)
    assert SHIPPED.tier_at(START, after(START, 10)) is Tier.FORCED


@pytest.mark.parametrize(
    ("tier", "limits"),
    [
        (Tier.EXACT, Limits(19, 98, 50.0)),
        (Tier.WIDER, Limits(18, 100, 60.0)),
        (Tier.WIDEST, Limits(18, 100, 75.0)),
        (Tier.FORCED, EVERYBODY),
    ],
)
def test_a_tier_widens_within_18_and_100(tier: Tier, limits: Limits) -> None:
    assert SHIPPED.limits(woman("ana", min_age=19, max_age=98), tier) == limits


def test_nobodys_own_wish_is_narrowed_by_the_oldest_age() -> None:
    old = woman("ana", min_age=90, max_age=120)
    assert SHIPPED.limits(old, Tier.WIDEST) == Limits(85, 120, 75.0)


@pytest.mark.parametrize("tier", Tier)
def test_a_strict_limit_is_the_same_in_every_tier(tier: Tier) -> None:
    wishes = {"min_age": 25, "max_age": 40, "max_distance_km": 30.0}
    soft = SHIPPED.limits(woman("ana", **wishes), tier)
    for strict in ({"age"}, {"distance"}, {"age", "distance"}):
        limits = SHIPPED.limits(woman("ana", **wishes, strict=frozenset(strict)), tier)
        ages = (25, 40) if "age" in strict else (soft.min_age, soft.max_age)
        assert (limits.min_age, limits.max_age) == ages
        assert limits.max_km == (30.0 if "distance" in strict else soft.max_km)


@given(who=people("ana"), tier=tiers)
def test_limits_are_as_written_and_only_ever_open(who: Person, tier: Tier) -> None:
    limits = SHIPPED.limits(who, tier)
    least, most, far = bounds(who, tier)
    assert (limits.min_age, limits.max_km) == (least, far)
    assert limits.max_age == (EVERYBODY.max_age if most == inf else most)
    exact = SHIPPED.limits(who, Tier.EXACT)
    assert limits.min_age <= exact.min_age
    assert limits.max_age >= exact.max_age
    assert limits.max_km >= exact.max_km


@given(waits=st.lists(st.floats(0, 40), min_size=2, max_size=2))
def test_a_longer_wait_never_closes_a_tier(waits: list[float]) -> None:
    shorter, longer = (after(START, wait) for wait in sorted(waits))
    assert APART.tier_at(START, shorter) <= APART.tier_at(START, longer)
