"""The pool finds what a plain scan of everybody finds (R10), on every path that a search can take.

`scan` is the written formula. The thresholds that choose between the paths (walking cells, years or
the whole group; sweeping over columns) are set small and large, so that small crowds take them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.domain.crowds import (
    EVERYONE,
    START,
    crowd_ids,
    crowds,
    man,
    person,
    ticket,
    tickets,
    tiers,
    woman,
)
from tests.domain.scan import STARVATION_S, bounds, fair_queue_order, priority, scan
from yoked_actor.domain.matching import (
    MOST_CREDIT,
    Apart,
    Choice,
    Numbers,
    Pool,
    Ticket,
    Tier,
    Tiers,
    Weighted,
    group,
    search,
)
from yoked_actor.domain.matching.fairness import FairQueue, Policy
from yoked_actor.domain.matching.pool import MOST_STALE_CHANGES
from yoked_actor.domain.people import StrictLimit
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after, from_datetime, utc_date

TIERS = Tiers.by(Rules())
NOBODY: frozenset[str] = frozenset()
POLICIES: dict[str, Policy] = {
    "fair_queue": FairQueue(STARVATION_S),
    "weighted": Weighted(),
}
policies = st.sampled_from(tuple(POLICIES))
both_policies = pytest.mark.parametrize("policy", POLICIES)

LATER_S = (0.0, 0.000001, 1.0, 30.0, 59.999999, 60.0, 4_999.0, 5_000.0, 86_400.0, 60 * 86_400.0)


@contextmanager
def _thresholds(walk: int, lines: int, cells: int, few: int) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_SHORT_WALK", walk)
        patch.setattr(search, "_MOST_LINES", lines)
        patch.setattr(search, "_MOST_CELLS", cells)
        patch.setattr(group, "_FEW", few)
        yield


thresholds = st.tuples(
    st.sampled_from((0, 1, 3, 10_000)),
    st.sampled_from((0, 4, 10_000)),
    st.sampled_from((0, 9, 100_000)),
    st.sampled_from((0, 2, 16)),
)


def _pool(policy: str, *all_tickets: Ticket, now: Instant = START) -> Pool:
    pool = Pool(POLICIES[policy], TIERS)
    for each in all_tickets:
        pool.put(each, now)
    return pool


def _choose(
    pool: Pool,
    seeker: Ticket,
    now: Instant = START,
    refused: frozenset[str] | set[str] = NOBODY,
    beyond: Tier | None = None,
) -> Choice | None:
    return pool.best_partner(
        seeker,
        TIERS.limits(seeker.person, seeker.tier),
        now,
        Apart((user_id, pool.numbers.of(user_id)) for user_id in sorted(refused)),
        None if beyond is None else TIERS.limits(seeker.person, beyond),
    )


def _check(
    pool: Pool,
    policy: str,
    held: list[Ticket],
    seeker: Ticket,
    now: Instant,
    refused: frozenset[str] | set[str] = NOBODY,
    beyond: Tier | None = None,
) -> Ticket | None:
    """The pool's choice, compared with the scan."""
    choice = _choose(pool, seeker, now, refused, beyond)
    if utc_date(seeker.waiting_since) != utc_date(now):
        beyond = None  # After midnight somebody's birthday may have changed what is known.
    best, passed = scan(
        policy,
        held,
        seeker.person,
        bounds(seeker.person, seeker.tier),
        now,
        lambda user_id: user_id != seeker.user_id and user_id not in refused,
        None if beyond is None else bounds(seeker.person, beyond),
    )
    assert (None if choice is None else choice.ticket) == best
    assert ([] if choice is None else choice.passed_over) == passed
    return best


@given(
    policy=policies,
    crowd=crowds(16),
    seeker=tickets("me"),
    refused=st.sets(st.sampled_from(crowd_ids(16)), max_size=5),
    later_s=st.sampled_from(LATER_S),
    in_pool=st.booleans(),
    beyond=st.one_of(st.none(), tiers),
    paths=thresholds,
)
def test_the_best_partner_is_the_best_of_a_full_scan(
    policy: str,
    crowd: list[Ticket],
    seeker: Ticket,
    refused: set[str],
    later_s: float,
    in_pool: bool,
    beyond: Tier | None,
    paths: tuple[int, int, int, int],
) -> None:
    everybody = [*crowd, seeker] if in_pool else crowd
    pool, now = _pool(policy, *everybody), after(START, later_s)
    with _thresholds(*paths):
        _check(pool, policy, everybody, seeker, now, refused, beyond)


