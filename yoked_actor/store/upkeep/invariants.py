"""Rules between rows that hold after every commit, for the doctor.

Each is a query for the rows that break it. They hold in every snapshot, because rows that belong
together are written in one transaction.
"""

from __future__ import annotations

import msgspec


class Invariant(msgspec.Struct, frozen=True):
    """A rule, as a query for the rows that break it; the first column names them."""

    broken: str
    query: str
    fix: str


_RESTORE = "this should not happen: keep a copy for a report, and restore a backup"

INVARIANTS = (
    Invariant(
        "open matches that are not the match of both their people",
        "SELECT 'm' || m.number FROM matches AS m WHERE m.ended_at IS NULL AND 2 <> (SELECT"
        " count(*) FROM seats AS s WHERE s.match_number = m.number AND s.user_id IN (m.a, m.b))",
        _RESTORE,
    ),
    Invariant(
        "people who sit in a match that is not open, or not theirs",
        "SELECT s.user_id FROM seats AS s WHERE s.match_number IS NOT NULL AND NOT EXISTS (SELECT"
        " 1 FROM matches AS m WHERE m.number = s.match_number AND m.ended_at IS NULL"
        " AND s.user_id IN (m.a, m.b) AND s.state IN ('matched', m.status))",
        _RESTORE,
    ),
    Invariant(
        "people who are on a date that is not open, or not theirs",
        "SELECT s.user_id FROM seats AS s WHERE s.date_number IS NOT NULL AND NOT EXISTS (SELECT"
        " 1 FROM dates AS d WHERE d.number = s.date_number AND d.ended_at IS NULL"
        " AND s.user_id IN (d.a, d.b))",
        _RESTORE,
    ),
    Invariant(
        "open dates that are not the date of both their people",
        "SELECT 'd' || d.number FROM dates AS d WHERE d.ended_at IS NULL AND 2 <> (SELECT"
        " count(*) FROM seats AS s WHERE s.date_number = d.number AND s.user_id IN (d.a, d.b))",
        _RESTORE,
    ),
    Invariant(
        "people who wait without a place, or have one without waiting",
        "SELECT user_id FROM seats WHERE (state = 'idle') <> (waiting_since IS NULL)",
        _RESTORE,
    ),
    Invariant(
        "people who wait without a profile",
        "SELECT s.user_id FROM seats AS s LEFT JOIN people AS p ON p.user_id = s.user_id"
        " WHERE s.state <> 'idle' AND p.user_id IS NULL",
        _RESTORE,
    ),
    Invariant(
        "sets of offers that are no JSON",
        "SELECT day || ' ' || user_id FROM offer_sets"
        " WHERE NOT json_valid(candidates) OR NOT json_valid(facts)",
        _RESTORE,
    ),
    Invariant(
        "keys in use whose job has another one",
        "SELECT k.type || ' ' || k.key FROM job_ledger AS k JOIN jobs AS j ON j.id = k.job_id"
        " WHERE k.outcome IS NULL AND (j.type <> k.type OR coalesce(j.dedup_key, '') <> k.key)",
        _RESTORE,
    ),
    Invariant(
        "jobs with a key that is not in the ledger",
        "SELECT j.id FROM jobs AS j WHERE j.dedup_key IS NOT NULL AND NOT EXISTS (SELECT 1"
        " FROM job_ledger AS k WHERE k.type = j.type AND k.key = j.dedup_key)",
        _RESTORE,
    ),
    Invariant(
        "failed attempts of jobs that are gone",
        "SELECT a.job_id FROM job_attempts AS a LEFT JOIN jobs AS j ON j.id = a.job_id"
        " WHERE j.id IS NULL",
        _RESTORE,
    ),
    Invariant(
        "erased people who are still somebody",
        "SELECT user_id FROM people WHERE user_id LIKE '~%'"
        " UNION ALL SELECT user_id FROM seats WHERE user_id LIKE '~%'",
        _RESTORE,
    ),
)
