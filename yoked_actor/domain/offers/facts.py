"""The facts behind many offers at once (R43).

A distance is rounded up to whole kilometres. NumPy's sine may differ from that of `math` in the
last bit, so a distance very near to a whole kilometre is computed again with `math`: the result is
that of `haversine_km` in any case.
"""

from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import EARTH_RADIUS_KM, haversine_km
from yoked_actor.domain.offers.columns import Columns, Numbers
from yoked_actor.domain.offers.scoring import ONE, Facts, likeness

_UNSURE_KM = 1e-6
_FAR_KM = 15_000.0
"""Beyond it, the arcsine magnifies rounding errors."""


class FactFinder:
    """Computes the facts of pairs of people, who are named by their numbers."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._angles = columns.all_angles
        self._spots = columns.spots[:, :3]
        self._wishes = columns.wishes
        self._years = columns.years
        self._tags = np.fromiter((len(set(p.interests)) for p in columns.people), np.int64)

    def of(self, ones: Numbers, others: Numbers) -> list[Facts]:
        """The facts of each one with each other, pair by pair."""
        apart = self._spots[ones] - self._spots[others]
        chord2 = (apart * apart).sum(axis=1)
        narrower = np.maximum(np.minimum(self._wishes[ones], self._wishes[others]), 1.0)
        lost = np.minimum(np.sqrt(chord2 / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(self._years[ones] - self._years[others])
        rows = self._columns.rows
        shared = self._columns.tags.shared(rows.take(ones), rows.take(others))
        counts = np.fromiter(map(len, shared), np.int64, len(shared))
        alike = likeness(counts, self._tags[ones], self._tags[others])
        columns = (years.tolist(), shared, alike.tolist(), self._kms(ones, others), lost.tolist())
        return list(map(Facts, *columns))

    def _kms(self, ones: Numbers, others: Numbers) -> list[int]:
        """The distances in whole kilometres, rounded up; at least 1."""
        a, b = self._angles[ones], self._angles[others]
        half_lat = np.sin((b[:, 0] - a[:, 0]) / 2)
        half_lon = np.sin((b[:, 2] - a[:, 2]) / 2)
        h = half_lat * half_lat + a[:, 1] * b[:, 1] * (half_lon * half_lon)
        kms: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, np.sqrt(h)))
        rounded: list[int] = np.maximum(np.ceil(kms), 1).astype(np.int64).tolist()
        unsure = (np.abs(kms - np.rint(kms)) < _UNSURE_KM) | (kms > _FAR_KM)
        angles = self._columns.angles
        for index in unsure.nonzero()[0].tolist():
            km = haversine_km(*angles[int(ones[index])], *angles[int(others[index])])
            rounded[index] = max(1, -floor(-km))
        return rounded
