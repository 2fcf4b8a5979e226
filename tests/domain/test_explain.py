"""`explain`, compared with a plain scan of all waiting users."""

from __future__ import annotations

from collections.abc import Set
from datetime import date
from math import ceil, nextafter
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START, crowds, man, person, ticket, tickets, woman
from tests.domain.evening import Evening, refused_with
from yoked_actor.domain.lobby import (
    Code,
    Explanation,
    Floor,
    Refusal,
    Seat,
    State,
    explain,
    nothing_between,
)
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby.records import Line, Presence
from yoked_actor.domain.matching import (
    Limits,
    Rejections,
    Relaxation,
    StrictCost,
    Ticket,
    Tier,
    attracted,
)
from yoked_actor.domain.matching.compatibility import admits_age, admits_distance
from yoked_actor.domain.people import WITHOUT_SECRET, Person, StrictLimit, age_at, band_km
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import after


def floor_with(waiting: list[Ticket]) -> Floor:
    """A floor on which these users wait, without attempts."""
    floor = Floor(Rules())
    floor.now = START
    for one in waiting:
        user_id = one.user_id
        floor.people.put(user_id, one.person)
        floor.lines.put(user_id, Line(one.tier, one.skips))
        floor.seats.put(user_id, Seat(user_id))
        floor.put_presence(user_id, Presence(device=1))
        floor.put_seat(Seat(user_id, State.WAITING, one.waiting_since, one.credit))
    floor.pool.admit(START)
    return floor


def scanned(floor: Floor, mine: Ticket) -> tuple[int, Rejections, Relaxation | None]:
    """What `explain` documents, computed user by user."""
    counts = {"seeking": 0, "history": 0, "age": 0, "distance": 0}
    own = floor.tiers.limits(mine.person, mine.tier)
    years: list[int] = []
    kms: list[float] = []
    others = [one for one in floor.pool.tickets() if one.user_id != mine.user_id]
    for other in others:
        theirs = floor.tiers.limits(other.person, other.tier)
        km = floor.places.km(mine.person, other.person, START)
        wanted = admits_age(own, other.person, START)
        wants = admits_age(theirs, mine.person, START)
        near = admits_distance(own, km)
        near_them = admits_distance(theirs, km)
        if not attracted(mine.person, other.person):
            counts["seeking"] += 1
            continue
        if not nothing_between(floor, mine, other, START):
            counts["history"] += 1
            continue
        if not (wanted and wants):
            counts["age"] += 1
        elif not (near and near_them):
            counts["distance"] += 1
        if wants and near_them and near and not wanted:
            age = age_at(other.person, START)
            years.append(max(own.min_age - age, age - own.max_age))
        if wants and near_them and wanted and not near:
            kms.append(km)
    return len(others), Rejections(**counts), nearest_of(own, years, kms)


def cost_of(floor: Floor, mine: Ticket, limit: StrictLimit) -> int:
    """How many could be met, sooner or later, only if this limit of one user were not strict."""
    me = mine.person
    if limit not in me.strict:
        return 0

    def keep_apart(one: Person, other: Person, strict: Set[StrictLimit]) -> bool:
        """Whether these limits of one user do not admit another, at the shown places."""
        years, km = age_at(other, START), floor.places.km(one, other, START)
        too_young_or_old = not one.min_age <= years <= one.max_age
        return ("age" in strict and too_young_or_old) or (
            "distance" in strict and km > one.max_distance_km
        )

    return sum(
        other.user_id != me.user_id
        and attracted(me, other.person)
        and nothing_between(floor, mine, other, START)
        and not keep_apart(other.person, me, other.person.strict)
        and not keep_apart(me, other.person, me.strict - {limit})
        and keep_apart(me, other.person, me.strict)
        for other in floor.pool.tickets()
    )


def nearest_of(own: Limits, years: list[int], kms: list[float]) -> Relaxation | None:
    options: list[tuple[float, int, Relaxation]] = []
    if years:
        by = min(years)
        gives = sum(1 for year in years if year <= by)
        share = by / (own.max_age - own.min_age + 1)
        options.append((share, 0, Relaxation("age", by, "years", gives)))
    if kms:
        by = max(1, ceil(band_km(min(kms)) - own.max_km))
        gives = sum(1 for km in kms if km <= own.max_km + by)
        options.append((by / own.max_km, 1, Relaxation("distance", by, "km", gives)))
    return min(options, key=lambda option: option[:2])[2] if options else None


def explained(floor: Floor, user_id: str) -> Explanation:
    reply = explain(floor, user_id, START)
    assert isinstance(reply, Explanation), reply
    return reply


