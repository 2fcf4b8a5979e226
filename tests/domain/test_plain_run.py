"""`make_run` gives what it gave before shortlists: sets of earlier versions verify (R42)."""

from __future__ import annotations

import random
from datetime import date

import pytest

from tests.domain import plain_run as oracle
from yoked_actor.domain.offers import FrozenPool, OfferRules, Votes, freeze, frozen_person, make_run
from yoked_actor.domain.offers import candidates as candidates_module
from yoked_actor.domain.offers import shortlists as shortlists_module
from yoked_actor.domain.offers import zone_run as zone_run_module
from yoked_actor.domain.people import Person

DAY = date(2026, 3, 1)
AT = 1_772_352_000_000_000
CITIES = ((52.5, 13.4), (48.1, 11.6), (-41.3, 174.8), (89.9, 0.0), (0.0, 179.9))
GENDERS = ("woman", "man", "other")


def crowd(rng: random.Random, size: int, tags: int, cities: int) -> list[Person]:
    """Different people, some of them minors, some of them far from everybody."""
    people = []
    for n in range(size):
        lat, lon = rng.choice(CITIES[:cities])
        age = rng.randint(16, 70)
        people.append(
            Person(
                user_id=f"{rng.choice('abc')}{n}",
                display_name="",
                birth_date=date(2026 - age, rng.randint(1, 12), rng.randint(1, 28)),
                gender=rng.choice(GENDERS[:2] if rng.random() < 0.9 else GENDERS),
                lat=max(-90.0, min(90.0, lat + rng.gauss(0, 0.3))),
                lon=(lon + rng.gauss(0, 0.4) + 180) % 360 - 180,
                time_zone="Europe/Berlin",
                interests=tuple(f"tag{rng.randint(0, tags)}" for _ in range(rng.randint(0, 8))),
                seeking=frozenset(rng.sample(GENDERS, rng.randint(1, 2))),
                min_age=rng.choice((18, 18, max(18, age - 10))),
                max_age=rng.choice((99, 120, max(18, age + 5))),
                max_distance_km=float(rng.choice((5, 25, 100, 300, 5000, 20_000))),
            )
        )
    return people


def some_pool(rng: random.Random, size: int, *, tags: int = 12, cities: int = 2) -> FrozenPool:
    people = crowd(rng, size, tags, cities)
    ids = [one.user_id for one in people]

    def pairs(count: int) -> list[tuple[str, str]]:
        return [(rng.choice(ids), rng.choice(ids)) for _ in range(count)]

    def votes() -> Votes:
        given, got = rng.randint(0, 60), rng.randint(0, 60)
        return Votes(rng.randint(0, given), given, rng.randint(0, got), got)

    return freeze(
        *("Europe/Berlin", DAY, AT, AT + 86_400_000_000),
        [frozen_person(one, receives=rng.random() < 0.9, votes=votes()) for one in people],
        apart=pairs(size * 3),
        not_again=pairs(size * 5),
        accepted=pairs(size * 2),
    )


def assert_same(pool: FrozenPool, rules: OfferRules) -> None:
    made = {user_id: one.offers for user_id, one in make_run(pool, rules).items()}
    assert made == oracle.plain_run(pool, rules)
    assert any(made.values()) or len(made) < 3


@pytest.mark.parametrize("seed", range(12))
def test_a_run_is_the_same_as_receiver_by_receiver(seed: int) -> None:
    rng = random.Random(seed)
    rules = OfferRules(
        daily_offer_count=rng.choice((1, 5, 8)),
        max_daily_exposure=rng.choice((1, 3, 10)),
        scoring=rng.choice(("v1", "v2")),
    )
    tags, cities = rng.choice((3, 12, 2_000)), rng.choice((1, 2, 5))
    assert_same(some_pool(rng, rng.choice((2, 60, 300)), tags=tags, cities=cities), rules)


@pytest.mark.parametrize("seed", range(6))
def test_a_run_is_the_same_when_few_are_checked_and_shortlists_run_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(100 + seed)
    for module in (candidates_module, oracle):
        monkeypatch.setattr(module, "MOST_CHECKED", rng.choice((7, 20)))
        rng.seed(100 + seed)
    monkeypatch.setattr(shortlists_module, "LENGTH", rng.choice((1, 6)))
    monkeypatch.setattr(shortlists_module, "_COMPARED_AT_ONCE", 50)
    monkeypatch.setattr(zone_run_module, "_AT_ONCE", 40)
    rules = OfferRules(max_daily_exposure=2 + seed % 3)
    assert_same(some_pool(rng, 250, tags=400, cities=1 + seed % 2), rules)


def test_a_run_of_a_dense_city_is_the_same() -> None:
    rng = random.Random(7)
    pool = some_pool(rng, 6_000, cities=1)
    assert len(pool.people) > 2 * candidates_module.MOST_CHECKED
    assert_same(pool, OfferRules())
