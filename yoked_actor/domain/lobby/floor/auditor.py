"""The auditor checks the invariants of the floor, which hold at every instant (R9, R19).

`audit_users` checks a few users and is cheap enough to run after every round in production.
`audit_floor` checks every user and every pair, for tests and simulations. Both return a text for
each broken invariant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from yoked_actor.domain.lobby.constants import IDLE, STATUS_MATCHED, STATUS_VOTING, WAITING
from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.machine.pairing import may_be_paired
from yoked_actor.domain.lobby.records import Seat
from yoked_actor.domain.time import Instant

# A constant is read faster than a member of an enumeration.
_MATCHED: Final = State.MATCHED
_VOTING: Final = State.VOTING


def audit_users(floor: Floor, user_ids: Iterable[str]) -> list[str]:
    """Check the seats of some users, and the matches, calls and dates that they are in."""
    found: list[str] = []
    for user_id in user_ids:
        seat = floor.seats.get(user_id)
        if seat is not None:
            found += [f"{user_id}: {problem}" for problem in _problems_of(floor, seat)]
    return found


def audit_floor(floor: Floor, now: Instant) -> list[str]:
    """Check all users, and that no two of them wait who could be paired."""
    found = audit_users(floor, floor.seats.rows)
    for match in floor.matches.rows.values():
        if match.is_open and any(
            floor.seats.rows[user_id].match_id != match.match_id for user_id in match.users
        ):
            found.append(f"{match.match_id}: open, but not the match of both its users")
    tickets = sorted(floor.pool.tickets(), key=lambda ticket: ticket.user_id)
    for ticket in tickets:
        seat = floor.seats.get(ticket.user_id)
        if seat is None or seat.state is not WAITING:
            found.append(f"{ticket.user_id}: has a ticket, but does not wait")
    for index, one in enumerate(tickets):
        for other in tickets[index + 1 :]:
            if may_be_paired(floor, one, other, now):
                found.append(f"{one.user_id} and {other.user_id}: both wait, and could meet")
    return found


def _problems_of(floor: Floor, seat: Seat) -> list[str]:
    found: list[str] = []
    user_id, state, date_id = seat.user_id, seat.state, seat.date_id
    if state is _MATCHED or state is _VOTING:
        found += _match_problems(floor, seat)
    elif seat.match_id is not None:
        found.append(f"is {state}, but has the match {seat.match_id}")
    if (state is IDLE) != (seat.waiting_since is None):
        found.append(f"is {state} with waiting_since {seat.waiting_since}")
    if state is not IDLE and not floor.is_timed(user_id):
        found.append(f"is {state}, and no deadline watches over it")
    should_have_ticket = state is WAITING and floor.is_here(user_id)
    if (user_id in floor.pool) != should_have_ticket:
        found.append("has a ticket without waiting here, or waits here without one")
    if floor.calls.of(user_id) is not None:
        found += _call_problems(floor, seat)
    if date_id is not None:
        date = floor.dates.get(date_id)
        if date is None or date.ended_at is not None or user_id not in (date.a, date.b):
            found.append(f"is on the date {date_id}, which is not an open date of theirs")
        elif state is not IDLE:
            found.append(f"is {state} while on a date")
    return found


def _call_problems(floor: Floor, seat: Seat) -> list[str]:
    call = floor.calls.of(seat.user_id)
    if call is None:
        return []
    found = []
    allowed = (IDLE,) if seat.user_id == call.caller else (IDLE, WAITING)
    if seat.state not in allowed or seat.date_id is not None:
        found.append(f"is {seat.state} or on a date while {call.call_id} rings")
    if floor.calls.of(call.partner_of(seat.user_id)) != call:
        found.append(f"is in {call.call_id}, but the partner is not")
    if floor.must_return(seat.user_id) and not floor.is_timed(seat.user_id):
        found.append(f"is away while {call.call_id} rings, and no deadline watches over it")
    return found


def _match_problems(floor: Floor, seat: Seat) -> list[str]:
    user_id, state, match_id = seat.user_id, seat.state, seat.match_id
    match = floor.matches.get(match_id) if match_id is not None else None
    if match is None or match.ended_at is not None:
        return [f"is {state} in {match_id}, which is not an open match"]
    a, b = match.a, match.b
    if (user_id != a and user_id != b) or a >= b:
        return [f"is in {match_id}, which is between {a} and {b}"]
    found = []
    partner = floor.seats.get(b if user_id == a else a)
    if partner is None or partner.match_id != match_id or partner.state is not state:
        found.append(f"is {state} in {match_id}, but the partner is not")
    if match.status is not (STATUS_MATCHED if state is _MATCHED else STATUS_VOTING):
        found.append(f"is {state}, but {match_id} is {match.status}")
    if match.closes_at is None and not match.awaiting:
        found.append(f"is in {match_id}, which has no window and awaits nobody")
    return found
