"""Backup under load, and what a deployer does beside a server that runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from tests.process.house import PATIENCE_S, House, environment, open_house, run_cli

pytestmark = pytest.mark.process


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.05)


@pytest.fixture(scope="module")
def busy_house(tmp_path_factory):
    """A server on which thirty guests meet each other."""
    with open_house(tmp_path_factory.mktemp("care") / "data") as house:
        command = [sys.executable, "-m", "yoked_actor", "bots", "--users", "30", "--seed", "3"]
        with subprocess.Popen(
            [*command, "--url", house.url, "--seconds", "120"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as bots:
            try:
                wait_until("the guests do not meet", lambda: matches(house) > 5)
                yield house
            finally:
                bots.send_signal(signal.SIGINT)
                try:
                    bots.wait(20)
                except subprocess.TimeoutExpired:
                    bots.kill()


def matches(house: House) -> int:
    [(count,)] = house.read("SELECT count(*) FROM matches")
    return int(str(count))


def test_a_backup_taken_under_load_restores_to_a_house_that_is_well(busy_house, tmp_path):
    file, data = tmp_path / "backup.db", tmp_path / "data"
    before = matches(busy_house)
    made = run_cli("backup", str(file), "--data", str(busy_house.data_dir))
    assert made.returncode == 0, made.stderr
    wait_until("nobody plays on", lambda: matches(busy_house) > before)
    well = run_cli("doctor", "--dev", "--json", "--data", str(busy_house.data_dir))
    assert well.returncode == 0, well.stdout
    back = run_cli("restore", str(file), "--data", str(data))
    assert back.returncode == 0, back.stderr
    looked = run_cli("doctor", "--full", "--dev", "--json", "--data", str(data))
    assert looked.returncode == 0, looked.stdout
    with open_house(data) as restored:
        assert matches(restored) >= before
        assert restored.stop() == 0


def test_a_guest_who_plays_is_erased_beside_the_server(busy_house):
    [(guest,)] = busy_house.read(
        "SELECT user_id FROM seats WHERE state <> 'idle' AND user_id LIKE 'bot3-%' LIMIT 1"
    )
    data = ("--data", str(busy_house.data_dir))
    erased = run_cli("erase", guest, "--yes", "--json", *data)
    assert (erased.returncode, json.loads(erased.stdout)["by"]) == (0, "server"), erased.stderr
    named = " UNION ALL ".join(
        f"SELECT count(*) FROM {table} WHERE {column} = '{guest}'"
        for table, column in (
            *(("people", "user_id"), ("seats", "user_id"), ("matches", "a"), ("matches", "b")),
            *(("met", "a"), ("met", "b"), ("dates", "a"), ("dates", "b")),
        )
    )
    assert {count for (count,) in busy_house.read(named)} == {0}
    assert run_cli("doctor", "--dev", *data).returncode == 0
    assert '"level": "error"' not in busy_house.log


def test_a_guest_who_plays_is_suspended_beside_the_server(busy_house):
    [(guest,)] = busy_house.read(
        "SELECT user_id FROM seats WHERE state <> 'idle' AND user_id LIKE 'bot3-%' LIMIT 1"
    )
    data = ("--data", str(busy_house.data_dir))
    done = run_cli("users", "suspend", guest, "--reason", "a test", *data)
    assert done.returncode == 0, done.stderr
    wait_until(
        "they are still there",
        lambda: (
            busy_house.read(f"SELECT state FROM seats WHERE user_id = '{guest}'") == [("idle",)]
        ),
    )
