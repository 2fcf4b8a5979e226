"""Enqueueing without an event loop: each call commits in the thread of its caller, and blocks.

For programs beside a server, on the SQLite file of its data directory. A server itself uses the
writer, so that a slow disk does not stop its event loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import (
    OpenFiles,
    SqliteTransactions,
    Write,
    WriteTurns,
    check_is_current,
    connect_for_writing,
    explain,
    explained,
    statement,
)
from yoked_actor.store.jobs import Enqueued, enqueue_in, enqueue_one_in

_FIRST_USE = statement("engine/boot")


class BlockingJobs:
    """The queue, for one thread at a time."""

    def __init__(self, transactions: SqliteTransactions) -> None:
        self._transactions = transactions

    def enqueue(self, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        """Add all or none, as `Jobs.enqueue`; durable on return. Blocks."""
        if len(jobs) == 1 and jobs[0].key is None:
            write = Write(lambda tx: enqueue_one_in(tx, jobs[0], now), atomic=True, can_wait=False)
        else:
            write = Write(partial(enqueue_in, jobs=jobs, now=now), atomic=False, can_wait=False)
        error = self._transactions.commit([write])
        if error is not None:
            raise explain(error)
        if write.error is not None:
            raise write.error
        return write.result or []


@contextmanager
def open_blocking_jobs(
    path: Path, *, busy_timeout_s: float = 10.0, checkpoint_pages: int = 4000
) -> Iterator[BlockingJobs]:
    """Open the queue of a database that a server may have open too.

    It has to exist and be up to date, otherwise `StoreError`. A call waits up to `busy_timeout_s`
    while another process writes, then raises `StoreUnavailable`.
    """
    with ExitStack() as opened:
        with explained(path):
            check_is_current(path, busy_timeout_s=busy_timeout_s)
            connection = connect_for_writing(
                path, busy_timeout_s=busy_timeout_s, checkpoint_pages=checkpoint_pages
            )
            opened.callback(connection.close)
            connection.execute(_FIRST_USE).fetchone()  # there is a WAL after it
        turns = WriteTurns(path.parent, patience_s=busy_timeout_s)
        opened.callback(turns.close)
        files = OpenFiles(path)
        yield BlockingJobs(SqliteTransactions(connection, check=files.check, turns=turns))
