"""A server gives the WAL its length when it starts: commits overwrite it, and it does not grow."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import trio

from yoked_actor.domain.lobby import Changes, Seat
from yoked_actor.store import InlineRunner, Runner, ThreadRunner, open_store
from yoked_actor.store.engine import connect_for_writing, reserve_wal

PAGES = 300


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect_for_writing(path, busy_timeout_s=0.0, checkpoint_pages=PAGES)) as db:
        db.execute("CREATE TABLE IF NOT EXISTS things (content BLOB)")
        yield db


def _commit(db: sqlite3.Connection, times: int) -> None:
    for _ in range(times):
        db.execute("INSERT INTO things VALUES (randomblob(2000))")


def _length(path: Path) -> int:
    return Path(f"{path}-wal").stat().st_size


def _content(path: Path) -> bytes:
    return Path(f"{path}-wal").read_bytes()


def _count(db: sqlite3.Connection) -> int:
    (count,) = db.execute("SELECT count(*) FROM things").fetchone()
    return int(count)


def test_commits_do_not_make_it_grow(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with _database(path) as db:
        _commit(db, 5)
        reserve_wal(db, path, PAGES)
        length = _length(path)
        assert length > PAGES * 4096
        _commit(db, 2 * PAGES)  # a checkpoint comes between them
        assert _length(path) == length
        assert _count(db) == 5 + 2 * PAGES


@pytest.mark.parametrize("commits", [0, 1, 40])
@pytest.mark.parametrize("zeros", [0, 1, 4119, 100_000, None])
def test_after_a_crash_every_commit_is_there(
    tmp_path: Path, commits: int, zeros: int | None
) -> None:
    """The crash may come while the zeros are written."""
    path, crashed = tmp_path / "a.db", tmp_path / "b.db"
    with _database(path) as db:
        _commit(db, 3 + commits)
        written = _length(path)
        reserve_wal(db, path, PAGES)
        shutil.copy(path, crashed)
        shutil.copy(f"{path}-wal", f"{crashed}-wal")
        if zeros is not None:
            os.truncate(f"{crashed}-wal", written + zeros)
    with _database(crashed) as db:
        assert _count(db) == 3 + commits
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        reserve_wal(db, crashed, PAGES)  # as the next start does: the WAL has its length already
        _commit(db, 1)
        assert _count(db) == 4 + commits


def test_without_space_on_the_disk_it_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with _database(path) as db:
        _commit(db, 3)
        length = _length(path)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * length, hard))
        try:
            reserve_wal(db, path, 10_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert _length(path) == length
        _commit(db, 1)
        assert _count(db) == 4


def test_a_long_wal_gets_its_first_part_only(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with _database(path) as db:
        _commit(db, 1)
        reserve_wal(db, path, 10_000_000)
        assert _length(path) == 64 << 20
        _commit(db, 1)
        assert _count(db) == 2


def test_while_another_process_writes_it_stays_short(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with _database(path) as db, _database(path) as other:
        other.execute("BEGIN IMMEDIATE")
        length = _length(path)
        reserve_wal(db, path, PAGES)
        assert _length(path) == length
        other.execute("ROLLBACK")
        reserve_wal(db, path, PAGES)
        assert _length(path) > length


async def test_a_store_keeps_it_when_the_wal_is_truncated(tmp_path: Path) -> None:
    path = tmp_path / "yoked.db"
    opened = open_store(path, runner=ThreadRunner(), checkpoint_pages=PAGES, reserve=True)
    async with opened as store:
        length = _length(path)
        assert length > PAGES * 4096
        await store.commit(Changes(seats=[Seat("somebody-to-forget")]))
        assert b"somebody-to-forget" in _content(path)
        assert await store.privacy.wipe()
        assert b"somebody-to-forget" not in _content(path)
        assert _length(path) == length
        await store.commit(Changes(seats=[Seat("ana")]))
        assert _length(path) == length
    with _database(path) as db:
        found = db.execute("SELECT user_id FROM seats ORDER BY user_id").fetchall()
    assert found == [("ana",), ("somebody-to-forget",)]


async def test_commits_beside_truncations_survive_a_crash(tmp_path: Path) -> None:
    """An erasure truncates the WAL and reserves its space while users are matched."""
    path, crashed = tmp_path / "yoked.db", tmp_path / "crashed.db"
    users = [f"user-{number:03}" for number in range(300)]
    # Many pages: it takes long to write them, and commits want to come between.
    opened = open_store(path, runner=ThreadRunner(), checkpoint_pages=4000, reserve=True)
    async with opened as store:
        wiped = 0

        async def wipe_again_and_again() -> None:
            nonlocal wiped
            while True:
                wiped += await store.privacy.wipe()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wipe_again_and_again)
            for user_id in users:
                await store.commit(Changes(seats=[Seat(user_id)]))
            nursery.cancel_scope.cancel()
        assert wiped > 1
        shutil.copy(path, crashed)
        shutil.copy(f"{path}-wal", f"{crashed}-wal")
    with _database(crashed) as db:
        found = db.execute("SELECT user_id FROM seats ORDER BY user_id").fetchall()
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert found == [(user_id,) for user_id in users]


@pytest.mark.parametrize("runner", [ThreadRunner, InlineRunner])
async def test_the_space_is_reserved_on_every_runner(tmp_path: Path, runner: type[Runner]) -> None:
    path = tmp_path / "yoked.db"
    opened = open_store(path, runner=runner(), checkpoint_pages=PAGES, reserve=True)
    async with opened as store:
        length = _length(path)
        assert await store.privacy.wipe()
        assert _length(path) == length > PAGES * 4096