@given(data=st.data(), policy=policies, seeker=tickets("me"), paths=thresholds)
def test_any_history_of_the_pool_leaves_what_a_dictionary_would_hold(
    data: st.DataObject, policy: str, seeker: Ticket, paths: tuple[int, int, int, int]
) -> None:
    pool, model, now = _pool(policy), dict[str, Ticket](), START
    with _thresholds(*paths):
        for user_id in data.draw(st.lists(st.sampled_from(crowd_ids(8)), max_size=25)):
            match data.draw(st.integers(0, 5)):
                case 0:
                    pool.discard(user_id)
                    model.pop(user_id, None)
                case 1 if user_id in model:
                    # As the lobby does it: one more skip, another tier, or both.
                    placed = model[user_id]
                    skips = placed.skips + data.draw(st.integers(0, 1))
                    place = placed.person, placed.waiting_since, placed.credit
                    placed = Ticket(*place, skips, data.draw(tiers))
                    pool.put(placed, now)
                    model[user_id] = placed
                case 2:
                    now = after(now, data.draw(st.sampled_from(LATER_S)))
                case 3:
                    _check(pool, policy, list(model.values()), seeker, now)
                case _:
                    placed = data.draw(tickets(user_id))
                    pool.put(placed, now)
                    model[user_id] = placed
            assert len(pool) == len(model)
            assert {each.user_id: each for each in pool.tickets()} == model
            assert (user_id in pool) == (user_id in model)
            assert pool.get(user_id) == model.get(user_id)
        _check(pool, policy, list(model.values()), seeker, now)
    for user_id in list(model):
        pool.discard(user_id)
    assert _choose(pool, seeker, now) is None
    assert pool._groups == {}, "an empty group is kept for ever"


@given(policy=policies, crowd=crowds(), later_s=st.sampled_from(LATER_S))
def test_several_at_once_are_tried_in_the_written_order(
    policy: str, crowd: list[Ticket], later_s: float
) -> None:
    pool, now = _pool(policy, *crowd), after(START, later_s)
    asked = [each.user_id for each in crowd] + ["not waiting"]
    if policy == "fair_queue":
        written = sorted(crowd, key=lambda each: fair_queue_order(each, now))
    else:
        written = sorted(crowd, key=lambda each: (-priority(each, now), each.user_id))
    assert pool.in_order(asked, now) == written


def _random_person(draw: Random, user_id: str, spread: float):
    """A person in one of a few towns, some of them across the date line from each other."""
    lat, lon = draw.choice(
        [(52.5, 13.4), (48.8, 2.3), (-17.8, 179.8), (-17.9, -179.7), (89.7, 5.0)]
    )
    youngest = draw.randint(18, 40)
    return person(
        user_id,
        draw.choice(["woman", "man", "nonbinary"]),
        draw.choice([EVERYONE, frozenset({"woman"}), frozenset({"man", "nonbinary"})]),
        birth_date=date(draw.randint(1960, 2006), draw.randint(1, 12), draw.randint(1, 28)),
        lat=max(-90.0, min(90.0, lat + draw.gauss(0, spread))),
        lon=(lon + draw.gauss(0, spread) + 180) % 360 - 180,
        min_age=youngest,
        max_age=youngest + draw.choice([0, 2, 10, 40]),
        max_distance_km=draw.choice([1.0, 20.0, 50.0, 200.0, 5_000.0]),
    )


def _random_ticket(draw: Random, user_id: str, spread: float = 0.3) -> Ticket:
    waited_s = draw.choice([30.0, 59.0, draw.uniform(0, 120), draw.uniform(4_900, 5_100)])
    return ticket(
        _random_person(draw, user_id, spread),
        waited_s,
        draw.choice([0, 0, 10, 50]),
        draw.choice([0, 0, 1, 7]),
        draw.choice([Tier.EXACT, Tier.WIDER, Tier.WIDEST, Tier.FORCED]),
    )


