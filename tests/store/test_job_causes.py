"""Causes that an older version stored under another name can still be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.store.test_erased_jobs import old_database
from yoked_actor.domain.jobs import JobCause
from yoked_actor.store import InlineRunner, open_store


async def test_an_attempt_of_an_older_database_is_shown_as_dead_lettered(tmp_path: Path) -> None:
    path = tmp_path / "yoked.db"
    old_database(path, 21, [("mail", "x", "{}")])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(
            "INSERT INTO job_attempts (job_id, fence, attempt, owner, started_at, ended_at, cause,"
            " error) VALUES (1, 1, 1, 'process 7', 5, 6, 'buried', 'ValueError')"
        )
    async with open_store(path, runner=InlineRunner()) as store:
        [attempt] = await store.jobs.attempts(1)
    assert attempt.cause is JobCause.DEAD_LETTERED
