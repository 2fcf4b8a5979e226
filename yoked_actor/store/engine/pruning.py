"""Deleting the oldest rows of a table, some at a time: a long transaction would hold up others."""

from __future__ import annotations

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine.transaction import Tx


def prune_oldest(tx: Tx, table: str, key: str, at: str, before: Instant, limit: int) -> int:
    """Delete up to `limit` rows whose column `at` is before an instant; returns how many."""
    return tx.execute(
        f"DELETE FROM {table} WHERE ({key}) IN"
        f" (SELECT {key} FROM {table} WHERE {at} < ? ORDER BY {at} LIMIT ?)",
        (before, limit),
    ).rowcount
