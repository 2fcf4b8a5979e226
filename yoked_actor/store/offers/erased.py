"""What an erasure does to offers that are stored, or are being made."""

from __future__ import annotations

from typing import Any

import msgspec

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement

_WITHOUT_PROFILE = statement("offers/without_profile")

_encode = msgspec.json.Encoder().encode
_decode_names = msgspec.json.Decoder(list[str]).decode
_decode_array = msgspec.json.Decoder(list[Any]).decode


def drop_offer(tx: Tx, day: str, receiver: str, candidate: str) -> None:
    """Delete the offer of a candidate from a set, if it has one, and count it as erased."""
    which = (day, receiver)
    found = tx.execute(
        "SELECT candidates, facts FROM offer_sets WHERE day = ? AND user_id = ?", which
    ).fetchone()
    if found is None:
        return
    try:
        candidates, facts = _decode_names(found[0]), _decode_array(found[1])
    except msgspec.DecodeError:
        candidates, facts = [], []  # nobody could read them, and they may name the candidate
    else:
        if candidate not in candidates:
            return
        at = candidates.index(candidate)
        del candidates[at], facts[at : at + 1]
    tx.execute(
        "UPDATE offer_sets SET candidates = ?, facts = ?, erased = erased + 1"
        " WHERE day = ? AND user_id = ?",
        (_encode(candidates).decode(), _encode(facts).decode(), *which),
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