@both_policies
@pytest.mark.parametrize(
    "paths", [(160, 48, 400, 16), (0, 48, 400, 0), (2, 0, 0, 0), (10**6, 10**6, 10**6, 10**6)]
)
def test_crowds_of_hundreds_are_searched_exactly_on_every_path(
    policy: str, paths: tuple[int, int, int, int]
) -> None:
    draw = Random(f"{policy} {paths}")
    held = {f"u{number}": _random_ticket(draw, f"u{number}") for number in range(400)}
    pool, now, found = _pool(policy, *held.values()), START, 0
    with _thresholds(*paths):
        for number in range(120):
            now = after(now, draw.choice([0.0, 0.5, 7.0]))
            seeker = _random_ticket(draw, f"s{number}")
            refused = {user_id for user_id in held if draw.random() < draw.choice([0, 0.1, 0.9])}
            best = _check(pool, policy, list(held.values()), seeker, now, refused)
            if best is not None:
                found += 1
                pool.discard(best.user_id)
                del held[best.user_id]
            replaced = f"u{draw.randrange(400)}"
            held[replaced] = _random_ticket(draw, replaced)
            pool.put(held[replaced], now)
    assert found > 60


@both_policies
def test_a_crowd_of_thousands_is_searched_exactly(policy: str) -> None:
    draw = Random(f"thousands {policy}")
    held = {f"u{number}": _random_ticket(draw, f"u{number}") for number in range(5_000)}
    pool, now = _pool(policy, *held.values()), START
    for number in range(300):
        now = after(now, draw.choice([0.0, 0.5, 2.0]))
        seeker = _random_ticket(draw, f"s{number}")
        refused: set[str] = set()
        if number % 10 == 0:
            # Those at the head of the line have met the seeker before.
            heads = sorted(held.values(), key=lambda each: (each.waiting_since, -each.credit))
            refused = {each.user_id for each in heads[:2_500]}
        best = _check(pool, policy, list(held.values()), seeker, now, refused)
        if best is not None:
            pool.discard(best.user_id)
            del held[best.user_id]


@both_policies
@pytest.mark.parametrize("paths", [(160, 48, 400, 16), (0, 0, 0, 0)])
@pytest.mark.parametrize("refuse", [0, 1, 64, 300])
@pytest.mark.parametrize("apart_s", [0.0, 0.000001])
def test_in_a_burst_a_microsecond_decides_or_else_the_user_id(
    policy: str, paths: tuple[int, int, int, int], refuse: int, apart_s: float
) -> None:
    crowd = [
        ticket(woman(f"w{number:03d}"), 30.0 + (300 - number) * apart_s) for number in range(301)
    ]
    Random(1).shuffle(crowd)
    pool = _pool(policy, *crowd)
    refused = {f"w{number:03d}" for number in range(refuse)}
    with _thresholds(*paths):
        best = _check(pool, policy, crowd, ticket(man("me")), START, refused)
    assert best is not None
    assert best.user_id == f"w{refuse:03d}"


@both_policies
@pytest.mark.parametrize("paths", [(160, 48, 400, 16), (0, 0, 0, 0)])
def test_when_everyone_refuses_nobody_is_found(
    policy: str, paths: tuple[int, int, int, int]
) -> None:
    draw = Random(3)
    crowd = [_random_ticket(draw, f"u{number}") for number in range(500)]
    pool, seeker = _pool(policy, *crowd), ticket(man("me"), tier=Tier.FORCED)
    with _thresholds(*paths):
        everyone = {each.user_id for each in crowd}
        assert _check(pool, policy, crowd, seeker, START, everyone) is None


@both_policies
@pytest.mark.parametrize(
    ("km", "far_east"), [(0.01, 1e-7), (0.01, 1.4e-7), (0.01, 1e-5), (1e-9, 1e-14), (1e-9, 1e-11)]
)
def test_the_tiniest_distances_are_told_apart(policy: str, km: float, far_east: float) -> None:
    here = {"max_distance_km": km, "lat": 52.0, "lon": 13.0}
    crowd = [ticket(woman("at", **here), 1.0)]
    for number in range(1, 9):
        moved = {**here, "lon": 13.0 + number * far_east}
        crowd.append(ticket(woman(f"w{number}", **moved), 1.0 + number / 1e9))
    pool, seeker = _pool(policy, *crowd), ticket(man("me", **here))
    for paths in ((160, 48, 400, 16), (0, 0, 0, 0)):
        with _thresholds(*paths):
            _check(pool, policy, crowd, seeker, START)


def test_steps_of_nearness_finer_than_a_chord_can_tell_are_told_apart() -> None:
    for seed in range(200, 260):
        draw = Random(seed)
        km = 10 ** draw.uniform(-11, -7)
        lat, lon = draw.uniform(-80, 80), draw.uniform(-170, 170)
        crowd = []
        for number in range(6):
            north, east = (draw.uniform(-1, 1) * km / 111 for _ in range(2))
            who = woman(f"w{number}", lat=lat + north, lon=lon + east, max_distance_km=km)
            crowd.append(ticket(who, 1.0))
        me = ticket(man("me", lat=lat, lon=lon, max_distance_km=km))
        with _thresholds(0, 0, 0, 0):
            _check(_pool("weighted", *crowd), "weighted", crowd, me, START)


