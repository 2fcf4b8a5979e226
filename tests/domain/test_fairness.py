"""The two policies of R10: the standing equals the documented priority."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START, crowds, man, people, ticket, tickets, woman
from tests.domain.scan import STARVATION_S, age, fair_queue_order, pair_points, priority
from yoked_actor.domain.matching import (
    POINT,
    Ticket,
    Weighted,
    age_fit,
    density_points,
    nearness,
    policy_by,
)
from yoked_actor.domain.matching.fairness import EPOCH, FairQueue, Policy
from yoked_actor.domain.people import Person, distance_km
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after

later_s = st.sampled_from((0.0, 0.000001, 59.0, 60.0, 4_999.999999, 5_000.0, 100_000.0))


def _stands(policy: Policy, each: Ticket, now: Instant) -> int:
    standing = policy.standing(each, now)
    return standing.key + policy.slopes[standing.phase] * (now - EPOCH)


def _pair_terms(a: Person, b: Person) -> int:
    ages = age(a, START), age(b, START)
    return Weighted().pair_terms(a, ages[0], b, ages[1], distance_km(a, b))


@given(each=tickets("ana"), seconds=later_s)
def test_points_are_the_written_priority_in_millionths(each: Ticket, seconds: float) -> None:
    now = after(START, seconds)
    assert Fraction(Weighted().points(each, now), POINT) == priority(each, now)


@given(crowd=crowds(), seconds=later_s)
def test_the_fair_queue_stands_in_the_written_order(crowd: list[Ticket], seconds: float) -> None:
    policy, now = FairQueue(STARVATION_S), after(START, seconds)
    assert sorted(crowd, key=lambda each: (-_stands(policy, each, now), each.user_id)) == sorted(
        crowd, key=lambda each: fair_queue_order(each, now)
    )


@given(
    each=tickets("ana"),
    policy=st.sampled_from((FairQueue(STARVATION_S), Weighted())),
    seconds=st.lists(st.floats(0, 20_000), min_size=1, max_size=4),
)
def test_a_standing_holds_until_it_says_that_it_changes(
    each: Ticket, policy: Policy, seconds: list[float]
) -> None:
    standing = policy.standing(each, START)
    for second in seconds:
        now = after(START, second)
        if standing.changes_at is None or now < standing.changes_at:
            found = policy.standing(each, now)
            assert (found.key, found.phase) == (standing.key, standing.phase)
            assert found.changes_at == standing.changes_at
    if standing.changes_at is not None:
        changed = policy.standing(each, standing.changes_at)
        assert changed.key != standing.key
        assert changed.changes_at is None


@given(one=people("one"), other=people("other"))
def test_what_a_pair_adds_is_as_written_and_symmetric_and_bounded(
    one: Person, other: Person
) -> None:
    terms = _pair_terms(one, other)
    assert terms == _pair_terms(other, one)
    assert 0 <= terms <= Weighted.pair_bound
    assert Fraction(terms, POINT) == pair_points(one, other, START)


def test_a_perfect_pair_adds_the_whole_bound() -> None:
    ana, ben = woman("ana", min_age=20, max_age=40), man("ben", min_age=20, max_age=40)
    assert age(ana, START) == age(ben, START) == 30
    assert _pair_terms(ana, ben) == Weighted.pair_bound == 1_100 * POINT


@pytest.mark.parametrize(
    ("years", "fit"), [(19, 0), (20, 91), (25, 546), (30, 1000), (40, 91), (41, 0), (90, 0)]
)
def test_an_age_fits_best_in_the_middle_and_not_at_all_outside(years: int, fit: int) -> None:
    assert age_fit(woman("ana", min_age=20, max_age=40), years) == fit


@pytest.mark.parametrize(
    ("km", "near"), [(0.0, 10_000), (25.0, 5_000), (49.999, 0), (50.0, 0), (9e3, 0)]
)
def test_nearness_is_measured_by_the_narrower_wish(km: float, near: int) -> None:
    assert nearness(woman("ana"), man("ben", max_distance_km=900.0), km) == near


@pytest.mark.parametrize(("waiting", "points"), [(0, 100_000), (3, 70_000), (10, 0), (500, 0)])
def test_few_who_wait_give_everybody_points(waiting: int, points: int) -> None:
    assert density_points(waiting) == points


def test_one_second_of_wait_is_110_points_and_10_once_the_boost_is_full() -> None:
    policy, ana = Weighted(), ticket(woman("ana"))
    at = [policy.points(ana, after(START, second)) for second in (4_999, 5_000, 5_001, 5_002)]
    steps = [later - before for before, later in pairwise(at)]
    assert steps == [110 * POINT, 10 * POINT, 10 * POINT]


def test_the_rules_name_the_policy() -> None:
    assert policy_by(Rules()).name == "fair_queue"
    assert policy_by(Rules(policy="weighted")).name == "weighted"
