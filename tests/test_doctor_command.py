"""`yoked-actor doctor`: finds problems, says what to do, and changes nothing."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trio
import trustme
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.domain.crowds import man, woman
from yoked_actor.cli.main import main
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.lobby import Changes, Match, MatchStatus, Seat, State
from yoked_actor.store import InlineRunner, open_store

SECRET = "thirty-two bytes or more of a secret that is none"
NOW = time.time_ns() // 1000


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data of a server on which two people are in a match."""
    directory = tmp_path / "data"

    async def fill() -> None:
        async with open_store(directory / "yoked.db", runner=InlineRunner()) as store:
            seats = [Seat(who, State.MATCHED, 5, 0, "m1") for who in ("ana", "ben")]
            match = Match("m1", "ana", "ben", MatchStatus.MATCHED, 5, 10)
            people = [woman("ana"), man("ben")]
            await store.commit(Changes(people=people, seats=seats, matches=[match]))
            await store.jobs.enqueue([NewJob("mail", {}, NOW, key="k")], NOW)

    trio.run(fill)
    return directory


def examine(data: Path, *words: str, **env: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    given = {"YOKED_AUTH__SECRET": SECRET, **env}
    result = CliRunner(env=given).invoke(main, ["doctor", "--json", "--data", str(data), *words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    answer = json.loads(result.stdout)
    assert answer["well"] == (result.exit_code == 0)
    found: dict[str, list[dict[str, Any]]] = {}
    for finding in answer["findings"]:
        found.setdefault(finding["check"], []).append(finding)
    return result.exit_code, found


def change(data: Path, *statements: str) -> None:
    with closing(sqlite3.connect(data / "yoked.db", isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)


def problem(data: Path, check: str, *words: str, **env: str) -> dict[str, Any]:
    """The only problem, which must have advice."""
    code, found = examine(data, *words, **env)
    problems = [one for group in found.values() for one in group if one["result"] == "problem"]
    assert [one["check"] for one in problems] == [check], problems
    assert code == 1
    assert problems[0]["fix"]
    return problems[0]


def test_a_healthy_server_has_no_problems(data: Path) -> None:
    code, found = examine(data, "--full")
    assert code == 0
    assert {"configuration", "signing key", "data directory", "disk", "clock"} <= set(found)
    assert {"schema", "integrity", "rows", "jobs", "log", "server", "time zones"} <= set(found)
    assert "no server" in found["server"][0]["found"]


def test_without_json_a_table_is_printed(data: Path) -> None:
    result = CliRunner(env={"YOKED_AUTH__SECRET": SECRET}).invoke(
        main, ["doctor", "--data", str(data)]
    )
    assert result.exit_code == 0
    assert "No problems found." in result.output


def test_before_the_first_start_nothing_is_wrong_and_nothing_is_created(tmp_path: Path) -> None:
    code, found = examine(tmp_path / "none")
    assert code == 0
    assert found["data directory"][0]["result"] == "note"
    assert not (tmp_path / "none").exists()


def test_a_running_server_is_reported(data: Path) -> None:
    async def look() -> str:
        async with open_store(data / "yoked.db", runner=InlineRunner()):
            return str(examine(data)[1]["server"][0]["found"])

    assert trio.run(look) == f"a server runs here (process {os.getpid()})"


def test_an_invalid_setting_is_named_and_the_data_is_still_checked(data: Path) -> None:
    found = problem(data, "configuration", YOKED_MATCHING__LIVENESS_S="-1", YOKED_AUTH__SECRET="")
    assert "liveness_s" in found["found"]


def test_a_missing_key_is_a_problem_except_with_dev(data: Path) -> None:
    problem(data, "signing key", YOKED_AUTH__SECRET="")
    assert examine(data, "--dev", YOKED_AUTH__SECRET="")[0] == 0


def test_a_key_pair_without_issuer_and_audience_is_a_problem(data: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    public = ed25519.Ed25519PrivateKey.generate().public_key()
    key.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    pair = {
        "YOKED_AUTH__SECRET": "",
        "YOKED_AUTH__ALGORITHM": "EdDSA",
        "YOKED_AUTH__PUBLIC_KEY_FILE": str(key),
    }
    found = problem(data, "signing key", **pair)
    assert "auth.issuer and auth.audience" in found["found"]
    pair |= {"YOKED_AUTH__ISSUER": "https://id.example", "YOKED_AUTH__AUDIENCE": "dates"}
    assert examine(data, **pair)[0] == 0


def test_an_invalid_key_is_a_problem(data: Path, tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----\n")
    problem(
        data,
        "signing key",
        YOKED_AUTH__SECRET="",
        YOKED_AUTH__ALGORITHM="EdDSA",
        YOKED_AUTH__PUBLIC_KEY_FILE=str(key),
    )


@pytest.mark.parametrize(("days", "is_well"), [(90, True), (5, False), (-1, False)])
def test_a_certificate_that_expires_soon_is_a_problem(
    data: Path, tmp_path: Path, days: int, is_well: bool
) -> None:
    until = datetime.now(UTC) + timedelta(days=days, hours=1)
    certificate = trustme.CA().issue_cert(
        "localhost", not_before=until - timedelta(days=99), not_after=until
    )
    certificate.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    certificate.cert_chain_pems[0].write_to_path(str(tmp_path / "cert.pem"))
    env = {
        "YOKED_EDGE__TLS_CERTIFICATE": str(tmp_path / "cert.pem"),
        "YOKED_EDGE__TLS_KEY": str(tmp_path / "key.pem"),
    }
    if is_well:
        assert examine(data, **env)[0] == 0
    else:
        assert str(until.date()) in problem(data, "certificate", **env)["found"]


def test_a_clock_that_went_back_is_a_problem(data: Path) -> None:
    change(data, f"UPDATE jobs SET created_at = {NOW + 7200 * 10**6}")
    assert "written to at" in problem(data, "clock")["found"]


def test_a_damaged_page_is_a_problem(data: Path) -> None:
    database = data / "yoked.db"
    with closing(sqlite3.connect(database)) as db:
        (root,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'people'").fetchone()
    content = bytearray(database.read_bytes())
    content[(root - 1) * 4096 + 8 : (root - 1) * 4096 + 40] = b"\xff" * 32
    database.write_bytes(content)
    code, found = examine(data)
    assert code == 1
    assert "problem" in {
        one["result"] for one in found.get("integrity", []) + found.get("database", [])
    }


def test_a_file_that_is_not_a_database_is_a_problem(data: Path) -> None:
    (data / "yoked.db").write_text("nonsense " * 1000)
    assert "restore" in problem(data, "database")["fix"]


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "UPDATE seats SET state = 'idle', match_number = NULL, waiting_since = NULL"
            " WHERE user_id = 'ana'",
            "not the match of both",
        ),
        ("UPDATE matches SET b = 'carl'", "not open, or not theirs"),
        ("UPDATE matches SET ended_at = 9", "not open, or not theirs"),
        ("UPDATE seats SET waiting_since = NULL", "wait without a place"),
        ("DELETE FROM people WHERE user_id = 'ben'", "without a profile"),
        ("DELETE FROM job_ledger", "not in the ledger"),
    ],
)
def test_inconsistent_rows_are_a_problem(data: Path, statement: str, words: str) -> None:
    change(data, statement)
    code, found = examine(data)
    assert code == 1
    assert any(words in one["found"] for one in found["rows"])


def test_older_and_newer_schemas_get_different_advice(data: Path) -> None:
    change(data, "PRAGMA user_version = 999")
    assert "upgrade" in problem(data, "schema")["fix"]
    change(data, "PRAGMA user_version = 5")
    assert "migrate" in problem(data, "schema")["fix"]


def test_dead_letters_are_a_problem_and_old_leases_wait_for_a_server(data: Path) -> None:
    change(
        data,
        "UPDATE jobs SET status = 'in_progress', lease_until = 5, owner = 'gone'",
    )
    assert examine(data)[1]["jobs"][0]["result"] == "note"
    change(data, "UPDATE jobs SET status = 'dead_letter', lease_until = NULL, completed_at = 5")
    assert "1 dead letters" in problem(data, "jobs")["found"]


def test_nothing_is_changed(data: Path) -> None:
    before = {entry.name: entry.read_bytes() for entry in data.iterdir()}
    examine(data, "--full")
    assert {entry.name: entry.read_bytes() for entry in data.iterdir()} == before


def test_an_unknown_option_is_a_usage_error() -> None:
    assert CliRunner().invoke(main, ["doctor", "--nonsense"]).exit_code == 2
