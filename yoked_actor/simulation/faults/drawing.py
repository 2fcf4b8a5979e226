"""Draws the faults of a run: which, and when."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from random import Random

import msgspec

from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime, to_datetime
from yoked_actor.simulation.zones import zone_of

_PER_DAY = 8.0
_WEIGHTS = {
    "crash": 4,
    "power": 2,
    "socket": 4,
    "disk": 2,
    "statement": 3,
    "clock": 1,
    "suspend": 1,
    "side_task": 3,
    "reload": 1,
    "drain": 2,
    "worker": 2,
}


class Appointment(msgspec.Struct, frozen=True):
    """A fault that will come."""

    number: int
    kind: str
    at: Instant
    seed: str


def draw_faults(
    seed: int, kinds: tuple[str, ...], start_at: Instant, days: int, zones: tuple[str, ...]
) -> list[Appointment]:
    """Draw faults: most of them when a zone is busy, in the evening or at its morning."""
    if not kinds:
        return []
    random = Random(f"faults {seed}")
    weights = [_WEIGHTS[kind] for kind in kinds]
    faults = []
    for number in range(round(_PER_DAY * days)):
        [kind] = random.choices(kinds, weights)
        at = start_at + round(random.uniform(0.05, days - 0.05) * 86_400 * MICROSECONDS)
        if random.random() < 0.85:
            at = _busy_time(random, at, random.choice(zones))
        faults.append(Appointment(number, kind, at, f"{seed} {number}"))
    return sorted(faults, key=lambda one: (one.at, one.number))


def _busy_time(random: Random, near: Instant, zone: str) -> Instant:
    """An instant of a morning or an evening of a zone."""
    place = zone_of(zone)
    day = to_datetime(near).astimezone(place).date()
    if random.random() < 0.4:
        moment = datetime.combine(day, time(9, 0), place) + timedelta(
            seconds=random.choice((-1.0, 0.0, 0.0, 0.0, 0.001, 0.05, 1.0, 30.0))
        )
    else:
        moment = datetime.combine(day, time(20, 0), place) + timedelta(
            seconds=random.uniform(60, 480)
        )
    return from_datetime(moment.astimezone(UTC))
