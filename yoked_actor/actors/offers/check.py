"""Verifies stored offers against the frozen pool that they were made from (R42)."""

from __future__ import annotations

from datetime import date

import msgspec
import trio

from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.domain.offers import Finding, FrozenRun, KeptSet, StoredSet, check_all, verify
from yoked_actor.store import Offers, UnreadableRun


class Verdict(msgspec.Struct, frozen=True):
    """The result of verifying a run."""

    zone: str
    day: date
    sets: int
    in_full: bool
    """Whether the run was computed again; without its pool only digests are compared."""
    findings: list[Finding]
    earlier: int = 0
    """Sets from before the run was frozen again: they are valid, and compared by digest."""


class NoRun(Exception):
    """The zone has no run of that date."""


async def verify_run(offers: Offers, zone: str, day: date, *, threads: bool = True) -> Verdict:
    """Compute a run again, with the version that made it, and compare it with what is stored."""
    findings: list[Finding] = []
    try:
        frozen = await offers.load_run(zone, day)
    except UnreadableRun as error:
        frozen = None
        findings.append(Finding("", str(error)))
    if frozen is None and not findings:
        raise NoRun(f"there was no run of {day} in {zone}")
    kept = await offers.load_zone(zone, day)
    earlier = {one.offers.user_id for one in kept if frozen and _is_earlier(one, frozen)}
    stored = {
        one.offers.user_id: StoredSet(
            one.offers, one.digest, one.erased, one.offers.user_id in earlier
        )
        for one in kept
    }

    def compare() -> list[Finding]:
        if frozen is None:
            return check_all(stored)
        give_way = GiveWay(offers.no_transaction)
        return verify(frozen.pool, frozen.rules, frozen.inputs, stored, give_way, frozen.erased)

    findings += await trio.to_thread.run_sync(compare) if threads else compare()
    unreadable = await offers.unreadable_sets(zone, day)
    findings += [Finding(one.user_id, one.problem) for one in unreadable]
    in_full = frozen is not None and frozen.pool is not None and not frozen.erased
    sets = len(stored) + len(unreadable)
    return Verdict(zone, day, sets, in_full, sorted(findings), len(earlier))


def _is_earlier(kept: KeptSet, frozen: FrozenRun) -> bool:
    """Whether a set was made before the run was frozen again."""
    return frozen.refrozen > 0 and kept.inputs != frozen.inputs
