"""Deleting old jobs and their keys, inside a transaction."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement

_FIND = statement("jobs/prune_find")
_FIND_DEAD = statement("jobs/prune_find_dead")
_OUTCOMES = statement("jobs/prune_outcomes")
_DELETE = tuple(statement(f"jobs/prune_{table}") for table in ("attempts", "answers", "jobs"))

_decode_ids = msgspec.json.Decoder(list[int]).decode


def prune_in(tx: Tx, ended_before: Instant, limit: int, *, dead: bool) -> int:
    """Delete jobs that ended before an instant; their keys keep the outcome."""
    (ids,) = tx.execute(_FIND_DEAD if dead else _FIND, (ended_before, limit)).fetchone()
    tx.execute(_OUTCOMES, (ids,))
    for delete in _DELETE:
        tx.execute(delete, (ids,))
    return len(_decode_ids(ids))