@both_policies
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((0.0, 180.0), (0.0, -179.9)),
        ((0.0, 180.0), (0.0, -180.0)),
        ((0.0, 179.9), (0.0, -179.9)),
        ((65.0, 179.9), (65.2, -179.2)),
        ((89.95, 0.0), (89.95, 180.0)),
        ((90.0, 0.0), (90.0, 77.0)),
        ((-89.9, 10.0), (-89.9, -170.0)),
        ((0.0, 0.0), (-0.3, -0.3)),
        ((48.0, 2.0), (47.6, 2.0)),
    ],
)
def test_neighbours_are_near_across_any_line_of_the_map(
    policy: str, one: tuple[float, float], other: tuple[float, float]
) -> None:
    for here, there in ((one, other), (other, one)):
        ana = ticket(woman("ana", lat=here[0], lon=here[1]), 1.0)
        me = ticket(man("me", lat=there[0], lon=there[1]))
        assert _check(_pool(policy, ana), policy, [ana], me, START) == ana


@both_policies
@pytest.mark.parametrize("km", [20_015.0, 20_015.08, 20_015.1, 20_015.2])
def test_antipodes_are_reached_by_those_who_would_go_so_far(policy: str, km: float) -> None:
    crowd = [
        ticket(woman(f"w{n}", lat=-10.0 + n * 1e-4, lon=-170.0, max_distance_km=25e3), 9.0 - n)
        for n in range(9)
    ]
    pool = _pool(policy, *crowd)
    seeker = ticket(man("me", lat=10.0, lon=10.0, max_distance_km=km))
    for paths in ((160, 48, 400, 16), (0, 0, 0, 0)):
        with _thresholds(*paths):
            _check(pool, policy, crowd, seeker, START)


@both_policies
@pytest.mark.parametrize("year", [1970, 1999, 2020, 2026, 2092, 2100])
@pytest.mark.parametrize("paths", [(160, 48, 400, 16), (0, 0, 0, 0)])
def test_the_clock_may_stand_anywhere(
    policy: str, year: int, paths: tuple[int, int, int, int]
) -> None:
    draw, now = Random(year), from_datetime(datetime(year, 2, 28, 23, 59, 59, tzinfo=UTC))
    moved = now - START
    crowd = []
    for number in range(300):
        each = _random_ticket(draw, f"u{number}")
        born = each.person.birth_date.replace(year=each.person.birth_date.year + year - 2026)
        credit = draw.choice([0, 50, MOST_CREDIT])
        crowd.append(
            Ticket(
                replace(each.person, birth_date=born),
                each.waiting_since + moved,
                credit,
                each.skips,
                each.tier,
            )
        )
    pool, found = _pool(policy, *crowd, now=now), 0
    with _thresholds(*paths):
        for _ in range(30):
            now = after(now, 1.0)
            seeker = draw.choice(crowd)
            found += _check(pool, policy, crowd, seeker, now) is not None
    assert found > 10


@both_policies
def test_a_birthday_counts_from_midnight_utc(policy: str) -> None:
    turns_30 = ticket(woman("ana", birth_date=date(1996, 1, 2)), 1.0)
    me = ticket(man("me", min_age=30, max_age=30))
    pool = _pool(policy, turns_30)
    midnight = from_datetime(datetime(2026, 1, 2, tzinfo=UTC))
    assert _check(pool, policy, [turns_30], me, midnight - 1) is None
    assert _check(pool, policy, [turns_30], me, midnight) == turns_30


def test_credit_goes_before_a_longer_wait_until_the_starvation_edge() -> None:
    me = ticket(man("me"))
    rich, old = ticket(woman("rich"), 1.0, credit=50), ticket(woman("old"), 59.999999)
    pool = _pool("fair_queue", rich, old)
    assert _check(pool, "fair_queue", [rich, old], me, START) == rich
    assert _check(pool, "fair_queue", [rich, old], me, START + 1) == old


def test_of_two_starved_the_older_goes_first_whatever_their_credit() -> None:
    me = ticket(man("me"))
    rich, old = ticket(woman("rich"), 61.0, credit=50), ticket(woman("old"), 62.0)
    pool = _pool("fair_queue", rich, old)
    assert _check(pool, "fair_queue", [rich, old], me, START) == old


