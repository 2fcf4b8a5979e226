"""`yoked-actor bots` against real servers."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from tests.process.house import PATIENCE_S, environment, open_house, run_cli

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with open_house(tmp_path_factory.mktemp("bots") / "data") as house:
        yield house


def test_a_crowd_plays_for_its_time_and_sums_up(house):
    played = run_cli("bots", "--users", "20", "--seconds", "6", "--seed", "4", "--url", house.url)
    assert played.returncode == 0, played.stderr
    lines = played.stdout.splitlines()
    assert lines[0].startswith("5 s: connected ")
    assert lines[1].startswith("20 guests, 20 at a time, for ")
    assert "seed 4" in lines[1]
    assert "errors: none" in lines
    assert house.read("SELECT count(*) FROM people WHERE user_id LIKE 'bot4-%'") == [(20,)]
    [(matches,)] = house.read("SELECT count(*) FROM matches")
    assert matches


def test_ctrl_c_ends_it_with_the_summary(house):
    command = [sys.executable, "-m", "yoked_actor", "bots", "--users", "5", "--seed", "7"]
    with subprocess.Popen(
        [*command, "--url", house.url],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as bots:
        try:
            end = time.monotonic() + PATIENCE_S
            while house.read("SELECT count(*) FROM seats WHERE user_id LIKE 'bot7-%'") != [(5,)]:
                assert time.monotonic() < end, "the bots have not come"
                time.sleep(0.05)
            bots.send_signal(signal.SIGINT)
            rest, errors = bots.communicate(timeout=PATIENCE_S)
        finally:
            bots.kill()
    assert bots.returncode == 0, errors
    assert "5 guests, 5 at a time" in rest
    assert "Traceback" not in errors


def test_a_server_without_dev_mode_is_named_as_such(tmp_path):
    secret = "thirty-two bytes or more of a secret that is none"
    with open_house(tmp_path / "data", dev=False, auth__secret=secret) as house:
        tried = run_cli("bots", "--seconds", "1", "--url", house.url)
    assert tried.returncode == 1
    assert "does not run with --dev" in tried.stderr
    assert "Traceback" not in tried.stderr
