"""Invariants of the floor, checked after every round of a simulated evening."""

from __future__ import annotations

from collections import defaultdict

from yoked_actor.domain.lobby import Floor, nothing_between
from yoked_actor.domain.matching import Ticket, Tier, admits_strictly, attracted
from yoked_actor.domain.time import Instant


def check_guarantee(floor: Floor, now: Instant) -> list[str]:
    """R9: no two present, hard-compatible users without a bar both wait past the forced edge."""
    forced: dict[tuple[str, frozenset[str]], list[Ticket]] = defaultdict(list)
    for ticket in floor.pool.tickets():
        if ticket.tier is Tier.FORCED:
            forced[ticket.person.gender, ticket.person.seeking].append(ticket)
    found: list[str] = []
    groups = list(forced.values())
    for index, ours in enumerate(groups):
        for theirs in groups[index:]:
            if not attracted(ours[0].person, theirs[0].person):
                continue
            found += [
                f"{a.user_id} and {b.user_id} both wait past the forced edge"
                for a in ours
                for b in theirs
                if (ours is not theirs or a.user_id < b.user_id) and _could_meet(floor, a, b, now)
            ]
    return found


def could_meet_somebody(floor: Floor, user_id: str, now: Instant) -> bool:
    """Whether a hard-compatible user is in the pool for a waiting user."""
    ticket = floor.pool.get(user_id)
    return ticket is not None and any(
        attracted(ticket.person, other.person) and _could_meet(floor, ticket, other, now)
        for other in floor.pool.tickets()
    )


def _could_meet(floor: Floor, a: Ticket, b: Ticket, now: Instant) -> bool:
    """Whether neither history nor a strict limit keeps apart two users whose genders suit."""
    return (
        nothing_between(floor, a, b, now)
        and admits_strictly(a.person, b.person, now)
        and admits_strictly(b.person, a.person, now)
    )
