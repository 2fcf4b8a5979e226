"""Crowds of waiting users for the pairing benchmark, and the plain scan it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from random import Random

from yoked_actor.domain.matching import Apart, Limits, Ticket, Tier, Tiers, admits, attracted
from yoked_actor.domain.matching.fairness import EPOCH, Policy
from yoked_actor.domain.people import Person, age_at, distance_km
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import MICROSECONDS, Instant

NOW: Instant = 1_800_000_000 * MICROSECONDS
TIERS = Tiers.by(Rules())
CROWDS = {
    "ordinary": "twenty towns, limits of 20-200 km and 4-20 years, waits of up to an hour",
    "picky": "as ordinary, but everybody wants their own age, give or take a year",
    "one-sided": "as ordinary, but nine of ten are men",
    "far-apart": "scattered over the globe, and nobody goes further than 20 km",
    "mixed": "as ordinary, but of three genders who seek any one, two or three of them",
    "forced": "as ordinary, but everybody is past the forced edge and accepts anybody",
    "burst": "as ordinary, but all have waited equally long, with equal credit and skips",
    "met-best": "as ordinary, but the seeker has met the thousand best who are acceptable",
    "refused": "as ordinary, but something stands between the seeker and everyone",
}
MET = 1_000
_TOWNS = [
    *[(52.5, 13.4), (48.8, 2.3), (51.5, -0.1), (40.4, -3.7), (41.9, 12.5), (59.3, 18.0)],
    *[(40.7, -74.0), (34.0, -118.2), (35.6, 139.7), (-33.8, 151.2), (19.4, -99.1)],
    *[(-23.5, -46.6), (28.6, 77.2), (1.35, 103.8), (55.7, 37.6), (30.0, 31.2)],
    *[(6.5, 3.4), (-26.2, 28.0), (37.5, 127.0), (31.2, 121.4)],
]


def anybody(draw: Random, user_id: str, crowd: str) -> Person:
    """A user of a crowd."""
    if crowd == "far-apart":
        lat, lon, km = draw.uniform(-60, 70), draw.uniform(-180, 180), draw.uniform(5, 20)
    else:
        lat, lon = draw.choice(_TOWNS)
        lat, lon = lat + draw.gauss(0, 0.2), lon + draw.gauss(0, 0.25)
        km = draw.choice((20.0, 50.0, 100.0, 200.0))
    age = min(70, max(18, int(draw.gauss(32, 9))))
    younger, older = (1, 1) if crowd == "picky" else (draw.randint(2, 10), draw.randint(2, 10))
    is_man = draw.random() < (0.9 if crowd == "one-sided" else 0.5)
    gender, seeking = ("man", {"woman"}) if is_man else ("woman", {"man"})
    if crowd == "mixed":
        genders = ("woman", "man", "nonbinary")
        gender, seeking = draw.choice(genders), set(draw.sample(genders, draw.randint(1, 3)))
    return Person(
        user_id=user_id,
        display_name="Somebody",
        birth_date=date(2027, 1, 1) - timedelta(days=age * 365 + draw.randint(10, 350)),
        gender=gender,
        lat=lat,
        lon=lon,
        time_zone="UTC",
        interests=(),
        seeking=frozenset(seeking),
        min_age=max(18, age - younger),
        max_age=age + older,
        max_distance_km=km,
    )


def waiting(crowd: str, size: int, seed: int) -> list[Ticket]:
    """The tickets of a crowd. Unless forced, long waits are in tier 3."""
    draw = Random(f"{crowd} {seed}")
    found = []
    for number in range(size):
        who = anybody(draw, f"u{number}", crowd)
        if crowd == "burst":
            found.append(Ticket(who, NOW - 30 * MICROSECONDS, tier=Tier.WIDEST))
            continue
        since = NOW - round(draw.uniform(0, 3600) * MICROSECONDS)
        tier = min(Tier.WIDEST, TIERS.tier_at(since, NOW))
        if crowd == "forced":
            since, tier = since - 10 * MICROSECONDS, Tier.FORCED
        credit, skips = draw.choice((0, 0, 0, 10, 20)), draw.choice((0, 0, 0, 1, 2))
        found.append(Ticket(who, since, credit, skips, tier))
    return found


def joining(crowd: str, count: int, seed: int) -> list[Ticket]:
    """Users of a crowd who have just spun."""
    draw = Random(f"{crowd} joins {seed}")
    return [Ticket(anybody(draw, f"s{number}", crowd), NOW) for number in range(count)]


def plain_scan(
    policy: Policy,
    tickets: Sequence[Ticket],
    seeker: Ticket,
    limits: Limits,
    apart: Apart,
) -> list[tuple[int, str, Ticket]]:
    """All acceptable users: (minus total, user id, ticket), in no order."""
    found = []
    me, my_age = seeker.person, age_at(seeker.person, NOW)
    for ticket in tickets:
        who = ticket.person
        if not attracted(me, who):
            continue
        km = distance_km(me, who)
        if not admits(limits, who, km, NOW):
            continue
        if not admits(TIERS.limits(who, ticket.tier), me, km, NOW) or who.user_id in apart:
            continue
        standing = policy.standing(ticket, NOW)
        total = standing.key + policy.slopes[standing.phase] * (NOW - EPOCH)
        total += policy.pair_terms(me, my_age, who, age_at(who, NOW), km)
        found.append((-total, who.user_id, ticket))
    return found
