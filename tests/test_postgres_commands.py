"""The commands on PostgreSQL: copy-store, doctor, erase, and what is refused."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from tests.domain.crowds import man, woman
from yoked_actor.cli.main import main
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes, Match, MatchStatus, Seat, State
from yoked_actor.domain.nodes import RoomLease
from yoked_actor.store import InlineRunner, RoomLeaseLost, ThreadRunner, open_store

SECRET = "thirty-two bytes or more of a secret that is none"
NOW = time.time_ns() // 1000
SEATS = [Seat(who, State.MATCHED, 5, 3, "m7") for who in ("ana", "ben")]
MATCH = Match("m7", "ana", "ben", MatchStatus.MATCHED, NOW, NOW + 10)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data of a server on which two people are in a match."""
    directory = tmp_path / "data"

    async def fill() -> None:
        async with open_store(directory / "yoked.db", runner=InlineRunner()) as store:
            people = [woman("ana"), man("ben")]
            await store.commit(
                Changes(
                    people=people,
                    seats=SEATS,
                    matches=[MATCH],
                    blocks=[(("ana", "cy"), NOW)],
                    met=[(("ana", "dan"), NOW)],
                )
            )
            await store.secret("places", b"\0secret")
            jobs = [NewJob("mail", {"n": n}, NOW, key=f"k{n}") for n in range(3)]
            await store.jobs.enqueue(jobs, NOW)

    trio.run(fill)
    with closing(sqlite3.connect(directory / "yoked.db")) as books:
        books.execute("DELETE FROM job_ledger WHERE job_id = 3")
        books.execute("DELETE FROM jobs WHERE id = 3")
        books.commit()
    return directory


def run(data: Path, url: str, *words: str) -> Result:
    env = {"YOKED_AUTH__SECRET": SECRET, "YOKED_STORE__URL": url}
    return CliRunner(env=env).invoke(main, [words[0], "--data", str(data), *words[1:]])


def test_a_copied_store_is_the_same_store(data: Path, empty_postgres_url: str) -> None:
    done = run(data, empty_postgres_url, "copy-store", "--json")
    assert done.exit_code == 0, done.output
    tables = json.loads(done.stdout)["tables"]
    assert {name: rows for name, rows in tables.items() if rows} == {
        "blocks": 1, "jobs": 2, "job_ledger": 2, "matches": 1, "met": 1, "meta": 1, "people": 2,
        "seats": 2, "secrets": 1,
    }  # fmt: skip

    async def compare() -> None:
        async with (
            open_store(data / "yoked.db", runner=InlineRunner()) as old,
            open_store(None, runner=ThreadRunner(), url=empty_postgres_url) as new,
        ):
            assert await new.load_user("ana") == await old.load_user("ana")
            before, after = await old.recover(), await new.recover()
            assert (after.users, after.matches) == (before.users, before.matches)
            assert (after.next_number, after.boot) == (before.next_number, before.boot)
            assert await new.secret("places", b"another") == b"\0secret"
            again = [NewJob("mail", {"n": 0}, NOW, key="k0")]
            [known] = await new.jobs.enqueue(again, NOW)
            assert known.job_id == 1
            [added] = await new.jobs.enqueue([NewJob("mail", {}, NOW)], NOW)
            assert added.job_id > 3, "the id of a deleted job is not used again"

    trio.run(compare)


def test_a_copy_says_what_it_moved(data: Path, empty_postgres_url: str) -> None:
    done = run(data, empty_postgres_url, "copy-store")
    assert done.exit_code == 0, done.output
    assert "people: 2 rows" in done.output
    assert "13 rows of" in done.output


def test_a_copy_into_a_database_with_rows_is_refused(data: Path, empty_postgres_url: str) -> None:
    assert run(data, empty_postgres_url, "copy-store").exit_code == 0
    again = run(data, empty_postgres_url, "copy-store")
    assert again.exit_code == 1
    assert "is not empty: blocks" in again.output


def test_a_copy_needs_a_url(data: Path) -> None:
    done = run(data, "", "copy-store")
    assert done.exit_code == 1
    assert "store.url is not set" in done.output


