"""`yoked-actor backup`, `restore` and `migrate`."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import trio
from click.testing import CliRunner, Result

from tests.store.test_backup import PEOPLE, count, fill
from yoked_actor.cli.main import main
from yoked_actor.store import InlineRunner, open_store
from yoked_actor.store.engine.sqlite.schema import migrations


@pytest.fixture
def data(tmp_path: Path) -> Path:
    fill(tmp_path / "data" / "yoked.db")
    return tmp_path / "data"


def run(data: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [*words, "--data", str(data)])


def test_a_backup_is_made_and_restored(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    made = run(data, "backup", str(file))
    assert (made.exit_code, "checked, digest added" in made.output) == (0, True)
    with closing(sqlite3.connect(data / "yoked.db", isolation_level=None)) as db:
        db.execute("DELETE FROM people")
    back = run(data, "restore", str(file))
    assert back.exit_code == 0, back.output
    assert "its digest matches" in back.output
    assert count(data / "yoked.db") == PEOPLE
    assert len(list(data.glob("yoked.db.before-restore-*"))) == 1


def test_a_file_is_only_overwritten_with_force(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    file.write_text("precious")
    assert run(data, "backup", str(file)).exit_code == 1
    assert file.read_text() == "precious"
    made = run(data, "backup", str(file), "--force", "--json")
    assert json.loads(made.stdout)["schema"] == migrations()[-1][0]


def test_nothing_is_restored_under_a_running_server(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"

    async def serve() -> tuple[Result, Result]:
        async with open_store(data / "yoked.db", runner=InlineRunner()):
            return run(data, "backup", str(file)), run(data, "restore", str(file))

    made, back = trio.run(serve)
    assert made.exit_code == 0
    assert back.exit_code == 1
    assert "is in use by another server" in back.output


def test_nothing_is_restored_beside_a_worker(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    run(data, "backup", str(file))
    (data / "jobs-1.bell").touch()
    back = run(data, "restore", str(file))
    assert (back.exit_code, "a worker (process 1)" in back.output) == (1, True)


def test_a_damaged_file_is_refused_and_check_changes_nothing(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    run(data, "backup", str(file))
    assert run(data, "restore", str(file), "--check").exit_code == 0
    assert list(data.glob("*restor*")) == []
    file.write_bytes(file.read_bytes()[:9000])
    for words in (["--check"], []):
        refused = run(data, "restore", str(file), *words)
        assert (refused.exit_code, "cut off" in refused.output) == (1, True)
    assert run(data, "restore", str(tmp_path / "none.db")).exit_code == 2


def test_migrations_are_shown_and_applied(data: Path) -> None:
    assert run(data, "migrate", "--check").exit_code == 0
    newest = migrations()[-1][0]
    old = data / "yoked.db"
    old.unlink()
    with closing(sqlite3.connect(old)) as db:
        for step in migrations()[:3]:
            db.executescript(f"{step.text}; PRAGMA user_version = {step.version};")
    shown = run(data, "migrate", "--check", "--json")
    assert shown.exit_code == 1
    assert [one["version"] for one in json.loads(shown.stdout)["pending"]] == [
        version for version, _ in migrations()[3:]
    ]
    done = run(data, "migrate")
    assert done.exit_code == 0
    assert f"up to date: schema {newest}" in done.stdout
    assert done.stderr.splitlines() == [
        f"{version:04} {name}: applying" for version, name in migrations()[3:]
    ]
    assert run(data, "migrate", "--check").exit_code == 0


def test_a_missing_database_is_not_created(tmp_path: Path) -> None:
    assert run(tmp_path / "none", "migrate").exit_code == 1
    assert run(tmp_path / "none", "backup", str(tmp_path / "b.db")).exit_code == 1
    assert list(tmp_path.iterdir()) == []
