"""One entry of the audit, written in the transaction of what it is about."""

from __future__ import annotations

import sqlite3

from yoked_actor.domain.time import Instant


def record_in(
    db: sqlite3.Connection, who: str, action: str, subject: str, detail: str, now: Instant
) -> None:
    """Record what an operator does, in a transaction that is under way."""
    db.execute(
        "INSERT INTO audit (at, who, action, subject, detail) VALUES (?, ?, ?, ?, ?)",
        (now, who, action, subject, detail),
    )