@st.composite
def floors(draw: st.DrawFn) -> tuple[Floor, Ticket]:
    """A floor with blocks, meetings and bars, and the user who asks."""
    mine = draw(tickets("me"))
    floor = floor_with([mine, *draw(crowds())])
    for other in sorted(one.user_id for one in floor.pool.tickets() if one.user_id != "me"):
        match draw(st.integers(0, 9)):
            case 0:
                floor.acquaintance.block("me", other, START)
            case 1:
                floor.acquaintance.block(other, "me", START)
            case 2:
                floor.acquaintance.meet("me", other, START)
            case 3:
                floor.acquaintance.bar("me", other, after(START, 60))
            case 4:
                floor.acquaintance.block("me", other, START)
                floor.acquaintance.unblock("me", other)
    return floor, mine


@given(floors())
def test_the_counts_are_those_of_a_plain_scan(drawn: tuple[Floor, Ticket]) -> None:
    floor, mine = drawn
    reply = explained(floor, "me")
    pool, rejected_by, nearest = scanned(floor, mine)
    assert (reply.pool, reply.rejected_by, reply.nearest) == (pool, rejected_by, nearest)
    assert reply.tier is mine.tier
    costs = StrictCost(cost_of(floor, mine, "age"), cost_of(floor, mine, "distance"))
    assert reply.strict == costs


def test_everybody_is_counted_once_by_the_first_that_rejects() -> None:
    far = {"lat": 48.1, "lon": 11.6}
    old = {"birth_date": date(1950, 1, 1)}
    me = woman("me", min_age=25, max_age=35)
    floor = floor_with(
        [
            ticket(me),
            ticket(woman("w", **far, **old)),
            ticket(man("met", **far, **old)),
            ticket(man("old", **far, **old)),
            ticket(man("choosy", min_age=60, **far)),
            ticket(man("far", **far)),
            ticket(man("homebody", lat=52.6, lon=13.5, max_distance_km=1.0)),
            ticket(man("fine")),
        ]
    )
    floor.acquaintance.meet("me", "met", START)
    reply = explained(floor, "me")
    assert reply.pool == 7
    assert reply.rejected_by == Rejections(seeking=1, history=1, age=2, distance=2)


@pytest.mark.parametrize("how", ["met", "blocked", "was blocked", "barred"])
def test_nobody_can_read_from_it_that_they_were_blocked(how: str) -> None:
    floor = floor_with([ticket(woman("me")), ticket(man("him"))])
    match how:
        case "met":
            floor.acquaintance.meet("me", "him", START)
        case "blocked":
            floor.acquaintance.block("me", "him", START)
        case "was blocked":
            floor.acquaintance.block("him", "me", START)
        case "barred":
            floor.acquaintance.bar("him", "me", after(START, 60))
    reply = explained(floor, "me")
    assert reply.rejected_by == Rejections(0, 1, 0, 0)
    assert reply.nearest is None


def test_the_nearest_change_is_the_smaller_share_of_what_is_wanted_now() -> None:
    me = woman("me", min_age=26, max_age=35, max_distance_km=100.0)
    young = [man(f"young{n}", birth_date=date(2001, 12, 30)) for n in "ab"]
    hamburg = man("hamburg", lat=53.55, lon=10.0, max_distance_km=1000.0)
    floor = floor_with([ticket(me), *(ticket(who) for who in (*young, hamburg))])
    # Two years of ten are less than 400 km of 100: Hamburg is told to be within 500 km.
    assert explained(floor, "me").nearest == Relaxation("age", 2, "years", 2)
    for who in young:
        floor.pool.discard(who.user_id)
    floor.explained.clear()
    assert explained(floor, "me").nearest == Relaxation("distance", 400, "km", 1)


def test_no_change_of_ones_own_limits_admits_somebody_who_would_not_have_you() -> None:
    floor = floor_with([ticket(woman("me")), ticket(man("him", min_age=60))])
    assert explained(floor, "me").nearest is None


def test_past_the_forced_edge_there_is_nothing_left_to_relax() -> None:
    far = man("far", lat=-33.9, lon=151.2)
    floor = floor_with([ticket(woman("me"), 20, tier=Tier.FORCED), ticket(far)])
    reply = explained(floor, "me")
    assert (reply.rejected_by.distance, reply.nearest, reply.next_tier_in_s) == (1, None, None)


def test_a_strict_limit_costs_those_whom_it_alone_keeps_away() -> None:
    far = {"lat": 53.55, "lon": 10.0}
    old = {"birth_date": date(1950, 1, 1)}
    wide = {"max_distance_km": 900.0}
    crowd = [
        ticket(man("fine", **wide)),
        ticket(man("old", **old, **wide)),
        ticket(man("older", birth_date=date(1940, 1, 1), **wide)),
        ticket(man("far", **far, **wide)),
        ticket(man("far_homebody", **far)),
        ticket(man("far_and_strict", **far, strict=frozenset({"distance"}))),
        ticket(man("far_and_old", **far, **old, **wide)),
        ticket(man("old_and_met", **old, **wide)),
    ]

    def cost(tier: Tier, *strict: StrictLimit) -> StrictCost:
        me = woman("me", min_age=25, max_age=35, strict=frozenset(strict))
        floor = floor_with([ticket(me, tier=tier), *crowd])
        floor.acquaintance.meet("me", "old_and_met", START)
        return explained(floor, "me").strict

    for tier in Tier:
        assert cost(tier) == StrictCost(0, 0)
        assert cost(tier, "age") == StrictCost(3, 0), "a limit that widens does not count"
        assert cost(tier, "distance") == StrictCost(0, 3)
        assert cost(tier, "age", "distance") == StrictCost(2, 2)


