"""Verifies stored sets: against their digests, and against a repeated run (R42)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules, inputs_digest
from yoked_actor.domain.offers.offer_sets import OfferSet
from yoked_actor.domain.offers.zone_run import make_run


class Finding(msgspec.Struct, frozen=True, order=True):
    """A difference from what the run made. Without a user it is about the whole run."""

    user_id: str
    problem: str
    erased: bool = False
    """A user was erased, so this cannot be verified any more; it is not a defect."""


class StoredSet(msgspec.Struct, frozen=True):
    """A set as it is stored, with the digest that was stored when it was made."""

    offers: OfferSet
    digest: str
    erased: int = 0
    """How many of its offers were removed because the candidate was erased."""
    earlier: bool = False
    """Whether it was made before the pool was frozen again: it is kept, but not made again."""


def check_stored(stored: StoredSet) -> Finding | None:
    """Compare a stored set with its stored digest; this needs no pool."""
    if stored.erased:
        problem = f"erased: {stored.erased} of its offers named somebody who was erased since"
        return Finding(stored.offers.user_id, problem, erased=True)
    if stored.offers.digest() == stored.digest:
        return None
    return Finding(stored.offers.user_id, "the stored set does not have its stored digest")


def check_all(stored: Mapping[str, StoredSet]) -> list[Finding]:
    """The findings of `check_stored`, by user id."""
    checked = (check_stored(stored[user_id]) for user_id in sorted(stored))
    return [finding for finding in checked if finding is not None]


def verify(
    pool: FrozenPool | None,
    rules: OfferRules,
    inputs: str,
    stored: Mapping[str, StoredSet],
    progress: Callable[[int, int], None] | None = None,
    erased: int = 0,
) -> list[Finding]:
    """Make a run again from its pool and rules, and report where the stored sets differ.

    `inputs` is the digest of the inputs that was stored with the run. A set that is not stored is
    not a finding: its user may have had another set that day. If people of the pool were `erased`,
    or the pool is deleted, each set is only compared with its own digest, and so is a set of an
    `earlier` pool. `progress` is that of `make_run`.
    """
    findings = []
    if erased:
        problem = f"erased: {erased} of the people it was made from were erased since"
        findings.append(Finding("", problem, erased=True))
    if erased or pool is None:
        return findings + check_all(stored)
    if inputs_digest(pool, rules) != inputs:
        findings.append(Finding("", "the frozen pool does not have its stored digest"))
    made = make_run(pool, rules, progress)
    for user_id in sorted(stored):
        tampered = check_stored(stored[user_id])
        if tampered is not None:
            findings.append(tampered)
        if stored[user_id].erased or stored[user_id].earlier:
            continue
        if user_id not in made:
            findings.append(Finding(user_id, "the run makes no set for this user"))
        elif made[user_id].canonical() != stored[user_id].offers.canonical():
            findings.append(Finding(user_id, "the run makes another set for this user"))
    return findings
