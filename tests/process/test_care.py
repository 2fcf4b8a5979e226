"""Backup under load, and operators' commands beside a running server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tests.process.server import PATIENCE_S, ServerProcess, environment, run_cli, running_server

pytestmark = pytest.mark.process


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.fixture(scope="module")
def busy_server(tmp_path_factory):
    """A server on which thirty bots meet."""
    with running_server(tmp_path_factory.mktemp("care") / "data") as server:
        command = [sys.executable, "-m", "yoked_actor", "bots", "--users", "30", "--seed", "3"]
        with subprocess.Popen(
            [*command, "--url", server.url, "--seconds", "120"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as bots:
            try:
                wait_until("the bots do not meet", lambda: matches(server) > 5)
                yield server
            finally:
                bots.send_signal(signal.SIGINT)
                try:
                    bots.wait(20)
                except subprocess.TimeoutExpired:
                    bots.kill()


def matches(server: ServerProcess) -> int:
    [(count,)] = server.read("SELECT count(*) FROM matches")
    return int(str(count))


def errors_in(log: str) -> list[object]:
    """The errors in a log, but for the lag of the event loop, which is that of the machine."""
    entries = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    errors = [entry for entry in entries if entry["level"] in ("error", "critical")]
    return [entry for entry in errors if entry.get("alert") != "event_loop_lag"]


def test_a_backup_taken_under_load_restores_to_a_healthy_server(busy_server, tmp_path):
    file, data = tmp_path / "backup.db", tmp_path / "data"
    before = matches(busy_server)
    made = run_cli("backup", str(file), "--data", str(busy_server.data_dir))
    assert made.returncode == 0, made.stderr
    wait_until("the bots have stopped", lambda: matches(busy_server) > before)
    well = run_cli("doctor", "--dev", "--json", "--data", str(busy_server.data_dir))
    assert well.returncode == 0, well.stdout
    back = run_cli("restore", str(file), "--data", str(data))
    assert back.returncode == 0, back.stderr
    looked = run_cli("doctor", "--full", "--dev", "--json", "--data", str(data))
    assert looked.returncode == 0, looked.stdout
    with running_server(data) as restored:
        assert matches(restored) >= before
        assert restored.stop() == 0


def test_an_active_user_is_erased_beside_the_server(busy_server):
    [(guest,)] = busy_server.read(
        "SELECT user_id FROM seats WHERE state <> 'idle' AND user_id LIKE 'bot3-%' LIMIT 1"
    )
    data = ("--data", str(busy_server.data_dir))
    erased = run_cli("erase", guest, "--yes", "--json", *data)
    assert (erased.returncode, json.loads(erased.stdout)["by"]) == (0, "server"), erased.stderr
    named = " UNION ALL ".join(
        f"SELECT count(*) FROM {table} WHERE {column} = '{guest}'"
        for table, column in (
            *(("people", "user_id"), ("seats", "user_id"), ("matches", "a"), ("matches", "b")),
            *(("met", "a"), ("met", "b"), ("dates", "a"), ("dates", "b")),
        )
    )
    assert {count for (count,) in busy_server.read(named)} == {0}
    assert run_cli("doctor", "--dev", *data).returncode == 0
    assert errors_in(busy_server.log) == []


def test_an_active_user_is_suspended_beside_the_server(busy_server):
    [(guest,)] = busy_server.read(
        "SELECT user_id FROM seats WHERE state <> 'idle' AND user_id LIKE 'bot3-%' LIMIT 1"
    )
    data = ("--data", str(busy_server.data_dir))
    done = run_cli("users", "suspend", guest, "--reason", "a test", *data)
    assert done.returncode == 0, done.stderr
    wait_until(
        "the user is still active",
        lambda: (
            busy_server.read(f"SELECT state FROM seats WHERE user_id = '{guest}'") == [("idle",)]
        ),
    )
