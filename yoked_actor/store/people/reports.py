"""Storing reports and appeals, inside a transaction, up to a limit for each user."""

from __future__ import annotations

from yoked_actor.domain.people import Appeal, Report, ReportLimits
from yoked_actor.domain.time import after, seconds_between
from yoked_actor.store.engine import StoreError, Tx, record_in, statement

_ADD = statement("people/add_report")
_COUNTS = statement("people/report_counts")
_DAY_S = 86_400


def add_report_in(tx: Tx, report: Report, limits: ReportLimits) -> None:
    """Store a report, or raise `TooManyReports`."""
    asked = {
        "reporter": report.reporter,
        "reported": report.reported,
        "since": after(report.at, -_DAY_S),
    }
    of_the_day, about_the_same = tx.execute(_COUNTS, asked).fetchone()
    if about_the_same >= limits.per_pair:
        raise TooManyReports(
            f"you have {about_the_same} open reports about this user, which is the most there can"
            " be; the operator has them"
        )
    if of_the_day >= limits.per_day:
        raise TooManyReports(
            f"you have made {of_the_day} reports within 24 hours, which is the most there can be"
        )
    tx.execute(_ADD, (report.reporter, report.reported, report.reason, report.match_id, report.at))


def add_appeal_in(tx: Tx, appeal: Appeal, every_s: float) -> None:
    """Store an appeal and its entry in the audit, or raise `TooManyAppeals`."""
    since = after(appeal.at, -every_s)
    # One from the future, before the clock was set back, does not count.
    (last_at,) = tx.execute(
        "SELECT max(at) FROM reports"
        " WHERE reporter = ?1 AND kind = 'appeal' AND at > ?2 AND at <= ?3",
        (appeal.user_id, since, appeal.at),
    ).fetchone()
    if last_at is not None:
        raise TooManyAppeals(seconds_between(since, last_at))
    number = tx.execute(
        "INSERT INTO reports (reporter, reported, reason, match_id, at, kind)"
        " VALUES (?1, ?1, ?2, NULL, ?3, 'appeal') RETURNING number",
        (appeal.user_id, appeal.text, appeal.at),
    ).fetchone()[0]
    record_in(tx, appeal.user_id, "appeal", appeal.user_id, f"report {number}", appeal.at)


class TooManyAppeals(StoreError):
    """The user has appealed recently; nothing was stored."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"another appeal can be made in {wait_s:.0f} s")
        self.wait_s = wait_s
        """After this time another appeal can be made."""


class TooManyReports(StoreError):
    """The user has reached a limit; nothing was stored. The text is shown to the user."""
