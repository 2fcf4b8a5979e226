"""Making matches: attempts in the order of the policy, each for the best of all partners (R9).

A seeker searches inside the limits of its own tier. Past the forced edge it searches inside those
of tier 3 first, and only then without limits, except the strict ones. A candidate accepts by their
own tier.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.lobby.constants import STATUS_MATCHED
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import Cause
from yoked_actor.domain.lobby.machine.calls import stop_call
from yoked_actor.domain.lobby.machine.moves import move
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import Matched
from yoked_actor.domain.lobby.records import CallEnd, Match, Quality
from yoked_actor.domain.matching import (
    POINT,
    Apart,
    Choice,
    Limits,
    Ticket,
    Tier,
    Weighted,
    admits,
    age_fit,
    attracted,
    both_adults,
    density_points,
    group_of,
    nearness,
    terms_of,
)
from yoked_actor.domain.people import Person, age_at, card_of, distance_km
from yoked_actor.domain.time import Instant, seconds_between

_WEIGHTED: Final = Weighted()


# A constant is read faster than a member of an enumeration.
_EXACT: Final = Tier.EXACT
_WIDER: Final = Tier.WIDER
_WIDEST: Final = Tier.WIDEST
_FORCED: Final = Tier.FORCED
_PAIRED: Final = Cause.PAIRED
_BUSY: Final = CallEnd.BUSY


def make_attempts(step: Step) -> None:
    """Try to pair every user who gets an attempt in this step."""
    floor = step.floor
    for seeker in floor.pool.in_order(step.attempts, step.now):
        if seeker.user_id not in floor.pool:
            continue  # Paired by an earlier attempt of this step.
        before = step.widened.get(seeker.user_id)
        choice = find_partner(floor, seeker, step.now, before)
        if choice is None:
            step.unpaired.append(seeker)
            floor.pool.admit(step.now)
            continue
        for user_id in choice.passed_over:
            line = floor.lines.rows[user_id]
            floor.put_line(user_id, replace(line, skips=line.skips + 1))
        pair(step, seeker, choice)


def find_partner(
    floor: Floor, seeker: Ticket, now: Instant, widened_from: Tier | None = None
) -> Choice | None:
    """The best partner of a waiting user at an instant.

    A user who has just left the tier `widened_from` was tried inside its limits before, so only
    candidates beyond them are searched.
    """
    known: Limits | None = None
    if widened_from is not None:
        known = floor.tiers.limits(seeker.person, widened_from)

    apart = floor.acquaintance.apart_from(seeker.user_id)
    if floor.rules.rematch_after_days is not None and len(apart):
        apart = _still_apart(floor, seeker, apart, now)
    tier = _WIDEST if seeker.tier is _FORCED else seeker.tier
    limits = floor.tiers.limits(seeker.person, tier)
    choice = floor.pool.best_partner(seeker, limits, now, apart, beyond=known)
    if choice is None and seeker.tier is _FORCED:
        anybody = floor.tiers.limits(seeker.person, _FORCED)
        choice = floor.pool.best_partner(seeker, anybody, now, apart, beyond=limits)
    return choice


def _still_apart(floor: Floor, seeker: Ticket, apart: Apart, now: Instant) -> Apart:
    """Of the users who are kept apart from a waiting user, those in the pool who still are."""
    return Apart(
        (user_id, floor.numbers.of(user_id))
        for user_id in apart
        if (other := floor.pool.get(user_id)) is not None
        and not nothing_between(floor, seeker, other, now)
    )


def nothing_between(floor: Floor, a: Ticket, b: Ticket, now: Instant) -> bool:
    """Whether two users are adults, and no block, meeting or bar keeps them apart."""
    between, one, other = floor.acquaintance, a.person.user_id, b.person.user_id
    return (
        one != other
        and not between.have_met(one, other, max(a.waiting_since, b.waiting_since))
        and not between.is_blocked(one, other)
        and not between.is_barred(one, other)
        and both_adults(a.person, b.person, now)
    )


def may_be_paired(floor: Floor, a: Ticket, b: Ticket, now: Instant) -> bool:
    """Whether two waiting users may be paired now (R3, R4, R20)."""
    if not attracted(a.person, b.person) or not nothing_between(floor, a, b, now):
        return False
    km = distance_km(a.person, b.person)
    tiers = floor.tiers
    return admits(tiers.limits(a.person, a.tier), b.person, km, now) and admits(
        tiers.limits(b.person, b.tier), a.person, km, now
    )


def pair(step: Step, one: Ticket, choice: Choice) -> Match:
    """Make a match of two waiting users."""
    floor, now, other = step.floor, step.now, choice.ticket
    a, b = (one, other) if one.user_id < other.user_id else (other, one)
    acknowledge_by, match_id = now + floor.acknowledge_window, floor.new_id("m")
    match = Match(match_id, a.user_id, b.user_id, STATUS_MATCHED, now, acknowledge_by)
    ages = age_at(a.person, now), age_at(b.person, now)
    shown_km = floor.places.shown_km(a.person, b.person, now)
    floor.quality.put(match_id, _quality(floor, match, a, b, choice, ages, shown_km))
    floor.put_match(match)
    cards = card_of(b.person, ages[1], shown_km), card_of(a.person, ages[0], shown_km)
    for user_id, card in ((a.user_id, cards[0]), (b.user_id, cards[1])):
        stop_call(step, user_id, _BUSY)
        seat = floor.seat(user_id)
        floor.put_seat(replace(seat, state=move(seat.state, _PAIRED), match_id=match_id))
        step.attempts.pop(user_id, None)
        step.tell(user_id, Matched(match_id, card, acknowledge_by))
    return match


def _quality(
    floor: Floor,
    match: Match,
    a: Ticket,
    b: Ticket,
    choice: Choice,
    ages: tuple[int, int],
    shown_km: int,
) -> Quality:
    """The quality of a match; the priority is the points (R10) of the chosen partner."""
    now, km = match.paired_at, choice.km
    fit = age_fit(a.person, ages[1]) + age_fit(b.person, ages[0])
    near = nearness(a.person, b.person, km)
    points = _WEIGHTED.points(choice.ticket, now) + terms_of(fit, near)
    return Quality(
        match_id=match.match_id,
        policy=floor.rules.policy,
        priority=points // POINT + density_points(len(floor.pool)),
        preference_match=fit / 200,
        distance_score=near / 1000,
        distance_km=round(km, 3),
        shown_km=shown_km,
        a_tier=_tier_used(floor, a, b.person, km, now),
        b_tier=_tier_used(floor, b, a.person, km, now),
        a_wait_s=seconds_between(a.waiting_since, now),
        b_wait_s=seconds_between(b.waiting_since, now),
        a_group=group_of(a.person),
        b_group=group_of(b.person),
        paired_at=now,
    )


def _tier_used(floor: Floor, ticket: Ticket, partner: Person, km: float, now: Instant) -> Tier:
    """The lowest tier, up to the present one, in which a ticket accepts a partner."""
    for tier in (_EXACT, _WIDER, _WIDEST):
        if tier >= ticket.tier:
            break
        if admits(floor.tiers.limits(ticket.person, tier), partner, km, now):
            return tier
    return ticket.tier
