"""The facts behind many offers at once (R43).

A distance is rounded up to whole kilometres. NumPy's sine may differ from that of `math` in the
last bit, so a distance very near to a whole kilometre is computed again with `math`: the result is
that of `haversine_km` in any case.
"""

from __future__ import annotations

from math import floor

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import EARTH_RADIUS_KM, angles_of, haversine_km
from yoked_actor.domain.offers.columns import Columns, Numbers
from yoked_actor.domain.offers.scoring import ONE, Facts, likeness

_UNSURE_KM = 1e-6
_FAR_KM = 15_000.0
"""Beyond it, the arcsine magnifies rounding errors."""


class FactFinder:
    """Computes the facts of pairs of people, who are named by their numbers."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        sizes = np.fromiter((len(set(p.interests)) for p in columns.people), np.float64)
        values = (columns.spots[:, :3], columns.all_angles, columns.wishes, columns.years, sizes)
        self._values = np.column_stack(values)

    def of(self, ones: Numbers, others: Numbers) -> list[Facts]:
        """The facts of each one with each other, pair by pair."""
        a, b = self._values.take(ones, axis=0).T, self._values.take(others, axis=0).T
        apart = a[:3] - b[:3]
        apart *= apart
        narrower = np.maximum(np.minimum(a[6], b[6]), 1.0)
        lost = np.minimum(np.sqrt(apart.sum(axis=0) / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(a[7] - b[7]).astype(np.int64)
        rows = self._columns.rows
        shared = self._columns.tags.shared(rows.take(ones), rows.take(others))
        counts = np.fromiter(map(len, shared), np.int64, len(shared))
        alike = likeness(counts, a[8].astype(np.int64), b[8].astype(np.int64))
        kms = self._kms(ones, others, a[3:6], b[3:6])
        columns = (years.tolist(), shared, alike.tolist(), kms, lost.tolist())
        return list(map(Facts, *columns))

    def _kms(
        self, ones: Numbers, others: Numbers, a: NDArray[np.float64], b: NDArray[np.float64]
    ) -> list[int]:
        """The distances in whole kilometres, rounded up; at least 1."""
        half_lat = np.sin((b[0] - a[0]) / 2)
        half_lon = np.sin((b[2] - a[2]) / 2)
        h = half_lat * half_lat + a[1] * b[1] * (half_lon * half_lon)
        kms: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, np.sqrt(h)))
        rounded: list[int] = np.maximum(np.ceil(kms), 1).astype(np.int64).tolist()
        unsure = (np.abs(kms - np.rint(kms)) < _UNSURE_KM) | (kms > _FAR_KM)
        positions = self._columns.positions
        for index in unsure.nonzero()[0].tolist():
            here, there = positions[ones[index]].tolist(), positions[others[index]].tolist()
            km = haversine_km(*angles_of(*here), *angles_of(*there))
            rounded[index] = max(1, -floor(-km))
        return rounded
