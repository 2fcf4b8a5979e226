"""Offers that had a row each are moved into the rows of their sets."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.store.test_erased_jobs import old_database
from yoked_actor.domain.offers import Answer, Facts, KeptSet, Offer
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.store.engine.postgres import connect_postgres
from yoked_actor.store.engine.postgres.schema import migrate_postgres, postgres_migrations

BEFORE, BEFORE_ON_POSTGRES = 24, 25
DAY, ZONE, NINE = "2026-03-02", "Europe/Berlin", 1_772_438_400_000_000
SETS = ("ana", "bob", "cem", "eve")
OFFERS = (
    ("ana", 1, "bob", 900, '["chess","jazz"]'),
    ("ana", 2, "cem", 800, "[]"),
    # One was erased between these, and the user was offered more than nine.
    *(("bob", rank, f"c{rank}", 1000 - rank, "[]") for rank in range(1, 13) if rank != 2),
    ("eve", 1, "ana", 700, "nonsense"),
)


def fill(execute: Callable[[str, tuple[Any, ...]], object]) -> None:
    for user_id in SETS:
        execute(
            "INSERT INTO offer_sets (day, user_id, zone, offered_at, expires_at, scoring, digest,"
            " stored_at) VALUES (?, ?, ?, ?, ?, 'v2', ?, ?)",
            (DAY, user_id, ZONE, NINE, NINE + 1, f"digest of {user_id}", NINE),
        )
    for user_id, rank, candidate, score, shared in OFFERS:
        execute(
            "INSERT INTO offers VALUES (?, ?, ?, ?, ?, 1, 3, ?, 250, 7, 9)",
            (DAY, user_id, rank, candidate, score, shared),
        )
    execute("INSERT INTO offer_answers VALUES (?, ?, ?, ?, ?)", ("ana", "cem", DAY, "accept", NINE))


def check(sets: list[KeptSet], unreadable: list[str]) -> None:
    by_user = {one.offers.user_id: one for one in sets}
    assert set(by_user) == {"ana", "bob", "cem"}
    assert unreadable == ["eve"]
    assert by_user["ana"].offers.offers == (
        Offer("bob", 900, 1, Facts(3, ("chess", "jazz"), 250, 7, 9)),
        Offer("cem", 800, 1, Facts(3, (), 250, 7, 9)),
    )
    assert by_user["ana"].answers == (None, Answer.ACCEPT)
    assert by_user["ana"].digest == "digest of ana"
    offered = [offer.candidate for offer in by_user["bob"].offers.offers]
    assert offered == [f"c{rank}" for rank in range(1, 13) if rank != 2]
    assert by_user["cem"].offers.offers == ()


async def test_the_sets_of_an_older_database_stay(tmp_path: Path) -> None:
    path = tmp_path / "yoked.db"
    old_database(path, BEFORE, [])
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        fill(db.execute)
    async with open_store(path, runner=InlineRunner()) as store:
        sets = await store.offers.load_zone(ZONE, date.fromisoformat(DAY))
        unreadable = await store.offers.unreadable_sets(ZONE, date.fromisoformat(DAY))
    check(sets, [one.user_id for one in unreadable])
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute(
            "SELECT user_id, rank, candidate, score, shared, km FROM offers"
            " WHERE user_id = 'ana' ORDER BY rank"
        ).fetchall()
    assert rows == [
        ("ana", 1, "bob", 900, '["chess","jazz"]', 7),
        ("ana", 2, "cem", 800, "[]", 7),
    ]


async def test_the_same_on_postgresql(
    empty_postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_steps = postgres_migrations()
    with connect_postgres(empty_postgres_url, timeout_s=5) as connection:
        with monkeypatch.context() as patch:
            steps = [step for step in all_steps if step[0] <= BEFORE_ON_POSTGRES]
            patch.setattr(
                "yoked_actor.store.engine.postgres.schema.postgres_migrations", lambda: steps
            )
            migrate_postgres(connection, "it")
        fill(lambda sql, values: connection.execute(_numbered(sql), values))
    named: list[tuple[int, str]] = []
    async with open_store(
        None,
        runner=InlineRunner(),
        url=empty_postgres_url,
        migrating=lambda version, name: named.append((version, name)),
    ) as store:
        sets = await store.offers.load_zone(ZONE, date.fromisoformat(DAY))
        unreadable = await store.offers.unreadable_sets(ZONE, date.fromisoformat(DAY))
    check(sets, [one.user_id for one in unreadable])
    assert named == [
        (version, name[5:-4]) for version, name in all_steps if version > BEFORE_ON_POSTGRES
    ]


def _numbered(sql: str) -> str:
    parts = sql.split("?")
    return parts[0] + "".join(f"${n}{part}" for n, part in enumerate(parts[1:], 1))
