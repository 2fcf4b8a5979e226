"""Holding stored offers against what they were made from (R42)."""

from __future__ import annotations

from datetime import date

import msgspec
import trio

from yoked_actor.actors.offer_runs import GiveWay
from yoked_actor.domain.offers import Finding, StoredSet, verify
from yoked_actor.store.offers import Offers


class Verdict(msgspec.Struct, frozen=True):
    """What came of looking at one run."""

    zone: str
    day: date
    sets: int
    in_full: bool
    """Whether the run was made again; without its pool only digests can be compared."""
    findings: list[Finding]


class NoRun(Exception):
    """There was no run of that zone and date."""


async def verify_run(offers: Offers, zone: str, day: date, *, threads: bool = True) -> Verdict:
    """Make a run again, by the version that made it, and compare what is stored with it."""
    frozen = await offers.load_run(zone, day)
    if frozen is None:
        raise NoRun(f"there was no run of {day} in {zone}")
    kept = await offers.load_zone(zone, day)
    stored = {one.offers.user_id: StoredSet(one.offers, one.digest, one.erased) for one in kept}
    pool = frozen.pool

    def compare() -> list[Finding]:
        return verify(pool, frozen.rules, frozen.inputs, stored, GiveWay(), frozen.erased)

    findings = await trio.to_thread.run_sync(compare) if threads else compare()
    in_full = pool is not None and not frozen.erased
    return Verdict(zone, day, len(stored), in_full, sorted(findings))
