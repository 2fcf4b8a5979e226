"""The schema of a new database, and of one that was made by an older version."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from yoked_actor.store.engine.sqlite.connections import connect_for_writing
from yoked_actor.store.engine.sqlite.schema import migrate, migrations, newest_schema, schema_of


def open_database(path: Path) -> closing[sqlite3.Connection]:
    return closing(connect_for_writing(path, busy_timeout_s=0.01, checkpoint_pages=1000))


def parts_of(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    return sorted(found.fetchall(), key=str)


@pytest.mark.parametrize("older", range(1, len(migrations())))
def test_a_new_database_has_the_schema_of_one_that_was_migrated(tmp_path: Path, older: int) -> None:
    with open_database(tmp_path / "new.db") as new, open_database(tmp_path / "old.db") as old:
        for step in migrations()[:older]:
            old.executescript(f"BEGIN; {step.text}; PRAGMA user_version = {step.version}; COMMIT;")
        for connection in (new, old):
            migrate(connection, None)
        assert parts_of(new) == parts_of(old) != []
        assert schema_of(new) == schema_of(old) == newest_schema()


def test_a_new_database_keeps_its_journal_and_is_sound(tmp_path: Path) -> None:
    with open_database(tmp_path / "new.db") as connection:
        migrate(connection, None)
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_new_database_that_is_locked_is_an_error_and_stays_new(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with open_database(path) as connection, open_database(path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="database is locked"):
            migrate(connection, path)
        other.execute("ROLLBACK")
        assert parts_of(connection) == []
        migrate(connection, path)
        assert schema_of(connection) == newest_schema()


def test_each_migration_of_an_old_database_is_named_before_it_is_applied(tmp_path: Path) -> None:
    named: list[tuple[int, int, str]] = []
    with open_database(tmp_path / "new.db") as new, open_database(tmp_path / "old.db") as old:
        for step in migrations()[:-2]:
            old.executescript(f"BEGIN; {step.text}; PRAGMA user_version = {step.version}; COMMIT;")
        for connection in (new, old, old):
            migrate(connection, None, lambda *step: named.append((schema_of(old), *step)))
    first, second, third = [step.version for step in migrations()[-3:]]
    assert [(schema, version) for schema, version, _ in named] == [(first, second), (second, third)]
    assert [name for *_, name in named] == [step.name for step in migrations()[-2:]]
