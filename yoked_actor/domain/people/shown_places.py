"""The place at which a person is shown: never the exact one (R55).

Every shown distance is measured between shown places, and rounded up to the edge of a band. A
viewer who varies their own position finds the edges of bands, and from three of them a shown place
to the metre. So a shown place must reveal nothing more exact than a district:

- A position is snapped to the centre of a cell of a 2 km grid. The offset of the grid is a secret
  of each person, so a move within a cell shows nothing, and the edge that a longer move crosses
  cannot be computed.
- The centre is then moved by a secret vector of each person, so long that the shown place is a
  kilometre or more from every position of the cell. Snapping alone would show a place that is 770 m
  from the exact one on average, and sometimes the exact one itself.
- Both secrets belong to the person who is shown, not to the viewer: several accounts see the same
  place. They are a keyed hash of the user id with a secret of the server, so they are the same in
  every process and after every restart.
- A changed position changes the shown place at most once in `every_s`. A change that comes too soon
  is shown when that time is over.

Matching uses exact positions; nothing here decides who is paired.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from hashlib import blake2b
from math import asin, atan2, cos, degrees, floor, pi, radians, sin
from typing import Final

from msgspec.structs import replace

from yoked_actor.domain.geometry import (
    EARTH_RADIUS_KM,
    KM_PER_DEGREE,
    angles_of,
    haversine_km,
)
from yoked_actor.domain.people.measures import age_at
from yoked_actor.domain.people.person import Card, Person, ShownPlace
from yoked_actor.domain.time import Instant, microseconds

BANDS_KM: Final = (2, 5, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
"""The upper edges of the bands of shown distances; the last band has no limit."""
GRID_KM: Final = 2.0
LEAST_OFF_KM: Final = 1.02
"""A shown place is further than this from all positions of its cell."""

_WORDS: Final = 3
_DIGITS: Final = 6


def band_km(km: float) -> int:
    """The upper edge of the band of a distance."""
    return BANDS_KM[min(bisect_left(BANDS_KM, km), len(BANDS_KM) - 1)]


class ShownPlaces:
    """Computes shown places."""

    __slots__ = ("_every", "every_s", "secret")

    def __init__(self, secret: bytes = b"", every_s: float = 21_600.0) -> None:
        """A changed position may change the shown place once in `every_s`."""
        self.secret = secret
        self.every_s = every_s
        self._every = microseconds(every_s)

    def snapped(self, user_id: str, lat: float, lon: float) -> tuple[float, float]:
        """The shown place of a position of a user."""
        up, along, turn = _secrets_of(self.secret, user_id)
        height = GRID_KM / KM_PER_DEGREE
        mid_lat = (floor(lat / height + up) + 0.5 - up) * height
        mid_lat = min(max(mid_lat, -90.0), 90.0)
        # As many columns of equal width as fit around the globe at this latitude.
        columns = max(1, floor(360.0 * cos(radians(mid_lat)) / height))
        width = 360.0 / columns
        mid_lon = (floor((lon + 180.0) / width + along) + 0.5 - along) * width - 180.0
        angle = 2 * pi * turn
        # The extent of the cell from its centre in that direction, and the least distance.
        far = LEAST_OFF_KM + GRID_KM / 2 * (abs(cos(angle)) + abs(sin(angle)))
        return _destination(mid_lat, mid_lon, angle, far)

    def of(self, person: Person, now: Instant) -> tuple[float, float]:
        """The shown place of a person at an instant, in degrees."""
        return self._since(person, now)[0]

    def moved(self, before: Person | None, person: Person, now: Instant) -> Person:
        """A profile to store now, with the place that is shown from now on."""
        place = self.snapped(person.user_id, person.lat, person.lon)
        since = now
        if before is not None and before.shown is not None:
            shown, changed_at = self._since(before, now)
            if shown == place or now < changed_at + self._every:
                place, since = shown, changed_at
        return replace(person, shown=ShownPlace(*place, since))

    def km(self, a: Person, b: Person, now: Instant) -> float:
        """The distance between two shown places."""
        lat, lon = self.of(a, now)
        lat_a, cos_a, lon_a = angles_of(lat, lon)
        lat, lon = self.of(b, now)
        lat_b, cos_b, lon_b = angles_of(lat, lon)
        return haversine_km(lat_a, cos_a, lon_a, lat_b, cos_b, lon_b)

    def card(self, person: Person, viewer: Person, now: Instant) -> Card:
        """The card of `person` for `viewer`."""
        return card_of(person, age_at(person, now), self.shown_km(person, viewer, now))

    def shown_km(self, a: Person, b: Person, now: Instant) -> int:
        """The distance that two are shown: the same for both."""
        return band_km(self.km(a, b, now))

    def _since(self, person: Person, now: Instant) -> tuple[tuple[float, float], Instant]:
        """The shown place of a person, and since when."""
        shown = person.shown
        if shown is None:
            return self.snapped(person.user_id, person.lat, person.lon), 0
        lat, lon, changed_at = shown.lat, shown.lon, shown.changed_at
        due = changed_at + self._every
        if now >= due:
            place = self.snapped(person.user_id, person.lat, person.lon)
            if place != (lat, lon):
                return place, due  # changed too soon before, and shown from then on
        return (lat, lon), changed_at


def card_of(person: Person, age: int, shown_km: int) -> Card:
    """A card, of an age and a distance that are known."""
    return Card(
        person.user_id,
        person.display_name,
        age,
        person.gender,
        person.interests,
        shown_km,
    )


WITHOUT_SECRET: Final = ShownPlaces()
"""For a lobby that shows no cards: a simulation, an erasure from the command line."""


@lru_cache(maxsize=65_536)
def _secrets_of(secret: bytes, user_id: str) -> tuple[float, float, float]:
    """Numbers in [0, 1) that only the server can compute."""
    digest = blake2b(user_id.encode(), key=secret, digest_size=8 * _WORDS, person=b"shown place")
    words = digest.digest()
    up, along, turn = (
        int.from_bytes(words[at : at + 8], "big") / 2**64 for at in range(0, 8 * _WORDS, 8)
    )
    return up, along, turn


def _destination(lat: float, lon: float, bearing: float, km: float) -> tuple[float, float]:
    """The place at a distance and bearing from another one; also across a pole."""
    arc, from_lat = km / EARTH_RADIUS_KM, radians(lat)
    sine = sin(from_lat) * cos(arc) + cos(from_lat) * sin(arc) * cos(bearing)
    to_lat = asin(min(1.0, max(-1.0, sine)))
    east = atan2(sin(bearing) * sin(arc) * cos(from_lat), cos(arc) - sin(from_lat) * sin(to_lat))
    to_lon = (lon + degrees(east) + 540.0) % 360.0 - 180.0
    # Rounded, so that a stored place equals one that is computed again.
    return round(degrees(to_lat), _DIGITS), round(to_lon, _DIGITS)
