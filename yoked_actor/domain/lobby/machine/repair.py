"""Makes restored rows consistent: seats with their matches, and others when some rows are lost.

The stored state of a user in a match says only that there is one: whether voting is open is the
status of the match.

The store skips a profile, a seat, a match or a date that it cannot read. Other users must not
suffer from that: a match or a date is restored only if both users have profiles and seats in it. A
user whose match is skipped waits in their old place. A user without a readable profile is idle, and
can save a new profile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import Known, Match, Seat, VideoDate


def repair(
    users: Sequence[Known], matches: Sequence[Match], dates: Sequence[VideoDate]
) -> tuple[list[Known], list[Match], list[VideoDate]]:
    """The rows that are consistent: all of them if every row could be read."""
    sound = {one.user_id: one.seat for one in users if one.person and one.seat}
    kept_matches = [one for one in matches if _sits(sound, one.users, match_id=one.match_id)]
    kept_dates = [one for one in dates if _sits(sound, (one.a, one.b), date_id=one.date_id)]
    states = {one.match_id: State(one.status) for one in kept_matches}
    date_ids = {one.date_id for one in kept_dates}
    repaired = [_repair_user(one, states, date_ids) for one in users]
    return repaired, kept_matches, kept_dates


def at_rest(known: Known) -> Known:
    """The same, idle: a user who comes into memory later neither waits nor meets."""
    seat = known.seat
    if seat is None or (seat.state is State.IDLE and seat.date_id is None):
        return known
    return replace(known, seat=_idle(seat))


def _sits(
    seats: Mapping[str, Seat],
    pair: Sequence[str],
    *,
    match_id: str | None = None,
    date_id: str | None = None,
) -> bool:
    found = [seats.get(user_id) for user_id in pair]
    return all(
        seat is not None and (seat.match_id == match_id if match_id else seat.date_id == date_id)
        for seat in found
    )


def _repair_user(known: Known, states: Mapping[str, State], date_ids: set[str]) -> Known:
    seat = known.seat
    if seat is None:
        return known
    if seat.date_id is not None and seat.date_id not in date_ids:
        seat = replace(seat, date_id=None)
    if seat.match_id is not None and seat.match_id in states:
        if seat.state is not states[seat.match_id]:
            seat = replace(seat, state=states[seat.match_id])
    elif seat.match_id is not None:
        is_back = seat.waiting_since is not None and known.person is not None
        seat = replace(seat, state=State.WAITING, match_id=None) if is_back else _idle(seat)
    if seat.state is State.WAITING and known.person is None:
        seat = _idle(seat)
    return known if seat is known.seat else replace(known, seat=seat)


def _idle(seat: Seat) -> Seat:
    return replace(seat, state=State.IDLE, waiting_since=None, match_id=None, date_id=None)
