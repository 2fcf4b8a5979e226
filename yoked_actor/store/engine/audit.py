"""One entry of the audit, written in the transaction of the action itself."""

from __future__ import annotations

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine.transaction import Tx


def record_in(tx: Tx, who: str, action: str, subject: str, detail: str, now: Instant) -> None:
    """Record what an operator does, inside a transaction."""
    tx.execute(
        "INSERT INTO audit (at, who, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (now, who, action, subject, detail),
    )
