"""`yoked-actor users`, `export` and `erase`, without a running server."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from tests.domain.crowds import man, woman
from yoked_actor.cli.main import main
from yoked_actor.domain.lobby import Changes, Match, MatchStatus, Seat, State
from yoked_actor.domain.people import Report, ReportLimits
from yoked_actor.store import InlineRunner, open_store


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data of a server that was stopped while Ana and Ben were in a match."""

    async def fill() -> None:
        async with open_store(tmp_path / "data" / "yoked.db", runner=InlineRunner()) as store:
            seats = [Seat(who, State.MATCHED, 5, 10, "m1") for who in ("ana-7f3b", "ben")]
            match = Match("m1", "ana-7f3b", "ben", MatchStatus.MATCHED, 5, 10)
            people = [woman("ana-7f3b"), man("ben"), man("carl")]
            await store.commit(Changes(people=people, seats=seats, matches=[match]))
            await store.add_report(Report("ben", "ana-7f3b", "rude", None, 5), ReportLimits(99, 99))

    trio.run(fill)
    return tmp_path / "data"


def run(data: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--data", str(data)])


def rows(data: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(data / "yoked.db")) as db:
        return db.execute(query).fetchall()


def test_users_are_listed_by_id_and_page_by_page(data: Path) -> None:
    listed = json.loads(run(data, "users", "list", "--json").stdout)
    assert [(one["user_id"], one["state"], one["reports"]) for one in listed] == [
        ("ana-7f3b", "matched", 1),
        ("ben", "matched", 0),
        ("carl", "idle", 0),
    ]
    page = json.loads(run(data, "users", "list", "--json", "--after", "ben").stdout)
    assert [one["user_id"] for one in page] == ["carl"]
    assert "carl" in run(data, "users", "list").output


def test_a_user_is_shown_in_numbers(data: Path) -> None:
    shown = json.loads(run(data, "users", "show", "ana-7f3b", "--json").stdout)
    assert (shown["state"], shown["credit"], shown["matches"]) == ("matched", 10, 1)
    table = run(data, "users", "show", "ana-7f3b").output
    assert "│ yes" in table
    assert "True" not in table
    assert run(data, "users", "show", "nobody").exit_code == 1
    assert run(data, "users", "show", "no such id").exit_code == 2


def test_users_are_suspended_and_unsuspended(data: Path) -> None:
    assert run(data, "users", "suspend", "ben").exit_code == 2  # without a reason
    assert "is suspended" in run(data, "users", "suspend", "ben", "--reason", "rude").output
    assert "already" in run(data, "users", "suspend", "ben", "--reason", "again").output
    listed = json.loads(run(data, "users", "list", "--suspended", "--json").stdout)
    assert [one["user_id"] for one in listed] == ["ben"]
    shown = json.loads(run(data, "users", "show", "ben", "--json").stdout)
    assert shown["suspended_for"] == "rude"
    assert "is no longer suspended" in run(data, "users", "unsuspend", "ben").output
    assert [action for (action,) in rows(data, "SELECT action FROM audit")] == [
        "suspend",
        "unsuspend",
    ]


def test_an_export_is_printed_or_written_to_a_private_file(data: Path, tmp_path: Path) -> None:
    printed = json.loads(run(data, "export", "ana-7f3b").stdout)
    assert printed["matches"][0]["partner"] == "ben"
    file = tmp_path / "ana.json"
    assert run(data, "export", "ana-7f3b", "--out", str(file)).exit_code == 0
    assert json.loads(file.read_text())["profile"] == printed["profile"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert run(data, "export", "nobody").exit_code == 1


def test_an_erasure_needs_confirmation(data: Path) -> None:
    refused = run(data, "erase", "ana-7f3b")
    assert (refused.exit_code, "--yes" in refused.output) == (2, True)
    assert len(rows(data, "SELECT * FROM people")) == 3


def test_an_erasure_without_a_server_leaves_a_consistent_database(data: Path) -> None:
    erased = run(data, "erase", "ana-7f3b", "--yes")
    assert erased.exit_code == 0, erased.output
    assert rows(data, "SELECT user_id, state, waiting_since, credit FROM seats") == [
        ("ben", "waiting", 5, 10)
    ]
    [(status, reason)] = rows(data, "SELECT status, cancelled_for FROM matches")
    assert (status, reason) == ("cancelled", "partner_left")
    content = b"".join(file.read_bytes() for file in data.glob("yoked.db*"))
    assert b"ana-7f3b" not in content
    assert run(data, "doctor", "--dev").exit_code == 0
    again = json.loads(run(data, "erase", "ana-7f3b", "--yes", "--json").stdout)
    assert again == {"erased": True, "by": "command line"}


def test_without_a_database_nothing_is_created(tmp_path: Path) -> None:
    for words in (["users", "list"], ["export", "ana"], ["erase", "ana", "--yes"]):
        assert run(tmp_path / "none", *words).exit_code == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        *(["doctor"], ["backup"], ["restore"], ["migrate"], ["users"], ["export"], ["erase"]),
        *(["jobs"], ["offers"], ["simulate"]),
    ],
)
def test_help_lists_the_exit_codes(words: list[str]) -> None:
    text = CliRunner().invoke(main, [*words, "--help"]).output
    assert "Exit status:\n    0  if " in text
    assert "\n    1  if " in text
    assert "\n    2  on a usage error" in text


def test_users_are_searched_by_name_and_id_and_named_then(data: Path) -> None:
    found = json.loads(run(data, "users", "list", "--search", "ANA", "--json").stdout)
    assert [one["user_id"] for one in found] == ["ana-7f3b"]
    assert "display_name" in found[0]
    assert "display_name" not in run(data, "users", "list", "--json").stdout
    assert "No users found." in run(data, "users", "list", "--search", "nobody").output


def test_a_table_of_users_fits_80_columns_with_whole_times(data: Path) -> None:
    until = "2099-02-01T09:00:00Z"
    run(data, "users", "suspend", "ana-7f3b", "--reason", "rude", "--until", until)
    for words in ([], ["--search", "a"]):
        lines = run(data, "users", "list", *words).output.splitlines()
        assert max(map(len, lines)) <= 80
        assert any(f"until {until}" in line for line in lines)


@pytest.mark.parametrize("reason", ["a\u202eb", "a\u200bb", " ", "a\nb"])
def test_a_reason_that_tricks_its_reader_is_a_usage_error(data: Path, reason: str) -> None:
    done = run(data, "users", "suspend", "ana-7f3b", "--reason", reason)
    assert (done.exit_code, "--reason" in done.output) == (2, True)
    assert rows(data, "SELECT count(*) FROM suspended") == [(0,)]


@pytest.mark.parametrize(
    "until", ["tomorrow", "2027-02-01", "2027-02-01T09:00:00", "2027-13-01T09:00Z"]
)
def test_an_end_without_a_zone_is_a_usage_error_that_shows_an_example(
    data: Path, until: str
) -> None:
    words = ("--reason", "rude", "--until", until)
    done = run(data, "users", "suspend", "ana-7f3b", *words)
    assert done.exit_code == 2
    assert "such as 2026-02-01T09:00:00Z" in " ".join(done.output.split())
    assert "%Y" not in done.output


def test_a_reason_is_shown_as_it_was_typed(data: Path) -> None:
    run(data, "users", "suspend", "ana-7f3b", "--reason", "[/red] rude [bold]")
    assert "[/red] rude [bold]" in run(data, "users", "show", "ana-7f3b").output
