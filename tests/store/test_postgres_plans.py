"""How PostgreSQL finds rows: no statement that runs per spin, job or user reads a whole table.

The planner would scan an empty table in any case, so scans, and joins that need one, are made
expensive: where one is planned nevertheless, there is no index for the statement. What may scan on
SQLite may scan here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
import pytest

from tests.store.test_query_plans import (
    BOUNDED,
    ENDINGS,
    FILES,
    NOT_ALONE,
    PLAIN,
    SMALL,
    may_scan,
)
from yoked_actor.store.engine import statement
from yoked_actor.store.engine.postgres import connect_postgres
from yoked_actor.store.engine.postgres.placeholders import translated
from yoked_actor.store.engine.statements import joined

SQLITE_ONLY = ("engine/sqlite/", "upkeep/", "engine/postgres/")
"""Modules whose statements run on one engine."""
OTHER_WHEN_EMPTY = {
    "jobs/errors_naming": "jobs_buried, where jobs_dismissed_at is better",
    "ops/dead_letter_note": "jobs_buried, where jobs_pkey is better",
}
"""Statements with two indexes, of which the planner takes the wrong one while both are empty."""
NO_PLAN = {
    "lobby/commit": "it calls a function that each connection makes for itself",
    "engine/snapshot": "a command",
    "engine/end_snapshot": "a command",
}


@pytest.fixture(scope="module")
def db(postgres_server) -> Iterator[psycopg.Connection]:
    with (
        postgres_server.database("yoked_template") as url,
        connect_postgres(url, timeout_s=10) as connection,
    ):
        for method in ("seqscan", "hashjoin", "mergejoin", "material", "memoize", "hashagg"):
            connection.execute(f"SET enable_{method} = off".encode())
        connection.execute("SET plan_cache_mode = force_generic_plan")
        yield connection


def scanned(db: psycopg.Connection, text: str) -> set[str]:
    """The tables that a statement reads as a whole."""
    query = translated(text).text.strip().rstrip(";")
    db.execute(f"PREPARE asked AS {query}".encode())
    try:
        count = max(map(int, re.findall(r"\$(\d+)", query)), default=0)
        given = f"({', '.join(['NULL'] * count)})" if count else ""
        row = db.execute(f"EXPLAIN (FORMAT JSON) EXECUTE asked{given}".encode()).fetchone()
    finally:
        db.execute("DEALLOCATE asked")
    assert row is not None
    return set(_scans(msgspec.json.decode(row[0])[0]["Plan"])) - SMALL


def _scans(node: dict[str, Any]) -> Iterator[str]:
    """The tables that are read as a whole, or by a whole index that is not bounded."""
    kind = node["Node Type"]
    is_whole = kind.endswith("Index Scan") or kind == "Index Only Scan"
    is_whole = is_whole and "Index Cond" not in node and node["Index Name"] not in BOUNDED
    if kind == "Seq Scan" or is_whole:
        yield node.get("Relation Name") or node["Index Name"].removesuffix("_pkey")
    for child in node.get("Plans", ()):
        yield from _scans(child)


@pytest.mark.parametrize("name", [n for n in FILES if n not in NOT_ALONE | NO_PLAN])
def test_a_named_statement_finds_its_rows_by_an_index(db, name):
    found = scanned(db, statement(name))
    assert not found or may_scan(name) or name in OTHER_WHEN_EMPTY, found


@pytest.mark.parametrize("end", ENDINGS)
def test_sets_of_offers_are_found_by_an_index(db, end):
    assert scanned(db, joined(statement("offers/load_sets"), end)) == set()


@pytest.mark.parametrize("where", [w for w in PLAIN if not w.startswith(SQLITE_ONLY)])
def test_a_statement_in_the_code_finds_its_rows_by_an_index(db, where):
    assert not (found := scanned(db, PLAIN[where])) or may_scan(where), found


def test_a_scan_is_seen(db):
    assert scanned(db, "SELECT u.a FROM met AS u WHERE met_at > ?") == {"met"}
    assert scanned(db, "SELECT a FROM met WHERE met_at > ? ORDER BY a, b") == {"met"}
    assert scanned(db, "SELECT 1 FROM people WHERE user_id = ?") == set()