def test_the_most_credit_does_not_go_before_the_starved() -> None:
    me = ticket(man("me"))
    rich, old = ticket(woman("rich"), 1.0, credit=MOST_CREDIT), ticket(woman("old"), 60.0)
    pool = _pool("fair_queue", rich, old)
    assert _check(pool, "fair_queue", [rich, old], me, START) == old


def test_a_full_boost_is_overtaken_by_points_that_still_grow() -> None:
    me = ticket(man("me"))
    full, grows = ticket(woman("full"), 5_400.0), ticket(woman("grows"), 4_950.0, credit=6)
    pool, held = _pool("weighted", full, grows), [full, grows]
    assert _check(pool, "weighted", held, me, START) == full
    assert _check(pool, "weighted", held, me, after(START, 60)) == grows


@pytest.mark.parametrize("paths", [(160, 32, 400, 16), (0, 0, 0, 0)])
def test_a_better_fit_wins_and_those_passed_over_for_it_are_named(
    paths: tuple[int, int, int, int],
) -> None:
    me = ticket(man("me", min_age=20, max_age=40))
    fits = ticket(woman("fits", min_age=20, max_age=40), 10.0)
    # Eleven points for each tenth of a second more: less than the fit brings.
    waits = ticket(woman("waits", min_age=30, max_age=50), 11.0)
    too_far = ticket(woman("too_far", min_age=20, max_age=40, lat=60.0), 12.0)
    pool = _pool("weighted", fits, waits, too_far)
    with _thresholds(*paths):
        choice = _choose(pool, me)
    assert choice is not None
    assert (choice.ticket, choice.passed_over) == (fits, ["waits"])


@pytest.mark.parametrize("paths", [(160, 32, 400, 16), (3, 32, 400, 2), (0, 0, 0, 0)])
def test_among_rivals_whom_only_the_fit_tells_apart_all_passed_over_are_named(
    paths: tuple[int, int, int, int],
) -> None:
    draw, held = Random(f"rivals {paths}"), dict[str, Ticket]()
    for number in range(300):
        youngest, lat = draw.randint(18, 32), 52.52 + draw.gauss(0, 0.2)
        who = woman(f"w{number}", min_age=youngest, max_age=youngest + 20, lat=lat)
        held[who.user_id] = ticket(who, draw.uniform(0, 8))
    pool, passed = _pool("weighted", *held.values()), 0
    with _thresholds(*paths):
        for number in range(60):
            youngest = draw.randint(18, 30)
            me = ticket(man(f"m{number}", min_age=youngest, max_age=youngest + 15))
            refused = {user_id for user_id in held if draw.random() < 0.5}
            best = _check(pool, "weighted", list(held.values()), me, START, refused)
            assert best is not None
            choice = _choose(pool, me, START, refused)
            assert choice is not None
            passed += len(choice.passed_over)
            pool.discard(best.user_id)
            del held[best.user_id]
    assert passed > 100


def test_one_who_is_forced_accepts_whoever_comes_from_anywhere() -> None:
    far = ticket(woman("far", lat=-33.9, lon=151.2, min_age=60, max_age=61), 10.0, tier=Tier.FORCED)
    me = ticket(man("me", max_distance_km=25_000.0))
    for policy in POLICIES:
        assert _check(_pool(policy, far), policy, [far], me, START) == far
        nearby = ticket(man("me", max_distance_km=50.0))
        assert _check(_pool(policy, far), policy, [far], nearby, START) is None


def test_nobody_is_offered_who_does_not_seek_the_seeker() -> None:
    me = ticket(man("me"))
    crowd = ticket(person("ana", "woman", "woman")), ticket(person("ben", "man", "man"))
    for policy in POLICIES:
        assert _choose(_pool(policy, *crowd), me) is None


def test_a_ticket_that_is_put_again_replaces_the_one_before() -> None:
    before, now = ticket(woman("ana"), 5.0), ticket(person("ana", "woman", "woman"), 5.0)
    pool = _pool("fair_queue", before, now)
    assert len(pool) == 1
    assert _choose(pool, ticket(man("me"))) is None


@both_policies
def test_the_changes_that_a_pool_awaits_are_bounded_by_those_who_are_in_it(policy: str) -> None:
    """However often users come and go: a weighted ticket's change is 5,000 s away."""
    pool, now = Pool(POLICIES[policy], TIERS), START
    for number in range(50):
        pool.put(Ticket(woman(f"stays{number:02}"), now), now)
    for _ in range(3_000):
        pool.put(Ticket(man("ben"), now), now)
        pool.discard("ben")
        now = after(now, 0.01)
    assert len(pool._changes) <= 2 * len(pool) + MOST_STALE_CHANGES


