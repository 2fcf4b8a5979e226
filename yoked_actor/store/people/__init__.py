"""Reports, exports and erasure of users in the database."""

from __future__ import annotations

from yoked_actor.store.people.erasure import erase_in
from yoked_actor.store.people.privacy import Privacy
from yoked_actor.store.people.reports import (
    TooManyAppeals,
    TooManyReports,
    add_appeal_in,
    add_report_in,
)

__all__ = [
    "Privacy",
    "TooManyAppeals",
    "TooManyReports",
    "add_appeal_in",
    "add_report_in",
    "erase_in",
]
