"""One entry of the audit, written in the transaction of what it is about."""

from __future__ import annotations

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine.transaction import Tx


def record_in(tx: Tx, who: str, action: str, subject: str, detail: str, now: Instant) -> None:
    """Record what an operator does, in a transaction that is under way."""
    tx.execute(
        "INSERT INTO audit (at, who, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (now, who, action, subject, detail),
    )
