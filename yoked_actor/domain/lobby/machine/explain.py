"""Why a user still waits (R13): how many others wait, and what rejects each of them.

Every other user in the pool is counted once, by the first of these that keeps the two apart now:

- `seeking`: the gender of one is not among those that the other seeks;
- `history`: they have met, one has blocked the other, or a match of theirs was cancelled a moment
  ago. One name stands for all of these, so that it does not reveal a block;
- `age`: the age of one lies outside the limits of the other, as wide as their tier has made them;
- `distance`: the same of the distance.

All others are acceptable. `nearest` is the least change to the asking user's OWN limits, as they
are now, that would admit somebody: more years at both ends of the age, or more kilometres. Only
users whom nothing else keeps apart are counted. Of the two changes the relatively smaller one is
given (years by the span of ages, kilometres by the distance), and the age if they are equal.
`gives` says how many users it would admit. Distances are those between shown places, rounded up to
the edge of a band (see `shown_places`), so that no position is revealed. A count may therefore
differ from a search by exact positions, for users near the edge of a limit.

`strict` says what the user's strict limits cost: for each, how many users would be met, now or when
the limits of both have widened, if that one limit were not strict.

Counting takes time of the matchmaker, so a count is reused for a second while the user, their wait
and their tier are the same; only the times are new.
"""

from __future__ import annotations

from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.machine.pairing import nothing_between
from yoked_actor.domain.lobby.replies import Code, Explanation, Refusal, Reply
from yoked_actor.domain.matching import Census, Ticket, take_census
from yoked_actor.domain.time import Instant, after, seconds_between

GOOD_FOR_S = 1.0
"""How long a count is reused."""


def explain(floor: Floor, user_id: str, now: Instant, *, remember: bool = True) -> Reply:
    """Explain why a user waits. Only the matchmaker may have the floor `remember` the count."""
    ticket = floor.ticket(user_id)
    if ticket is None:
        return Refusal(Code.WRONG_STATE, "you are not in line")
    census = _census(floor, ticket, now, remember)
    edge_at = floor.tiers.next_edge(ticket.waiting_since, ticket.tier)
    return Explanation(
        waiting_s=seconds_between(ticket.waiting_since, now),
        tier=ticket.tier,
        # An edge at this very instant may not have been run yet.
        next_tier_in_s=None if edge_at is None else max(0.0, seconds_between(now, edge_at)),
        pool=census.pool,
        rejected_by=census.rejected_by,
        nearest=census.nearest,
        strict=census.strict,
    )


def _census(floor: Floor, ticket: Ticket, now: Instant, remember: bool) -> Census:
    # The other fields of a ticket decide the order, not who is acceptable.
    asked_by = Ticket(ticket.person, ticket.waiting_since, tier=ticket.tier)
    before = floor.explained.get(ticket.user_id)
    if before is not None and before[1] == asked_by and now < after(before[0], GOOD_FOR_S):
        return before[2]
    apart = [
        other.user_id
        for user_id in floor.acquaintance.around(ticket.user_id)
        if (other := floor.pool.get(user_id)) is not None
        and not nothing_between(floor, ticket, other, now)
    ]
    limits = floor.tiers.limits(ticket.person, ticket.tier)
    shown = floor.places.of(ticket.person, now)
    census = take_census(floor.pool, ticket, limits, now, apart, shown)
    if remember:
        floor.explained[ticket.user_id] = (now, asked_by, census)
    return census