def test_a_copy_while_a_server_runs_on_either_is_refused(data: Path, postgres_url: str) -> None:
    async def copy_beside(path: Path | None, url: str) -> Result:
        async with open_store(path, runner=ThreadRunner(), url=url):
            return await trio.to_thread.run_sync(run, data, postgres_url, "copy-store")

    for path, url in ((data / "yoked.db", ""), (None, postgres_url)):
        done = trio.run(copy_beside, path, url)
        assert done.exit_code == 1
        assert "in use by another server" in done.output


@pytest.mark.parametrize(
    ("words", "instead"),
    [
        (["backup", "copy.db"], "pg_dump"),
        (["restore", __file__], "pg_restore"),
        (["migrate"], "a start of the server"),
    ],
)
def test_commands_for_a_file_say_what_to_use_instead(
    tmp_path: Path, words: list[str], instead: str
) -> None:
    done = run(tmp_path, "postgresql://yoked:s3cret@db/yoked", *words)
    assert done.exit_code == 1
    assert f"use {instead}" in done.output
    assert "s3cret" not in done.output


def test_doctor_examines_the_database(tmp_path: Path, postgres_url: str) -> None:
    done = run(tmp_path, postgres_url, "doctor", "--json", "--dev")
    found = {one["check"]: one for one in json.loads(done.stdout)["findings"]}
    assert found["database"]["found"].startswith("PostgreSQL ")
    for check in ("database", "schema", "clock", "rows", "jobs"):
        assert found[check]["result"] == "ok", found[check]


def test_doctor_says_that_a_database_cannot_be_reached(tmp_path: Path) -> None:
    url = f"postgresql://yoked:s3cret@/none?host={tmp_path}"
    done = run(tmp_path, url, "doctor", "--json", "--dev")
    assert done.exit_code == 1
    [found] = [one for one in json.loads(done.stdout)["findings"] if one["check"] == "database"]
    assert found["result"] == "problem"
    assert "check store.url" in found["fix"]
    assert "s3cret" not in done.output


def test_a_user_is_erased_without_a_server(data: Path, empty_postgres_url: str) -> None:
    assert run(data, empty_postgres_url, "copy-store").exit_code == 0
    done = run(data, empty_postgres_url, "erase", "ana", "--yes")
    assert done.exit_code == 0, done.output

    async def look() -> None:
        async with open_store(None, runner=InlineRunner(), url=empty_postgres_url) as store:
            assert await store.load_person("ana") is None
            assert await store.load_person("ben") is not None

    trio.run(look)


def test_an_erasure_takes_the_lease_so_that_a_node_that_was_cut_off_writes_nothing(
    data: Path, empty_postgres_url: str
) -> None:
    assert run(data, empty_postgres_url, "copy-store").exit_code == 0
    leases: list[RoomLease] = []

    async def take(lease_s: float) -> None:
        # A node whose connection to the database has broken holds no lock, but has the lease.
        async with open_store(None, runner=InlineRunner(), url=empty_postgres_url) as store:
            for former in leases:
                await store.nodes.release(former)
            lease = await store.nodes.acquire("main", "a", lease_s)
            assert lease is not None
            leases.append(lease)

    async def write_late() -> None:
        async with open_store(None, runner=InlineRunner(), url=empty_postgres_url) as store:
            with pytest.raises(RoomLeaseLost):
                await store.commit(Changes(people=[woman("ana")], seats=SEATS), leases[-1])
            assert await store.load_person("ana") is None
            assert await store.nodes.acquire("main", "b", 60) is not None

    trio.run(take, 60.0)
    refused = run(data, empty_postgres_url, "erase", "ana", "--yes", "--wait", "0.2")
    assert refused.exit_code == 1
    assert "node a has the room main for another" in refused.output
    trio.run(take, 1.0)
    done = run(data, empty_postgres_url, "erase", "ana", "--yes", "--wait", "10")
    assert done.exit_code == 0, done.output
    trio.run(write_late)
