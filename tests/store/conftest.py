"""Somebody to store."""

from __future__ import annotations

from datetime import date

import pytest

from yoked_actor.domain.people import Person


@pytest.fixture
def ana() -> Person:
    return Person(
        user_id="ana",
        display_name="Ana",
        birth_date=date(1998, 4, 2),
        gender="woman",
        lat=52.52,
        lon=13.4,
        time_zone="Europe/Berlin",
        interests=("jazz",),
        seeking=frozenset({"man"}),
        min_age=24,
        max_age=36,
        max_distance_km=50.0,
    )
