"""Video dates: opened by two yeses, ended by one, by time, or by absence (R22)."""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.instants import after
from yoked_actor.domain.notices import (
    Code,
    DateEnd,
    DateEnded,
    DateStarted,
    Done,
    Refusal,
    Reply,
    Signalled,
)
from yoked_actor.domain.people import card_of
from yoked_actor.domain.records import Match, VideoDate
from yoked_actor.domain.step import Step


def open_date(step: Step, match: Match) -> VideoDate:
    """Open the date of a match that ended with two yeses."""
    floor = step.floor
    ends_at = after(step.now, floor.rules.date_length_s)
    date = VideoDate(floor.new_id("d"), match.a, match.b, step.now, ends_at)
    floor.put_date(date)
    for user_id in (date.a, date.b):
        floor.put_seat(replace(floor.seat(user_id), date_id=date.date_id))
        floor.kept_signals.remove(user_id)
        if not floor.is_here(user_id):
            # The grace of one who is away runs from the opening.
            floor.hear(user_id, step.now)
            floor.put_presence(user_id, floor.presence(user_id))
    return date


def announce_date(step: Step, date: VideoDate) -> None:
    """Tell both that the date is open."""
    people = step.floor.people.rows
    for user_id in (date.a, date.b):
        card = card_of(people[date.partner_of(user_id)], people[user_id], step.now)
        started = DateStarted(date.date_id, card, user_id == date.a, date.ends_at)
        step.tell(user_id, started)


def relay(step: Step, user_id: str, date_id: str, data: bytes) -> Reply:
    """Pass on what one of the two says to the other, and to nobody else.

    Nothing is stored. What is said to somebody who has no socket is kept with their other events,
    and only so much of it, lest it crowd those out.
    """
    floor = step.floor
    date = floor.open_date(user_id)
    if date is None or date.date_id != date_id:
        return _not_your_date(date_id)
    partner = date.partner_of(user_id)
    if not floor.presence(partner).device:
        kept = floor.kept_signals.get(partner) or 0
        if kept >= floor.rules.max_kept_signals:
            return Refusal(Code.RATE_LIMITED, "your partner is away, and enough waits for them")
        floor.kept_signals.put(partner, kept + 1)
    step.tell(partner, Signalled(date_id, data))
    return Done()


def end_date_by(step: Step, user_id: str, date_id: str) -> Reply:
    """One of the two ends the date."""
    date = step.floor.open_date(user_id)
    if date is None or date.date_id != date_id:
        return _not_your_date(date_id)
    hang_up(step, date, user_id)
    return Done()


def hang_up(step: Step, date: VideoDate, user_id: str) -> None:
    """End a date because one of the two wants to."""
    end_date(step, date, DateEnd.ENDED, {date.partner_of(user_id): DateEnd.PARTNER_ENDED})


def lose(step: Step, date: VideoDate, user_id: str) -> None:
    """End a date because one of the two has been away for too long."""
    end_date(step, date, DateEnd.PARTNER_LOST, {user_id: DateEnd.ENDED})


def end_date(
    step: Step, date: VideoDate, why: DateEnd, seen_as: dict[str, DateEnd] | None = None
) -> None:
    """End a date; each is told the reason as it looks from their side."""
    floor = step.floor
    floor.put_date(replace(date, ended_at=step.now, ended_for=why))
    for user_id in (date.a, date.b):
        floor.put_seat(replace(floor.seat(user_id), date_id=None))
        step.tell(user_id, DateEnded(date.date_id, (seen_as or {}).get(user_id, why)))


def _not_your_date(date_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"{date_id!r} is not your current date")
