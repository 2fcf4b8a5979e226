"""When a room is open: between two instants, by a weekly schedule in a time zone, or both."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import msgspec

from yoked_actor.domain.time import Instant, from_datetime, local_date, zone_named

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = r"([01][0-9]|2[0-3]):([0-5][0-9])"
_ENTRY = re.compile(
    rf"(daily|(?P<first>{'|'.join(DAYS)})(-(?P<last>{'|'.join(DAYS)}))?)"
    rf" (?P<begin>{_TIME})-(?P<end>{_TIME}|24:00)"
)
_LOOK_AHEAD_DAYS = 9
"""More than a week: every entry of a schedule comes once."""
_MIDNIGHT = "24:00"


class Weekly(msgspec.Struct, frozen=True):
    """Opening hours on some days of the week. An end that is not later is on the next day."""

    days: tuple[int, ...]
    """0 is Monday."""
    begin: time
    end: time
    ends_next_day: bool


class Span(msgspec.Struct, frozen=True):
    """One opening; None stands for no beginning or no end."""

    opens_at: Instant | None
    closes_at: Instant | None

    def holds(self, now: Instant) -> bool:
        """Whether an instant is inside."""
        began = self.opens_at is None or self.opens_at <= now
        return began and (self.closes_at is None or now < self.closes_at)


def weekly_of(text: str) -> Weekly | None:
    """An entry such as `fri 20:00-23:00`, `mon-thu 18:00-02:00` or `daily 00:00-24:00`."""
    found = _ENTRY.fullmatch(text.strip().lower())
    if found is None:
        return None
    days: tuple[int, ...] = tuple(range(7))
    if found["first"] is not None:
        first = DAYS.index(found["first"])
        last = first if found["last"] is None else DAYS.index(found["last"])
        days = tuple((first + more) % 7 for more in range((last - first) % 7 + 1))
    begin = time.fromisoformat(found["begin"])
    end = time(0) if found["end"] == _MIDNIGHT else time.fromisoformat(found["end"])
    return Weekly(days, begin, end, end <= begin)


class Hours(msgspec.Struct, frozen=True):
    """The opening times of a room."""

    opens_at: Instant | None = None
    closes_at: Instant | None = None
    schedule: tuple[Weekly, ...] = ()
    """Without an entry the room is open all the time, from `opens_at` to `closes_at`."""
    time_zone: str = "UTC"

    def span(self, now: Instant) -> Span | None:
        """The present opening or else the next one; None if the room does not open again."""
        whole = Span(self.opens_at, self.closes_at)
        if whole.closes_at is not None and whole.closes_at <= now:
            return None
        if not self.schedule:
            return whole
        # Before the first instant of a room only its own schedule after that counts.
        since = now if self.opens_at is None else max(now, self.opens_at)
        for opens_at, closes_at in self._openings(since):
            if closes_at is not None and closes_at <= since:
                continue
            begin = opens_at if self.opens_at is None else max(opens_at, self.opens_at)
            ends = [end for end in (closes_at, self.closes_at) if end is not None]
            end = min(ends, default=None)
            return Span(begin, end) if end is None or begin < end else None
        return None

    def is_open(self, now: Instant) -> bool:
        """Whether the room is open at an instant."""
        span = self.span(now)
        return span is not None and span.holds(now)

    def _openings(self, now: Instant) -> list[tuple[Instant, Instant | None]]:
        """The openings of the schedule around an instant and in the days after it, joined."""
        zone = zone_named(self.time_zone)
        assert zone is not None
        today = local_date(zone, now)
        found: list[tuple[Instant, Instant]] = []
        for more in range(-1, _LOOK_AHEAD_DAYS):
            day = today + timedelta(days=more)
            for entry in self.schedule:
                if day.weekday() in entry.days:
                    found.append(_opening(zone, day, entry))
        joined: list[tuple[Instant, Instant]] = []
        for begin, end in sorted(one for one in found if one[0] < one[1]):
            if joined and begin <= joined[-1][1]:
                joined[-1] = (joined[-1][0], max(joined[-1][1], end))
            else:
                joined.append((begin, end))
        last = from_datetime(
            datetime.combine(today + timedelta(days=_LOOK_AHEAD_DAYS - 1), time(0), zone)
        )
        # A room that is open beyond the days that were looked at has no end in sight.
        return [(begin, None if end >= last and begin <= now else end) for begin, end in joined]


def _opening(zone: ZoneInfo, day: date, entry: Weekly) -> tuple[Instant, Instant]:
    end_day = day + timedelta(days=1) if entry.ends_next_day else day
    return (
        from_datetime(datetime.combine(day, entry.begin, zone)),
        from_datetime(datetime.combine(end_day, entry.end, zone)),
    )


ALWAYS = Hours()
