"""Nudges: an idle user gets a notice that a user who would suit them is waiting (R13).

When an attempt finds no partner for a user in tier 3 or beyond, some idle users are checked in
turn. An idle user who could be paired with the waiting user now, inside the limits of tier 3 for
both, is nudged. A nudge does not say for whom it is, and is limited in rate for each user.
"""

from __future__ import annotations

from typing import Final

from yoked_actor.domain.lobby.machine.pairing import nothing_between
from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import Nudge
from yoked_actor.domain.matching import Limits, Ticket, Tier, admits
from yoked_actor.domain.people import Person, distance_km
from yoked_actor.domain.time import after

MOST_NUDGED: Final = 5
"""The most nudges for one attempt."""
MOST_CHECKED: Final = 200
"""The most idle users that are checked for one attempt."""


# A constant is read faster than a member of an enumeration.
_WIDEST: Final = Tier.WIDEST


def nudge_idlers(step: Step) -> None:
    """Nudge for the users whose attempt has just found no partner."""
    for seeker in step.unpaired:
        # A later attempt of the same step may have paired them after all.
        if seeker.tier >= _WIDEST and seeker.user_id in step.floor.pool:
            _nudge_for(step, seeker)


def _nudge_for(step: Step, seeker: Ticket) -> None:
    floor, now = step.floor, step.now
    expires_at = after(now, floor.rules.nudge_good_for_s)
    own = floor.tiers.limits(seeker.person, _WIDEST)
    left = MOST_NUDGED
    for user_id in floor.idlers.next_for(seeker.person, MOST_CHECKED):
        last = floor.nudged_at.get(user_id)
        if last is not None and after(last, floor.rules.nudge_every_s) > now:
            continue
        if not _would_suit(step, seeker, own, floor.person(user_id)):
            continue
        floor.nudged_at.put(user_id, now)
        step.tell(user_id, Nudge(expires_at))
        left -= 1
        if left == 0:
            return


def _would_suit(step: Step, seeker: Ticket, own: Limits, idler: Person) -> bool:
    """Whether an idle user suits a seeker with these limits. Most are refused by the distance."""
    floor, now = step.floor, step.now
    km = distance_km(seeker.person, idler)
    if km > own.max_km or not admits(own, idler, km, now):
        return False
    theirs = floor.tiers.limits(idler, _WIDEST)
    return admits(theirs, seeker.person, km, now) and nothing_between(
        floor, seeker, Ticket(idler, now), now
    )
