"""A claim reads nothing of the jobs that it may not claim, however many of them wait (SQLite)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

import pytest

from yoked_actor.domain.jobs import DEFAULT_POLICY, NewJob, Pause
from yoked_actor.store.engine import migrate
from yoked_actor.store.jobs import enqueue_in
from yoked_actor.store.jobs.bulk import pause_in
from yoked_actor.store.jobs.claiming import claim_in, next_due_at
from yoked_actor.store.jobs.outcomes import Reading

NOW = 1_767_254_400_000_000
AT = Reading(NOW, NOW)
FEW, MANY = 10, 5_000


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, None)
    yield connection
    connection.close()


def add(db: sqlite3.Connection, job_type: str, count: int, priority: int = 0) -> None:
    enqueue_in(db, [NewJob(job_type, {}, NOW, priority=priority) for _ in range(count)], NOW)


def work_of(db: sqlite3.Connection, call: Callable[[], object]) -> int:
    """How many instructions of SQLite's virtual machine a call takes."""
    count = 0

    def one_more() -> int:
        nonlocal count
        count += 1
        return 0

    db.set_progress_handler(one_more, 1)
    try:
        call()
    finally:
        db.set_progress_handler(None, 1)
    return count


def claim_mail(db: sqlite3.Connection) -> None:
    claimed = claim_in(db, "ana", AT, 60.0, 5, {"mail": DEFAULT_POLICY}, ())
    assert [job.type for job in claimed.jobs] == ["mail", "mail"]


def claim_all(db: sqlite3.Connection) -> None:
    claimed = claim_in(db, "ana", AT, 60.0, 5, None, ())
    assert [job.type for job in claimed.jobs] == ["mail", "mail"]


def claim_five(db: sqlite3.Connection) -> None:
    assert len(claim_in(db, "ana", AT, 60.0, 5, None, ()).jobs) == 5


def look_for_mail(db: sqlite3.Connection) -> None:
    assert next_due_at(db, {"mail"}, 0) == NOW


@pytest.mark.parametrize("priority", [-1, 0, 1])
@pytest.mark.parametrize("ask", [claim_mail, claim_all, look_for_mail])
def test_jobs_of_other_types_are_not_read(
    db: sqlite3.Connection, ask: Callable[[sqlite3.Connection], None], priority: int
) -> None:
    pause_in(db, Pause("bulk", NOW, "root", "a move"))
    work = []
    for more in (FEW, MANY):
        add(db, "bulk", more, priority)
        add(db, "mail", 2)
        work.append(work_of(db, lambda: ask(db)))
        db.execute("DELETE FROM jobs WHERE type = 'mail'")
    assert work[1] < 1.5 * work[0], work


def test_no_more_jobs_of_each_type_are_read_than_are_claimed(db: sqlite3.Connection) -> None:
    work = []
    for more in (FEW, MANY):
        for job_type in ("bulk", "call", "mail"):
            add(db, job_type, more)
        work.append(work_of(db, lambda: claim_five(db)))
    assert work[1] < 1.5 * work[0], work
