"""A step of the system clock changes no wait and no window of the lobby.

Windows, waits and deadlines are durations between instants. When the clock is stepped, these
instants are moved by the size of the step, so each duration stays the same: no user is lost,
starved or late because of a step. What has ended keeps its instants.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.records import Known, Match, Seat, VideoDate
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import Instant, after


class LeftOpen(msgspec.Struct, frozen=True):
    """What an earlier process left open."""

    users: Sequence[Known]
    matches: Sequence[Match]
    dates: Sequence[VideoDate]


def step_clock(floor: Floor, by: int, now: Instant) -> None:
    """Move the instants of all that is open by so many microseconds. The books must be settled.

    It cannot be undone. Call `restate` in every round until its changes are stored.
    """
    for seat in list(floor.seats.rows.values()):
        if seat.waiting_since is not None:
            floor.seats.revise(seat.user_id, _moved_seat(seat, by))
    for match in list(floor.matches.rows.values()):
        if match.is_open:
            floor.matches.revise(match.match_id, _moved_match(match, by))
    for date in list(floor.dates.rows.values()):
        if date.ended_at is None:
            floor.dates.revise(date.date_id, _moved_date(date, by))
    floor.calls.shift(by)
    bars = floor.acquaintance.bars
    for pair, until in list(bars.rows.items()):
        bars.revise(pair, until + by)
    for user_id, at in list(floor.nudged_at.rows.items()):
        floor.nudged_at.revise(user_id, at + by)
    floor.shift_timers(by, now)


def restate(floor: Floor) -> None:
    """Store everything that `step_clock` moved with the changes of this round."""
    for seat in floor.seats.rows.values():
        if seat.waiting_since is not None:
            floor.seats.touch(seat.user_id)
    for match in floor.matches.rows.values():
        if match.is_open:
            floor.matches.touch(match.match_id)
    for date in floor.dates.rows.values():
        if date.ended_at is None:
            floor.dates.touch(date.date_id)
    for pair in floor.acquaintance.bars.rows:
        floor.acquaintance.bars.touch(pair)


def not_in_the_future(left: LeftOpen, now: Instant) -> LeftOpen:
    """What an earlier process left, moved back if its clock was ahead of ours.

    No wait can have begun after now. Everything is moved by the same amount: the order stays.
    """
    began = [known.seat.waiting_since for known in left.users if known.seat is not None]
    began += [at for match in left.matches for at in (match.paired_at, match.voting_at)]
    began += [date.started_at for date in left.dates]
    by = now - max((at for at in began if at is not None), default=now)
    if by >= 0:
        return left
    return LeftOpen(
        [
            known if known.seat is None else replace(known, seat=_moved_seat(known.seat, by))
            for known in left.users
        ],
        [_moved_match(match, by) for match in left.matches],
        [_moved_date(date, by) for date in left.dates],
    )


def with_bars_cut(known: Known, rules: Rules, now: Instant) -> Known:
    """Shorten bars that a clock that was ahead has made too long."""
    latest = after(now, rules.bar_s)
    if all(until <= latest for until in known.bars.values()):
        return known
    return replace(known, bars={other: min(at, latest) for other, at in known.bars.items()})


def _moved_seat(seat: Seat, by: int) -> Seat:
    since = seat.waiting_since
    return seat if since is None else replace(seat, waiting_since=since + by)


def _moved_match(match: Match, by: int) -> Match:
    return replace(
        match,
        paired_at=match.paired_at + by,
        closes_at=None if match.closes_at is None else match.closes_at + by,
        voting_at=None if match.voting_at is None else match.voting_at + by,
    )


def _moved_date(date: VideoDate, by: int) -> VideoDate:
    return replace(date, started_at=date.started_at + by, ends_at=date.ends_at + by)
