"""What happens when the disk, the file or the directory is not as it should be."""

from __future__ import annotations

import fcntl
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import trio

from tests.store.raw import raw_connection
from yoked_actor.domain.lobby import Changes, Known, Seat
from yoked_actor.domain.people import Report, ReportLimits
from yoked_actor.store import (
    Batch,
    DatabaseCorrupt,
    DatabaseTooNew,
    DataDirectoryInUse,
    InlineRunner,
    StoreUnavailable,
    ThreadRunner,
    holder_of,
    open_store,
)
from yoked_actor.store.engine.sqlite.schema import migrations

RUNNERS = [InlineRunner, ThreadRunner]
HOLDER = """
import sys, time, trio
from pathlib import Path
from yoked_actor.domain.lobby.records import Changes, Seat
from yoked_actor.store import InlineRunner, open_store

async def main():
    async with open_store(Path(sys.argv[1]), runner=InlineRunner()) as store:
        await store.commit(Changes(seats=[Seat("ana", credit=30)]))
        print("holding", flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "yoked.db"


def write_to(path: Path, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def overwrite(path: Path, content: bytes) -> None:
    path.write_bytes(content)


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_full_disk_fails_a_commit_whole_and_passes(runner, path: Path) -> None:
    batches: list[Batch] = []
    crowd = Changes(seats=[Seat(f"user-{n:04d}") for n in range(2000)])
    async with open_store(path, runner=runner(), observer=batches.append) as store:
        connection = raw_connection(store)
        await store.commit(Changes(seats=[Seat("ana", credit=10)]))
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(StoreUnavailable, match="full"):
            await store.commit(crowd)
        assert await store.load_user("user-0000") == Known("user-0000")
        assert (await store.load_user("ana")).seat == Seat("ana", credit=10)

        connection.execute("PRAGMA max_page_count = 100000")
        await store.commit(crowd)
        assert (await store.load_user("user-1999")).seat == Seat("user-1999")
    assert [batch.error is None for batch in batches] == [True, False, True]


async def test_a_full_disk_fails_everyone_who_shared_the_transaction(path: Path, ana) -> None:
    failed: list[str] = []
    async with open_store(path, runner=InlineRunner()) as store:
        connection = raw_connection(store)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")

        async def commit(name: str, changes: Changes) -> None:
            with pytest.raises(StoreUnavailable):
                await store.commit(changes)
            failed.append(name)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(commit, "small", Changes(people=[ana]))
            many = [Seat(f"user-{n:04d}") for n in range(2000)]
            nursery.start_soon(commit, "large", Changes(people=[ana], seats=many))
        assert sorted(failed) == ["large", "small"]
        assert await store.load_person("ana") is None


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_locked_database_fails_a_commit_and_passes(runner, path: Path, ana) -> None:
    async with open_store(path, runner=runner(), busy_timeout_s=0.01) as store:
        intruder = sqlite3.connect(path, isolation_level=None)
        intruder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.commit(Changes(seats=[Seat("ana")]))
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.commit(Changes(people=[ana]))
        with pytest.raises(StoreUnavailable, match="locked"):
            await store.add_report(Report("ana", "bob", "rude", None, 1), ReportLimits(99, 99))
        await store.ping()
        assert await store.load_user("ana") == Known("ana")

        intruder.close()
        await store.commit(Changes(seats=[Seat("ana")], people=[ana]))
        assert await store.load_user("ana") == Known("ana", ana, Seat("ana"))


async def test_a_reader_in_the_middle_of_things_does_not_stop_the_end(path: Path) -> None:
    async with open_store(path, runner=InlineRunner(), busy_timeout_s=0.01) as store:
        await store.commit(Changes(seats=[Seat("ana")]))
        reader = sqlite3.connect(path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM seats").fetchall()
        await store.commit(Changes(seats=[Seat("ana", credit=10)]))
    reader.close()
    async with open_store(path, runner=InlineRunner()) as store:
        assert (await store.load_user("ana")).seat == Seat("ana", credit=10)


async def test_a_database_of_the_first_version_is_brought_up_to_date_with_all_that_is_in_it(
    path: Path,
) -> None:
    write_to(path, migrations()[0].text)
    write_to(path, "INSERT INTO seats VALUES ('ana', 'idle', NULL, 10, NULL, NULL, NULL)")
    write_to(path, "PRAGMA user_version = 1")
    async with open_store(path, runner=InlineRunner()) as store:
        assert (await store.load_user("ana")).seat == Seat("ana", credit=10)
        assert (await store.quality(0, 10)).matches == 0


async def test_a_newer_database_is_refused_in_words(path: Path) -> None:
    async with open_store(path, runner=InlineRunner()):
        pass
    write_to(path, "PRAGMA user_version = 99")
    before = content_of(path)
    newest, _ = migrations()[-1]
    with pytest.raises(DatabaseTooNew) as caught:
        async with open_store(path, runner=InlineRunner()):
            pass
    assert str(caught.value) == (
        f"{path} was written by a newer version (schema 99, this program knows {newest}); "
        "upgrade yoked-actor or use another data directory"
    )
    assert content_of(path) == before


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_second_server_is_refused_until_the_first_is_gone(runner, path: Path) -> None:
    async with open_store(path, runner=runner()):
        with pytest.raises(DataDirectoryInUse) as caught:
            async with open_store(path, runner=runner()):
                pass
    assert str(path.parent) in str(caught.value)
    assert caught.value.pid == os.getpid()
    async with open_store(path, runner=runner()) as store:
        assert (await store.recover()).boot == 2


@pytest.mark.parametrize("again", [False, True])
async def test_a_second_server_is_refused_also_when_the_lock_file_is_deleted(
    path: Path, again: bool
) -> None:
    lock = path.with_name("yoked.lock")
    async with open_store(path, runner=InlineRunner()):
        lock.unlink()
        if again:
            lock.write_text("")
        with pytest.raises(DataDirectoryInUse) as caught:
            async with open_store(path, runner=InlineRunner()):
                pass
        assert caught.value.pid is None
        assert holder_of(path.parent) == 0
        assert lock.exists() is again
    assert holder_of(path.parent) is None
    async with open_store(path, runner=InlineRunner()):
        assert lock.read_text() == f"{os.getpid()}\n"
        assert holder_of(path.parent) == os.getpid()


async def test_a_server_of_an_older_version_is_respected(path: Path) -> None:
    # It locks the file, and not the directory.
    lock = path.with_name("yoked.lock")
    lock.write_text("4711\n")
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert holder_of(path.parent) == 4711
        with pytest.raises(DataDirectoryInUse) as caught:
            async with open_store(path, runner=InlineRunner()):
                pass
        assert caught.value.pid == 4711
        assert lock.read_text() == "4711\n"


async def test_a_killed_server_gives_the_directory_free(path: Path) -> None:
    holder = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "holding\n"
        with pytest.raises(DataDirectoryInUse, match=f"process {holder.pid}"):
            async with open_store(path, runner=InlineRunner()):
                pass
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    async with open_store(path, runner=InlineRunner()) as store:
        assert (await store.recover()).boot == 2
        assert (await store.load_user("ana")).seat == Seat("ana", credit=30)


@pytest.mark.parametrize("garbage", [b"not a database, but a letter to my love\n" * 99, b"x" * 100])
async def test_a_file_that_is_no_database_is_refused_in_words(path: Path, garbage: bytes) -> None:
    overwrite(path, garbage)
    with pytest.raises(DatabaseCorrupt) as caught:
        async with open_store(path, runner=InlineRunner()):
            pass
    assert str(path) in str(caught.value)
    assert "not a database" in str(caught.value)
    assert content_of(path) == garbage


async def test_damage_in_the_middle_is_called_by_its_name(path: Path) -> None:
    async with open_store(path, runner=InlineRunner()) as store:
        await store.commit(Changes(seats=[Seat(f"user-{n:05d}") for n in range(10_000)]))
    content = content_of(path)
    half = len(content) // 2
    overwrite(path, content[:half] + b"\xff" * half)
    async with open_store(path, runner=InlineRunner()) as store:
        with pytest.raises(DatabaseCorrupt):
            await store.commit(Changes(seats=[Seat(f"user-{n:05d}") for n in range(10_000)]))
        with pytest.raises(DatabaseCorrupt):
            await store.recover()


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_missing_directory_is_made_for_its_owner_alone(runner, tmp_path: Path) -> None:
    path = tmp_path / "some" / "where" / "yoked.db"
    async with open_store(path, runner=runner()) as store:
        await store.commit(Changes(seats=[Seat("ana")]))
        modes = {file.name: file.stat().st_mode & 0o777 for file in path.parent.iterdir()}
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}
    assert "yoked.db-wal" in modes


async def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="file"):
        async with open_store(tmp_path / "file" / "yoked.db", runner=InlineRunner()):
            pass


async def test_leaving_checkpoints_the_wal_and_deletes_it(path: Path) -> None:
    async with open_store(path, runner=ThreadRunner()) as store:
        await store.commit(Changes(seats=[Seat("ana")]))
        assert path.with_name("yoked.db-wal").stat().st_size > 0
    assert not path.with_name("yoked.db-wal").exists()


async def test_a_guest_who_leaves_keeps_nobody_from_writing_while_somebody_reads(
    path: Path,
) -> None:
    came, left = trio.Event(), trio.Event()

    async def visit() -> None:
        async with open_store(path, runner=ThreadRunner(), busy_timeout_s=5, shared=True):
            came.set()
        left.set()

    # Without patience: a commit fails at once when somebody else keeps the right to write.
    async with open_store(path, runner=InlineRunner(), busy_timeout_s=0) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM seats").fetchone()
            await store.commit(Changes(seats=[Seat("ana")]))
            async with trio.open_nursery() as nursery:
                nursery.start_soon(visit)
                await came.wait()
                while not left.is_set():
                    await store.commit(Changes(seats=[Seat("ana", credit=1)]))


async def test_every_commit_is_synced_to_a_write_ahead_log(path: Path) -> None:
    async with open_store(path, runner=InlineRunner()) as store:
        connection = raw_connection(store)
        (synchronous,) = connection.execute("PRAGMA synchronous").fetchone()
        (journal_mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    assert (synchronous, journal_mode) == (2, "wal")
