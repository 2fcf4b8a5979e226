"""Where a person is shown to be: never where they are (R55).

Everything that is shown of a distance is measured between shown places and told as the upper edge
of a band. A viewer who moves about finds the edges of bands, and from three of them the shown place
of somebody, to the metre. So a shown place must tell nothing more than a district:

- A person's positions are snapped to the centre of a cell of a grid of 2 km. Where the lines of the
  grid run is a secret of each person, so a move within a cell shows nothing, and the edge that was
  crossed by a move beyond it cannot be worked out.
- The centre is then moved by a secret vector of each person, long enough that the shown place is a
  kilometre or more from every position of the cell. Snapping alone would show a place that is 770 m
  from the exact one on average, and sometimes the exact one itself.
- Both secrets are of the one who is looked at, not of the viewer: several accounts see one place.
  They follow from a secret of the server and the user id by a keyed hash, so they are the same in
  every process and after every restart.
- A changed position changes the shown place once in `every_s` at most. One that changed too soon is
  shown when that time is over.

Matching uses exact positions: nothing here decides who meets whom.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from hashlib import blake2b
from math import asin, atan2, cos, degrees, floor, pi, radians, sin

import msgspec

from yoked_actor.domain.geometry import (
    EARTH_RADIUS_KM,
    KM_PER_DEGREE,
    angles_of,
    haversine_km,
)
from yoked_actor.domain.people.person import (
    Card,
    Person,
    ShownPlace,
    age_at,
)
from yoked_actor.domain.time import Instant, after

BANDS_KM = (2, 5, 10, 25, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
"""The upper edges of the bands in which distances are told; the last one holds all beyond."""
GRID_KM = 2.0
LEAST_OFF_KM = 1.02
"""A shown place is further than this from all positions of the cell that it stands for."""

_WORDS = 3
_DIGITS = 6


def band_km(km: float) -> int:
    """The upper edge of the band that a distance lies in."""
    return BANDS_KM[min(bisect_left(BANDS_KM, km), len(BANDS_KM) - 1)]


class ShownPlaces(msgspec.Struct, frozen=True):
    """Knows where everybody is shown to be."""

    secret: bytes = b""
    every_s: float = 21_600.0
    """How often a changed position may change the shown place."""

    def snapped(self, user_id: str, lat: float, lon: float) -> tuple[float, float]:
        """The place that stands for a position of a user."""
        up, along, turn = _secrets_of(self.secret, user_id)
        height = GRID_KM / KM_PER_DEGREE
        mid_lat = (floor(lat / height + up) + 0.5 - up) * height
        mid_lat = min(max(mid_lat, -90.0), 90.0)
        # As many columns as fit around the globe there, all of the same width.
        columns = max(1, floor(360.0 * cos(radians(mid_lat)) / height))
        width = 360.0 / columns
        mid_lon = (floor((lon + 180.0) / width + along) + 0.5 - along) * width - 180.0
        angle = 2 * pi * turn
        # How far the cell reaches from its centre in that direction, and the least besides.
        far = LEAST_OFF_KM + GRID_KM / 2 * (abs(cos(angle)) + abs(sin(angle)))
        return _gone(mid_lat, mid_lon, angle, far)

    def of(self, person: Person, now: Instant) -> tuple[float, float]:
        """Where a person is shown to be at an instant, in degrees."""
        return self._since(person, now)[0]

    def moved(self, before: Person | None, person: Person, now: Instant) -> Person:
        """A profile that is stored now, with the place that is shown from now on."""
        place = self.snapped(person.user_id, person.lat, person.lon)
        since = now
        if before is not None and before.shown is not None:
            shown, changed_at = self._since(before, now)
            if shown == place or now < after(changed_at, self.every_s):
                place, since = shown, changed_at
        return msgspec.structs.replace(person, shown=ShownPlace(*place, since))

    def km(self, a: Person, b: Person, now: Instant) -> float:
        """The distance between two shown places."""
        return haversine_km(*angles_of(*self.of(a, now)), *angles_of(*self.of(b, now)))

    def card(self, person: Person, viewer: Person, now: Instant) -> Card:
        """What `viewer` may see of `person`."""
        return Card(
            person.user_id,
            person.display_name,
            age_at(person, now),
            person.gender,
            person.interests,
            band_km(self.km(person, viewer, now)),
        )

    def _since(self, person: Person, now: Instant) -> tuple[tuple[float, float], Instant]:
        """Where a person is shown to be, and since when."""
        shown = person.shown
        if shown is None:
            return self.snapped(person.user_id, person.lat, person.lon), 0
        due = after(shown.changed_at, self.every_s)
        if now >= due:
            place = self.snapped(person.user_id, person.lat, person.lon)
            if place != (shown.lat, shown.lon):
                return place, due  # changed too soon, and shown since that time was over
        return (shown.lat, shown.lon), shown.changed_at


WITHOUT_SECRET = ShownPlaces()
"""For a lobby that shows nobody to anybody: a simulation, an erasure from the command line."""


@lru_cache(maxsize=65_536)
def _secrets_of(secret: bytes, user_id: str) -> tuple[float, float, float]:
    """Numbers in [0, 1) that only the server can work out."""
    digest = blake2b(user_id.encode(), key=secret, digest_size=8 * _WORDS, person=b"shown place")
    words = digest.digest()
    up, along, turn = (
        int.from_bytes(words[at : at + 8], "big") / 2**64 for at in range(0, 8 * _WORDS, 8)
    )
    return up, along, turn


def _gone(lat: float, lon: float, bearing: float, km: float) -> tuple[float, float]:
    """The place so far from another in a direction; over a pole, too."""
    arc, from_lat = km / EARTH_RADIUS_KM, radians(lat)
    sine = sin(from_lat) * cos(arc) + cos(from_lat) * sin(arc) * cos(bearing)
    to_lat = asin(min(1.0, max(-1.0, sine)))
    east = atan2(sin(bearing) * sin(arc) * cos(from_lat), cos(arc) - sin(from_lat) * sin(to_lat))
    to_lon = (lon + degrees(east) + 540.0) % 360.0 - 180.0
    # Rounded, so that a place that was stored equals one that is worked out again.
    return round(degrees(to_lat), _DIGITS), round(to_lon, _DIGITS)
