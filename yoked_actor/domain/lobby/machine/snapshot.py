"""The snapshot: what a client needs to show the state of its user."""

from __future__ import annotations

from yoked_actor.domain.lobby.floor.floor import Floor
from yoked_actor.domain.lobby.lifecycle import State
from yoked_actor.domain.lobby.records import MatchStatus
from yoked_actor.domain.lobby.replies import Snapshot
from yoked_actor.domain.lobby.views import CallView, DateView, MatchView
from yoked_actor.domain.time import Instant


def snapshot_of(floor: Floor, user_id: str, now: Instant) -> Snapshot:
    """The snapshot of a user at an instant."""
    seat = floor.seat(user_id)
    last = floor.matches.get(seat.last_match_id) if seat.last_match_id is not None else None
    return Snapshot(
        state=seat.state,
        credit=seat.credit,
        room=floor.room,
        waiting_since=seat.waiting_since if seat.state is State.WAITING else None,
        tier=floor.lines.rows[user_id].tier if seat.state is State.WAITING else None,
        match=_match_view(floor, user_id, now),
        date=_date_view(floor, user_id, now),
        call=_call_view(floor, user_id, now),
        last_outcome=None if last is None else last.outcome,
        last_match_id=seat.last_match_id,
    )


def _match_view(floor: Floor, user_id: str, now: Instant) -> MatchView | None:
    match = floor.open_match(user_id)
    if match is None:
        return None
    people = floor.people.rows
    voting = match.status is MatchStatus.VOTING
    return MatchView(
        match_id=match.match_id,
        partner=floor.places.card(people[match.partner_of(user_id)], people[user_id], now),
        acknowledged=match.acknowledged_by(user_id),
        voted=match.vote_of(user_id) is not None,
        acknowledge_by=None if voting else match.closes_at,
        vote_by=match.closes_at if voting else None,
    )


def _date_view(floor: Floor, user_id: str, now: Instant) -> DateView | None:
    date = floor.open_date(user_id)
    if date is None:
        return None
    people = floor.people.rows
    return DateView(
        date_id=date.date_id,
        partner=floor.places.card(people[date.partner_of(user_id)], people[user_id], now),
        initiator=user_id == date.a,
        ends_at=date.ends_at,
    )


def _call_view(floor: Floor, user_id: str, now: Instant) -> CallView | None:
    call = floor.calls.of(user_id)
    if call is None:
        return None
    people = floor.people.rows
    return CallView(
        call_id=call.call_id,
        partner=floor.places.card(people[call.partner_of(user_id)], people[user_id], now),
        ring_until=call.ring_until,
        incoming=user_id == call.callee,
    )
