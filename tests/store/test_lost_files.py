"""The database is deleted or replaced under a running process: nothing is acknowledged any more."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes, Seat
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import DatabaseLost, InlineRunner, Store, ThreadRunner, Tx, open_store

NOW = 1_800_000_000 * MICROSECONDS
RUNNERS = [InlineRunner, ThreadRunner]


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_suffix(".other")
    shutil.copyfile(path, other)
    other.rename(path)


def delete_log(path: Path) -> None:
    path.with_name("yoked.db-wal").unlink()


def replace_log(path: Path) -> None:
    log = path.with_name("yoked.db-wal")
    other = path.with_suffix(".other")
    shutil.copyfile(log, other)
    other.rename(log)


def move_directory(path: Path) -> None:
    path.parent.rename(path.parent.with_name("moved"))


def replace_directory(path: Path) -> None:
    move_directory(path)
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE other (id)")


ACCIDENTS = [delete, replace, delete_log, replace_log, move_directory, replace_directory]


def is_there(path: Path) -> bool:
    return path.exists()


async def write(store: Store, user_id: str) -> None:
    await store.commit(Changes(seats=[Seat(user_id)]))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data" / "yoked.db"


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("accident", ACCIDENTS)
async def test_a_write_that_would_be_lost_is_not_acknowledged(
    path: Path, accident: Callable[[Path], None], runner
) -> None:
    async with open_store(path, runner=runner()) as store:
        await write(store, "ana")
        assert store.lost_files() is None
        accident(path)
        with capture_logs() as logs:
            for _ in range(3):
                with pytest.raises(DatabaseLost, match=r"yoked\.db"):
                    await write(store, "ben")
            with pytest.raises(DatabaseLost):
                await store.jobs.enqueue([NewJob("task", {}, NOW)], NOW)
            with pytest.raises(DatabaseLost):
                await store.ping()
            with pytest.raises(DatabaseLost):
                await store.privacy.export("ana", NOW)
        assert store.lost_files() is not None
        assert [one["event"] for one in logs] == ["database_lost"]  # said once
        if accident in (delete, move_directory):
            assert not is_there(path)  # and no empty one is made in its place


async def test_a_database_that_is_put_back_is_used_again(path: Path) -> None:
    aside = path.with_suffix(".aside")
    async with open_store(path, runner=InlineRunner()) as store:
        await write(store, "ana")
        os.rename(path, aside)
        with pytest.raises(DatabaseLost):
            await write(store, "ben")
        os.rename(aside, path)
        with capture_logs() as logs:
            await store.ping()
            await write(store, "carl")
        assert [one["event"] for one in logs] == ["database_found"]
    async with open_store(path, runner=InlineRunner()) as store:
        users = [await store.load_user(user_id) for user_id in ("ana", "ben", "carl")]
        assert [known.seat is not None for known in users] == [True, False, True]


async def test_a_write_is_rolled_back_when_the_file_goes_in_its_transaction(path: Path) -> None:
    aside = path.with_suffix(".aside")
    async with open_store(path, runner=InlineRunner()) as store:

        def apply(tx: Tx) -> None:
            tx.execute("INSERT INTO seats (user_id, state, credit) VALUES ('ben', 'idle', 0)")
            os.rename(path, aside)

        with pytest.raises(DatabaseLost):
            await store._database.write(apply)
        os.rename(aside, path)
        assert (await store.load_user("ben")).seat is None


async def test_checkpoints_and_other_processes_are_no_accident(path: Path) -> None:
    async with open_store(path, runner=InlineRunner(), checkpoint_pages=1) as store:
        for number in range(20):
            await write(store, f"user{number}")
            async with open_store(path, runner=InlineRunner(), shared=True) as other:
                await other.jobs.enqueue([NewJob("task", {}, NOW)], NOW)
            assert await store.privacy.wipe()
            assert store.lost_files() is None
