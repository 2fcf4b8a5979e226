"""Migration 0023, which writes the tables of jobs and seats anew: all rows, ids and checks stay."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from yoked_actor.store.engine import migrate
from yoked_actor.store.engine.sqlite.schema import migrations

BEFORE = 22
WRITTEN_RARELY = {"zone_runs"}
"""One row for each zone and day."""

JOBS = [
    # id, status, lease_until, completed_at, dismissed_at, dismissed_by, dismissed_reason
    (1, "pending", None, None, None, None, None),
    (2, "in_progress", 90, None, None, None, None),
    (3, "completed", None, 80, None, None, None),
    (4, "failed", None, None, None, None, None),
    (5, "dead_letter", None, 80, None, None, None),
    (6, "dead_letter", None, 80, 85, "op", "known"),
    (7, "cancelled", None, 80, None, None, None),
]
SEATS = [
    # user_id, state, match_number
    ("ana", "idle", None),
    ("ben", "waiting", None),
    ("cleo", "matched", 1),
    ("dan", "voting", 2),
]
_PUT_JOB = (
    "INSERT INTO jobs (id, status, lease_until, completed_at, dismissed_at, dismissed_by,"
    " dismissed_reason, type, payload, payload_version, scheduled_for, priority, created_at,"
    " max_attempts, progress_done, progress_total, progress_note, overtaken, dedup_key, last_error,"
    " attempts, fence, owner, cancel_asked, started_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, 'mail', '{}', 3, 5, 7, 4, 9, 1, 2, 'half', 1, 'k', 'e', 2, 3,"
    " 'w', 1, 6)"
)
_PUT_SEAT = (
    "INSERT INTO seats (user_id, state, match_number, waiting_since, credit, date_number,"
    " last_match_number, room) VALUES (?, ?, ?, 1, 2, 3, 4, 'jazz')"
)


@pytest.fixture
def old() -> Iterator[sqlite3.Connection]:
    """A database as the version before left it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for step in migrations():
            if step.version <= BEFORE:
                db.executescript(step.text)
        db.execute(f"PRAGMA user_version = {BEFORE}")
        yield db


def columns(db: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return db.execute(f"PRAGMA table_info({table})").fetchall()


def indexes(db: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(db.execute("SELECT tbl_name, name, sql FROM sqlite_schema WHERE type = 'index'"))


def test_rows_columns_and_indexes_stay(old):
    old.executemany(_PUT_JOB, JOBS)
    old.executemany(_PUT_SEAT, SEATS)
    before = [
        (columns(old, table), old.execute(f"SELECT * FROM {table}").fetchall())
        for table in ("jobs", "seats")
    ]
    known = indexes(old)
    # This migration alone: later ones may change an index.
    old.executescript(next(step.text for step in migrations() if step.version == BEFORE + 1))
    after = [
        (columns(old, table), old.execute(f"SELECT * FROM {table}").fetchall())
        for table in ("jobs", "seats")
    ]
    assert after == before
    assert indexes(old) == known


@pytest.mark.parametrize("left", [0, 3])
def test_the_id_of_a_job_that_was_deleted_is_not_used_again(old, left):
    old.executemany(_PUT_JOB, JOBS)
    old.execute("DELETE FROM jobs WHERE id > ?", (left,))
    migrate(old, None)
    assert old.execute("SELECT count(*) FROM jobs").fetchone() == (left,)
    old.execute(_PUT_JOB, (None, *JOBS[0][1:]))
    assert old.execute("SELECT max(id) FROM jobs").fetchone() == (len(JOBS) + 1,)


@pytest.mark.parametrize(
    "job",
    [
        (1, "running", None, None, None, None, None),
        (1, "in_progress", None, None, None, None, None),
        (1, "pending", 90, None, None, None, None),
        (1, "pending", None, 80, None, None, None),
        (1, "completed", None, None, None, None, None),
        (1, "dead_letter", None, None, None, None, None),
        (1, "cancelled", None, None, None, None, None),
        (1, "completed", None, 80, 85, "op", "known"),
        (1, "dead_letter", None, 80, 85, None, "known"),
        (1, "dead_letter", None, 80, 85, "op", None),
    ],
)
def test_a_job_that_cannot_be_is_refused(old, job):
    migrate(old, None)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        old.execute(_PUT_JOB, job)


@pytest.mark.parametrize(
    "seat",
    [("ana", "gone", None), ("ana", "idle", 1), ("ana", "matched", None), ("ana", "voting", None)],
)
def test_a_seat_that_cannot_be_is_refused(old, seat):
    migrate(old, None)
    with pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        old.execute(_PUT_SEAT, seat)


def test_no_check_makes_a_table_of_values_for_each_row(old):
    migrate(old, None)
    tables = old.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    slow = set()
    for (table,) in tables.fetchall():
        nulls = ", ".join("NULL" for _ in columns(old, table))
        steps = old.execute(f"EXPLAIN INSERT INTO {table} VALUES ({nulls})").fetchall()
        if "OpenEphemeral" in {step[1] for step in steps}:
            slow.add(table)
    assert slow == WRITTEN_RARELY
