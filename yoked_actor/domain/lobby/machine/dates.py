"""Video dates: opened by two yeses, or by an accepted call (R24); ended by one user, by time, or by
absence (R22)."""

from __future__ import annotations

from msgspec.structs import replace

from yoked_actor.domain.lobby.machine.step import Step
from yoked_actor.domain.lobby.notices import DateEnd, DateEnded, DateStarted, Signalled
from yoked_actor.domain.lobby.records import VideoDate
from yoked_actor.domain.lobby.replies import Code, Done, Refusal, Reply
from yoked_actor.domain.time import after


def open_date(step: Step, a: str, b: str, match_id: str | None = None) -> VideoDate:
    """Open the date of two who are, or are about to be, idle; `a` calls."""
    floor = step.floor
    ends_at = after(step.now, floor.rules.date_length_s)
    date = VideoDate(floor.new_id("d"), a, b, step.now, ends_at, match_id=match_id)
    floor.put_date(date)
    for user_id in (date.a, date.b):
        floor.put_seat(replace(floor.seat(user_id), date_id=date.date_id))
        floor.kept_signals.remove(user_id)
        if not floor.is_here(user_id):
            # The grace period of an absent user begins when the date opens.
            floor.record_life(user_id, step.now)
            floor.put_presence(user_id, floor.presence(user_id))
    return date


def announce_date(step: Step, date: VideoDate) -> None:
    """Notify both that the date is open."""
    people, places = step.floor.people.rows, step.floor.places
    for user_id in (date.a, date.b):
        card = places.card(people[date.partner_of(user_id)], people[user_id], step.now)
        started = DateStarted(date.date_id, card, user_id == date.a, date.ends_at)
        step.tell(user_id, started)


def relay(step: Step, user_id: str, date_id: str, data: bytes) -> Reply:
    """Pass a signal of one of the two to the other.

    Nothing is stored. Signals to a user without a socket are kept with their other events, up to a
    limit, so that they do not push the other events out.
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
    """End a date at the wish of one of the two."""
    end_date(step, date, DateEnd.ENDED, {date.partner_of(user_id): DateEnd.PARTNER_ENDED})


def lose(step: Step, date: VideoDate, user_id: str) -> None:
    """End a date because one of the two was absent for too long."""
    end_date(step, date, DateEnd.PARTNER_LOST, {user_id: DateEnd.ENDED})


def end_date(
    step: Step, date: VideoDate, why: DateEnd, seen_as: dict[str, DateEnd] | None = None
) -> None:
    """End a date; each gets the reason as seen from their side."""
    floor, rules = step.floor, step.floor.rules
    floor.put_date(replace(date, ended_at=step.now, ended_for=why))
    touch_until = None
    if after(date.started_at, rules.touch_after_s) <= step.now:
        touch_until = after(step.now, rules.touch_for_s)
    for user_id in (date.a, date.b):
        floor.put_seat(replace(floor.seat(user_id), date_id=None))
        seen = (seen_as or {}).get(user_id, why)
        step.tell(user_id, DateEnded(date.date_id, seen, touch_until))


def _not_your_date(date_id: str) -> Refusal:
    return Refusal(Code.NOT_FOUND, f"{date_id!r} is not your current date")
