"""What an erasure does to offers that are stored, or are being made."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement

_WITHOUT_PROFILE = statement("offers/without_profile")


def drop_offer(tx: Tx, day: str, receiver: str, rank: int) -> None:
    """Delete an offer from a set, and count it as erased."""
    dropped = tx.execute(
        "DELETE FROM offers WHERE day = ? AND user_id = ? AND rank = ?", (day, receiver, rank)
    ).rowcount
    tx.execute(
        "UPDATE offer_sets SET erased = erased + ? WHERE day = ? AND user_id = ?",
        (dropped, day, receiver),
    )


def was_frozen_before(tx: Tx, day: str, zone: str, inputs: str | None, at: Instant) -> bool:
    """Whether the inputs of a set were frozen before an instant, or are not its run's any more."""
    found = tx.execute(
        "SELECT frozen_at, inputs FROM offer_runs WHERE day = ? AND zone = ?", (day, zone)
    ).fetchone()
    return found is None or found[0] <= at or (inputs is not None and inputs != found[1])


def without_a_profile(tx: Tx, users: set[str]) -> set[str]:
    """The users without a profile. Of the users of a pool, these are the erased."""
    asked = msgspec.json.encode(sorted(users)).decode()
    return {user for (user,) in tx.execute(_WITHOUT_PROFILE, (asked,))}