def test_times_are_told_and_the_next_tier_is_announced() -> None:
    evening = Evening()
    evening.enter(woman("ana"))
    evening.spin("ana")
    seen = []
    for pause_s in (0.5, 2.5, 8.0):
        evening.advance(pause_s)
        reply = evening.do(ev.Explain("ana"))
        assert isinstance(reply, Explanation)
        seen.append((reply.waiting_s, reply.tier, reply.next_tier_in_s, reply.pool))
    assert seen == [(0.5, 1, 1.5, 0), (3.0, 2, 7.0, 0), (11.0, 99, None, 0)]


def test_a_user_who_does_not_wait_is_told_so() -> None:
    evening = Evening()
    evening.pair(woman("ana"), man("ben"))
    evening.enter(woman("idle"))
    assert refused_with(evening.do(ev.Explain("idle"))) == Code.WRONG_STATE
    assert refused_with(evening.do(ev.Explain("ana"))) == Code.WRONG_STATE


def test_a_count_is_good_for_a_second_and_the_wait_is_fresh() -> None:
    evening = Evening()
    evening.enter(woman("ana"), woman("eva"), woman("ida"))
    evening.spin("ana")

    def ask() -> tuple[float, int]:
        reply = evening.do(ev.Explain("ana"))
        assert isinstance(reply, Explanation)
        return reply.waiting_s, reply.pool

    assert ask() == (0.0, 0)
    evening.spin("eva")
    evening.advance(0.5)
    assert ask() == (0.5, 0)
    evening.advance(0.5)
    assert ask() == (1.0, 1)
    evening.spin("ida")
    assert ask() == (1.0, 1)
    # Whoever changes what they want is counted for anew.
    evening.do(ev.ProfileChanged("ana", woman("ana", max_age=40)))
    assert ask() == (1.0, 2)


def test_what_was_counted_in_a_round_that_is_undone_is_not_kept() -> None:
    evening = Evening()
    evening.enter(woman("ana"), woman("eva"))
    evening.spin("ana")
    evening.lobby.handle(ev.Spin("eva"), evening.now)
    counted = evening.lobby.handle(ev.Explain("ana"), evening.now).reply
    assert isinstance(counted, Explanation)
    assert counted.pool == 1
    evening.lobby.undo()
    reply = evening.do(ev.Explain("ana"))
    assert isinstance(reply, Explanation)
    assert reply.pool == 0


def test_one_who_is_just_away_is_told_as_well() -> None:
    evening = Evening()
    evening.enter(woman("ana"), woman("eva"))
    evening.spin("ana", "eva")
    evening.detach("ana")
    reply = evening.do(ev.Explain("ana"))
    assert not isinstance(reply, Refusal)
    assert isinstance(reply, Explanation)
    assert reply.pool == 1


def test_a_hundred_thousand_are_counted_in_a_moment() -> None:
    waiting = [ticket(woman("me", min_age=20, max_age=40, max_distance_km=20.0))]
    for number in range(100_000):
        born = date(1950 + number % 55, 1 + number % 12, 1 + number % 28)
        lat, lon = 40 + number % 997 / 50, number % 991 / 40
        waiting.append(
            ticket(man(f"m{number}", birth_date=born, lat=lat, lon=lon, max_distance_km=900.0))
        )
    floor = floor_with(waiting)
    began = perf_counter()
    reply = explained(floor, "me")
    took = perf_counter() - began
    assert reply.pool == 100_000
    assert reply.nearest is not None
    # A few milliseconds; the bound only tells one pass from a hundred thousand looks.
    assert took < 0.1, took


def test_an_explanation_of_a_crowd_of_one_gender_leaves_out_the_one_who_asks() -> None:
    floor = floor_with([ticket(person("me")), ticket(person("you"))])
    reply = explained(floor, "me")
    assert (reply.pool, reply.rejected_by) == (1, Rejections(0, 0, 0, 0))


@pytest.mark.parametrize("whose", ["mine", "theirs"])
def test_the_edge_of_a_limit_is_measured_exactly(whose: str) -> None:
    place = {"lat": 52.6, "lon": 13.5}
    km = WITHOUT_SECRET.km(woman("me"), man("him", **place), START)
    for limit, rejected in ((km, 0), (nextafter(km, 0), 1)):
        mine, theirs = (limit, 50.0) if whose == "mine" else (50.0, limit)
        me, him = woman("me", max_distance_km=mine), man("him", max_distance_km=theirs, **place)
        floor = floor_with([ticket(me), ticket(him)])
        assert explained(floor, "me").rejected_by == Rejections(0, 0, 0, rejected)
