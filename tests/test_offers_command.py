"""`yoked-actor offers`: running, previewing, refreezing and verifying."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from tests.domain.crowds import man, woman
from yoked_actor.cli.main import main
from yoked_actor.domain.lobby import Changes
from yoked_actor.store import InlineRunner, open_store

ZONE = "Europe/Berlin"
DAY = (datetime.now(UTC) - timedelta(days=2)).date().isoformat()
SOON = (datetime.now(UTC) + timedelta(days=9)).date().isoformat()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory with three women and three men, who are compatible."""

    async def fill() -> None:
        people = [
            make(f"{make.__name__}{n}", time_zone=ZONE) for make in (woman, man) for n in "012"
        ]
        async with open_store(tmp_path / "yoked.db", runner=InlineRunner()) as store:
            await store.commit(Changes(people=people))

    trio.run(fill)
    return tmp_path


def offers(data: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["offers", *words, "--data", str(data)])


def made(data: Path) -> Result:
    return offers(data, "run", "--zone", ZONE, "--date", DAY)


def count(data: Path, table: str) -> int:
    connection = sqlite3.connect(data / "yoked.db")
    try:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
    finally:
        connection.close()


def test_a_missed_run_can_be_run_later(data: Path) -> None:
    result = made(data)
    assert result.exit_code == 0, result.output
    assert "6 sets stored" in result.output
    assert count(data, "offer_sets") == 6
    listed = json.loads(offers(data, "list", "--json").output)
    assert [(row["zone"], row["date"], row["status"]) for row in listed] == [(ZONE, DAY, "done")]


def test_a_second_run_changes_nothing(data: Path) -> None:
    made(data)
    jobs = count(data, "jobs")
    again = made(data)
    assert again.exit_code == 0
    assert "is already done; nothing was changed" in again.output
    assert count(data, "offer_sets") == 6
    assert count(data, "jobs") == jobs


def test_a_dry_run_shows_what_it_would_store_and_stores_nothing(data: Path) -> None:
    shown = offers(data, "run", "--zone", ZONE, "--date", DAY, "--dry-run")
    assert shown.exit_code == 0, shown.output
    assert "6 users, 18 offers, 0 users without offers; nothing was stored." in shown.output
    sets = CliRunner().invoke(
        main,
        [
            "offers",
            "run",
            "--zone",
            ZONE,
            "--date",
            DAY,
            "--dry-run",
            "--json",
            "--data",
            str(data),
        ],
    )
    foreseen = json.loads(sets.stdout)
    for table in ("offer_sets", "offer_runs", "offer_pools", "zone_runs", "jobs"):
        assert count(data, table) == 0
    made(data)
    connection = sqlite3.connect(data / "yoked.db")
    rows = connection.execute("SELECT user_id, candidate FROM offers ORDER BY user_id, rank")
    stored: dict[str, list[str]] = {}
    for user_id, candidate in rows:
        stored.setdefault(user_id, []).append(candidate)
    connection.close()
    assert stored == {who: [one["candidate"] for one in those] for who, those in foreseen.items()}


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        (("--zone", "Mars/Olympus", "--date", DAY), "no zone Mars/Olympus", 1),
        (("--zone", "Pacific/Apia", "--date", "2011-12-30"), "has no 2011-12-30", 1),
        (("--zone", ZONE, "--date", SOON), "comes by itself", 1),
        (("--zone", ZONE, "--date", "2999-01-01"), "more than 366 days from today", 1),
        (("--zone", ZONE, "--date", "yesterday"), "yesterday is not a date", 2),
        (("--zone", ZONE), "Missing option '--date'", 2),
    ],
)
def test_impossible_runs_are_refused(
    data: Path, words: tuple[str, ...], says: str, code: int
) -> None:
    result = offers(data, "run", *words)
    assert result.exit_code == code
    assert says in result.output
    assert count(data, "jobs") == 0


def test_verify_finds_no_differences_in_a_stored_run(data: Path) -> None:
    made(data)
    result = offers(data, "verify")
    assert result.exit_code == 0, result.output
    assert "recomputed sets" in result.output
    assert "none" in result.output


@pytest.mark.parametrize(
    ("forgery", "problem"),
    [
        (
            "UPDATE offer_sets SET facts = replace(facts, '[[', '[[1') WHERE user_id = 'man1'",
            "man1",
        ),
        (
            "UPDATE offer_sets SET candidates = json_remove(candidates, '$[2]'),"
            " facts = json_remove(facts, '$[2]') WHERE user_id = 'woman2'",
            "woman2",
        ),
        ("UPDATE offer_sets SET user_id = 'eve' WHERE user_id = 'man0'", "eve"),
        ("UPDATE offer_runs SET inputs = 'x'", "the frozen pool does not have its stored digest"),
    ],
)
def test_verify_finds_changed_rows(data: Path, forgery: str, problem: str) -> None:
    made(data)
    connection = sqlite3.connect(data / "yoked.db")
    with connection:
        connection.execute(forgery)
    connection.close()
    result = offers(data, "verify", "--zone", ZONE, "--date", DAY)
    assert result.exit_code == 1
    assert problem in result.output


def test_verifying_an_unknown_run_is_an_error(data: Path) -> None:
    result = offers(data, "verify", "--zone", ZONE)
    assert result.exit_code == 1
    assert "there is no such run" in result.output


def execute(data: Path, *statements: str) -> None:
    connection = sqlite3.connect(data / "yoked.db")
    with connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def test_verify_reports_a_pool_and_a_set_that_cannot_be_read(data: Path) -> None:
    made(data)
    execute(
        data,
        "UPDATE offer_pools SET content = x'00'",
        "UPDATE offer_sets SET facts = 'nonsense' WHERE user_id = 'man1'",
    )
    result = offers(data, "verify")
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert f"the frozen pool of {DAY} in {ZONE} cannot be read" in result.output
    assert "man1: the stored set cannot be read" in result.output


def test_a_run_is_frozen_again_and_stored_sets_are_kept(data: Path) -> None:
    made(data)
    execute(
        data,
        "UPDATE offer_pools SET content = x'00'",
        "DELETE FROM offer_sets WHERE user_id LIKE 'man%'",
        "UPDATE jobs SET status = 'dead_letter' WHERE payload ->> 'user_id' LIKE 'man%'",
    )
    result = offers(data, "refreeze", DAY, ZONE)
    assert result.exit_code == 0, result.output
    assert "3 users" in result.output
    verdict = json.loads(offers(data, "verify", "--json").stdout)[0]
    assert (verdict["sets"], verdict["earlier"], verdict["findings"]) == (3, 3, [])
    connection = sqlite3.connect(data / "yoked.db")
    audit = connection.execute("SELECT action, subject, detail FROM audit").fetchall()
    connection.close()
    assert audit == [("refreeze_offers", ZONE, DAY)]


def test_a_run_that_was_never_frozen_cannot_be_refrozen(data: Path) -> None:
    result = offers(data, "refreeze", DAY, ZONE)
    assert result.exit_code == 1
    assert "was never frozen" in result.output
