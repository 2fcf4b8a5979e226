"""A job store that can be crashed: what the conformance suite of the queue is run against.

Another store is put under the suite by a class with the same methods.
"""

from __future__ import annotations

import os
import queue
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeVar

import trio

from tests.store.raw import raw_connection
from yoked_actor.domain.jobs import Job
from yoked_actor.store import Effect, InlineRunner, Jobs, Store, Tx, open_store

T = TypeVar("T")
EVERY = 1_000_000


class Image(NamedTuple):
    """The files as a crash leaves them."""

    database: bytes
    log: bytes


class State(NamedTuple):
    """All that a queue holds, and what its jobs have done."""

    jobs: dict[int, Job]
    effects: list[int]
    """Ids of jobs, once for each effect that is committed."""


class SqliteJobHouse:
    """An SQLite store on a thread of its own, with hooks that take images as a crash would."""

    def __init__(self) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="yoked-jobs-"))
        self._images = 0
        self._start(self._root / "first")

    def run(self, call: Callable[[Jobs], Awaitable[T]], crash_at: int) -> tuple[T, Image]:
        """Call the store; its answer, and what a crash after `crash_at` steps would have left."""
        self._taken: list[Image] = []
        self._countdown = crash_at
        try:
            answer = trio.from_thread.run(call, self._store.jobs, trio_token=self._token)
        finally:
            self._countdown = -1
        return answer, self._taken[0] if self._taken else self._image()

    def effect(self, job_id: int) -> Effect:
        """An effect that can be seen afterwards."""

        def apply(tx: Tx) -> None:
            tx.execute("INSERT INTO effects VALUES (?)", (job_id,))

        return apply

    def state(self) -> State:
        """What the running store holds."""
        return trio.from_thread.run(state_of_store, self._store, trio_token=self._token)

    def state_of(self, image: Image) -> tuple[State, list[str], Path]:
        """What a new process finds, what is wrong with it, and where it is."""
        self._images += 1
        directory = self._root / f"image-{self._images}"
        directory.mkdir()
        path = directory / "yoked.db"
        path.write_bytes(image.database)
        path.with_name("yoked.db-wal").write_bytes(image.log)

        async def look() -> State:
            async with open_store(path, runner=InlineRunner()) as store:
                return await state_of_store(store)

        return trio.run(look), _faults(path), directory

    def faults(self) -> list[str]:
        """What is wrong with the running store."""
        return _faults(self._path)

    def restart(self, directory: Path) -> None:
        """Go on from an image."""
        self._stop()
        self._start(directory)

    def close(self) -> None:
        self._stop()
        shutil.rmtree(self._root)

    def _start(self, directory: Path) -> None:
        directory.mkdir(exist_ok=True)
        self._path = directory / "yoked.db"
        self._countdown = -1
        self._leave = trio.Event()
        opened: queue.SimpleQueue[tuple[Store, trio.lowlevel.TrioToken]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=trio.run, args=(self._serve, opened))
        self._thread.start()
        self._store, self._token = opened.get(timeout=10)
        # Held open: to close a file that SQLite has open would drop the locks it has on it.
        self._files = [os.open(name, os.O_RDONLY) for name in (self._path, f"{self._path}-wal")]

    def _stop(self) -> None:
        trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join()
        for file in self._files:
            os.close(file)

    async def _serve(
        self, opened: queue.SimpleQueue[tuple[Store, trio.lowlevel.TrioToken]]
    ) -> None:
        async with open_store(self._path, runner=InlineRunner(), checkpoint_pages=8) as store:
            self._watch(raw_connection(store))
            opened.put((store, trio.lowlevel.current_trio_token()))
            await self._leave.wait()

    def _watch(self, connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE IF NOT EXISTS effects (job_id INTEGER NOT NULL) STRICT")
        connection.set_trace_callback(lambda _: self._pass())
        connection.set_progress_handler(self._pass, 40)

    def _pass(self) -> int:
        if self._countdown == 0:
            self._taken.append(self._image())
        self._countdown -= 1
        return 0

    def _image(self) -> Image:
        return Image(*(os.pread(file, os.fstat(file).st_size, 0) for file in self._files))


async def state_of_store(store: Store) -> State:
    """What a store holds."""
    jobs = {job.id: job for job in await store.jobs.list(limit=EVERY, dismissed=None)}
    effects = await store._database.read(
        lambda tx: tx.execute("SELECT job_id FROM effects").fetchall()
    )
    return State(jobs, sorted(job_id for (job_id,) in effects))


FAULTS = {
    "the ledger has {!r} without job and outcome, or with both": (
        "SELECT key FROM job_ledger WHERE (outcome IS NULL) <> (job_id IN (SELECT id FROM jobs))"
    ),
    "job {} has a key that is not in the ledger": (
        "SELECT id FROM jobs WHERE dedup_key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM"
        " job_ledger WHERE job_ledger.job_id = jobs.id AND key = dedup_key)"
    ),
    "an attempt of job {} is left, and the job is not": (
        "SELECT job_id FROM job_attempts WHERE job_id NOT IN (SELECT id FROM jobs)"
    ),
    "an answer to job {} is left, and the job is not": (
        "SELECT job_id FROM job_answers WHERE job_id NOT IN (SELECT id FROM jobs)"
    ),
}
"""What must not be in the tables, and the query that finds it, on either engine."""


def _faults(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as books:
        found = [text for (text,) in books.execute("PRAGMA integrity_check") if text != "ok"]
        for fault, query in FAULTS.items():
            found += [fault.format(row[0]) for row in books.execute(query)]
    return found
