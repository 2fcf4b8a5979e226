"""Ready-made profiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def make_profile(
    name: str = "Somebody",
    *,
    gender: str = "woman",
    seeking: Sequence[str] = ("man",),
    birth_date: str = "1998-04-02",
    lat: float = 52.52,
    lon: float = 13.40,
    time_zone: str = "Europe/Berlin",
    interests: Sequence[str] = (),
    min_age: int = 18,
    max_age: int = 100,
    max_distance_km: float = 100.0,
    strict: Sequence[str] = (),
) -> dict[str, Any]:
    """A profile for `PUT /api/profile`; every part has a default."""
    return {
        "display_name": name,
        "birth_date": birth_date,
        "gender": gender,
        "location": {"lat": lat, "lon": lon},
        "time_zone": time_zone,
        "interests": list(interests),
        "preferences": {
            "seeking": list(seeking),
            "min_age": min_age,
            "max_age": max_age,
            "max_distance_km": max_distance_km,
            "strict": list(strict),
        },
    }
