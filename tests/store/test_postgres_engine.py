"""The engine of PostgreSQL by itself: placeholders, values, the schema and its migrations."""

from __future__ import annotations

import threading

import pytest

from tests.postgres import PostgresServer
from yoked_actor.store import DatabaseTooNew, StoreError, StoreUnavailable
from yoked_actor.store.engine import connect, explain, migrate, newest_schema
from yoked_actor.store.engine.postgres import (
    PostgresTx,
    check_postgres_is_current,
    connect_postgres,
    migrate_postgres,
    postgres_migrations,
    postgres_schema_of,
    shown_url,
)
from yoked_actor.store.engine.postgres.placeholders import translated


@pytest.mark.parametrize(
    ("written", "run"),
    [
        ("SELECT ?, ?", "SELECT $1, $2"),
        ("SELECT ?2, ?1, ?1", "SELECT $2, $1, $1"),
        ("SELECT :a, :b, :a", "SELECT $1, $2, $1"),
        ("SELECT '?', ':a', ''':b', ?", "SELECT '?', ':a', ''':b', $1"),
        ('SELECT "a?b", ?', 'SELECT "a?b", $1'),
        ("SELECT ?::bigint, x::text", "SELECT $1::bigint, x::text"),
        ("-- what? :this\nSELECT ?", "-- what? :this\nSELECT $1"),
        ("/* ? */ SELECT ? % 2", "/* ? */ SELECT $1 % 2"),
        ("SELECT x[1:2], ?", "SELECT x[1:2], $1"),
    ],
)
def test_placeholders_are_translated_and_nothing_else_is(written: str, run: str) -> None:
    assert translated(written).text == run


def test_values_come_back_as_they_do_from_sqlite(postgres_url: str) -> None:
    text = 'Añ "x" \U0001f600 \\ %s'
    given = {"a": 2**62, "b": text, "c": 0.1, "d": b"\0\xff", "e": None, "f": True, "g": -7}
    with connect_postgres(postgres_url, timeout_s=5) as connection:
        tx = PostgresTx(connection)
        row = tx.execute(
            "SELECT :a, :b::text, :c, :d, :e::text, :f, :g, :g + 1, :a % 10", given
        ).fetchone()
        sums = tx.execute(
            "SELECT sum(n), avg(n), '[1]'::jsonb FROM unnest(array[1, 2]::bigint[]) n"
        ).fetchone()
    assert row == (2**62, text, 0.1, b"\0\xff", None, 1, -7, -6, 4)
    assert sums == (3, 1.5, "[1]")
    assert type(sums[0]) is int


def test_a_nul_in_a_text_is_stored_as_the_symbol_for_it(postgres_url: str) -> None:
    with connect_postgres(postgres_url, timeout_s=5) as connection:
        tx = PostgresTx(connection)
        assert tx.execute("SELECT ?::text", ("a\0b",)).fetchone() == ("a\u2400b",)
        changed = tx.executemany("INSERT INTO secrets VALUES (?, ?)", [("a\0", b"1"), ("b", b"2")])
        assert changed.rowcount == 2
        assert tx.execute("SELECT name FROM secrets ORDER BY name").fetchall() == [
            ("a\u2400",),
            ("b",),
        ]


def test_the_tables_and_columns_are_those_of_sqlite(postgres_url: str) -> None:
    books = connect(None, busy_timeout_s=1.0)
    migrate(books, None)
    sqlite = {
        (table, column)
        for (table,) in books.execute(
            "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for _, column, *_ in books.execute(f"PRAGMA table_info({table})")
    }
    with connect_postgres(postgres_url, timeout_s=5) as connection:
        found = PostgresTx(connection).execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public'"
        )
        postgres = set(found)
    only_here = {"schema_migrations", "writers", "nodes", "room_leases"}
    assert {(table, column) for table, column in postgres if table not in only_here} == sqlite
    # A number means the same on both engines; the tables of nodes are only here.
    numbers = {number for number, *_ in postgres_migrations()}
    assert newest_schema() in numbers


def test_many_processes_that_migrate_at_once_migrate_once(empty_postgres_url: str) -> None:
    failed: list[Exception] = []

    def migrate_it() -> None:
        try:
            with connect_postgres(empty_postgres_url, timeout_s=10) as connection:
                migrate_postgres(connection, "it")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=migrate_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    with connect_postgres(empty_postgres_url, timeout_s=10) as connection:
        assert postgres_schema_of(connection) == postgres_migrations()[-1][0]


def test_a_database_of_a_newer_version_is_refused(postgres_url: str) -> None:
    with connect_postgres(postgres_url, timeout_s=5) as connection:
        connection.execute("INSERT INTO schema_migrations (version, name) VALUES (9999, 'later')")
        with pytest.raises(DatabaseTooNew, match="upgrade yoked-actor or use another database"):
            migrate_postgres(connection, shown_url(postgres_url))
        with pytest.raises(DatabaseTooNew):
            check_postgres_is_current(connection, shown_url(postgres_url))


def test_a_database_without_tables_is_not_current(empty_postgres_url: str) -> None:
    with (
        connect_postgres(empty_postgres_url, timeout_s=5) as connection,
        pytest.raises(StoreUnavailable, match="start a server on it first"),
    ):
        check_postgres_is_current(connection, "it")


@pytest.mark.parametrize(
    "url", ["postgresql://u:s3cret@[host/db", "postgresql://u:s3c ret@host/?x=1"]
)
def test_a_bad_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError, match="looks like postgresql://") as refused:
        connect_postgres(url, timeout_s=1)
    assert "s3c" not in str(refused.value)


def test_a_password_is_not_shown(postgres_server: PostgresServer) -> None:
    assert shown_url("postgresql://ana:s3cret@db:5433/yoked") == "postgresql://ana@db:5433/yoked"


def test_an_unreachable_database_is_unavailable(postgres_server: PostgresServer) -> None:
    url = f"postgresql://u:s3cret@/none?host={postgres_server.directory}/nowhere"
    with pytest.raises(Exception, match="connection") as refused:
        connect_postgres(url, timeout_s=1)
    explained = explain(refused.value, shown_url(url))
    assert isinstance(explained, StoreUnavailable)
    assert "s3cret" not in str(explained)
