"""What operators do: suspensions, the review of reports, lists of users."""

from __future__ import annotations

from typing import Any

from yoked_actor.domain.people import ReviewedReport, Suspension, UserRow
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.store.engine import Database, StoreError, Tx, record_in


class NothingToDo(StoreError):
    """There is no open report with this number."""


class Operators:
    """What operators do. Every change is recorded in the audit, in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def suspend(
        self, user_id: str, by: str, reason: str, now: Instant, until: Instant | None = None
    ) -> bool:
        """Suspend a user, or change the end of a suspension.

        False when the user was suspended until the same instant already: that one stands.
        """

        def apply(tx: Tx) -> bool:
            changed = tx.execute(
                "INSERT INTO suspended (user_id, at, by, reason, until) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT DO UPDATE SET at = iif(until <= excluded.at, excluded.at, at),"
                " by = excluded.by, reason = excluded.reason, until = excluded.until"
                " WHERE until IS NOT excluded.until",
                (user_id, now, by, reason, until),
            ).rowcount
            if changed:
                end = "" if until is None else f" (until {to_datetime(until).isoformat()})"
                record_in(tx, by, "suspend", user_id, f"{reason}{end}", now)
            return bool(changed)

        return await self._database.write(apply)

    async def unsuspend(self, user_id: str, by: str, now: Instant) -> bool:
        """End a suspension; False when there was none, or it had ended."""

        def apply(tx: Tx) -> bool:
            gone = tx.execute(
                "DELETE FROM suspended WHERE user_id = ? RETURNING until", (user_id,)
            ).fetchall()
            # Decided here: SQLite 3.40 evaluates `until IS NULL` as false in a RETURNING clause.
            changed = any(until is None or until > now for (until,) in gone)
            if changed:
                record_in(tx, by, "unsuspend", user_id, "", now)
            return changed

        return await self._database.write(apply)

    async def suspensions(self, now: Instant) -> dict[str, Suspension]:
        """The suspensions in force at an instant, by user."""
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT user_id, at, by, reason, until FROM suspended"
                " WHERE until IS NULL OR until > ?",
                (now,),
            ).fetchall()
        )
        return {row[0]: _suspension(row) for row in rows}

    async def reports(
        self, *, only_open: bool, limit: int, now: Instant, before: int | None = None
    ) -> list[ReviewedReport]:
        """Reports with a number less than `before`, newest first."""
        rows = await self._database.read(
            lambda tx: tx.execute(
                "SELECT r.number, r.reporter, r.reported, r.reason, r.match_id, r.at,"
                " r.resolved_at, r.resolved_by, r.resolution,"
                " (SELECT count(DISTINCT o.reporter) FROM reports AS o"
                " WHERE o.reported = r.reported),"
                " EXISTS (SELECT 1 FROM suspended AS s WHERE s.user_id = r.reported"
                " AND (s.until IS NULL OR s.until > ?4))"
                " FROM reports AS r"
                " WHERE (NOT ?1 OR r.resolved_at IS NULL) AND (?2 IS NULL OR r.number < ?2)"
                " ORDER BY r.number DESC LIMIT ?3",
                (only_open, before, limit, now),
            ).fetchall()
        )
        return [ReviewedReport(*(*row[:10], bool(row[10]))) for row in rows]

    async def resolve(self, number: int, by: str, resolution: str, now: Instant) -> None:
        """Close a report; `NothingToDo` when it does not exist or is closed."""

        def apply(tx: Tx) -> None:
            changed = tx.execute(
                "UPDATE reports SET resolved_at = ?, resolved_by = ?, resolution = ?"
                " WHERE number = ? AND resolved_at IS NULL",
                (now, by, resolution, number),
            ).rowcount
            if not changed:
                raise NothingToDo(f"there is no open report {number}")
            record_in(tx, by, "resolve_report", str(number), resolution, now)

        await self._database.write(apply)

    async def users(
        self, *, limit: int, now: Instant, after: str = "", only_suspended: bool = False
    ) -> list[UserRow]:
        """Users with an id greater than `after`, by id."""
        known = "SELECT user_id FROM people UNION SELECT user_id FROM seats"
        rows = await self._database.read(
            lambda tx: tx.execute(
                f"SELECT u.user_id, coalesce(m.status, s.state, 'idle'), p.user_id IS NOT NULL,"
                " coalesce(s.credit, 0),"
                " (SELECT count(*) FROM reports AS r WHERE r.reported = u.user_id), x.at, x.until"
                f" FROM ({known} UNION SELECT user_id FROM suspended) AS u"
                " LEFT JOIN people AS p ON p.user_id = u.user_id"
                " LEFT JOIN seats AS s ON s.user_id = u.user_id"
                " LEFT JOIN matches AS m ON m.number = s.match_number"
                " LEFT JOIN suspended AS x ON x.user_id = u.user_id"
                " AND (x.until IS NULL OR x.until > ?4)"
                " WHERE u.user_id > ?1 AND (NOT ?2 OR x.at IS NOT NULL)"
                " ORDER BY u.user_id LIMIT ?3",
                (after, only_suspended, limit, now),
            ).fetchall()
        )
        return [UserRow(row[0], row[1], bool(row[2]), *row[3:]) for row in rows]


def _suspension(row: tuple[Any, ...]) -> Suspension:
    """A suspension from its row. An end outside the calendar counts as none."""
    user_id, at, by, reason, until = row
    if until is not None:
        try:
            to_datetime(until)
        except OverflowError:
            until = None
    return Suspension(user_id, at, by, reason, until)
