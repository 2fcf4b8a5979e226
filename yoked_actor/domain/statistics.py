"""Statistics of a few values."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil


def percentile(values: Sequence[float], share: float) -> float:
    """The least value that this share of all values does not exceed (nearest rank); 0 of none."""
    if not values:
        return 0.0
    return sorted(values)[max(ceil(share * len(values)), 1) - 1]
