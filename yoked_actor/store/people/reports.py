"""Storing reports, inside a transaction, up to a limit for each user."""

from __future__ import annotations

from yoked_actor.domain.people import Report, ReportLimits
from yoked_actor.domain.time import after
from yoked_actor.store.engine import StoreError, Tx, statement

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


class TooManyReports(StoreError):
    """The user has reached a limit; nothing was stored. The text is shown to the user."""