@both_policies
def test_a_user_who_came_and_went_often_moves_up_when_their_time_has_come(policy: str) -> None:
    pool, now = Pool(POLICIES[policy], TIERS), START
    pool.put(Ticket(woman("ana"), now), now)
    for _ in range(500):
        pool.discard("bea")
        pool.put(Ticket(woman("bea"), now, credit=1), now)
    later = after(now, 6_000)
    seeker = Ticket(man("carl"), later)
    found = pool.best_partner(seeker, TIERS.limits(seeker.person, Tier.FORCED), later, Apart())
    expected = pool.in_order(["ana", "bea"], later)[0]
    assert found is not None
    assert found.ticket == expected
    assert pool._changes == []


def _a_town(size: int, draw: Random) -> list[Ticket]:
    """Women of one town: most suit the seeker by age and distance, with any wait and credit."""
    return [
        ticket(
            woman(
                f"w{number}",
                birth_date=date(draw.randint(1985, 2004), draw.randint(1, 12), 1),
                lat=52.52 + draw.uniform(-0.3, 0.3),
                min_age=draw.randint(18, 30),
                strict=draw.choice([frozenset(), frozenset({"age"}), frozenset({"distance"})]),
            ),
            draw.choice([1.0, 59.0, 61.0, 5_001.0, draw.uniform(0, 300)]),
            draw.choice([0, 0, 10, 50]),
            tier=draw.choice(list(Tier)),
        )
        for number in range(size)
    ]


@both_policies
@pytest.mark.parametrize("strict", [frozenset(), frozenset({"age", "distance"})])
def test_a_user_who_has_met_almost_everybody_gets_the_best_of_the_rest(
    policy: str, strict: frozenset[StrictLimit]
) -> None:
    """The best are met first, one batch after another, until nobody is left."""
    draw = Random(policy)
    crowd = _a_town(600, draw)
    pool = _pool(policy, *crowd)
    for tier in (Tier.EXACT, Tier.FORCED):
        me = ticket(man("me", min_age=22, max_age=38, strict=strict), tier=tier)
        met: set[str] = set()
        while (best := _check(pool, policy, crowd, me, START, met)) is not None:
            left = [each.user_id for each in crowd if each.user_id not in met]
            met |= {best.user_id, *draw.sample(left, min(len(left), 90))}
        assert len(met) > 300


@both_policies
def test_users_who_come_and_go_get_numbers_that_are_not_mixed_up(policy: str) -> None:
    """A released number is given to another user, who is kept apart from nobody."""
    draw = Random(policy)
    crowd = {each.user_id: each for each in _a_town(300, draw)}
    pool = _pool(policy, *crowd.values())
    me = ticket(man("me"), tier=Tier.FORCED)
    for round_ in range(20):
        for user_id in draw.sample(sorted(crowd), 40):
            pool.discard(user_id)
            pool.numbers.release(user_id)
            del crowd[user_id]
        for each in _a_town(40, draw):
            person = replace(each.person, user_id=f"{each.user_id}-{round_}")
            new = Ticket(person, each.waiting_since, each.credit, each.skips, each.tier)
            crowd[new.user_id] = new
            pool.put(new, START)
        refused = set(draw.sample(sorted(crowd), draw.choice([0, 1, 250, len(crowd)])))
        _check(pool, policy, list(crowd.values()), me, START, refused)


@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(crowd_ids(30)), st.integers(1, 30)), max_size=60
    )
)
def test_apart_is_a_set_with_numbers(changes: list[tuple[bool, str, int]]) -> None:
    numbers, apart, expected = Numbers(), Apart(), set[str]()
    everyone = crowd_ids(30)
    for user_id in everyone:
        numbers.of(user_id)
    for adds, user_id, rows in changes:
        if adds:
            apart.add(user_id, numbers.of(user_id))
            expected.add(user_id)
        else:
            apart.discard(user_id)
            expected.discard(user_id)
        assert set(apart) == expected
        assert len(apart) == len(expected)
        assert all((one in apart) == (one in expected) for one in everyone)
        column = np.array([numbers.of(one) for one in everyone[:rows]], np.int32)
        assert apart.free_of(column).tolist() == [one not in expected for one in everyone[:rows]]
