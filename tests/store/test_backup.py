"""Backups: consistent under writes, and refused in words when they are not what they were."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio

from tests.domain.crowds import woman
from yoked_actor.domain.lobby import Changes, Seat
from yoked_actor.store import (
    BadBackup,
    InlineRunner,
    StoreUnavailable,
    back_up,
    check_backup,
    open_store,
    restore_backup,
)
from yoked_actor.store.upkeep.backup import SEAL_BYTES

PEOPLE = 400


def fill(path: Path, people: int = PEOPLE) -> None:
    async def main() -> None:
        async with open_store(path, runner=InlineRunner()) as store:
            everybody = [woman(f"user-{n:04}", interests=("jazz",)) for n in range(people)]
            seats = [Seat(person.user_id) for person in everybody]
            await store.commit(Changes(people=everybody, seats=seats))

    trio.run(main)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "yoked.db"
    fill(path)
    return path


@pytest.fixture
def backup(database: Path, tmp_path: Path) -> Path:
    target = tmp_path / "backup.db"
    back_up(database, target, busy_timeout_s=1)
    return target


def count(path: Path, table: str = "people") -> int:
    with closing(sqlite3.connect(path)) as db:
        (found,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found)


def test_a_backup_is_whole_sealed_and_nobody_elses_to_read(backup: Path) -> None:
    assert check_backup(backup).sealed
    assert count(backup) == PEOPLE
    assert backup.stat().st_mode & 0o777 == 0o600
    assert {entry.name for entry in backup.parent.iterdir()} == {"data", "backup.db"}


def test_progress_is_told_up_to_the_end(database: Path, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    back_up(
        database,
        tmp_path / "backup.db",
        busy_timeout_s=1,
        progress=lambda done, whole: told.append((done, whole)),
    )
    assert told[-1][0] == told[-1][1] > 0


def test_what_is_committed_meanwhile_neither_gets_in_nor_keeps_it_from_ending(
    tmp_path: Path,
) -> None:
    path = tmp_path / "yoked.db"
    fill(path, 8_000)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        steps: list[int] = []

        def write(done: int, whole: int) -> None:
            # A seat goes for every step, and its person with it: both or neither.
            writer.execute("BEGIN")
            writer.execute("DELETE FROM people WHERE user_id = ?", (f"user-{len(steps):04}",))
            writer.execute("DELETE FROM seats WHERE user_id = ?", (f"user-{len(steps):04}",))
            writer.execute("COMMIT")
            steps.append(done)

        back_up(path, tmp_path / "backup.db", busy_timeout_s=1, progress=write)
    assert len(steps) > 2
    assert count(tmp_path / "backup.db") == count(tmp_path / "backup.db", "seats") == 8_000
    assert count(path) == 8_000 - len(steps)


def test_what_is_only_in_the_log_is_in_the_backup(database: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as open_elsewhere:
        open_elsewhere.execute("PRAGMA wal_autocheckpoint = 0")
        open_elsewhere.execute("DELETE FROM people WHERE user_id < 'user-0100'")
        back_up(database, tmp_path / "backup.db", busy_timeout_s=1)
    assert count(tmp_path / "backup.db") == PEOPLE - 100


def test_without_a_database_there_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="there is no database"):
        back_up(tmp_path / "none.db", tmp_path / "backup.db", busy_timeout_s=1)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_backup_leaves_nothing_behind(database: Path, tmp_path: Path) -> None:
    def fail(done: int, whole: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        back_up(database, tmp_path / "backup.db", busy_timeout_s=1, progress=fail)
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


def empty(file: Path) -> None:
    file.write_bytes(b"")


def no_database(file: Path) -> None:
    file.write_text("Dear diary, " * 1000)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:20_000])


def cut_behind_the_seal(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: -SEAL_BYTES - 100])


def a_letter_of_a_name(file: Path) -> None:
    data = file.read_bytes()
    assert data.count(b"user-0123") >= 2
    file.write_bytes(data.replace(b"user-0123", b"user-0xx3", 1))


def a_byte_of_a_page(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[3 * 4096 + 4] ^= 0x41
    file.write_bytes(data)


def pages_without_a_seal(file: Path) -> None:
    data = bytearray(file.read_bytes()[:-SEAL_BYTES])
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 64] = b"\xa5" * 64
    file.write_bytes(data)


def another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as db:
        db.executescript("CREATE TABLE recipes (name TEXT); PRAGMA user_version = 3;")


def a_newer_version(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-SEAL_BYTES])
    with closing(sqlite3.connect(file)) as db:
        db.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (empty, "is empty"),
        (no_database, "is not an SQLite database"),
        (cut, "is cut off"),
        (cut_behind_the_seal, "is cut off"),
        (a_letter_of_a_name, "was changed or damaged"),
        (a_byte_of_a_page, "was changed or damaged"),
        (pages_without_a_seal, "is damaged"),
        (another_program, "none of yoked-actor's"),
        (a_newer_version, "a newer version .schema 999"),
    ],
)
def test_a_file_that_is_not_good_is_refused_in_words(
    backup: Path, database: Path, damage, words: str
) -> None:
    damage(backup)
    before = database.read_bytes()
    with pytest.raises(BadBackup, match=words):
        restore_backup(backup, database, "now")
    assert database.read_bytes() == before
    assert [entry.name for entry in database.parent.glob("*restor*")] == []


def test_a_restored_database_is_as_it_was_and_the_old_one_is_kept(
    backup: Path, database: Path
) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("DELETE FROM people")
    checked, aside = restore_backup(backup, database, "now")
    assert checked.sealed
    assert aside == database.with_name("yoked.db.before-restore-now")
    assert (count(database), count(aside)) == (PEOPLE, 0)
    fill(database, 1)  # it opens, and can be written to


def test_the_log_of_the_old_database_is_not_taken_for_one_of_the_new(
    backup: Path, database: Path, tmp_path: Path
) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as db:
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("DELETE FROM people")
        # As after a crash: the log has what the database has not.
        log = Path(f"{database}-wal").read_bytes()
        old = database.read_bytes()
    database.write_bytes(old)
    Path(f"{database}-wal").write_bytes(log)
    _, aside = restore_backup(backup, database, "now")
    assert aside is not None
    assert (count(database), count(aside)) == (PEOPLE, 0)


def test_starts_are_counted_on_so_that_no_session_comes_twice(backup: Path, database: Path) -> None:
    for _ in range(3):
        fill(database, 1)
    restore_backup(backup, database, "now")
    with closing(sqlite3.connect(database)) as db:
        assert db.execute("SELECT value FROM meta WHERE name = 'boot'").fetchone() == (4,)


def test_a_damaged_database_can_be_replaced(backup: Path, database: Path) -> None:
    database.write_bytes(b"not a database any more")
    _, aside = restore_backup(backup, database, "now")
    assert aside is not None
    assert aside.read_bytes() == b"not a database any more"
    assert count(database) == PEOPLE


def test_a_backup_can_be_restored_where_there_was_nothing(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    _, aside = restore_backup(backup, tmp_path / "new" / "yoked.db", "now")
    assert aside is None
    assert count(tmp_path / "new" / "yoked.db") == PEOPLE
