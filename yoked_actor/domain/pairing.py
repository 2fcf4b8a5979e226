"""Making matches: attempts in the order of the policy, each for the best of all partners (R9)."""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.compatibility import attracted, both_adults
from yoked_actor.domain.fairness import Ticket
from yoked_actor.domain.floor import Floor
from yoked_actor.domain.instants import Instant, after
from yoked_actor.domain.lifecycle import Cause, move
from yoked_actor.domain.notices import Matched
from yoked_actor.domain.people import card_of
from yoked_actor.domain.records import Match, MatchStatus
from yoked_actor.domain.step import Step


def make_attempts(step: Step) -> None:
    """Try to pair everyone who is owed an attempt."""
    pool = step.floor.pool
    for seeker in pool.in_order(step.attempts, step.now):
        if seeker.user_id not in pool:
            continue  # Paired with an earlier one a moment ago.
        partner = find_partner(step.floor, seeker, step.now)
        if partner is not None:
            pair(step, seeker, partner)


def find_partner(floor: Floor, seeker: Ticket, now: Instant) -> Ticket | None:
    """The best partner that a waiting user has at an instant."""
    return floor.pool.best_partner(
        seeker, now, lambda ticket: may_be_paired(floor, seeker, ticket, now)
    )


def may_be_paired(floor: Floor, a: Ticket, b: Ticket, now: Instant) -> bool:
    """Whether two waiting users may be put before each other (R3, R20)."""
    between, one, other = floor.acquaintance, a.person.user_id, b.person.user_id
    return (
        one != other
        and attracted(a.person, b.person)
        and not between.have_met(one, other, max(a.waiting_since, b.waiting_since))
        and not between.is_blocked(one, other)
        and not between.is_barred(one, other)
        and both_adults(a.person, b.person, now)
    )


def pair(step: Step, one: Ticket, other: Ticket) -> Match:
    """Put two waiting users before each other."""
    floor, now = step.floor, step.now
    a, b = sorted((one.person, other.person), key=lambda person: person.user_id)
    acknowledge_by = after(now, floor.rules.acknowledge_window_s)
    match = Match(floor.new_id("m"), a.user_id, b.user_id, MatchStatus.MATCHED, now, acknowledge_by)
    floor.put_match(match)
    for person, partner in ((a, b), (b, a)):
        seat = floor.seat(person.user_id)
        floor.put_seat(replace(seat, state=move(seat.state, Cause.PAIRED), match_id=match.match_id))
        step.attempts.pop(person.user_id, None)
        card = card_of(partner, person, now)
        step.tell(person.user_id, Matched(match.match_id, card, acknowledge_by))
    return match
