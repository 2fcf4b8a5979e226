"""The audit: what operators did."""

from __future__ import annotations

from yoked_actor.domain.ops import AuditEntry
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, record_in


class Audit:
    """The record of what operators did."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, who: str, action: str, subject: str, detail: str, now: Instant) -> None:
        """Record what an operator did; durable on return."""
        await self._database.write(lambda tx: record_in(tx, who, action, subject, detail, now))

    async def entries(self, limit: int, before: int | None = None) -> list[AuditEntry]:
        """Entries with a number less than `before`, newest first."""
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT number, at, who, action, subject, detail FROM audit"
                " WHERE CAST(?1 AS BIGINT) IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2",
                (before, limit),
            ).fetchall()
        )
        return [AuditEntry(*row) for row in rows]

    async def about(self, subject: str, limit: int) -> list[AuditEntry]:
        """Entries about one subject, newest first."""
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT number, at, who, action, subject, detail FROM audit"
                " WHERE subject = ? ORDER BY number DESC LIMIT ?",
                (subject, limit),
            ).fetchall()
        )
        return [AuditEntry(*row) for row in rows]
