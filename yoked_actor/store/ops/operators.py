"""What operators do: suspensions, the review of reports, lists of users."""

from __future__ import annotations

import unicodedata
from typing import Any

from yoked_actor.domain.people import ReviewedReport, Suspension, UserRow
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.store.engine import Database, Tx, record_in
from yoked_actor.store.ops.reviews import (
    close_report_in,
    open_reports_in,
    reports_in,
    reports_of_in,
)

_PAGE = 5_000
"""How many users are read at once during a search."""


class Operators:
    """What operators do. Every change is recorded in the audit, in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def suspend(
        self,
        user_id: str,
        by: str,
        reason: str,
        now: Instant,
        until: Instant | None = None,
        *,
        report: int | None = None,
    ) -> bool:
        """Suspend a user, or change the end of a suspension; with `report`, close that report too.

        False when the user was suspended until the same instant already: that one stands.
        `NothingToDo` when the report is not open: nothing has changed then.
        """

        def apply(tx: Tx) -> bool:
            changed = tx.execute(
                "INSERT INTO suspended (user_id, at, by, reason, until) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (user_id) DO UPDATE SET at = CASE"
                " WHEN suspended.until <= excluded.at THEN excluded.at ELSE suspended.at END,"
                " by = excluded.by, reason = excluded.reason, until = excluded.until"
                " WHERE coalesce(suspended.until, -1) <> coalesce(excluded.until, -1)",
                (user_id, now, by, reason, until),
            ).rowcount
            if changed:
                end = "" if until is None else f" (until {to_datetime(until).isoformat()})"
                record_in(tx, by, "suspend", user_id, f"{reason}{end}", now)
            if report is not None:
                close_report_in(tx, report, by, f"suspended: {reason}", now)
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
        return await self._database.read(
            lambda tx: reports_in(tx, now, limit, only_open=only_open, before=before)
        )

    async def reports_of(
        self, user_id: str, now: Instant, limit: int
    ) -> tuple[list[ReviewedReport], list[ReviewedReport]]:
        """The reports about a user, with their appeals, and the reports by the user."""
        return await self._database.read(lambda tx: reports_of_in(tx, user_id, now, limit))

    async def open_reports(self, most: int) -> int:
        """How many reports are open, counted up to `most`."""
        return await self._database.read(lambda tx: open_reports_in(tx, most))

    async def resolve(self, number: int, by: str, resolution: str, now: Instant) -> None:
        """Close a report; `NothingToDo` when it does not exist or is closed."""
        await self._database.write(lambda tx: close_report_in(tx, number, by, resolution, now))

    async def users(
        self,
        *,
        limit: int,
        now: Instant,
        after: str = "",
        only_suspended: bool = False,
        search: str = "",
    ) -> list[UserRow]:
        """Users with an id greater than `after`, by id.

        With `search`, only users whose id or name contains that text, in any case. That reads the
        whole table of people, on a connection of its own.
        """
        if not search:
            return await self._database.read(
                lambda tx: _users_in(tx, limit, now, after, only_suspended)
            )
        wanted = _folded(search)

        def find(tx: Tx) -> list[UserRow]:
            found: list[UserRow] = []
            start = after
            while len(found) < limit:
                page = _users_in(tx, _PAGE, now, start, only_suspended)
                found += [
                    row
                    for row in page
                    if wanted in _folded(row.user_id) or wanted in _folded(row.display_name or "")
                ]
                if len(page) < _PAGE:
                    break
                start = page[-1].user_id
            return found[:limit]

        return await self._database.read_long(find)


def _users_in(tx: Tx, limit: int, now: Instant, after: str, only_suspended: bool) -> list[UserRow]:
    known = "SELECT user_id FROM people UNION SELECT user_id FROM seats"
    rows = tx.execute(
        "SELECT u.user_id, coalesce(m.status, s.state, 'idle'), p.user_id IS NOT NULL,"
        " coalesce(s.credit, 0),"
        " (SELECT count(*) FROM reports AS r"
        " WHERE r.reported = u.user_id AND r.kind = 'report'), x.at, x.until, p.display_name"
        f" FROM ({known} UNION SELECT user_id FROM suspended) AS u"
        " LEFT JOIN people AS p ON p.user_id = u.user_id"
        " LEFT JOIN seats AS s ON s.user_id = u.user_id"
        " LEFT JOIN matches AS m ON m.number = s.match_number"
        " LEFT JOIN suspended AS x ON x.user_id = u.user_id"
        " AND (x.until IS NULL OR x.until > ?4)"
        " WHERE u.user_id > ?1 AND (CAST(?2 AS INTEGER) = 0 OR x.at IS NOT NULL)"
        " ORDER BY u.user_id LIMIT ?3",
        (after, only_suspended, limit, now),
    )
    return [UserRow(row[0], row[1], bool(row[2]), *row[3:]) for row in rows]


def _folded(text: str) -> str:
    """A text for comparison: composed, and without the difference of upper and lower case."""
    return unicodedata.normalize("NFC", text).casefold()


def _suspension(row: tuple[Any, ...]) -> Suspension:
    """A suspension from its row. Outside the calendar, an end counts as none, a begin as 1970."""
    user_id, at, by, reason, until = row
    return Suspension(user_id, _in_calendar(at) or 0, by, reason, _in_calendar(until))


def _in_calendar(at: Instant | None) -> Instant | None:
    """The instant, or None if no date has it."""
    if at is not None:
        try:
            to_datetime(at)
        except OverflowError:
            return None
    return at
