"""The rooms of a run: what the settings of the server declare, and what everybody has read of them.

Times are compared with clocks on walls, by the time zone database alone.
"""

from __future__ import annotations

from datetime import date, datetime, time
from random import Random

import msgspec

from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.simulation.zones import zone_of

MAIN = "main"
CLUB, EARLY, LATE = "club", "early", "late"
CODE = "come-in"
WRONG_CODES = 5
"""How many wrong codes are refused as wrong within a minute; further ones are refused at once."""
_CAPACITY = 8
_DAY_S = 86_400.0


class Poster(msgspec.Struct, frozen=True):
    """What everybody knows of a room beside `main`."""

    room: str
    zone: str = "UTC"
    opens: time | None = None
    """In the zone, every day; None for a room that is always open."""
    closes: time | None = None
    code: str | None = None
    capacity: int | None = None

    def is_open(self, at: Instant) -> bool:
        """Whether clocks of the zone show a time at which the room is open."""
        if self.opens is None or self.closes is None:
            return True
        return self.opens <= self._local(at).time() < self.closes

    def closed_for_s(self, at: Instant) -> float:
        """For how long the room has been closed; 0 while it is open."""
        if self.closes is None or self.is_open(at):
            return 0.0
        return _seconds(self._local(at).time(), self.closes) % _DAY_S

    def open_for_s(self, at: Instant) -> float:
        """For how long it has been open; 0 while it is closed."""
        if self.opens is None:
            return _DAY_S
        return _seconds(self._local(at).time(), self.opens) if self.is_open(at) else 0.0

    def closes_in_s(self, at: Instant) -> float | None:
        """When it closes next; None if it never does."""
        if self.closes is None:
            return None
        return _seconds(self.closes, self._local(at).time()) % _DAY_S

    def _local(self, at: Instant) -> datetime:
        return to_datetime(at).astimezone(zone_of(self.zone))

    def settings(self) -> dict[str, object]:
        """The table of the room in the settings of the server."""
        values: dict[str, object] = {}
        if self.opens is not None and self.closes is not None:
            values["schedule"] = (f"daily {self.opens:%H:%M}-{self.closes:%H:%M}",)
            values["time_zone"] = self.zone
        if self.code is not None:
            values |= {"entry": "code", "code": self.code}
        if self.capacity is not None:
            values["capacity"] = self.capacity
        return values


def posters(zones: tuple[str, ...]) -> dict[str, Poster]:
    """The rooms of a run: one with a code, and two that close in the middle of an evening."""
    made = (
        Poster(CLUB, code=CODE, capacity=_CAPACITY),
        Poster(EARLY, zone=zones[0], opens=time(20, 0), closes=time(20, 5)),
        Poster(LATE, zone=zones[1], opens=time(20, 2), closes=time(20, 6)),
    )
    return {one.room: one for one in made}


def fashion(seed: int, zone: str, day: date) -> str:
    """The room that people of a zone talk about on a day: they meet only if they go to the same."""
    return Random(f"fashion {seed} {zone} {day}").choice((MAIN, CLUB, EARLY, LATE))


def _seconds(later: time, earlier: time) -> float:
    day = date(2000, 1, 1)
    return (datetime.combine(day, later) - datetime.combine(day, earlier)).total_seconds()
