"""Reports and appeals as operators review them, inside a transaction."""

from __future__ import annotations

from typing import Any

from yoked_actor.domain.people import ReportKind, ReviewedReport
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import StoreError, Tx, record_in

_SELECT = (
    "SELECT r.number, r.reporter, r.reported, r.reason, r.match_id, r.at,"
    " r.resolved_at, r.resolved_by, r.resolution,"
    " (SELECT count(DISTINCT o.reporter) FROM reports AS o"
    " WHERE o.reported = r.reported AND o.kind = 'report'),"
    " EXISTS (SELECT 1 FROM suspended AS s WHERE s.user_id = r.reported"
    " AND (s.until IS NULL OR s.until > ?1)), r.kind"
    " FROM reports AS r"
)


class NothingToDo(StoreError):
    """There is no open report with this number."""


def reports_in(
    tx: Tx, now: Instant, limit: int, *, only_open: bool, before: int | None
) -> list[ReviewedReport]:
    """Reports with a number less than `before`, newest first."""
    rows = tx.execute(
        f"{_SELECT} WHERE (CAST(?2 AS INTEGER) = 0 OR r.resolved_at IS NULL)"
        " AND (CAST(?3 AS BIGINT) IS NULL OR r.number < ?3)"
        " ORDER BY r.number DESC LIMIT ?4",
        (now, only_open, before, limit),
    )
    return [_reviewed(row) for row in rows]


def reports_of_in(
    tx: Tx, user_id: str, now: Instant, limit: int
) -> tuple[list[ReviewedReport], list[ReviewedReport]]:
    """The reports about a user, with their appeals, and the reports by the user; newest first."""
    about = tx.execute(
        f"{_SELECT} WHERE r.reported = ?2 ORDER BY r.number DESC LIMIT ?3", (now, user_id, limit)
    ).fetchall()
    by = tx.execute(
        f"{_SELECT} WHERE r.reporter = ?2 AND r.kind = 'report' ORDER BY r.number DESC LIMIT ?3",
        (now, user_id, limit),
    ).fetchall()
    return [_reviewed(row) for row in about], [_reviewed(row) for row in by]


def open_reports_in(tx: Tx, most: int) -> int:
    """How many reports are open, counted up to `most`."""
    (count,) = tx.execute(
        "SELECT count(*) FROM (SELECT number FROM reports WHERE resolved_at IS NULL LIMIT ?)"
        " AS opened",
        (most,),
    ).fetchone()
    return int(count)


def close_report_in(tx: Tx, number: int, by: str, resolution: str, now: Instant) -> None:
    """Close a report; `NothingToDo` when it does not exist or is closed."""
    changed = tx.execute(
        "UPDATE reports SET resolved_at = ?, resolved_by = ?, resolution = ?"
        " WHERE number = ? AND resolved_at IS NULL",
        (now, by, resolution, number),
    ).rowcount
    if not changed:
        raise NothingToDo(f"there is no open report {number}")
    record_in(tx, by, "resolve_report", str(number), resolution, now)


def _reviewed(row: tuple[Any, ...]) -> ReviewedReport:
    kind = ReportKind.APPEAL if row[11] == ReportKind.APPEAL else ReportKind.REPORT
    return ReviewedReport(*(*row[:10], bool(row[10]), kind))
