"""Every spin leads to a pairing (R9): tiers in the lobby, from exact to forced."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from msgspec.structs import replace

from tests.domain.crowds import START, man, woman
from tests.domain.evening import Evening
from tests.domain.scan import pair_points, priority
from yoked_actor.domain.lobby import CancelReason, State, WaitReason
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.notices import Matched, NowWaiting, TierReached
from yoked_actor.domain.matching import Tier, density_points
from yoked_actor.domain.people import StrictLimit, strict_limits
from yoked_actor.domain.rules import PolicyName, Rules
from yoked_actor.domain.time import after, from_datetime

ANA, BEN = woman("ana"), man("ben")
"""Both are 30 and in Berlin, with a limit of 50 km."""
NORTH_55_KM, NORTH_70_KM, SYDNEY = 53.015, 53.15, -33.9
BOTH_POLICIES = pytest.mark.parametrize("policy", ["fair_queue", "weighted"])


@pytest.fixture
def evening() -> Evening:
    return Evening()


def _tiers_told(evening: Evening, user_id: str) -> list[Tier]:
    return [each.tier for each in evening.told(user_id) if isinstance(each, TierReached)]


@BOTH_POLICIES
@pytest.mark.parametrize(
    ("lat", "matched_after_s"),
    [(52.6, 0.0), (NORTH_55_KM, 2.0), (NORTH_70_KM, 10.0), (SYDNEY, 10.0)],
)
def test_two_meet_as_soon_as_both_have_opened_so_far(
    policy: PolicyName, lat: float, matched_after_s: float
) -> None:
    evening = Evening(Rules(policy=policy))
    evening.enter(ANA, replace(BEN, lat=lat))
    evening.spin("ana", "ben")
    if matched_after_s:
        evening.advance(matched_after_s - 0.000001)
        assert evening.state("ana") is State.WAITING
        evening.advance(0.000001)
    assert evening.partner_of("ana") == "ben"


def test_nobodys_limits_are_widened_by_somebody_elses_wait(evening: Evening) -> None:
    evening.enter(ANA, replace(BEN, lat=SYDNEY))
    evening.spin("ana")
    evening.advance(100)
    evening.spin("ben")
    assert evening.state("ben") is State.WAITING
    evening.advance(9.999999)
    assert evening.state("ben") is State.WAITING
    evening.advance(0.000001)
    assert evening.partner_of("ben") == "ana"
    [row] = evening.store.quality.values()
    assert (row.a_tier, row.b_tier) == (Tier.FORCED, Tier.FORCED)
    assert (row.a_wait_s, row.b_wait_s) == (110.0, 10.0)


def test_each_sides_tier_is_the_least_that_it_took(evening: Evening) -> None:
    evening.enter(ANA, replace(BEN, lat=NORTH_70_KM, max_distance_km=200.0))
    evening.spin("ana")
    evening.advance(30)
    evening.spin("ben")
    [row] = evening.store.quality.values()
    assert (row.a_tier, row.b_tier) == (Tier.WIDEST, Tier.EXACT)
    assert row.distance_km == pytest.approx(70.05, abs=0.01)


def test_one_past_the_forced_edge_is_given_somebody_of_tier_3_before_anybody_else() -> None:
    evening = Evening()
    far, near = woman("far", lat=SYDNEY), woman("near", lat=NORTH_70_KM)
    evening.enter(far, near, BEN)
    evening.spin("far")
    evening.advance(30)
    evening.spin("near")
    evening.advance(9)
    evening.spin("ben")
    evening.advance(10)
    assert evening.partner_of("ben") == "near", "and not the one who waits longest"


def test_each_edge_is_told_once_and_edges_that_coincide_with_the_highest(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.advance(60)
    assert _tiers_told(evening, "ana") == [Tier.WIDER, Tier.FORCED]


def test_edges_apart_are_told_one_by_one_also_to_the_detached() -> None:
    evening = Evening(Rules(tier2_after_s=1, tier3_after_s=3, forced_after_s=9))
    evening.enter(ANA)
    evening.spin("ana")
    evening.detach("ana")
    evening.advance(9)
    assert _tiers_told(evening, "ana") == [Tier.WIDER, Tier.WIDEST, Tier.FORCED]
    assert evening.snapshot("ana").tier is Tier.FORCED


def test_one_who_comes_back_with_open_limits_is_paired_in_that_instant(evening: Evening) -> None:
    evening.enter(ANA, replace(BEN, lat=SYDNEY))
    evening.spin("ben", "ana")
    evening.detach("ben")
    evening.advance(9.9)
    evening.do(ev.SignOfLife("ben"))
    evening.advance(5)
    assert evening.state("ana") is State.WAITING
    evening.attach("ben")
    assert evening.partner_of("ana") == "ben"


def test_one_who_returns_to_an_old_place_has_the_tier_of_the_old_wait(evening: Evening) -> None:
    evening.enter(ANA)
    evening.spin("ana")
    evening.advance(5)
    evening.enter(BEN)
    evening.spin("ben")
    evening.acknowledge("ana")
    evening.advance(5)
    assert evening.state("ana") is State.WAITING
    assert evening.snapshot("ana").tier is Tier.FORCED
    told = evening.told("ana")
    assert told[-1] == NowWaiting(START, WaitReason.NOT_ACKNOWLEDGED)
    assert [each.tier for each in told if isinstance(each, TierReached)] == [Tier.WIDER]


HALF_A_MINUTE_TO_MIDNIGHT = from_datetime(datetime(2026, 1, 1, 23, 59, 30, tzinfo=UTC))


def test_a_birthday_between_two_edges_pairs_at_midnight() -> None:
    """Ana turns 23 at midnight. In tier 2 she was checked, and was too young."""
    evening = Evening(now=HALF_A_MINUTE_TO_MIDNIGHT)
    evening.enter(replace(ANA, birth_date=date(2003, 1, 2)), replace(BEN, min_age=25))
    evening.spin("ana")
    evening.advance(25)
    evening.spin("ben")
    evening.advance(4.999999)
    assert evening.snapshot("ben").tier is Tier.WIDER
    evening.advance(0.000001)
    assert evening.partner_of("ben") == "ana"


def test_a_minor_is_nobodys_partner_even_when_forced(evening: Evening) -> None:
    evening.enter(replace(ANA, birth_date=date(2008, 1, 2)), BEN)
    evening.spin("ana", "ben")
    evening.advance(30)
    assert evening.state("ben") is State.WAITING


def test_a_forced_pairing_waits_for_the_end_of_the_bar(evening: Evening) -> None:
    evening.enter(ANA, BEN)
    evening.spin("ana", "ben")
    evening.acknowledge("ana")
    evening.advance(5)
    assert next(iter(evening.store.matches.values())).cancelled_for is CancelReason.NOT_ACKNOWLEDGED
    evening.spin("ben")
    evening.advance(59.999999)
    assert evening.state("ben") is State.WAITING
    evening.advance(0.000001)
    assert evening.partner_of("ben") == "ana"


@BOTH_POLICIES
def test_the_quality_of_a_match_is_recorded(policy: PolicyName) -> None:
    evening = Evening(Rules(policy=policy))
    ana = replace(ANA, min_age=25, max_age=40)
    evening.enter(ana, replace(BEN, lat=52.6))
    evening.spin("ana")
    evening.advance(1.5)
    ticket = evening.floor.pool.get("ana")
    evening.spin("ben")
    match_id = evening.match_id("ana")
    row = evening.store.quality[match_id]
    points = pair_points(ana, replace(BEN, lat=52.6), evening.now)
    assert row.match_id == match_id
    assert (row.policy, row.paired_at) == (policy, evening.now)
    assert (row.a_tier, row.b_tier) == (Tier.EXACT, Tier.EXACT)
    assert (row.a_wait_s, row.b_wait_s) == (1.5, 0.0)
    assert (row.a_group, row.b_group) == ("woman seeking man", "man seeking woman")
    assert 100 * row.preference_match + 10 * row.distance_score == pytest.approx(float(points))
    assert row.priority == int(priority(ticket, evening.now) + points) + density_points(2)


def test_a_better_fit_costs_the_one_who_stood_higher_a_skip() -> None:
    evening = Evening(Rules(policy="weighted"))
    older, fits = woman("older", min_age=30, max_age=50), woman("fits", min_age=20, max_age=40)
    evening.enter(older, fits, BEN)
    evening.spin("older")
    evening.advance(1)
    evening.spin("fits", "ben")
    assert evening.partner_of("ben") == "fits"
    assert evening.floor.pool.get("older").skips == 1
    evening.enter(man("dan"))
    evening.spin("dan")
    assert evening.partner_of("dan") == "older"
    evening.leave("dan")
    assert evening.floor.pool.get("older").skips == 0, "reset when paired"
    told = [each for each in evening.told("older") if isinstance(each, Matched)]
    assert len(told) == 1
    assert evening.seat("older").waiting_since == START
    assert after(START, 1) == evening.now


STRICT = [frozenset({"age"}), frozenset({"distance"}), frozenset({"age", "distance"})]


@BOTH_POLICIES
@pytest.mark.parametrize("strict", STRICT)
@pytest.mark.parametrize("whose", ["ana", "ben"])
def test_a_strict_limit_holds_past_every_edge(
    policy: PolicyName, strict: frozenset[StrictLimit], whose: str
) -> None:
    """One of the two is too old and too far; whose limits are strict does not matter."""
    evening = Evening(Rules(policy=policy))
    narrow = {"min_age": 25, "max_age": 29, "strict": strict}
    ana = replace(ANA, **narrow) if whose == "ana" else ANA
    ben = replace(BEN, lat=NORTH_70_KM, **(narrow if whose == "ben" else {}))
    evening.enter(ana, ben)
    evening.spin("ana", "ben")
    evening.advance(300)
    assert (evening.state("ana"), evening.state("ben")) == (State.WAITING, State.WAITING)
    assert _tiers_told(evening, whose) == [Tier.WIDER, Tier.FORCED]
    user = evening.floor.person(whose)
    evening.do(ev.ProfileChanged(whose, replace(user, strict=strict_limits(()))))
    assert evening.partner_of("ana") == "ben", "met as soon as the limit is no longer strict"


def test_a_limit_that_is_not_strict_widens_beside_one_that_is(evening: Evening) -> None:
    ana = replace(ANA, min_age=40, max_age=50, strict=frozenset({"distance"}))
    evening.enter(ana, replace(BEN, lat=52.6))
    evening.spin("ana", "ben")
    evening.advance(10)
    [row] = evening.store.quality.values()
    assert (row.a_tier, row.b_tier) == (Tier.FORCED, Tier.EXACT)


@pytest.mark.parametrize("fails", [0, 1, 3])
def test_a_birthday_that_a_strict_limit_waits_for_pairs_at_midnight(fails: int) -> None:
    """Ana turns 30 at midnight, and Ben has waited for that, also if the store fails then."""
    evening = Evening(now=HALF_A_MINUTE_TO_MIDNIGHT)
    evening.enter(
        replace(ANA, birth_date=date(1996, 1, 2)),
        replace(BEN, min_age=30, strict=frozenset({"age"})),
    )
    evening.spin("ana", "ben")
    evening.advance(29.999999)
    assert evening.state("ben") is State.WAITING
    midnight = after(evening.now, 0.000001)
    for _ in range(fails):
        evening.lobby.wake(midnight)
        evening.lobby.undo()
        assert evening.state("ben") is State.WAITING
    evening.advance(0.000001)
    assert evening.partner_of("ben") == "ana"


def test_a_clock_that_steps_over_a_birthday_pairs_at_once() -> None:
    evening = Evening(now=HALF_A_MINUTE_TO_MIDNIGHT)
    evening.enter(
        replace(ANA, birth_date=date(1996, 1, 2)),
        replace(BEN, min_age=30, strict=frozenset({"age"})),
    )
    evening.spin("ana", "ben")
    evening.advance(12)
    evening.now = after(evening.now, 3600)
    evening.lobby.step_clock(3_600_000_000, evening.now)
    evening.advance(0)
    assert evening.partner_of("ben") == "ana"


def test_nothing_is_due_at_midnight_when_nobody_waits() -> None:
    evening = Evening(now=HALF_A_MINUTE_TO_MIDNIGHT)
    evening.enter(ANA)
    evening.spin("ana")
    evening.leave("ana")
    evening.advance(86_400)
    assert evening.lobby.next_deadline() is None
