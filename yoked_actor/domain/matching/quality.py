"""Reports on the quality of matches."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from yoked_actor.domain.matching.tickets import Tier
from yoked_actor.domain.people import Person


def group_of(person: Person) -> str:
    """The group of a person in reports and metrics: their gender, and whom they seek."""
    return _group_name(person.gender, person.seeking)


@lru_cache(maxsize=256)
def _group_name(gender: str, seeking: frozenset[str]) -> str:
    return f"{gender} seeking {' or '.join(sorted(seeking))}"


class Percentiles(msgspec.Struct, frozen=True):
    """The 50th, 90th and 99th percentile."""

    p50: float
    p90: float
    p99: float


class GroupQuality(msgspec.Struct, frozen=True):
    """The matches of the users of one gender who seek the same genders.

    `count` is how many times one of them was matched, `wait_s` how long they had waited, `tiers`
    how many of these matches needed each tier. `match_rate` is the share of the ended matches in
    which both voted yes; null if none has ended.
    """

    group: str
    count: int
    wait_s: Percentiles
    tiers: dict[Tier, int]
    match_rate: float | None


class QualityReport(msgspec.Struct, frozen=True):
    """The quality of the matches of a period, by group."""

    matches: int
    complete: bool
    """False if there were more matches, and only the newest were read."""
    groups: list[GroupQuality]
