"""Why somebody still waits (R13): how many others there are, and what rejects each of them.

Everybody else in the pool is counted once, by the first of these that keeps the two apart now:

- `seeking`: the gender of one is not among those that the other seeks;
- `history`: they have met, one has blocked the other, or a match of theirs was cancelled a moment
  ago. It is one name for all of these, so that nobody can read from it that they were blocked;
- `age`: the age of one lies outside the limits of the other, as wide as their tier has made them;
- `distance`: the same of the distance.

Whoever is left is acceptable. `nearest` is the least change to the asking user's OWN limits, as
they are now, that would admit somebody: either so many years more at both ends of the age, or so
many kilometres more. Only those count whom nothing else keeps apart. Of the two the smaller is
named by its share: years of the span of ages, kilometres of the distance; of equals, the age.
`gives` says how many it would admit. Distances are those between shown places, and kilometres are
those up to the edge of a band (see `shown_places`): nobody's place shows. So a count may differ
from what a search by exact positions would find, by those near the edge of a limit.

To count is work for the one task that decides, so it is done once a second at most as long as the
user, their wait and their tier are the same; in between only the times are fresh.
"""

from __future__ import annotations

from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.machine.pairing import nothing_between
from yoked_actor.domain.lobby.notices import Code, Explanation, Refusal, Reply
from yoked_actor.domain.matching import Census, Ticket, take_census
from yoked_actor.domain.time import Instant, after, seconds_between

GOOD_FOR_S = 1.0
"""How long a count is good."""


def explain(floor: Floor, user_id: str, now: Instant, *, remember: bool = True) -> Reply:
    """Tell a user why they wait. Only the matchmaker may let the floor `remember` the count."""
    ticket = floor.ticket(user_id)
    if ticket is None:
        return Refusal(Code.WRONG_STATE, "you are not in line")
    census = _census(floor, ticket, now, remember)
    edge_at = floor.tiers.next_edge(ticket.waiting_since, ticket.tier)
    return Explanation(
        waiting_s=seconds_between(ticket.waiting_since, now),
        tier=ticket.tier,
        # An edge of this very instant may not have been looked at yet.
        next_tier_in_s=None if edge_at is None else max(0.0, seconds_between(now, edge_at)),
        pool=census.pool,
        rejected_by=census.rejected_by,
        nearest=census.nearest,
    )


def _census(floor: Floor, ticket: Ticket, now: Instant, remember: bool) -> Census:
    # What else is in a ticket says who goes first, not who suits.
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
