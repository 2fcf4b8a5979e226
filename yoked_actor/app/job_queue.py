"""A queue of jobs for scripts: programs without an event loop, beside a server on SQLite.

with open_job_queue(Path("/var/lib/yoked")) as queue:
    queue.enqueue("reminders.write", {"file": "/tmp/reminders.txt", "text": "hello"})
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from yoked_actor.actors.jobs import OtherDispatchers
from yoked_actor.app.base import DATABASE
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.time import Instant, after
from yoked_actor.store import BlockingJobs, Enqueued, open_blocking_jobs


class JobQueue:
    """Adds jobs to the queue of a data directory, in the thread of the caller."""

    def __init__(self, jobs: BlockingJobs, data_dir: Path) -> None:
        self._jobs = jobs
        self._others = OtherDispatchers(data_dir)

    def enqueue(
        self,
        job_type: str,
        payload: dict[str, Any],
        *,
        key: str | None = None,
        delay_s: float = 0.0,
        priority: int = 0,
    ) -> Enqueued:
        """Add a job, which is due after `delay_s`; durable on return. Blocks.

        The payload is validated when the job runs. Raises `KeyConflict` when the key was used for
        another payload, and `StoreUnavailable` when the database cannot be written.
        """
        due_at = after(_now(), delay_s)
        [added] = self.enqueue_all([NewJob(job_type, payload, due_at, key=key, priority=priority)])
        return added

    def enqueue_all(self, jobs: Sequence[NewJob]) -> list[Enqueued]:
        """Add all jobs or none, in one transaction."""
        added = self._jobs.enqueue(jobs, _now())
        self._others.wake()
        return added


@contextmanager
def open_job_queue(data_dir: Path) -> Iterator[JobQueue]:
    """Open the queue of a data directory; a server has to have been started on it once.

    For one thread at a time. Raises `StoreError` when there is no database, or an older one.
    """
    with open_blocking_jobs(data_dir / DATABASE) as jobs:
        yield JobQueue(jobs, data_dir)


def _now() -> Instant:
    return time.time_ns() // 1000
